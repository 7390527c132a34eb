package graph

import (
	"math"
	"math/bits"

	"hybrid/internal/units"
)

// microsecond is a microsecond in picoseconds.
const microsecond = 1_000_000

// Scaled reports whether sizes and durations of the graph are to be multiplied by
// Scale.
func (g *Graph) Scaled() bool { return g.Scale.Den > 0 && g.Scale != units.Int(1) }

// ScaleBytes returns the bytes that a transfer of n bytes carries in a run:
// floor(n * Scale).
func (g *Graph) ScaleBytes(n int64) int64 {
	if !g.Scaled() {
		return n
	}
	return mulDivFloor(n, g.Scale.Num, g.Scale.Den)
}

// ScaleTime returns the picoseconds that a duration of ps takes in a run: floor(ps *
// Scale), for traces, whose times are whole microseconds, floored to those.
func (g *Graph) ScaleTime(ps int64) int64 {
	if !g.Scaled() {
		return ps
	}
	t := mulDivFloor(ps, g.Scale.Num, g.Scale.Den)
	if g.Origin == Chakra {
		t -= t % microsecond
	}
	return t
}

// mulDivFloor returns floor(n*num/den) for non-negative n and num and positive den,
// saturating.
func mulDivFloor(n, num, den int64) int64 {
	hi, lo := bits.Mul64(uint64(n), uint64(num))
	if hi >= uint64(den) {
		return math.MaxInt64
	}
	q, _ := bits.Div64(hi, lo, uint64(den))
	return int64(min(q, math.MaxInt64))
}
