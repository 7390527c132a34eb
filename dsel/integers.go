package dsel

import (
	"math"
	"math/bits"
	"slices"

	"github.com/expr-lang/expr/ast"

	"hybrid/graph"
)

// plainArg demands a plain whole number.
func (c *compiler) plainArg(k *code, n ast.Node) (*code, bool) {
	return c.wholeNumber(n, k, "the argument")
}

func intFunction(fn func(int64) (int64, bool)) func(*compiler, ast.Node, []*code, []ast.Node) *code {
	return func(c *compiler, n ast.Node, args []*code, nodes []ast.Node) *code {
		a, ok := c.plainArg(args[0], nodes[0])
		if !ok {
			return badCode()
		}
		x, pos := a.i, c.pos(n)
		return &code{typ: typ{kind: kindInt}, dep: a.dep, size: a.size + 1, i: func(e *graph.Env) (int64, error) {
			p, err := x(e)
			if err != nil {
				return 0, err
			}
			r, ok := fn(p)
			if !ok {
				return 0, fault("E222", pos, "the function is not defined for %d", p)
			}
			return r, nil
		}}
	}
}

func ilog2(n int64) (int64, bool) { return int64(bits.Len64(uint64(n)) - 1), n > 0 }

func isqrt(n int64) (int64, bool) {
	if n < 0 {
		return 0, false
	}
	r := int64(math.Sqrt(float64(n)))
	for r > 0 && r > n/r {
		r--
	}
	for r+1 <= n/(r+1) {
		r++
	}
	return r, true
}

func makeIsPow2(c *compiler, n ast.Node, args []*code, nodes []ast.Node) *code {
	a, ok := c.plainArg(args[0], nodes[0])
	if !ok {
		return badCode()
	}
	x := a.i
	return &code{typ: typ{kind: kindBool}, dep: a.dep, size: a.size + 1,
		b: func(e *graph.Env) (bool, error) { p, err := x(e); return p > 0 && p&(p-1) == 0, err }}
}

func listFunction(fn func(int64) ([]any, bool)) func(*compiler, ast.Node, []*code, []ast.Node) *code {
	return func(c *compiler, n ast.Node, args []*code, nodes []ast.Node) *code {
		a, ok := c.plainArg(args[0], nodes[0])
		if !ok {
			return badCode()
		}
		x, pos := a.i, c.pos(n)
		return &code{typ: typ{kind: kindList, elem: kindInt}, dep: a.dep, size: a.size + 1, v: func(e *graph.Env) (any, error) {
			p, err := x(e)
			if err != nil {
				return nil, err
			}
			root, _ := isqrt(p) // what the search for factors takes
			if err := c.ld.visit(root, pos); err != nil {
				return nil, err
			}
			r, ok := fn(p)
			if !ok {
				return nil, fault("E222", pos, "the function is not defined for %d", p)
			}
			return r, nil
		}}
	}
}

// divisors tries factors up to the square root; numbers beyond 1e10 are refused
// because that takes too long.
func divisors(n int64) ([]any, bool) {
	if n < 1 || n > 1e10 {
		return nil, false
	}
	var low, high []any
	for k := int64(1); k*k <= n; k++ {
		if n%k == 0 {
			low = append(low, k)
			if k != n/k {
				high = append(high, n/k)
			}
		}
	}
	slices.Reverse(high)
	return append(low, high...), true
}

func nearSquare(n int64) ([]any, bool) {
	if n < 1 || n > 1e10 {
		return nil, false
	}
	k, _ := isqrt(n)
	for n%k != 0 {
		k--
	}
	return []any{k, n / k}, true
}

// makeParent: the parent clears the lowest nonzero digit of r in base k.
func makeParent(c *compiler, n ast.Node, args []*code, nodes []ast.Node) *code {
	return c.twoInts(n, args, nodes, func(r, k int64) (int64, bool) {
		if k < 2 || r < 0 {
			return 0, false
		}
		if r == 0 {
			return noRank, true
		}
		p := int64(1)
		for r/p%k == 0 {
			p *= k
		}
		return r - r/p%k*p, true
	})
}

func (c *compiler) twoInts(n ast.Node, args []*code, nodes []ast.Node, fn func(a, b int64) (int64, bool)) *code {
	a, ok1 := c.plainArg(args[0], nodes[0])
	b, ok2 := c.plainArg(args[1], nodes[1])
	if !ok1 || !ok2 {
		return badCode()
	}
	x, y, pos := a.i, b.i, c.pos(n)
	return &code{typ: typ{kind: kindInt}, dep: a.dep | b.dep, size: a.size + b.size + 1, norank: true, i: func(e *graph.Env) (int64, error) {
		p, err := x(e)
		if err != nil {
			return 0, err
		}
		q, err := y(e)
		if err != nil {
			return 0, err
		}
		r, ok := fn(p, q)
		if !ok {
			return 0, fault("E222", pos, "the function is not defined for %d, %d", p, q)
		}
		return r, nil
	}}
}

// makeChildren adds every digit below the lowest nonzero one of r in base k.
func makeChildren(c *compiler, n ast.Node, args []*code, nodes []ast.Node) *code {
	var in [3]intFn
	out := &code{typ: typ{kind: kindList, elem: kindInt}, size: 1}
	for i := range in {
		a, ok := c.plainArg(args[i], nodes[i])
		if !ok {
			return badCode()
		}
		in[i] = a.i
		out.dep |= a.dep
		out.size += a.size
	}
	pos := c.pos(n)
	out.v = func(e *graph.Env) (any, error) {
		var v [3]int64
		for i := range in {
			x, err := in[i](e)
			if err != nil {
				return nil, err
			}
			v[i] = x
		}
		r, k, size := v[0], v[1], v[2]
		if k < 2 || r < 0 || size > maxRanks {
			return nil, fault("E222", pos, "knomial_children is not defined for %d, %d, %d", r, k, size)
		}
		if err := c.ld.visit(min(k, max(size, 0)), pos); err != nil {
			return nil, err
		}
		list := []any{}
		for p := int64(1); p < size && r/p%k == 0; p *= k {
			for d := int64(1); d < k && r+d*p < size; d++ {
				list = append(list, r+d*p)
			}
		}
		return list, nil
	}
	return out
}
