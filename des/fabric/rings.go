package fabric

import "hybrid/des/sim"

const (
	// lentRing is the size of a ring that is lent for a visit, a power of two.
	lentRing = 32
	// fewOutputs is the number of outputs of a fabric whose rings are in the cache anyway.
	fewOutputs = 1024
)

// rings are what the outputs of a switch keep packets in. For a visit, an output that is
// empty borrows a ring of the worker's, which is in the cache; one that keeps packets
// longer has a ring of its own, which it gives back for others when it is empty. In a
// small fabric all rings are in the cache, and outputs keep theirs.
type rings struct {
	keep bool         // what is lent is the switch's own, and never given back
	lent []sim.Record // of the worker, lentRing for each output
	free [][]sim.Record
}

// borrow begins a visit.
func (b *rings) borrow(w *sim.Worker, outputs int) {
	switch {
	case !b.keep:
		b.lent = w.Borrow(outputs * lentRing)
	case b.lent == nil:
		b.lent = make([]sim.Record, outputs*lentRing)
	}
}

// lend returns an output's part of the worker's memory.
func (b *rings) lend(at int32) []sim.Record {
	return b.lent[int(at)*lentRing:][:lentRing:lentRing]
}

// take returns a ring for n records or more.
func (b *rings) take(n int) []sim.Record {
	if last := len(b.free) - 1; last >= 0 && len(b.free[last]) >= n {
		ring := b.free[last]
		b.free = b.free[:last]
		return ring
	}
	size := firstRing
	for size < n {
		size *= 2
	}
	return make([]sim.Record, size)
}

// own moves what is left in a lent ring to one of the output's own, and gives back the
// ring of an output that is empty.
func (p *port) own(b *rings) {
	switch {
	case b.keep:
	case p.lent && p.first != p.tail:
		p.move(b, int(p.tail-p.first))
	case p.lent:
		p.ring, p.lent = nil, false
	case p.first == p.tail && len(p.ring) > 0:
		b.free = append(b.free, p.ring)
		p.ring = nil
	}
}

// move moves what is in the ring to another one for n records or more.
func (p *port) move(b *rings, n int) {
	ring := b.take(n)
	for i := p.first; i != p.tail; i++ {
		ring[i&uint32(len(ring)-1)] = p.ring[i&uint32(len(p.ring)-1)]
	}
	if !p.lent {
		b.free = append(b.free, p.ring)
	}
	p.ring, p.lent = ring, false
}

// grow makes room in the ring.
//
//go:noinline
func (p *port) grow(b *rings, at int32) {
	if len(p.ring) == 0 {
		p.ring, p.lent = b.lend(at), !b.keep
		return
	}
	p.move(b, 2*len(p.ring))
}
