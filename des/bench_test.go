package des

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"syscall"
	"testing"

	"hybrid/graph"
)

// permutation lets every rank send one message to another, each receiving one.
func permutation(t testing.TB, ranks int, bytes int64) *graph.Graph {
	to := rand.New(rand.NewPCG(1, 2)).Perm(ranks)
	for i := range to { // nobody to itself
		if to[i] == i {
			j := (i + 1) % ranks
			to[i], to[j] = to[j], to[i]
		}
	}
	from := make([]int, ranks)
	for i, d := range to {
		from[d] = i
	}
	b := newBuilder(t, ranks)
	for i := range ranks {
		r := b.Rank(i, true)
		b.send(r, int64(to[i]), 0, bytes, 0)
		b.recv(r, int64(from[i]), 0, bytes)
		r.Done()
	}
	return b.graph()
}

func cpuSeconds() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return float64(u.Utime.Sec+u.Stime.Sec) + float64(u.Utime.Usec+u.Stime.Usec)/1e6
}

// BenchmarkPermutation is one 2 MB message per host across a fat tree with RoCE: rates
// in packet-hops, data and acknowledgements alike.
func BenchmarkPermutation(b *testing.B) {
	for _, c := range []struct{ k, threads int }{{8, 1}, {8, 2}, {16, 1}, {16, 2}} {
		hosts := c.k * c.k * c.k / 4
		b.Run(fmt.Sprintf("hosts=%d/threads=%d", hosts, c.threads), func(b *testing.B) {
			n := network(b, fmt.Sprintf("{kind: fat-tree, k: %d}", c.k), "{rate: 400Gbps, delay: 1us}", roce)
			j := job(b, permutation(b, hosts, 2_000_000), n, 1)
			j.Threads = c.threads
			var hops, packets int64
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			cpu := cpuSeconds()
			b.ResetTimer()
			for range b.N {
				res := finished(b, j)
				hops += res.PacketHops
				packets += res.Packets
			}
			b.StopTimer()
			cpu = cpuSeconds() - cpu
			runtime.ReadMemStats(&after)
			b.ReportMetric(float64(hops)/cpu/1e6, "Mhops/cpu-s")
			b.ReportMetric(float64(hops)/b.Elapsed().Seconds()/1e6, "Mhops/s")
			b.ReportMetric(float64(after.Mallocs-before.Mallocs)/float64(packets), "allocs/packet")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// stencil is a halo exchange with four neighbours on a torus of ranks, a compute step
// and an allreduce of 8 B, repeated.
func stencil(t testing.TB, rows, cols int, steps int64) *graph.Graph {
	b := newBuilder(t, rows*cols)
	wrap := func(i, n int) int { return (i + n) % n }
	for i := range rows * cols {
		r := b.Rank(i, false)
		y, x := i/cols, i%cols
		r.BeginLoop(b.site(graph.Loop), r.Int(steps))
		b.compute(r, 10_000_000, 0)
		for tag, at := range [][2]int{{y - 1, x}, {y + 1, x}, {y, x - 1}, {y, x + 1}} {
			peer := int64(wrap(at[0], rows)*cols + wrap(at[1], cols))
			r.Op(graph.Op{Kind: graph.Recv, Flags: graph.Async, Site: b.site(graph.Recv), Peer: r.Int(peer), Tag: r.Int(int64(tag ^ 1)), Size: r.Int(8192), Label: -1})
			r.Op(graph.Op{Kind: graph.Send, Flags: graph.Async, Site: b.site(graph.Send), Peer: r.Int(peer), Tag: r.Int(int64(tag)), Size: r.Int(8192), Label: -1})
		}
		r.Op(graph.Op{Kind: graph.Join, Flags: graph.WaitAll, Site: b.site(graph.Join), Label: -1})
		b.collective(r, graph.AllReduce, "tree", 8)
		r.EndLoop(b.site(graph.End))
		r.Done()
	}
	return b.graph()
}

// BenchmarkStencil is 72 ranks, several to a node, that exchange small messages: the
// speed of the host side, in operations and in packet-hops.
func BenchmarkStencil(b *testing.B) {
	for _, perNode := range []int{1, 8} {
		b.Run(fmt.Sprintf("ranks=72/per-node=%d", perNode), func(b *testing.B) {
			const steps = 200
			j := job(b, stencil(b, 9, 8, steps), network(b, "{kind: fat-tree, k: 8}", "{rate: 200Gbps, delay: 500ns}", roce), perNode)
			j.SendOverhead, j.ReceiveOverhead = 500_000, 500_000
			var messages, hops int64
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			cpu := cpuSeconds()
			for range b.N {
				res := finished(b, j)
				messages += res.Messages
				hops += res.PacketHops
			}
			cpu = cpuSeconds() - cpu
			runtime.ReadMemStats(&after)
			b.ReportMetric(float64(messages)/cpu/1e6, "Mmessages/cpu-s")
			b.ReportMetric(float64(hops)/cpu/1e6, "Mhops/cpu-s")
			b.ReportMetric(float64(after.Mallocs-before.Mallocs)/float64(messages), "allocs/message")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkAllToAll is every host to every other: 16,256 queue pairs on 128 hosts.
func BenchmarkAllToAll(b *testing.B) {
	for _, algorithm := range []string{"sequential", "interleaved"} {
		b.Run("hosts=128/algorithm="+algorithm, func(b *testing.B) {
			j := job(b, everyone(b, 128, graph.AllToAll, algorithm, 128*65536), network(b, "{kind: fat-tree, k: 8}", "{rate: 400Gbps, delay: 1us}", roce), 1)
			var packets, hops int64
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			cpu := cpuSeconds()
			for range b.N {
				res := finished(b, j)
				packets += res.Packets
				hops += res.PacketHops
			}
			cpu = cpuSeconds() - cpu
			runtime.ReadMemStats(&after)
			b.ReportMetric(float64(hops)/cpu/1e6, "Mhops/cpu-s")
			b.ReportMetric(float64(after.Mallocs-before.Mallocs)/float64(packets), "allocs/packet")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkSwitches is the permutation with switches that have a packet memory: lossless
// data, acknowledgements of a higher class, marks.
func BenchmarkSwitches(b *testing.B) {
	for _, c := range []struct {
		k    int
		name string
		keys string
	}{
		{8, "fifo", ""}, {8, "unlimited", "buffer: 1TB"}, {8, "pfc", shared}, {8, "tight", tight}, {16, "pfc", shared}, {8, "cut-through", "forwarding: cut-through"}, {8, "paced", "classes: [{rate: 399Gbps}, {}]"},
	} {
		hosts := c.k * c.k * c.k / 4
		b.Run(fmt.Sprintf("hosts=%d/%s", hosts, c.name), func(b *testing.B) {
			more := "  switch: {" + c.keys + "}\n" + roce
			j := job(b, permutation(b, hosts, 2_000_000), network(b, fmt.Sprintf("{kind: fat-tree, k: %d}", c.k), "{rate: 400Gbps, delay: 1us}", more), 1)
			var hops int64
			cpu := cpuSeconds()
			for range b.N {
				hops += finished(b, j).PacketHops
			}
			cpu = cpuSeconds() - cpu
			b.ReportMetric(float64(hops)/cpu/1e6, "Mhops/cpu-s")
			b.ReportMetric(0, "ns/op")
		})
	}
}

const (
	shared = "buffer: 64MB, headroom: 256KB, classes: [{share: 9}, {}], pfc: {xoff: 700KB, xon: 300KB}, ecn: {kmin: 400KB, kmax: 1600KB, pmax: 0.2}"
	tight  = "buffer: 64MB, headroom: 256KB, classes: [{share: 9}, {}], pfc: {xoff: 60KB, xon: 48KB}, ecn: {kmin: 20KB, kmax: 40KB, pmax: 0.2}"
)
