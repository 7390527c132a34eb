package dsel

import (
	"github.com/expr-lang/expr/ast"

	"hybrid/graph"
	"hybrid/internal/diag"
)

// existing refuses the partner that does not exist where a number is computed
// from it: mod(norank, n) would be a rank like any other.
func (c *compiler) existing(n ast.Node, a *code) *code {
	if !a.norank || a.i == nil {
		return a
	}
	k, x, pos := *a, a.i, c.pos(n)
	k.norank, k.konst = false, nil
	k.i = func(e *graph.Env) (int64, error) {
		p, err := x(e)
		if err == nil && p == noRank {
			return 0, noRankFault(pos)
		}
		return p, err
	}
	return k.fold()
}

func noRankFault(pos diag.Pos) error {
	d := fault("E301", pos, "nothing can be computed from norank")
	d.Note("test it first: p == norank ? .. : ..")
	return d
}

// numberSet is a constant list of numbers as a set, or nil.
func numberSet(k *code) map[float64]bool {
	list, ok := k.konst.([]any)
	if !ok {
		return nil
	}
	set := make(map[float64]bool, len(list))
	for _, v := range list {
		x, ok := floatOf(v)
		if !ok {
			return nil
		}
		set[x] = true
	}
	return set
}

// listOf evaluates a list.
func listOf(k *code, e *graph.Env) ([]any, error) {
	v, err := k.eval(e)
	list, _ := v.([]any)
	return list, err
}

func equalValues(a, b any) bool {
	x, ok1 := floatOf(a)
	y, ok2 := floatOf(b)
	if ok1 && ok2 {
		return x == y
	}
	return a == b
}

func floatOf(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case int:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}
