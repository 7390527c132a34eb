package fabric

import (
	"iter"

	"hybrid/des/sim"
)

// none is no class.
const none = MaxClasses

// hole is the target of a frame that has been taken out of the ring.
const hole = ^uint32(0)

// bulk returns the class whose packets stay where they arrived: that of data, or none where
// packets are not served in the order in which they take effect.
func (m *memory) bulk() uint8 {
	if m.Stepwise {
		return none
	}
	return m.Kinds[0] % MaxClasses
}

// keep adds a packet to its class's queue.
func (o *outlet) keep(q *queue, r *sim.Record, class uint8) {
	if class == o.main {
		if r == &o.ring[(o.head-1)&uint32(len(o.ring)-1)] {
			o.kept = o.head
			return
		}
		o.spill()
	}
	q.push(r)
}

// settle ends the arrival of the frame before head: unless it stays in its place it
// leaves a hole there.
func (o *outlet) settle() {
	switch {
	case o.kept == o.head:
	case o.first == o.head-1:
		o.first = o.head
	default:
		o.ring[(o.head-1)&uint32(len(o.ring)-1)].Dst = hole
	}
}

// spill moves the packets of the main class to the queue of their class, where those go
// from now on that have not come by the ring.
func (o *outlet) spill() {
	q := &o.queues[o.main]
	for ; o.first != o.head; o.first++ {
		r := &o.ring[o.first&uint32(len(o.ring)-1)]
		if r.Dst == hole {
			continue
		}
		q.push(r)
		if int32(o.first-o.booked) < 0 {
			q.counted = q.tail
		}
	}
	o.main = none
}

// pop removes the first packet of a class and says whether others are left. It stays
// valid until the next push.
func (o *outlet) pop(class int) (r *sim.Record, left bool) {
	if class != int(o.main) {
		q := &o.queues[class]
		r, o.counted = q.pop()
		return r, q.head != q.tail
	}
	mask := uint32(len(o.ring) - 1)
	r = &o.ring[o.first&mask]
	o.counted = int32(o.first-o.booked) < 0
	for o.first++; o.first != o.head && o.ring[o.first&mask].Dst == hole; o.first++ {
	}
	return r, o.first != o.head
}

// book takes what has arrived and stays into the books of the memory.
func (s *Buffered) book(o *outlet) {
	mask := uint32(len(o.ring) - 1)
	if int32(o.booked-o.first) < 0 {
		o.booked = o.first
	}
	for ; o.booked != o.head; o.booked++ {
		if r := &o.ring[o.booked&mask]; r.Dst != hole {
			s.take(r.Size>>sizeBits, o.main, s.size(r.Size&sizeMask))
		}
	}
}

// widen makes room in the ring, by closing the holes where that gives enough. It runs
// before anything of a visit has happened.
//
//go:noinline
func (o *outlet) widen() {
	if len(o.ring) == 0 {
		o.grow(o.rings, o.at)
		return
	}
	live := o.tail - o.head
	for r := range o.between(o.first, o.head) {
		if r.Dst != hole {
			live++
		}
	}
	size := len(o.ring)
	if 4*int(live) > 3*size {
		size *= 2
	}
	ring, n := o.rings.take(size), uint32(0)
	for r := range o.between(o.first, o.head) {
		if r.Dst != hole {
			ring[n] = *r
			n++
		}
	}
	first := n
	for r := range o.between(o.head, o.tail) {
		ring[n] = *r
		n++
	}
	if !o.lent {
		o.rings.free = append(o.rings.free, o.ring)
	}
	o.ring, o.lent, o.first, o.tail = ring, false, 0, n
	o.head, o.fresh, o.booked, o.kept = first, first, first, first
}

// between visits the frames in a part of the ring.
func (o *outlet) between(from, to uint32) iter.Seq[*sim.Record] { return between(o.ring, from, to) }

func between(ring []sim.Record, from, to uint32) iter.Seq[*sim.Record] {
	return func(yield func(*sim.Record) bool) {
		for i := from; i != to; i++ {
			if !yield(&ring[i&uint32(len(ring)-1)]) {
				return
			}
		}
	}
}

// waits visits the packets of a class that wait.
func (o *outlet) waits(class uint8) iter.Seq[*sim.Record] {
	return func(yield func(*sim.Record) bool) {
		q := &o.queues[class]
		for i := q.head; i != q.tail; i++ {
			if !yield(&q.ring[i&uint32(len(q.ring)-1)]) {
				return
			}
		}
		if class != o.main {
			return
		}
		for r := range o.between(o.first, o.head) {
			if r.Dst != hole && !yield(r) {
				return
			}
		}
	}
}
