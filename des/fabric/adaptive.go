package fabric

import (
	"math/bits"

	"hybrid/des/sim"
	"hybrid/internal/units"
)

// ordered is what a Buffered switch needs to choose the port of a packet by what its queues
// hold when the packet arrives: all that arrives in a window in one list, in the order of
// (time, incoming link), which the sweep takes up entry by entry.
type ordered struct {
	arrivals []sim.Record // of this visit, the worker's; the incoming link in Size
	taken    int
	flowlets []flowlet
}

// flowlet is a flow, or several of one hash, and the port it keeps to.
type flowlet struct {
	last units.Time
	port int32 // + 1; 0 if there was no packet yet
}

// Use gives the switch other routes than ECMP by murmur3.
func (s *Buffered) Use(x *Routing) {
	s.Switch.Use(x)
	if !x.Ordered() {
		return
	}
	s.ordered = &ordered{}
	if x.Kind == Flowlet {
		s.ordered.flowlets = make([]flowlet, x.Slots)
	}
	for i := range s.outlets {
		s.outlets[i].main = none // packets do not come by the ring
	}
	s.order.reset(len(s.outlets) + 1)
	s.together = true
	for i := range s.joint {
		s.joint[i] = ^uint64(0)
	}
}

// stepOrdered is Step of a switch that chooses ports when packets arrive. Its outlets always
// run together.
func (s *Buffered) stepOrdered(w *sim.Worker) units.Time {
	next := s.gather(w)
	s.sweep(w)
	for word := range s.busy {
		for set := s.busy[word]; set != 0; set &= set - 1 {
			t := s.outlets[word<<6+bits.TrailingZeros64(set)].rest()
			if t == units.Never {
				s.busy[word] &^= set & -set
			}
			next = min(next, t)
		}
	}
	return min(next, s.nextRefresh())
}

// gather lists the frames that arrive before the window's end and returns when the next one
// arrives.
func (s *Buffered) gather(w *sim.Worker) units.Time {
	next, links := units.Never, 0
	list := w.Line[:0]
	busy := s.in.Busy()
	for word := range busy {
		for set := busy[word]; set != 0; set &= set - 1 {
			slot := word<<6 + bits.TrailingZeros64(set)
			links++
			c := s.in.At(slot)
			for part := c.Take(w.End); len(part) > 0; part = c.Take(w.End) {
				at := len(list)
				list = append(list, part...)
				for i := range list[at:] {
					list[at+i].Size |= uint32(slot) << sizeBits
				}
				w.Events += int64(len(part))
			}
			next = min(next, s.in.Settle(slot))
		}
	}
	if links > 1 {
		sim.Sort(list, &w.Scratch)
	}
	w.Line = list
	s.ordered.arrivals, s.ordered.taken = list, 0
	return next
}

// arrival returns when the next frame of the list arrives, as a moment of an outlet behind
// the last.
func (s *Buffered) arrival(w *sim.Worker) uint64 {
	o := s.ordered
	if o.taken == len(o.arrivals) {
		return never
	}
	r := &o.arrivals[o.taken]
	return uint64(r.T-w.Start)<<momentBits | phaseArrival | uint64(r.Size>>sizeBits)<<indexBits | uint64(len(s.outlets))
}

// admitNext lets the next frame of the list arrive, and reports whether it may have paused
// a link.
func (s *Buffered) admitNext(w *sim.Worker) (paused bool) {
	before := s.pausing
	r := &s.ordered.arrivals[s.ordered.taken]
	s.ordered.taken++
	at := int32(r.QP) - s.first
	if r.Kind() != Pause {
		if at = s.balanced(r); at < 0 {
			r.Size &= sizeMask
			s.strand(r)
			s.order.set(len(s.outlets), s.arrival(w))
			return false
		}
	}
	switch o := &s.outlets[at]; {
	case s.CutAfter > 0:
		s.arriveHead(o, r)
	case r.Kind() == Pause:
		o.stop(r)
	default:
		s.arrive(o, r)
	}
	s.busy[at>>6] |= 1 << (at & 63)
	s.order.set(int(at), s.outlets[at].moment(w, int(at)))
	s.order.set(len(s.outlets), s.arrival(w))
	return s.pausing != before
}

// balanced chooses the port of a packet that arrives now; -1 if no link leads on.
func (s *Buffered) balanced(r *sim.Record) int32 {
	c := s.candidates(r)
	switch c.n {
	case 0:
		return -1
	case 1:
		return c.at(0)
	}
	x := s.routing
	if x.Kind == Flowlet {
		return s.keep(r, c)
	}
	if x.Sample > 0 {
		return s.sample(r, c)
	}
	return s.emptiest(r, c, int32(Below(uint32(c.n), x.Seed, ForTie, s.frame(r), r.PSN)))
}

// keep returns the port of a packet's flowlet; after a pause, or where that port does not
// lead there, the emptiest one, of several the first.
func (s *Buffered) keep(r *sim.Record, c choices) int32 {
	f := &s.ordered.flowlets[Choose(FlowHash(r)^s.salt, int32(len(s.ordered.flowlets)))]
	stay := false
	if f.port > 0 && r.T-f.last <= s.routing.Gap {
		for i := range c.n {
			stay = stay || c.at(i) == f.port-1
		}
	}
	if !stay {
		f.port = s.emptiest(r, c, 0) + 1
	}
	f.last = r.T
	return f.port - 1
}

// emptiest returns the port that holds the least bytes; of several the first from a
// candidate on, around the circle.
func (s *Buffered) emptiest(r *sim.Record, c choices, from int32) int32 {
	class := s.class(r)
	best := c.at(from)
	for i := from + 1; i < c.n; i++ {
		best = s.emptier(best, c.at(i), class, r.T)
	}
	for i := range from {
		best = s.emptier(best, c.at(i), class, r.T)
	}
	return best
}

// frame tells a flow's packets in this switch from its acknowledgements.
func (s *Buffered) frame(r *sim.Record) uint64 { return FlowHash(r) ^ s.salt ^ uint64(r.Kind())<<56 }

// sample is emptiest among ports drawn at random, perhaps the same more than once.
func (s *Buffered) sample(r *sim.Record, c choices) int32 {
	x, class, flow := s.routing, s.class(r), s.frame(r)
	best := int32(-1)
	for i := range x.Sample {
		at := c.at(int32(Below(uint32(c.n), x.Seed, ForSample+Purpose(i), flow, r.PSN)))
		if best < 0 {
			best = at
		} else {
			best = s.emptier(best, at, class, r.T)
		}
	}
	return best
}

// emptier returns b if it is paused no longer, or else holds less, than a.
func (s *Buffered) emptier(a, b int32, class uint8, now units.Time) int32 {
	x, y := &s.outlets[a], &s.outlets[b]
	if p, q := x.queues[class].until > now, y.queues[class].until > now; p != q {
		if p {
			return b
		}
		return a
	}
	if y.held < x.held {
		return b
	}
	return a
}
