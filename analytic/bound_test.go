package analytic

import (
	"testing"

	"pgregory.net/rapid"

	"hybrid/graph"
	"hybrid/graph/collective"
	"hybrid/internal/units"
)

// No walk beats the lower bound: LogGP never (with alpha = 2o + L - G and beta = G,
// and L >= g >= G, without which its m-1 would be a byte short), Hockney where it does not
// let a port carry many messages at once for free.
func TestLowerBound(t *testing.T) {
	algorithms := collective.All()
	rapid.Check(t, func(t *rapid.T) {
		a := &algorithms[rapid.IntRange(0, len(algorithms)-1).Draw(t, "algorithm")]
		n := rapid.IntRange(1, 17).Draw(t, "N")
		if a.Valid(n) != nil {
			n = 8
		}
		bytes := barrierless(a, rapid.Int64Range(0, 1<<20).Draw(t, "S"))
		level := drawLevel(t)
		p := &level.LogGP[0]
		p.Gap += p.G.Num/p.G.Den + 1
		p.L += p.Gap
		g := collectiveGraph(t, a.Type, a.Name, n, 0, bytes)
		check := func(model string, alpha int64) {
			r := run(t, model, Job{Graph: g, Network: oneLevel(level)})
			low, ok := LowerBound(a.Type, n, bytes, alpha, p.G)
			if got := r.Clock.PS(r.Makespan); !ok || got < low {
				t.Fatalf("%s: %s %s N=%d S=%d: %d ps beats %d, %v (%+v)", model, a.Type, a.Name, n, bytes, got, low, ok, p)
			}
		}
		if bytes > 0 || a.Type == graph.Barrier {
			check("loggp", p.L+2*p.Overhead-p.G.Num/p.G.Den-1)
		}
		if a.Type != graph.Gather && a.Type != graph.Scatter && a.Name != "interleaved" && a.Name != "direct" {
			check("hockney", level.Hockney[0].Latency)
		}
	})
}

// The formulas of the table with alpha = 1000 ps and beta = 3 ps a byte.
func TestLowerBoundValues(t *testing.T) {
	for _, tt := range []struct {
		t     graph.CollType
		n     int
		bytes int64
		want  int64
	}{
		{graph.Broadcast, 8, 800, 1000 + 2400}, {graph.Reduce, 8, 800, 1000 + 2400},
		{graph.AllReduce, 8, 800, 1000 + 4200}, {graph.AllReduce, 2, 800, 1000 + 2400},
		{graph.ReduceScatter, 8, 800, 1000 + 2100}, {graph.ReduceScatterBlock, 8, 800, 1000 + 2100},
		{graph.Scatter, 8, 800, 1000 + 2100}, {graph.AllToAll, 8, 800, 1000 + 2100},
		{graph.AllGather, 8, 100, 1000 + 2100}, {graph.Gather, 8, 100, 1000 + 2100},
		{graph.Barrier, 8, 0, 1000}, {graph.AllReduce, 1, 800, 0},
		{graph.AllToAllV, 8, 800, 1000 + 300}, // all pairs together send 800 B, so some rank 100 B
	} {
		if got, ok := LowerBound(tt.t, tt.n, tt.bytes, 1000, units.Int(3)); !ok || got != tt.want {
			t.Errorf("%s N=%d S=%d: %d, %v, want %d", tt.t, tt.n, tt.bytes, got, ok, tt.want)
		}
	}
	if _, ok := LowerBound(graph.AllGather, 1<<30, 1<<62, 0, units.Int(1000)); ok {
		t.Error("a bound beyond 64 bits is returned")
	}
}
