package dsel

import (
	"strings"

	"hybrid/graph"
	"hybrid/internal/diag"
)

// over resolves the group of a collective, the world by default.
func (p *planner) over() *groupPlan {
	var r *groupRef
	if c := p.clause["over"]; c != nil {
		r = c.Over
	}
	g := p.l.groupRef(r, p.scope)
	p.ok = p.ok && g != nil
	return g
}

// partOf is the rank's part of a group; a rank in no part is an error.
func (p *planner) partOf(w *lowerer, g *groupPlan) *part {
	part := g.of(w.rank)
	if part == nil {
		at := p.at
		if c := p.clause["over"]; c != nil {
			at = posOf(c.Over.Pos)
			at.Span = len(c.Over.Name)
		}
		d := fault("E302", at, "rank %d takes part in a %s but is in no part of group %s", w.rank, p.row.name, g.text)
		d.Note("let only members come here: on [..] { .. }")
		w.report(d, diag.Pos{})
	}
	return part
}

// groupID interns the part in the graph.
func (w *lowerer) groupID(p *part) int64 {
	if !p.known {
		p.id, p.known = w.b.Group(p.name, p.members), true
	}
	return int64(p.id)
}

// algorithm is the name after algo, or "".
func (p *planner) algorithm() string {
	if c := p.clause["algo"]; c != nil {
		return strings.ReplaceAll(c.Word.Text, "_", "-")
	}
	return ""
}

// planCollective makes the planner of a collective type. The root is a position
// in the group; the algorithm's name may be written with underscores.
func planCollective(t graph.CollType, rooted bool) func(p *planner) emitter {
	return func(p *planner) emitter {
		var size, root *operand
		if t == graph.Barrier {
			p.noOperand()
		} else {
			size = p.size()
		}
		group := p.over()
		if rooted {
			if p.clause["root"] == nil {
				return p.missing("a root: root R, a position in the group")
			}
			root = p.value("root", roleRoot)
		}
		call := graph.Call{Type: t, Algorithm: p.algorithm()}
		text := p.row.name
		if call.Algorithm != "" {
			text += " " + call.Algorithm
		}
		if !p.ok {
			return nil
		}
		if size != nil {
			text += " " + shortSize(size)
		}
		c := &collective{p: p, call: call, size: size, root: root, group: group, each: p.clause["each"] != nil, scaled: map[int64]*operand{}}
		c.site = p.site(graph.Collective, text+" over "+group.text)
		return c.emit
	}
}

// collective is a planned collective.
type collective struct {
	p          *planner
	call       graph.Call
	size, root *operand
	group      *groupPlan
	site       int32
	// each: the size is that of one partner's share.
	each   bool
	scaled map[int64]*operand
}

func (c *collective) emit(w *lowerer) {
	part := c.p.partOf(w, c.group)
	if part == nil {
		return
	}
	op := c.p.base(graph.Collective, c.site)
	op.Arg = w.r.Call(c.call)
	op.Tag = w.r.Int(w.groupID(part))
	op.Peer = c.rootValue(w, part)
	op.Size = c.sizeValue(w, part)
	c.p.put(w, op)
}

func (c *collective) rootValue(w *lowerer, part *part) graph.Value {
	if c.root == nil || c.root.loop() {
		return w.value(c.root)
	}
	n := w.int(c.root)
	if size := part.size(w.ld.ranks); n >= size {
		w.report(fault("E301", c.root.at, "root %d is outside of a group of %s", n, plural(size, "member")), diag.Pos{})
	}
	return w.r.Int(n)
}

func (c *collective) sizeValue(w *lowerer, part *part) graph.Value {
	if !c.each {
		return w.value(c.size)
	}
	n := part.size(w.ld.ranks)
	o := c.scaled[n]
	if o == nil {
		k := *c.size
		k.code = product(c.size.code, plainInt(n))
		o = &k
		c.scaled[n] = o
	}
	return w.value(o)
}
