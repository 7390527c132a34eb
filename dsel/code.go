package dsel

import (
	"fmt"
	"math"

	"hybrid/graph"
	"hybrid/internal/diag"
)

// kind is the type of a value.
type kind uint8

const (
	kindBad kind = iota // already reported
	kindInt
	kindFloat
	kindBool
	kindString
	kindList
)

// String names the kind as messages do.
func (k kind) String() string {
	return [...]string{"nothing", "a whole number", "a number", "true or false", "a string", "a list"}[k]
}

// typ is the static type of an expression.
type typ struct {
	kind kind
	dims dims
	// any is set where the dimensions fit everything: the literal 0, and values whose
	// dimensions are not tracked.
	any bool
	// elem is the kind of a list's elements.
	elem kind
}

func (t typ) numeric() bool { return t.kind == kindInt || t.kind == kindFloat }

// String names the type in messages: its dimensions if it has some.
func (t typ) String() string {
	if t.numeric() && t.dims != plainDims() {
		return t.dims.String()
	}
	return t.kind.String()
}

// depend says what the value of an expression changes with.
type depend uint8

const (
	onRank depend = 1 << iota
	onLoop
	// onPeer: the partner of an exchange or alltoallv, in Env.Peer.
	onPeer
)

type (
	intFn   func(*graph.Env) (int64, error)
	floatFn func(*graph.Env) (float64, error)
	boolFn  func(*graph.Env) (bool, error)
	anyFn   func(*graph.Env) (any, error)
)

// code is a compiled expression: the closure of its kind is set. Lists and
// strings are any; a list is a []any or, where rng is set, a range.
type code struct {
	typ
	dep depend
	i   intFn
	f   floatFn
	b   boolFn
	v   anyFn
	// konst holds the value of a constant.
	konst any
	// size counts the nodes that one evaluation may visit.
	size int
	// norank is set where the value may be the partner that does not exist.
	norank bool
	// quotient is set where the value comes from a division, for the advice in messages.
	quotient bool
	rng      *rangeCode
}

// rangeCode is a list lo..hi, or hi..lo downwards.
type rangeCode struct {
	lo, hi  *code
	reverse bool
	ld      *loader
}

const (
	// noRank is the partner that does not exist. It lies outside every range of ranks,
	// so that arithmetic on ranks does not reach it by accident.
	noRank = math.MinInt32
	// maxNodes bounds how many nodes an evaluation visits.
	maxNodes = 20_000
	// maxList bounds lists that are built.
	maxList = 1 << 20
)

func badCode() *code { return &code{typ: typ{kind: kindBad}} }

func constant(v any, t typ) *code {
	c := &code{typ: t, konst: v, size: 1}
	switch x := v.(type) {
	case int64:
		c.kind = kindInt
		c.i = func(*graph.Env) (int64, error) { return x, nil }
	case float64:
		c.kind = kindFloat
		c.f = func(*graph.Env) (float64, error) { return x, nil }
	case bool:
		c.kind = kindBool
		c.b = func(*graph.Env) (bool, error) { return x, nil }
	case string:
		c.kind = kindString
		c.v = func(*graph.Env) (any, error) { return x, nil }
	default:
		c.v = func(*graph.Env) (any, error) { return x, nil }
	}
	return c
}

func plainInt(n int64) *code { return constant(n, typ{}) }

// constInt returns the value of a constant whole number.
func (c *code) constInt() (int64, bool) {
	n, ok := c.konst.(int64)
	return n, ok
}

// eval returns the value whatever its kind.
func (c *code) eval(env *graph.Env) (any, error) {
	switch {
	case c.konst != nil:
		return c.konst, nil
	case c.i != nil:
		return c.i(env)
	case c.f != nil:
		return c.f(env)
	case c.b != nil:
		return c.b(env)
	case c.v != nil:
		return c.v(env)
	case c.rng != nil:
		return c.rng.list(env)
	}
	return nil, fmt.Errorf("no value")
}

// asFloat is the numeric value in floating point.
func (c *code) asFloat() floatFn {
	if c.f != nil {
		return c.f
	}
	if n, ok := c.constInt(); ok {
		x := float64(n)
		return func(*graph.Env) (float64, error) { return x, nil }
	}
	i := c.i
	return func(e *graph.Env) (float64, error) {
		n, err := i(e)
		return float64(n), err
	}
}

// fold turns an expression that depends on nothing into its value. One that fails
// is left alone: it may stand in a branch that is never taken.
func (c *code) fold() *code {
	if c.dep != 0 || c.konst != nil || c.kind == kindBad || c.rng != nil {
		return c
	}
	v, err := c.eval(&graph.Env{})
	if err != nil {
		return c
	}
	k := constant(v, c.typ)
	k.kind, k.norank, k.quotient = c.kind, c.norank, c.quotient
	return k
}

// bounds returns the ends of a range in the order of iteration and its step.
func (r *rangeCode) bounds(env *graph.Env) (first, step, n int64, err error) {
	lo, err := r.lo.i(env)
	if err != nil {
		return 0, 0, 0, err
	}
	hi, err := r.hi.i(env)
	if err != nil {
		return 0, 0, 0, err
	}
	if hi < lo {
		return lo, 1, 0, nil
	}
	n = hi - lo + 1
	if n <= 0 {
		n = math.MaxInt64
	}
	if r.reverse {
		return hi, -1, n, nil
	}
	return lo, 1, n, nil
}

func (r *rangeCode) list(env *graph.Env) ([]any, error) {
	first, step, n, err := r.bounds(env)
	if err != nil {
		return nil, err
	}
	if n > maxList {
		return nil, fault("E204", diag.Pos{}, "a list of %d elements is too long; the limit is %d", n, maxList)
	}
	if err := r.ld.visit(n, diag.Pos{}); err != nil {
		return nil, err
	}
	out := make([]any, n)
	for i := range out {
		out[i] = first + int64(i)*step
	}
	return out, nil
}

// fault makes an error that carries its place.
func fault(code string, pos diag.Pos, format string, args ...any) diag.Diagnostic {
	return diag.Diagnostic{Severity: diag.Error, Code: code, Pos: pos, Message: fmt.Sprintf(format, args...)}
}

func addInt(a, b int64) (int64, bool) {
	s := a + b
	return s, (s > a) == (b > 0)
}

func subInt(a, b int64) (int64, bool) {
	s := a - b
	return s, (s < a) == (b > 0)
}

func mulInt(a, b int64) (int64, bool) {
	if a == 0 || b == 0 {
		return 0, true
	}
	p := a * b
	if p/b != a || a == -1 && b == math.MinInt64 || b == -1 && a == math.MinInt64 {
		return p, false
	}
	return p, true
}

// floorDiv and floorMod round towards minus infinity, so that the remainder has
// the divisor's sign and wraps ranks around.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}

func floorMod(a, b int64) int64 {
	m := a % b
	if m != 0 && (m < 0) != (b < 0) {
		m += b
	}
	return m
}
