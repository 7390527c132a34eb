package replay

// Waiting calls visit for every instance that the engine holds.
func (c *Cursor) Waiting(visit func(op int32, step int32, i *Issue)) {
	for h := range c.insts {
		in := &c.insts[h]
		if in.seq == 0 || !in.issued {
			continue
		}
		var is Issue
		if c.reissue(&is, int32(h)) == nil {
			visit(in.op, in.step, &is)
		}
	}
}

// reissue fills the issue of an instance once more; the issue must be zero.
func (c *Cursor) reissue(is *Issue, h int32) error {
	in := &c.insts[h]
	switch {
	case in.step >= 0:
		pt := &c.parts[in.part]
		s := pt.alg.At(&pt.call, in.step)
		c.stepIssue(is, h, pt, &s)
	case in.next >= 0:
		*is = c.held[in.next]
	default:
		return c.opIssue(is, h, in.op)
	}
	return nil
}

// Unstarted returns the first operation that has not been reached or released,
// and false if there is none.
func (c *Cursor) Unstarted() (op int32, ok bool) {
	if !c.p.Flat {
		return c.pc, int(c.pc) < len(c.p.Ops)
	}
	for i, n := range c.indegree {
		if n > 0 {
			return int32(i), true
		}
	}
	return 0, false
}
