package dsel

import (
	"math/big"
	"strconv"
	"strings"
	"unicode"

	"github.com/expr-lang/expr/ast"

	"hybrid/graph"
	"hybrid/internal/diag"
)

// compiler turns one expression into code in one scope.
type compiler struct {
	ld    *loader
	scope *scope
	e     *expression
	// fns are the functions being expanded, for the recursion check.
	fns []*fnDecl
	// budget counts nodes over all expansions.
	budget *int
	// elsewhere, if set, is raised instead of reporting an unknown name.
	elsewhere *bool
	// outcome is set while the condition of an expect is compiled.
	outcome *outcome
}

// compile returns the code of an expression, folded if it is constant. Faults are
// reported; the code is then bad.
func (l *loader) compile(e *expression, s *scope) *code {
	budget := 0
	c := &compiler{ld: l, scope: s, e: e, budget: &budget}
	return c.whole()
}

func (c *compiler) whole() *code {
	n := c.e.tree(c.ld.list)
	if n == nil {
		return badCode()
	}
	return c.compile(n)
}

func (c *compiler) pos(n ast.Node) diag.Pos { return c.e.at(n.Location().From) }

func (c *compiler) fail(n ast.Node, code, format string, args ...any) *reported {
	return &reported{c.ld.list.Errorf(code, c.pos(n), format, args...)}
}

// reported is a reported fault on which notes can be put before it ends the compile.
type reported struct{ d *diag.Diagnostic }

func (f *reported) note(format string, args ...any) *reported {
	f.d.Note(format, args...)
	return f
}

func (f *reported) bad() *code { return badCode() }

func (c *compiler) compile(n ast.Node) *code {
	if *c.budget++; *c.budget > 4*maxNodes {
		if *c.budget == 4*maxNodes+1 {
			c.ld.list.Errorf("E204", c.e.pos(), "the expression grows beyond %d terms once its functions are expanded", 4*maxNodes)
		}
		return badCode()
	}
	k := c.node(n)
	if k.size > maxNodes {
		return c.fail(n, "E204", "the expression has more than %d terms once its functions and lets are expanded", maxNodes).bad()
	}
	return k.fold()
}

func (c *compiler) node(n ast.Node) *code {
	switch n := n.(type) {
	case *ast.IntegerNode:
		k := plainInt(int64(n.Value))
		k.any = n.Value == 0
		return k
	case *ast.FloatNode:
		return constant(n.Value, typ{})
	case *ast.BoolNode:
		return constant(n.Value, typ{})
	case *ast.StringNode:
		return constant(n.Value, typ{})
	case *ast.IdentifierNode:
		return c.identifier(n)
	case *ast.UnaryNode:
		return c.unary(n)
	case *ast.BinaryNode:
		return c.binary(n)
	case *ast.ConditionalNode:
		return c.conditional(n)
	case *ast.ChainNode:
		return c.compile(n.Node)
	case *ast.MemberNode:
		return c.member(n)
	case *ast.CallNode:
		return c.call(n)
	case *ast.BuiltinNode:
		return c.builtin(n)
	case *ast.ArrayNode:
		return c.array(n)
	}
	return c.virtual(n)
}

// parseQuantity returns the exact value of a number with a unit; err says why
// there is none.
func parseQuantity(s string) (q quantity, err string) {
	i := digitsLen(s)
	u, ok := unitTable()[s[i:]]
	if !ok {
		return quantity{text: s, code: badCode()}, "unknown unit in " + s
	}
	q = quantity{text: s, unit: u, code: badCode()}
	digits := strings.ReplaceAll(s[:i], "_", "")
	if at := strings.IndexFunc(digits, unicode.IsLetter); len(digits) > 60 || at >= 0 && len(digits)-at > 4 {
		return q, s + " has too many digits"
	}
	r, ok := new(big.Rat).SetString(digits)
	if !ok {
		return q, s + " is not a number"
	}
	r.Mul(r, u.scale)
	if r.IsInt() {
		if !r.Num().IsInt64() {
			return q, s + " does not fit in 64 bits"
		}
		q.code = constant(r.Num().Int64(), typ{dims: u.dims})
		return q, ""
	}
	f, _ := r.Float64()
	q.code = constant(f, typ{dims: u.dims})
	return q, ""
}

func (c *compiler) identifier(n *ast.IdentifierNode) *code {
	if q, ok := c.e.quantities[n.Value]; ok {
		k := *q.code
		return &k
	}
	switch n.Value {
	case "rank":
		return &code{typ: typ{kind: kindInt}, dep: onRank, size: 1, i: func(e *graph.Env) (int64, error) { return int64(e.Rank), nil }}
	case "ranks":
		if c.ld.ranks < 0 {
			return c.fail(n, "E210", "ranks is not known yet where this is evaluated").bad()
		}
		return plainInt(c.ld.ranks)
	case "norank":
		k := plainInt(noRank)
		k.norank = true
		return k
	}
	sym := c.scope.lookup(n.Value)
	if sym == nil {
		return c.unknown(n, n.Value)
	}
	*sym.used = true
	if sym.what == isValue {
		k := *c.ld.valueOf(sym)
		return &k
	}
	return c.fail(n, "E210", "%s is a %s, not a value", n.Value, sym.word).note("%s", useOf(sym)).bad()
}

// useOf says how a name that is no value is used.
func useOf(s *symbol) string {
	switch s.what {
	case isFn:
		return "call it: " + s.name + "(..)"
	case isGrid:
		return "use " + s.name + ".axis, " + s.name + ".shift(\"axis\", d) or " + s.name + ".size(\"axis\")"
	case isGroup:
		return "a collective names it: over " + s.name
	case isDef:
		return "a def is called by a statement of its own"
	case isKernel:
		return "compute kernel " + s.name + "(..) uses it"
	}
	return "an operation names it: stream " + s.name
}

func (c *compiler) unknown(n ast.Node, name string) *code {
	if c.elsewhere != nil {
		*c.elsewhere = true
		return badCode()
	}
	if c.ld.poisoned[name] {
		return badCode()
	}
	known := append(c.scope.visible(), "rank", "ranks", "norank")
	return c.fail(n, "E210", "unknown name %q%s", name, diag.DidYouMean(name, known)).bad()
}

func (c *compiler) unary(n *ast.UnaryNode) *code {
	a := c.compile(n.Node)
	if a.kind == kindBad {
		return a
	}
	out := &code{typ: a.typ, dep: a.dep, size: a.size + 1, quotient: a.quotient}
	switch n.Operator {
	case "+", "-":
		if !a.numeric() {
			return c.fail(n, "E220", "'%s' needs a number, not %s", n.Operator, a.typ).bad()
		}
		a = c.existing(n, a)
		if n.Operator == "+" {
			return a
		}
		if a.i != nil {
			i, pos := a.i, c.pos(n)
			out.i = func(e *graph.Env) (int64, error) {
				x, err := i(e)
				if r, ok := subInt(0, x); ok || x == 0 {
					return r, err
				}
				return 0, overflow(pos)
			}
			return out
		}
		f := a.f
		out.f = func(e *graph.Env) (float64, error) { x, err := f(e); return -x, err }
		return out
	case "not", "!":
		if a.kind != kindBool {
			return c.fail(n, "E220", "'%s' needs true or false, not %s", n.Operator, a.typ).bad()
		}
		b := a.b
		out.b = func(e *graph.Env) (bool, error) { x, err := b(e); return !x, err }
		return out
	}
	return c.fail(n, "E220", "operator %s is not supported yet", n.Operator).bad()
}

func overflow(pos diag.Pos) error { return fault("E222", pos, "the result does not fit in 64 bits") }

// conditional compiles c ? a : b. A constant condition leaves only its branch.
func (c *compiler) conditional(n *ast.ConditionalNode) *code {
	q, a, b := c.compile(n.Cond), c.compile(n.Exp1), c.compile(n.Exp2)
	if q.kind == kindBad || a.kind == kindBad || b.kind == kindBad {
		return badCode()
	}
	if q.kind != kindBool {
		return c.fail(n.Cond, "E220", "a condition must be true or false, not %s", q.typ).bad()
	}
	t, ok := c.join(a, b)
	if !ok {
		return c.fail(n, "E220", "the branches of '?:' are %s and %s", a.typ, b.typ).bad()
	}
	if yes, ok := q.konst.(bool); ok {
		if yes {
			return a.retyped(t)
		}
		return b.retyped(t)
	}
	out := &code{typ: t, dep: q.dep | a.dep | b.dep, size: q.size + a.size + b.size + 1, norank: a.norank || b.norank, quotient: a.quotient || b.quotient}
	cond := q.b
	switch t.kind {
	case kindInt:
		out.i = choose(cond, a.i, b.i)
	case kindFloat:
		out.f = choose(cond, a.asFloat(), b.asFloat())
	case kindBool:
		out.b = choose(cond, a.b, b.b)
	default:
		out.v = choose(cond, a.eval, b.eval)
	}
	return out
}

func choose[T any](cond boolFn, a, b func(*graph.Env) (T, error)) func(*graph.Env) (T, error) {
	return func(e *graph.Env) (T, error) {
		q, err := cond(e)
		if err != nil {
			var zero T
			return zero, err
		}
		if q {
			return a(e)
		}
		return b(e)
	}
}

// join returns the type that both branches fit.
func (c *compiler) join(a, b *code) (typ, bool) {
	if a.numeric() && b.numeric() {
		d, wild, ok := sameDims(a, b)
		k := kindInt
		if a.kind == kindFloat || b.kind == kindFloat {
			k = kindFloat
		}
		return typ{kind: k, dims: d, any: wild}, ok
	}
	t := a.typ
	if a.elem != b.elem {
		t.elem = kindBad
	}
	return t, a.kind == b.kind
}

// retyped returns the code with another numeric type.
func (c *code) retyped(t typ) *code {
	k := *c
	k.typ = t
	if c.kind == kindInt && t.kind == kindFloat {
		k.f, k.i = c.asFloat(), nil
		if n, ok := c.constInt(); ok {
			k.konst = float64(n)
		}
	}
	return &k
}

// sameDims returns the common dimensions of two numbers, if they have some.
func sameDims(a, b *code) (d dims, wild, ok bool) {
	switch {
	case a.any:
		return b.dims, b.any, true
	case b.any:
		return a.dims, false, true
	}
	return a.dims, false, a.dims == b.dims
}

// array compiles [a, b, c].
func (c *compiler) array(n *ast.ArrayNode) *code {
	out := &code{typ: typ{kind: kindList, any: true}, size: 1}
	items := make([]*code, len(n.Nodes))
	for i, x := range n.Nodes {
		k := c.compile(x)
		if k.kind == kindBad {
			return k
		}
		if i > 0 && (k.numeric() != items[0].numeric() || !k.numeric() && k.kind != items[0].kind) {
			return c.fail(x, "E220", "the list holds %s and %s", items[0].typ, k.typ).bad()
		}
		if i > 0 && k.numeric() {
			probe := &code{typ: out.typ}
			d, wild, ok := sameDims(probe, k)
			if !ok {
				return c.fail(x, "E220", "the list holds %s and %s", out.dims, k.dims).bad()
			}
			out.dims, out.any = d, wild
		} else if i == 0 {
			out.dims, out.any, out.elem = k.dims, k.any, k.kind
		}
		if k.kind == kindFloat {
			out.elem = kindFloat
		}
		items[i] = k
		out.dep |= k.dep
		out.size += k.size
		out.norank = out.norank || k.norank
	}
	out.v = func(e *graph.Env) (any, error) {
		list := make([]any, len(items))
		for i, k := range items {
			v, err := k.eval(e)
			if err != nil {
				return nil, err
			}
			list[i] = v
		}
		return list, nil
	}
	return out
}

// numberText prints a number for messages.
func numberText(v any) string {
	switch v := v.(type) {
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return "?"
}
