package des

import (
	"context"
	"testing"

	"hybrid/graph"
	"hybrid/graph/replay"
)

// aheadThenMeet: rank 0 computes for 1 us, times over, then receives what rank 1 sent at
// 2 us, and computes once more.
func aheadThenMeet(t testing.TB, times int64) *graph.Graph {
	b := newBuilder(t, 2)
	r := b.Rank(0, false)
	r.BeginLoop(b.site(graph.Loop), r.Int(times))
	b.compute(r, 1_000_000, 0)
	r.EndLoop(b.site(graph.End))
	b.recv(r, 1, 0, 0)
	b.compute(r, 1_000_000, 0)
	r.Done()
	r = b.Rank(1, false)
	b.compute(r, 2_000_000, 0)
	b.send(r, 0, 0, 0, 0)
	r.Done()
	return b.graph()
}

// A rank that is ahead finds what has reached it in the meantime: with a thousand
// operations before the receive it waits for nothing; with one it waits for the message,
// which leaves at 2 us and takes 200 ns inside the node, or 2 us on two ideal links of 1 us
// each.
func TestAheadMeetsMessages(t *testing.T) {
	n := network(t, "star", "{rate: 400Gbps, delay: 1us}", roce)
	for _, c := range []struct {
		times   int64
		perNode int
		want    int64
	}{
		{1000, 2, 1_001_000_000},
		{1, 2, 2_200_000 + 1_000_000},
		{1000, 1, 1_001_000_000},
		{1, 1, 2_000_000 + 2_000_000 + 1_000_000},
	} {
		j := job(t, aheadThenMeet(t, c.times), n, c.perNode)
		j.Ideal = true
		res := finished(t, j)
		if got := res.Clock.PS(res.Ranks[0].Finish); got != c.want {
			t.Errorf("%d operations, %d ranks a node: rank 0 ends at %d, want %d", c.times, c.perNode, got, c.want)
		}
		if res.Windows > 8 {
			t.Errorf("%d operations: %d windows", c.times, res.Windows)
		}
		// Times + 1 and 1 computes, both ends of a message.
		if res.Operations != c.times+4 {
			t.Errorf("%d operations, want %d", res.Operations, c.times+4)
		}
	}
}

// A run that stops at 2.5 us has done two operations of 1 us.
func TestAheadStops(t *testing.T) {
	j := job(t, computeLoop(t, 1, 1000), network(t, "star", "{rate: 400Gbps, delay: 1us}", roce), 1)
	j.StopAt = 2_500_000
	res := simulate(t, j)
	if got := res.Clock.PS(res.Makespan); res.Verdict.Outcome != replay.Stopped || got != 2_000_000 || res.Operations != 3 {
		t.Errorf("%v at %d after %d operations", res.Verdict.Outcome, got, res.Operations)
	}
}

// A loop that would go on for an age ends with its context, or at the end of the range of
// time: 4 operations of 2^60 ps fit into 2^62, the fifth does not end in it.
func TestAheadEnds(t *testing.T) {
	n := network(t, "star", "{rate: 400Gbps, delay: 1us}", roce)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	res, err := Run(ctx, job(t, computeLoop(t, 1, 1<<40), n, 1))
	if err != nil || res.Verdict.Outcome != replay.Interrupted {
		t.Errorf("%v, error %v", res.Verdict, err)
	}
	b := newBuilder(t, 1)
	r := b.Rank(0, false)
	r.BeginLoop(b.site(graph.Loop), r.Int(100))
	b.compute(r, 1<<60, 0)
	r.EndLoop(b.site(graph.End))
	r.Done()
	if res := simulate(t, job(t, b.graph(), n, 1)); res.Verdict.Outcome != replay.Failed || res.Clock.PS(res.Makespan) != 4<<60 {
		t.Errorf("%+v at %d", res.Verdict, res.Makespan)
	}
}
