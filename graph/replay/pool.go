package replay

import "hybrid/graph"

func (c *Cursor) newInst(op int32) int32 {
	h := c.freeInst
	if h >= 0 {
		c.freeInst = c.insts[h].next
	} else {
		h = int32(len(c.insts))
		c.insts = append(c.insts, instance{})
	}
	c.seq++
	c.live++
	// Field by field: a composite literal goes through the stack and stalls.
	in := &c.insts[h]
	in.op, in.pending, in.edges, in.part, in.step, in.rec, in.next = op, 0, -1, -1, -1, -1, -1
	in.gate, in.issued, in.seq = false, false, c.seq
	if c.trace != nil {
		c.trace.begin(h)
	}
	return h
}

func (c *Cursor) freeInstance(h int32) {
	c.insts[h].seq = 0
	c.insts[h].next = c.freeInst
	c.freeInst = h
	c.live--
}

// dependOn makes h wait for another instance if that is still live.
func (c *Cursor) dependOn(h int32, on ref) {
	if on.seq == 0 || c.insts[on.inst].seq != on.seq {
		return
	}
	e := c.freeEdge
	if e >= 0 {
		c.freeEdge = c.edges[e].next
	} else {
		e = int32(len(c.edges))
		c.edges = append(c.edges, edge{})
	}
	c.edges[e] = edge{h, c.insts[on.inst].edges}
	c.insts[on.inst].edges = e
	c.insts[h].pending++
	if c.trace != nil {
		c.trace.waits(h, on.inst)
	}
}

// issueOrder turns a list of dependents, newest first, around, so that they are
// released in the order in which the thread issued them.
func (c *Cursor) issueOrder(e int32) int32 {
	turned := int32(-1)
	for e >= 0 {
		e, c.edges[e].next, turned = c.edges[e].next, turned, e
	}
	return turned
}

// addLabel records a live instance of a label.
func (c *Cursor) addLabel(h int32, op *graph.Op) error {
	at := c.insts[h].op
	index, err := c.eval(op.Index, at)
	if err != nil {
		return err
	}
	rec := labelRec{label: op.Label, inst: h, index: index, seq: c.insts[h].seq}
	for _, slot := range c.p.PrevSlots() {
		c.iters = append(c.iters, c.env.Loops[slot])
	}
	c.insts[h].rec = int32(len(c.recs))
	c.recs = append(c.recs, rec)
	c.latest[op.Label] = ref{h, rec.seq}
	return nil
}

// dropRec removes a record; the last one takes its place.
func (c *Cursor) dropRec(i int32) {
	last := len(c.recs) - 1
	c.insts[c.recs[i].inst].rec = -1
	if n := len(c.p.PrevSlots()); n > 0 {
		copy(c.iters[int(i)*n:], c.iters[last*n:])
		c.iters = c.iters[:last*n]
	}
	if int(i) != last {
		c.recs[i] = c.recs[last]
		c.insts[c.recs[i].inst].rec = i
	}
	c.recs = c.recs[:last]
}

// dropLabels forgets the labels [lo, hi).
func (c *Cursor) dropLabels(lo, hi int32) {
	clear(c.latest[lo:hi])
	for i := int32(len(c.recs)) - 1; i >= 0; i-- {
		if l := c.recs[i].label; l >= lo && l < hi {
			c.dropRec(i)
		}
	}
}

// dependOnLabel resolves the explicit dependency with the given index against the
// live instances.
func (c *Cursor) dependOnLabel(h, dep int32) error {
	d := &c.p.Deps[dep]
	var want int64
	prev, stride := int32(0), int32(len(c.p.PrevSlots()))
	switch d.Mode {
	case graph.DepLabel:
		c.dependOn(h, c.latest[d.Target])
		return nil
	case graph.DepIndex:
		n, err := c.eval(d.Index, c.insts[h].op)
		if err != nil {
			return err
		}
		want = n
	case graph.DepPrev:
		if prev = c.p.PrevIndex(dep); prev < 0 {
			return nil
		}
		want = c.env.Loops[c.p.PrevSlots()[prev]] - int64(d.Back)
	}
	for i := range c.recs {
		r := &c.recs[i]
		if r.label != d.Target || r.inst == h {
			continue
		}
		if d.Mode == graph.DepEach || d.Mode == graph.DepIndex && r.index == want ||
			d.Mode == graph.DepPrev && c.iters[int32(i)*stride+prev] == want {
			c.dependOn(h, ref{r.inst, r.seq})
		}
	}
	return nil
}
