package pass

import (
	"fmt"
	"slices"
	"strings"

	"hybrid/graph"
	"hybrid/internal/diag"
)

// synchronize puts the tree barrier before every collective, barriers included. It is
// said where that closes a circle: a barrier holds a broadcast's root back until every
// member has come, and one of them may wait for something that the root does later.
func synchronize(g *graph.Graph, opt *Options, list *diag.List) {
	if !opt.Synchronize {
		return
	}
	g.Synchronize = true
	flat, rooted := true, false
	for _, p := range g.Programs {
		flat = flat && p.Flat
		for i := range p.Ops {
			if op := &p.Ops[i]; op.Kind == graph.Collective {
				op.Flags |= graph.Synchronize
				rooted = rooted || isRooted(p.Calls[op.Arg].Type)
			}
		}
	}
	if flat && rooted { // the others keep their members waiting for all anyway
		barrierCircle(g, list)
	}
}

// Unordered returns the graph without what the ordering options that are false here did
// to its thread programs. It shares what it does not change.
func Unordered(g *graph.Graph, serialize, synchronize bool) *graph.Graph {
	out := *g
	out.Serialize, out.Synchronize = g.Serialize && serialize, g.Synchronize && synchronize
	if synchronize {
		return &out
	}
	out.Programs = make([]*graph.Program, len(g.Programs))
	for i, p := range g.Programs {
		q := *p
		q.Ops = slices.Clone(p.Ops)
		for k := range q.Ops {
			q.Ops[k].Flags &^= graph.Synchronize
		}
		out.Programs[i] = &q
	}
	return &out
}

// barrierCircle warns of a program that ends without barriers, but not with them.
func barrierCircle(g *graph.Graph, list *diag.List) {
	u := newUntimed(g, nil, true)
	if u.run() || !newUntimed(g, nil, false).run() {
		return
	}
	way := (&untangler{untimed: u, fuel: u.left + 1}).circle()
	for i := 1; i < len(way); i++ {
		at, next := way[i-1], way[i]
		k := &u.ranks[at.rank]
		op := &k.p.Ops[at.op]
		if op.Kind != graph.Collective || k.wait[at.op] > 0 || !isRooted(k.p.Calls[op.Arg].Type) {
			continue
		}
		s := &g.Sites[op.Site]
		list.Warnf("W411", s.Pos, "the barrier that synchronization puts before %s is never passed: rank %d waits in it for %d, %s",
			s.Text, at.rank, next.rank, ranksRound(slices.Concat(way[i:], way[1:i]))).
			Note("--synchronize=false leaves the barriers out; without them the program ends")
		return
	}
}

// ranksRound says which rank waits for which along a way.
func ranksRound(way []place) string {
	var parts []string
	for i := 1; i < len(way); i++ {
		if a, b := way[i-1].rank, way[i].rank; a != b {
			parts = append(parts, fmt.Sprintf("%d for %d", a, b))
		}
	}
	const most = 8
	if n := len(parts) - most; n > 0 {
		parts = append(parts[:most], fmt.Sprintf("and %d more", n))
	}
	return strings.Join(parts, ", ")
}
