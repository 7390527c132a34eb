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
	c.insts[h] = instance{op: op, edges: -1, part: -1, step: -1, rec: -1, seq: c.seq}
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
	// Dependents are released in issue order: append at the end of the short list.
	c.edges[e] = edge{h, -1}
	if last := c.insts[on.inst].edges; last < 0 {
		c.insts[on.inst].edges = e
	} else {
		for c.edges[last].next >= 0 {
			last = c.edges[last].next
		}
		c.edges[last].next = e
	}
	c.insts[h].pending++
}

// addLabel records a live instance of a label.
func (c *Cursor) addLabel(h int32, op *graph.Op) error {
	at := c.insts[h].op
	index, err := c.eval(op.Index, at)
	if err != nil {
		return err
	}
	rec := labelRec{label: op.Label, inst: h, index: index, seq: c.insts[h].seq}
	if slot := c.p.LoopAround(at); slot >= 0 {
		rec.iter = c.env.Loops[slot]
	}
	c.insts[h].rec = int32(len(c.recs))
	c.recs = append(c.recs, rec)
	return nil
}

// dropRec removes a record; the last one takes its place.
func (c *Cursor) dropRec(i int32) {
	last := len(c.recs) - 1
	c.insts[c.recs[i].inst].rec = -1
	if int(i) != last {
		c.recs[i] = c.recs[last]
		c.insts[c.recs[i].inst].rec = i
	}
	c.recs = c.recs[:last]
}

// dropLabels forgets the labels [lo, hi).
func (c *Cursor) dropLabels(lo, hi int32) {
	for i := int32(len(c.recs)) - 1; i >= 0; i-- {
		if l := c.recs[i].label; l >= lo && l < hi {
			c.dropRec(i)
		}
	}
}

// dependOnLabel resolves one explicit dependency against the live instances.
func (c *Cursor) dependOnLabel(h int32, d *graph.Dep) error {
	at := c.insts[h].op
	var want int64
	switch d.Mode {
	case graph.DepIndex:
		n, err := c.eval(d.Index, at)
		if err != nil {
			return err
		}
		want = n
	case graph.DepPrev:
		slot := c.p.LoopAround(at)
		if slot < 0 {
			return nil
		}
		want = c.env.Loops[slot] - int64(d.Back)
	}
	latest := ref{}
	for i := range c.recs {
		r := &c.recs[i]
		if r.label != d.Target || r.inst == h {
			continue
		}
		switch d.Mode {
		case graph.DepLabel:
			if r.seq > latest.seq {
				latest = ref{r.inst, r.seq}
			}
		case graph.DepEach:
			c.dependOn(h, ref{r.inst, r.seq})
		case graph.DepIndex:
			if r.index == want {
				c.dependOn(h, ref{r.inst, r.seq})
			}
		case graph.DepPrev:
			if r.iter == want {
				c.dependOn(h, ref{r.inst, r.seq})
			}
		}
	}
	c.dependOn(h, latest)
	return nil
}
