package analytic

import (
	"testing"

	"hybrid/graph"
	"hybrid/internal/diag"
	"hybrid/networks"
)

// A byte of 50 GiB/s takes 9765625/2^19 ps. The tick of such a run is 2^-19 ps, which
// holds 4.4 simulated seconds below the horizon of 2^61 ticks: a shorter run is exact, a
// longer one falls back to whole picoseconds and says so.
func TestClockFallsBackForLongRuns(t *testing.T) {
	net := parseNetwork(t, `
name: fifty
summary: 50 GiB/s
source: test
levels: {inter_node: {eager_limit: 1GiB, hockney: {latency: 500ns, bandwidth: 429496729600bps}}}
`)
	for _, tt := range []struct {
		compute int64 // ps
		perPS   int64
		notes   int
		ps      int64
	}{
		// 131,072 B take 9765625/4 ps = 2441406.25 ps, rounded at the edge only.
		{1_000_000, 1 << 19, 0, 1_000_000 + 500_000 + 2_441_406},
		{10_000_000_000_000, 1, 1, 10_000_000_000_000 + 500_000 + 2_441_406},
	} {
		b := newBuilder(2)
		sender := b.rank(0, true)
		sender.send(131072, 1, 0, sender.calc(tt.compute))
		sender.Done()
		receiver := b.rank(1, true)
		receiver.recv(131072, 0, 0)
		receiver.Done()
		res := run(t, "hockney", Job{Graph: b.finish(t), Network: net})
		if res.Clock.PerPS != tt.perPS || len(res.Notes) != tt.notes || res.Clock.PS(res.Makespan) != tt.ps {
			t.Errorf("compute %d ps: clock %+v, notes %q, makespan %d ps; want %+v", tt.compute, res.Clock, res.Notes, res.Clock.PS(res.Makespan), tt)
		}
	}
}

func parseNetwork(t *testing.T, text string) *networks.Network {
	t.Helper()
	var list diag.List
	n := networks.Parse("fifty.yml", []byte(text), nil, &list)
	if n == nil {
		t.Fatal(list.Err())
	}
	return n
}

// A loop of 10^6 computations of 1 ms takes 10^15 ps at least; a computation that the
// thread does not wait for, or that a branch may skip, counts for nothing.
func TestLeastTime(t *testing.T) {
	for _, tt := range []struct {
		flags  graph.Flags
		branch bool
		want   int64
	}{{0, false, 1_000_000 * 1_000_000_000}, {graph.Async, false, 0}, {0, true, 0}} {
		b := newBuilder(1)
		p := b.rank(0, false)
		p.BeginLoop(p.site, p.Int(1_000_000))
		if tt.branch {
			p.Patch(p.Branch(p.site, p.Int(1)))
		}
		p.flags = tt.flags
		p.calc(1_000_000_000)
		p.EndLoop(p.site)
		p.Done()
		if got := leastTime(b.finish(t)); got != tt.want {
			t.Errorf("%+v: %d ps", tt, got)
		}
	}
}
