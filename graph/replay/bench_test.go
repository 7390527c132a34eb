package replay

import (
	"testing"

	"hybrid/graph"
	"hybrid/graph/collective"
)

// heat2d is a two-dimensional halo exchange on a periodic grid of 9 x 8 ranks:
// each iteration computes, exchanges four halos in one composite and reduces one
// number over the tree.
func heat2d(t testing.TB, trips int64) *graph.Graph {
	const nx, ny = 9, 8
	return makeGraph(t, graph.Blueprint, nx*ny, false, func(m *maker) {
		x, y := m.rank%nx, m.rank/nx
		at := func(x, y int64) int64 { return (y+ny)%ny*nx + (x+nx)%nx }
		near := [4]int64{at(x-1, y), at(x+1, y), at(x, y-1), at(x, y+1)}
		m.loop(trips, func(int32) {
			m.compute("compute", 25_000_000)
			for i, n := range near {
				m.recv("recv", n, 8000, m.tag(int64(i)), flag(graph.More))
			}
			for i := range near {
				mods := []mod{m.tag(int64(i ^ 1))}
				if i < 3 {
					mods = append(mods, flag(graph.More))
				}
				m.send("send", near[i], 8000, mods...)
			}
			m.collective("sum", graph.AllReduce, "tree", 0, 8)
		})
	})
}

// instantly runs a cursor to its end with operations that complete as soon as they
// are issued, in order, and returns how many were issued.
func instantly(c *Cursor, queue []Issue) (int64, []Issue) {
	queue = c.Start(0, queue[:0])
	n := int64(0)
	for head := 0; head < len(queue); head++ {
		h := queue[head].Handle
		n++
		if head+1 == len(queue) { // nothing behind: start the buffer anew
			queue, head = queue[:0], -1
		}
		queue = c.Done(h, 0, queue)
	}
	return n, queue
}

// chainOf is a trace of one rank: pairs of computes, each of which waits for the pair
// before it, a message to itself after every pair.
func chainOf(t testing.TB, pairs int) *graph.Graph {
	return makeGraph(t, graph.Chakra, 1, true, func(m *maker) {
		before := []int32{m.join("begin"), m.join("begin")}
		for range pairs {
			x, y := m.compute("x", 1, on(before...)), m.compute("y", 2, on(before...))
			before = []int32{m.send("s", 0, 8, on(x, y)), m.recv("r", 0, 8, on(x))}
		}
	})
}

// loopOf computes and sends to itself without waiting, again and again.
func loopOf(t testing.TB, trips int64) *graph.Graph {
	return one(t, func(m *maker) {
		m.loop(trips, func(int32) {
			m.compute("compute", 1)
			m.recv("recv", 0, 8, flag(graph.More))
			m.send("send", 0, 8)
		})
	})
}

// callsOf is an AllReduce over 1,024 ranks again and again, with a barrier before each.
func callsOf(t testing.TB, algorithm string) *graph.Graph {
	return makeGraph(t, graph.Blueprint, 1024, false, func(m *maker) {
		m.loop(1000, func(int32) { m.collective("ar", graph.AllReduce, algorithm, 0, 1<<20, flag(graph.Synchronize)) })
	})
}

// BenchmarkCursor measures the cost of an issue and its completion.
func BenchmarkCursor(b *testing.B) {
	for _, c := range []struct {
		name  string
		g     *graph.Graph
		ranks int
	}{
		{"form=flat", chainOf(b, 10_000), 1},
		{"form=loop", loopOf(b, 10_000), 1},
		{"form=mixed", heat2d(b, 100), 72},
		{"form=flat/collective=ring", allReduce(b, 1024, "ring", 1<<20, graph.Synchronize), 4},
		{"form=loop/collective=tree", callsOf(b, "tree"), 16},
		{"form=loop/collective=halving-doubling", callsOf(b, "halving-doubling"), 16},
	} {
		b.Run(c.name, func(b *testing.B) {
			algs := collective.NewTable()
			var queue []Issue
			issues := int64(0)
			for b.Loop() {
				for r := range c.ranks {
					n, q := instantly(NewCursor(Config{Graph: c.g}, algs, r), queue)
					queue, issues = q, issues+n
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(issues), "ns/issue")
		})
	}
}

// BenchmarkCheck measures the untimed run, matching included.
func BenchmarkCheck(b *testing.B) {
	g := heat2d(b, 100)
	ops := int64(0)
	for b.Loop() {
		r := Check(g, CheckOptions{AllRendezvous: true})
		if !r.OK() {
			b.Fatal(r.Verdict)
		}
		ops += r.Ops
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(ops), "ns/op")
}

// TestSteadyStateAllocatesNothing: iterations of a loop with messages, streams,
// labels and collectives reuse what the first ones made.
func TestSteadyStateAllocatesNothing(t *testing.T) {
	g := makeGraph(t, graph.Blueprint, 4, false, func(m *maker) {
		s, x := m.Stream("s"), m.Label("x")
		m.loop(1_000_000, func(slot int32) {
			m.compute("a", 1)
			m.computeFor("b", m.r.Expr(counter(slot)), async, stream(s), label(x))
			m.recv("r", (m.rank+3)%4, 8, flag(graph.More))
			m.send("s", (m.rank+1)%4, 8)
			m.collective("c", graph.AllReduce, "ring", 0, 8, flag(graph.Synchronize), after(latest(x)))
			m.collective("d", graph.AllReduce, "double-tree", 0, 8, async)
			m.join("w", flag(graph.WaitAll), after(graph.Dep{Mode: graph.DepPrev, Target: x, Back: 1}))
		})
	})
	c := NewCursor(Config{Graph: g}, collective.NewTable(), 2)
	queue := c.Start(0, nil)
	head := 0
	iterations := func() {
		for range 500 {
			h := queue[head].Handle
			if head++; head == len(queue) {
				queue, head = queue[:0], 0
			}
			queue = c.Done(h, 0, queue)
		}
	}
	iterations()
	if n := testing.AllocsPerRun(20, iterations); n != 0 || c.Err() != nil {
		t.Errorf("%v allocations, error %v", n, c.Err())
	}
}
