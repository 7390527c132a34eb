package fabric

import "hybrid/internal/units"

// Mark is how a class marks packets as having met congestion (ECN, RFC 3168).
type Mark struct {
	// Least and Most are the bytes in the queue from which on packets are marked with a
	// rising probability, and always: RED (Floyd and Jacobson, IEEE/ACM Transactions on
	// Networking 1(4), 1993). Where they are equal it is a step: all are marked beyond it.
	Least, Most int64
	// Peak is the probability just below Most, in 2^-32.
	Peak int64
	// Weight is that of a new packet's queue in the average; 0 means the queue as it is.
	Weight units.Rat
	// Leaving marks when a packet's transmission starts, by what it leaves behind in the
	// queue; else it is marked when it arrives, by what it finds there.
	Leaving bool
}

// averageBits is the binary fraction of an averaged queue.
const averageBits = 16

// marker is the state of a queue's marking.
type marker struct {
	average int64 // 2^-averageBits bytes
	drawn   uint64
	Marked  int64
}

// see takes a packet's queue into the average.
func (m *marker) see(p *Mark, queue int64) {
	if p.Weight.Num == 0 {
		return
	}
	if d := queue<<averageBits - m.average; d >= 0 {
		m.average += scale(d, p.Weight.Num, p.Weight.Den)
	} else {
		m.average -= scale(-d, p.Weight.Num, p.Weight.Den)
	}
}

// mark decides about a packet. Its random numbers are counted: they depend on the salt of
// the queue and on how many came before.
func (m *marker) mark(p *Mark, queue int64, salt uint64) bool {
	if p.Weight.Num != 0 {
		queue = m.average >> averageBits
	}
	yes := queue > p.Most
	if !yes && queue > p.Least {
		m.drawn++
		yes = int64(Draw(salt, m.drawn)) < scale(queue-p.Least, p.Peak, p.Most-p.Least)
	}
	if yes {
		m.Marked++
	}
	return yes
}

// PortSalt returns the salt of a switch's port.
func PortSalt(seed uint64, node, port int32) uint64 { return mix(Salt(seed, node) + uint64(port) + 1) }

// QueueSalt returns the salt of a class at a port.
func QueueSalt(port uint64, class uint8) uint64 { return port + uint64(class)<<48 }

// DrawWide returns the n-th random number under a salt, of 64 bits.
func DrawWide(salt, n uint64) uint64 { return mix(salt + n) }

// Draw returns the n-th random number of a queue, of 32 bits.
func Draw(salt, n uint64) uint32 { return uint32(mix(salt+n) >> 32) }
