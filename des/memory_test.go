package des

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"hybrid/des/sim"
	"hybrid/graph"
	"hybrid/internal/diag"
)

// liveAfter runs a job and returns the bytes that are live while its engine is.
func liveAfter(t testing.TB, j *Job) int64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	r := &run{job: j, placement: j.Placement}
	var list diag.List
	r.check(&list)
	if err := list.Err(); err != nil {
		t.Fatal(err)
	}
	r.build()
	r.state = r.progress
	if e := r.start(context.Background(), sim.Config{Processes: r.procs, Window: r.window, Threads: 1, Stop: r.stop(), Between: r.between}); e != sim.Drained {
		t.Fatalf("ending %d", e)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(r)
	return int64(after.HeapAlloc) - int64(before.HeapAlloc)
}

// What is estimated is within a quarter of what is live at the end of a run; not more than
// half above it where the queue pairs of a rank have a message one after another.
func TestEstimateMemory(t *testing.T) {
	short, long := "{rate: 400Gbps, delay: 1us}", "{rate: 400Gbps, delay: 50us}"
	pfc, classes := "  switch: {pfc: {xoff: 100KB}}\n"+roce, "  switch: {pfc: {xoff: 100KB}, classes: [{}, {}, {}, {}, {}, {}, {}, {}]}\n"+roce
	for _, c := range []struct {
		name       string
		k          int
		graph      *graph.Graph
		pairs      int64
		link, more string
	}{
		{"permutation", 16, permutation(t, 1024, 20_000), 1024, short, roce},
		{"long permutation", 16, permutation(t, 1024, 400_000), 1024, short, roce},
		{"permutation with packet memories", 16, permutation(t, 1024, 20_000), 1024, short, pfc},
		{"permutation with eight classes", 16, permutation(t, 1024, 200_000), 1024, short, classes},
		{"idle hosts", 32, permutation(t, 16, 20_000), 16, short, roce},
		{"idle hosts with packet memories", 32, permutation(t, 16, 20_000), 16, short, pfc},
		{"long links", 4, permutation(t, 16, 20_000_000), 16, long, roce},
		{"all-to-all at once", 8, everyone(t, 128, graph.AllToAll, "interleaved", 128*8192), 128 * 127, short, roce},
		{"all-to-all with packet memories", 8, everyone(t, 128, graph.AllToAll, "interleaved", 128*8192), 128 * 127, short, pfc},
		{"all-to-all one by one", 8, everyone(t, 128, graph.AllToAll, "sequential", 128*4096), 128 * 127, short, roce},
		{"ring", 12, everyone(t, 256, graph.AllReduce, "ring", 1024), 256, short, roce},
		{"ring with packet memories", 12, everyone(t, 256, graph.AllReduce, "ring", 1024), 256, short, pfc},
	} {
		j := job(t, c.graph, network(t, fmt.Sprintf("{kind: fat-tree, k: %d}", c.k), c.link, c.more), 1)
		m := EstimateMemory(&j)
		if m.Pairs != c.pairs {
			t.Errorf("%s: %d queue pairs estimated, %d are there", c.name, m.Pairs, c.pairs)
		}
		got, estimate := liveAfter(t, &j), m.Fabric+m.Ranks+m.QueuePairs
		t.Logf("%s: %d B live, %d B estimated: %d %%", c.name, got, estimate, 100*estimate/got)
		over := int64(25)
		if c.name == "all-to-all one by one" {
			over = 50
		}
		if 4*got > 5*estimate || 100*estimate > (100+over)*got {
			t.Errorf("%s: %d B live, %d B estimated", c.name, got, estimate)
		}
	}
}

// The estimate counts what it can: ranks on one node need no queue pair, equal
// collectives need theirs once, and a partner that is computed in a loop may be anyone.
func TestEstimatePairs(t *testing.T) {
	n := network(t, "star", link400, roce)
	if m := EstimateMemory(ptr(job(t, everyone(t, 8, graph.AllToAll, "sequential", 64), n, 8))); m.Pairs != 0 {
		t.Errorf("one node: %d pairs", m.Pairs)
	}
	// Each rank has 4 partners on the other node.
	if m := EstimateMemory(ptr(job(t, everyone(t, 8, graph.AllToAll, "sequential", 64), n, 4))); m.Pairs != 8*4 {
		t.Errorf("two nodes: %d pairs, want 32", m.Pairs)
	}
	// Four neighbours of 12 ranks in 3 rows and 4 columns, and the reduce tree (each of 11
	// ranks sends to its parent, and is sent to).
	m := EstimateMemory(ptr(job(t, stencil(t, 3, 4, 10), n, 1)))
	if want := int64(12*4 + 2*11); m.Pairs < want/2 || m.Pairs > 2*want {
		t.Errorf("stencil: %d pairs, want about %d", m.Pairs, want)
	}
}

func ptr[T any](v T) *T { return &v }
