package pass

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"hybrid/graph"
	"hybrid/graph/collective"
	"hybrid/graph/replay"
	"hybrid/internal/diag"
)

// traceRank is one rank of a small trace, written as text: "a0" is collective number 0
// of group a, "s1" a send to rank 1, "r0" a receive from rank 0, and "a1<a0,r0" depends
// on the operations a0 and r0 of the rank, which may stand anywhere. Its issue order is
// that of the numbers, sends of a group ("s1a1" is before collective 1 of a) among them.
type traceRank string

// traceSet is the traces of some ranks: over group a of all ranks, and group b likewise,
// in reverse.
type traceSet struct {
	typ   graph.CollType
	ranks []traceRank
}

func (s traceSet) build(t testing.TB) *graph.Graph {
	b := graph.NewBuilder("test", graph.Chakra, len(s.ranks))
	all := seq(len(s.ranks))
	slices.Reverse(all)
	groups := map[byte]int32{'a': 0, 'b': b.Group("b", all)}
	for rank, text := range s.ranks {
		r := b.Rank(rank, true)
		words := strings.Fields(string(text))
		at := map[string]int32{}
		for i, w := range words {
			name, _, _ := strings.Cut(w, "<")
			at[name] = int32(i)
		}
		chains := map[byte][]string{}
		for _, w := range words {
			name, waits, _ := strings.Cut(w, "<")
			var deps []graph.Dep
			for d := range strings.SplitSeq(waits, ",") {
				if d != "" {
					deps = append(deps, graph.Dep{Target: at[d]})
				}
			}
			op := graph.Op{Site: b.Site(graph.Site{Text: name}), Label: -1}
			switch k := int64(name[1] - '0'); name[0] {
			case 's':
				op.Kind, op.Flags, op.Peer = graph.Send, graph.Eager, r.Int(k)
				if len(name) > 2 {
					chains[name[2]] = append(chains[name[2]], name[3:]+" "+name)
				}
			case 'r':
				op.Kind, op.Peer = graph.Recv, r.Int(k)
			default:
				op.Kind, op.Flags, op.Tag, op.Index, op.Size = graph.Collective, graph.Eager, r.Int(int64(groups[name[0]])), r.Int(k), r.Int(8)
				op.Arg = r.Call(graph.Call{Type: s.typ})
				chains[name[0]] = append(chains[name[0]], name[1:]+"~ "+name)
			}
			r.Op(op, deps...)
		}
		for _, id := range []byte("ab") {
			slices.Sort(chains[id])
			var ops []int32
			for _, c := range chains[id] {
				_, name, _ := strings.Cut(c, " ")
				ops = append(ops, at[name])
			}
			if len(ops) > 0 {
				r.Chain(ops)
			}
		}
		r.Done()
	}
	g, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// waits prints the dependencies of each rank that the passes have added.
func waits(before, after *graph.Graph) string {
	var parts []string
	for rank := range after.Ranks {
		p, _ := after.Program(rank)
		q, _ := before.Program(rank)
		for i := range p.Ops {
			for _, d := range p.OpDeps(int32(i))[len(q.OpDeps(int32(i))):] {
				parts = append(parts, fmt.Sprintf("%d:%s<%s", rank, after.Sites[p.Ops[i].Site].Text, after.Sites[p.Ops[d.Target].Site].Text))
			}
		}
	}
	return strings.Join(parts, " ")
}

// TestCircles: the order of issue is kept where it lets the program end, and given up
// where it does not, the rest of a chain staying one sequence.
func TestCircles(t *testing.T) {
	all, root := graph.AllReduce, graph.Broadcast
	for _, c := range []struct {
		name  string
		set   traceSet
		want  string // edges added
		found int
	}{
		{"an order that fits", traceSet{all, []traceRank{"a0 a1 a2", "a0 a1 a2"}}, "0:a1<a0 0:a2<a1 1:a1<a0 1:a2<a1", 0},
		// Rank 1 has a1 before a0: on rank 0, which would let a1 wait for a0, it cannot
		// wait either. a2 is the last on both.
		{"a dependency of one rank", traceSet{all, []traceRank{"a0 a1 a2", "a0<a1 a1 a2"}}, "0:a2<a1 0:a2<a0 1:a2<a0", 2},
		// a1 on rank 0 before b0 there, b0 on rank 1 before a0: a1 cannot wait for a0.
		{"across two groups", traceSet{all, []traceRank{"a0 a1 b0<a1", "a0<b0 a1 b0"}}, "", 2},
		// a1 on rank 0 before the send, the receive before a0 on rank 1.
		{"across a message", traceSet{all, []traceRank{"a0 a1 s1<a1", "r0 a0<r0 a1"}}, "", 2},
		// A root does not wait for the others: only rank 1, where a0 comes after what rank 0
		// sends after a1, has them in another order.
		{"the root goes ahead", traceSet{root, []traceRank{"a0 a1 s1<a1", "r0 a0<r0 a1"}}, "0:a1<a0 1:a1<a0", 0},
		{"the sends of a group", traceSet{all, []traceRank{"a0 s1a1 a1", "a0 a1 r0"}}, "0:s1a1<a0 0:a1<s1a1 1:a1<a0", 0},
		// The receive on rank 1 is before a0 there: the send cannot wait for a0, but a1
		// still comes after both.
		{"a send that is needed early", traceSet{all, []traceRank{"a0 s1a1 a1", "r0 a0<r0 a1"}}, "0:a1<s1a1 0:a1<a0 1:a1<a0", 1},
		// The receive on rank 1 is before a1 there: the send cannot wait for a1, but still
		// comes after a0.
		{"what stood before stays before", traceSet{all, []traceRank{"a0 a1 s1a2", "a0 r0 a1<r0"}}, "0:a1<a0 0:s1a2<a0 1:a1<a0", 1},
		// Two messages of one key are on their way when the first receive takes one.
		{"behind two messages alike", traceSet{all, []traceRank{"s1 s1x a0 a1 b0<a1", "r0 r0x a0<b0 a1 b0"}}, "", 2},
		// Rank 2 ends at once, since nothing of it is ready: it must not hide that the others
		// end without the order.
		{"beside a rank that never starts", traceSet{all, []traceRank{"s1a0<r1 s1a1 r1", "r0 r0x s0<r0", "s0<r0 r0<s0"}}, "", 1},
		// No circle of ours: a0 and a1 wait for each other in the traces themselves.
		{"a deadlock of the traces", traceSet{all, []traceRank{"a0<a1 a1", "a0 a1<a0"}}, "", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			before, g := c.set.build(t), c.set.build(t)
			var list diag.List
			serialize(g, &Options{Serialize: true}, &list)
			if d := cmp.Diff(c.want, strings.ReplaceAll(waits(before, g), "  ", " ")); d != "" {
				t.Error(d)
			}
			found := 0
			for _, d := range list.All() {
				found += 1 + d.Count
			}
			if found != c.found {
				t.Errorf("%d warnings, want %d: %v", found, c.found, list.All())
			}
		})
	}
}

// randomTraces draws traces that end in some order of all operations: each step appends
// a collective of a group to its members, or a message to its two ends, and operations
// depend on earlier ones of their rank. The numbers of a group's collectives, which are
// also their issue order, are any permutation.
func randomTraces(t *rapid.T, forward bool) *graph.Graph {
	ranks := rapid.IntRange(2, 5).Draw(t, "ranks")
	b := graph.NewBuilder("test", graph.Chakra, ranks)
	groups := []int32{0}
	for range rapid.IntRange(0, 2).Draw(t, "groups") {
		members := rapid.Permutation(seq(ranks)).Draw(t, "members")[:rapid.IntRange(1, ranks).Draw(t, "size")]
		groups = append(groups, b.Group("g", members))
	}
	type step struct {
		group    int32 // or -1 for a message
		from, to int32
		alg      collective.Algorithm
		root, k  int64
	}
	steps := make([]step, rapid.IntRange(1, 9).Draw(t, "steps"))
	count := map[int32]int{}
	for i := range steps {
		s := &steps[i]
		if s.group = -1; rapid.IntRange(0, 2).Draw(t, "message") > 0 {
			s.group = rapid.SampledFrom(groups).Draw(t, "group")
			members := b.Graph().Groups[s.group].Members
			s.alg = rapid.SampledFrom(slices.DeleteFunc(collective.All(), func(a collective.Algorithm) bool {
				return a.Fits(b.Graph().Groups[s.group]) != nil
			})).Draw(t, "algorithm")
			s.root = rapid.Int64Range(0, int64(len(members))-1).Draw(t, "root")
			count[s.group]++
		} else {
			s.from, s.to = rapid.Int32Range(0, int32(ranks)-1).Draw(t, "from"), rapid.Int32Range(0, int32(ranks)-1).Draw(t, "to")
		}
	}
	for _, id := range groups {
		numbers := rapid.Permutation(seq(count[id])).Draw(t, "numbers")
		for i := range steps {
			if steps[i].group == id {
				steps[i].k, numbers = int64(numbers[0]), numbers[1:]
			}
		}
	}
	for rank := range int32(ranks) {
		r := b.Rank(int(rank), true)
		type issued struct {
			k  int64
			op int32
		}
		chains := map[int32][]issued{}
		add := func(op graph.Op) int32 {
			op.Site, op.Label = b.Site(graph.Site{Text: op.Kind.String()}), -1
			var deps []graph.Dep
			n := r.Len()
			if n > 0 {
				for _, d := range rapid.SliceOfNDistinct(rapid.IntRange(0, n-1), 0, min(n, 2), rapid.ID[int]).Draw(t, "deps") {
					deps = append(deps, graph.Dep{Target: int32(d)})
				}
			}
			if !forward && n > 0 && rapid.IntRange(0, 9).Draw(t, "backward") == 0 {
				deps = append(deps, graph.Dep{Target: int32(n + 1)})
			}
			return r.Op(op, deps...)
		}
		for i := range steps {
			s := &steps[i]
			switch {
			case s.group >= 0 && b.Graph().Groups[s.group].Pos(rank) >= 0:
				op := add(graph.Op{Kind: graph.Collective, Flags: graph.Eager, Tag: r.Int(int64(s.group)), Index: r.Int(s.k), Size: r.Int(8), Peer: r.Int(s.root),
					Arg: r.Call(graph.Call{Type: s.alg.Type, Algorithm: s.alg.Name})})
				chains[s.group] = append(chains[s.group], issued{2 * s.k, op})
			case s.group < 0:
				if s.from == rank {
					op := add(graph.Op{Kind: graph.Send, Flags: graph.Eager, Peer: r.Int(int64(s.to)), Tag: r.Int(int64(i))})
					if id := rapid.SampledFrom(groups).Draw(t, "ordered in"); rapid.Bool().Draw(t, "ordered") {
						chains[id] = append(chains[id], issued{2*rapid.Int64Range(-1, 8).Draw(t, "behind") + 1, op})
					}
				}
				if s.to == rank {
					add(graph.Op{Kind: graph.Recv, Peer: r.Int(int64(s.from)), Tag: r.Int(int64(i))})
				}
			}
		}
		for add(graph.Op{Kind: graph.Join}); !forward && rapid.Bool().Draw(t, "more"); {
			add(graph.Op{Kind: graph.Join})
		}
		r.Op(graph.Op{Kind: graph.Join, Site: b.Site(graph.Site{}), Label: -1}) // what the last ones may wait for
		r.Op(graph.Op{Kind: graph.Join, Site: b.Site(graph.Site{}), Label: -1})
		for _, id := range groups {
			slices.SortStableFunc(chains[id], func(a, b issued) int { return int(a.k - b.k) })
			var ops []int32
			for _, c := range chains[id] {
				ops = append(ops, c.op)
			}
			if len(ops) > 0 {
				r.Chain(ops)
			}
		}
		r.Done()
	}
	g, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// ends follows the program transfer by transfer.
func ends(g *graph.Graph) bool {
	r := replay.Check(g, replay.CheckOptions{})
	return r.OK()
}

// TestUntimedAgainstCheck: a walk that takes collectives as a whole ends where one that
// follows every transfer does, with and without barriers.
func TestUntimedAgainstCheck(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := randomTraces(t, false)
		for _, barriers := range []bool{false, true} {
			if barriers {
				synchronize(g, &Options{Synchronize: true}, new(diag.List))
			}
			if got, want := newUntimed(g, nil, barriers).run(), ends(g); got != want {
				t.Fatalf("barriers %t: ends %t, want %t", barriers, got, want)
			}
		}
	})
}

// TestSerializedTracesEnd: traces that end without an issue order end with it, and
// where they end with barriers, they do with both.
func TestSerializedTracesEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := randomTraces(t, true)
		both := rapid.Bool().Draw(t, "synchronize")
		free := newUntimed(g, nil, true).run()
		var list diag.List
		opt := &Options{Serialize: true, Synchronize: both}
		serialize(g, opt, &list)
		if !ends(g) {
			t.Fatalf("deadlock without barriers: %v", list.All())
		}
		if both {
			synchronize(g, opt, &list)
			if got := ends(g); got != free {
				t.Fatalf("with barriers: ends %t, want %t", got, free)
			}
			warned := slices.ContainsFunc(list.All(), func(d diag.Diagnostic) bool { return d.Code == "W411" })
			if warned == free {
				t.Fatalf("ends %t, warned %t", free, warned)
			}
		}
	})
}

// TestBarrierBehindTheOrder: with both options the barrier of a collective starts when
// the one before it in issue order has ended, and the collective behind its barrier.
func TestBarrierBehindTheOrder(t *testing.T) {
	g := traceSet{graph.AllReduce, []traceRank{"a0 a1", "a0 a1"}}.build(t)
	if err := Run(g, Options{Serialize: true, Synchronize: true}, "", new(diag.List)); err != nil {
		t.Fatal(err)
	}
	for rank := range g.Ranks {
		x := replay.NewExpansion(g, collective.NewTable(), rank)
		var n replay.ExpandedNode
		x.Node(&n, 1, 0, true)
		if !slices.Equal(n.Deps, []uint64{0}) {
			t.Errorf("rank %d: the barrier waits for %v, want the end of the first, 0", rank, n.Deps)
		}
		x.Start(&n, 1)
		for _, d := range n.Deps {
			if d == 0 {
				t.Errorf("rank %d: the start waits for %v, want the barrier alone", rank, n.Deps)
			}
		}
	}
}

// TestOrderBesideBarrierCircle: the barriers alone close a circle in group b, whose root
// is rank 2. The one that the order closes in group a is taken apart all the same: rank 1
// sends what the root, rank 0, waits for.
func TestOrderBesideBarrierCircle(t *testing.T) {
	set := traceSet{graph.Broadcast, []traceRank{"r1 a0<r1 b0", "a0 s0a1 r2 b0<r2", "a0 b0 s1<b0"}}
	var list diag.List
	before, g := set.build(t), set.build(t)
	serialize(g, &Options{Serialize: true, Synchronize: true}, &list)
	if got := waits(before, g); got != "" || len(list.All()) != 1 {
		t.Errorf("edges %q, findings %v, want no edge and one warning", got, list.All())
	}
}

// TestBarrierCircle: rank 0 broadcasts and then sends; rank 1 receives that and then
// takes part in the broadcast. That ends only without a barrier.
func TestBarrierCircle(t *testing.T) {
	set := traceSet{graph.Broadcast, []traceRank{"a0 s1<a0", "r0 a0<r0"}}
	var list diag.List
	g := set.build(t)
	synchronize(g, &Options{Synchronize: true}, &list)
	want := "warning: the barrier that synchronization puts before a0 is never passed: rank 0 waits in it for 1, 1 for 0 [W411]"
	if all := list.All(); len(all) != 1 || all[0].Error() != want {
		t.Errorf("got %v\nwant %s", all, want)
	}
	if ends(g) {
		t.Error("the program ends in spite of the barrier")
	}
}

// TestUntimedPostingOrder: of two receives of one key the first takes the message that is
// sent before the broadcast, so that rank 1 comes to the barrier. If the second took it,
// the first would wait for what rank 0 sends behind the barrier.
func TestUntimedPostingOrder(t *testing.T) {
	g := traceSet{graph.Broadcast, []traceRank{"s1 a0<s1 s1b0<a0", "r0 a0<r0 r0b"}}.build(t)
	var list diag.List
	synchronize(g, &Options{Synchronize: true}, &list)
	if all := list.All(); len(all) > 0 || !ends(g) {
		t.Errorf("got %v, want a program that ends", all)
	}
}
