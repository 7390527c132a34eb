package graph

import "slices"

// nodeIDs are the numbers by which traces name their nodes. Those of most ranks count
// up from a first one; lists are shared by the ranks that have the same.
type nodeIDs struct {
	first []uint64 // by rank
	list  []int32  // by rank: index in lists, or -1 where ids count up
	lists [][]uint64
	// known are the indexes of the lists by a hash of them.
	known map[uint64][]int32
}

// SetNodeIDs records the ids by which the trace of a rank names its operations, in the
// order of the rank's program. The slice is copied where it must be kept.
func (g *Graph) SetNodeIDs(rank int32, ids []uint64) {
	if g.ids == nil {
		g.ids = &nodeIDs{first: make([]uint64, g.Ranks), list: make([]int32, g.Ranks), known: map[uint64][]int32{}}
		for r := range g.ids.list {
			g.ids.list[r] = -1
		}
	}
	n := g.ids
	n.list[rank] = -1
	if len(ids) == 0 {
		return
	}
	n.first[rank] = ids[0]
	for i, id := range ids {
		if id != ids[0]+uint64(i) {
			n.list[rank] = n.intern(ids)
			return
		}
	}
}

// intern returns the index of a list with the ids.
func (n *nodeIDs) intern(ids []uint64) int32 {
	h := uint64(len(ids))
	for _, id := range ids {
		h = (h ^ id) * 0x9e3779b97f4a7c15
		h ^= h >> 32
	}
	for _, i := range n.known[h] {
		if slices.Equal(n.lists[i], ids) {
			return i
		}
	}
	i := int32(len(n.lists))
	n.lists = append(n.lists, slices.Clone(ids))
	n.known[h] = append(n.known[h], i)
	return i
}

// HasNodeIDs reports whether the operations come from traces that name them.
func (g *Graph) HasNodeIDs() bool { return g.ids != nil }

// NodeID returns the id by which the trace of a rank names an operation, or the
// operation's number where there is no trace.
func (g *Graph) NodeID(rank, op int32) uint64 {
	n := g.ids
	switch {
	case n == nil:
		return uint64(op)
	case n.list[rank] >= 0:
		return n.lists[n.list[rank]][op]
	}
	return n.first[rank] + uint64(op)
}
