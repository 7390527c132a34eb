package graph

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestNodeIDs(t *testing.T) {
	g := &Graph{Ranks: 5}
	if g.HasNodeIDs() || g.NodeID(3, 7) != 7 {
		t.Error("without ids an operation is called by its number")
	}
	g.SetNodeIDs(0, []uint64{10, 11, 12})
	g.SetNodeIDs(1, []uint64{9, 3, 4})
	g.SetNodeIDs(2, []uint64{9, 3, 4})
	g.SetNodeIDs(3, nil)
	g.SetNodeIDs(4, []uint64{1<<64 - 1})
	for _, c := range []struct {
		rank, op int32
		want     uint64
	}{{0, 0, 10}, {0, 2, 12}, {1, 0, 9}, {2, 1, 3}, {2, 2, 4}, {4, 0, 1<<64 - 1}} {
		if got := g.NodeID(c.rank, c.op); got != c.want {
			t.Errorf("rank %d, operation %d: id %d, want %d", c.rank, c.op, got, c.want)
		}
	}
	// Ranks 0, 3 and 4 count up; 1 and 2 have one list.
	if n := len(g.ids.lists); n != 1 {
		t.Errorf("%d lists are kept", n)
	}
}

func TestNodeIDsKeepAnyList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lists := rapid.SliceOfN(rapid.SliceOfN(rapid.Uint64Range(0, 3), 1, 4), 1, 20).Draw(t, "ids")
		g := &Graph{Ranks: len(lists)}
		for r, ids := range lists {
			scratch := slices.Clone(ids)
			g.SetNodeIDs(int32(r), scratch)
			clear(scratch) // the caller uses it again
		}
		for r, ids := range lists {
			for i, id := range ids {
				if got := g.NodeID(int32(r), int32(i)); got != id {
					t.Fatalf("rank %d, operation %d: id %d, want %d", r, i, got, id)
				}
			}
		}
	})
}
