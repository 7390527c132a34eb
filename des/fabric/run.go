package fabric

import (
	"math/bits"

	"hybrid/des/sim"
	"hybrid/internal/units"
)

// cruise runs an outlet through a window in which it need not know of the others. What
// comes and goes in the window does not get into the books of the memory at all.
func (s *Buffered) cruise(w *sim.Worker, o *outlet) {
	for {
		if o.sending != idle {
			free := o.wire.Free
			s.collect(o, min(free, w.End))
			if free >= w.End {
				break
			}
			s.left(o, free)
		}
		if o.waiting|o.blocked == 0 && o.control.head == o.control.tail && s.pass(w, o) {
			continue
		}
		t := o.next()
		if t >= w.End {
			break
		}
		s.collect(o, t+1)
		o.start(w, s.Buffering, t)
	}
	if o.sending >= 0 && !o.counted {
		s.take(o.slot, uint8(o.sending), o.stored)
		o.counted = true
	}
	s.book(o)
	for c := range o.queues {
		q := &o.queues[c]
		for ; q.counted != q.tail; q.counted++ {
			size := q.ring[q.counted&uint32(len(q.ring)-1)].Size
			s.take(size>>sizeBits, uint8(c), s.size(size&sizeMask))
		}
	}
}

// pass sends the next packet at once, without queueing it, where nothing else waits or
// comes at that time. It is not marked, since the queue is empty.
func (s *Buffered) pass(w *sim.Worker, o *outlet) bool {
	left := o.tail - o.head
	if left == 0 {
		return false
	}
	mask := uint32(len(o.ring) - 1)
	r := &o.ring[o.head&mask]
	if left > 1 && o.ring[(o.head+1)&mask].T == r.T || r.Kind() == Pause {
		return false
	}
	class := s.class(r) % MaxClasses
	c, q := &s.Classes[class], &o.queues[class]
	n := s.size(r.Size & sizeMask)
	if c.Mark != nil && c.Mark.Weight.Num != 0 || !c.Lossless && n > c.Limit.Bytes {
		return false
	}
	o.head++
	o.first = o.head
	o.ready = units.Never
	o.sending, o.slot, o.stored, o.counted = int8(class), r.Size>>sizeBits, n, false
	q.bytes, o.held = n, n
	if s.Turns {
		o.take(s.Buffering, 1<<class)
	}
	o.send(w, r, r.Size&sizeMask, r.T)
	return true
}

// collect takes what arrives at an outlet before a time, where there is room for all but
// what a queue's own limit refuses.
func (s *Buffered) collect(o *outlet, before units.Time) {
	mask := uint32(len(o.ring) - 1)
	for o.head != o.tail {
		r := &o.ring[o.head&mask]
		if r.T >= before {
			return
		}
		o.head++
		if r.Kind() == Pause {
			o.stop(r)
			o.settle()
			continue
		}
		class := s.class(r)
		n := s.size(r.Size & sizeMask)
		if c := &s.Classes[class]; !c.Lossless && o.queues[class].bytes+n > c.Limit.Bytes {
			s.drop(o, r, class, QueueFull)
		} else {
			o.enqueue(s.Buffering, r, class, n)
		}
		o.settle()
	}
}

// sweep runs the joint outlets through the window together.
func (s *Buffered) sweep(w *sim.Worker) {
	s.inSweep = w
	for word := range s.busy {
		for set := s.busy[word] & s.joint[word]; set != 0; set &= set - 1 {
			i := word<<6 + bits.TrailingZeros64(set)
			s.order.set(i, s.outlets[i].moment(w, i))
		}
	}
	if s.ordered != nil {
		s.order.set(len(s.outlets), s.arrival(w))
	}
	repeat := s.repeatMoment(w)
	for {
		i, m := s.order.first()
		if repeat < m {
			s.repeat(w.Start + units.Time(repeat>>momentBits))
			repeat = s.repeatMoment(w)
			continue
		}
		if m == never {
			break
		}
		if uint(i) >= uint(len(s.outlets)) {
			if s.admitNext(w) {
				repeat = s.repeatMoment(w)
			}
			continue
		}
		o := &s.outlets[i]
		if s.do(w, o, m) {
			repeat = s.repeatMoment(w)
		}
		s.order.set(i, o.moment(w, i))
	}
	s.inSweep = nil
}

// repeatMoment returns when in the window a pause is repeated first, or never.
func (s *Buffered) repeatMoment(w *sim.Worker) uint64 {
	t := s.nextRefresh()
	if t >= w.End {
		return never
	}
	return uint64(t-w.Start)<<momentBits | phaseRefresh
}

// do lets an outlet do one thing, and reports whether it may have paused a link or let it
// go on.
func (s *Buffered) do(w *sim.Worker, o *outlet, m uint64) (paused bool) {
	t := w.Start + units.Time(m>>momentBits)
	before := s.pausing
	if s.CutAfter > 0 {
		s.doCutting(w, o, m, t)
		return s.pausing != before
	}
	switch m & (3 << phaseBits) {
	case phaseRelease:
		s.left(o, t)
	case phaseArrival:
		r := &o.ring[o.head&uint32(len(o.ring)-1)]
		o.head++
		if r.Kind() == Pause {
			o.stop(r)
		} else {
			s.arrive(o, r)
		}
		o.settle()
	case phaseStart:
		o.start(w, s.Buffering, t)
	}
	return s.pausing != before
}
