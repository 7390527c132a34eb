package pass

import (
	"fmt"
	"math"

	"hybrid/graph"
	"hybrid/internal/diag"
)

// maxTraceTag bounds the tags of traces, maxTag those of everything else, whose
// receives may leave the tag open.
const (
	maxTraceTag = 1<<62 - 1
	maxTag      = math.MaxInt32
)

// check reports operands that no run could use, and collectives on which the
// members of a group disagree.
func check(g *graph.Graph, _ *Options, list *diag.List) {
	c := checker{g: g, found: map[finding]int{}}
	for _, p := range g.Programs {
		for i := range p.Ops {
			c.op(p, &p.Ops[i])
		}
	}
	c.report(list)
	if !list.HasErrors() {
		agree(g, list)
	}
}

// finding is what equal findings of many ranks share.
type finding struct {
	code string
	site int32
}

type problem struct {
	finding
	text string
	note string
}

type checker struct {
	g        *graph.Graph
	found    map[finding]int // index in problems
	problems []problem
	more     []int
}

func (c *checker) add(code string, site int32, note, format string, args ...any) {
	f := finding{code, site}
	if i, ok := c.found[f]; ok {
		c.more[i]++
		return
	}
	c.found[f] = len(c.problems)
	c.problems = append(c.problems, problem{f, fmt.Sprintf(format, args...), note})
	c.more = append(c.more, 0)
}

func (c *checker) report(list *diag.List) {
	for i, p := range c.problems {
		severity := diag.Error
		if p.code[0] == 'W' {
			severity = diag.Warning
		}
		d := diag.Diagnostic{Severity: severity, Code: p.code, Pos: c.g.Sites[p.site].Pos, Message: p.text}
		if p.note != "" {
			d.Notes = append(d.Notes, p.note)
		}
		if c.more[i] > 0 {
			d.Notes = append(d.Notes, fmt.Sprintf("and %d more of the same here", c.more[i]))
		}
		list.Add(d)
	}
}

func (c *checker) op(p *graph.Program, op *graph.Op) {
	switch op.Kind {
	case graph.Compute, graph.Load, graph.Store:
		c.work(p, op)
	case graph.Send, graph.Recv:
		c.message(p, op)
	case graph.Collective:
		c.collective(p, op)
	}
}

// each calls visit for every rank of the program with the operand's value: once
// for a constant, never for a computed one.
func each(p *graph.Program, v graph.Value, visit func(rank int32, n int64)) {
	if n, ok := p.Const(v); ok {
		if len(p.Ranks) > 0 {
			visit(p.Ranks[0], n)
		}
		return
	}
	for slot, rank := range p.Ranks {
		n, ok := p.Known(v, int32(slot))
		if !ok {
			return
		}
		visit(rank, n)
	}
}

func (c *checker) work(p *graph.Program, op *graph.Op) {
	w := &p.Works[op.Arg]
	for _, q := range []struct {
		v    graph.Value
		what string
	}{{w.Time, "time of %d ps"}, {w.Flops, "number of operations, %d,"}, {w.Bytes, "size of %d B"}, {w.Units, "amount of work, %d,"}, {w.Cores, "number of cores, %d,"}} {
		each(p, q.v, func(rank int32, n int64) {
			if n < 0 {
				c.add("E222", op.Site, "", "the "+q.what+" of rank %d is negative", n, rank)
			}
		})
	}
}

func (c *checker) message(p *graph.Program, op *graph.Op) {
	recv := op.Kind == graph.Recv
	each(p, op.Peer, func(rank int32, n int64) {
		switch {
		case recv && n == graph.AnyRank:
			c.wild(op)
		case n < 0 || n >= int64(c.g.Ranks):
			c.add("E301", op.Site, "for a grid edge use shift, which gives norank; for a ring use mod(rank - 1, ranks)",
				"rank %d computed on rank %d is outside 0..%d", n, rank, c.g.Ranks-1)
		}
	})
	limit := int64(maxTag)
	if c.g.Origin == graph.Chakra {
		limit = maxTraceTag
	}
	each(p, op.Tag, func(rank int32, n int64) {
		switch {
		case recv && n == graph.AnyTag:
			c.wild(op)
		case n < 0 || n > limit:
			c.add("E404", op.Site, "", "tag %d computed on rank %d is outside 0..%d", n, rank, limit)
		}
	})
	c.size(p, op)
}

func (c *checker) wild(op *graph.Op) {
	c.add("W604", op.Site, "", "the receive takes any message that fits: the result may depend on the order of arrival")
}

func (c *checker) size(p *graph.Program, op *graph.Op) {
	each(p, op.Size, func(rank int32, n int64) {
		if n < 0 {
			c.add("E222", op.Site, "", "negative size %d B on rank %d", n, rank)
		}
	})
}

func (c *checker) collective(p *graph.Program, op *graph.Op) {
	c.size(p, op)
	typ := p.Calls[op.Arg].Type
	for slot, rank := range p.Ranks {
		id, ok := p.Known(op.Tag, int32(slot))
		if !ok {
			return
		}
		if id < 0 || id >= int64(len(c.g.Groups)) {
			c.add("E405", op.Site, "", "%s over process group %d on rank %d; there are %d groups", typ, id, rank, len(c.g.Groups))
			return
		}
		group := c.g.Groups[id]
		if group.Pos(rank) < 0 {
			c.add("E405", op.Site, "", "rank %d calls %s over %s, of which it is no member", rank, typ, group.Name)
		}
		if root, ok := p.Known(op.Peer, int32(slot)); ok && (root < 0 || root >= int64(group.Size())) {
			c.add("E405", op.Site, "", "root %d of %s is outside %s, which has %d members", root, typ, group.Name, group.Size())
		}
	}
}
