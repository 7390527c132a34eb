package collective

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hybrid/graph"
)

func find(t *testing.T, typ graph.CollType, name string) *Algorithm {
	t.Helper()
	a := NewTable().Find(typ, name)
	if a == nil {
		t.Fatalf("no %s %s in the table", typ, name)
	}
	return a
}

// sends returns the sends of a rank in step order: "peer:bytes".
func sends(a *Algorithm, c Call) []string {
	var out []string
	for i := range a.Len(&c) {
		if s := a.At(&c, i); s.Send {
			out = append(out, fmt.Sprintf("%d:%d", s.Peer, s.Bytes))
		}
	}
	return out
}

// depth is the number of sequential transfers of an instance: the longest path
// over all ranks' steps, a transfer counting one.
func depth(a *Algorithm, call Call) int {
	type at struct{ rank, step int32 }
	n, match := call.N, map[channel]at{}
	calls := make([]Call, n)
	for me := range n {
		calls[me] = call
		calls[me].Me = me
		for i := range a.Len(&calls[me]) {
			if s := a.At(&calls[me], i); s.Send {
				match[channel{me, s.Peer, s.Tag}] = at{me, i}
			}
		}
	}
	memo := map[at]int{}
	var end func(p at) int
	end = func(p at) int {
		if d, ok := memo[p]; ok {
			return d
		}
		s := a.At(&calls[p.rank], p.step)
		d := 0
		for j := s.Lo; j < s.Hi; j++ {
			d = max(d, end(at{p.rank, j}))
		}
		if s.Send {
			d++
		} else {
			d = max(d, end(match[channel{s.Peer, p.rank, s.Tag}]))
		}
		memo[p] = d
		return d
	}
	deepest := 0
	for me := range n {
		for i := range a.Len(&calls[me]) {
			deepest = max(deepest, end(at{me, i}))
		}
	}
	return deepest
}

// TestTotals holds transfers, bytes and sequential steps of one instance against
// counts derived by hand. C = ceil(S/N); 1000/8 = 125, 1001/8 = 126.
func TestTotals(t *testing.T) {
	for _, c := range []struct {
		typ              graph.CollType
		name             string
		n, root          int32
		bytes            int64
		transfers, total int64
		steps            int
	}{
		// 2*(N-1) steps, each N transfers of C.
		{graph.AllReduce, "ring", 8, 0, 1000, 112, 112 * 125, 14},
		{graph.AllReduce, "ring", 8, 0, 1001, 112, 112 * 126, 14},
		{graph.AllReduce, "ring", 7, 0, 700, 84, 84 * 100, 12},
		// 2*(N-1) edges of S; up 2-1... the tree over 8 is 0-4-{2,6}-{1,3,5,7}: 3 levels.
		{graph.AllReduce, "tree", 8, 0, 1000, 14, 14 * 1000, 6},
		// Two trees of half the data: the same bytes in twice the transfers.
		{graph.AllReduce, "double-tree", 8, 0, 1000, 28, 28 * 500, 6},
		{graph.AllReduce, "double-tree", 8, 0, 1001, 28, 28 * 501, 6},
		// 8 ranks * 6 exchanges; 500+250+125+125+250+500 = 1750 a rank.
		{graph.AllReduce, "halving-doubling", 8, 0, 1000, 48, 14000, 6},
		// Chain of N-1 transfers of S, one after another.
		{graph.Reduce, "ring", 8, 3, 1000, 7, 7000, 7},
		{graph.Reduce, "tree", 8, 3, 1000, 7, 7000, 3},
		// S, not C, in every step.
		{graph.AllGather, "ring", 8, 0, 1000, 56, 56000, 7},
		{graph.Gather, "direct", 8, 5, 1000, 7, 7000, 1},
		{graph.Scatter, "direct", 8, 5, 1000, 7, 875, 1},
		{graph.Scatter, "direct", 8, 5, 1001, 7, 7 * 126, 1},
		{graph.Broadcast, "interleaved", 8, 2, 1000, 7, 7000, 1},
		{graph.Broadcast, "sequential", 8, 2, 1000, 7, 7000, 7},
		// Every ordered pair exchanges C; a rank's own block is not sent.
		{graph.AllToAll, "interleaved", 8, 0, 1000, 56, 7000, 1},
		{graph.AllToAll, "sequential", 8, 0, 1000, 56, 7000, 7},
		{graph.ReduceScatter, "ring", 8, 0, 1000, 56, 7000, 7},
		{graph.ReduceScatter, "halving", 8, 0, 1000, 24, 7000, 3},
		{graph.ReduceScatterBlock, "ring", 8, 0, 1000, 56, 7000, 7},
		// The pattern of allreduce without data: 2N(N-1) transfers in 2(N-1) steps.
		{graph.Barrier, "ring", 8, 0, 0, 112, 0, 14},
		{graph.Barrier, "ring", 5, 0, 0, 40, 0, 8},
		{graph.Barrier, "tree", 8, 0, 0, 14, 0, 6},
		{graph.Barrier, "double-tree", 8, 0, 0, 28, 0, 6},
		{graph.Barrier, "halving-doubling", 8, 0, 0, 48, 0, 6},
	} {
		a := find(t, c.typ, c.name)
		transfers, total := Totals(a, c.n, c.root, c.bytes)
		steps := depth(a, Call{N: c.n, Root: c.root, Bytes: c.bytes})
		if transfers != c.transfers || total != c.total || steps != c.steps {
			t.Errorf("%s %s, %d ranks, %d B: %d transfers, %d B, %d steps; want %d, %d B, %d",
				c.typ, c.name, c.n, c.bytes, transfers, total, steps, c.transfers, c.total, c.steps)
		}
	}
}

// TestTotalsCountEveryRank: what one rank says for all is what all would say.
func TestTotalsCountEveryRank(t *testing.T) {
	half := func(b int64) int64 { return b / 2 }
	for _, a := range All() {
		for n := int32(1); n <= 16; n++ {
			if a.Valid(int(n)) != nil {
				continue
			}
			var transfers, total int64
			for me := range n {
				c := Call{N: n, Me: me, Root: n / 2, Bytes: 1001}
				for i := range a.Len(&c) {
					if s := a.At(&c, i); s.Send {
						transfers++
						total += s.Bytes / 2
					}
				}
			}
			if x, y := CallTotals(&a, Call{N: n, Root: n / 2, Bytes: 1001}, half); x != transfers || y != total {
				t.Errorf("%s %s of %d ranks: %d transfers of %d B, want %d of %d B", a.Type, a.Name, n, x, y, transfers, total)
			}
		}
	}
}

// TestHalvingDoublingSizes: partners at distance 1, 2, 4 while the data halve, then
// back.
func TestHalvingDoublingSizes(t *testing.T) {
	got := sends(find(t, graph.AllReduce, "halving-doubling"), Call{N: 8, Me: 5, Bytes: 1000})
	want := []string{"4:500", "7:250", "1:125", "1:125", "7:250", "4:500"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestTreeParents: the first member is the root with one child; the rest is a
// balanced binary search tree whose subtrees are rooted at their element len/2. For
// these sizes the tree is also NCCL's.
func TestTreeParents(t *testing.T) {
	for n, want := range map[int32][]int32{
		1: {-1},
		2: {-1, 0},
		3: {-1, 2, 0},
		4: {-1, 2, 0, 2},
		5: {-1, 2, 3, 0, 3},
		8: {-1, 2, 4, 2, 0, 6, 4, 6},
	} {
		var got []int32
		for me := range n {
			got = append(got, locate(n, me).parent)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%d ranks: %s", n, d)
		}
	}
}

// TestTreeIsBalanced: children and parents agree, and no rank is deeper than the
// height of a balanced tree over N-1 nodes, plus the edge to the root.
func TestTreeIsBalanced(t *testing.T) {
	for n := int32(2); n <= 200; n++ {
		height := 0
		for 1<<height <= n-1 {
			height++
		}
		for me := range n {
			node := locate(n, me)
			for _, ch := range node.child[:node.children] {
				if locate(n, ch).parent != me {
					t.Fatalf("%d ranks: %d has child %d, whose parent is %d", n, me, ch, locate(n, ch).parent)
				}
			}
			d := 0
			for at := me; at != 0; at = locate(n, at).parent {
				d++
			}
			if d > height {
				t.Fatalf("%d ranks: %d lies %d deep, the height is %d", n, me, d, height)
			}
		}
	}
}

// TestDoubleTreeInnerNodes: for 4 and 8 ranks no rank is an inner node of both
// trees, so that every rank's links carry both halves.
func TestDoubleTreeInnerNodes(t *testing.T) {
	for _, n := range []int32{4, 8} {
		for me := range n {
			a, b := doubleTree{}.branches(&Call{N: n, Me: me})
			inner := func(x branch) bool { return x.children > 0 && x.parent >= 0 }
			if inner(a) && inner(b) {
				t.Errorf("%d ranks: %d is an inner node of both trees", n, me)
			}
		}
	}
}

// TestTreePhases: a rank sends up after all its children's data, and sends down to
// all children at once after its parent's.
func TestTreePhases(t *testing.T) {
	a := find(t, graph.AllReduce, "tree")
	c := Call{N: 8, Me: 4, Bytes: 10} // children 2 and 6, parent 0
	var got []string
	for i := range a.Len(&c) {
		s := a.At(&c, i)
		got = append(got, fmt.Sprintf("send=%t peer=%d after[%d,%d)", s.Send, s.Peer, s.Lo, s.Hi))
	}
	want := []string{
		"send=false peer=2 after[0,0)", "send=false peer=6 after[0,0)",
		"send=true peer=0 after[0,2)", "send=false peer=0 after[0,0)",
		"send=true peer=2 after[3,4)", "send=true peer=6 after[3,4)",
	}
	// The receive from the parent is posted at once; it cannot be met before the send
	// up, on which the parent's data depend.
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestRingDependencies: send k and receive k wait for receive k-1, never for send
// k-1; rank i sends to i+1.
func TestRingDependencies(t *testing.T) {
	a := find(t, graph.AllReduce, "ring")
	c := Call{N: 8, Me: 7, Bytes: 1000}
	for i := range a.Len(&c) {
		s := a.At(&c, i)
		k := i / 2
		peer := int32(0)
		if !s.Send {
			peer = 6
		}
		if s.Send != (i%2 == 0) || s.Peer != peer || k > 0 && (s.Lo != 2*k-1 || s.Hi != 2*k) || k == 0 && s.Lo != s.Hi {
			t.Errorf("step %d: %+v", i, s)
		}
	}
}

// TestReduceChain starts behind the root and ends at it.
func TestReduceChain(t *testing.T) {
	a := find(t, graph.Reduce, "ring")
	var got []string
	for at := int32(4); len(sends(a, Call{N: 5, Me: at, Root: 3, Bytes: 10})) > 0; at = (at + 1) % 5 {
		got = append(got, sends(a, Call{N: 5, Me: at, Root: 3, Bytes: 10})...)
	}
	if d := cmp.Diff([]string{"0:10", "1:10", "2:10", "3:10"}, got); d != "" {
		t.Error(d)
	}
}

// TestReduceTreeTurns: with the root elsewhere the member list is rotated so that
// it comes first. Root 3 of 5: list 3,4,0,1,2; parents by place -,2,3,0,3.
func TestReduceTreeTurns(t *testing.T) {
	a := find(t, graph.Reduce, "tree")
	got := map[int32][]string{}
	for me := range int32(5) {
		got[me] = sends(a, Call{N: 5, Me: me, Root: 3, Bytes: 10})
	}
	want := map[int32][]string{3: nil, 4: {"0:10"}, 0: {"1:10"}, 1: {"3:10"}, 2: {"1:10"}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestBroadcastOrder sends in list order without the root; the sequential form
// waits for each send before the next.
func TestBroadcastOrder(t *testing.T) {
	for name, chained := range map[string]bool{"sequential": true, "interleaved": false} {
		a := find(t, graph.Broadcast, name)
		c := Call{N: 5, Me: 2, Root: 2, Bytes: 10}
		if d := cmp.Diff([]string{"0:10", "1:10", "3:10", "4:10"}, sends(a, c)); d != "" {
			t.Error(d)
		}
		for i := range a.Len(&c) {
			s := a.At(&c, i)
			if waits := s.Hi > s.Lo; waits != (chained && i > 0) || waits && s.Lo != i-1 {
				t.Errorf("%s: send %d waits for [%d,%d)", name, i, s.Lo, s.Hi)
			}
		}
	}
}

// TestAllToAllOrder: C bytes to (i+s) mod N in step s; the sequential form chains
// the sends alone and posts all receives at once.
func TestAllToAllOrder(t *testing.T) {
	for name, chained := range map[string]bool{"sequential": true, "interleaved": false} {
		a := find(t, graph.AllToAll, name)
		c := Call{N: 5, Me: 3, Bytes: 11}
		if d := cmp.Diff([]string{"4:3", "0:3", "1:3", "2:3"}, sends(a, c)); d != "" {
			t.Error(d)
		}
		n := 0
		for i := range a.Len(&c) {
			s := a.At(&c, i)
			waits := s.Hi > s.Lo
			if s.Send {
				n++
			}
			if waits != (chained && s.Send && n > 1) {
				t.Errorf("%s: step %d waits %t", name, i, waits)
			}
		}
	}
}

// TestValid: halving and doubling need a power of two, everything else takes any size.
func TestValid(t *testing.T) {
	for _, a := range All() {
		for n := 1; n <= 64; n++ {
			power := n&(n-1) == 0
			needs := strings.HasPrefix(a.Name, "halving") || a.Name == "recursive-doubling"
			if err := a.Valid(n); (err == nil) != (power || !needs) {
				t.Errorf("%s %s of %d ranks: %v", a.Type, a.Name, n, err)
			}
		}
	}
}

// TestDefaults are the defaults of the platform: ring, but interleaved or direct
// where there is no ring.
func TestDefaults(t *testing.T) {
	want := map[graph.CollType]string{
		graph.AllReduce: "ring", graph.Reduce: "ring", graph.AllGather: "ring", graph.Gather: "direct", graph.Scatter: "direct",
		graph.Broadcast: "interleaved", graph.AllToAll: "interleaved", graph.ReduceScatter: "ring", graph.ReduceScatterBlock: "ring",
		graph.Barrier: "ring", graph.AllToAllV: "interleaved",
	}
	table := NewTable()
	for typ := graph.CollType(0); int(typ) < graph.NumCollTypes; typ++ {
		a := table.Default(typ)
		if a == nil || a.Name != want[typ] {
			t.Errorf("%s: default %v, want %s", typ, a, want[typ])
		}
		if names := table.Names(typ); len(slices.Compact(slices.Sorted(slices.Values(names)))) != len(names) {
			t.Errorf("%s: a name stands twice in %v", typ, names)
		}
	}
	// The schema of Chakra numbers ten types; ours follow.
	if graph.ChakraCollTypes != 10 || graph.AllToAllV != 10 || graph.Barrier != 9 {
		t.Errorf("%d types of the schema, alltoallv is %d", graph.ChakraCollTypes, graph.AllToAllV)
	}
	if s := table.SyncBarrier(); s == nil || s.Type != graph.Barrier || s.Name != "tree" {
		t.Errorf("synchronization barrier: %v", s)
	}
	if got, want := table.Choices(graph.AllReduce), "ring, tree, double-tree, halving-doubling, halving-doubling-far, direct or hierarchical"; got != want {
		t.Errorf("choices %q, want %q", got, want)
	}
	if got, want := table.Choices(graph.AllGather), "ring, recursive-doubling or bruck"; got != want {
		t.Errorf("choices %q, want %q", got, want)
	}
	if table.Find(graph.AllGather, "tree") != nil {
		t.Error("allgather has no tree")
	}
}

// TestStepsAreNotStored: computing steps of a group of a hundred thousand ranks
// allocates nothing.
func TestStepsAreNotStored(t *testing.T) {
	for _, a := range All() {
		c := &Call{N: 1 << 17, Me: 77, Bytes: 1 << 30}
		n := a.Len(c)
		var sum int64
		allocs := testing.AllocsPerRun(10, func() {
			for i := int32(0); i < n; i += max(n/100, 1) {
				s := a.At(c, i)
				sum += s.Bytes
			}
		})
		if allocs != 0 || sum == 0 && a.Type != graph.Barrier && n > 0 {
			t.Errorf("%s %s: %v allocations, %d B", a.Type, a.Name, allocs, sum)
		}
	}
}
