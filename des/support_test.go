package des

import (
	"context"
	"fmt"
	"testing"

	"hybrid/graph"
	"hybrid/graph/replay"
	"hybrid/internal/diag"
	"hybrid/networks"
)

// fixed prices fixed work: its time, no traffic.
type fixed struct{}

func (fixed) Price(_ *graph.Program, w *graph.Work) (graph.Cost, error) {
	return graph.Cost{Terms: []graph.Term{{V: w.Time, Num: 1, Den: 1}}}, nil
}

// network parses a network with the given topology, link and further sections.
func network(t testing.TB, topology, link, more string) *networks.Network {
	t.Helper()
	src := fmt.Sprintf("name: test\nsummary: s\nsource: s\nlevels:\n  inter_node:\n    eager_limit: 1TiB\n    hockney: {latency: 1us, bandwidth: 50GB/s}\n    loggp: {L: 1us, o: 0ns, g: 0ns, G: 0.02ns/B, O: 0ns/B}\n"+
		"  intra_chip:\n    eager_limit: 64KiB\n    hockney: {latency: 200ns, bandwidth: 10GB/s}\n    loggp: {L: 1us, o: 0ns, g: 0ns, G: 0.02ns/B, O: 0ns/B}\n"+
		"topology: %s\nfabric:\n  link: %s\n%s\n", topology, link, more)
	var list diag.List
	n := networks.Parse("test.yml", []byte(src), nil, &list)
	if n == nil {
		t.Fatalf("network: %v\n%s", list.Err(), src)
	}
	n.Source = src // for variants of the network
	return n
}

const roce = "  wire: rocev2\n  mtu: 4096B\nnic: {transport: roce}"

// job makes a job of a graph on a network with the given number of ranks per node.
func job(t testing.TB, g *graph.Graph, n *networks.Network, perNode int) Job {
	t.Helper()
	p, err := networks.NewPlacement(g.Ranks, networks.PlacementOptions{RanksPerNode: perNode})
	if err != nil {
		t.Fatal(err)
	}
	var list diag.List
	topo := n.Topology(p.Nodes, &list)
	if topo == nil {
		t.Fatal(list.Err())
	}
	return Job{Graph: g, Network: n, Topology: topo, Placement: p, Threads: 1, EndWithAck: true}
}

func simulate(t testing.TB, j Job) *replay.Result {
	t.Helper()
	res, err := Run(context.Background(), j)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// finished simulates and demands that everything ended.
func finished(t testing.TB, j Job) *replay.Result {
	t.Helper()
	res := simulate(t, j)
	if !res.Verdict.OK() {
		t.Fatalf("verdict %+v", res.Verdict)
	}
	return res
}

// builder makes graphs of flat programs.
type builder struct {
	*graph.Builder
	t testing.TB
}

func newBuilder(t testing.TB, ranks int) builder {
	return builder{graph.NewBuilder("test", graph.Chakra, ranks), t}
}

func (b builder) site(k graph.Kind) int32 { return b.Site(graph.Site{Kind: k, Text: k.String()}) }

func (b builder) graph() *graph.Graph {
	b.t.Helper()
	g, err := b.Finish()
	if err != nil {
		b.t.Fatal(err)
	}
	graph.Price(g, fixed{}, func(_ int32, err error) { b.t.Fatal(err) })
	return g
}

func deps(on ...int32) []graph.Dep {
	var d []graph.Dep
	for _, o := range on {
		d = append(d, graph.Dep{Target: o})
	}
	return d
}

func (b builder) send(r *graph.RankBuilder, to, tag, bytes int64, flags graph.Flags, on ...int32) int32 {
	return r.Op(graph.Op{Kind: graph.Send, Flags: flags, Site: b.site(graph.Send), Peer: r.Int(to), Tag: r.Int(tag), Size: r.Int(bytes), Label: -1}, deps(on...)...)
}

func (b builder) recv(r *graph.RankBuilder, from, tag, bytes int64, on ...int32) int32 {
	return r.Op(graph.Op{Kind: graph.Recv, Site: b.site(graph.Recv), Peer: r.Int(from), Tag: r.Int(tag), Size: r.Int(bytes), Label: -1}, deps(on...)...)
}

func (b builder) compute(r *graph.RankBuilder, ps int64, flags graph.Flags, on ...int32) int32 {
	w := r.Work(graph.Work{Model: graph.Fixed, Time: r.Int(ps)})
	return r.Op(graph.Op{Kind: graph.Compute, Flags: flags, Site: b.site(graph.Compute), Arg: w, Label: -1}, deps(on...)...)
}

func (b builder) collective(r *graph.RankBuilder, t graph.CollType, algorithm string, bytes int64) int32 {
	c := r.Call(graph.Call{Type: t, Algorithm: algorithm})
	return r.Op(graph.Op{Kind: graph.Collective, Site: b.Site(graph.Site{Kind: graph.Collective}), Peer: r.Int(0), Tag: r.Int(0), Size: r.Int(bytes), Arg: c, Index: r.Int(0), Label: -1})
}

// one sends one message from rank 0 to the last rank.
func one(t testing.TB, ranks int, bytes int64) *graph.Graph {
	b := newBuilder(t, ranks)
	r := b.Rank(0, true)
	b.send(r, int64(ranks-1), 1, bytes, 0)
	r.Done()
	r = b.Rank(ranks-1, true)
	b.recv(r, 0, 1, bytes)
	r.Done()
	return b.graph()
}

// everyone runs the same collective on all ranks.
func everyone(t testing.TB, ranks int, typ graph.CollType, algorithm string, bytes int64) *graph.Graph {
	b := newBuilder(t, ranks)
	for i := range ranks {
		r := b.Rank(i, true)
		b.collective(r, typ, algorithm, bytes)
		r.Done()
	}
	return b.graph()
}

func add(a, b [5]int64) [5]int64 {
	for i := range a {
		a[i] += b[i]
	}
	return a
}
