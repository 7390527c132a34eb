package dsel

import (
	"slices"

	"hybrid/graph"
	"hybrid/internal/diag"
)

// protoFlags reads `proto eager|rendezvous`.
func (p *planner) protoFlags() graph.Flags {
	c := p.clause["proto"]
	if c == nil {
		return 0
	}
	switch c.Word.Text {
	case "eager":
		return graph.Eager
	case "rendezvous":
		return graph.Rendezvous
	}
	p.fail("E210", posOfWord(c.Word), "proto is eager or rendezvous, not %s%s", c.Word.Text, diag.DidYouMean(c.Word.Text, []string{"eager", "rendezvous"}))
	return 0
}

// message is one side of a transfer.
type message struct {
	kind            graph.Kind
	site            int32
	peer, tag, size *operand
	anyPeer, anyTag bool
	flags           graph.Flags
}

// planSend: the partner is a world rank; norank drops the operation.
func planSend(p *planner) emitter {
	m := message{kind: graph.Send, size: p.size(), tag: p.value("tag", roleTag), flags: p.protoFlags()}
	if p.clause["to"] == nil {
		return p.missing("a partner: to R")
	}
	if c := p.clause["tag"]; c != nil && c.any() {
		return p.missing("a tag that is a number: only a receive matches any")
	}
	m.peer = p.value("to", rolePeer)
	return p.single(m, p.text(m.size)+" to "+p.clause["to"].value().text())
}

func planRecv(p *planner) emitter {
	m := message{kind: graph.Recv, size: p.size(), tag: p.value("tag", roleTag)}
	c := p.clause["from"]
	if c == nil {
		return p.missing("a partner: from R or from any")
	}
	from := "any"
	if c.any() {
		m.anyPeer = true
	} else {
		m.peer = p.value("from", rolePeer)
		from = c.value().text()
	}
	m.anyTag = p.clause["tag"] != nil && p.clause["tag"].any()
	return p.single(m, p.text(m.size)+" from "+from)
}

// text is a short description: the verb and its size.
func (p *planner) text(size *operand) string {
	if size == nil {
		return p.row.name
	}
	return p.row.name + " " + shortSize(size)
}

// single plans a send or receive that stands alone.
func (p *planner) single(m message, text string) emitter {
	if !p.ok {
		return nil
	}
	m.site = p.site(m.kind, text)
	absent := p.absentTest(m.peer)
	return func(w *lowerer) {
		if absent == nil {
			if op, ok := p.message(w, m, 0); ok {
				p.put(w, op)
			}
			return
		}
		if w.depth > 0 {
			w.report(fault("E205", m.peer.at, "not supported yet: a partner inside par that may be norank in some iterations"), diag.Pos{})
			return
		}
		br := w.r.Branch(m.site, w.r.Expr(absent))
		op, _ := p.message(w, m, 0)
		p.put(w, op)
		w.r.Patch(br)
	}
}

// absentTest returns the condition that a partner exists, where that can change
// from iteration to iteration.
func (p *planner) absentTest(peer *operand) *branchCond {
	if peer == nil || !peer.loop() || !peer.code.norank {
		return nil
	}
	return &branchCond{at: peer.at, text: "(" + peer.String() + ") != norank", test: func(env *graph.Env) (bool, error) {
		n, err := peer.Eval(env)
		return n != noRank, err
	}}
}

// message makes the operation of one side for the rank; false where its partner
// is norank.
func (p *planner) message(w *lowerer, m message, context int32) (graph.Op, bool) {
	op := p.base(m.kind, m.site)
	op.Flags |= m.flags
	op.Arg = context
	switch {
	case m.anyPeer:
		op.Peer = w.r.Int(graph.AnyRank)
	case m.peer.loop():
		op.Peer = w.r.Expr(m.peer)
	default:
		n := w.int(m.peer)
		if n == noRank {
			return op, false
		}
		op.Peer = w.r.Int(n)
	}
	if m.anyTag {
		op.Tag = w.r.Int(graph.AnyTag)
	} else {
		op.Tag = w.value(m.tag)
	}
	op.Size = w.value(m.size)
	return op, true
}

// composite plans an operation of several messages: receives first, so that they
// are posted before a message can arrive. An asynchronous one ends in a join that
// carries its label.
func (p *planner) composite(joinText string, emit func(w *lowerer, add func(graph.Op))) emitter {
	if p.flags&graph.Async == 0 {
		return func(w *lowerer) {
			deps := p.graphDeps(w)
			w.begin()
			emit(w, func(op graph.Op) { w.emit(op, deps...) })
			w.end()
		}
	}
	join := p.base(graph.Join, p.site(graph.Join, joinText))
	inner, gate := &labelDecl{name: p.row.name}, &labelDecl{name: p.row.name + "-turn"}
	return func(w *lowerer) {
		deps := p.graphDeps(w)
		members := w.number(inner, p.scope.labels.call)
		count := 0
		emit(w, func(op graph.Op) {
			if count == 0 && p.stream != "" {
				deps = p.streamGate(w, join, w.number(gate, p.scope.labels.call), deps)
			}
			op.Label, op.Stream = members, 0
			count++
			w.raw(op, deps...)
		})
		if count == 0 {
			return
		}
		j := join
		p.labelled(w, &j)
		w.raw(j, graph.Dep{Mode: graph.DepEach, Target: members})
		w.raw(graph.Op{Kind: graph.ScopeEnd, Site: join.Site, Arg: members, Label: 1})
		if p.stream != "" {
			w.raw(graph.Op{Kind: graph.ScopeEnd, Site: join.Site, Arg: w.number(gate, p.scope.labels.call), Label: 1})
		}
	}
}

// streamGate writes a join that takes the composite's turn in its stream. The
// members wait for it, not for one another, and the composite's last join ends the
// turn.
func (p *planner) streamGate(w *lowerer, join graph.Op, label int32, deps []graph.Dep) []graph.Dep {
	join.Label = label
	w.raw(join, deps...)
	return []graph.Dep{{Mode: graph.DepLabel, Target: label}}
}

// planSendrecv: tag and size hold for both sides unless rtag and rsize are given.
func planSendrecv(p *planner) emitter {
	size, tag := p.size(), p.value("tag", roleTag)
	rsize, rtag := p.value("rsize", roleBytes), p.value("rtag", roleTag)
	if p.clause["to"] == nil || p.clause["from"] == nil {
		return p.missing("both partners: to R from Q")
	}
	if c := p.clause["tag"]; c != nil && c.any() {
		return p.missing("a tag that is a number")
	}
	if rsize == nil {
		rsize = size
	}
	if rtag == nil {
		rtag = tag
	}
	send := message{kind: graph.Send, size: size, tag: tag, peer: p.value("to", rolePeer), flags: p.protoFlags()}
	recv := message{kind: graph.Recv, size: rsize, tag: rtag, anyPeer: p.clause["from"].any(), peer: p.value("from", rolePeer)}
	if !p.ok {
		return nil
	}
	for _, o := range []*operand{send.peer, recv.peer} {
		if p.absentTest(o) != nil {
			p.fail("E205", o.at, "not supported yet: a partner of sendrecv that may be norank in some iterations")
			return nil
		}
	}
	text := p.text(size)
	send.site, recv.site = p.site(graph.Send, text), p.site(graph.Recv, text)
	return p.composite(text, func(w *lowerer, add func(graph.Op)) {
		for _, m := range []message{recv, send} {
			if op, ok := p.message(w, m, 0); ok {
				add(op)
			}
		}
	})
}

// planTransfer: the global view. Both ends must be the same on every rank.
func planTransfer(p *planner) emitter {
	size, tag := p.size(), p.value("tag", roleTag)
	if p.clause["from"] == nil || p.clause["to"] == nil || p.clause["from"].any() {
		return p.missing("both ends: from A to B")
	}
	from, to := p.value("from", rolePeer), p.value("to", rolePeer)
	flags := p.protoFlags()
	if c := p.clause["tag"]; c != nil && c.any() {
		return p.missing("a tag that is a number")
	}
	if !p.ok {
		return nil
	}
	for _, o := range []*operand{from, to} {
		if o.code.dep&onRank != 0 {
			p.fail("E241", o.at, "an end of a transfer must be the same on every rank").
				Note("every rank executes a transfer and takes the part that it names; for neighbours use sendrecv, exchange or halo")
			return nil
		}
	}
	text := p.text(size) + " from " + from.String() + " to " + to.String()
	t := &transfer{p: p, from: from, to: to,
		send: message{kind: graph.Send, site: p.site(graph.Send, text), peer: to, tag: tag, size: size, flags: flags},
		recv: message{kind: graph.Recv, site: p.site(graph.Recv, text), peer: from, tag: tag, size: size}}
	if from.loop() || to.loop() {
		t.roles()
		return t.atCursor
	}
	t.both = p.composite(text, func(w *lowerer, add func(graph.Op)) {
		for _, m := range []message{t.recv, t.send} {
			if op, ok := p.message(w, m, 0); ok {
				add(op)
			}
		}
	})
	return t.emit
}

// transfer is a planned transfer.
type transfer struct {
	p                    *planner
	from, to             *operand
	send, recv           message
	isSelf, isFrom, isTo *branchCond
	both                 emitter // of a rank that sends to itself
}

func (t *transfer) emit(w *lowerer) {
	from, to := w.int(t.from), w.int(t.to)
	if from == noRank || to == noRank {
		return
	}
	me := int64(w.rank)
	switch {
	case me == from && me == to:
		t.both(w)
	case me == from:
		t.side(w, t.send)
	case me == to:
		t.side(w, t.recv)
	}
}

func (t *transfer) side(w *lowerer, m message) {
	if op, ok := t.p.message(w, m, 0); ok {
		t.p.put(w, op)
	}
}

// roles makes the conditions that tell at the cursor which part a rank has.
func (t *transfer) roles() {
	test := func(text string, match func(from, to, me int64) bool) *branchCond {
		return &branchCond{at: t.p.at, text: text, test: func(env *graph.Env) (bool, error) {
			from, err := t.from.Eval(env)
			if err != nil {
				return false, err
			}
			to, err := t.to.Eval(env)
			return from != noRank && to != noRank && match(from, to, int64(env.Rank)), err
		}}
	}
	a, b := t.from.String(), t.to.String()
	t.isSelf = test("rank == "+a+" && rank == "+b, func(from, to, me int64) bool { return from == me && to == me })
	t.isFrom = test("rank == "+a, func(from, to, me int64) bool { return from == me && to != me })
	t.isTo = test("rank == "+b, func(from, to, me int64) bool { return to == me && from != me })
}

func (t *transfer) atCursor(w *lowerer) {
	if w.depth > 0 {
		w.report(fault("E205", t.p.at, "not supported yet: a transfer inside par whose ends depend on a loop variable"), diag.Pos{})
		return
	}
	part := func(c *branchCond, site int32, messages ...message) {
		br := w.r.Branch(site, w.r.Expr(c))
		w.begin()
		for _, m := range messages {
			t.side(w, m)
		}
		w.end()
		w.r.Patch(br)
	}
	part(t.isSelf, t.send.site, t.recv, t.send)
	part(t.isFrom, t.send.site, t.send)
	part(t.isTo, t.recv.site, t.recv)
}

// context returns the private matching context of the statement, the same on all
// ranks and in all calls.
func (p *planner) context() int32 {
	n, ok := p.l.contexts[p.st]
	if !ok {
		n = int32(len(p.l.contexts) + 1)
		p.l.contexts[p.st] = n
	}
	return n
}

// planHalo: for every listed axis and both directions. The tag is the direction
// of travel, so that two messages to the same neighbour stay apart.
func planHalo(p *planner) emitter {
	h := p.op.Halo
	sym := p.scope.lookup(h.Grid.Text)
	if sym == nil || sym.what != isGrid {
		if sym == nil && p.l.poisoned[h.Grid.Text] {
			p.ok = false
			return nil
		}
		p.notA("grid", sym, h.Grid, isGrid)
		return nil
	}
	*sym.used = true
	g := p.l.resolveGrid(sym)
	if g.bad {
		p.ok = false
		return nil
	}
	flags := p.protoFlags()
	sides := p.haloSides(h, sym, g)
	if !p.ok {
		return nil
	}
	text := "halo " + h.Grid.Text
	sendSite, recvSite := p.site(graph.Send, text), p.site(graph.Recv, text)
	context := p.context()
	return p.composite(text, func(w *lowerer, add func(graph.Op)) {
		for _, kind := range []graph.Kind{graph.Recv, graph.Send} {
			for _, s := range sides {
				s.emit(w, p, kind, [2]int32{sendSite, recvSite}, flags, context, add)
			}
		}
	})
}

// haloSide is one axis of a halo exchange.
type haloSide struct {
	axis gridAxis
	tag  int64
	size *operand
}

func (p *planner) haloSides(h *halo, sym *symbol, g *grid) []haloSide {
	var out []haloSide
	for _, it := range h.Items {
		i := slices.IndexFunc(g.axes, func(a gridAxis) bool { return a.name == it.Axis.Text })
		if i < 0 {
			p.fail("E210", posOfWord(it.Axis), "grid %s has no axis %q%s", sym.name, it.Axis.Text, diag.DidYouMean(it.Axis.Text, g.axisNames()))
			continue
		}
		if slices.ContainsFunc(out, func(s haloSide) bool { return s.axis.name == it.Axis.Text }) {
			p.fail("E240", posOfWord(it.Axis), "axis %s is named twice", it.Axis.Text)
			continue
		}
		if size := p.operand(it.Size, roleBytes); size != nil {
			out = append(out, haloSide{g.axes[i], int64(2 * i), size})
		}
	}
	return out
}

// emit writes the two receives or the two sends of an axis.
func (s *haloSide) emit(w *lowerer, p *planner, kind graph.Kind, sites [2]int32, flags graph.Flags, context int32, add func(graph.Op)) {
	for direction, d := range []int64{-1, 1} {
		tag, peer, site := s.tag+int64(direction), s.axis.shift(int64(w.rank), d), sites[0]
		if kind == graph.Recv {
			// What travels in a direction comes from the neighbour on the other side.
			peer, site, flags = s.axis.shift(int64(w.rank), -d), sites[1], 0
		}
		if peer == noRank {
			continue
		}
		op := p.base(kind, site)
		op.Flags |= flags
		op.Arg, op.Peer, op.Tag, op.Size = context, w.r.Int(peer), w.r.Int(tag), w.value(s.size)
		add(op)
	}
}
