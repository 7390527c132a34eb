package dsel

import (
	"math"
	"slices"

	"github.com/expr-lang/expr/ast"
	exprcompiler "github.com/expr-lang/expr/compiler"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"

	"hybrid/graph"
	"hybrid/internal/diag"
)

// What has no native form runs in expr's virtual machine: predicates (map,
// filter, all, ...), strings, slices. Dimensions are not tracked through it.

// machineRow says what a function of expr yields.
type machineRow struct {
	name string
	kind kind
	// same: the result is a list, or an element, of the first argument's kind.
	same bool
}

// machineFunctions lists the functions of expr that blueprints may use. Those that
// read the clock, that encode, or that can build strings without bound are left out.
func machineFunctions() []machineRow {
	return []machineRow{
		{"all", kindBool, false}, {"any", kindBool, false}, {"one", kindBool, false}, {"none", kindBool, false},
		{"count", kindInt, false}, {"findIndex", kindInt, false}, {"findLastIndex", kindInt, false},
		{"find", kindFloat, true}, {"findLast", kindFloat, true}, {"first", kindFloat, true}, {"last", kindFloat, true},
		{"sum", kindFloat, false}, {"mean", kindFloat, false}, {"median", kindFloat, false}, {"reduce", kindFloat, false},
		{"map", kindList, false}, {"filter", kindList, true}, {"sort", kindList, true}, {"uniq", kindList, true}, {"take", kindList, true},
		{"concat", kindList, true}, {"flatten", kindList, false},
		{"hasPrefix", kindBool, false}, {"hasSuffix", kindBool, false}, {"indexOf", kindInt, false}, {"lastIndexOf", kindInt, false},
		{"upper", kindString, false}, {"lower", kindString, false}, {"trim", kindString, false}, {"string", kindString, false},
		{"bitand", kindInt, false}, {"bitor", kindInt, false}, {"bitxor", kindInt, false}, {"bitshl", kindInt, false}, {"bitshr", kindInt, false},
	}
}

// virtual compiles a subtree for the virtual machine.
func (c *compiler) virtual(n ast.Node) *code {
	t, ok := c.machineType(n)
	if !ok {
		return badCode()
	}
	m := &machine{c: c, at: c.pos(n), values: map[string]anyFn{}}
	if !m.collect(n, 0) {
		return badCode()
	}
	program, err := exprcompiler.Compile(&parser.Tree{Node: n, Source: file.NewSource("")}, nil)
	if err != nil {
		return c.fail(n, "E205", "not supported yet: this kind of expression").bad()
	}
	m.program = program
	out := &code{typ: t, dep: m.dep, size: m.size + 20}
	k := c.element(&code{typ: typ{elem: t.kind, dims: t.dims, any: true}}, m.dep, out.size, m.run)
	switch {
	case t.kind == kindList || t.kind == kindString:
		out.v = m.run
	default:
		k.typ = t
		return k
	}
	return out
}

// machineType infers what the subtree yields.
func (c *compiler) machineType(n ast.Node) (typ, bool) {
	switch n := n.(type) {
	case *ast.BuiltinNode:
		i := slices.IndexFunc(machineFunctions(), func(r machineRow) bool { return r.name == n.Name })
		if i < 0 || len(n.Arguments) == 0 {
			c.fail(n, "E205", "not supported yet: the function %s", n.Name)
			return typ{}, false
		}
		row := machineFunctions()[i]
		t := typ{kind: row.kind, any: true, elem: kindFloat}
		if row.same {
			a := c.compile(n.Arguments[0])
			if a.kind != kindList {
				if a.kind != kindBad {
					c.fail(n, "E220", "%s needs a list, not %s", n.Name, a.typ)
				}
				return typ{}, false
			}
			if n.Name == "concat" && !c.concatenate(n, a) {
				return typ{}, false
			}
			t.dims, t.any, t.elem = a.dims, a.any, a.elem
			if row.kind != kindList {
				t.kind = a.elem
			}
		}
		return t, true
	case *ast.BinaryNode:
		switch n.Operator {
		case "+":
			return typ{kind: kindString}, true
		case "contains", "startsWith", "endsWith":
			return typ{kind: kindBool}, true
		}
		c.fail(n, "E205", "not supported yet: the operator %s", n.Operator)
		return typ{}, false
	case *ast.SliceNode:
		a := c.compile(n.Node)
		if a.kind != kindList {
			if a.kind != kindBad {
				c.fail(n, "E220", "only a list can be sliced, not %s", a.typ)
			}
			return typ{}, false
		}
		return a.typ, true
	}
	c.fail(n, "E205", "not supported yet: this kind of expression")
	return typ{}, false
}

// concatenate joins the types of further lists with that of the first.
func (c *compiler) concatenate(n *ast.BuiltinNode, first *code) bool {
	for _, x := range n.Arguments[1:] {
		b := c.compile(x)
		if b.kind == kindBad {
			return false
		}
		numbers := func(k *code) bool { return k.elem == kindInt || k.elem == kindFloat }
		d, wild, ok := sameDims(first, b)
		if b.kind == kindList && (b.elem == kindBad || first.elem == kindBad) { // one is empty
			if first.elem == kindBad {
				first.elem, first.dims, first.any = b.elem, b.dims, b.any
			}
			continue
		}
		if b.kind != kindList || first.elem != b.elem && !(numbers(first) && numbers(b)) || !ok {
			c.fail(x, "E220", "the lists of concat are of different kinds")
			return false
		}
		first.dims, first.any = d, wild
		if b.elem == kindFloat {
			first.elem = kindFloat
		}
	}
	return true
}

// machine is a subtree in the virtual machine and the values that it reads.
type machine struct {
	c       *compiler
	at      diag.Pos
	program *vm.Program
	values  map[string]anyFn
	names   []string
	dep     depend
	size    int
	ranges  []*rangeCode // written in the subtree; with the lists they bound its work
}

// charge counts the elements that an evaluation may visit.
func (m *machine) charge(env map[string]any, e *graph.Env) error {
	n := int64(1)
	for _, v := range env {
		if list, ok := v.([]any); ok {
			n += int64(len(list))
		}
	}
	for _, r := range m.ranges {
		_, _, k, err := r.bounds(e)
		if err != nil {
			return err
		}
		n += min(k, maxList+1)
	}
	if n > maxList {
		return fault("E204", m.at, "a list of more than %d elements is too long", maxList)
	}
	return m.c.ld.visit(n, m.at)
}

// visit counts list elements that are looked at while the blueprint is loaded.
func (l *loader) visit(n int64, at diag.Pos) error {
	if l.loaded {
		return nil
	}
	if l.visited += n; l.visited > l.limits.visits {
		return fault("E204", at, "the lists of all ranks have more than %d elements", l.limits.visits)
	}
	return nil
}

// collect finds the free names of a subtree; false if one is wrong. Predicates are
// not nested, so that an evaluation stays linear in its lists.
func (m *machine) collect(n ast.Node, predicates int) bool {
	m.size++
	switch n := n.(type) {
	case *ast.IdentifierNode:
		return m.name(n)
	case *ast.BinaryNode:
		if n.Operator == ".." {
			if predicates > 0 {
				m.c.fail(n, "E205", "not supported yet: a range inside a predicate")
				return false
			}
			k := m.c.compile(n)
			if k.rng == nil {
				return false
			}
			m.ranges = append(m.ranges, k.rng)
		}
	case *ast.PredicateNode:
		if predicates++; predicates > 1 {
			m.c.fail(n, "E205", "not supported yet: a predicate inside a predicate")
			return false
		}
	case *ast.BuiltinNode:
		_, native := findFunction(n.Name)
		if !native && !slices.ContainsFunc(machineFunctions(), func(r machineRow) bool { return r.name == n.Name }) {
			m.c.fail(n, "E205", "not supported yet: the function %s", n.Name)
			return false
		}
	case *ast.MemberNode:
		if ok, found := m.gridMember(n); found && !ok {
			return false
		}
	case *ast.VariableDeclaratorNode, *ast.MapNode, *ast.SequenceNode:
		m.c.fail(n, "E205", "not supported yet: this kind of expression")
		return false
	}
	ok := true
	for _, k := range children(n) {
		ok = m.collect(k, predicates) && ok
	}
	return ok
}

// name binds one free name: a value, a grid, or a function.
func (m *machine) name(n *ast.IdentifierNode) bool {
	if _, done := m.values[n.Value]; done {
		return true
	}
	c := m.c
	sym := c.scope.lookup(n.Value)
	switch f, isBuiltin := findFunction(n.Value); {
	case isBuiltin:
		m.bind(n.Value, func(*graph.Env) (any, error) { return m.builtin(f), nil })
		return true
	case sym != nil && sym.what == isFn:
		*sym.used = true
		return m.userFn(sym)
	case sym != nil && sym.what == isGrid:
		*sym.used = true
		g := c.ld.resolveGrid(sym)
		m.dep |= onRank
		m.bind(n.Value, func(e *graph.Env) (any, error) { return g.object(e), nil })
		return !g.bad
	}
	k := c.compile(n)
	if k.kind == kindBad {
		return false
	}
	m.dep |= k.dep
	m.size += k.size
	m.bind(n.Value, k.eval)
	return true
}

func (m *machine) bind(name string, fn anyFn) {
	m.values[name] = fn
	m.names = append(m.names, name)
}

// run evaluates the program in an environment of its own.
func (m *machine) run(e *graph.Env) (any, error) {
	env := make(map[string]any, len(m.names))
	for _, name := range m.names {
		v, err := m.values[name](e)
		if err != nil {
			return nil, err
		}
		env[name] = v
	}
	if err := m.charge(env, e); err != nil {
		return nil, err
	}
	v, err := vm.Run(m.program, env)
	if err != nil {
		at := m.at
		msg := err.Error()
		if fe, ok := err.(*file.Error); ok {
			msg, at = fe.Message, m.c.e.at(fe.From)
		}
		return nil, fault("E222", at, "%s", m.c.e.plain(msg))
	}
	if v == nil {
		d := fault("E222", m.at, "there is no such element")
		d.Note("the list is empty, or nothing in it meets the condition")
		return nil, d
	}
	return native(v), nil
}

// native turns values of the virtual machine into ours.
func native(v any) any {
	switch v := v.(type) {
	case int:
		return int64(v)
	case []int:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = int64(x)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = native(x)
		}
		return out
	}
	return v
}

// callable is a function as the virtual machine calls it.
type callable = func(args ...any) (any, error)

// numbered makes a function of numbers from code whose parameters read the bits of
// floating-point numbers from the loop counters.
func (m *machine) numbered(params int, name string, body *code) callable {
	return func(args ...any) (any, error) {
		if len(args) != params {
			return nil, fault("E213", m.at, "%s needs %d arguments, not %d", name, params, len(args))
		}
		env := &graph.Env{Loops: make([]int64, params)}
		for i, a := range args {
			x, ok := floatOf(a)
			if !ok {
				return nil, fault("E220", m.at, "an argument of %s is no number", name)
			}
			env.Loops[i] = int64(math.Float64bits(x))
		}
		return body.eval(env)
	}
}

func bitsParameter(i int) *code {
	return &code{typ: typ{kind: kindFloat, any: true}, dep: onLoop, size: 1,
		f: func(e *graph.Env) (float64, error) { return math.Float64frombits(uint64(e.Loops[i])), nil }}
}

// builtin is a native function of whole numbers for use in predicates.
func (m *machine) builtin(f function) callable {
	return func(args ...any) (any, error) {
		if len(args) < f.min || len(args) > f.max {
			return nil, fault("E213", m.at, "%s has %d arguments", f.name, len(args))
		}
		codes := make([]*code, len(args))
		nodes := make([]ast.Node, len(args))
		for i, a := range args {
			a = native(a)
			if _, ok := floatOf(a); !ok {
				return nil, fault("E220", m.at, "an argument of %s is no number", f.name)
			}
			codes[i], nodes[i] = constant(a, typ{any: true}), &ast.NilNode{}
		}
		quiet := &compiler{ld: &loader{list: &findings{}, loaded: true}, e: m.c.e, budget: new(int)}
		k := f.make(quiet, &ast.NilNode{}, codes, nodes)
		if k.kind == kindBad {
			return nil, fault("E220", m.at, "%s cannot be used here", f.name)
		}
		return k.eval(&graph.Env{})
	}
}

// userFn binds a declared function. Inside predicates its parameters are numbers
// of unknown dimension.
func (m *machine) userFn(sym *symbol) bool {
	c := m.c
	if slices.Contains(c.fns, sym.fn) {
		c.ld.list.Errorf("E211", sym.pos, "fn %s calls itself", sym.name)
		return false
	}
	inner := &scope{parent: c.ld.root}
	for i, p := range sym.fn.Params {
		inner.value(p.Text, "parameter", posOfWord(p), new(bool), bitsParameter(i))
	}
	body := (&compiler{ld: c.ld, scope: inner, e: sym.fn.Body, fns: append(slices.Clip(c.fns), sym.fn), budget: c.budget}).whole()
	if body.kind == kindBad {
		return false
	}
	m.dep |= body.dep &^ onLoop
	m.size += body.size
	m.bind(sym.name, func(e *graph.Env) (any, error) {
		call := m.numbered(len(sym.fn.Params), sym.name, body.forRank(e.Rank))
		return call, nil
	})
	return true
}

// forRank fixes the rank of an evaluation.
func (c *code) forRank(rank int32) *code {
	return &code{typ: typ{kind: kindString}, v: func(e *graph.Env) (any, error) {
		return c.eval(&graph.Env{Rank: rank, Op: e.Op, Loops: e.Loops, Peer: e.Peer})
	}}
}
