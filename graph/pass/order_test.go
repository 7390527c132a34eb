package pass

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"hybrid/graph"
	"hybrid/internal/diag"
)

// chained builds a flat program of n operations with the given edges, whose
// recorded issue order is chain.
func chained(t *rapid.T, n int, edges [][2]int32, chain []int32) *graph.Graph {
	b := graph.NewBuilder("test", graph.Chakra, 1)
	site := b.Site(graph.Site{Text: "op"})
	r := b.Rank(0, true)
	for i := range n {
		var deps []graph.Dep
		for _, e := range edges {
			if e[1] == int32(i) {
				deps = append(deps, graph.Dep{Target: e[0]})
			}
		}
		r.Op(graph.Op{Kind: graph.Join, Site: site, Label: -1}, deps...)
	}
	r.Chain(chain)
	r.Done()
	g, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestSerializeAgainstReachability: each operation of the chain waits for the last of
// those before it that it does not lead to, asking a plain search each time. In the end
// the chain is one sequence, whatever the dependencies are.
func TestSerializeAgainstReachability(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 25).Draw(t, "operations")
		order := rapid.Permutation(seq(n)).Draw(t, "topological order")
		var edges [][2]int32
		next := make([][]int32, n)
		for range rapid.IntRange(0, 2*n).Draw(t, "edges") {
			a, b := rapid.IntRange(0, n-1).Draw(t, "from"), rapid.IntRange(0, n-1).Draw(t, "to")
			if a < b {
				edges = append(edges, [2]int32{order[a], order[b]})
				next[order[a]] = append(next[order[a]], order[b])
			}
		}
		chain := rapid.Permutation(seq(n)).Draw(t, "chain")
		want := map[[2]int32]bool{}
		left := 0
		var done []int32
		for _, op := range chain {
			at := 0
			for at < len(done) && !reaches(next, op, done[at]) {
				at++
			}
			if at < len(done) {
				left++
			}
			if at > 0 {
				want[[2]int32{done[at-1], op}] = true
				next[done[at-1]] = append(next[done[at-1]], op)
			}
			done = slices.Insert(done, at, op)
		}
		for i := 1; i < n; i++ {
			if !reaches(next, done[i-1], done[i]) {
				t.Fatalf("%d does not come before %d", done[i-1], done[i])
			}
		}
		g := chained(t, n, edges, chain)
		var list diag.List
		serialize(g, &Options{Serialize: true}, &list)
		p := g.Programs[0]
		got := map[[2]int32]bool{}
		for i := range p.Ops {
			for _, d := range p.OpDeps(int32(i)) {
				got[[2]int32{d.Target, int32(i)}] = true
			}
		}
		for e := range want {
			if !got[e] {
				t.Fatalf("no edge %v", e)
			}
			delete(got, e)
		}
		for _, e := range edges {
			delete(got, e)
		}
		if len(got) != 0 {
			t.Fatalf("edges %v that nobody asked for", got)
		}
		warned := 0
		for _, d := range list.All() {
			warned += 1 + d.Count
		}
		if warned != left {
			t.Fatalf("%d warnings for %d edges left out", warned, left)
		}
		if newOrder(p) == nil {
			t.Fatal("the result has a cycle")
		}
	})
}

func seq(n int) []int32 {
	out := make([]int32, n)
	for i := range out {
		out[i] = int32(i)
	}
	return out
}

func reaches(next [][]int32, from, to int32) bool {
	seen := make([]bool, len(next))
	var visit func(n int32) bool
	visit = func(n int32) bool {
		if n == to {
			return true
		}
		if seen[n] {
			return false
		}
		seen[n] = true
		for _, d := range next[n] {
			if visit(d) {
				return true
			}
		}
		return false
	}
	return visit(from)
}

// A program that is cyclic already is left as it is: the run reports it.
func TestSerializeLeavesCycles(t *testing.T) {
	b := graph.NewBuilder("test", graph.Chakra, 1)
	site := b.Site(graph.Site{})
	r := b.Rank(0, true)
	r.Op(graph.Op{Kind: graph.Join, Site: site, Label: -1}, graph.Dep{Target: 1})
	r.Op(graph.Op{Kind: graph.Join, Site: site, Label: -1}, graph.Dep{Target: 0})
	r.Op(graph.Op{Kind: graph.Join, Site: site, Label: -1})
	r.Chain([]int32{2, 0})
	r.Done()
	g, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	var list diag.List
	serialize(g, &Options{Serialize: true}, &list)
	if list.Len() != 0 || len(g.Programs[0].Deps) != 2 {
		t.Errorf("%d findings, %d dependencies", list.Len(), len(g.Programs[0].Deps))
	}
}
