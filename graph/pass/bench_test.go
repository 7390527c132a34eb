package pass

import (
	"fmt"
	"testing"

	"hybrid/graph"
	"hybrid/internal/diag"
)

// training is n ranks in pairs: layers of compute, an AllReduce of all, one of the pair
// and a message round the ring, with recorded orders.
func training(b *testing.B, n, layers int) *graph.Graph {
	w := graph.NewBuilder("training", graph.Chakra, n)
	site := w.Site(graph.Site{Text: "op"})
	for rank := range n {
		pair := w.Group(fmt.Sprint("pair", rank/2), []int32{int32(rank &^ 1), int32(rank | 1)})
		r := w.Rank(rank, true)
		var last int32
		var all, two []int32
		add := func(op graph.Op, deps ...int32) int32 {
			op.Site, op.Label = site, -1
			var d []graph.Dep
			for _, t := range deps {
				d = append(d, graph.Dep{Target: t})
			}
			return r.Op(op, d...)
		}
		last = add(graph.Op{Kind: graph.Join})
		for k := range int64(layers) {
			c := add(graph.Op{Kind: graph.Compute, Arg: r.Work(graph.Work{Time: r.Int(1000)})}, last)
			call := graph.Op{Kind: graph.Collective, Flags: graph.Eager, Index: r.Int(k), Size: r.Int(1 << 20), Arg: r.Call(graph.Call{Type: graph.AllReduce})}
			all = append(all, add(call, c))
			call.Tag = r.Int(int64(pair))
			two = append(two, add(call, c))
			s := add(graph.Op{Kind: graph.Send, Flags: graph.Eager, Peer: r.Int(int64((rank + 1) % n)), Tag: r.Int(k)}, c)
			last = add(graph.Op{Kind: graph.Recv, Peer: r.Int(int64((rank + n - 1) % n)), Tag: r.Int(k)}, s)
		}
		r.Chain(all)
		r.Chain(two)
		r.Done()
	}
	g, err := w.Finish()
	if err != nil {
		b.Fatal(err)
	}
	return g
}

// BenchmarkOrdering measures both ordering options, in time for each operation of each
// rank.
func BenchmarkOrdering(b *testing.B) {
	for _, n := range []int{16, 256} {
		b.Run(fmt.Sprintf("ranks=%d/layers=200", n), func(b *testing.B) {
			ops := 0
			for b.Loop() {
				b.StopTimer()
				g := training(b, n, 200)
				b.StartTimer()
				opt := &Options{Serialize: true, Synchronize: true}
				var list diag.List
				serialize(g, opt, &list)
				synchronize(g, opt, &list)
				if list.Len() > 0 {
					b.Fatal(list.All())
				}
				ops += n * (1 + 5*200)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(ops), "ns/operation")
		})
	}
}
