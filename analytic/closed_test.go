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
		if a.Type == graph.AllToAllV {
			continue // its sizes differ by pair
		}
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

// Where LogGP has a closed form the walk gives it exactly, with either processor; every
// row of its column is tried.
func TestLogGPClosedForms(t *testing.T) {
	algorithms := collective.All()
	tried := map[string]bool{}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 33).Draw(t, "N")
		if rapid.Bool().Draw(t, "power of two") {
			n = 1 << rapid.IntRange(0, 5).Draw(t, "log N")
		}
		size, level := rapid.Int64Range(0, 1<<20).Draw(t, "S"), drawLevel(t)
		for i := range algorithms {
			a := &algorithms[i]
			bytes := barrierless(a, size)
			want, ok := ClosedForm("loggp", a.Type, a.Name, n, bytes, level)
			if !ok || a.Valid(n) != nil {
				continue
			}
			tried[a.Type.String()+" "+a.Name] = true
			g := collectiveGraph(t, a.Type, a.Name, n, 0, bytes)
			for _, one := range []bool{false, true} {
				r := run(t, "loggp", Job{Graph: g, Network: oneLevel(level), LogGOPSim: one})
				if got := r.Clock.PS(r.Makespan); got != want {
					t.Fatalf("%s %s N=%d S=%d, one processor %v, %+v: walk %d ps, form %d ps", a.Type, a.Name, n, bytes, one, level.LogGP[0], got, want)
				}
			}
		}
	})
	for _, f := range closedForms() {
		if name := f.typ.String() + " " + f.algorithm; f.loggp != nil && !tried[name] {
			t.Errorf("the form of %s was never tried", name)
		}
	}
}

// Rank 4 of 13 has a subtree of 4 and rank 8 one of 5, and both are ready at the same time:
// rank 4 sends first, and the root has the longer message last.
func TestGatherTie(t *testing.T) {
	p := networks.LogGPPiece{L: 8, Overhead: 154, Gap: 158, G: units.Int(1), O: units.Int(2)}
	level := &networks.Level{EagerLimit: 1 << 40, LogGP: []networks.LogGPPiece{p}, Hockney: []networks.HockneyPiece{{Latency: 316, PerByte: p.G}}}
	want, ok := ClosedForm("loggp", graph.Gather, "binomial", 13, 1, level)
	r := run(t, "loggp", Job{Graph: collectiveGraph(t, graph.Gather, "binomial", 13, 0, 1), Network: oneLevel(level)})
	if got := r.Clock.PS(r.Makespan); !ok || got != want || want != 1119 {
		t.Errorf("walk %d ps, form %d ps, %v; want 1119", got, want, ok)
	}
}

// Units of every size that divides N, with members dealt out in turn.
func TestHierarchicalClosedForms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		unit, units := rapid.IntRange(1, 9).Draw(t, "members"), rapid.IntRange(1, 9).Draw(t, "units")
		n, bytes, level := unit*units, rapid.Int64Range(0, 1<<20).Draw(t, "S"), drawLevel(t)
		g := unitGraph(t, graph.AllReduce, "hierarchical", n, 0, unit, bytes)
		for _, m := range Models() {
			want, ok := ClosedFormUnits(m.Name, graph.AllReduce, "hierarchical", n, unit, bytes, level)
			r := run(t, m.Name, Job{Graph: g, Network: oneLevel(level)})
			if got := r.Clock.PS(r.Makespan); !ok || got != want {
				t.Fatalf("%s: %d units of %d, S=%d: walk %d ps, form %d ps, %v", m.Name, units, unit, bytes, got, want, ok)
			}
		}
	})
}

// Worked values at alpha = 1000 ps and beta = 1 ps a byte, N = 8 unless said otherwise.
func TestWorkedForms(t *testing.T) {
	level := &networks.Level{EagerLimit: 1 << 40, Hockney: []networks.HockneyPiece{{Latency: 1000, PerByte: units.Int(1)}}}
	for _, tt := range []struct {
		t         graph.CollType
		algorithm string
		n, unit   int
		bytes     int64
		want      int64
	}{
		{graph.AllReduce, "direct", 8, 1, 800, 2 * 1100},              // C = 100 B twice
		{graph.AllReduce, "hierarchical", 8, 4, 800, 6*1200 + 2*1100}, // 2 x 3 steps of 2 C inside, 2 of C between
		{graph.AllGather, "recursive-doubling", 8, 1, 100, 1100 + 1200 + 1400},
		{graph.AllGather, "bruck", 6, 1, 100, 1100 + 1200 + 1200}, // 1, 2 and the 2 that are missing
		{graph.Broadcast, "binomial", 8, 1, 100, 3 * 1100},
		{graph.Broadcast, "binomial", 6, 1, 100, 2*1100 + 100},            // 0 sends to 4, then to 2, which sends to 3
		{graph.Scatter, "binomial", 8, 1, 800, 1400 + 1200 + 1100},        // C = 100 B: subtrees of 4, 2, 1
		{graph.Gather, "binomial", 8, 1, 100, 1100 + 1200 + 1400},         // the same upwards
		{graph.AllToAll, "pairwise", 8, 1, 800, 7 * 1100},                 // 7 exchanges
		{graph.AllToAll, "bruck", 8, 1, 800, 3 * 1400},                    // half of 8 blocks three times
		{graph.AllToAll, "bruck", 6, 1, 600, 1300 + 1200 + 1200},          // distances 1 3 5, 2 3, 4 5
		{graph.Broadcast, "pipelined-tree", 8, 1, 65536, 3 * 66536},       // one segment down 3 edges
		{graph.Broadcast, "pipelined-tree", 8, 1, 131072, 4*65536 + 3000}, // two segments, the second one beta m behind
	} {
		if got, ok := ClosedFormUnits("hockney", tt.t, tt.algorithm, tt.n, tt.unit, tt.bytes, level); !ok || got != tt.want {
			t.Errorf("%s %s N=%d units of %d S=%d: %d, %v, want %d", tt.t, tt.algorithm, tt.n, tt.unit, tt.bytes, got, ok, tt.want)
		}
	}
}
