package fabric

import (
	"fmt"
	"math"
	"math/bits"

	"hybrid/des/sim"
	"hybrid/internal/units"
)

// Kinds of frames that switches make, which no transport uses for others.
const (
	// Cut is a packet without its payload.
	Cut uint8 = MaxKinds - 2 + iota
	// Pause is a pause frame (IEEE 802.1Qbb): QP is the link to stop, Msg the class, and PSN
	// the time in 512 bit times, 0 to go on.
	Pause
)

// Flags of a packet, in the top byte of Record.Src: the transport says that it may be
// marked or cut, and a switch marks it.
const (
	Capable = 1 << 6
	Marked  = 1 << 7
)

// A frame in a switch with a packet memory has its incoming link in the top bits of Size.
const (
	sizeBits = 21
	sizeMask = 1<<sizeBits - 1
	// MaxInlets is the number of incoming links that a switch with a packet memory may
	// have, and MaxFrame the largest frame, bytes.
	MaxInlets = 1 << (32 - sizeBits)
	MaxFrame  = sizeMask
)

// queue holds the waiting packets of a class, first in, first out.
type queue struct {
	ring       []sim.Record // a power of two
	head, tail uint32
	counted    uint32 // packets from here on are not in the books of the memory yet
	bytes      int64  // in memory, with the packet that is being sent
	until      units.Time
	paced      units.Time // when the rate of the class lets the next packet start
	since      units.Time // when the pause began that lasts until then
	overtaken  units.Time // since when higher classes go before it (see outlet.passed)
	marker
}

func (q *queue) push(r *sim.Record) {
	if int(q.tail-q.head) == len(q.ring) {
		ring := make([]sim.Record, max(firstRing, 2*len(q.ring)))
		for i := q.head; i != q.tail; i++ {
			ring[i&uint32(len(ring)-1)] = q.ring[i&uint32(len(q.ring)-1)]
		}
		q.ring = ring
	}
	q.ring[q.tail&uint32(len(q.ring)-1)] = *r
	q.tail++
}

// pop removes the first packet, which stays valid until the next push, and says whether
// it is in the books of the memory.
func (q *queue) pop() (r *sim.Record, counted bool) {
	r = &q.ring[q.head&uint32(len(q.ring)-1)]
	if counted = q.head != q.counted; !counted {
		q.counted++
	}
	if q.head++; q.head == q.tail {
		q.head, q.tail, q.counted = 0, 0, 0
	}
	return r, counted
}

// A moment is when an outlet does something, as a number that orders them: from the top,
// the time since the window's start, what it does at that time, the port or the incoming
// link that it does it for, and the port.
const (
	phaseRelease uint64 = iota << phaseBits
	phaseArrival
	phaseRefresh // of a pause, by incoming link and class
	phaseStart

	indexBits  = 32 - sizeBits
	phaseBits  = 2 * indexBits
	momentBits = phaseBits + 2
	// MaxWindow is the longest window for moments, in ticks.
	MaxWindow = 1 << (63 - momentBits)
	never     = math.MaxUint64
)

// outlet is an output port with a queue for each class.
//
// Packets of the main class stay where they arrived: of the ring, [first, head) is their
// queue, and the first of it, if any, waits. Others leave holes.
type outlet struct {
	// What arrives in this visit, in order, and the wire. Besides, coming are the classes of
	// what arrives, and special; expects are its bytes; and from are the incoming links that
	// packets here may be of, one bit each modulo 64.
	port
	booked  uint32 // packets from here on are not in the books of the memory yet
	kept    uint32 // head when a packet stayed last
	main    uint8  // class; none where packets did not come by the ring
	waiting uint8  // classes with packets, one bit each
	blocked uint8  // classes that may be paused
	counted bool   // the frame on the wire is in the books of the memory
	sending int8   // the class of the frame on the wire; -1 none, -2 a pause frame
	turn    int8   // the class whose turn it is
	passed  uint8  // waiting classes that higher ones went before, one bit each
	credit  int32  // packets that are left of it
	slot    uint32 // of the frame on the wire
	stored  int64  // what it occupies in memory, until its last bit has left
	held    int64  // bytes of all classes
	deepest int64  // of held, that a packet has found
	ready   units.Time
	queues  []queue // by class
	later   int64   // bytes of arrivals from soon on, that are later than the last mark was asked for
	soon    uint32
	link    int32
	control queue // pause frames, which go first and are never paused
	paused  int64 // times
	dropped int64 // packets
	salt    uint64
	cut     *cutter // nil where frames are stored whole
	log     []Log   // by class, then of pause frames; nil where nobody records
	starved Starved
	losses  firstLosses
	rings   *rings
	at      int32 // its number within the switch
}

// Of what comes: pause frames, and they or frames of no size.
const (
	special = 1 << (MaxClasses + iota)
	pauses
)

const (
	idle      int8 = -1
	inControl int8 = -2
)

// next returns when the outlet does something.
func (o *outlet) next() units.Time {
	t := o.ready
	if o.sending != idle {
		t = o.wire.Free
	}
	if o.head != o.tail {
		t = min(t, o.ring[o.head&uint32(len(o.ring)-1)].T)
	}
	return t
}

// expect is push of a frame with its incoming link.
func (o *outlet) expect(r *sim.Record, slot uint32) {
	if int(o.tail-o.first) == len(o.ring) {
		o.widen()
	}
	if r.T < o.last {
		o.jumbled = true
	}
	o.last = r.T
	to := &o.ring[o.tail&uint32(len(o.ring)-1)]
	o.tail++
	*to = *r
	to.Size = r.Size | slot<<sizeBits
}

// rest ends a visit and returns when the outlet does something.
func (o *outlet) rest() units.Time {
	if o.first == o.head { // start over where the ring is in the cache
		o.first, o.head, o.tail = 0, 0, 0
	}
	o.fresh, o.booked, o.kept = o.tail, o.tail, o.tail
	o.coming, o.expects = 0, 0
	if o.cut != nil && o.cut.head != len(o.cut.parts) {
		return min(o.next(), o.cut.next())
	}
	if o.waiting == 0 {
		if o.from = 0; o.sending >= 0 {
			o.from = 1 << (o.slot & 63)
		}
	}
	return o.next()
}

// moment returns what the outlet does next in the window, or never.
func (o *outlet) moment(w *sim.Worker, index int) uint64 {
	t, order := o.ready, phaseStart
	if o.sending != idle {
		t, order = o.wire.Free, phaseRelease
	}
	order |= uint64(index) << indexBits
	if o.head != o.tail {
		if r := &o.ring[o.head&uint32(len(o.ring)-1)]; r.T < t || r.T == t && o.sending == idle {
			t, order = r.T, phaseArrival|uint64(r.Size>>sizeBits)<<indexBits
		}
	}
	if o.cut != nil {
		t, order = o.cut.first(t, order)
	}
	if t >= w.End {
		return never
	}
	return uint64(t-w.Start)<<momentBits | order | uint64(index)
}

// touch lets an idle outlet look whether it can send.
func (o *outlet) touch(now units.Time) {
	if o.sending == idle {
		o.ready = min(o.ready, now)
	}
}

// stop pauses a class, or lets it go on.
func (o *outlet) stop(r *sim.Record) {
	if q := &o.queues[r.Msg]; q.until <= r.T {
		q.since = r.T
	}
	o.passed &^= 1 << r.Msg
	o.queues[r.Msg].until = r.T + o.wire.PauseTime(r.PSN)
	if o.blocked |= 1 << r.Msg; r.PSN == 0 && o.queues[r.Msg].paced <= r.T {
		o.blocked &^= 1 << r.Msg
	}
	if r.PSN > 0 {
		o.paused++
	}
	if o.log != nil {
		o.log[r.Msg].Stops.Frame(r.T, o.queues[r.Msg].until)
	}
	o.touch(r.T)
}

// PauseTime returns how long a pause of so many quanta lasts on the wire, at most a
// quarter of the range of time.
func (w *Wire) PauseTime(quanta uint32) units.Time {
	n := int64(quanta) * 64
	if w.perByte >= 0 {
		return min(scale(n, w.perByte, 1), sim.MaxTime>>2)
	}
	return min(w.slow.clock.Span(w.slow.rate, n), sim.MaxTime>>2)
}

// choose returns the class whose packet goes next, or -1 and when the first pause of a
// waiting class ends.
func (o *outlet) choose(p *Buffering, now units.Time) (class int, at units.Time) {
	open := o.waiting
	if o.blocked != 0 {
		if open, at = o.open(now); open == 0 {
			return -1, at
		}
	}
	if !p.Turns {
		class = bits.Len8(open) - 1
		if open&(open-1)|o.passed != 0 {
			o.overtake(open, class, now)
		}
		return class, now
	}
	return o.take(p, open), now
}

// take returns the class whose turn it is, of those that have something to send.
func (o *outlet) take(p *Buffering, open uint8) int {
	if o.credit == 0 || open&(1<<o.turn) == 0 {
		after := open &^ (1<<(o.turn+1) - 1)
		if after == 0 {
			after = open
		}
		o.turn = int8(bits.TrailingZeros8(after))
		o.credit = p.Classes[o.turn].Weight
	}
	o.credit--
	return int(o.turn)
}

// open returns the waiting classes that are not paused, and when the first pause of the
// others ends.
func (o *outlet) open(now units.Time) (open uint8, at units.Time) {
	open, at = o.waiting, units.Never
	for set := o.blocked; set != 0; set &= set - 1 {
		c := bits.TrailingZeros8(set)
		switch u := o.queues[c].opens(); {
		case u <= now:
			o.blocked &^= 1 << c
		case open&(1<<c) != 0:
			open &^= 1 << c
			at = min(at, u)
		}
	}
	return open, at
}

// start sends the next frame, if there is one that may go.
func (o *outlet) start(w *sim.Worker, p *Buffering, now units.Time) {
	o.ready = units.Never
	if o.control.head != o.control.tail {
		r, _ := o.control.pop()
		o.wire.Send(w, r, now)
		w.Hops-- // not a packet
		o.sending, o.stored = inControl, 0
		if o.counts(now) {
			o.log[len(o.queues)].Sent.Add(r.Size)
		}
		return
	}
	if o.waiting == 0 {
		return
	}
	class, at := o.choose(p, now)
	if class < 0 {
		o.ready = at
		return
	}
	q := &o.queues[class]
	r, left := o.pop(class)
	if !left {
		o.waiting &^= 1 << class
	}
	size := r.Size & sizeMask
	o.sending, o.slot = int8(class), r.Size>>sizeBits
	o.stored = max(int64(size)-p.Less, p.Least)
	if m := p.Classes[class].Mark; m != nil && m.Leaving && r.Src>>24&Capable != 0 && q.mark(m, q.bytes-o.stored, QueueSalt(o.salt, uint8(class))) {
		r.Src |= Marked << 24
	}
	if sim.Invariants && now < q.opens() {
		panic(fmt.Sprintf("fabric: class %d sends at %d and is stopped until %d", class, now, q.opens()))
	}
	if p.Stepwise {
		o.sendPaced(w, p, r, size, uint8(class), now)
		return
	}
	o.send(w, r, size, now)
}

// send is [Wire.Send] of a packet without its incoming link, with less to do.
func (o *outlet) send(w *sim.Worker, r *sim.Record, size uint32, now units.Time) {
	p := &o.wire
	if o.counts(now) {
		o.log[o.sending].Sent.Add(size)
	}
	if sim.Invariants || p.perByte < 0 {
		r.Size = size
		p.Send(w, r, now)
		return
	}
	if p.sent != nil {
		p.sent.Add(size)
	}
	p.Free = now + int64(size)*p.perByte
	s := p.out.Slot()
	*s = *r // what is written to r just before would hold up the copy
	s.Size = size
	s.T = p.Free + p.delay
	p.out.Mark(w, s.T)
	w.Hops++
}

// enqueue adds a packet that occupies n bytes of memory.
func (o *outlet) enqueue(p *Buffering, r *sim.Record, class uint8, n int64) {
	q := &o.queues[class]
	if m := p.Classes[class].Mark; m != nil && r.Src>>24&Capable != 0 {
		q.see(m, q.bytes)
		if !m.Leaving && q.mark(m, q.bytes, QueueSalt(o.salt, class)) {
			r.Src |= Marked << 24
		}
	}
	o.keep(q, r, class)
	q.bytes += n
	o.deepest = max(o.deepest, o.held)
	o.held += n
	o.waiting |= 1 << class
	o.touch(r.T)
}
