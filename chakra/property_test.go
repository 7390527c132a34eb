package chakra

import (
	"encoding/binary"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"hybrid/internal/diag"
)

// drawDAG draws nodes whose dependencies point to lower positions of a shuffled
// order, so that references go forward and backward in the file.
func drawDAG(rt *rapid.T) []Node {
	n := rapid.IntRange(1, 30).Draw(rt, "nodes")
	base := rapid.SampledFrom([]uint64{0, 1, 34, 1 << 40}).Draw(rt, "first id")
	step := rapid.SampledFrom([]uint64{1, 3, 1 << 30}).Draw(rt, "step")
	order := rapid.Permutation(slices.Collect(func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	})).Draw(rt, "order")
	nodes := make([]Node, n)
	for i, at := range order {
		nodes[at] = comp(base+uint64(at)*step, uint64(i))
		for range rapid.IntRange(0, min(i, 4)).Draw(rt, "dependencies") {
			dep := base + uint64(order[rapid.IntRange(0, i-1).Draw(rt, "dependency")])*step
			if rapid.Bool().Draw(rt, "data") {
				nodes[at].DataDeps = append(nodes[at].DataDeps, dep)
			} else {
				nodes[at].CtrlDeps = append(nodes[at].CtrlDeps, dep)
			}
		}
	}
	return nodes
}

// The dependencies of an operation are the set of its two lists, however ids are
// spread, and a graph that is acyclic by construction is found to be so.
func TestDependenciesAreTheUnion(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		nodes := drawDAG(rt)
		tr, err := decode(file(nodes...), nil)
		if err != nil {
			rt.Fatal(err)
		}
		x, twice := newIDIndex(tr.nodes)
		e := tr.resolve(&x, true, true)
		if twice >= 0 || e.missing != 0 || e.cycle() != nil {
			rt.Fatalf("double %d, missing %d, cycle %v", twice, e.missing, e.cycle())
		}
		for i := range nodes {
			want := slices.Concat(nodes[i].DataDeps, nodes[i].CtrlDeps)
			slices.Sort(want)
			want = slices.Compact(want)
			var got []uint64
			for _, p := range e.of(int32(i)) {
				got = append(got, nodes[p].ID)
			}
			slices.Sort(got)
			if !slices.Equal(got, want) {
				rt.Errorf("node %d waits for %v, want %v", nodes[i].ID, got, want)
			}
		}
	})
}

// What cycle returns is one: each node waits for the next, the last for the first.
func TestCycleIsOne(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 20).Draw(rt, "nodes")
		nodes := make([]Node, n)
		for i := range nodes {
			nodes[i] = comp(uint64(i), 1, rapid.SliceOfN(rapid.Uint64Range(0, uint64(n-1)), 0, 3).Draw(rt, "deps")...)
		}
		nodes[n-1].DataDeps = append(nodes[n-1].DataDeps, 0) // often closes a cycle
		tr, err := decode(file(nodes...), nil)
		if err != nil {
			rt.Fatal(err)
		}
		x, _ := newIDIndex(tr.nodes)
		e := tr.resolve(&x, true, true)
		c := e.cycle()
		for i, p := range c {
			if next := c[(i+1)%len(c)]; !slices.Contains(e.of(p), next) {
				rt.Fatalf("node %d does not wait for %d in %v", p, next, c)
			}
		}
		if c == nil && e.selfDependency() >= 0 {
			rt.Fatal("a self dependency is a cycle")
		}
	})
}

// Damaged traces give findings, never a panic, and a graph only without errors.
func TestMutatedTraces(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		set := goldenSets()[rapid.IntRange(0, len(goldenSets())-1).Draw(rt, "set")]
		ranks := make([][]byte, set.ranks)
		for r := range ranks {
			ranks[r] = file(set.rank(r)...)
		}
		victim := ranks[rapid.IntRange(0, len(ranks)-1).Draw(rt, "rank")]
		for range rapid.IntRange(1, 4).Draw(rt, "changes") {
			victim[rapid.IntRange(0, len(victim)-1).Draw(rt, "at")] = rapid.Byte().Draw(rt, "byte")
		}
		dir := writeSet(t, ranks...)
		write(t, dir, "x.json", []byte(set.groups))
		var list diag.List
		if g := Load(dir, Options{}, &list); (g == nil) != list.HasErrors() {
			rt.Errorf("graph %v with findings %+v", g != nil, list.All())
		}
	})
}

// Packed and unpacked dependencies are the same.
func TestPackedEqualsUnpacked(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		ids := rapid.SliceOfN(rapid.Uint64(), 0, 6).Draw(rt, "ids")
		packed := bare(Node{ID: 1, Name: "n", Type: CompNode, DataDeps: ids})
		m := []byte{0x08, 1, 0x12, 1, 'n', 0x18, byte(CompNode)}
		for _, id := range ids {
			m = binary.AppendUvarint(append(m, 0x28), id)
		}
		a, err := decode(packed, nil)
		if err != nil {
			rt.Fatal(err)
		}
		b, err := decode(frame(m), nil)
		if err != nil || !slices.Equal(a.data, b.data) {
			rt.Errorf("packed %v, unpacked %v, %v", a.data, b.data, err)
		}
	})
}
