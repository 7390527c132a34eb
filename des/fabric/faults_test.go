package fabric

import (
	"math/big"
	"testing"

	"hybrid/internal/units"
)

// The chance of bit errors is 2^64 (1 - (1-p)^(8n)), rounded down.
func TestBitErrorChance(t *testing.T) {
	for _, p := range []units.Rat{units.NewRat(1, 1_000_000_000), units.NewRat(1, 1_000_000), units.NewRat(3, 10_000), units.NewRat(1, 7), units.NewRat(1, 2), units.NewRat(1, 1<<62)} {
		for _, n := range []uint32{1, 2, 7, 64, 98, 1000} {
			well := new(big.Int).Exp(big.NewInt(p.Den-p.Num), big.NewInt(int64(8*n)), nil)
			all := new(big.Int).Exp(big.NewInt(p.Den), big.NewInt(int64(8*n)), nil)
			odds := new(big.Int).Lsh(new(big.Int).Sub(all, well), 64)
			want := odds.Quo(odds, all).Uint64()
			if got := bitErrorChance(p, n); got.always || got.below != want {
				t.Errorf("p %v, %d B: %d, want %d", p, n, got.below, want)
			}
		}
	}
	if got := bitErrorChance(units.Int(1), 1); !got.always {
		t.Errorf("certain errors: %+v", got)
	}
	if got := bitErrorChance(units.NewRat(1, 2), 0); got.always || got.below != 0 {
		t.Errorf("no bits: %+v", got)
	}
	if got := chanceOf(units.NewRat(1, 2)); got.below != 1<<63 || chanceOf(units.Int(0)).strikes(0) || !chanceOf(units.Int(1)).strikes(1<<64-1) {
		t.Errorf("a half is %+v", got)
	}
}

// A frame is lost if its link is down at some time while it is being sent.
func TestOutages(t *testing.T) {
	f := LinkFaults{Down: []Outage{{10, 20}, {30, 31}, {50, units.Never}}}
	for _, c := range []struct {
		start, end units.Time
		broken     bool
	}{{0, 10, false}, {0, 11, true}, {10, 10, true}, {20, 20, false}, {20, 30, false}, {20, 31, true}, {31, 50, false}, {31, 51, true}, {60, 60, true}, {5, 90, true}} {
		if got := f.broken(c.start, c.end); got != c.broken {
			t.Errorf("%+v: %v", c, got)
		}
	}
	for now, up := range map[units.Time]units.Time{0: 0, 9: 9, 10: 20, 19: 20, 20: 20, 30: 31, 49: 49, 50: units.Never, 70: units.Never} {
		if got := f.Up(now); got != up || f.Dead(now) != (up != now) {
			t.Errorf("up from %d at %d, want %d", now, got, up)
		}
	}
}
