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

// startPart begins this rank's part of a collective.
func (c *Cursor) startPart(h int32, op *graph.Op) {
	at := c.insts[h].op
	call := &c.p.Calls[op.Arg]
	alg := c.algs.Find(call.Type, call.Algorithm)
	if call.Algorithm == "" {
		alg = c.algs.Default(call.Type)
	}
	var operand [3]int64
	for i, v := range [...]graph.Value{op.Tag, op.Peer, op.Size} {
		n, err := c.eval(v, at)
		if err != nil {
			c.fail(err)
			return
		}
		operand[i] = n
	}
	group := c.g.Groups[operand[0]]
	me := group.Pos(c.rank)
	if alg == nil || me < 0 || operand[2] < 0 {
		c.fail(c.located(op, "E303", "%s %s of %d B cannot run on rank %d of group %s", call.Type, call.Algorithm, operand[2], c.rank, group.Name))
		return
	}
	instance, err := c.instanceOf(op, at, group.ID)
	if err != nil {
		c.fail(err)
		return
	}
	c.Issued[graph.Collective]++
	p := c.newPart()
	pt := &c.parts[p]
	pt.inst, pt.group, pt.instance, pt.real = h, group, instance, alg
	pt.call = collective.Call{N: int32(group.Size()), Me: me, Root: int32(operand[1]), Bytes: operand[2]}
	c.insts[h].part = p
	if op.Flags&graph.Synchronize != 0 && group.Size() > 1 {
		pt.barrier = true
		c.runPart(p, c.algs.SyncBarrier())
		return
	}
	pt.barrier = false
	c.runPart(p, alg)
}

// instanceOf returns the number of the collective within its group: written in a
// flat program, counted in a thread program.
func (c *Cursor) instanceOf(op *graph.Op, at, group int32) (int64, error) {
	if c.p.Flat {
		return c.eval(op.Index, at)
	}
	for i := range c.counts {
		if c.counts[i].group == group {
			c.counts[i].n++
			return c.counts[i].n - 1, nil
		}
	}
	c.counts = append(c.counts, groupCount{group, 1})
	return 0, nil
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
	in.part, in.step, in.issued = p, i, true
	c.out = append(c.out, Issue{})
	c.stepIssue(&c.out[len(c.out)-1], h, &c.parts[p], s)
}

func (c *Cursor) stepIssue(is *Issue, h int32, pt *part, s *collective.Step) {
	op := c.insts[pt.inst].op
	*is = Issue{
		Handle: h, Op: op, Site: c.p.Ops[op].Site, Kind: graph.Recv, Flags: c.p.Ops[op].Flags & (graph.Eager | graph.Rendezvous),
		InCollective: true, Sync: pt.barrier, Peer: pt.group.Members[s.Peer], Tag: s.Tag,
		Context: CollectiveContext(pt.group.ID, pt.instance), Bytes: s.Bytes,
	}
	if s.Send {
		is.Kind = graph.Send
	}
	if pt.barrier {
		is.Tag |= syncTag
		is.Bytes = 0
	}
}

// stepDone ends a step of a part and issues the steps that waited for it.
func (c *Cursor) stepDone(p, i int32) {
	pt := &c.parts[p]
	s := pt.alg.At(&pt.call, i)
	for next := s.NextLo; next < s.NextHi; next++ {
		n := pt.alg.At(&pt.call, next)
		if n.Hi-n.Lo > 1 && !pt.lastDependency(next, n.Hi-n.Lo) {
			continue
		}
		c.issueTransfer(p, next, &n)
		pt = &c.parts[p]
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

// lastDependency counts down a step's dependencies and reports the last one.
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
		Site: c.p.Ops[in.op].Site, Group: pt.group.ID, Instance: pt.instance, Start: pt.start, End: c.now,
		Type: pt.real.Type, Algorithm: pt.real, Root: pt.call.Root, Bytes: pt.call.Bytes,
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
