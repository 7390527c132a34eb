package nic

import (
	"hybrid/des/fabric"
	"hybrid/des/sim"
	"hybrid/internal/units"
)

// Waiting describes a queue pair with messages that are not acknowledged.
type Waiting struct {
	// QP is its number at its NIC, Host and To the hosts, Src and Dst the ranks at its ends.
	QP, Host, To, Src, Dst int32
	// Link is the outgoing link that it uses.
	Link int32
	// Due is the first packet that has not arrived at the other end, and Next the first
	// that has not been sent. Arrived says that Due is behind the oldest message: what is
	// missing is the acknowledgement of packet Due-1.
	Due, Next uint32
	Arrived   bool
	// Until is when the pause of its data ends and Since when it began; it is paused if
	// Until is to come.
	Until, Since units.Time
}

// Waiting hands over the queue pairs with messages that are not acknowledged, in the order
// of their numbers, until visit returns false. It runs between windows, or after a run, of
// a transport with packets.
func (n *NIC) Waiting(visit func(*Waiting) bool) {
	for i := range n.qps {
		q := &n.qps[i]
		if q.oldest < 0 {
			continue
		}
		p := &n.ports[q.port]
		w := Waiting{QP: int32(i), Host: n.node, To: q.node, Src: q.src, Dst: q.dst, Link: n.first + q.port,
			Next: q.psn, Until: p.until[frameData], Since: p.since[frameData]}
		peer := n.peers[q.node]
		if at := peer.byConn.find(pair(uint32(n.node), uint32(i))); at >= 0 {
			w.Due = peer.conns[at].expect
		}
		w.Arrived = int32(w.Due-n.sends.at(q.oldest).last) > 0
		if !visit(&w) {
			return
		}
	}
}

// Acknowledgements hands over the acknowledgements that wait at the NIC, with the link
// that they are for and, where they are paused, until when and since when.
func (n *NIC) Acknowledgements(visit func(r *sim.Record, at *fabric.Place)) {
	for i := range n.ports {
		p := &n.ports[i]
		at := fabric.Place{Link: n.first + int32(i), Class: n.params.Classes[frameAck], Until: p.until[frameAck], Since: p.since[frameAck]}
		for k := p.ackHead; k < len(p.acks); k++ {
			at.Head = p.acks[p.ackHead]
			visit(&p.acks[k], &at)
		}
	}
}

// Progress counts what brings a run forward: the frames that this NIC took from the network
// and that were neither pauses nor packets that it discarded.
func (n *NIC) Progress() int64 { return n.Taken + n.Cut - n.Discarded }
