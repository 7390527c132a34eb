package fabric

import (
	"math"
	"math/bits"

	"hybrid/des/sim"
	"hybrid/internal/units"
)

// limits are what the packets at an outlet must stay below for a window to be simple.
type limits struct {
	// calm is the number of bytes up to which nothing is refused, or marked on arrival.
	calm int64
	// quiet is the number of bytes up to which nothing is marked on leaving.
	quiet int64
}

func (b *Buffering) limits() limits {
	l := limits{math.MaxInt64, math.MaxInt64}
	if b.Turns || b.TrimTo > 0 {
		l.calm = -1
	}
	for i := range b.Classes {
		c := &b.Classes[i]
		if !c.Lossless {
			l.calm = min(l.calm, c.Limit.Bytes)
		}
		switch m := c.Mark; {
		case m == nil:
		case m.Weight.Num != 0:
			l.calm = -1
		case m.Leaving:
			l.quiet = min(l.quiet, m.Least)
		default:
			l.calm = min(l.calm, m.Least)
		}
	}
	return l
}

// simple says that in the window an outlet only has to send, a higher class before a lower
// one: nothing is or becomes paused, nothing is refused, and what is marked is marked when
// it leaves.
func (s *Buffered) simple(o *outlet) bool {
	return o.blocked == 0 && o.coming&special == 0 && o.held+o.expects <= s.limits.calm && o.main != none &&
		o.control.head == o.control.tail && (o.sending != idle || o.waiting == 0) && o.wire.perByte > 0
}

// alone runs an outlet through a window in which it need not know of the others.
func (s *Buffered) alone(w *sim.Worker, o *outlet) {
	switch {
	case s.Stepwise:
		s.step(w, o)
	case s.simple(o) && (s.Shuffle == 0 || s.lot(w, o)&1 == 0):
		s.stream(w, o)
	default:
		s.cruise(w, o)
	}
}

// lot draws for an outlet in a window.
func (s *Buffered) lot(w *sim.Worker, o *outlet) uint64 {
	return mix(s.Shuffle ^ o.salt ^ mix(uint64(w.Start)))
}

// mixUp lets more outlets run together than must.
func (s *Buffered) mixUp(w *sim.Worker) {
	for i := range s.outlets {
		if s.lot(w, &s.outlets[i])&6 == 0 {
			s.joint[i>>6] |= 1 << (i & 63)
			s.together = true
		}
	}
}

// stream is cruise of a simple outlet. While it runs, held and the bytes of the classes are
// those of what waits, including what arrives only later in the window.
func (s *Buffered) stream(w *sim.Worker, o *outlet) {
	found, free, frame := o.held, o.wire.Free, o.stored
	before := levels{sending: o.sending}
	if o.sending == idle {
		frame = 0
	}
	_, from := o.wire.out.Ring()
	if o.log != nil {
		s.levels(o, &before)
	}
	s.begin(o)
	x := s.other(o, o.fresh)
	for {
		t := w.End
		if x != o.tail {
			t = o.ring[x&uint32(len(o.ring)-1)].T
		}
		if o.waiting&^(1<<o.main) == 0 {
			s.run(w, o, x, t)
		}
		now := o.wire.Free
		if o.waiting&^(1<<o.main) == 0 {
			if o.first != x {
				t = min(t, o.ring[o.first&uint32(len(o.ring)-1)].T)
			}
			now = max(now, t)
		}
		if now >= w.End {
			s.sort(o, x, w.End)
			break
		}
		x = s.turn(w, o, x, now)
	}
	if o.log != nil {
		s.peaks(o, &before, found, free, frame, from)
	} else if last := o.tail - 1; o.tail != o.fresh && found+o.expects-s.size(o.ring[last&uint32(len(o.ring)-1)].Size&sizeMask) > o.deepest {
		s.find(o, found, free, frame, from)
	}
	s.end(w, o)
}

// levels are what the classes of an outlet have in memory, and which is being sent.
type levels struct {
	bytes   [MaxClasses]int64
	sending int8
}

func (s *Buffered) levels(o *outlet, l *levels) {
	for c := range o.queues {
		l.bytes[c] = o.queues[c].bytes
	}
}

// peaks is find, and finds the most bytes of each class with what arrives, for the log.
func (s *Buffered) peaks(o *outlet, l *levels, held int64, free units.Time, frame int64, from uint32) {
	for c := range o.queues {
		o.log[c].most = max(o.log[c].most, l.bytes[c])
	}
	out, to := o.wire.out.Ring()
	mask, outMask := uint32(len(o.ring)-1), uint32(len(out)-1)
	for i := o.fresh; i != o.tail; i++ {
		r := &o.ring[i&mask]
		for free <= r.T {
			held -= frame
			if l.sending >= 0 {
				l.bytes[l.sending] -= frame
			}
			if from == to {
				free = units.Never
				break
			}
			d := &out[from&outMask]
			free, frame, l.sending = d.T-o.wire.delay, s.size(d.Size), int8(s.class(d))
			from++
		}
		class := s.class(r)
		if r.Dst == hole { // see sort
			class = uint8(r.Msg)
		}
		n := s.size(r.Size & sizeMask)
		o.deepest = max(o.deepest, held)
		held += n
		l.bytes[class] += n
		o.log[class].most = max(o.log[class].most, l.bytes[class])
	}
}

// begin counts what arrives in the window as waiting, and the frame on the wire as gone.
func (s *Buffered) begin(o *outlet) {
	if c := o.sending; c >= 0 {
		o.held -= o.stored
		o.queues[c].bytes -= o.stored
		if o.counted {
			s.give(o.slot, uint8(c), o.stored)
			o.counted = false
		}
	}
	o.held += o.expects
	o.queues[o.main].bytes += o.expects
	o.soon, o.later = o.fresh, o.expects
}

// end counts the frame on the wire, if it is there after the window, and what waits.
func (s *Buffered) end(w *sim.Worker, o *outlet) {
	o.head = o.tail
	o.ready = units.Never
	switch {
	case o.sending == idle:
	case o.wire.Free < w.End:
		o.sending = idle
	case o.sending >= 0:
		o.held += o.stored
		o.queues[o.sending].bytes += o.stored
		s.take(o.slot, uint8(o.sending), o.stored)
		o.counted = true
	}
	for o.first != o.tail && o.ring[o.first&uint32(len(o.ring)-1)].Dst == hole {
		o.first++
	}
	s.book(o)
	if o.coming&^(1<<o.main) != 0 {
		s.bookOthers(o)
	}
	o.waiting &^= 1 << o.main
	if o.first != o.tail {
		o.waiting |= 1 << o.main
	}
}

// bookOthers takes what has arrived and stays, of other classes than the main one, into the
// books of the memory.
func (s *Buffered) bookOthers(o *outlet) {
	for c := range o.queues {
		q := &o.queues[c]
		for ; q.counted != q.tail; q.counted++ {
			size := q.ring[q.counted&uint32(len(q.ring)-1)].Size
			s.take(size>>sizeBits, uint8(c), s.size(size&sizeMask))
		}
	}
}

// other returns the place of the next arrival from a place on that is not of the main
// class.
func (s *Buffered) other(o *outlet, at uint32) uint32 {
	if o.coming&^(1<<o.main) == 0 {
		return o.tail
	}
	mask := uint32(len(o.ring) - 1)
	for at != o.tail && s.class(&o.ring[at&mask]) == o.main {
		at++
	}
	return at
}

// run sends packets of the main class, before place x, that start before a time.
func (s *Buffered) run(w *sim.Worker, o *outlet, x uint32, end units.Time) {
	p := &o.wire
	for o.first != x {
		src := span(o.ring, o.first, x)
		if src[0].Dst == hole {
			o.first++
			continue
		}
		if start := max(src[0].T, p.Free); o.passed != 0 && start < end {
			o.overtake(1<<o.main, int(o.main), start)
		}
		n := o.pump(p.out.Room(), src, end, sizeMask)
		if n == 0 {
			return
		}
		sent := p.out.Sent(w, n)
		o.sending = int8(o.main)
		s.sent(o, src[:n], sent)
		o.first += uint32(n)
		if n < len(src) && src[n].Dst != hole && max(src[n].T, p.Free) >= end {
			return
		}
	}
}

// sent takes packets that have been sent out of the books: of the ring, and as they are on
// the wire.
func (s *Buffered) sent(o *outlet, src, sent []sim.Record) {
	old := min(max(0, int(int32(o.booked-o.first))), len(src))
	for i := range src[:old] {
		r := &src[i]
		s.give(r.Size>>sizeBits, o.main, s.size(r.Size&sizeMask))
	}
	careful := o.held > s.limits.quiet && s.Classes[o.main].Mark != nil
	sum, n := int64(0), int64(0)
	for i := range sent {
		r := &sent[i]
		n = s.size(r.Size)
		sum += n
		if careful {
			s.mark(o, r, sum)
		}
	}
	o.slot, o.stored = src[len(src)-1].Size>>sizeBits, n
	o.held -= sum
	o.queues[o.main].bytes -= sum
	if o.wire.sent != nil {
		for i := range sent {
			o.wire.sent.Add(sent[i].Size)
		}
	}
	if o.log != nil {
		for i := range sent {
			o.log[o.main].Sent.Add(sent[i].Size)
		}
	}
}

// mark decides about a packet of the main class that has been put on the wire. Sent is the
// sum of what has, with the packet, since the bytes of its class were counted.
func (s *Buffered) mark(o *outlet, r *sim.Record, sent int64) {
	if r.Src>>24&Capable == 0 {
		return
	}
	start := r.T - o.wire.delay - int64(r.Size)*o.wire.perByte
	mask := uint32(len(o.ring) - 1)
	for ; o.soon != o.tail && o.ring[o.soon&mask].T <= start; o.soon++ {
		o.later -= s.size(o.ring[o.soon&mask].Size & sizeMask)
	}
	q := &o.queues[o.main]
	if q.mark(s.Classes[o.main].Mark, q.bytes-sent-o.later, QueueSalt(o.salt, o.main)) {
		r.Src |= Marked << 24
	}
}

// turn sends a packet at time now, of whatever class, and returns the place of the next
// arrival that is not of the main class.
func (s *Buffered) turn(w *sim.Worker, o *outlet, x uint32, now units.Time) uint32 {
	mask := uint32(len(o.ring) - 1)
	x = s.sort(o, x, now)
	for o.first != x && o.ring[o.first&mask].Dst == hole {
		o.first++
	}
	open := o.waiting &^ (1 << o.main)
	if o.first != x && o.ring[o.first&mask].T <= now {
		open |= 1 << o.main
	}
	class := bits.Len8(open) - 1
	if open&(open-1)|o.passed != 0 {
		o.overtake(open, class, now)
	}
	if class == int(o.main) {
		s.run(w, o, x, now+1)
		return x
	}
	q := &o.queues[class]
	r, counted := q.pop()
	if q.head == q.tail {
		o.waiting &^= 1 << class
	}
	size := r.Size & sizeMask
	o.sending, o.slot = int8(class), r.Size>>sizeBits
	o.stored = s.size(size)
	o.held -= o.stored
	q.bytes -= o.stored
	if counted {
		s.give(o.slot, uint8(class), o.stored)
	}
	if m := s.Classes[class].Mark; m != nil && m.Leaving && r.Src>>24&Capable != 0 && q.mark(m, q.bytes, QueueSalt(o.salt, uint8(class))) {
		r.Src |= Marked << 24
	}
	o.send(w, r, size, now)
	return x
}

// sort moves arrivals up to time now, from place x on, that are not of the main class to
// the queues of theirs, and returns the place of the next one.
func (s *Buffered) sort(o *outlet, x uint32, now units.Time) uint32 {
	mask := uint32(len(o.ring) - 1)
	for x != o.tail && o.ring[x&mask].T <= now {
		r := &o.ring[x&mask]
		class, n := s.class(r)%MaxClasses, s.size(r.Size&sizeMask)
		q := &o.queues[class]
		q.push(r)
		q.bytes += n
		o.queues[o.main].bytes -= n
		o.waiting |= 1 << class
		r.Dst, r.Msg = hole, uint32(class)
		x = s.other(o, x+1)
	}
	return x
}

// find finds the most bytes that an arrival of the window has met, given what was there at
// its start, of which frame leaves at time free, and where the departures begin on the wire.
func (s *Buffered) find(o *outlet, held int64, free units.Time, frame int64, from uint32) {
	out, to := o.wire.out.Ring()
	mask, outMask := uint32(len(o.ring)-1), uint32(len(out)-1)
	for i := o.fresh; i != o.tail; i++ {
		r := &o.ring[i&mask]
		for free <= r.T {
			held -= frame
			if from == to {
				free = units.Never
				break
			}
			d := &out[from&outMask]
			free, frame = d.T-o.wire.delay, s.size(d.Size)
			from++
		}
		o.deepest = max(o.deepest, held)
		held += s.size(r.Size & sizeMask)
	}
}
