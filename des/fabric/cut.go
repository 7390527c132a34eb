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
	// parts, from head on, are the frames to be stored, and pause frames, by (tail, incoming
	// link).
	parts []part
	head  int
	// heads are the frames that have begun to arrive at this time and may go on at once.
	heads []part
}

// part is a frame of which the head is there.
type part struct {
	frame sim.Record // with its incoming link in Size
	tail  units.Time
}

// partial is the latest frame on an incoming link that took effect before it was whole.
type partial struct {
	tail units.Time
	size int64 // on the link, which the frame may have lost
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
	switch {
	case w.perByte >= 0 && than.perByte >= 0:
		return w.perByte < than.perByte
	case w.perByte >= 0 || than.perByte >= 0: // one has faults, and the clock is exact
		return w.ticks(1<<20) < than.ticks(1<<20)
	}
	return w.slow != than.slow && w.slow.rate.Cmp(than.slow.rate) < 0
}

// ticks returns how long n bytes take on a wire without wide sizes.
func (w *Wire) ticks(n int64) units.Time {
	if w.perByte >= 0 {
		return n * w.perByte
	}
	return w.slow.clock.Span(w.slow.rate, n)
}

// cutThrough prepares a switch that cuts through.
func (s *Buffered) cutThrough() {
	if s.CutAfter == 0 {
		return
	}
	s.partial = make([]partial, len(s.inlets))
	cutters := make([]cutter, len(s.outlets))
	for i := range s.outlets {
		s.outlets[i].cut = &cutters[i]
	}
}

// next returns when the next tail arrives, or [units.Never].
func (c *cutter) next() units.Time {
	if c.head == len(c.parts) {
		return units.Never
	}
	return c.parts[c.head].tail
}

// slot returns the incoming link of a part.
func (p *part) slot() uint32 { return p.frame.Size >> sizeBits }

// first returns when an outlet does something, and what, with the tails that arrive.
func (c *cutter) first(t units.Time, order uint64) (units.Time, uint64) {
	if c.head == len(c.parts) {
		return t, order
	}
	p := &c.parts[c.head]
	if o := phaseArrival | uint64(p.slot())<<indexBits; p.tail < t || p.tail == t && o <= order {
		return p.tail, o
	}
	return t, order
}

// store expects the tail of a frame. Tails mostly come in the order of heads.
func (c *cutter) store(p *part) {
	if n := len(c.parts); n == cap(c.parts) && 2*c.head >= n {
		c.parts, c.head = c.parts[:copy(c.parts, c.parts[c.head:])], 0
	}
	c.parts = append(c.parts, *p)
	i := len(c.parts) - 1
	for ; i > c.head && p.before(&c.parts[i-1]); i-- {
		c.parts[i] = c.parts[i-1]
	}
	c.parts[i] = *p
}

func (p *part) before(q *part) bool {
	return p.tail < q.tail || p.tail == q.tail && p.slot() < q.slot()
}

// step is cruise of an outlet that does one thing after the other.
func (s *Buffered) step(w *sim.Worker, o *outlet) {
	for {
		if o.cut != nil && s.passHead(w, o) {
			continue
		}
		m := o.moment(w, 0)
		if m == never {
			break
		}
		s.do(w, o, m)
	}
	if o.sending >= 0 && !o.counted {
		s.take(o.slot, uint8(o.sending), o.stored)
		o.counted = true
	}
}

// passHead sends the next frame on where nothing else waits or comes at the time of its
// head. If its last bit leaves in the same window it gets into no books of the memory.
func (s *Buffered) passHead(w *sim.Worker, o *outlet) bool {
	left := o.tail - o.head
	if left == 0 || len(o.cut.heads) > 0 {
		return false
	}
	mask := uint32(len(o.ring) - 1)
	r := &o.ring[o.head&mask]
	now := r.T
	if o.cut.next() <= now || left > 1 && o.ring[(o.head+1)&mask].T == now || o.sending != idle && o.wire.Free > now {
		return false
	}
	if o.sending != idle {
		s.left(o, o.wire.Free)
	}
	slot, size, class := r.Size>>sizeBits, r.Size&sizeMask, s.class(r)
	far := &s.inlets[slot].Far
	rest := far.rest(size)
	if o.waiting|o.blocked != 0 || o.control.head != o.control.tail || rest == 0 || r.Kind() == Pause || o.wire.faster(far) {
		return false
	}
	n, c := s.size(size), &s.Classes[class%MaxClasses]
	if !c.Lossless && o.queues[class].bytes+n > c.Limit.Bytes {
		return false
	}
	o.head++
	o.settle()
	o.ready = units.Never
	if p := &s.partial[slot]; now+rest > p.tail {
		*p = partial{now + rest, int64(size)}
	}
	o.book(s.Buffering, r, class, n)
	s.through(w, o, r, class, now)
	o.counted = false
	return true
}

// doCutting is do of a switch that cuts through, at time t.
func (s *Buffered) doCutting(w *sim.Worker, o *outlet, m uint64, t units.Time) {
	switch m & (3 << phaseBits) {
	case phaseRelease:
		s.left(o, t)
	case phaseArrival:
		if c := o.cut; c.next() == t && c.parts[c.head].slot() == uint32(m>>indexBits)&(MaxInlets-1) {
			s.arriveTail(o)
			return
		}
		r := &o.ring[o.head&uint32(len(o.ring)-1)]
		o.head++
		s.arriveHead(o, r)
		o.settle()
	case phaseStart:
		o.start(w, s.Buffering, t)
		if len(o.cut.heads) > 0 {
			s.passHeads(w, o, t)
		}
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
	now, tail := r.T, r.T+rest
	if p := &s.partial[slot]; tail > p.tail { // outlets may run one after the other
		*p = partial{tail, int64(size)}
	}
	if kind == Pause {
		o.cut.store(&part{*r, tail})
		return
	}
	class, n, ok := s.accept(o, r)
	if !ok {
		return
	}
	o.book(s.Buffering, r, class, n)
	if o.sending != idle || r.Kind() != kind || o.wire.faster(far) {
		o.cut.store(&part{*r, tail})
		return
	}
	o.cut.heads = append(o.cut.heads, part{*r, tail})
	o.touch(now)
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
	c := o.cut
	p := &c.parts[c.head]
	if c.head++; c.head == len(c.parts) {
		c.parts, c.head = c.parts[:0], 0
	}
	r := &p.frame
	if r.T = p.tail; r.Kind() == Pause {
		o.stop(r)
		return
	}
	class := s.class(r)
	q := &o.queues[class]
	q.push(r)
	q.counted = q.tail
	o.waiting |= 1 << class
	o.touch(r.T)
}

// passHeads sends the first of the frames on whose heads the outlet has not decided yet,
// of those that may, if nothing else is being sent. The others are stored.
func (s *Buffered) passHeads(w *sim.Worker, o *outlet, now units.Time) {
	heads := o.cut.heads
	o.cut.heads = heads[:0]
	for i := range heads {
		p := &heads[i]
		class := s.class(&p.frame)
		if o.sending != idle || o.queues[class].opens() > now {
			o.cut.store(p)
			continue
		}
		s.through(w, o, &p.frame, class, now)
	}
}

// through sends a frame on while it arrives.
func (s *Buffered) through(w *sim.Worker, o *outlet, r *sim.Record, class uint8, now units.Time) {
	q, c := &o.queues[class], &s.Classes[class]
	size := r.Size & sizeMask
	o.slot = r.Size >> sizeBits
	o.sending, o.stored, o.counted = int8(class), s.size(size), true
	if m := c.Mark; m != nil && m.Leaving && r.Src>>24&Capable != 0 && q.mark(m, q.bytes-o.stored, QueueSalt(o.salt, class)) {
		r.Src |= Marked << 24
	}
	if s.Turns {
		o.take(s.Buffering, 1<<class)
	}
	s.Tally.Through++
	o.sendPaced(w, s.Buffering, r, size, class, now)
}

// Arriving returns the frame on an incoming link, counted within the switch, that took
// effect before a time of the switch's clock and whose last bit has its effect then or
// later. Everything before that time, and nothing else, must have happened.
func (s *Buffered) Arriving(inlet int, at units.Time) Count {
	if p := &s.partial[inlet]; p.size > 0 && p.tail >= at {
		return Count{1, p.size}
	}
	return Count{}
}
