package nic

import (
	"hybrid/des/sim"
	"hybrid/internal/units"
)

// pacer holds queue pairs to their rates. One that may not send yet is in no round: it
// waits for its time.
type pacer struct {
	pairs []pace       // by queue pair
	waits []sim.Events // by port: queue pairs with something to send, by (time, queue pair)
}

// pace is the rate of a queue pair.
type pace struct {
	// perByte is the least time from the start of a packet to that of the next, for each
	// byte of the first on the link. A change takes effect with the next packet sent.
	perByte units.Rat
	opens   units.Time // when the next packet may start
}

// pace makes the pacer of a NIC whose transport has a rate.
func (n *NIC) pace() {
	if n.params.PerByte.Num != 0 {
		n.pacer = &pacer{waits: make([]sim.Events, len(n.ports))}
	}
}

// open adds a queue pair.
func (p *pacer) open(perByte units.Rat) { p.pairs = append(p.pairs, pace{perByte: perByte}) }

// readyPaced is ready of a queue pair with a rate.
func (n *NIC) readyPaced(q int32, now units.Time) {
	if n.spread {
		n.place(q, now)
	}
	at := n.qps[q].port
	n.ripen(at, now)
	if t := n.pacer.pairs[q].opens; t > now {
		n.wait(q, t)
		now = t
	} else {
		n.join(&n.ports[at], q)
	}
	n.wake(at, now)
}

// wait keeps a queue pair out of the round until a time.
func (n *NIC) wait(q int32, t units.Time) {
	n.pacer.waits[n.qps[q].port].Push(sim.Event{T: t, Key: uint64(q), Arg: q})
}

// ripen lets the queue pairs of a port whose time has come join its round.
func (n *NIC) ripen(at int32, now units.Time) {
	for w := &n.pacer.waits[at]; w.Next() <= now; {
		n.join(&n.ports[at], w.Pop().Arg)
	}
}

// paced returns when the first queue pair that waits for its time joins a port's round, or
// [units.Never].
func (n *NIC) paced(at int32) units.Time {
	if n.pacer == nil {
		return units.Never
	}
	return n.pacer.waits[at].Next()
}

// takeTurn takes a packet of so many bytes on the link, which started now, off the rate of
// its queue pair, which waits for its next turn unless it may move to another port.
func (n *NIC) takeTurn(q int32, size uint32, now units.Time) {
	p := &n.pacer.pairs[q]
	p.opens = now + min(n.params.Clock.Span(p.perByte, int64(size)), sim.MaxTime>>2)
	if n.qps[q].current >= 0 && !n.spread {
		n.wait(q, p.opens)
	}
}
