package fabric

import (
	"hybrid/des/sim"
	"hybrid/internal/units"
)

// Cut-through forwarding (Kermani and Kleinrock, "Virtual Cut-Through: A New Computer
// Communication Switching Technique", Computer Networks 3, 1979): a frame takes effect
// when its first CutAfter bytes are there, its head. It goes on from there if its output
// would stay idle otherwise, and is stored else, as if it had come when its tail has.

// cutter is what an outlet knows of frames that have not arrived whole.
type cutter struct {
	// tails are the frames to be stored, and pause frames, by (last bit, incoming link).
	tails sim.Events
	// heads are the incoming links of frames that have begun to arrive at this time and may
	// go on at once.
	heads []uint32
}

// part is the latest frame on an incoming link that took effect before it was whole.
type part struct {
	frame sim.Record
	tail  units.Time
	size  uint32 // on the link, which the frame may have lost
}

// rest returns the time between the head and the tail of a frame, on a wire to a switch
// that cuts through.
func (w *Wire) rest(size uint32) units.Time {
	switch {
	case size <= w.cut:
		return 0
	case w.perByte >= 0:
		return int64(size-w.cut) * w.perByte
	}
	return w.slow.clock.Span(w.slow.rate, int64(size)) - w.slow.clock.Span(w.slow.rate, int64(w.cut))
}

// faster reports whether a wire is faster than another.
func (w *Wire) faster(than *Wire) bool {
	if w.perByte >= 0 {
		return w.perByte < than.perByte
	}
	return w.slow.rate.Cmp(than.slow.rate) < 0
}

// cutThrough prepares a switch that cuts through.
func (s *Buffered) cutThrough() {
	if s.CutAfter == 0 {
		return
	}
	s.parts = make([]part, len(s.inlets))
	cutters := make([]cutter, len(s.outlets))
	for i := range s.outlets {
		s.outlets[i].cut = &cutters[i]
	}
}

// first returns when an outlet does something, and what, with the tails that arrive.
func (c *cutter) first(t units.Time, order uint64) (units.Time, uint64) {
	if c.tails.Len() == 0 {
		return t, order
	}
	e := c.tails.Peek()
	if o := phaseArrival | uint64(e.Arg)<<indexBits; e.T < t || e.T == t && o <= order {
		return e.T, o
	}
	return t, order
}

// store expects the tail of a frame.
func (c *cutter) store(slot uint32, tail units.Time) {
	c.tails.Push(sim.Event{T: tail, Key: uint64(slot), Arg: int32(slot)})
}

// doCutting is do of a switch that cuts through, at time t.
func (s *Buffered) doCutting(w *sim.Worker, o *outlet, m uint64, t units.Time) {
	switch m & (3 << phaseBits) {
	case phaseRelease:
		s.left(o, t)
	case phaseArrival:
		if slot := uint32(m>>indexBits) & (MaxInlets - 1); o.cut.tails.Next() == t && uint32(o.cut.tails.Peek().Arg) == slot {
			s.arriveTail(o)
			return
		}
		r := &o.ring[o.head&uint32(len(o.ring)-1)]
		o.head++
		s.arriveHead(o, r)
	case phaseStart:
		o.start(w, s.Buffering, t)
		s.passHeads(w, o, t)
	}
}

// arriveHead takes a frame whose head is there into the memory, as a whole.
func (s *Buffered) arriveHead(o *outlet, r *sim.Record) {
	slot, size, kind := r.Size>>sizeBits, r.Size&sizeMask, r.Kind()
	far := &s.inlets[slot].Far
	rest := far.rest(size)
	switch {
	case rest == 0 && kind == Pause:
		o.stop(r)
		return
	case rest == 0:
		s.arrive(o, r)
		return
	}
	p := &s.parts[slot]
	p.tail, p.size = r.T+rest, size
	if kind == Pause {
		p.frame = *r
		o.cut.store(slot, p.tail)
		return
	}
	class, n, ok := s.accept(o, r)
	if !ok {
		return
	}
	o.book(s.Buffering, r, class, n)
	p.frame = *r
	if o.sending != idle || r.Kind() != kind || o.wire.faster(far) {
		o.cut.store(slot, p.tail)
		return
	}
	o.cut.heads = append(o.cut.heads, slot)
	o.touch(r.T)
}

// book counts and marks a packet that comes, before it joins its queue.
func (o *outlet) book(p *Buffering, r *sim.Record, class uint8, n int64) {
	q := &o.queues[class]
	if m := p.Classes[class].Mark; m != nil && r.Src>>24&Capable != 0 {
		q.see(m, q.bytes)
		if !m.Leaving && q.mark(m, q.bytes, QueueSalt(o.salt, class)) {
			r.Src |= Marked << 24
		}
	}
	q.bytes += n
	o.deepest = max(o.deepest, o.held)
	o.held += n
}

// arriveTail lets the next frame that is whole join its queue, or stop it.
func (s *Buffered) arriveTail(o *outlet) {
	e := o.cut.tails.Pop()
	r := &s.parts[e.Arg].frame
	r.T = e.T
	if r.Kind() == Pause {
		o.stop(r)
		return
	}
	class := s.class(r)
	q := &o.queues[class]
	q.push(r)
	q.counted = q.tail
	o.waiting |= 1 << class
	o.touch(e.T)
}

// passHeads sends the first of the frames on whose heads the outlet has not decided yet,
// of those that may, if nothing else is being sent. The others are stored.
func (s *Buffered) passHeads(w *sim.Worker, o *outlet, now units.Time) {
	heads := o.cut.heads
	o.cut.heads = heads[:0]
	for _, slot := range heads {
		p := &s.parts[slot]
		class := s.class(&p.frame)
		if o.sending != idle || o.queues[class].opens() > now {
			o.cut.store(slot, p.tail)
			continue
		}
		s.through(w, o, slot, class, now)
	}
}

// through sends a frame on while it arrives.
func (s *Buffered) through(w *sim.Worker, o *outlet, slot uint32, class uint8, now units.Time) {
	r, q, c := &s.parts[slot].frame, &o.queues[class], &s.Classes[class]
	r.Size &= sizeMask
	o.sending, o.slot, o.stored, o.counted = int8(class), slot, s.size(r.Size), true
	if m := c.Mark; m != nil && m.Leaving && r.Src>>24&Capable != 0 && q.mark(m, q.bytes-o.stored, QueueSalt(o.salt, class)) {
		r.Src |= Marked << 24
	}
	if s.Turns {
		o.take(s.Buffering, 1<<class)
	}
	if c.PerByte.Num != 0 {
		o.pace(s.Buffering, class, r.Size, now)
	}
	s.Tally.Through++
	o.send(w, r, now)
}

// Arriving returns the frame on an incoming link, counted within the switch, that took
// effect before a time of the switch's clock and whose last bit has its effect then or
// later. Everything before that time, and nothing else, must have happened.
func (s *Buffered) Arriving(inlet int, at units.Time) Count {
	if p := &s.parts[inlet]; p.size > 0 && p.tail >= at {
		return Count{1, int64(p.size)}
	}
	return Count{}
}
