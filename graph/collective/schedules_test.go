package collective

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hybrid/graph"
)

// TestTotalsBeyondRings: transfers, bytes and sequential steps, counted by hand.
// S = 1000 unless said otherwise, C = ceil(S/N) = 125 for 8 ranks.
func TestTotalsBeyondRings(t *testing.T) {
	for _, c := range []struct {
		typ              graph.CollType
		name             string
		call             Call
		transfers, total int64
		steps            int
	}{
		// The sizes of halving-doubling: 1750 B a rank.
		{graph.AllReduce, "halving-doubling-far", Call{N: 8}, 48, 14000, 6},
		// Two phases of N(N-1) transfers of C.
		{graph.AllReduce, "direct", Call{N: 8}, 112, 112 * 125, 2},
		// Units of 4: a rank sends 3 times 250, 2 times 125, 3 times 250.
		{graph.AllReduce, "hierarchical", Call{N: 8, Units: units(8, 4, false, nil)}, 64, 14000, 8},
		// Units of 2: 500, 6 times 125, 500.
		{graph.AllReduce, "hierarchical", Call{N: 8, Units: units(8, 2, true, nil)}, 64, 14000, 8},
		// Units of one or of all are the ring.
		{graph.AllReduce, "hierarchical", Call{N: 8, Units: units(8, 1, false, nil)}, 112, 14000, 14},
		{graph.AllReduce, "hierarchical", Call{N: 8, Units: units(8, 8, false, nil)}, 112, 14000, 14},
		// A rank sends 1 + 2 + 4 blocks of S.
		{graph.AllGather, "recursive-doubling", Call{N: 8}, 24, 56000, 3},
		{graph.AllGather, "bruck", Call{N: 8}, 24, 56000, 3},
		// 1 + 2 + min(4, 5-4) = N-1 blocks of S.
		{graph.AllGather, "bruck", Call{N: 5}, 15, 20000, 3},
		{graph.ReduceScatter, "direct", Call{N: 8}, 56, 7000, 1},
		{graph.ReduceScatter, "halving-far", Call{N: 8}, 24, 7000, 3},
		{graph.ReduceScatterBlock, "halving", Call{N: 8}, 24, 7000, 3},
		{graph.ReduceScatterBlock, "direct", Call{N: 8}, 56, 7000, 1},
		// Subtrees of the binomial tree over 8 without the root: 4, 2, 2 and four leaves.
		{graph.Gather, "binomial", Call{N: 8, Root: 5}, 7, 12 * 1000, 3},
		{graph.Scatter, "binomial", Call{N: 8, Root: 5}, 7, 12 * 125, 3},
		// Over 6, in numbers from the root: 4 with 5, 2 with 3, 1, 3, 5; two levels.
		{graph.Gather, "binomial", Call{N: 6, Root: 1}, 5, 7 * 1000, 2},
		{graph.Broadcast, "binomial", Call{N: 8, Root: 3}, 7, 7000, 3},
		{graph.Broadcast, "binomial", Call{N: 5, Root: 3}, 4, 4000, 3},
		// Three levels, four segments: the last leaves the root in step 4.
		{graph.Broadcast, "pipelined-tree", Call{N: 8, Root: 3, Bytes: 4 * segmentBytes}, 28, 28 * segmentBytes, 6},
		{graph.AllToAll, "pairwise", Call{N: 8}, 56, 7000, 7},
		{graph.AllToAll, "pairwise", Call{N: 6}, 30, 30 * 167, 5},
		// Each bit is set in 4 of the numbers below 8.
		{graph.AllToAll, "bruck", Call{N: 8}, 24, 24 * 500, 3},
		// Below 5 bit 0 is set in 1 and 3, bit 1 in 2 and 3, bit 2 in 4.
		{graph.AllToAll, "bruck", Call{N: 5}, 15, 5 * 5 * 200, 3},
		{graph.AllToAllV, "interleaved", Call{N: 8}, 56, 7000, 1},
		{graph.AllToAllV, "sequential", Call{N: 8}, 56, 7000, 7},
		{graph.AllToAllV, "pairwise", Call{N: 8}, 56, 7000, 7},
	} {
		a := find(t, c.typ, c.name)
		if c.call.Bytes == 0 {
			c.call.Bytes = 1000
		}
		transfers, total := CallTotals(a, c.call, func(b int64) int64 { return b })
		if steps := depth(a, c.call); transfers != c.transfers || total != c.total || steps != c.steps {
			t.Errorf("%s %s, %d ranks, %d B: %d transfers, %d B, %d steps; want %d, %d B, %d",
				c.typ, c.name, c.call.N, c.call.Bytes, transfers, total, steps, c.transfers, c.total, c.steps)
		}
	}
}

// plan prints the steps of a rank: ">4:500 after[1,2)" sends 500 B to position 4 when
// step 1 is done, "+" marks a receive that reduces.
func plan(a *Algorithm, c Call) []string {
	var out []string
	for i := range a.Len(&c) {
		s := a.At(&c, i)
		line := map[bool]string{true: ">", false: "<"}[s.Send]
		if s.Reduce {
			line = "+"
		}
		line += fmt.Sprintf("%d:%d", s.Peer, s.Bytes)
		if s.Lo < s.Hi {
			line += fmt.Sprintf(" after[%d,%d)", s.Lo, s.Hi)
		}
		out = append(out, line)
	}
	return out
}

// TestPlans: the steps of single ranks, written out.
func TestPlans(t *testing.T) {
	for name, c := range map[string]struct {
		typ       graph.CollType
		algorithm string
		call      Call
		want      []string
	}{
		"farthest partner first": {graph.AllReduce, "halving-doubling-far", Call{N: 4, Me: 1, Bytes: 400},
			[]string{">3:200", "+3:200", ">0:100 after[1,2)", "+0:100 after[1,2)",
				">0:100 after[3,4)", "<0:100 after[3,4)", ">3:200 after[5,6)", "<3:200 after[5,6)"}},
		// The second phase's sends wait for both receives of the first.
		"direct": {graph.AllReduce, "direct", Call{N: 3, Me: 1, Bytes: 300},
			[]string{"+0:100", "+2:100", ">2:100", ">0:100", "<0:100", "<2:100", ">2:100 after[0,2)", ">0:100 after[0,2)"}},
		// Units {0, 3} and {1, 4}, {2, 5}: inside with 1, across 3 -> 4 -> 5.
		"hierarchical": {graph.AllReduce, "hierarchical", Call{N: 6, Me: 4, Bytes: 600, Units: units(6, 2, true, nil)},
			[]string{">1:300", "+1:300",
				">5:100 after[1,2)", "+3:100 after[1,2)", ">5:100 after[3,4)", "+3:100 after[3,4)",
				">5:100 after[5,6)", "<3:100 after[5,6)", ">5:100 after[7,8)", "<3:100 after[7,8)",
				">1:300 after[9,10)", "<1:300 after[9,10)"}},
		"doubling": {graph.AllGather, "recursive-doubling", Call{N: 4, Me: 2, Bytes: 10},
			[]string{">3:10", "<3:10", ">0:20 after[1,2)", "<0:20 after[1,2)"}},
		// Six ranks: 1, 2 and min(4, 6-4) blocks.
		"bruck": {graph.AllGather, "bruck", Call{N: 6, Me: 1, Bytes: 10},
			[]string{">0:10", "<2:10", ">5:20 after[1,2)", "<3:20 after[1,2)", ">3:20 after[3,4)", "<5:20 after[3,4)"}},
		// Root 2 of 6: position 2 is number 0, its children the numbers 4, 2 and 1.
		"binomial root": {graph.Broadcast, "binomial", Call{N: 6, Me: 2, Root: 2, Bytes: 10},
			[]string{">0:10", ">4:10 after[0,1)", ">3:10 after[1,2)"}},
		// Position 0 is number 4, whose child is number 5.
		"binomial inner": {graph.Broadcast, "binomial", Call{N: 6, Me: 0, Root: 2, Bytes: 10},
			[]string{"<2:10", ">1:10 after[0,1)"}},
		// Number 4 stands for two ranks, number 2 for two, number 1 for one.
		"scatter": {graph.Scatter, "binomial", Call{N: 6, Me: 2, Root: 2, Bytes: 60},
			[]string{">0:20", ">4:20 after[0,1)", ">3:10 after[1,2)"}},
		"gather root": {graph.Gather, "binomial", Call{N: 6, Me: 2, Root: 2, Bytes: 10},
			[]string{"<3:10", "<4:20", "<0:20"}},
		"gather inner": {graph.Gather, "binomial", Call{N: 6, Me: 4, Root: 2, Bytes: 10},
			[]string{"<5:10", ">2:20 after[0,1)"}},
		// Position 2 of 4 has parent 0 and children 1 and 3; three segments.
		"pipelined": {graph.Broadcast, "pipelined-tree", Call{N: 4, Me: 2, Bytes: 3 * segmentBytes},
			[]string{"<0:65536", ">1:65536 after[0,1)", ">3:65536 after[0,1)",
				"<0:65536", ">1:65536 after[1,4)", ">3:65536 after[1,4)",
				"<0:65536", ">1:65536 after[4,7)", ">3:65536 after[4,7)"}},
		"pipelined root": {graph.Broadcast, "pipelined-tree", Call{N: 4, Me: 0, Bytes: 2*segmentBytes - 1},
			[]string{">2:65536", ">2:65536 after[0,1)"}},
		"pairwise": {graph.AllToAll, "pairwise", Call{N: 4, Me: 1, Bytes: 40},
			[]string{">0:10", "<0:10", ">3:10 after[0,2)", "<3:10 after[0,2)", ">2:10 after[2,4)", "<2:10 after[2,4)"}},
		"pairwise of three": {graph.AllToAll, "pairwise", Call{N: 3, Me: 1, Bytes: 30},
			[]string{">2:10", "<0:10", ">0:10 after[0,2)", "<2:10 after[0,2)"}},
		"bruck all-to-all": {graph.AllToAll, "bruck", Call{N: 5, Me: 4, Bytes: 50},
			[]string{">0:20", "<3:20", ">1:20 after[1,2)", "<2:20 after[1,2)", ">3:10 after[3,4)", "<0:10 after[3,4)"}},
		// 100 times the sender, plus the receiver.
		"all-to-allv": {graph.AllToAllV, "sequential", Call{N: 3, Me: 1, Sizes: hundreds{}},
			[]string{"<0:1", "<2:201", ">2:102", ">0:100 after[2,3)"}},
		"all-to-allv pairwise": {graph.AllToAllV, "pairwise", Call{N: 3, Me: 2, Sizes: hundreds{}},
			[]string{">0:200", "<1:102", ">1:201 after[0,2)", "<0:2 after[0,2)"}},
	} {
		if d := cmp.Diff(c.want, plan(find(t, c.typ, c.algorithm), c.call)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

type hundreds struct{}

func (hundreds) Bytes(src, dst int32) int64 { return int64(100*src + dst) }

// TestHierarchicalIsTheRing where the units say nothing: of one member, of all, or
// none given.
func TestHierarchicalIsTheRing(t *testing.T) {
	ring, h := find(t, graph.AllReduce, "ring"), find(t, graph.AllReduce, "hierarchical")
	for n := int32(1); n <= 20; n++ {
		for me := range n {
			c := Call{N: n, Me: me, Bytes: 1001}
			want := plan(ring, c)
			for _, u := range []*graph.Units{nil, units(n, 1, false, nil), units(n, n, false, nil)} {
				c.Units = u
				if d := cmp.Diff(want, plan(h, c)); d != "" {
					t.Fatalf("%d ranks, position %d, units %v: %s", n, me, u, d)
				}
			}
		}
	}
}

// TestFits: an algorithm for units takes only groups that have them.
func TestFits(t *testing.T) {
	b := graph.NewBuilder("t", graph.Blueprint, 4)
	world := b.Graph().Groups[0]
	for _, a := range All() {
		world.Units = nil
		err := a.Fits(world)
		if a.Name == "hierarchical" {
			if err == nil || err.Error() != "needs members in scale-up groups or nodes of equal size" {
				t.Errorf("%s without units: %v", a.Name, err)
			}
		} else if err != nil {
			t.Errorf("%s %s: %v", a.Type, a.Name, err)
		}
		world.Units = units(4, 2, false, nil)
		if err := a.Fits(world); err != nil {
			t.Errorf("%s %s with units: %v", a.Type, a.Name, err)
		}
	}
}

// TestSegments: of 64 KiB as far as 256 go, all of one size.
func TestSegments(t *testing.T) {
	for bytes, want := range map[int64][2]int64{
		0: {1, 0}, 1: {1, 1}, 65536: {1, 65536},
		65537:         {2, 32769},
		256 * 65536:   {256, 65536},
		256*65536 + 1: {256, 65537},
		1 << 40:       {256, 1 << 32},
	} {
		c := Call{N: 4, Bytes: bytes}
		if got := [2]int64{int64(pipelinedTree{}.BlockCount(&c)), pipelinedTree{}.BlockBytes(&c)}; got != want {
			t.Errorf("%d B: %v segments and bytes, want %v", bytes, got, want)
		}
	}
}

// TestTotalsOfPairs: an all-to-allv moves every size off the diagonal once.
func TestTotalsOfPairs(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for n := int32(1); n <= 12; n++ {
		m := randomSizes(n, rng)
		want := int64(0)
		for src := range n {
			for dst := range n {
				if src != dst {
					want += m.Bytes(src, dst) / 2
				}
			}
		}
		for _, name := range NewTable().Names(graph.AllToAllV) {
			transfers, total := CallTotals(find(t, graph.AllToAllV, name), Call{N: n, Sizes: m}, func(b int64) int64 { return b / 2 })
			if transfers != int64(n)*int64(n-1) || total != want {
				t.Errorf("%s of %d ranks: %d transfers, %d B; want %d, %d B", name, n, transfers, total, n*(n-1), want)
			}
		}
	}
}

// BenchmarkSteps computes the steps of one rank of 1024 in order.
func BenchmarkSteps(b *testing.B) {
	for _, a := range All() {
		b.Run(a.Type.String()+"/"+a.Name, func(b *testing.B) {
			c := Call{N: 1024, Me: 77, Bytes: 1 << 20, Units: units(1024, 8, false, nil)}
			n, sum, steps := a.Len(&c), int64(0), int64(0)
			for b.Loop() {
				for i := range n {
					s := a.At(&c, i)
					sum += s.Bytes
				}
				steps += int64(n)
			}
			if steps > 0 {
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(steps), "ns/step")
			}
		})
	}
}
