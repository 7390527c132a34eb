package units

import (
	"math"
	"math/bits"
)

// MaxTicksPerPS bounds [Clock.PerPS]. With 2^20 ticks in a picosecond an int64
// still holds 8.7 simulated seconds; a finer tick would leave too little room.
const MaxTicksPerPS = 1 << 20

// Time is a point of simulated time, or a span of it, in ticks of a [Clock].
type Time = int64

// Never is later than every event of a run.
const Never Time = math.MaxInt64

// Clock defines the tick of one run: 1/PerPS picosecond.
type Clock struct {
	// PerPS is the number of ticks in a picosecond: the least common multiple of
	// the denominators of all per-byte times of the run.
	PerPS int64
	// Exact is false where that multiple exceeded [MaxTicksPerPS]. Then the tick
	// is one picosecond and each serialization time is rounded once, by at most
	// half a tick for each pair of rate and size.
	Exact bool
}

// PicosecondClock returns the clock whose tick is one picosecond, exact for all
// Ethernet rates from 10 Gbit/s to 1.6 Tbit/s.
func PicosecondClock() Clock { return Clock{PerPS: 1, Exact: true} }

// NewClock returns the clock in which bytes*r is a whole number of ticks for
// every per-byte time r (picoseconds a byte).
func NewClock(perByte ...Rat) Clock {
	d := int64(1)
	for _, r := range perByte {
		if r.Num == 0 {
			continue
		}
		step := r.Den / gcd(d, r.Den)
		if step > MaxTicksPerPS/d {
			return Clock{PerPS: 1}
		}
		d *= step
	}
	return Clock{PerPS: d, Exact: true}
}

// Ticks converts a span of picoseconds, saturating at [Never].
func (c Clock) Ticks(ps int64) Time {
	// No division: engines ask for every operation.
	hi, lo := bits.Mul64(uint64(ps), uint64(c.PerPS))
	if ps >= 0 && (hi != 0 || int64(lo) < 0) {
		return Never
	}
	return int64(lo)
}

// Span returns the time that n bytes take at perByte picoseconds a byte: exact
// if the clock is, else rounded to the nearest tick.
func (c Clock) Span(perByte Rat, n int64) Time {
	if perByte.Num == 0 || n == 0 {
		return 0
	}
	if g := gcd(c.PerPS, perByte.Den); g > 1 {
		return MulDiv(n, perByte.Num*(c.PerPS/g), perByte.Den/g)
	}
	return MulDiv(n, perByte.Num*c.PerPS, perByte.Den)
}

// PS converts ticks to picoseconds, rounding half a picosecond up.
func (c Clock) PS(t Time) int64 {
	if c.PerPS == 1 {
		return t
	}
	q, r := t/c.PerPS, t%c.PerPS
	if 2*r >= c.PerPS {
		q++
	}
	return q
}
