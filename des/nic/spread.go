package nic

import (
	"hybrid/des/fabric"
	"hybrid/des/sim"
	"hybrid/internal/units"
)

// spreadPorts sees whether each packet has a port of its own: a NIC with several, and a
// routing that chooses packet by packet.
func (n *NIC) spreadPorts() {
	x := n.params.Routing
	if x == nil || len(n.ports) == 1 {
		return
	}
	n.spread = x.Kind == fabric.Spray || x.Kind == fabric.Adaptive || x.Kind == fabric.Source && x.PerPacket
	n.full.Size = uint32(max(n.params.MTU+n.params.Wire.Middle, n.params.Wire.MinFrame))
}

// place chooses the port of a queue pair's next packet.
func (n *NIC) place(q int32, now units.Time) {
	qp := &n.qps[q]
	r := sim.Record{T: now, Dst: sim.Pack(qp.node, frameData), Src: sim.Pack(n.node, 0), QP: uint32(q), PSN: qp.psn}
	if !n.params.Packets {
		r.Dst |= qp.psn & 255 << 24
	}
	qp.port = n.next(&r, now)
}

// ways returns the ports towards a record's target: where links fail, those that are up at
// time r.T. They are valid until the next call.
func (n *NIC) ways(r *sim.Record) []int32 {
	if n.faults != nil {
		return n.live(r)
	}
	first, count := n.topo.Next(n.node, r.To())
	n.list = n.list[:0]
	for i := range count {
		n.list = append(n.list, first-n.first+i)
	}
	return n.list
}

// next returns the port of a data packet: sprayed in turn, or where it can start first, or
// as for all others.
func (n *NIC) next(r *sim.Record, now units.Time) int32 {
	x := n.params.Routing
	if x.Kind == fabric.Source {
		return n.routed(r)
	}
	list := n.ways(r)
	count := int32(len(list))
	switch {
	case count == 1:
		return list[0]
	case x.Kind == fabric.Adaptive:
		return n.earliest(list, now)
	case x.Random:
		return list[x.Member(r, n.node, n.salt, count)]
	}
	flow := fabric.FlowHash(r)
	number := r.PSN
	if !n.params.Packets {
		number = uint32(r.Kind())
	}
	return list[(uint32(fabric.Choose(flow^n.salt, count))+x.Step(flow, number))%uint32(count)]
}

// earliest returns the port of several at which a packet could start first if all that
// waits there were full packets; of several the first.
func (n *NIC) earliest(list []int32, now units.Time) int32 {
	best, least := list[0], units.Never
	for _, i := range list {
		if n.pacer != nil {
			n.ripen(i, now)
		}
		p := &n.ports[i]
		ahead := int64(p.waiting) + int64(len(p.acks)-p.ackHead)
		t := max(now, p.wire.Free, p.until[frameData]) + ahead*p.wire.Span(&n.full, now)
		if t < least {
			best, least = i, t
		}
	}
	return best
}

// routed chooses the port of a flow: that of its path, or by the hash.
func (n *NIC) routed(r *sim.Record) int32 {
	x := n.params.Routing
	if links := x.First(r); len(links) > 0 {
		i := int32(0)
		if len(links) > 1 {
			i = x.Member(r, n.node, n.salt, int32(len(links)))
		}
		return links[i] - n.first
	}
	list := n.ways(r)
	if len(list) == 1 {
		return list[0]
	}
	return list[x.Member(r, n.node, n.salt, int32(len(list)))]
}

// goOn puts the queue pair that has just sent a packet where its next one goes out. The
// heap is in order again.
func (n *NIC) goOn() {
	q := n.moved
	n.moved = -1
	n.ready(q, n.movedAt)
}
