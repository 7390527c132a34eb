package nic

import (
	"fmt"

	"hybrid/des/fabric"
	"hybrid/des/sim"
	"hybrid/internal/units"
)

// Receive handles a frame at the time it has fully arrived.
func (n *NIC) Receive(w *sim.Worker, r *sim.Record) {
	switch {
	case !n.params.Packets && n.params.Accept:
		n.whole(w, r)
	case !n.params.Packets:
		n.deliver(w, r)
	case r.Kind() < frameAck:
		n.packet(w, r)
	case r.Kind() == frameAck:
		n.acknowledged(w, r)
	case r.Kind() == fabric.Pause:
		n.pause(r)
	default:
		n.Cut++
	}
}

// packet accepts a data packet, which must be the next of its queue pair: the fabric
// does not reorder the packets of a flow. What follows a lost one is discarded.
func (n *NIC) packet(w *sim.Worker, r *sim.Record) {
	n.Taken++
	c := n.conn(r)
	if r.PSN != c.expect || c.window > 0 {
		if n.params.Accept {
			n.accept(w, r, c)
			return
		}
		if n.params.Lossy {
			n.Discarded++
			return
		}
		w.Fail(fmt.Errorf("node %d: packet %d of queue pair %d of node %d has arrived where %d was due", n.node, r.PSN, r.QP, r.From(), c.expect))
		return
	}
	c.expect++
	c.pending++
	last := r.Src>>24&flagLast != 0
	if last || c.pending >= n.params.AckEvery {
		c.pending = 0
		n.acknowledge(r)
	}
	if last {
		n.deliver(w, r)
	}
}

// conn finds or makes the receiving half of a record's queue pair.
func (n *NIC) conn(r *sim.Record) *conn {
	key := pair(r.Src&sim.NodeMask, r.QP)
	if i := n.byConn.find(key); i >= 0 {
		return &n.conns[i]
	}
	n.byConn.add(key, int32(len(n.conns)))
	n.conns = append(n.conns, conn{})
	return &n.conns[len(n.conns)-1]
}

// acknowledge queues the acknowledgement of everything up to a packet.
func (n *NIC) acknowledge(r *sim.Record) {
	wire := &n.params.Wire
	ack := sim.Record{T: r.T, Dst: sim.Pack(r.From(), frameAck), Src: sim.Pack(n.node, 0), QP: r.QP, PSN: r.PSN, Size: uint32(max(wire.Ack, wire.MinFrame))}
	at := n.output(&ack)
	p := &n.ports[at]
	if len(p.acks) == cap(p.acks) && p.ackHead > len(p.acks)/2 {
		k := copy(p.acks, p.acks[p.ackHead:])
		p.acks, p.ackHead = p.acks[:k], 0
	}
	p.acks = append(p.acks, ack)
	n.wake(at, r.T)
}

// deliver hands a message whose last packet has arrived to the node.
func (n *NIC) deliver(w *sim.Worker, r *sim.Record) {
	m := n.peers[r.From()].sends.read(r.Msg)
	n.Delivered += m.Bytes
	n.owner.Delivered(w, m, r.T)
	if !n.params.Packets {
		w.Notices = append(w.Notices, sim.Notice{At: r.T, Node: r.From(), Ref: r.Msg})
	}
}

// acknowledged retires the messages that a cumulative acknowledgement covers. PSNs
// are compared as serial numbers (RFC 1982).
func (n *NIC) acknowledged(w *sim.Worker, r *sim.Record) {
	n.Taken++
	qp := &n.qps[r.QP]
	if int32(qp.psn-1-r.PSN) < 0 {
		w.Fail(fmt.Errorf("node %d: an acknowledgement names packet %d of queue pair %d, which has not been sent", n.node, r.PSN, r.QP))
		return
	}
	for qp.oldest >= 0 {
		slot := qp.oldest
		m := n.sends.at(slot)
		if int32(r.PSN-m.last) < 0 {
			return
		}
		n.retire(w, qp, m, r.T)
		qp.oldest = m.next
		n.sends.release(slot)
	}
}

func (n *NIC) retire(w *sim.Worker, qp *queuePair, m *Message, at units.Time) {
	if m.Flow != 0 {
		n.owner.Acked(w, m, at)
	}
	if m.Kind == Eager || m.Kind == Data {
		qp.acked = max(qp.acked, at)
	}
}

// Retire ends a message of a transport without acknowledgements, which was delivered
// at time at. It runs between windows, on behalf of any worker.
func (n *NIC) Retire(w *sim.Worker, slot uint32, at units.Time) {
	m := n.sends.at(int32(slot))
	n.retire(w, &n.qps[m.qp], m, at)
	n.sends.release(int32(slot))
}

// LastAcknowledged calls visit for every queue pair whose transfers were
// acknowledged, with the time of the latest.
func (n *NIC) LastAcknowledged(visit func(src, dst int32, at units.Time)) {
	for i := range n.qps {
		if q := &n.qps[i]; q.acked > 0 {
			visit(q.src, q.dst, q.acked)
		}
	}
}

// QueuePairs returns the number of queue pairs this NIC has opened.
func (n *NIC) QueuePairs() int { return len(n.qps) }
