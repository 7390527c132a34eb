package dsel

import (
	"math"

	"github.com/expr-lang/expr/ast"

	"hybrid/graph"
	"hybrid/internal/diag"
)

func (c *compiler) binary(n *ast.BinaryNode) *code {
	switch n.Operator {
	case "..":
		return c.rangeNode(n)
	case "in":
		return c.inNode(n)
	case "and", "&&", "or", "||":
		return c.logical(n)
	}
	a, b := c.compile(n.Left), c.compile(n.Right)
	if a.kind == kindBad || b.kind == kindBad {
		return badCode()
	}
	switch n.Operator {
	case "+", "-", "*", "/", "%", "**", "^":
		if !a.numeric() || !b.numeric() {
			if n.Operator == "+" && a.kind == kindString && b.kind == kindString {
				return c.virtual(n)
			}
			return c.fail(n, "E220", "'%s' needs numbers, not %s and %s", n.Operator, a.typ, b.typ).bad()
		}
		return c.arithmetic(n, a, b)
	case "==", "!=", "<", "<=", ">", ">=":
		return c.compare(n, a, b)
	}
	return c.virtual(n)
}

func (c *compiler) arithmetic(n *ast.BinaryNode, a, b *code) *code {
	a, b = c.existing(n.Left, a), c.existing(n.Right, b)
	out := &code{dep: a.dep | b.dep, size: a.size + b.size + 1, quotient: a.quotient || b.quotient}
	switch n.Operator {
	case "+", "-", "%":
		d, wild, ok := sameDims(a, b)
		if !ok {
			f := c.fail(n, "E220", "cannot combine %s and %s with '%s'", a.dims, b.dims, n.Operator)
			if a.dims == plainDims() || b.dims == plainDims() {
				f.note("give the plain number a unit, such as 8B or 1us")
			}
			return f.bad()
		}
		out.dims, out.any = d, wild
	case "*":
		out.dims, out.any = a.dims.times(b.dims, 1), a.any || b.any
	case "/":
		out.dims, out.any = a.dims.times(b.dims, -1), a.any || b.any
		out.quotient = true
	case "**", "^":
		return c.power(n, a, b, out)
	}
	if n.Operator != "/" && a.i != nil && b.i != nil {
		return c.intArithmetic(n, a, b, out)
	}
	if n.Operator == "%" {
		return c.fail(n, "E220", "'%%' needs whole numbers; use mod(a, b) after floor(..)").bad()
	}
	out.kind = kindFloat
	x, y := a.asFloat(), b.asFloat()
	out.f = floatOp(n.Operator, x, y)
	return out
}

func floatOp(op string, x, y floatFn) floatFn {
	two := func(e *graph.Env) (a, b float64, err error) {
		if a, err = x(e); err != nil {
			return
		}
		b, err = y(e)
		return
	}
	switch op {
	case "+":
		return func(e *graph.Env) (float64, error) { a, b, err := two(e); return a + b, err }
	case "-":
		return func(e *graph.Env) (float64, error) { a, b, err := two(e); return a - b, err }
	case "*":
		return func(e *graph.Env) (float64, error) { a, b, err := two(e); return a * b, err }
	}
	return func(e *graph.Env) (float64, error) { a, b, err := two(e); return a / b, err }
}

// intArithmetic is exact or an error. A constant right operand gets closures of
// its own, the common case in loops.
func (c *compiler) intArithmetic(n *ast.BinaryNode, a, b, out *code) *code {
	out.kind = kindInt
	x, y, pos := a.i, b.i, c.pos(n)
	k, isConst := b.constInt()
	if n.Operator == "%" {
		return c.remainder(n, a, b, out)
	}
	op := map[string]func(int64, int64) (int64, bool){"+": addInt, "-": subInt, "*": mulInt}[n.Operator]
	if n.Operator == "-" && k == math.MinInt64 {
		isConst = false
	} else if n.Operator == "-" && isConst {
		k = -k
	}
	if isConst && k == 0 && op != nil && n.Operator != "*" {
		same := *a
		same.typ, same.size = out.typ, out.size
		return &same
	}
	switch {
	case isConst && n.Operator != "*":
		out.i = addConstant(x, k, pos)
	case isConst:
		out.i = timesConstant(x, k, pos)
	default:
		out.i = combine(x, y, op, pos)
	}
	return out
}

// combine applies an exact operation to two whole numbers.
func combine(x, y intFn, op func(a, b int64) (int64, bool), pos diag.Pos) intFn {
	return func(e *graph.Env) (int64, error) {
		p, err := x(e)
		if err != nil {
			return 0, err
		}
		q, err := y(e)
		if err != nil {
			return 0, err
		}
		r, ok := op(p, q)
		if !ok {
			return 0, overflow(pos)
		}
		return r, nil
	}
}

// addConstant adds a constant other than 0.
func addConstant(x intFn, k int64, pos diag.Pos) intFn {
	return func(e *graph.Env) (int64, error) {
		p, err := x(e)
		if err != nil {
			return 0, err
		}
		r := p + k
		if (r > p) != (k > 0) {
			return 0, overflow(pos)
		}
		return r, nil
	}
}

func timesConstant(x intFn, k int64, pos diag.Pos) intFn {
	return func(e *graph.Env) (int64, error) {
		p, err := x(e)
		if err != nil {
			return 0, err
		}
		r, ok := mulInt(p, k)
		if !ok {
			return 0, overflow(pos)
		}
		return r, nil
	}
}

// remainder is expr's %: the sign of the dividend.
func (c *compiler) remainder(n *ast.BinaryNode, a, b, out *code) *code {
	x, y, pos := a.i, b.i, c.pos(n)
	if k, ok := b.constInt(); ok && k != 0 {
		if k == 1 || k == -1 {
			return constant(int64(0), out.typ)
		}
		out.i = func(e *graph.Env) (int64, error) {
			p, err := x(e)
			return p % k, err
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
		if q == 0 {
			return 0, fault("E222", pos, "division by zero")
		}
		if q == -1 {
			return 0, nil
		}
		return p % q, nil
	}
	return out
}

// power is a ** b, in floating point as in expr. A quantity needs a constant
// whole exponent, or its dimensions would not be known.
func (c *compiler) power(n *ast.BinaryNode, a, b, out *code) *code {
	if b.dims != plainDims() {
		return c.fail(n, "E220", "an exponent must be a plain number, not %s", b.dims).bad()
	}
	if a.dims != plainDims() {
		k, ok := b.constInt()
		if !ok || k < -8 || k > 8 {
			return c.fail(n, "E220", "a power of %s needs a constant whole exponent", a.dims).bad()
		}
		out.dims = a.dims.power(int8(k))
	}
	out.kind, out.any = kindFloat, a.any
	x, y := a.asFloat(), b.asFloat()
	out.f = func(e *graph.Env) (float64, error) {
		p, err := x(e)
		if err != nil {
			return 0, err
		}
		q, err := y(e)
		return math.Pow(p, q), err
	}
	return out
}

func (c *compiler) compare(n *ast.BinaryNode, a, b *code) *code {
	out := &code{typ: typ{kind: kindBool}, dep: a.dep | b.dep, size: a.size + b.size + 1}
	equality := n.Operator == "==" || n.Operator == "!="
	switch {
	case a.numeric() && b.numeric():
		if _, _, ok := sameDims(a, b); !ok {
			return c.fail(n, "E220", "cannot compare %s and %s", a.dims, b.dims).bad()
		}
		if a.i != nil && b.i != nil {
			out.b = compareInt(n.Operator, a, b)
		} else {
			out.b = compareWith(n.Operator, a.asFloat(), b.asFloat())
		}
	case a.kind == b.kind && a.kind == kindBool && equality:
		x, y, want := a.b, b.b, n.Operator == "=="
		out.b = func(e *graph.Env) (bool, error) {
			p, err := x(e)
			if err != nil {
				return false, err
			}
			q, err := y(e)
			return (p == q) == want, err
		}
	case a.kind == b.kind && a.kind == kindString:
		text := func(k *code) func(*graph.Env) (string, error) {
			return func(e *graph.Env) (string, error) {
				v, err := k.eval(e)
				s, _ := v.(string)
				return s, err
			}
		}
		out.b = compareWith(n.Operator, text(a), text(b))
	default:
		return c.fail(n, "E220", "cannot compare %s and %s with '%s'", a.typ, b.typ, n.Operator).bad()
	}
	return out
}

// compareInt compares with a constant without calling it, the common case.
func compareInt(op string, a, b *code) boolFn {
	k, ok := b.constInt()
	if !ok {
		return compareWith(op, a.i, b.i)
	}
	x := a.i
	switch op {
	case "==":
		return func(e *graph.Env) (bool, error) { p, err := x(e); return p == k, err }
	case "!=":
		return func(e *graph.Env) (bool, error) { p, err := x(e); return p != k, err }
	case "<":
		return func(e *graph.Env) (bool, error) { p, err := x(e); return p < k, err }
	case "<=":
		return func(e *graph.Env) (bool, error) { p, err := x(e); return p <= k, err }
	case ">":
		return func(e *graph.Env) (bool, error) { p, err := x(e); return p > k, err }
	}
	return func(e *graph.Env) (bool, error) { p, err := x(e); return p >= k, err }
}

func compareWith[T int64 | float64 | string](op string, x, y func(*graph.Env) (T, error)) boolFn {
	test := map[string]func(a, b T) bool{
		"==": func(a, b T) bool { return a == b }, "!=": func(a, b T) bool { return a != b },
		"<": func(a, b T) bool { return a < b }, "<=": func(a, b T) bool { return a <= b },
		">": func(a, b T) bool { return a > b }, ">=": func(a, b T) bool { return a >= b },
	}[op]
	return func(e *graph.Env) (bool, error) {
		p, err := x(e)
		if err != nil {
			return false, err
		}
		q, err := y(e)
		return err == nil && test(p, q), err
	}
}

func (c *compiler) logical(n *ast.BinaryNode) *code {
	a, b := c.compile(n.Left), c.compile(n.Right)
	if a.kind == kindBad || b.kind == kindBad {
		return badCode()
	}
	if a.kind != kindBool || b.kind != kindBool {
		return c.fail(n, "E220", "'%s' needs true or false, not %s and %s", n.Operator, a.typ, b.typ).bad()
	}
	stop := n.Operator == "or" || n.Operator == "||" // the value of a that decides
	if v, ok := a.konst.(bool); ok {
		if v == stop {
			return a
		}
		return b
	}
	if v, ok := b.konst.(bool); ok && v != stop {
		return a
	}
	x, y := a.b, b.b
	return &code{typ: typ{kind: kindBool}, dep: a.dep | b.dep, size: a.size + b.size + 1,
		b: func(e *graph.Env) (bool, error) {
			p, err := x(e)
			if err != nil || p == stop {
				return p, err
			}
			return y(e)
		}}
}

func (c *compiler) rangeNode(n *ast.BinaryNode) *code {
	a, b := c.compile(n.Left), c.compile(n.Right)
	if a.kind == kindBad || b.kind == kindBad {
		return badCode()
	}
	lo, ok1 := c.wholeNumber(n.Left, a, "the start of a range")
	hi, ok2 := c.wholeNumber(n.Right, b, "the end of a range")
	if !ok1 || !ok2 {
		return badCode()
	}
	return &code{typ: typ{kind: kindList, elem: kindInt}, dep: a.dep | b.dep, size: a.size + b.size + 1, rng: &rangeCode{lo: lo, hi: hi, ld: c.ld}}
}

// wholeNumber turns a plain number into a whole one; a fraction is an error when
// it is evaluated.
func (c *compiler) wholeNumber(n ast.Node, a *code, name string) (*code, bool) {
	if !a.numeric() || a.dims != plainDims() {
		c.fail(n, "E220", "%s must be a plain number, not %s", name, a.typ)
		return nil, false
	}
	return c.toInt(n, c.existing(n, a), name), true
}

// toInt keeps the dimensions and demands that the value is whole.
func (c *compiler) toInt(n ast.Node, a *code, name string) *code {
	if a.i != nil {
		return a
	}
	f, pos, div := a.f, c.pos(n), a.quotient
	out := &code{typ: a.typ, dep: a.dep, size: a.size + 1}
	out.kind = kindInt
	out.i = func(e *graph.Env) (int64, error) {
		x, err := f(e)
		if err != nil {
			return 0, err
		}
		r := math.Round(x)
		if math.IsNaN(x) || math.Abs(x) >= 1<<63 || math.Abs(x-r) > 1e-6 {
			d := fault("E221", pos, "%s is %s, not a whole number", name, numberText(x))
			if div {
				d.Note("'/' divides exactly; use div(a, b) or ceil(..)")
			}
			return 0, d
		}
		return int64(r), nil
	}
	return out.fold()
}

func (c *compiler) inNode(n *ast.BinaryNode) *code {
	a, b := c.compile(n.Left), c.compile(n.Right)
	if a.kind == kindBad || b.kind == kindBad {
		return badCode()
	}
	if b.kind != kindList {
		return c.fail(n, "E220", "'in' needs a list on its right, not %s", b.typ).bad()
	}
	if a.numeric() != (b.elem == kindInt || b.elem == kindFloat) && b.elem != kindBad {
		return c.fail(n, "E220", "a list of this kind cannot hold %s", a.typ).bad()
	}
	if _, _, ok := sameDims(a, b); a.numeric() && !ok {
		return c.fail(n, "E220", "cannot look for %s in a list of %s", a.dims, b.dims).bad()
	}
	out := &code{typ: typ{kind: kindBool}, dep: a.dep | b.dep, size: a.size + b.size + 1}
	if set := numberSet(b); set != nil && a.numeric() {
		x := a.asFloat()
		out.b = func(e *graph.Env) (bool, error) { v, err := x(e); return set[v], err }
		return out
	}
	if b.rng != nil && a.numeric() {
		x, r := a.asFloat(), b.rng
		out.b = func(e *graph.Env) (bool, error) {
			v, err := x(e)
			if err != nil {
				return false, err
			}
			lo, err := r.lo.i(e)
			if err != nil {
				return false, err
			}
			hi, err := r.hi.i(e)
			return v >= float64(lo) && v <= float64(hi) && v == math.Trunc(v), err
		}
		return out
	}
	pos := c.pos(n)
	out.b = func(e *graph.Env) (bool, error) {
		v, err := a.eval(e)
		if err != nil {
			return false, err
		}
		list, err := listOf(b, e)
		if err == nil {
			err = c.ld.visit(int64(len(list)), pos)
		}
		for _, x := range list {
			if equalValues(v, x) {
				return true, err
			}
		}
		return false, err
	}
	return out
}
