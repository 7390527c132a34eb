package analytic

import (
	"context"
	"runtime"
	"syscall"
	"testing"
	"time"

	"hybrid/graph"
)

// heat2d is a two-dimensional stencil on a periodic grid of 6 by 12 ranks: in each
// step a sweep, the exchange of four halos and an all-reduce of 8 B over a tree.
func heat2d(t fataler, steps, sweep int64) *graph.Graph {
	const py, px = 12, 6
	b := newBuilder(px * py)
	at := func(x, y int) int { return (y+py)%py*px + (x+px)%px }
	for r := range px * py {
		p := b.rank(r, false)
		x, y := r%px, r/px
		p.BeginLoop(p.site, p.Int(steps))
		p.calc(sweep)
		p.flags = graph.More
		for i, n := range []int{at(x-1, y), at(x+1, y), at(x, y-1), at(x, y+1)} {
			p.recv(haloBytes(i), n, i)
		}
		for i, n := range []int{at(x+1, y), at(x-1, y), at(x, y+1), at(x, y-1)} {
			if i == 3 {
				p.flags = 0
			}
			p.send(haloBytes(i), n, i)
		}
		p.collective(graph.AllReduce, "tree", 0, 8)
		p.EndLoop(p.site)
		p.Done()
	}
	return b.finish(t)
}

func haloBytes(side int) int64 { return []int64{10928, 10928, 21848, 21848}[side] }

// instances counts computations, transfer ends of the halo and of the tree in one
// step of heat2d: 72 * (1 + 8) + 2 * 2 * 71.
const instances = 72*9 + 4*71

func BenchmarkWalk(b *testing.B) {
	for _, m := range Models() {
		b.Run("workload=heat2d/model="+m.Name, func(b *testing.B) {
			const steps = 1000
			g := heat2d(b, steps, 200*ns*1000)
			job := Job{Graph: g, Network: setB.network()}
			b.ReportAllocs()
			began := processorTime(b)
			for b.Loop() {
				r, err := m.Run(context.Background(), job)
				if err != nil || !r.Verdict.OK() {
					b.Fatal(err, r.Verdict)
				}
				b.ReportMetric(float64(r.Events)/float64(steps*instances), "events/op")
			}
			b.ReportMetric(float64(steps*instances)*float64(b.N)/(processorTime(b)-began).Seconds(), "ops/s")
		})
	}
}

// processorTime is the user time of the process: a busy machine does not change it.
func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano())
}

// Memory follows what is in flight: ten times the steps do not need more.
func TestMemoryIndependentOfSteps(t *testing.T) {
	live := func(steps int64) (bytes, mallocs uint64) {
		g := heat2d(t, steps, 100*ns*1000)
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		r := run(t, "loggp", Job{Graph: g, Network: setB.network()})
		runtime.ReadMemStats(&after)
		runtime.KeepAlive(r)
		return after.TotalAlloc - before.TotalAlloc, after.Mallocs - before.Mallocs
	}
	few, fewMallocs := live(200)
	many, manyMallocs := live(2000)
	// The totals ever allocated may differ by what the runtime does beside the test,
	// not by anything that grows with the 1.7 million further operations.
	if many > few+few/4 || manyMallocs > fewMallocs+2000 {
		t.Errorf("200 steps allocate %d B in %d objects, 2000 steps %d B in %d", few, fewMallocs, many, manyMallocs)
	}
}

// Patterns in which much waits: 1.05 million messages each.
func BenchmarkPattern(b *testing.B) {
	for _, q := range []struct {
		name  string
		ranks int
	}{{"linear_alltoall", 1024}, {"dissemination", 65536}} {
		b.Run("pattern="+q.name, func(b *testing.B) {
			g := patternGraph(b, q.name, q.ranks, 1024)
			m, _ := Find("loggp")
			b.ReportAllocs()
			for b.Loop() {
				r, err := m.Run(context.Background(), Job{Graph: g, Network: setA.network()})
				if err != nil || !r.Verdict.OK() {
					b.Fatal(err, r.Verdict)
				}
				b.ReportMetric(float64(r.Messages), "messages")
			}
		})
	}
}
