package replay

import (
	"hybrid/graph"
	"hybrid/graph/collective"
)

// syncTag sets the tags of the synchronization barrier apart from the tags of the
// collective behind it, which shares its context.
const syncTag = 1 << 30

// CollectiveContext returns the matching context of an instance of a group's
// collectives. Its top bit keeps it apart from the contexts of front ends.
func CollectiveContext(group int32, instance int64) uint64 {
	return 1<<63 | uint64(uint32(group))<<40 | uint64(instance)&(1<<40-1)
}

// preparePart evaluates a collective and fixes its place among the collectives of
// its group.
func (c *Cursor) preparePart(h int32, op *graph.Op) error {
	at := c.insts[h].op
	call := &c.p.Calls[op.Arg]
	alg := c.algorithm(op.Arg)
	var operand [3]int64
	for i, v := range [...]graph.Value{op.Tag, op.Peer, op.Size} {
		n, err := c.eval(v, at)
		if err != nil {
			return err
		}
		operand[i] = n
	}
	id, root, bytes := operand[0], operand[1], operand[2]
	if id < 0 || id >= int64(len(c.g.Groups)) {
		return c.located(op, "E405", "rank %d calls %s over group %d of %d", c.rank, call.Type, id, len(c.g.Groups))
	}
	group := c.g.Groups[id]
	me := group.Pos(c.rank)
	switch {
	case alg == nil:
		return c.located(op, "E406", "no algorithm %q for %s", call.Algorithm, call.Type)
	case me < 0:
		return c.located(op, "E405", "rank %d calls %s over %s, of which it is no member", c.rank, call.Type, group.Name)
	case root < 0 || root >= int64(group.Size()):
		return c.located(op, "E405", "root %d of %s is outside %s, which has %d members", root, call.Type, group.Name, group.Size())
	case bytes < 0:
		return c.located(op, "E222", "negative size %d B on rank %d", bytes, c.rank)
	}
	if err := alg.Fits(group); err != nil {
		return c.located(op, "E303", "%s %s %v", call.Type, alg.Name, err)
	}
	instance, err := c.instanceOf(h, op, group.ID)
	if err != nil {
		return err
	}
	p := c.newPart()
	pt := &c.parts[p]
	pt.inst, pt.group, pt.instance, pt.alg = h, group, instance, alg
	pt.context = CollectiveContext(group.ID, instance)
	// Field by field: a part that is used again for the same group keeps what the
	// call remembers of the rank's place in a tree.
	pt.call.N, pt.call.Me, pt.call.Root, pt.call.Bytes = int32(group.Size()), me, int32(root), bytes
	pt.call.Units, pt.call.Sizes, pt.sent = group.Units, nil, 0
	if call.Sizes != nil {
		pt.call.Sizes = c.fixSizes(pt, call.Sizes, op, at)
	}
	pt.real, pt.barrier = alg, op.Flags&graph.Synchronize != 0 && group.Size() > 1
	c.insts[h].part = p
	return nil
}

// fixSizes keeps the sizes of an all-to-allv with the loop counters of this moment.
func (c *Cursor) fixSizes(pt *part, sizes graph.PairSizes, op *graph.Op, at int32) collective.PairSizes {
	if pt.sizes == nil {
		pt.sizes = new(pairSizes)
	}
	pt.sizes.begin(sizes, pt.group, c.g.Sites[op.Site].Pos, at, c.env.Loops)
	return pt.sizes
}

// algorithm returns the algorithm of a call, or nil, and remembers it.
func (c *Cursor) algorithm(call int32) *collective.Algorithm {
	if c.chosen == nil {
		c.chosen = make([]*collective.Algorithm, len(c.p.Calls))
	}
	if c.chosen[call] == nil {
		q := &c.p.Calls[call]
		if c.chosen[call] = c.algs.Find(q.Type, q.Algorithm); q.Algorithm == "" {
			c.chosen[call] = c.algs.Default(q.Type)
		}
	}
	return c.chosen[call]
}

// startPart begins this rank's part of a collective.
func (c *Cursor) startPart(h int32) {
	p := c.insts[h].part
	pt := &c.parts[p]
	c.Issued[graph.Collective]++
	if c.onPart != nil {
		c.onPart(pt)
	}
	if pt.barrier {
		c.runPart(p, c.algs.SyncBarrier())
		return
	}
	c.runPart(p, pt.real)
}

// instanceOf returns the number of the collective within its group: written in a
// flat program, counted in a thread program in the order in which the thread
// reaches them, which is the order in which all members must call them.
func (c *Cursor) instanceOf(h int32, op *graph.Op, group int32) (int64, error) {
	if c.p.Flat {
		return c.eval(op.Index, c.insts[h].op)
	}
	i := 0
	for i < len(c.counts) && c.counts[i].group != group {
		i++
	}
	if i == len(c.counts) {
		c.counts = append(c.counts, groupCount{group: group})
	}
	n := &c.counts[i]
	if c.g.Serialize {
		c.dependOn(h, n.last)
		n.last = ref{h, c.insts[h].seq}
	}
	n.n++
	return n.n - 1, nil
}

// runPart issues the first steps of an algorithm, or ends it where it has none.
func (c *Cursor) runPart(p int32, alg *collective.Algorithm) {
	pt := &c.parts[p]
	pt.alg, pt.start, pt.partial = alg, c.now, pt.partial[:0]
	pt.left = alg.Len(&pt.call)
	if pt.left == 0 {
		c.endPart(p)
		return
	}
	for k := 0; ; k++ {
		lo, hi := alg.Roots(&pt.call, k)
		if lo == hi {
			return
		}
		for i := lo; i < hi; i++ {
			c.issueStep(p, i)
		}
	}
}

func (c *Cursor) issueStep(p, i int32) {
	pt := &c.parts[p]
	s := pt.alg.At(&pt.call, i)
	c.issueTransfer(p, i, &s)
}

func (c *Cursor) issueTransfer(p, i int32, s *collective.Step) {
	h := c.newInst(c.insts[c.parts[p].inst].op)
	in := &c.insts[h]
	in.part, in.step, in.issued, in.edges, in.rec = p, i, true, s.NextLo, s.NextHi
	c.out = append(c.out, Issue{})
	is, pt := &c.out[len(c.out)-1], &c.parts[p]
	c.stepIssue(is, h, pt, s)
	if pt.call.Sizes == nil || pt.barrier {
		return
	}
	if s.Send {
		pt.sent += is.Bytes
	}
	if pt.sizes.err != nil {
		c.fail(pt.sizes.err)
	}
}

// stepIssue fills the issue of a collective's transfer; the issue must be zero.
func (c *Cursor) stepIssue(is *Issue, h int32, pt *part, s *collective.Step) {
	at := c.insts[pt.inst].op
	op := &c.p.Ops[at]
	is.Handle, is.Op, is.Site, is.Step = h, at, op.Site, c.insts[h].step
	if is.Kind = graph.Recv; s.Send {
		is.Kind = graph.Send
	}
	is.Flags, is.InCollective, is.Sync = op.Flags&(graph.Eager|graph.Rendezvous), true, pt.barrier
	is.Peer, is.Context = pt.group.Members[s.Peer], pt.context
	if pt.barrier {
		is.Tag = s.Tag | syncTag
		return
	}
	is.Tag, is.Bytes = s.Tag, c.bytes(s.Bytes)
}

// stepDone ends a step of a part and issues the steps [lo, hi), all of which wait for
// the same ones, if it was the last of these.
func (c *Cursor) stepDone(p, lo, hi int32) {
	pt := &c.parts[p]
	if lo < hi {
		first := pt.alg.At(&pt.call, lo)
		if n := first.Hi - first.Lo; n == 1 || pt.lastDependency(lo, n) {
			c.issueTransfer(p, lo, &first)
			for next := lo + 1; next < hi; next++ {
				c.issueStep(p, next)
			}
		}
	}
	if pt.left--; pt.left > 0 {
		return
	}
	if pt.barrier {
		pt.barrier = false
		c.runPart(p, pt.real)
		return
	}
	c.endPart(p)
}

// lastDependency counts down the dependencies of a step, and of those that wait with
// it, and reports the last one.
func (pt *part) lastDependency(step, deps int32) bool {
	for i := range pt.partial {
		if q := &pt.partial[i]; q.step == step {
			if q.left--; q.left == 0 {
				*q = pt.partial[len(pt.partial)-1]
				pt.partial = pt.partial[:len(pt.partial)-1]
				return true
			}
			return false
		}
	}
	pt.partial = append(pt.partial, partial{step, deps - 1})
	return false
}

func (c *Cursor) endPart(p int32) {
	pt := &c.parts[p]
	in := &c.insts[pt.inst]
	c.Ended = append(c.Ended, CollectiveEnd{
		Rank: c.rank, Op: in.op, Site: c.p.Ops[in.op].Site, Group: pt.group.ID, Instance: pt.instance, Start: pt.start, End: c.now,
		Type: pt.real.Type, Algorithm: pt.real, Root: pt.call.Root, Bytes: pt.call.Bytes, Sent: pt.sent,
	})
	in.part = -1
	c.queue = append(c.queue, pt.inst)
	pt.next, c.freePart = c.freePart, p
}

func (c *Cursor) newPart() int32 {
	p := c.freePart
	if p >= 0 {
		c.freePart = c.parts[p].next
		return p
	}
	c.parts = append(c.parts, part{})
	return int32(len(c.parts) - 1)
}
