package dsel

import (
	"math"
	"slices"
	"sync"

	"github.com/expr-lang/expr/ast"

	"hybrid/graph"
	"hybrid/internal/diag"
)

// function is a built-in function of the language.
type function struct {
	name     string
	doc      string
	min, max int
	make     func(c *compiler, n ast.Node, args []*code, nodes []ast.Node) *code
}

const anyCount = 1 << 20

// maxCalls bounds functions that call functions.
const maxCalls = 50

// functions lists the built-in functions that are compiled natively. Those of expr
// that are missing here run in its virtual machine.
func functions() []function {
	return []function{
		{"mod", "mod(a, b): the remainder with the sign of b, so that mod(rank - 1, ranks) wraps around", 2, 2, makeMod},
		{"div", "div(a, b): the quotient rounded down", 2, 2, makeDiv},
		{"ilog2", "ilog2(n): the largest k with 2**k <= n", 1, 1, intFunction(ilog2)},
		{"isqrt", "isqrt(n): the largest k with k*k <= n", 1, 1, intFunction(isqrt)},
		{"ispow2", "ispow2(n): whether n is a power of two", 1, 1, makeIsPow2},
		{"divisors", "divisors(n): the divisors of n in rising order", 1, 1, listFunction(divisors)},
		{"near_square", "near_square(n): the pair [a, b] with a * b == n, a <= b and b - a smallest", 1, 1, listFunction(nearSquare)},
		{"knomial_parent", "knomial_parent(r, k): the parent of rank r in a k-nomial tree rooted at 0, or norank", 2, 2, makeParent},
		{"knomial_children", "knomial_children(r, k, n): the children of rank r among n ranks", 3, 3, makeChildren},
		{"min", "min(a, b, ..): the smallest", 1, anyCount, makeExtreme(true)},
		{"max", "max(a, b, ..): the largest", 1, anyCount, makeExtreme(false)},
		{"abs", "abs(x): the magnitude", 1, 1, makeAbs},
		{"floor", "floor(x): x rounded down to a whole number", 1, 1, makeRound(math.Floor)},
		{"ceil", "ceil(x): x rounded up to a whole number", 1, 1, makeRound(math.Ceil)},
		{"round", "round(x): x rounded to the nearest whole number, halves away from zero", 1, 1, makeRound(math.Round)},
		{"int", "int(x): x without its fraction", 1, 1, makeRound(math.Trunc)},
		{"float", "float(x): x in floating point", 1, 1, makeFloat},
		{"len", "len(list): the number of elements", 1, 1, makeLen},
		{"reverse", "reverse(list): the elements backwards", 1, 1, makeReverse},
		{"sum", "sum(list): the sum of the elements", 1, 1, makeSum},
	}
}

func builtinNames() []string {
	var out []string
	for _, f := range functions() {
		out = append(out, f.name)
	}
	return append(out, "uniform", "normal", "exponential", "region")
}

// exprBuiltins are expr's own functions, reserved because hiding them would break
// expressions.
func exprBuiltins() []string {
	return []string{"all", "none", "any", "one", "filter", "map", "count", "find", "findIndex", "findLast", "findLastIndex", "groupBy", "sortBy",
		"reduce", "len", "type", "abs", "ceil", "floor", "round", "int", "float", "string", "trim", "trimPrefix", "trimSuffix", "upper", "lower",
		"split", "splitAfter", "replace", "repeat", "join", "indexOf", "lastIndexOf", "hasPrefix", "hasSuffix", "max", "min", "mean", "median",
		"toJSON", "fromJSON", "toBase64", "fromBase64", "now", "duration", "date", "timezone", "first", "last", "get", "take", "keys", "values",
		"toPairs", "fromPairs", "reverse", "uniq", "concat", "flatten", "sort", "bitand", "bitor", "bitxor", "bitnand", "bitnot", "bitshl",
		"bitshr", "bitushr", "sum", "let", "if", "else"}
}

// functionIndex is the table by name.
var functionIndex = sync.OnceValue(func() map[string]function {
	m := map[string]function{}
	for _, f := range functions() {
		m[f.name] = f
	}
	return m
})

func findFunction(name string) (function, bool) {
	f, ok := functionIndex()[name]
	return f, ok
}

// builtin compiles a call of a function that expr knows, too.
func (c *compiler) builtin(n *ast.BuiltinNode) *code {
	f, ok := findFunction(n.Name)
	if !ok || n.Name == "sum" && len(n.Arguments) != 1 {
		return c.virtual(n)
	}
	return c.apply(n, f, n.Arguments)
}

func (c *compiler) apply(n ast.Node, f function, nodes []ast.Node) *code {
	if len(nodes) < f.min || len(nodes) > f.max {
		return c.fail(n, "E213", "%s has %d arguments", f.name, len(nodes)).note("%s", f.doc).bad()
	}
	args := make([]*code, len(nodes))
	for i, a := range nodes {
		if args[i] = c.compile(a); args[i].kind == kindBad {
			return badCode()
		}
	}
	return f.make(c, n, args, nodes)
}

// call compiles f(..) and G.f(..).
func (c *compiler) call(n *ast.CallNode) *code {
	switch callee := n.Callee.(type) {
	case *ast.IdentifierNode:
		return c.namedCall(n, callee.Value)
	case *ast.MemberNode:
		id, ok1 := callee.Node.(*ast.IdentifierNode)
		method, ok2 := callee.Property.(*ast.StringNode)
		if !ok1 || !ok2 {
			break
		}
		sym := c.scope.lookup(id.Value)
		switch {
		case sym == nil:
			return c.unknown(id, id.Value)
		case sym.what == isGrid:
			*sym.used = true
			return c.gridCall(n, sym, method.Value)
		}
	}
	return c.fail(n, "E210", "this cannot be called").bad()
}

func (c *compiler) namedCall(n *ast.CallNode, name string) *code {
	if f, ok := findFunction(name); ok {
		return c.apply(n, f, n.Arguments)
	}
	switch name {
	case "uniform", "normal", "exponential":
		return c.fail(n, "E205", "%s(..) stands only in inject noise", name).bad()
	case "region":
		return c.fail(n, "E205", "region(..) stands only in expect").bad()
	}
	sym := c.scope.lookup(name)
	if sym == nil {
		if c.ld.poisoned[name] {
			return badCode()
		}
		return c.fail(n, "E210", "unknown function %q%s", name, diag.DidYouMean(name, append(c.scope.visible(), builtinNames()...))).bad()
	}
	*sym.used = true
	if sym.what != isFn {
		return c.fail(n, "E210", "%s is a %s, not a function", name, sym.word).bad()
	}
	return c.userCall(n, sym)
}

// userCall expands a fn: its body is compiled with the parameters bound to the
// arguments' code.
func (c *compiler) userCall(n *ast.CallNode, sym *symbol) *code {
	fn := sym.fn
	if len(n.Arguments) != len(fn.Params) {
		return c.fail(n, "E213", "%s needs %d arguments, not %d", sym.name, len(fn.Params), len(n.Arguments)).bad()
	}
	if len(c.fns) > maxCalls {
		return c.fail(n, "E204", "functions call one another more than %d deep", maxCalls).bad()
	}
	if slices.Contains(c.fns, fn) {
		return c.fail(n, "E211", "fn %s calls itself", sym.name).bad()
	}
	inner := &scope{parent: c.ld.root}
	for i, a := range n.Arguments {
		k := c.compile(a)
		if k.kind == kindBad {
			return k
		}
		inner.value(fn.Params[i].Text, "parameter", posOfWord(fn.Params[i]), new(bool), k)
	}
	body := &compiler{ld: c.ld, scope: inner, e: fn.Body, fns: append(slices.Clip(c.fns), fn), budget: c.budget}
	return body.whole()
}

func makeMod(c *compiler, n ast.Node, args []*code, nodes []ast.Node) *code {
	d, wild, ok := sameDims(args[0], args[1])
	if !args[0].numeric() || !args[1].numeric() || !ok {
		return c.fail(n, "E220", "mod needs two numbers of one dimension, not %s and %s", args[0].typ, args[1].typ).bad()
	}
	return c.division(n, args, nodes, typ{kind: kindInt, dims: d, any: wild}, floorMod)
}

func makeDiv(c *compiler, n ast.Node, args []*code, nodes []ast.Node) *code {
	if !args[0].numeric() || !args[1].numeric() {
		return c.fail(n, "E220", "div needs two numbers, not %s and %s", args[0].typ, args[1].typ).bad()
	}
	return c.division(n, args, nodes, typ{kind: kindInt, dims: args[0].dims.times(args[1].dims, -1)}, floorDiv)
}

func (c *compiler) division(n ast.Node, args []*code, nodes []ast.Node, t typ, op func(a, b int64) int64) *code {
	a := c.toInt(nodes[0], c.existing(nodes[0], args[0]), "the dividend")
	b := c.toInt(nodes[1], c.existing(nodes[1], args[1]), "the divisor")
	x, y, pos := a.i, b.i, c.pos(n)
	out := &code{typ: t, dep: a.dep | b.dep, size: a.size + b.size + 1}
	if k, ok := b.constInt(); ok && k > 0 {
		out.i = func(e *graph.Env) (int64, error) {
			p, err := x(e)
			return op(p, k), err
		}
		return out
	}
	out.i = func(e *graph.Env) (int64, error) {
		p, err := x(e)
		if err != nil {
			return 0, err
		}
		q, err := y(e)
		if err != nil {
			return 0, err
		}
		if q == 0 || q == -1 && p == math.MinInt64 {
			return 0, fault("E222", pos, "division of %d by %d", p, q)
		}
		return op(p, q), nil
	}
	return out
}
