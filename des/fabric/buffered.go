package fabric

import (
	"math/bits"

	"hybrid/des/sim"
	"hybrid/internal/units"
	"hybrid/networks"
)

// Buffered is a switch with a packet memory that its ports share, with traffic classes,
// pauses and marks.
type Buffered struct {
	Switch // its paths; it has no ports
	memory
	outlets []outlet // busy where they have something to do
	touched []uint64 // incoming links with packets in this visit
	// joint are the outlets that run together in this visit, if any do.
	joint    []uint64
	together bool
	refresh  sim.Events
	order    tournament
	inSweep  *sim.Worker // nil outside
	limits   limits
	bits     [MaxKinds]uint16 // of the class of a kind
	partial  []partial        // by incoming link, where frames are cut through
	ordered  *ordered         // nil where ports do not depend on queues
	Tally    Tally
	begun    []int64 // by incoming link, pauses; nil where nobody records
}

// Tally is what a switch has counted.
type Tally struct {
	// Pauses counts XOFF frames without repetitions, Cuts packets cut to their header and
	// Drops those dropped, of which First is the first, and Through frames sent on before
	// they were whole.
	Pauses, Cuts, Drops, Through int64
	First                        Drop
}

// Drop is a packet that a switch had no room for, on its way to a link, at a time of the
// switch's clock.
type Drop struct {
	At     units.Time
	Link   int32
	Class  uint8
	Reason Reason
	Packet sim.Record
}

// NewBuffered returns the switch at a node with the wires of its links, whose numbers
// start at first, the links that lead to it in the order of their IDs, and the bytes of
// each class's pool.
func NewBuffered(b *Buffering, topo networks.Topology, node, first int32, wires []Wire, inlets []Inlet, pools []int64, in *sim.Inputs) *Buffered {
	s := &Buffered{Switch: *NewSwitch(topo, node, first, wires, in, b.Seed), outlets: make([]outlet, len(wires)), touched: make([]uint64, (len(inlets)+63)/64)}
	s.ports, s.joint = nil, make([]uint64, len(s.busy))
	s.memory = newMemory(b, len(inlets))
	for i := range inlets {
		s.inlets[i].Inlet = inlets[i]
	}
	copy(s.free[:], pools)
	s.limits = b.limits()
	for kind, class := range b.Kinds {
		s.bits[kind] = 1 << (class % MaxClasses)
	}
	s.bits[Pause] = special | pauses
	queues := make([]queue, len(wires)*len(b.Classes))
	for i := range s.outlets {
		s.outlets[i] = outlet{port: port{wire: wires[i]}, queues: queues[i*len(b.Classes):][:len(b.Classes):len(b.Classes)], sending: idle,
			link: first + int32(i), turn: int8(len(b.Classes) - 2), main: s.bulk(), rings: &s.rings, at: int32(i),
			ready: units.Never, salt: PortSalt(b.Seed, node, int32(i))}
	}
	s.cutThrough()
	s.order.reset(len(wires)) // between sweeps nothing is due
	return s
}

// Step implements [sim.Process]. Outlets that have nothing to do with each other in a
// window run through it one by one; the others together, in order of time.
func (s *Buffered) Step(w *sim.Worker) units.Time {
	if s.ordered != nil {
		return s.stepOrdered(w)
	}
	s.borrow(w, len(s.outlets))
	next := s.receive(w)
	s.split(w)
	if s.Shuffle != 0 {
		s.mixUp(w)
	}
	if s.together {
		s.sweep(w)
	}
	for word := range s.busy {
		for set := s.busy[word]; set != 0; set &= set - 1 {
			o := &s.outlets[word<<6+bits.TrailingZeros64(set)]
			if s.joint[word]&(set&-set) == 0 {
				s.alone(w, o)
			}
			t := o.rest()
			o.own(&s.rings)
			if o.main == none && o.waiting == 0 {
				o.main = s.bulk()
			}
			if t == units.Never {
				s.busy[word] &^= set & -set
			}
			next = min(next, t)
		}
	}
	return min(next, s.nextRefresh())
}

// split finds the outlets that must run together: all if the memory may become full, else
// those that have packets of hot links, and those by which these are paused.
func (s *Buffered) split(w *sim.Worker) {
	hot, apart := s.outlook(s.touched, s.restless(w))
	clear(s.touched)
	if s.together {
		clear(s.joint)
	}
	s.together = !apart || hot != 0
	switch {
	case !apart:
		for i := range s.joint {
			s.joint[i] = ^uint64(0)
		}
	case hot != 0:
		for word, set := range s.busy {
			for ; set != 0; set &= set - 1 {
				if s.outlets[word<<6+bits.TrailingZeros64(set)].from&hot != 0 {
					s.joint[word] |= set & -set
				}
			}
		}
		for i := range s.inlets {
			if back := s.inlets[i].Back; hot>>(i&63)&1 != 0 && back >= 0 {
				s.joint[back>>6] |= 1 << (back & 63)
			}
		}
	}
}

// receive moves the frames that arrive before the window's end to their outlets and
// returns when the next one arrives.
func (s *Buffered) receive(w *sim.Worker) units.Time {
	next := units.Never
	busy := s.in.Busy()
	for word := range busy {
		for set := busy[word]; set != 0; set &= set - 1 {
			slot := word<<6 + bits.TrailingZeros64(set)
			c := s.in.At(slot)
			for part := c.Take(w.End); len(part) > 0; part = c.Take(w.End) {
				s.forward(s.own(part), uint32(slot))
				s.touched[word] |= set & -set
				w.Events += int64(len(part))
			}
			next = min(next, s.in.Settle(slot))
		}
	}
	for word := range s.busy {
		for set := s.busy[word]; set != 0; set &= set - 1 {
			if o := &s.outlets[word<<6+bits.TrailingZeros64(set)]; o.jumbled {
				o.tidy(w)
			}
		}
	}
	return next
}

// forward puts frames of an incoming link where they go out, and counts what comes. What
// depends on the flow alone is done once for several in a row of one.
func (s *Buffered) forward(part []sim.Record, slot uint32) {
	var all, class uint16
	var o *outlet
	var last *sim.Record
	sum, data, plain := int64(0), false, s.plain()
	for i := range part {
		r := &part[i]
		if o == nil || r.Dst != last.Dst || r.QP != last.QP || r.Src<<8 != last.Src<<8 || !plain {
			class = s.bits[r.Kind()%MaxKinds]
			at := s.toward(r, class, plain)
			if at < 0 {
				s.strand(r)
				o = nil
				continue
			}
			data = class&pauses == 0
			all |= class
			o = &s.outlets[at]
			o.coming |= class
			o.from |= 1 << (slot & 63)
			s.busy[at>>6] |= 1 << (at & 63)
		}
		last = r
		if data {
			n := s.size(r.Size)
			sum += n + 1 // so that frames of no size count
			o.expects += n
		}
		if r.Size == 0 {
			o.coming |= special
		}
		o.expect(r, slot)
	}
	if all &= 1<<MaxClasses - 1; all&(all-1) == 0 {
		s.expect(slot, uint8(bits.TrailingZeros16(all|1<<MaxClasses)), sum)
		return
	}
	for i := range part {
		if r := &part[i]; r.Kind() != Pause { // with those for which there is no way
			s.expect(slot, s.class(r), s.size(r.Size)+1)
		}
	}
}

// toward returns the outlet of a frame, or -1 if no way leads on.
func (s *Buffered) toward(r *sim.Record, class uint16, plain bool) int32 {
	switch {
	case class&pauses != 0:
		return int32(r.QP) - s.first
	case plain:
		return s.way(r)
	}
	return s.output(r)
}

func (s *Buffered) class(r *sim.Record) uint8 { return s.Kinds[r.Kind()%MaxKinds] }

// left frees the memory of the frame whose last bit has left.
func (s *Buffered) left(o *outlet, now units.Time) {
	if class := o.sending; class >= 0 {
		if o.log != nil {
			o.log[class].most = max(o.log[class].most, o.queues[class].bytes)
		}
		o.queues[class].bytes -= o.stored
		o.held -= o.stored
		if o.counted && s.release(o.slot, uint8(class), o.stored) {
			s.resume(o.slot, uint8(class), now)
		}
	}
	o.sending = idle
	if o.waiting != 0 || o.control.head != o.control.tail {
		o.ready = now
	}
}

// arrive stores a packet for an outlet.
func (s *Buffered) arrive(o *outlet, r *sim.Record) {
	if class, n, ok := s.accept(o, r); ok {
		o.enqueue(s.Buffering, r, class, n)
		o.booked = o.head
		o.queues[class].counted = o.queues[class].tail
	}
}

// accept finds room in the memory for a packet, or for its header, or drops it.
func (s *Buffered) accept(o *outlet, r *sim.Record) (class uint8, n int64, ok bool) {
	slot := r.Size >> sizeBits
	class, n = s.class(r), s.size(r.Size&sizeMask)
	why, pause := s.admit(slot, class, n, o.queues[class].bytes)
	if pause {
		s.pause(slot, class, r.T)
	}
	if why != stored && s.TrimTo > 0 && why != HeadroomFull && r.Src>>24&Capable != 0 {
		cut, full := *r, class
		cut.Size, cut.Src, cut.Dst = slot<<sizeBits|uint32(min(int64(r.Size&sizeMask), s.TrimTo)), r.Src&^(Capable<<24), sim.Pack(r.To(), Cut)
		class, n = s.class(&cut), s.size(cut.Size&sizeMask)
		if why, pause = s.admit(slot, class, n, o.queues[class].bytes); why == stored {
			s.Tally.Cuts++
			o.lose(r, full, why, true)
			if o.log != nil {
				o.log[full].Cuts++
			}
			*r = cut
		}
		if pause {
			s.pause(slot, class, r.T)
		}
	}
	if why != stored {
		s.drop(o, r, class, why)
	}
	return class, n, why == stored
}

// drop loses a packet. In the order of a sweep, or within an outlet, the first drop is the
// earliest; among outlets that run by themselves the earliest counts, then the lowest.
func (s *Buffered) drop(o *outlet, r *sim.Record, class uint8, why Reason) {
	t := &s.Tally
	t.Drops++
	o.dropped++
	if o.log != nil {
		o.log[class].Drops++
	}
	o.lose(r, class, why, false)
	if t.Drops == 1 || r.T < t.First.At || r.T == t.First.At && o.link < t.First.Link {
		t.First = Drop{r.T, o.link, class, why, *r}
	}
}

// pause stops a class of an incoming link.
func (s *Buffered) pause(slot uint32, class uint8, now units.Time) {
	h := s.of(slot, class)
	h.paused = true
	s.inlets[slot].paused++
	s.pausing++
	s.Tally.Pauses++
	if s.begun != nil {
		s.begun[slot]++
	}
	s.repeatAfter(slot, class, now)
	s.control(slot, class, s.Quanta, now)
}

// resume lets a class of an incoming link go on.
func (s *Buffered) resume(slot uint32, class uint8, now units.Time) {
	h := s.of(slot, class)
	h.paused, h.refresh = false, units.Never
	s.inlets[slot].paused--
	s.pausing--
	s.control(slot, class, 0, now)
}

func (s *Buffered) repeatAfter(slot uint32, class uint8, now units.Time) {
	h := s.of(slot, class)
	h.refresh = now + s.inlets[slot].Refresh
	s.refresh.Push(sim.Event{T: h.refresh, Key: uint64(slot), Kind: uint32(class), Arg: int32(slot)})
}

// nextRefresh returns when a pause is repeated next, or [units.Never].
func (s *Buffered) nextRefresh() units.Time {
	for s.refresh.Len() > 0 {
		e := s.refresh.Peek()
		if h := s.of(uint32(e.Arg), uint8(e.Kind)); h.paused && h.refresh == e.T {
			return e.T
		}
		s.refresh.Pop()
	}
	return units.Never
}

// repeat repeats the pause that is due at time now.
func (s *Buffered) repeat(now units.Time) {
	e := s.refresh.Pop()
	s.repeatAfter(uint32(e.Arg), uint8(e.Kind), now)
	s.control(uint32(e.Arg), uint8(e.Kind), s.Quanta, now)
}

// control sends a pause frame back on an incoming link.
func (s *Buffered) control(slot uint32, class uint8, quanta uint32, now units.Time) {
	in := &s.inlets[slot]
	o := &s.outlets[in.Back]
	o.control.push(&sim.Record{T: now, Dst: sim.Pack(in.Host, Pause), QP: uint32(in.Link), PSN: quanta, Msg: uint32(class), Size: uint32(s.Frame)})
	o.touch(now)
	s.busy[in.Back>>6] |= 1 << (in.Back & 63)
	if w := s.inSweep; w != nil {
		s.order.set(int(in.Back), o.moment(w, int(in.Back)))
	}
}

// Stored returns the bytes that the switch holds.
func (s *Buffered) Stored() int64 {
	n := int64(0)
	for i := range s.outlets {
		n += s.outlets[i].held
	}
	return n
}

// TakeDeepest hands over, for each outgoing link at which a packet has found others since
// the last call, the most bytes of them.
func (s *Buffered) TakeDeepest(take func(link int32, bytes int64)) {
	for i := range s.outlets {
		if o := &s.outlets[i]; o.deepest > 0 {
			take(o.link, o.deepest)
			o.deepest = 0
		}
	}
}

// Dropped hands over, for each outgoing link with any, the packets dropped so far.
func (s *Buffered) Dropped(take func(link int32, packets int64)) {
	for i := range s.outlets {
		if o := &s.outlets[i]; o.dropped > 0 {
			take(o.link, o.dropped)
		}
	}
}

// Marks returns the number of packets marked.
func (s *Buffered) Marks() int64 {
	n := int64(0)
	for i := range s.outlets {
		for c := range s.outlets[i].queues {
			n += s.outlets[i].queues[c].Marked
		}
	}
	return n
}
