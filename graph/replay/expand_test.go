package replay

import (
	"maps"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"hybrid/graph"
	"hybrid/graph/collective"
)

// flatGraph draws the traces of a few ranks: random operations with random earlier
// dependencies, and collectives of random types that all ranks have in the same order.
func flatGraph(t *rapid.T, synchronize bool) *graph.Graph {
	table := collective.NewTable()
	ranks := rapid.IntRange(1, 6).Draw(t, "ranks")
	b := graph.NewBuilder("test", graph.Chakra, ranks)
	site := b.Site(graph.Site{Name: "op"})
	type called struct {
		alg   *collective.Algorithm
		root  int64
		bytes int64
	}
	all := slices.DeleteFunc(collective.All(), func(a collective.Algorithm) bool { return a.Fits(b.Graph().Groups[0]) != nil })
	calls := make([]called, rapid.IntRange(0, 4).Draw(t, "collectives"))
	for i := range calls {
		a := rapid.SampledFrom(all).Draw(t, "algorithm")
		calls[i] = called{table.Find(a.Type, a.Name), rapid.Int64Range(0, int64(ranks)-1).Draw(t, "root"), rapid.Int64Range(0, 1000).Draw(t, "bytes")}
	}
	for rank := range ranks {
		r := b.Rank(rank, true)
		add := func(op graph.Op) {
			op.Site, op.Label = site, -1
			var deps []graph.Dep
			if n := r.Len(); n > 0 {
				for _, d := range rapid.SliceOfNDistinct(rapid.IntRange(0, n-1), 0, min(n, 3), rapid.ID[int]).Draw(t, "deps") {
					deps = append(deps, graph.Dep{Target: int32(d)})
				}
			}
			r.Op(op, deps...)
		}
		for k := 0; ; k++ {
			for range rapid.IntRange(0, 3).Draw(t, "operations") {
				switch rapid.IntRange(0, 3).Draw(t, "kind") {
				case 0:
					add(graph.Op{Kind: graph.Join})
				case 1:
					add(graph.Op{Kind: graph.Send, Peer: r.Int(0), Size: r.Int(int64(r.Len()))})
				case 2:
					add(graph.Op{Kind: graph.Recv, Peer: r.Int(0), Tag: r.Int(7)})
				default:
					add(graph.Op{Kind: graph.Compute, Arg: r.Work(graph.Work{Time: r.Int(int64(r.Len()) * 1000)})})
				}
			}
			if k == len(calls) {
				break
			}
			c := &calls[k]
			op := graph.Op{Kind: graph.Collective, Flags: graph.Eager, Peer: r.Int(c.root), Size: r.Int(c.bytes), Index: r.Int(int64(k)),
				Arg: r.Call(graph.Call{Type: c.alg.Type, Algorithm: c.alg.Name})}
			if synchronize {
				op.Flags |= graph.Synchronize
			}
			add(op)
		}
		r.Done()
	}
	g, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	priceFixed(g)
	return g
}

// nodesOf copies the nodes of an expansion by id, and fails where an id comes twice or
// their number is not Len.
func nodesOf(t interface{ Fatalf(string, ...any) }, x *Expansion) map[uint64]ExpandedNode {
	nodes := map[uint64]ExpandedNode{}
	for n := range x.Nodes() {
		if _, twice := nodes[n.ID]; twice {
			t.Fatalf("two nodes have the id %d", n.ID)
		}
		c := *n
		c.Deps, c.Children = slices.Clone(n.Deps), slices.Clone(n.Children)
		nodes[n.ID] = c
	}
	if int64(len(nodes)) != x.Len() {
		t.Fatalf("%d nodes, but Len is %d", len(nodes), x.Len())
	}
	return nodes
}

// TestExpansionChildren: children are the inverse of dependencies, the ready list is
// what has none, and every node can be reached from it.
func TestExpansionChildren(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := flatGraph(t, rapid.Bool().Draw(t, "synchronize"))
		rank := rapid.IntRange(0, g.Ranks-1).Draw(t, "rank")
		x := NewExpansion(g, collective.NewTable(), rank)
		nodes := nodesOf(t, x)
		forward, backward := map[[2]uint64]int{}, map[[2]uint64]int{}
		var ready []uint64
		for id, n := range nodes {
			for _, d := range n.Deps {
				backward[[2]uint64{d, id}]++
			}
			for _, c := range n.Children {
				forward[[2]uint64{id, c}]++
			}
			if len(n.Deps) == 0 {
				ready = append(ready, id)
			}
		}
		if !maps.Equal(forward, backward) {
			t.Fatalf("children %v\ndependencies %v", forward, backward)
		}
		listed := x.AppendReady(nil)
		slices.Sort(listed)
		slices.Sort(ready)
		if !slices.Equal(listed, ready) {
			t.Fatalf("ready %v, want %v", listed, ready)
		}
		left := map[uint64]int{}
		for id, n := range nodes {
			left[id] = len(n.Deps)
		}
		for done := 0; ; done++ {
			if len(ready) == 0 {
				if done != len(nodes) {
					t.Fatalf("%d of %d nodes can be reached", done, len(nodes))
				}
				return
			}
			n := nodes[ready[0]]
			ready = ready[1:]
			for _, c := range n.Children {
				if left[c]--; left[c] == 0 {
					ready = append(ready, c)
				}
			}
		}
	})
}

// TestExpansionIsWhatTheCursorDoes: at any time a cursor has issued exactly the nodes
// whose dependencies are complete, with the operands of the nodes.
func TestExpansionIsWhatTheCursorDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := flatGraph(t, rapid.Bool().Draw(t, "synchronize"))
		rank := rapid.IntRange(0, g.Ranks-1).Draw(t, "rank")
		algs := collective.NewTable()
		x, c := NewExpansion(g, algs, rank), NewCursor(Config{Graph: g}, algs, rank)
		nodes := nodesOf(t, x)
		left, started, live := map[uint64]int{}, map[uint64]bool{}, []Issue{}
		var release func(id uint64)
		release = func(id uint64) { // a node may start; one that takes no time ends, too
			started[id] = true
			if n := nodes[id]; n.Kind == graph.Join {
				for _, child := range n.Children {
					if left[child]--; left[child] == 0 {
						release(child)
					}
				}
			}
		}
		issued := 0
		take := func(out []Issue) {
			for _, is := range out {
				var n ExpandedNode
				x.Node(&n, is.Op, is.Step, is.Sync)
				if !started[n.ID] {
					t.Fatalf("%v is issued before its dependencies are complete", is)
				}
				got := Issue{is.Handle, n.Op, n.Site, n.Step, n.Kind, n.Flags, n.Role == TransferNode, n.Sync, n.Peer, n.Tag, n.Context, n.Bytes, n.Duration}
				if got != is {
					t.Fatalf("node %+v\nissue %+v", got, is)
				}
				issued++
			}
			live = append(live, out...)
		}
		timed := 0
		for id, n := range nodes {
			left[id] = len(n.Deps)
			if n.Kind != graph.Join {
				timed++
			}
		}
		for _, id := range x.AppendReady(nil) {
			release(id)
		}
		take(c.Start(0, nil))
		for len(live) > 0 {
			expected := 0
			for id := range started {
				if nodes[id].Kind != graph.Join {
					expected++
				}
			}
			if issued != expected {
				t.Fatalf("%d issues, but %d nodes may have started", issued, expected)
			}
			i := rapid.IntRange(0, len(live)-1).Draw(t, "next")
			is := live[i]
			live = slices.Delete(live, i, i+1)
			var n ExpandedNode
			x.Node(&n, is.Op, is.Step, is.Sync)
			for _, child := range n.Children {
				if left[child]--; left[child] == 0 {
					release(child)
				}
			}
			take(c.Done(is.Handle, 0, nil))
		}
		if !c.Finished() || issued != timed || len(started) != len(nodes) {
			t.Fatalf("finished %t, %d of %d issued, %d of %d nodes started", c.Finished(), issued, timed, len(started), len(nodes))
		}
	})
}

// allReduce is one AllReduce of S bytes on each of n ranks.
func allReduce(t testing.TB, n int, algorithm string, bytes int64, f graph.Flags) *graph.Graph {
	return makeGraph(t, graph.Chakra, n, true, func(m *maker) {
		m.collective("ar", graph.AllReduce, algorithm, 0, bytes, flag(f))
	})
}

// TestExpansionCounts: S = 1,000 B over N = 8. Ring: 2 (N-1) = 14 sends of C = 125 B on
// each rank. Tree: 2 (N-1) = 14 in all of 1,000 B. Halving-doubling: 6 a rank, 500, 250,
// 125, 125, 250 and 500 B. 14,000 B each way; as many receives, and two nodes a rank
// around them. The barrier is 14 more of no bytes.
func TestExpansionCounts(t *testing.T) {
	for _, c := range []struct {
		algorithm    string
		sends, first int64 // in all, and from rank 0
	}{{"ring", 112, 14}, {"tree", 14, 1}, {"halving-doubling", 48, 6}} {
		for _, sync := range []graph.Flags{0, graph.Synchronize} {
			g := allReduce(t, 8, c.algorithm, 1000, sync)
			var nodes, sends, bytes, barrier, first int64
			for rank := range g.Ranks {
				x := NewExpansion(g, collective.NewTable(), rank)
				for _, n := range nodesOf(t, x) {
					nodes++
					switch {
					case n.Kind != graph.Send:
					case n.Sync:
						barrier++
						bytes += n.Bytes // none
					default:
						sends++
						bytes += n.Bytes
						if rank == 0 {
							first++
						}
					}
				}
			}
			want := int64(0)
			if sync != 0 {
				want = 14
			}
			if sends != c.sends || bytes != 14000 || first != c.first || barrier != want || nodes != 2*(sends+barrier)+2*8 {
				t.Errorf("%s: %d sends, %d from rank 0, %d B, %d of the barrier, %d nodes", c.algorithm, sends, first, bytes, barrier, nodes)
			}
		}
	}
}

// TestBarrierBeforeBarrier: synchronization puts the tree of 2 (N-1) = 6 transfers before
// a Barrier too, whose own pattern is the ring's 2 N (N-1) = 24, all of no bytes.
func TestBarrierBeforeBarrier(t *testing.T) {
	g := makeGraph(t, graph.Chakra, 4, true, func(m *maker) { m.collective("b", graph.Barrier, "", 0, 0, flag(graph.Synchronize)) })
	var own, before int
	for rank := range g.Ranks {
		for _, n := range nodesOf(t, NewExpansion(g, collective.NewTable(), rank)) {
			switch {
			case n.Bytes != 0:
				t.Errorf("%d bytes", n.Bytes)
			case n.Kind == graph.Send && n.Sync:
				before++
			case n.Kind == graph.Send:
				own++
			}
		}
	}
	if own != 24 || before != 6 {
		t.Errorf("%d and %d transfers, want 24 and 6", own, before)
	}
}

// TestExpansionIDs: operations keep their ids, the others follow behind the largest,
// wherever barriers are. An AllReduce ring of two ranks has 4 steps on each, its barrier
// 2: ids 3 and 4 of the barrier, 5 of the start, 6 to 9; then 10 and 11, 12, 13 to 16.
func TestExpansionIDs(t *testing.T) {
	for _, sync := range []graph.Flags{0, graph.Synchronize} {
		g := makeGraph(t, graph.Chakra, 2, true, func(m *maker) {
			ar := m.collective("ar", graph.AllReduce, "ring", 0, 8, flag(sync))
			c := m.compute("c", 5, on(ar))
			m.collective("second", graph.AllReduce, "ring", 0, 8, flag(sync), on(c), func(op *graph.Op, _ *[]graph.Dep) { op.Index = m.r.Int(1) })
		})
		var ids []uint64
		x := NewExpansion(g, collective.NewTable(), 1)
		for n := range x.Nodes() {
			ids = append(ids, n.ID)
		}
		want := []uint64{5, 6, 7, 8, 9, 0, 1, 12, 13, 14, 15, 16, 2}
		if sync != 0 {
			want = []uint64{3, 4, 5, 6, 7, 8, 9, 0, 1, 10, 11, 12, 13, 14, 15, 16, 2}
		}
		if !slices.Equal(ids, want) {
			t.Errorf("ids %v, want %v", ids, want)
		}
	}
}

// TestExpansionOfLargeIDs: where 64 bits do not reach beyond the largest id, operations
// are numbered by place. An AllReduce ring of two ranks takes 2 for a barrier, 1 for the
// start and 4 for its steps: 7 behind the largest id.
func TestExpansionOfLargeIDs(t *testing.T) {
	for _, c := range []struct{ id, end, first uint64 }{
		{math.MaxUint64 - 8, math.MaxUint64 - 8, math.MaxUint64 - 5}, // behind the room for the barrier
		{math.MaxUint64 - 7, 0, 4}, {math.MaxUint64, 0, 4},
	} {
		g := allReduce(t, 2, "ring", 8, 0)
		g.SetNodeIDs(0, []uint64{c.id})
		x := NewExpansion(g, collective.NewTable(), 0)
		nodesOf(t, x)
		var n ExpandedNode
		if x.Start(&n, 0); n.ID != c.first || x.id(0) != c.end {
			t.Errorf("id %d: start %d, end %d, want %d and %d", c.id, n.ID, x.id(0), c.first, c.end)
		}
	}
}

// TestExpansionAlone: a group of one has a start and an end and no barrier.
func TestExpansionAlone(t *testing.T) {
	x := NewExpansion(allReduce(t, 1, "ring", 8, graph.Synchronize), collective.NewTable(), 0)
	var n ExpandedNode
	x.Start(&n, 0)
	if x.Len() != 2 || n.ID != 1 || !slices.Equal(n.Children, []uint64{0}) || len(n.Deps) > 0 {
		t.Errorf("%d nodes, start %+v", x.Len(), n)
	}
	if x.End(&n, 0); n.ID != 0 || !slices.Equal(n.Deps, []uint64{1}) || len(n.Children) > 0 {
		t.Errorf("end %+v", n)
	}
}

// TestExpansionOfThreads: loops have no nodes to number.
func TestExpansionOfThreads(t *testing.T) {
	if x := NewExpansion(one(t, func(m *maker) { m.compute("a", 1) }), collective.NewTable(), 0); x != nil {
		t.Errorf("expansion %v of a thread program", x)
	}
}

// TestExpansionNames: what is behind the name of an operation.
func TestExpansionNames(t *testing.T) {
	x := NewExpansion(allReduce(t, 2, "ring", 8, graph.Synchronize), collective.NewTable(), 0)
	var names []string
	for n := range x.Nodes() {
		names = append(names, string(x.AppendName(nil, n)))
	}
	want := []string{"ar barrier step 0", "ar barrier step 1", "ar start", "ar step 0", "ar step 1", "ar step 2", "ar step 3", "ar"}
	if !slices.Equal(names, want) {
		t.Errorf("names %q, want %q", names, want)
	}
}

// TestScaledExpansion: each transfer is truncated by itself: floor(125/2) = 62.
func TestScaledExpansion(t *testing.T) {
	g := allReduce(t, 8, "ring", 1000, 0)
	g.Scale.Num, g.Scale.Den = 1, 2
	var n ExpandedNode
	if NewExpansion(g, collective.NewTable(), 3).Node(&n, 0, 0, false); n.Bytes != 62 {
		t.Errorf("%d B, want 62", n.Bytes)
	}
}

// TestScaledDuration: half of 3 us is 1 us, since traces keep whole microseconds.
func TestScaledDuration(t *testing.T) {
	b := graph.NewBuilder("test", graph.Chakra, 1)
	r := b.Rank(0, true)
	r.Op(graph.Op{Kind: graph.Compute, Label: -1, Site: b.Site(graph.Site{Name: "work"}), Arg: r.Work(graph.Work{Time: r.Int(3e6)})})
	r.Done()
	g, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	priceFixed(g)
	g.Scale.Num, g.Scale.Den = 1, 2
	var n ExpandedNode
	if NewExpansion(g, collective.NewTable(), 0).Op(&n, 0); n.Duration != 1e6 {
		t.Errorf("%d ps, want 1000000", n.Duration)
	}
}

// BenchmarkExpansion fills the nodes of one rank of a ring over 1,024 ranks.
func BenchmarkExpansion(b *testing.B) {
	x := NewExpansion(allReduce(b, 1024, "ring", 1<<20, graph.Synchronize), collective.NewTable(), 17)
	var n ExpandedNode
	steps := int32(4 * 1023)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		x.Node(&n, 0, int32(i)%steps, false)
	}
}
