package replay

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"hybrid/internal/units"
)

type shareStart struct{ at, work units.Time }

// runShare returns the end of each operation; starts are in order of time.
func runShare(s *Share, starts []shareStart) []units.Time {
	ends := make([]units.Time, len(starts))
	var ids []int32
	next := 0
	for next < len(starts) || s.Len() > 0 {
		at, ok := s.Next()
		if ok && (next == len(starts) || at <= starts[next].at) {
			ids = s.Finish(at, ids[:0])
			for _, id := range ids {
				ends[id] = at
			}
			continue
		}
		s.Start(starts[next].at, int32(next), starts[next].work)
		next++
	}
	return ends
}

func TestShareExact(t *testing.T) {
	for _, c := range []struct {
		name   string
		starts []shareStart
		want   []units.Time
	}{
		// Two share: A has done 5 when B comes, then each needs 2 ticks a unit of work.
		{"two with an offset", []shareStart{{0, 10}, {5, 10}}, []units.Time{15, 20}},
		// 3*3 = 9; then two share the remaining 3 and 6: 9+6 = 15; then 15+3 = 18.
		{"three at once", []shareStart{{0, 3}, {0, 6}, {0, 9}}, []units.Time{9, 15, 18}},
		{"equal ends leave together", []shareStart{{0, 10}, {0, 10}}, []units.Time{20, 20}},
		{"zero work disturbs nobody", []shareStart{{0, 10}, {5, 0}, {6, 0}}, []units.Time{10, 5, 6}},
		{"idle in between", []shareStart{{0, 10}, {100, 7}}, []units.Time{10, 107}},
		// One alone for 1 tick, three share 1 tick: a third each. A has 2/3 left, B and C
		// 5/3; A ends at 2+3*2/3 = 4 with B, C at 1; D (1) joins at 4: all end at 7.
		{"thirds", []shareStart{{0, 2}, {1, 2}, {1, 2}, {4, 1}}, []units.Time{4, 7, 7, 7}},
	} {
		var s Share
		got := runShare(&s, c.starts)
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("%s: operation %d ends at %d, want %d", c.name, i, got[i], c.want[i])
			}
		}
	}
}

// bruteShare advances the remaining work of every operation in exact rationals.
func bruteShare(starts []shareStart) []units.Time {
	ends := make([]units.Time, len(starts))
	left := map[int]*big.Rat{}
	now := new(big.Rat)
	next := 0
	for next < len(starts) || len(left) > 0 {
		step := new(big.Rat)
		n := big.NewRat(int64(len(left)), 1)
		first := true
		for _, l := range left {
			if d := new(big.Rat).Mul(l, n); first || d.Cmp(step) < 0 {
				step, first = d, false
			}
		}
		starting := false
		if next < len(starts) {
			d := new(big.Rat).Sub(big.NewRat(starts[next].at, 1), now)
			if first || d.Cmp(step) < 0 {
				step, starting = d, true
			}
		}
		now.Add(now, step)
		for i, l := range left {
			l.Sub(l, new(big.Rat).Quo(step, n))
			if l.Sign() == 0 {
				delete(left, i)
				ends[i] = ceilRat(now)
			}
		}
		if starting {
			if starts[next].work == 0 {
				ends[next] = starts[next].at
			} else {
				left[next] = big.NewRat(starts[next].work, 1)
			}
			next++
		}
	}
	return ends
}

func ceilRat(r *big.Rat) int64 {
	n := new(big.Int).Add(r.Num(), new(big.Int).Sub(r.Denom(), big.NewInt(1)))
	return n.Div(n, r.Denom()).Int64()
}

func TestShareAgreesWithExactArithmetic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "n")
		starts := make([]shareStart, n)
		at := int64(0)
		for i := range starts {
			at += rapid.Int64Range(0, 30).Draw(t, "gap")
			starts[i] = shareStart{at, rapid.Int64Range(0, 60).Draw(t, "work")}
		}
		var s Share
		got, want := runShare(&s, starts), bruteShare(starts)
		for i := range got {
			if got[i] != want[i] {
				t.Fatalf("operation %d of %v ends at %d, want %d", i, starts, got[i], want[i])
			}
		}
	})
}

func TestShareAllocatesNothing(t *testing.T) {
	var s Share
	var out []int32
	now := units.Time(0)
	round := func() {
		for i := range int32(8) {
			s.Start(now+units.Time(i), i, 100+units.Time(i%3))
		}
		for s.Len() > 0 {
			now, _ = s.Next()
			out = s.Finish(now, out[:0])
		}
	}
	round()
	if n := testing.AllocsPerRun(100, round); n != 0 {
		t.Errorf("%v allocations a round", n)
	}
}
