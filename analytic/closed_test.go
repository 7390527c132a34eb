package analytic

import (
	"testing"

	"pgregory.net/rapid"

	"hybrid/graph"
	"hybrid/graph/collective"
	"hybrid/internal/units"
	"hybrid/networks"
)

// sizesOf returns the group sizes to try for an algorithm.
func sizesOf(a *collective.Algorithm) []int {
	var all []int
	for n := 1; n <= 64; n++ {
		if (n <= 33 || n == 64) && a.Valid(n) == nil {
			all = append(all, n)
		}
	}
	return all
}

func barrierless(a *collective.Algorithm, bytes int64) int64 {
	if a.Type == graph.Barrier {
		return 0
	}
	return bytes
}

// The walk gives every row of Hockney's column exactly, whether messages are eager
// or rendezvous.
func TestHockneyClosedForms(t *testing.T) {
	// 12.5 GB/s, and 4/9 ns a byte above 4 KiB, so that ticks are not picoseconds.
	level := &networks.Level{EagerLimit: 1 << 40, Hockney: []networks.HockneyPiece{
		{Latency: 2_000_000, PerByte: units.Int(80)}, {From: 4096, Latency: 2_500_000, PerByte: units.NewRat(4000, 9)}}}
	rendezvous := *level
	rendezvous.EagerLimit = 0
	for _, a := range collective.All() {
		for _, n := range sizesOf(&a) {
			for _, bytes := range []int64{0, 1, 1000, 65536, 1<<20 + 1} {
				bytes = barrierless(&a, bytes)
				want, ok := ClosedForm("hockney", a.Type, a.Name, n, bytes, level)
				if !ok {
					t.Fatalf("%s %s N=%d S=%d: no closed form", a.Type, a.Name, n, bytes)
				}
				g := collectiveGraph(t, a.Type, a.Name, n, n/2*boolInt(rooted(a.Type)), bytes)
				for _, l := range []*networks.Level{level, &rendezvous} {
					r := run(t, "hockney", Job{Graph: g, Network: oneLevel(l)})
					if got := r.Clock.PS(r.Makespan); got != want {
						t.Errorf("%s %s N=%d S=%d, eager limit %d: walk %d ps, form %d ps", a.Type, a.Name, n, bytes, l.EagerLimit, got, want)
					}
				}
			}
		}
	}
}

func rooted(t graph.CollType) bool {
	switch t {
	case graph.Reduce, graph.Broadcast, graph.Gather, graph.Scatter:
		return true
	}
	return false
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Worked values: N = 8, S = 1000, alpha 1 us, beta 0.02 ns/B, C = 125.
func TestHockneyWorkedValues(t *testing.T) {
	level := &networks.Level{EagerLimit: 1 << 20, Hockney: []networks.HockneyPiece{{Latency: 1_000_000, PerByte: units.Int(20)}}}
	for _, tt := range []struct {
		algorithm string
		want      int64
	}{
		{"ring", 14_035_000},            // 14 (1 us + 125 * 20 ps)
		{"tree", 6_120_000},             // 2 * 3 edges (1 us + 1000 * 20 ps)
		{"double-tree", 6_060_000},      // half the data on each
		{"halving-doubling", 6_035_000}, // 6 us + (500 + 250 + 125) * 2 * 20 ps
	} {
		got, ok := ClosedForm("hockney", graph.AllReduce, tt.algorithm, 8, 1000, level)
		if !ok || got != tt.want {
			t.Errorf("%s: %d, %v, want %d", tt.algorithm, got, ok, tt.want)
		}
	}
}

// drawLevel draws LogGP parameters and the Hockney parameters that go with them.
func drawLevel(t *rapid.T) *networks.Level {
	perByte := func(name string) units.Rat {
		return units.NewRat(rapid.Int64Range(0, 4000).Draw(t, name), rapid.Int64Range(1, 9).Draw(t, name+" over"))
	}
	ps := func(name string) int64 { return rapid.Int64Range(0, 5_000_000).Draw(t, name) }
	p := networks.LogGPPiece{L: ps("L"), Overhead: ps("o"), Gap: ps("g"), G: perByte("G"), O: perByte("O")}
	return &networks.Level{EagerLimit: 1 << 40, LogGP: []networks.LogGPPiece{p},
		Hockney: []networks.HockneyPiece{{Latency: p.L + 2*p.Overhead, PerByte: p.G}}}
}

// Where LogGP has a closed form the walk gives it exactly, with either processor.
func TestLogGPClosedForms(t *testing.T) {
	algorithms := collective.All()
	known := map[graph.CollType]int{}
	rapid.Check(t, func(t *rapid.T) {
		a := &algorithms[rapid.IntRange(0, len(algorithms)-1).Draw(t, "algorithm")]
		n := rapid.IntRange(1, 33).Draw(t, "N")
		if rapid.Bool().Draw(t, "power of two") {
			n = 1 << rapid.IntRange(0, 6).Draw(t, "log N")
		}
		if a.Valid(n) != nil {
			return
		}
		bytes := barrierless(a, rapid.Int64Range(0, 1<<20).Draw(t, "S"))
		level := drawLevel(t)
		want, ok := ClosedForm("loggp", a.Type, a.Name, n, bytes, level)
		if !ok {
			return
		}
		known[a.Type]++
		g := collectiveGraph(t, a.Type, a.Name, n, 0, bytes)
		for _, one := range []bool{false, true} {
			r := run(t, "loggp", Job{Graph: g, Network: oneLevel(level), LogGOPSim: one})
			if got := r.Clock.PS(r.Makespan); got != want {
				t.Fatalf("%s %s N=%d S=%d, one processor %v, %+v: walk %d ps, form %d ps", a.Type, a.Name, n, bytes, one, level.LogGP[0], got, want)
			}
		}
	})
	if len(known) < 8 {
		t.Errorf("closed forms of %d types only were tried", len(known))
	}
}
