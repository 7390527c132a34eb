package pass

import (
	"fmt"
	"strings"

	"hybrid/graph"
	"hybrid/internal/diag"
)

// calls is what the members of one group said so far, by instance number.
type calls struct {
	first []called
	parts []int32
}

// called is a collective as the first rank that has it calls it.
type called struct {
	rank, site  int32
	typ         graph.CollType
	bytes, root int64
}

// agree compares the k-th collective of each group on all its members, for flat
// programs: type, size, root and number must be the same. Thread programs are
// compared when they are replayed, since their collectives come from loops.
func agree(g *graph.Graph, list *diag.List) {
	groups := make([]calls, len(g.Groups))
	for rank := range g.Ranks {
		p, slot := g.Program(rank)
		if !p.Flat {
			continue
		}
		for i := range p.Ops {
			if p.Ops[i].Kind == graph.Collective {
				agreeOp(g, groups, p, slot, int32(rank), &p.Ops[i], list)
			}
		}
	}
	for id := range groups {
		complete(g, g.Groups[id], &groups[id], list)
	}
}

func agreeOp(g *graph.Graph, groups []calls, p *graph.Program, slot, rank int32, op *graph.Op, list *diag.List) {
	var v [4]int64
	for i, operand := range []graph.Value{op.Tag, op.Index, op.Size, op.Peer} {
		n, ok := p.Known(operand, slot)
		if !ok {
			return
		}
		v[i] = n
	}
	id, k := v[0], v[1]
	pos := g.Sites[op.Site].Pos
	if k < 0 || k >= int64(len(p.Ops)) {
		list.Errorf("E403", pos, "collective number %d of %s on rank %d; the rank has %d operations", k, g.Groups[id].Name, rank, len(p.Ops))
		return
	}
	c := &groups[id]
	for int64(len(c.first)) <= k {
		c.first = append(c.first, called{rank: -1})
		c.parts = append(c.parts, 0)
	}
	mine := called{rank, op.Site, p.Calls[op.Arg].Type, v[2], v[3]}
	c.parts[k]++
	f := &c.first[k]
	if f.rank < 0 {
		*f = mine
		return
	}
	if f.typ != mine.typ || f.bytes != mine.bytes || f.root != mine.root {
		list.Errorf("E403", pos, "collective %d of %s is %s on rank %d and %s on rank %d", k, g.Groups[id].Name, describe(&mine), rank, describe(f), f.rank)
	}
}

func describe(c *called) string {
	return fmt.Sprintf("%s of %d B with root %d", c.typ, c.bytes, c.root)
}

// complete reports instances that not every member calls, once a group.
func complete(g *graph.Graph, group *graph.Group, c *calls, list *diag.List) {
	for k, n := range c.parts {
		if int(n) == group.Size() || n == 0 {
			continue
		}
		f := &c.first[k]
		list.Errorf("E403", g.Sites[f.site].Pos, "collective %d of %s, %s, is called by %d of %d members; %s",
			k, group.Name, describe(f), n, group.Size(), absent(g, group, int64(k)))
		return
	}
}

// absent names the members without a collective of the given number.
func absent(g *graph.Graph, group *graph.Group, k int64) string {
	var missing []string
	for _, rank := range group.Members {
		if !hasInstance(g, rank, int64(group.ID), k) {
			missing = append(missing, fmt.Sprint(rank))
		}
	}
	const most = 8
	if n := len(missing); n > most {
		missing = append(missing[:most], fmt.Sprintf("%d more", n-most))
	}
	if len(missing) == 0 {
		return "some call it twice"
	}
	return "not by " + strings.Join(missing, ", ")
}

func hasInstance(g *graph.Graph, rank int32, group, k int64) bool {
	p, slot := g.Program(int(rank))
	for i := range p.Ops {
		op := &p.Ops[i]
		if op.Kind != graph.Collective {
			continue
		}
		id, _ := p.Known(op.Tag, slot)
		n, ok := p.Known(op.Index, slot)
		if ok && id == group && n == k {
			return true
		}
	}
	return false
}
