package fabric

import (
	"fmt"

	"hybrid/des/sim"
	"hybrid/internal/units"
	"hybrid/networks"
)

// Wire is the sending end of a directed link: the transmitter that serializes one
// packet after another, and the propagation behind it.
type Wire struct {
	// Free is when the transmitter has sent the last bit of the packet before.
	Free units.Time

	perByte int64      // ticks a byte where that is whole, else -1
	delay   units.Time // see Medium.LookAhead
	out     *sim.Channel
	slow    *slowRate // where perByte is -1
	sent    *Count    // nil where nobody counts
	cut     uint32    // bytes after which a frame takes effect at the far end; 0: all
	faults  *LinkFaults
}

// slowRate serializes where a multiplication will not do: the time per byte is not
// whole, or sizes have 64 bits.
type slowRate struct {
	clock units.Clock
	rate  units.Rat
	wide  bool
}

// Medium is what all wires of a run have in common.
type Medium struct {
	Clock units.Clock
	// Latency is the time from a packet's arrival at a switch to its output queue, and
	// Lead the part of it by which the clocks of switches run behind: records to a switch
	// come that much earlier on its clock, records from it that much later on others'. A
	// switch so hands on its look-ahead where the way out of it has too little of its own.
	Latency, Lead units.Time
	// Wide says that records carry 64-bit sizes (see [sim.Record.Wide]).
	Wide bool
	// Hosts is the number of hosts; nodes from there on are switches.
	Hosts int32
	// CutAfter is the number of bytes of a frame after which it takes effect at a switch, 0
	// for all of them. Switches are [Buffered] ones then.
	CutAfter int64

	last *slowRate // shared by links of one rate that follow each other
}

// NewWire returns the idle wire of a link.
func NewWire(m *Medium, l networks.Link, out *sim.Channel) Wire {
	w := Wire{perByte: -1, delay: m.LookAhead(l), out: out}
	if l.To >= m.Hosts {
		w.cut = uint32(min(m.CutAfter, MaxFrame))
	}
	if m.Clock.Exact && !m.Wide {
		w.perByte = m.Clock.Span(l.PerByte, 1)
		return w
	}
	if m.last == nil || m.last.rate != l.PerByte {
		m.last = &slowRate{m.Clock, l.PerByte, m.Wide}
	}
	w.slow = m.last
	return w
}

// LookAhead returns the time between the last bit of a packet leaving a link's near end
// and its effect at the far end, each on the clock of its node.
func (m *Medium) LookAhead(l networks.Link) units.Time {
	t := m.Clock.Ticks(l.Delay)
	if l.To >= m.Hosts {
		t += m.Latency - m.Lead
	}
	if l.From >= m.Hosts {
		t += m.Lead
	}
	return t
}

// Span returns how long a packet that starts at time start occupies the transmitter. A
// message too large for the range of time ends just beyond it, which ends the run.
func (w *Wire) Span(r *sim.Record, start units.Time) units.Time {
	switch {
	case w.perByte >= 0:
		return int64(r.Size) * w.perByte
	case w.slow.wide:
		return min(w.slow.clock.Span(w.slow.rate, r.Wide()), sim.MaxTime+1-start)
	}
	return w.slow.clock.Span(w.slow.rate, int64(r.Size))
}

// Send starts a packet at time start, not before Free, and returns when its last bit
// has left.
func (w *Wire) Send(k *sim.Worker, r *sim.Record, start units.Time) units.Time {
	if sim.Invariants && (start < w.Free || start < k.Start) {
		panic(fmt.Sprintf("fabric: a packet starts at %d; the wire is free at %d, the window starts at %d", start, w.Free, k.Start))
	}
	if w.faults != nil && w.lose(k, r, start) {
		return w.Free
	}
	w.Free = start + w.Span(r, start)
	s := w.out.Slot()
	*s = *r
	s.T = w.Free + w.delay
	if w.cut != 0 {
		s.T -= w.rest(r.Size)
	}
	w.out.Mark(k, s.T)
	k.Hops++
	if w.sent != nil {
		w.sent.add(r, w.wide())
	}
	return w.Free
}

// port is an output queue with its wire: first in, first out in the order of (time,
// incoming link), without bound and without loss.
type port struct {
	wire    Wire
	longest units.Time // that a packet had to wait
	jumbled bool       // the records from fresh on are not in order yet
	lent    bool       // the ring is the worker's
	coming  uint16     // see outlet
	_       [portPad]byte

	// What each arrival needs, in a cache line.
	ring    []sim.Record // a power of two
	head    uint32
	tail    uint32
	fresh   uint32     // the first record of this visit
	first   uint32     // of what is kept
	last    units.Time // of the newest record
	from    uint64     // see outlet
	expects int64      // see outlet
}

const (
	portPad   = 48
	firstRing = 16
)

// push appends a record that has arrived in this visit.
func (p *port) push(r *sim.Record, b *rings, at int32) {
	if int(p.tail-p.head) == len(p.ring) {
		p.first = p.head
		p.grow(b, at)
	}
	if r.T < p.last {
		p.jumbled = true
	}
	p.last = r.T
	p.ring[p.tail&uint32(len(p.ring)-1)] = *r
	p.tail++
}

// tidy orders what has arrived in this visit; everything older is earlier.
func (p *port) tidy(w *sim.Worker) {
	n := p.tail - p.fresh
	mask := uint32(len(p.ring) - 1)
	if lo := p.fresh & mask; lo+n <= uint32(len(p.ring)) {
		sim.Sort(p.ring[lo:lo+n], &w.Scratch)
	} else {
		w.Line = w.Line[:0]
		for i := p.fresh; i != p.tail; i++ {
			w.Line = append(w.Line, p.ring[i&mask])
		}
		sim.Sort(w.Line, &w.Scratch)
		for i := range w.Line {
			p.ring[(p.fresh+uint32(i))&mask] = w.Line[i]
		}
	}
	p.jumbled = false
	p.last = p.ring[(p.tail-1)&mask].T
}

// serve sends every packet that can start in the window and returns when the next one
// will start, or [units.Never]. A packet that waits beyond the window stays queued, so
// that what happens meanwhile may still change its fate.
func (p *port) serve(w *sim.Worker) units.Time {
	if p.jumbled {
		p.tidy(w)
	}
	if p.wire.perByte < 0 {
		return p.serveSlowly(w)
	}
	if sim.Invariants {
		p.assert(w)
	}
	head := p.head
	for p.head != p.tail {
		src := span(p.ring, p.head, p.tail)
		n := p.pump(p.wire.out.Room(), src, w.End, ^uint32(0))
		if n == 0 {
			break
		}
		p.wire.out.Sent(w, n)
		p.head += uint32(n)
	}
	if p.head != head && p.wire.sent != nil {
		p.count(head)
	}
	next := units.Never
	if p.head != p.tail {
		next = max(p.ring[p.head&uint32(len(p.ring)-1)].T, p.wire.Free)
	} else { // start over where the ring is in the cache
		p.head, p.tail = 0, 0
	}
	p.fresh = p.tail
	return next
}

// assert checks that what has arrived in this visit belongs to its window and is in
// order behind what was there.
func (p *port) assert(w *sim.Worker) {
	mask := uint32(len(p.ring) - 1)
	for i := p.fresh; i != p.tail; i++ {
		t := p.ring[i&mask].T
		if t < w.Start || t >= w.End || i != p.head && t < p.ring[(i-1)&mask].T {
			panic(fmt.Sprintf("fabric: a packet for %d is queued in a window from %d to %d", t, w.Start, w.End))
		}
	}
}

// serveSlowly is serve for wires whose time per byte is not whole.
func (p *port) serveSlowly(w *sim.Worker) units.Time {
	p.fresh = p.tail
	for ; p.head != p.tail; p.head++ {
		r := &p.ring[p.head&uint32(len(p.ring)-1)]
		start := max(r.T, p.wire.Free)
		if start >= w.End {
			return start
		}
		p.longest = max(p.longest, start-r.T)
		p.wire.Send(w, r, start)
	}
	return units.Never
}
