package dsel

import (
	"hybrid/graph"
	"hybrid/internal/diag"
)

// sizeOf is the size of a message between two partners: an operand that may use
// peer. The sender's view decides, on both sides.
type pairSize struct {
	p    *planner
	size *operand
	// each caches the operand for a partner where the size also depends on a loop.
	each map[int64]*operand
}

// peerScope makes `peer` known to the size expression of exchange and alltoallv.
func (p *planner) peerScope() *scope {
	return p.l.child(p.scope, peerKey{p.st}, 0, func(k *scope) {
		k.value("peer", "partner", p.at, new(bool), &code{typ: typ{kind: kindInt}, dep: onPeer, size: 1,
			i: func(e *graph.Env) (int64, error) { return e.Loops[0], nil }})
	})
}

type peerKey struct{ st *stmt }

func (p *planner) pairSize() *pairSize {
	if p.op.Operand == nil {
		p.missing("a size, which may use peer")
		return nil
	}
	o := p.l.operand(p.op.Operand, p.peerScope(), roleBytes)
	if o == nil {
		p.ok = false
		return nil
	}
	return &pairSize{p: p, size: o, each: map[int64]*operand{}}
}

// value is the size that sender sends to the partner with number peer.
func (s *pairSize) value(w *lowerer, sender int32, peer int64) graph.Value {
	if s.size.code.dep&onLoop == 0 {
		w.charge(s.size.code.size)
		n, err := s.size.Eval(&graph.Env{Rank: sender, Loops: []int64{peer}})
		if err != nil {
			w.report(err, s.size.at)
		}
		return w.r.Int(n)
	}
	if sender != w.rank {
		// The receiver evaluates for the sender: an expression of its own.
		peer = -1 - int64(sender)*int64(w.ld.ranks) - peer
	}
	o := s.each[peer]
	if o == nil {
		o = s.bound(w, sender, peer)
		s.each[peer] = o
	}
	return w.r.Expr(o)
}

// bound is the size with a fixed partner.
func (s *pairSize) bound(w *lowerer, sender int32, peer int64) *operand {
	fixed := peer
	other := fixed < 0
	if other {
		fixed = (-1 - peer) % w.ld.ranks
	}
	inner := &scope{parent: s.p.scope}
	inner.value("peer", "partner", s.p.at, new(bool), plainInt(fixed))
	o := w.ld.operand(s.p.op.Operand, inner, roleBytes)
	if o == nil || !other {
		return o
	}
	k := *o.code
	as := func(e *graph.Env) *graph.Env { return &graph.Env{Rank: sender, Op: e.Op, Loops: e.Loops} }
	if i := k.i; i != nil {
		k.i = func(e *graph.Env) (int64, error) { return i(as(e)) }
	}
	if f := k.f; f != nil {
		k.f = func(e *graph.Env) (float64, error) { return f(as(e)) }
	}
	o.code = &k
	return o
}

// planExchange: a message to and from each of a list of world ranks.
func planExchange(p *planner) emitter {
	c := p.clause["with"]
	if c == nil {
		return p.missing("partners: with [p, q]")
	}
	flags := p.protoFlags()
	size := p.pairSize()
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

// planAlltoallv: every member sends its own size to every other one, in a private
// context. In step s of `interleaved` a member sends to the one s places on, all
// at once; `sequential` sends one message after the other. A member's own share
// stays where it is.
func planAlltoallv(p *planner) emitter {
	size := p.pairSize()
	group := p.over()
	sequential := false
	if c := p.clause["algo"]; c != nil {
		switch c.Word.Text {
		case "interleaved", "direct":
		case "sequential":
			sequential = true
		default:
			p.fail("E210", posOfWord(c.Word), "alltoallv is interleaved, direct or sequential, not %s", c.Word.Text)
		}
	}
	if sequential && p.flags.Has(graph.Async) {
		p.fail("E205", p.at, "not supported yet: an asynchronous sequential alltoallv")
	}
	if !p.ok {
		return nil
	}
	text := p.row.name + " " + shortSize(size.size) + " over " + group.text
	a := &alltoallv{p: p, size: size, group: group, context: p.context(), sites: [2]int32{p.site(graph.Send, text), p.site(graph.Recv, text)}}
	if sequential {
		return a.sequential(p.site(graph.Join, text))
	}
	return p.composite(text, func(w *lowerer, add func(graph.Op)) {
		if part := p.partOf(w, group); part != nil && a.fits(w, part) {
			a.receives(w, part, add)
			a.sends(w, part, add)
		}
	})
}

type alltoallv struct {
	p       *planner
	size    *pairSize
	group   *groupPlan
	context int32
	sites   [2]int32 // send, receive
}

// maxPairs bounds the pairs of members of one alltoallv over all its groups, each
// of which becomes two operations.
const maxPairs = 1 << 22

// fits reports whether the messages of the statement are few enough to be written.
func (a *alltoallv) fits(w *lowerer, part *part) bool {
	if n := part.size(w.ld.ranks); n*w.ld.ranks > maxPairs && n > 64 {
		w.report(fault("E204", a.p.at, "alltoallv over groups of %d members is %d messages on %d ranks; the limit is %d", n, n*w.ld.ranks, w.ld.ranks, maxPairs), diag.Pos{})
		w.halt = true
	}
	return !w.halt
}

func (a *alltoallv) receives(w *lowerer, part *part, add func(graph.Op)) {
	n, me := part.size(w.ld.ranks), part.pos(w.rank)
	for s := int64(1); s < n && !w.halt; s++ {
		from := part.member((me - s + n) % n)
		op := a.p.base(graph.Recv, a.sites[1])
		op.Arg, op.Peer, op.Tag, op.Size = a.context, w.r.Int(int64(from)), w.r.Int(0), a.size.value(w, from, me)
		add(op)
	}
}

func (a *alltoallv) sends(w *lowerer, part *part, add func(graph.Op)) {
	n, me := part.size(w.ld.ranks), part.pos(w.rank)
	for s := int64(1); s < n && !w.halt; s++ {
		to := (me + s) % n
		op := a.p.base(graph.Send, a.sites[0])
		op.Arg, op.Peer, op.Tag, op.Size = a.context, w.r.Int(int64(part.member(to))), w.r.Int(0), a.size.value(w, w.rank, to)
		add(op)
	}
}

// sequential posts all receives, sends one after the other and then waits.
func (a *alltoallv) sequential(site int32) emitter {
	inner := &labelDecl{name: "alltoallv"}
	return func(w *lowerer) {
		part := a.p.partOf(w, a.group)
		if part == nil || !a.fits(w, part) {
			return
		}
		if w.depth > 0 {
			w.report(fault("E205", a.p.at, "not supported yet: a sequential alltoallv inside par"), diag.Pos{})
			return
		}
		deps := a.p.graphDeps(w)
		label := w.number(inner, a.p.scope.labels.call)
		a.receives(w, part, func(op graph.Op) {
			op.Flags |= graph.Async
			op.Label = label
			w.raw(op, deps...)
		})
		a.sends(w, part, func(op graph.Op) { w.raw(op, deps...) })
		w.raw(graph.Op{Kind: graph.Join, Site: site, Label: -1}, graph.Dep{Mode: graph.DepEach, Target: label})
		w.raw(graph.Op{Kind: graph.ScopeEnd, Site: site, Arg: label, Label: 1})
	}
}
