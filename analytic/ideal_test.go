package analytic

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hybrid/graph"
	"hybrid/graph/collective"
	"hybrid/internal/units"
	"hybrid/networks"
)

// S = 1000 B over N = 8 at 400 Gbit/s, 20 ps a byte; C = 125 B.
func TestIdealValues(t *testing.T) {
	for _, tt := range []struct {
		t         graph.CollType
		algorithm string
		n         int
		bytes     int64
		want      int64
	}{
		{graph.AllReduce, "ring", 8, 1000, 2 * 1000 * 7 / 8 * 20},
		{graph.AllReduce, "halving-doubling", 8, 1000, 2 * 1000 * 7 / 8 * 20},
		{graph.AllReduce, "ring", 3, 1000, 26_667}, // 2 x 1000 x 2/3 x 20 = 26666.67, rounded once
		// Children of the 8-rank tree by level: 1, then 2 (of 4), then 2 (of 2) and 1: the
		// largest are 1 + 2 + 2, the last from the 3 ranks below rank 4.
		{graph.AllReduce, "tree", 8, 1000, 2 * (1 + 2 + 2) * 1000 * 20},
		{graph.AllReduce, "tree", 2, 1000, 2 * 1000 * 20},
		{graph.AllReduce, "tree", 4, 1000, 2 * (1 + 2) * 1000 * 20},
		{graph.AllReduce, "tree", 5, 1000, 2 * (1 + 2 + 1) * 1000 * 20}, // parents -,2,3,0,3: rank 3 has 2 children, rank 2 one
		{graph.AllReduce, "double-tree", 8, 1001, 2 * 5 * 501 * 20},
		{graph.Reduce, "ring", 8, 1000, 7 * 1000 * 20},
		{graph.Reduce, "tree", 8, 1000, 5 * 1000 * 20},
		{graph.AllGather, "ring", 8, 1000, 7 * 1000 * 20},
		{graph.ReduceScatter, "ring", 8, 1000, 875 * 20},
		{graph.ReduceScatter, "halving", 8, 1000, 875 * 20},
		{graph.Broadcast, "interleaved", 8, 1000, 7 * 1000 * 20},
		{graph.Broadcast, "binomial", 8, 1000, 3 * 1000 * 20},
		{graph.Broadcast, "binomial", 9, 1000, 4 * 1000 * 20},
		{graph.Gather, "direct", 8, 1000, 7 * 1000 * 20},
		{graph.Scatter, "direct", 8, 1001, 7 * 126 * 20},
		{graph.AllToAll, "interleaved", 8, 1000, 7 * 125 * 20},
		{graph.AllToAll, "bruck", 8, 1000, 3 * 4 * 125 * 20},      // half of the blocks three times
		{graph.AllToAll, "bruck", 6, 600, (3 + 2 + 2) * 100 * 20}, // of 1..5: 1,3,5 then 2,3 then 4,5
		{graph.AllReduce, "ring", 1, 1000, 0},
		{graph.AllReduce, "tree", 1, 1000, 0},
		{graph.Broadcast, "binomial", 1, 1000, 0},
	} {
		if got, ok := Ideal(tt.t, tt.algorithm, tt.n, tt.bytes, units.Int(20)); !ok || got != tt.want {
			t.Errorf("%s %s N=%d S=%d: %d, %v, want %d", tt.t, tt.algorithm, tt.n, tt.bytes, got, ok, tt.want)
		}
	}
	for _, a := range []string{"ring", "tree"} {
		if _, ok := Ideal(graph.Barrier, a, 8, 0, units.Int(20)); ok {
			t.Errorf("barrier %s has an ideal time", a)
		}
	}
	if _, ok := Ideal(graph.AllReduce, "no such", 8, 1, units.Int(20)); ok {
		t.Error("an unknown algorithm has an ideal time")
	}
	if _, ok := Ideal(graph.Gather, "direct", 1<<30, 1<<62, units.Int(1000)); ok {
		t.Error("an ideal time beyond 64 bits is returned")
	}
}

// freeLevel has no latency, overhead or gap: only G counts.
func freeLevel(perByte int64) *networks.Level {
	return &networks.Level{EagerLimit: 1 << 60,
		Hockney: []networks.HockneyPiece{{PerByte: units.Int(perByte)}},
		LogGP:   []networks.LogGPPiece{{G: units.Int(perByte)}}}
}

// Every algorithm has an ideal time, no lower bound exceeds it, and a LogGP walk in
// which only G counts takes it, but for the last byte of each message, which LogGP does
// not count, in trees whose levels are not full, and where two trees share a link.
func TestIdealIsWhatBandwidthAloneTakes(t *testing.T) {
	const perByte = 20
	algorithms := collective.All()
	rapid.Check(t, func(t *rapid.T) {
		a := &algorithms[rapid.IntRange(0, len(algorithms)-1).Draw(t, "algorithm")]
		n := rapid.IntRange(1, 33).Draw(t, "N")
		if a.Valid(n) != nil {
			n = 1 << rapid.IntRange(0, 5).Draw(t, "log N")
		}
		bytes := int64(n) * 1000 * rapid.Int64Range(1, 100).Draw(t, "S")
		ideal, ok := Ideal(a.Type, a.Name, n, bytes, units.Int(perByte))
		if !ok {
			if a.Type != graph.Barrier && a.Type != graph.AllToAllV {
				t.Fatalf("%s %s has no ideal time", a.Type, a.Name)
			}
			return
		}
		if low, _ := LowerBound(a.Type, n, bytes, 0, units.Int(perByte)); low > ideal {
			t.Fatalf("%s %s N=%d S=%d: bound %d exceeds the ideal %d", a.Type, a.Name, n, bytes, low, ideal)
		}
		g := collectiveGraph(t, a.Type, a.Name, n, 0, bytes)
		r := run(t, "loggp", Job{Graph: g, Network: oneLevel(freeLevel(perByte)), Overheads: &Overheads{}})
		got := r.Clock.PS(r.Makespan)
		lost := 4 * int64(n) * perByte
		uneven := strings.HasSuffix(a.Name, "tree") && n&(n-1) != 0
		if got > ideal && a.Name != "double-tree" || got < ideal-lost && !uneven {
			t.Fatalf("%s %s N=%d S=%d: walk %d ps, ideal %d ps", a.Type, a.Name, n, bytes, got, ideal)
		}
	})
}
