package main

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"hybrid/analytic"
	"hybrid/des"
	"hybrid/graph"
	"hybrid/graph/replay"
	"hybrid/internal/diag"
	"hybrid/networks"
)

// Where every ordered pair of ranks exchanges at most one message, an ideal network has
// no contention: each link carries one message in the whole run. Then the packet engine
// and Hockney's formula, which share no code that times a message, must agree on every
// rank and every operation, to the tick.
func TestEnginesAgreeWithoutContention(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := contentionFree(t)
		var list diag.List
		n := networks.Load("ideal", []string{
			"fabric.link.rate=" + rapid.SampledFrom([]string{"400Gbps", "900GB/s", "429496729600bps"}).Draw(t, "rate"), "fabric.link.delay=500ns"}, &list)
		if n == nil {
			t.Fatal(list.Err())
		}
		n.Levels[networks.InterNode].Hockney = []networks.HockneyPiece{{Latency: 500_000, PerByte: n.Fabric.Link.PerByte}}
		family := rapid.SampledFrom([]string{"synthesized", "collected"}).Draw(t, "family")
		place, err := networks.NewPlacement(g.Ranks, networks.PlacementOptions{})
		if err != nil {
			t.Fatal(err)
		}
		packet, err := des.Run(t.Context(), des.Job{Graph: g, Network: n, Topology: n.Topology(g.Ranks, &list), Placement: place,
			Ideal: true, Family: family, Threads: rapid.IntRange(1, 2).Draw(t, "threads")})
		if err != nil {
			t.Fatal(err)
		}
		hockney, _ := analytic.Find("hockney")
		model, err := hockney.Run(t.Context(), analytic.Job{Graph: g, Network: n, Placement: place, Family: family})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(timesOf(model), timesOf(packet)); diff != "" {
			t.Errorf("Hockney (-) and the packet engine (+) differ:\n%s", diff)
		}
	})
}

// times are what must be equal.
type times struct {
	Outcome  string
	PerPS    int64
	Makespan int64
	Ranks    []replay.RankTimes
	Sites    []replay.SiteTimes
	Messages int64
}

func timesOf(r *replay.Result) times {
	return times{r.Verdict.Outcome.String(), r.Clock.PerPS, r.Makespan, r.Ranks, r.Sites, r.Messages}
}

// contentionFree draws a graph of flat programs: operations in one global order, each
// depending on some earlier ones of its rank, every ordered pair of ranks used once at
// most.
func contentionFree(t *rapid.T) *graph.Graph {
	ranks := rapid.IntRange(2, 6).Draw(t, "ranks")
	b := graph.NewBuilder("random", graph.Chakra, ranks)
	programs := make([]*graph.RankBuilder, ranks)
	for r := range programs {
		programs[r] = b.Rank(r, true)
	}
	site := func(kind graph.Kind, rank int) int32 {
		return b.Site(graph.Site{Kind: kind, Name: fmt.Sprint(kind, rank, programs[rank].Len())})
	}
	deps := func(r int) []graph.Dep {
		var d []graph.Dep
		for i := range programs[r].Len() {
			if rapid.IntRange(0, 3).Draw(t, "dep") == 0 {
				d = append(d, graph.Dep{Mode: graph.DepOp, Target: int32(i)})
			}
		}
		return d
	}
	var pairs [][2]int
	for s := range ranks {
		for d := range ranks {
			if s != d {
				pairs = append(pairs, [2]int{s, d})
			}
		}
	}
	pairs = rapid.Permutation(pairs).Draw(t, "pairs")
	for _, p := range pairs[:rapid.IntRange(0, len(pairs)).Draw(t, "messages")] {
		for range rapid.IntRange(0, 2).Draw(t, "computes") {
			r := rapid.IntRange(0, ranks-1).Draw(t, "rank")
			w := programs[r].Work(graph.Work{Time: programs[r].Int(rapid.Int64Range(0, 3_000_000).Draw(t, "time"))})
			flags := rapid.SampledFrom([]graph.Flags{0, 0, graph.HostCPU}).Draw(t, "flags")
			programs[r].Op(graph.Op{Kind: graph.Compute, Flags: flags, Site: site(graph.Compute, r), Arg: w, Label: -1}, deps(r)...)
		}
		s, d := p[0], p[1]
		size := rapid.SampledFrom([]int64{0, 1, 4096, 100_000, 3_000_000}).Draw(t, "size")
		tag := rapid.Int64Range(0, 1).Draw(t, "tag")
		programs[s].Op(graph.Op{Kind: graph.Send, Flags: graph.Eager, Site: site(graph.Send, s), Peer: programs[s].Int(int64(d)),
			Tag: programs[s].Int(tag), Size: programs[s].Int(size), Label: -1}, deps(s)...)
		programs[d].Op(graph.Op{Kind: graph.Recv, Site: site(graph.Recv, d), Peer: programs[d].Int(int64(s)),
			Tag: programs[d].Int(tag), Size: programs[d].Int(size), Label: -1}, deps(d)...)
	}
	for _, p := range programs {
		p.Done()
	}
	g, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	graph.Price(g, fixedPrices{}, func(_ int32, err error) { t.Fatal(err) })
	return g
}

// fixedPrices prices works of a fixed time.
type fixedPrices struct{}

func (fixedPrices) Price(_ *graph.Program, w *graph.Work) (graph.Cost, error) {
	return graph.Cost{Terms: []graph.Term{{V: w.Time, Num: 1, Den: 1}}}, nil
}
