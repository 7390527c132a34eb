package fabric

import (
	"iter"
	"math/bits"

	"hybrid/des/sim"
	"hybrid/internal/units"
)

// Place says where a packet waits in a switch, on the switch's clock. It is found out
// between windows, or after a run; nothing is kept for it on a packet's way but when a
// pause began and when a lower class was first passed over.
type Place struct {
	// Link is the outgoing link whose queue it is in, and Class the traffic class.
	Link  int32
	Class uint8
	// Ahead and Queue are the bytes before it in the queue, and of the whole queue.
	Ahead, Queue int64
	// Head is the first packet of the queue.
	Head sim.Record
	// Until is when the pause of the queue ends and Since when it began; it is paused if
	// Until is to come.
	Until, Since units.Time
	// Passed says that packets of higher classes go before the queue, since Overtaken.
	Passed    bool
	Overtaken units.Time
}

// Queued hands over every packet that waits at an output.
func (s *Switch) Queued(visit func(r *sim.Record, at *Place)) {
	for i := range s.ports {
		p := &s.ports[i]
		at := Place{Link: s.first + int32(i)}
		at.visit(between(p.ring, p.head, p.tail), ^uint32(0), visit)
	}
}

// Queued hands over every packet that waits at an output.
func (s *Buffered) Queued(visit func(r *sim.Record, at *Place)) {
	for i := range s.outlets {
		for c := range s.outlets[i].queues {
			at := s.outlets[i].place(uint8(c))
			at.visit(s.outlets[i].waits(uint8(c)), sizeMask, visit)
		}
	}
}

// visit hands over the packets of a queue; mask selects their bytes in Record.Size.
func (at *Place) visit(packets iter.Seq[*sim.Record], mask uint32, visit func(r *sim.Record, at *Place)) {
	at.Queue, at.Ahead = 0, 0
	first := true
	for p := range packets {
		if first {
			at.Head, first = *p, false
			at.Head.Size &= mask
		}
		at.Queue += int64(p.Size & mask)
	}
	for p := range packets {
		r := *p
		r.Size &= mask
		visit(&r, at)
		at.Ahead += int64(r.Size)
	}
}

// place describes a queue of the outlet.
func (o *outlet) place(class uint8) Place {
	q := &o.queues[class]
	return Place{Link: o.link, Class: class, Until: q.until, Since: q.since, Passed: o.passed>>class&1 != 0, Overtaken: q.overtaken}
}

// Paused hands over the queues with packets that are paused beyond a time, by outgoing
// link and class.
func (s *Buffered) Paused(now units.Time, visit func(link int32, class uint8)) {
	for i := range s.outlets {
		o := &s.outlets[i]
		for c := range o.queues {
			if o.queues[c].until > now && o.waiting>>c&1 != 0 {
				visit(o.link, uint8(c))
			}
		}
	}
}

// Holds hands over the outgoing links on which packets of a class wait that came on link
// from, because they are paused beyond a time.
func (s *Buffered) Holds(from int32, class uint8, now units.Time, visit func(link int32)) {
	for i := range s.outlets {
		o := &s.outlets[i]
		if int(class) >= len(o.queues) || o.queues[class].until <= now {
			continue
		}
		for r := range o.waits(class) {
			if s.inlets[r.Size>>sizeBits].Link == from {
				visit(o.link)
				break
			}
		}
	}
}

// At describes the queue of a class at an outgoing link.
func (s *Buffered) At(link int32, class uint8) Place {
	o := &s.outlets[link-s.first]
	at := o.place(class)
	at.visit(o.waits(class), sizeMask, func(*sim.Record, *Place) {})
	at.Ahead = 0
	return at
}

// lose keeps a loss on the way to the outlet.
func (o *outlet) lose(r *sim.Record, class uint8, why Reason, cut bool) {
	l := Loss{Drop{r.T, o.link, class, why, *r}, cut}
	l.Packet.Size &= sizeMask
	o.losses.keep(&l)
}

// Losses hands over the losses that are kept for want of room at each output.
func (s *Buffered) Losses(visit func(*Loss)) {
	for i := range s.outlets {
		for k := range s.outlets[i].losses {
			visit(&s.outlets[i].losses[k])
		}
	}
}

// Starved is a queue of a lower class that higher ones went before without a break.
type Starved struct {
	Link  int32
	Class uint8
	// For is how long, and At when that ended, or the end of the run, on the switch's clock.
	For, At units.Time
}

// overtake notes which waiting classes are passed over by one that goes before them, and
// how long the one that goes had been.
func (o *outlet) overtake(open uint8, class int, now units.Time) {
	if o.passed>>class&1 != 0 {
		o.passed &^= 1 << class
		o.endured(uint8(class), now)
	}
	for set := open &^ (1<<class | o.passed); set != 0; set &= set - 1 {
		o.queues[bits.TrailingZeros8(set)].overtaken = now
	}
	o.passed |= open &^ (1 << class)
}

func (o *outlet) endured(class uint8, now units.Time) {
	if d := now - o.queues[class].overtaken; d > o.starved.For {
		o.starved = Starved{o.link, class, d, now}
	}
}

// Starved hands over for each output the longest time that a queue of a lower class was
// passed over, without having been paused meanwhile; what has not ended counts until now.
func (s *Buffered) Starved(now units.Time, visit func(*Starved)) {
	for i := range s.outlets {
		o := &s.outlets[i]
		for set := o.passed; set != 0; set &= set - 1 {
			o.endured(uint8(bits.TrailingZeros8(set)), now)
		}
		if o.starved.For > 0 {
			visit(&o.starved)
		}
	}
}
