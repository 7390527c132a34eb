package main

import (
	"fmt"
	"strings"
	"testing"

	"hybrid/chakra"
)

// pair is a set of two ranks in a group.
func pair(t *testing.T) *traceSet {
	s := traces(t, 2)
	s.group("g", 0, 1)
	return s
}

// allReduceOfTwo is an AllReduce of 8,192 B over two ranks: two steps of 4,096 B.
func allReduceOfTwo(attrs ...chakra.Attr) chakra.Node {
	return collectiveNode(allReduce, 8192, attrs...)
}

// Two of them that start together share the links: each step of the second leaves 4,096
// B behind that of the first. One after another they take twice the time.
var (
	alone    = 2 * onLink(4096)
	behind   = alone + 20*4096
	oneByOne = 2 * alone
)

// Collectives of a group run one at a time in the order that the trace records: by an
// attribute of each of them, else by start times that all differ, else not at all.
func TestExecutionIssueOrder(t *testing.T) {
	at := func(start uint64, attrs ...chakra.Attr) chakra.Node {
		n := allReduceOfTwo(attrs...)
		n.StartMicros = start
		return n
	}
	for _, test := range []struct {
		name          string
		first, second chakra.Node
		endA, endB    int64
	}{
		{"comm_seq", at(0, chakra.Int64("comm_seq", 4)), at(0, chakra.Int64("comm_seq", 7)), alone, oneByOne},
		{"issue_order", at(0, chakra.Int64("issue_order", 4)), at(0, chakra.Int64("issue_order", 7)), alone, oneByOne},
		{"seq_num", at(0, chakra.Int64("seq_num", 4)), at(0, chakra.Int64("seq_num", 7)), alone, oneByOne},
		{"not the order of ids", at(0, chakra.Int64("comm_seq", 7)), at(0, chakra.Int64("comm_seq", 4)), oneByOne, alone},
		{"start times", at(5), at(6), alone, oneByOne},
		{"start times, not ids", at(6), at(5), oneByOne, alone},
		{"attribute before start times", at(6, chakra.Int64("comm_seq", 1)), at(5, chakra.Int64("comm_seq", 2)), alone, oneByOne},
		{"equal start times", at(5), at(5), alone, behind},
		{"nothing recorded", at(0), at(0), alone, behind},
		{"only one has it", at(0, chakra.Int64("comm_seq", 7)), at(0), alone, behind},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := pair(t)
			for r := range 2 {
				s.mark(fmt.Sprint("A at ", r), r, s.node(r, test.first))
				s.mark(fmt.Sprint("B at ", r), r, s.node(r, test.second))
			}
			want := moments{"A at 0": test.endA, "A at 1": test.endA, "B at 0": test.endB, "B at 1": test.endB}
			s.run(unsynchronized).done().marked(want)
			// Without the option the two start together, whatever is recorded.
			off := s.run(unsynchronized, "--serialize=false").done()
			for label := range want {
				if got := off.took(label) - 500*ns; got != alone && got != behind {
					t.Errorf("without serialization %s: %d ps, want %d or %d", label, got, alone, behind)
				}
			}
		})
	}
}

// Serialization is per group: collectives of two groups do not wait for each other.
func TestExecutionSerializationPerGroup(t *testing.T) {
	s := pair(t)
	s.group("h", 1, 0)
	for r := range 2 {
		s.mark(fmt.Sprint("g at ", r), r, s.node(r, allReduceOfTwo(chakra.Int64("comm_seq", 1))))
		n := allReduceOfTwo(chakra.Int64("comm_seq", 2))
		n.Attrs[2] = chakra.String("pg_name", "h")
		s.mark(fmt.Sprint("h at ", r), r, s.node(r, n))
	}
	s.run(unsynchronized).done().marked(moments{"g at 0": alone, "g at 1": alone, "h at 0": behind, "h at 1": behind})
}

// The k-th collective that a member issued belongs with the k-th of the others,
// whatever their ids: rank 1 has them the other way round in its file.
func TestExecutionInstances(t *testing.T) {
	small := collectiveNode(allReduce, 2000, chakra.Int64("comm_seq", 1))
	large := collectiveNode(allReduce, 8192, chakra.Int64("comm_seq", 2))
	s := pair(t)
	s.node(0, small)
	s.mark("rank 0", 0, s.node(0, large))
	s.mark("rank 1", 1, s.node(1, large))
	s.node(1, small)
	s.run(unsynchronized).done().marked(moments{"rank 0": 2*onLink(1000) + alone, "rank 1": 2*onLink(1000) + alone})

	for _, test := range []struct {
		name          string
		first, second []chakra.Node
		says          []string
	}{
		{"sizes", []chakra.Node{small}, []chakra.Node{large}, []string{"ALL_REDUCE of 2000 bytes", "ALL_REDUCE of 8192 bytes", `"g"`}},
		{"types", []chakra.Node{small}, []chakra.Node{collectiveNode(allGather, 2000)}, []string{"ALL_REDUCE of 2000 bytes", "ALL_GATHER of 2000 bytes"}},
		{"roots", []chakra.Node{collectiveNode(broadcast, 8, chakra.Int64("root", 0))}, []chakra.Node{collectiveNode(broadcast, 8, chakra.Int64("root", 1))},
			[]string{"with root 0", "with root 1"}},
		{"counts", []chakra.Node{small, large}, []chakra.Node{small}, []string{`"g"`, "rank 1"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := pair(t)
			for _, n := range test.first {
				s.node(0, n)
			}
			for _, n := range test.second {
				s.node(1, n)
			}
			s.run().fails(test.says...)
		})
	}
}

// The sends of a group that record an order are in one chain with its collectives;
// receives are not.
func TestExecutionOrderedSends(t *testing.T) {
	in := func(n chakra.Node, order int64) chakra.Node {
		n.Attrs = append(n.Attrs, chakra.String("pg_name", "g"), chakra.Int64("comm_seq", order))
		return n
	}
	for _, test := range []struct {
		name    string
		grouped bool
		sent    int64
	}{
		// Issued second, it leaves when the collective is through.
		{"in the group", true, alone},
		// It leaves behind the collective's first transfer.
		{"without a group", false, 20 * 4096},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := pair(t)
			s.node(0, allReduceOfTwo(chakra.Int64("comm_seq", 1)))
			s.node(1, allReduceOfTwo(chakra.Int64("comm_seq", 1)))
			send, recv := transferNode(chakra.CommSendNode, "comm_dst", 1, 0, 5, nil), transferNode(chakra.CommRecvNode, "comm_src", 0, 0, 5, nil)
			if test.grouped {
				send, recv = in(send, 2), in(recv, 2)
			}
			s.mark("sent", 0, s.node(0, send))
			s.node(1, recv)
			o := s.run(unsynchronized).done()
			o.marked(moments{"sent": test.sent})
			// The receive has waited from the start.
			o.lasted(moments{"1.2": test.sent + 500*ns})
		})
	}
}

// A recorded order that dependencies contradict: the edge that would close the cycle is
// left out with a warning, and the run finishes in the order of the dependencies.
func TestExecutionOrderAgainstDependencies(t *testing.T) {
	s := pair(t)
	for r := range 2 {
		a := allReduceOfTwo(chakra.Int64("comm_seq", 1))
		a.ID, a.DataDeps = 1, []uint64{2}
		b := allReduceOfTwo(chakra.Int64("comm_seq", 2))
		b.ID = 2
		s.mark(fmt.Sprint("A at ", r), r, s.node(r, a))
		s.mark(fmt.Sprint("B at ", r), r, s.node(r, b))
	}
	o := s.run(unsynchronized).done()
	o.marked(moments{"A at 0": oneByOne, "A at 1": oneByOne, "B at 0": alone, "B at 1": alone})
	o.says("warning", "[W405]")
}

// The attribute with the order may have any name, which then counts alone.
func TestExecutionIssueOrderNamed(t *testing.T) {
	s := pair(t)
	for r := range 2 {
		s.mark(fmt.Sprint("A at ", r), r, s.node(r, allReduceOfTwo(chakra.Int64("launch", 9), chakra.Int64("comm_seq", 1))))
		s.mark(fmt.Sprint("B at ", r), r, s.node(r, allReduceOfTwo(chakra.Int64("launch", 3), chakra.Int64("comm_seq", 2))))
	}
	s.run(unsynchronized).done().marked(moments{"A at 0": alone, "A at 1": alone, "B at 0": oneByOne, "B at 1": oneByOne})
	s.run(unsynchronized, "--issue-order", "launch").done().marked(moments{"A at 0": oneByOne, "A at 1": oneByOne, "B at 0": alone, "B at 1": alone})
	s.run(unsynchronized, "--issue-order", "nothing").done().marked(moments{"A at 0": alone, "A at 1": alone, "B at 0": behind, "B at 1": behind})
}

// An order that closes a cycle through other ranks is left out too: rank 0 issued a send
// after the collective, in which rank 1 takes part when it has received that.
func TestExecutionOrderAcrossRanks(t *testing.T) {
	s := pair(t)
	s.mark("rank 0", 0, s.node(0, allReduceOfTwo(chakra.Int64("comm_seq", 1))))
	send := transferNode(chakra.CommSendNode, "comm_dst", 1, 0, 5, nil)
	send.Attrs = append(send.Attrs, chakra.String("pg_name", "g"), chakra.Int64("comm_seq", 2))
	s.node(0, send)
	late := allReduceOfTwo(chakra.Int64("comm_seq", 1))
	late.DataDeps = []uint64{s.recv(1, 0, 0, 5)}
	s.mark("rank 1", 1, s.node(1, late))
	o := s.run(unsynchronized).done()
	// The send leaves behind the first transfer of rank 0, at 20 x 4,096 ps, and rank 1
	// begins when it is there. What rank 0 sent first is there already, so that rank 1 sends
	// both its transfers at once.
	start := onLink(4096)
	o.marked(moments{"rank 0": start + onLink(2*4096), "rank 1": start + 2*onLink(4096)})
	o.says("[W405]")
}

// Before a collective the ranks pass a tree of empty transfers, each 500 ns: up to the
// first member and down again.
func TestExecutionSynchronization(t *testing.T) {
	const hop = 500 * ns
	// In a group of 4 the tree is 0-2-{1,3}: rank 0 is through after two hops, 2 after
	// three, 1 and 3 after four. An empty broadcast then reaches 2 when it starts.
	t.Run("tree", func(t *testing.T) {
		for _, args := range [][]string{nil, {"--algorithm", "barrier=ring"}, {"--algorithm", "barrier=halving-doubling"}} {
			s := traces(t, 4)
			s.group("g", 0, 1, 2, 3)
			s.each(collectiveNode(broadcast, 0))
			o := s.run(args...).done()
			o.marked(everyRank(2*hop, 4*hop, 3*hop, 4*hop))
			if c := o.report.Collectives[0]; c.Transfers != 3 || c.TransferBytes != 0 {
				t.Errorf("%d transfers of %d B, want 3 of none: the barrier's do not count", c.Transfers, c.TransferBytes)
			}
		}
	})
	// Rank 0 comes at 10 us. Its transfers start then, those of rank 1 a hop later, which
	// has waited in the barrier; without it rank 1 has sent its block already.
	t.Run("late member", func(t *testing.T) {
		const T = 10 * us
		for _, test := range []struct {
			flag string
			end  moments
		}{
			{"--synchronize=true", everyRank(T+hop+onLink(4096), T+max(hop+20*4096, onLink(4096)))},
			{unsynchronized, everyRank(T+20*4096, T+onLink(4096))},
		} {
			s := pair(t)
			s.mark("rank 0", 0, s.collective(0, allGather, 4096, s.wait(0, 10)))
			s.mark("rank 1", 1, s.collective(1, allGather, 4096))
			s.run(test.flag).done().marked(test.end)
		}
	})
	// Through the barrier at 1 and 2 hops; the ring's steps of an empty barrier of two: rank
	// 1 sends at 2, rank 0 has it at 3 and sends its second transfer, which is there at 4.
	t.Run("before a barrier", func(t *testing.T) {
		s := pair(t)
		s.each(collectiveNode(barrier, 0))
		s.run().done().marked(everyRank(3*hop, 4*hop))
		s.run(unsynchronized).done().marked(everyRank(2*hop, 2*hop))
	})
	t.Run("one member", func(t *testing.T) {
		s := traces(t, 1)
		s.group("g", 0)
		s.each(collectiveNode(allReduce, 1000))
		s.run().done().marked(everyRank(0))
	})
	// Rank 1 comes to the barrier with what rank 0 sends behind the collective: without the
	// barrier that is no deadlock, and the program says so.
	t.Run("deadlock", func(t *testing.T) {
		s := pair(t)
		s.send(0, 1, 0, 5, s.collective(0, broadcast, 8))
		s.collective(1, broadcast, 8, s.recv(1, 0, 0, 5))
		o := s.run()
		if o.status != exitFailed {
			t.Errorf("status %d, want %d", o.status, exitFailed)
		}
		o.says("[E501]", "--synchronize=false leaves the barriers out", "[W411]")
		s.run(unsynchronized).done()
	})
	// The report's time of the collective starts behind the barrier.
	t.Run("not counted", func(t *testing.T) {
		s := traces(t, 2)
		s.group("g", 0, 1)
		s.collective(0, broadcast, 4096)
		s.collective(1, broadcast, 4096)
		o := s.run().done()
		if r := o.report.Runs[0]; r.Messages != 1 || r.Bytes != 4096 {
			t.Errorf("%d messages of %d B, want one of 4096 B", r.Messages, r.Bytes)
		}
	})
}

// Both options are on without a flag; the report says so.
func TestExecutionOrderingDefaults(t *testing.T) {
	s := pair(t)
	s.node(0, allReduceOfTwo())
	s.node(1, allReduceOfTwo())
	o := s.run().done()
	for _, want := range []string{`"serialize": "true"`, `"synchronize": "true"`} {
		if !strings.Contains(o.stdout, want) {
			t.Errorf("the report does not say %s", want)
		}
	}
}
