package main

import (
	"fmt"
	"testing"

	"hybrid/chakra"
)

// step is what a transfer of b bytes takes until it is there, in the tests of
// collectives; unsynchronized leaves out the barrier before each collective.
const unsynchronized = "--synchronize=false"

// each puts the same node into the traces of all ranks and marks its end as "rank r".
func (s *traceSet) each(n chakra.Node) {
	for r := range s.ranks {
		s.mark(fmt.Sprint("rank ", r), r, s.node(r, n))
	}
}

// everyRank are the marks of each, in the order of the ranks.
func everyRank(at ...int64) moments {
	m := moments{}
	for r, t := range at {
		m[fmt.Sprint("rank ", r)] = t
	}
	return m
}

// allAt is everyRank for n ranks that are done together.
func allAt(n int, at int64) moments {
	var list []int64
	for range n {
		list = append(list, at)
	}
	return everyRank(list...)
}

// One AllReduce of 1,000 bytes over 8 ranks moves 14,000 bytes with each of three
// algorithms, and takes a rank through 14, 6 and 6 steps.
func TestExecutionWorkedExample(t *testing.T) {
	for _, test := range []struct {
		algorithm        string
		transfers, bytes int64
		end              moments
	}{
		// Each rank sends 14 transfers of 125 B, in 14 steps.
		{"ring", 112, 14_000, allAt(8, 14*onLink(125))},
		// 7 edges, 1,000 B up and down: 0-4-{2,6}-{1,3,5,7}. An inner rank is done when its
		// sends down have left, 20 ns after it received.
		{"tree", 14, 14_000, everyRank(3*onLink(1000)+20*ns, 6*onLink(1000), 5*onLink(1000)+20*ns, 6*onLink(1000),
			4*onLink(1000)+20*ns, 6*onLink(1000), 5*onLink(1000)+20*ns, 6*onLink(1000))},
		// Steps of 500, 250, 125, 125, 250 and 500 B.
		{"halving-doubling", 48, 14_000, allAt(8, 2*(onLink(500)+onLink(250)+onLink(125)))},
	} {
		t.Run(test.algorithm, func(t *testing.T) {
			s := traces(t, 8)
			s.group("g", 0, 1, 2, 3, 4, 5, 6, 7)
			s.each(collectiveNode(allReduce, 1000))
			o := s.run(unsynchronized, "--algorithm", "allreduce="+test.algorithm).done()
			o.marked(test.end)
			if len(o.report.Collectives) != 1 {
				t.Fatalf("%d collectives, want 1", len(o.report.Collectives))
			}
			if c := o.report.Collectives[0]; c.Transfers != test.transfers || c.TransferBytes != test.bytes || c.Algorithm != test.algorithm || c.Bytes != 1000 {
				t.Errorf("%s of %d B: %d transfers of %d B in all, want %d of %d", c.Algorithm, c.Bytes, c.Transfers, c.TransferBytes, test.transfers, test.bytes)
			}
			// 8 marks beside it.
			if r := o.report.Runs[0]; r.Messages != test.transfers+8 || r.Bytes != test.bytes {
				t.Errorf("%d messages of %d B were sent, want %d of %d", r.Messages, r.Bytes, test.transfers+8, test.bytes)
			}
		})
	}
}

// C is S divided by N, rounded up, the same for every transfer.
func TestExecutionRounding(t *testing.T) {
	for _, test := range []struct{ bytes, c int64 }{{1000, 125}, {1001, 126}, {1, 1}, {0, 0}} {
		for _, typ := range []int64{reduceScatter, reduceScatterBlock} {
			s := traces(t, 8)
			s.group("g", 0, 1, 2, 3, 4, 5, 6, 7)
			s.each(collectiveNode(typ, test.bytes))
			o := s.run(unsynchronized).done()
			o.marked(allAt(8, 7*onLink(test.c)))
			if c := o.report.Collectives[0]; c.Transfers != 56 || c.TransferBytes != 56*test.c {
				t.Errorf("%d B: %d transfers of %d B in all, want 56 of %d", test.bytes, c.Transfers, c.TransferBytes, 56*test.c)
			}
		}
	}
}

// Every row of the table of algorithms on 4 ranks that start together: when each rank is
// done, and the transfers and their bytes. S is 4,000 B, C 1,000 B; the odd 4,001 B make
// the halves of double-tree 2,001 B.
func TestExecutionAlgorithms(t *testing.T) {
	const S, C = 4000, 1000
	s, c := onLink(S), onLink(C)
	for _, test := range []struct {
		name             string
		typ, bytes       int64
		transfers, total int64
		end              moments
	}{
		{"allreduce=ring", allReduce, S, 24, 24 * C, allAt(4, 6*c)},
		// 0 is the root, 2 its child, 1 and 3 the leaves.
		{"allreduce=tree", allReduce, S, 6, 6 * S, everyRank(2*s+20*S, 4*s, 3*s+20*S, 4*s)},
		// The second tree is 3-1-{0,2}; each rank is a leaf of one of the two.
		{"allreduce=double-tree", allReduce, S, 12, 12 * S / 2, allAt(4, 4*onLink(S/2))},
		{"allreduce=double-tree", allReduce, S + 1, 12, 12 * 2001, allAt(4, 4*onLink(2001))},
		{"allreduce=halving-doubling", allReduce, S, 16, 4 * 6 * C, allAt(4, 2*(onLink(2*C)+c))},
		// From the member behind the root, around to the root.
		{"reduce=ring", reduce, S, 3, 3 * S, everyRank(3*s, 20*S, s+20*S, 2*s+20*S)},
		{"reduce=tree", reduce, S, 3, 3 * S, everyRank(2*s, 20*S, s+20*S, 20*S)},
		{"allgather=ring", allGather, S, 12, 12 * S, allAt(4, 3*s)},
		{"reducescatter=ring", reduceScatter, S, 12, 12 * C, allAt(4, 3*c)},
		{"reducescatter=halving", reduceScatter, S, 8, 4 * 3 * C, allAt(4, onLink(2*C)+c)},
		{"reducescatterblock=ring", reduceScatterBlock, S, 12, 12 * C, allAt(4, 3*c)},
		// One after another: each send starts when the one before has left.
		{"broadcast=sequential", broadcast, S, 3, 3 * S, everyRank(3*20*S, s, s+20*S, s+2*20*S)},
		{"broadcast=interleaved", broadcast, S, 3, 3 * S, everyRank(20*S, s, s, s)},
		{"gather=direct", gather, S, 3, 3 * S, everyRank(s, 20*S, 20*S, 20*S)},
		{"scatter=direct", scatter, S, 3, 3 * C, everyRank(20*C, c, c, c)},
		// The third send starts when two have left.
		{"alltoall=sequential", allToAll, S, 12, 12 * C, allAt(4, c+2*20*C)},
		{"alltoall=interleaved", allToAll, S, 12, 12 * C, allAt(4, c)},
		{"barrier=ring", barrier, S, 24, 0, allAt(4, 6*500*ns)},
		{"barrier=tree", barrier, 0, 6, 0, everyRank(2*500*ns, 4*500*ns, 3*500*ns, 4*500*ns)},
		{"barrier=double-tree", barrier, 0, 12, 0, allAt(4, 4*500*ns)},
		{"barrier=halving-doubling", barrier, 0, 16, 0, allAt(4, 4*500*ns)},
	} {
		t.Run(test.name, func(t *testing.T) {
			set := traces(t, 4)
			set.group("g", 0, 1, 2, 3)
			set.each(collectiveNode(test.typ, test.bytes))
			o := set.run(unsynchronized, "--algorithm", test.name).done()
			o.marked(test.end)
			if got := o.report.Collectives[0]; got.Type+"="+got.Algorithm != test.name || got.Transfers != test.transfers || got.TransferBytes != test.total {
				t.Errorf("%s=%s: %d transfers of %d B in all, want %d of %d", got.Type, got.Algorithm, got.Transfers, got.TransferBytes, test.transfers, test.total)
			}
		})
	}
}

// Without --algorithm the ring, or what has none: interleaved or direct.
func TestExecutionDefaults(t *testing.T) {
	want := []string{"allreduce=ring", "reduce=ring", "allgather=ring", "gather=direct", "scatter=direct", "broadcast=interleaved", "alltoall=interleaved",
		"reducescatter=ring", "reducescatterblock=ring", "barrier=ring"}
	for typ, name := range want {
		s := traces(t, 4)
		s.group("g", 0, 1, 2, 3)
		s.each(collectiveNode(int64(typ), 4000))
		if c := s.run().done().report.Collectives[0]; c.Type+"="+c.Algorithm != name {
			t.Errorf("type %d: %s=%s, want %s", typ, c.Type, c.Algorithm, name)
		}
	}
}

// The order of the members is that of the list: with rank 0 late by T and the ring 1, 0,
// 2, the transfers of rank 0 come to rank 2 first and to rank 1 from there.
func TestExecutionMemberOrder(t *testing.T) {
	const T = 10 * us
	s, left := onLink(4096), int64(20*4096)
	for _, test := range []struct {
		members []int
		end     moments
	}{
		// Rank 0 starts at T and sends on at once what it has received before: its two sends
		// leave together. The rank behind it has its own block on the way at T + s and is done
		// when it has passed it on, the last one when that has come.
		{[]int{1, 0, 2}, everyRank(T+2*left, T+2*s, T+s+left)},
		{[]int{0, 1, 2}, everyRank(T+2*left, T+s+left, T+2*s)},
		{[]int{2, 1, 0}, everyRank(T+2*left, T+2*s, T+s+left)},
	} {
		t.Run(fmt.Sprint(test.members), func(t *testing.T) {
			set := traces(t, 3)
			set.group("g", test.members...)
			set.mark("rank 0", 0, set.collective(0, allGather, 4096, set.wait(0, 10)))
			set.mark("rank 1", 1, set.collective(1, allGather, 4096))
			set.mark("rank 2", 2, set.collective(2, allGather, 4096))
			set.run(unsynchronized).done().marked(test.end)
		})
	}
}

// Partners of halving are at distance 1, then 2: with rank 3 late by T its neighbour 2
// has the first transfer from it at T + 540 ns, and rank 0 the second from 2 520 ns later.
// The other order of distances makes rank 1 the first partner.
func TestExecutionPartners(t *testing.T) {
	const T = 10 * us
	s := traces(t, 4)
	s.group("g", 0, 1, 2, 3)
	for r := range 3 {
		s.mark(fmt.Sprint("rank ", r), r, s.collective(r, reduceScatter, 4000))
	}
	s.mark("rank 3", 3, s.collective(3, reduceScatter, 4000, s.wait(3, 10)))
	first, second := int64(T+onLink(2000)+20*1000), int64(T+onLink(1000))
	s.run(unsynchronized, "--algorithm", "reducescatter=halving").done().marked(everyRank(T+onLink(2000)+onLink(1000), second, first, T+20*2000))
	s.run(unsynchronized, "--algorithm", "reducescatter=halving-far").done().marked(everyRank(T+onLink(2000)+onLink(1000), first, second, T+20*2000))
}

// The root is the one that the trace names, as a rank or else as a position; without a
// name it is the first member.
func TestExecutionRoot(t *testing.T) {
	s, left := onLink(1000), int64(20*1000)
	for _, test := range []struct {
		name  string
		attrs []chakra.Attr
		root  int
	}{
		{"none", nil, 2},
		{"root", []chakra.Attr{chakra.Int64("root", 3)}, 3},
		{"root_rank", []chakra.Attr{chakra.Int64("root_rank", 3)}, 3},
		{"comm_root", []chakra.Attr{chakra.Int64("comm_root", 3)}, 3},
		{"comm_src", []chakra.Attr{chakra.Int64("comm_src", 3)}, 3},
		{"position", []chakra.Attr{chakra.Int64("root", 0)}, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, kind := range []struct {
				typ, bytes      int64
				atRoot, atOther int64
			}{{broadcast, 1000, left, s}, {gather, 1000, s, left}, {scatter, 3000, left, s}} {
				set := traces(t, 4)
				set.group("g", 2, 3, 1)
				want := moments{}
				for r := 1; r < 4; r++ {
					label := fmt.Sprint("rank ", r)
					set.mark(label, r, set.node(r, collectiveNode(kind.typ, kind.bytes, test.attrs...)))
					want[label] = kind.atOther
				}
				want[fmt.Sprint("rank ", test.root)] = kind.atRoot
				set.run(unsynchronized).done().marked(want)
			}
		})
	}
	t.Run("outside", func(t *testing.T) {
		set := traces(t, 4)
		set.group("g", 2, 3, 1)
		for r := 1; r < 4; r++ {
			set.node(r, collectiveNode(broadcast, 1000, chakra.Int64("root", 9)))
		}
		set.run().fails("the root 9 is neither a member nor a position", "[E715]")
	})
	// The chain of reduce starts behind the root 1: 2, 3, 0. In the tree the list begins
	// with it: 1-3-{2,0}.
	t.Run("reduce", func(t *testing.T) {
		for algorithm, end := range map[string]moments{
			"ring": everyRank(2*s+left, 3*s, left, s+left),
			"tree": everyRank(left, 2*s, left, s+left),
		} {
			set := traces(t, 4)
			set.group("g", 0, 1, 2, 3)
			set.each(collectiveNode(reduce, 1000, chakra.Int64("root", 1)))
			set.run(unsynchronized, "--algorithm", "reduce="+algorithm).done().marked(end)
		}
	})
	// Sequential sends go in the order of the list, without the root.
	t.Run("sequential", func(t *testing.T) {
		set := traces(t, 4)
		set.group("g", 2, 1, 0, 3)
		set.each(collectiveNode(broadcast, 1000, chakra.Int64("root", 1)))
		set.run(unsynchronized, "--algorithm", "broadcast=sequential").done().marked(everyRank(s+left, 3*left, s, s+2*left))
	})
}

// In step s of an all-to-all rank i sends to i + s: with rank 1 late by T its blocks come
// to 2, 3 and 0 in that order, one after another, whatever else these receive.
func TestExecutionAllToAllSteps(t *testing.T) {
	const T = 10 * us
	c, left := onLink(1000), int64(20*1000)
	set := traces(t, 4)
	set.group("g", 0, 1, 2, 3)
	for r := range 4 {
		var deps []uint64
		if r == 1 {
			deps = append(deps, set.wait(1, 10))
		}
		set.mark(fmt.Sprint("rank ", r), r, set.collective(r, allToAll, 4000, deps...))
	}
	set.run(unsynchronized, "--algorithm", "alltoall=sequential").done().marked(everyRank(T+c+2*left, T+3*left, T+c, T+c+left))
}
