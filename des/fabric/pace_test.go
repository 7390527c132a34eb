package fabric

import (
	"testing"

	"hybrid/des/sim"
	"hybrid/internal/units"
)

// Two links bring three packets each, which take 80 ns and arrive at 580, 660 and 740 ns.
// Those of the second link are of the higher class, which may send one of them every 240
// ns: at 580, 820 and 1060 ns. The lower class fills the gaps, at 660, 740 and 900 ns.
func TestPaceTrace(t *testing.T) {
	for _, window := range []units.Time{100_000, 501_680} {
		b := &Buffering{Frame: 84, Stepwise: true, Clock: units.PicosecondClock(), Classes: []Class{{Weight: 1, Limit: Threshold{Bytes: Unlimited}}, {Weight: 1, Limit: Threshold{Bytes: Unlimited}, PerByte: units.Int(60)}}}
		b.Kinds[1] = 1
		r := &rig{send: [][]sim.Record{packets(3, 4000, 0), packets(3, 4000, 1)}}
		r.run(t, b, 0, 20, window, Unlimited, Unlimited)
		want := map[uint8][]units.Time{0: {660_000, 740_000, 900_000}, 1: {580_000, 820_000, 1_060_000}}
		if len(r.got) != 6 {
			t.Fatalf("%d packets", len(r.got))
		}
		for _, g := range r.got {
			if w := want[g.Kind()][g.PSN] + 80_000 + rigDelay; g.T != w {
				t.Errorf("window %d: packet %d of class %d at %d, want %d", window, g.PSN, g.Kind(), g.T, w)
			}
		}
	}
}
