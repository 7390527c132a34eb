package records

import (
	"strconv"

	"hybrid/graph"
	"hybrid/graph/replay"
)

// annotates reports whether a graph has nodes to annotate: the flat programs of
// traces.
func annotates(g *graph.Graph) bool {
	for _, p := range g.Programs {
		if !p.Flat {
			return false
		}
	}
	return true
}

// numbering gives the nodes of each rank their ids.
type numbering struct {
	r     *Recorder
	ranks []*replay.Expansion
	node  replay.ExpandedNode
}

func newNumbering(r *Recorder) numbering {
	return numbering{r: r, ranks: make([]*replay.Expansion, r.g.Ranks)}
}

// of returns the numbering of a rank, nil for a thread program.
func (n *numbering) of(rank int32) *replay.Expansion {
	if n.ranks[rank] == nil {
		n.ranks[rank] = replay.NewExpansion(n.r.g, n.r.algs, int(rank))
	}
	return n.ranks[rank]
}

// find returns the node of an operation or a transfer until the next call. In a thread
// program the operation's place stands for the id.
func (n *numbering) find(rank, op, step int32, sync bool) *replay.ExpandedNode {
	x := n.of(rank)
	if x == nil {
		n.node = replay.ExpandedNode{ID: uint64(op)}
	} else {
		x.Node(&n.node, op, step, sync)
	}
	return &n.node
}

func appendIDs(b []byte, ids []uint64) []byte {
	b = append(b, '[')
	for i, id := range ids {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendUint(b, id, 10)
	}
	return append(b, ']')
}
