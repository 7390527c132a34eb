package dsel

import (
	"math"
	"slices"

	"github.com/expr-lang/expr/ast"

	"hybrid/graph"
	"hybrid/internal/diag"
)

// makeExtreme is min or max of numbers, or of one list.
func makeExtreme(least bool) func(*compiler, ast.Node, []*code, []ast.Node) *code {
	better := func(less bool) bool { return less == least }
	return func(c *compiler, n ast.Node, args []*code, nodes []ast.Node) *code {
		if len(args) == 1 && args[0].kind == kindList {
			return c.reduceList(n, args[0], func(best, x float64) bool { return better(x < best) })
		}
		out := c.existing(nodes[0], args[0])
		for i, b := range args {
			if !b.numeric() {
				return c.fail(nodes[i], "E220", "a number is needed here, not %s", b.typ).bad()
			}
			b = c.existing(nodes[i], b)
			if i == 0 {
				continue
			}
			a := out
			d, wild, ok := sameDims(a, b)
			if !ok {
				return c.fail(n, "E220", "cannot compare %s and %s", a.dims, b.dims).bad()
			}
			out = &code{typ: typ{kind: kindInt, dims: d, any: wild}, dep: a.dep | b.dep, size: a.size + b.size + 1,
				norank: a.norank || b.norank, quotient: a.quotient || b.quotient}
			if a.i != nil && b.i != nil {
				out.i = pick(a.i, b.i, least)
			} else {
				out.kind, out.f = kindFloat, pick(a.asFloat(), b.asFloat(), least)
			}
			out = out.fold()
		}
		return out
	}
}

func pick[T int64 | float64](x, y func(*graph.Env) (T, error), least bool) func(*graph.Env) (T, error) {
	return func(e *graph.Env) (T, error) {
		p, err := x(e)
		if err != nil {
			return 0, err
		}
		q, err := y(e)
		switch {
		case p != p: // not a number stays visible
			return p, err
		case q != q || (q < p) == least:
			return q, err
		}
		return p, err
	}
}

// numbersOf evaluates a list of numbers that are about to be compared or added.
func (c *compiler) numbersOf(a *code, e *graph.Env, pos diag.Pos) ([]any, error) {
	list, err := listOf(a, e)
	if err == nil && a.norank && slices.Contains(list, any(int64(noRank))) {
		err = noRankFault(pos)
	}
	return list, err
}

// reduceList returns the element that wins against all others.
func (c *compiler) reduceList(n ast.Node, a *code, wins func(best, x float64) bool) *code {
	pos := c.pos(n)
	return c.element(a, a.dep, a.size+1, func(e *graph.Env) (any, error) {
		list, err := c.numbersOf(a, e, pos)
		if err != nil {
			return nil, err
		}
		if len(list) == 0 {
			return nil, fault("E222", pos, "the list is empty")
		}
		best := list[0]
		for _, x := range list[1:] {
			b, _ := floatOf(best)
			if y, ok := floatOf(x); ok && wins(b, y) {
				best = x
			}
		}
		return best, nil
	})
}

func makeAbs(c *compiler, n ast.Node, args []*code, nodes []ast.Node) *code {
	a := args[0]
	if !a.numeric() {
		return c.fail(n, "E220", "abs needs a number, not %s", a.typ).bad()
	}
	a = c.existing(n, a)
	out := &code{typ: a.typ, dep: a.dep, size: a.size + 1, quotient: a.quotient}
	if f := a.f; f != nil {
		out.f = func(e *graph.Env) (float64, error) { x, err := f(e); return math.Abs(x), err }
		return out
	}
	i, pos := a.i, c.pos(n)
	out.i = func(e *graph.Env) (int64, error) {
		x, err := i(e)
		if x == math.MinInt64 {
			return 0, overflow(pos)
		}
		return max(x, -x), err
	}
	return out
}

func makeRound(round func(float64) float64) func(*compiler, ast.Node, []*code, []ast.Node) *code {
	return func(c *compiler, n ast.Node, args []*code, _ []ast.Node) *code {
		a := args[0]
		if !a.numeric() {
			return c.fail(n, "E220", "a number is needed here, not %s", a.typ).bad()
		}
		if a.i != nil {
			return a
		}
		f, pos := a.f, c.pos(n)
		t := a.typ
		t.kind = kindInt
		return &code{typ: t, dep: a.dep, size: a.size + 1, i: func(e *graph.Env) (int64, error) {
			x, err := f(e)
			if err != nil {
				return 0, err
			}
			r := round(x)
			if math.IsNaN(r) || math.Abs(r) >= 1<<63 {
				return 0, fault("E222", pos, "%s does not fit in 64 bits", numberText(x))
			}
			return int64(r), nil
		}}
	}
}

func makeFloat(c *compiler, n ast.Node, args []*code, _ []ast.Node) *code {
	if !args[0].numeric() {
		return c.fail(n, "E220", "float needs a number, not %s", args[0].typ).bad()
	}
	t := args[0].typ
	t.kind = kindFloat
	return args[0].retyped(t)
}

func makeLen(c *compiler, n ast.Node, args []*code, _ []ast.Node) *code {
	a := args[0]
	if a.kind != kindList {
		return c.fail(n, "E220", "len needs a list, not %s", a.typ).bad()
	}
	out := &code{typ: typ{kind: kindInt}, dep: a.dep, size: a.size + 1}
	if r := a.rng; r != nil {
		out.i = func(e *graph.Env) (int64, error) { _, _, n, err := r.bounds(e); return n, err }
		return out
	}
	out.i = func(e *graph.Env) (int64, error) { list, err := listOf(a, e); return int64(len(list)), err }
	return out
}

func makeReverse(c *compiler, n ast.Node, args []*code, _ []ast.Node) *code {
	a := args[0]
	if a.kind != kindList {
		return c.fail(n, "E220", "reverse needs a list, not %s", a.typ).bad()
	}
	if r := a.rng; r != nil {
		k := *a
		k.rng = &rangeCode{lo: r.lo, hi: r.hi, reverse: !r.reverse, ld: r.ld}
		return &k
	}
	return &code{typ: a.typ, dep: a.dep, size: a.size + 1, norank: a.norank, v: func(e *graph.Env) (any, error) {
		list, err := listOf(a, e)
		list = slices.Clone(list)
		slices.Reverse(list)
		return list, err
	}}
}

func makeSum(c *compiler, n ast.Node, args []*code, _ []ast.Node) *code {
	a := args[0]
	if a.kind == kindList && a.elem == kindBad { // of an empty list
		return constant(int64(0), typ{any: true})
	}
	if a.kind != kindList || a.elem != kindInt && a.elem != kindFloat {
		return c.fail(n, "E220", "sum needs a list of numbers, not %s", a.typ).bad()
	}
	pos := c.pos(n)
	return c.element(a, a.dep, a.size+1, func(e *graph.Env) (any, error) {
		list, err := c.numbersOf(a, e, pos)
		if err != nil {
			return nil, err
		}
		whole, total := int64(0), 0.0
		for _, v := range list {
			x, _ := floatOf(v)
			total += x
			if k, ok := v.(int64); ok && a.elem == kindInt {
				if whole, ok = addInt(whole, k); !ok {
					return nil, overflow(pos)
				}
			}
		}
		if a.elem == kindInt {
			return whole, nil
		}
		return total, nil
	})
}
