package des

import (
	"testing"
	"time"

	"hybrid/graph"
)

// computeLoop lets every rank compute again and again.
func computeLoop(t testing.TB, ranks int, times int64) *graph.Graph {
	b := newBuilder(t, ranks)
	for i := range ranks {
		r := b.Rank(i, false)
		r.BeginLoop(b.site(graph.Loop), r.Int(times))
		b.compute(r, 1_000_000, 0)
		r.EndLoop(b.site(graph.End))
		r.Done()
	}
	return b.graph()
}

// computeChain is a trace: every rank computes, one operation after the other.
func computeChain(t testing.TB, ranks, length int) *graph.Graph {
	b := newBuilder(t, ranks)
	site := b.site(graph.Compute)
	for i := range ranks {
		r := b.Rank(i, true)
		w := r.Work(graph.Work{Model: graph.Fixed, Time: r.Int(1_000_000)})
		for op := range length {
			r.Op(graph.Op{Kind: graph.Compute, Site: site, Arg: w, Label: -1}, deps(before(op)...)...)
		}
		r.Done()
	}
	return b.graph()
}

func before(op int) []int32 {
	if op == 0 {
		return nil
	}
	return []int32{int32(op) - 1}
}

// shiftLoop lets every rank send nothing to the next one, again and again.
func shiftLoop(t testing.TB, ranks int, times int64) *graph.Graph {
	b := newBuilder(t, ranks)
	for i := range ranks {
		r := b.Rank(i, false)
		r.BeginLoop(b.site(graph.Loop), r.Int(times))
		op := func(k graph.Kind, flags graph.Flags, peer int) {
			r.Op(graph.Op{Kind: k, Flags: flags, Site: b.site(k), Peer: r.Int(int64(peer)), Tag: r.Int(0), Size: r.Int(0), Label: -1})
		}
		op(graph.Recv, graph.More, (i+ranks-1)%ranks)
		op(graph.Send, 0, (i+1)%ranks)
		r.EndLoop(b.site(graph.End))
		r.Done()
	}
	return b.graph()
}

// BenchmarkReplay is the cost of an operation beside the network: programs that send no
// packet, through cursor, matcher, processors and windows.
func BenchmarkReplay(b *testing.B) {
	const star = "star"
	for _, c := range []struct {
		name    string
		perNode int
		ops     int64
		g       func() *graph.Graph
	}{
		{"program=compute-loop/ranks=1", 1, 40_000, func() *graph.Graph { return computeLoop(b, 1, 40_000) }},
		{"program=compute-loop/ranks=4", 1, 4 * 10_000, func() *graph.Graph { return computeLoop(b, 4, 10_000) }},
		{"program=compute-loop/ranks=64", 8, 64 * 600, func() *graph.Graph { return computeLoop(b, 64, 600) }},
		{"program=compute-chain/ranks=4", 1, 4 * 10_000, func() *graph.Graph { return computeChain(b, 4, 10_000) }},
		{"program=local-sends/ranks=8", 8, 8 * 2 * 2_000, func() *graph.Graph { return shiftLoop(b, 8, 2_000) }},
		{"program=local-ring/ranks=64", 64, 64 * 2 * 2 * 63 * 2, func() *graph.Graph { return repeated(b, 64, graph.AllReduce, "ring", 64*1024, 2) }},
		{"program=local-tree/ranks=64", 64, (2*2*63 + 64) * 150, func() *graph.Graph { return repeated(b, 64, graph.AllReduce, "tree", 1024, 150) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			j := job(b, c.g(), network(b, star, "{rate: 400Gbps, delay: 1us}", roce), c.perNode)
			least := time.Duration(1 << 62)
			var windows int64
			for b.Loop() {
				res := finished(b, j)
				least, windows = min(least, res.Wall), res.Windows
				if res.PacketHops != 0 || res.Messages > c.ops {
					b.Fatal(res.PacketHops, "packet-hops", res.Messages, "messages")
				}
			}
			b.ReportMetric(float64(least.Nanoseconds())/float64(c.ops), "ns/operation")
			b.ReportMetric(float64(windows), "windows")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// repeated runs the same collective on all ranks, again and again.
func repeated(t testing.TB, ranks int, typ graph.CollType, algorithm string, bytes, times int64) *graph.Graph {
	b := newBuilder(t, ranks)
	for i := range ranks {
		r := b.Rank(i, false)
		r.BeginLoop(b.site(graph.Loop), r.Int(times))
		b.collective(r, typ, algorithm, bytes)
		r.EndLoop(b.site(graph.End))
		r.Done()
	}
	return b.graph()
}
