package analytic

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hybrid/graph"
	"hybrid/graph/replay"
	"hybrid/networks"
)

func TestUnmatched(t *testing.T) {
	b := newBuilder(2)
	p := b.rank(0, false)
	p.send(8, 1, 3)
	p.Done()
	b.rank(1, false).Done()
	left := b.finish(t)
	b = newBuilder(2)
	p = b.rank(0, false)
	p.recv(8, 1, 3)
	p.Done()
	b.rank(1, false).Done()
	never := b.finish(t)
	for _, m := range Models() {
		v := runAny(t, m.Name, Job{Graph: left, Network: mpi(0)}).Verdict
		if v.Outcome != replay.Unmatched || len(v.Unreceived) != 1 || v.Unreceived[0].Rank != 0 || v.Unreceived[0].Peer != 1 || v.Unreceived[0].Tag != 3 {
			t.Errorf("%s: %+v", m.Name, v)
		}
		v = runAny(t, m.Name, Job{Graph: never, Network: mpi(0)}).Verdict
		if v.Outcome != replay.Unmatched || v.Blocked != 1 || len(v.Pending) != 1 || v.Pending[0].Kind != graph.Recv {
			t.Errorf("%s: %+v", m.Name, v)
		}
	}
}

func TestEndsEarly(t *testing.T) {
	g := ring(t, 4, 1000, 8)
	for _, m := range Models() {
		r := runAny(t, m.Name, Job{Graph: g, Network: mpi(100), StopAt: 500 * us})
		if r.Verdict.Outcome != replay.Stopped || r.Verdict.Blocked != 4 || r.Makespan > 500*us || r.Makespan < 400*us {
			t.Errorf("%s: %v at %d ps", m.Name, r.Verdict.Outcome, r.Makespan)
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		r, err := m.Run(ctx, Job{Graph: g, Network: mpi(100)})
		if err != nil || r.Verdict.Outcome != replay.Interrupted {
			t.Errorf("%s: %v, %v", m.Name, err, r.Verdict.Outcome)
		}
	}
}

// Times beyond the clock's range fail the run; they do not wrap.
func TestOverflow(t *testing.T) {
	huge := ring(t, 2, 1000, 8)
	for _, p := range huge.Programs {
		for i := range p.Works {
			p.Works[i].Time = p.AddConst(1 << 58)
			p.Costs[i].Terms[0].V = p.Works[i].Time
		}
	}
	b := newBuilder(2)
	for r := range 2 {
		p := b.rank(r, true)
		p.send(1<<62, 1-r, 0)
		p.recv(1<<62, 1-r, 0)
		p.Done()
	}
	for _, g := range []*graph.Graph{huge, b.finish(t)} {
		for _, m := range Models() {
			v := runAny(t, m.Name, Job{Graph: g, Network: mpi(100)}).Verdict
			if v.Outcome != replay.Failed || len(v.Errors) != 1 || !strings.Contains(v.Errors[0].Error(), "range") {
				t.Errorf("%s: %+v", m.Name, v)
			}
		}
	}
}

func TestRefusedJobs(t *testing.T) {
	b := newBuilder(1)
	p := b.rank(0, true)
	p.calc(1)
	p.Done()
	unpriced, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	few, err := networks.NewPlacement(2, networks.PlacementOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for name, job := range map[string]Job{
		"nothing":             {},
		"not priced":          {Graph: unpriced, Network: free()},
		"no parameters":       {Graph: ring(t, 2, 1, 8), Network: &networks.Network{}},
		"too small placement": {Graph: ring(t, 4, 1, 8), Network: free(), Placement: few},
	} {
		for _, m := range Models() {
			if r, err := m.Run(context.Background(), job); err == nil {
				t.Errorf("%s, %s: %+v", name, m.Name, r)
			}
		}
	}
	if _, ok := Find("nothing"); ok {
		t.Error("a model that does not exist is found")
	}
}

// The same job gives the same result, but for the time that the walk took.
func TestReproducible(t *testing.T) {
	g := heat2d(t, 5, 10*us)
	for _, m := range Models() {
		var results [2]*replay.Result
		for i := range results {
			results[i] = run(t, m.Name, Job{Graph: g, Network: setB.network()})
			results[i].Wall = 0
		}
		if d := cmp.Diff(results[0], results[1]); d != "" {
			t.Errorf("%s: %s", m.Name, d)
		}
	}
}
