package dsel

import (
	"hybrid/graph"
	"hybrid/internal/diag"
)

// pairSize is the size of a message between two partners: an operand that may use
// peer. The sender's view decides, on both sides.
type pairSize struct {
	size *operand
	// each caches the operand for a partner where the size also depends on a loop.
	each map[int64]*operand
}

// peerScope makes `peer` known to the size expression of exchange and alltoallv.
func (p *planner) peerScope() *scope {
	return p.l.child(p.scope, peerKey{p.st}, 0, func(k *scope) {
		k.value("peer", "partner", p.at, new(bool), &code{typ: typ{kind: kindInt}, dep: onPeer, size: 1,
			i: func(e *graph.Env) (int64, error) { return e.Peer, nil }})
	})
}

type peerKey struct{ st *stmt }

// pairOperand compiles a size that may use peer.
func (p *planner) pairOperand() *operand {
	if p.op.Operand == nil {
		p.missing("a size, which may use peer")
		return nil
	}
	o := p.l.operand(p.op.Operand, p.peerScope(), roleBytes)
	p.ok = p.ok && o != nil
	return o
}

// value is the size that sender sends to the partner with number peer.
func (s *pairSize) value(w *lowerer, sender int32, peer int64) graph.Value {
	if s.size.code.dep&onLoop == 0 {
		w.charge(s.size.code.size)
		n, err := s.size.Eval(&graph.Env{Rank: sender, Peer: peer})
		if err != nil {
			w.report(err, s.size.at)
		}
		return w.r.Int(n)
	}
	key := peer
	if sender != w.rank {
		// The receiver evaluates for the sender: an expression of its own.
		key = -1 - int64(sender)*int64(w.ld.ranks) - peer
	}
	o := s.each[key]
	if o == nil {
		o = s.bound(sender, peer, sender != w.rank)
		s.each[key] = o
	}
	return w.r.Expr(o)
}

// bound is the size with a fixed partner, and with a fixed sender that is not the
// rank itself.
func (s *pairSize) bound(sender int32, peer int64, other bool) *operand {
	as := func(e *graph.Env) *graph.Env {
		env := graph.Env{Rank: e.Rank, Op: e.Op, Loops: e.Loops, Peer: peer}
		if other {
			env.Rank = sender
		}
		return &env
	}
	o, k := *s.size, *s.size.code
	if i := k.i; i != nil {
		k.i = func(e *graph.Env) (int64, error) { return i(as(e)) }
	}
	if f := k.f; f != nil {
		k.f = func(e *graph.Env) (float64, error) { return f(as(e)) }
	}
	o.code = &k
	return &o
}

// planExchange: a message to and from each of a list of world ranks.
func planExchange(p *planner) emitter {
	c := p.clause["with"]
	if c == nil {
		return p.missing("partners: with [p, q]")
	}
	flags := p.protoFlags()
	size := &pairSize{p.pairOperand(), map[int64]*operand{}}
	tag := p.value("tag", roleTag)
	if t := p.clause["tag"]; t != nil && t.any() {
		return p.missing("a tag that is a number")
	}
	list := p.l.compile(c.value(), p.scope)
	switch {
	case list.kind == kindBad:
		p.ok = false
	case list.kind != kindList || list.elem == kindBool || list.elem == kindString:
		p.fail("E220", c.value().pos(), "partners are a list of ranks, not %s", list.typ)
	case list.dep&onLoop != 0:
		p.fail("E205", c.value().pos(), "not supported yet: partners of exchange that depend on a loop variable")
	}
	if !p.ok {
		return nil
	}
	text := p.row.name + " " + shortSize(size.size)
	sites := [2]int32{p.site(graph.Send, text), p.site(graph.Recv, text)}
	context := p.context()
	return p.composite(text, func(w *lowerer, add func(graph.Op)) {
		partners := p.partners(w, list, c.value())
		for _, kind := range []graph.Kind{graph.Recv, graph.Send} {
			for _, peer := range partners {
				op := p.base(kind, sites[0])
				op.Arg, op.Peer, op.Tag = context, w.r.Int(peer), w.value(tag)
				if kind == graph.Recv {
					op.Site, op.Size = sites[1], size.value(w, int32(peer), int64(w.rank))
				} else {
					op.Flags |= flags
					op.Size = size.value(w, w.rank, peer)
				}
				add(op)
			}
		}
	})
}

// partners evaluates the list for the rank; norank entries are left out.
func (p *planner) partners(w *lowerer, list *code, e *expression) []int64 {
	values, err := listOf(list, &w.env)
	w.charge(list.size + len(values))
	if err != nil {
		w.report(err, e.pos())
	}
	var out []int64
	for _, v := range values {
		x, ok := floatOf(v)
		n := int64(x)
		switch {
		case n == noRank:
		case !ok || x != float64(n) || n < 0 || n >= w.ld.ranks:
			w.report(fault("E301", e.pos(), "partner %v computed on rank %d is outside 0..%d", v, w.rank, w.ld.ranks-1), diag.Pos{})
		default:
			out = append(out, n)
		}
	}
	return out
}
