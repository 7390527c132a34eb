package nic

import (
	"fmt"

	"hybrid/des/fabric"
	"hybrid/des/sim"
	"hybrid/internal/units"
	"hybrid/networks"
)

// Owner is the node around a NIC. It is told once per message, never per packet.
type Owner interface {
	// Sent says that the last bit of a message leaves the NIC at time at.
	Sent(w *sim.Worker, m *Message, at units.Time)
	// Delivered says that the last packet of a message to this node has arrived. The
	// message is the sender's: read, not kept.
	Delivered(w *sim.Worker, m *Message, at units.Time)
	// Acked says that the acknowledgement of a message with a Flow has arrived.
	Acked(w *sim.Worker, m *Message, at units.Time)
}

// Frame kinds, in the top byte of Record.Dst; switches make others.
const (
	frameData = iota
	frameAck
)

// DataKind and AckKind are the kinds of frames of transports with packets.
const (
	DataKind uint8 = frameData
	AckKind  uint8 = frameAck
)

// flagLast marks the last packet of a message, in the top byte of Record.Src.
const flagLast = 1

// NIC is the network interface of one node: queue pairs, a port for each outgoing
// link, and the receiving ends of the queue pairs that lead here.
type NIC struct {
	params Params
	node   int32
	owner  Owner
	topo   networks.Topology
	first  int32 // the link of port 0
	salt   uint64
	faults *faults // nil where no link fails
	list   []int32 // scratch
	peers  []*NIC  // by node
	origin uint32  // of data packets: this node, and what switches may do to them

	ports []port
	due   []due // a heap: each port with something to send, by when it can

	qps   []queuePair
	byQP  index // by (source rank, destination rank)
	sends arena

	pacer *pacer // nil where queue pairs have no rates

	conns  []conn
	byConn index // by (source node, queue pair there)

	// Where each packet of a queue pair has a port of its own (see spread.go), the queue
	// pair that goes on at another one; else spread is false and moved -1. windows are
	// those of connections whose packets have come out of order (see order.go).
	spread  bool
	moved   int32
	movedAt units.Time
	full    sim.Record
	windows []window

	// Packets counts the frames this NIC sent, Posted the payload it was given and
	// Delivered the payload it handed to its node, in bytes.
	Packets, Posted, Delivered int64
	// Paused counts pause frames, Discarded packets behind a lost one, and Cut those that
	// came without payload.
	Paused, Discarded, Cut int64
	// Taken counts the data packets and acknowledgements that came.
	Taken int64
}

// port is an outgoing link.
type port struct {
	wire        fabric.Wire
	acks        []sim.Record // from ackHead on, waiting
	ackHead     int
	ready, tail int32 // queue pairs with something to send, in round-robin order
	queued      bool  // in the heap
	waiting     int32 // queue pairs in the round, where ports are chosen by it
	stopped     bool  // some of until may be to come
	until       [2]units.Time
	log         *portLog      // nil where nobody records
	since       [2]units.Time // when the pauses began
}

type due struct {
	at   units.Time
	port int32
}

// queuePair is the sending half of a connection from one rank to another. What
// reliability and congestion control need later goes beside it, by the same number.
type queuePair struct {
	node     int32 // of the destination
	port     int32
	src, dst int32 // world ranks
	next     int32 // in the round-robin list
	// Messages in posting order: the oldest unacknowledged, the one being sent, the
	// newest; -1 where there is none.
	oldest, current, newest int32
	psn                     uint32 // of the next packet to send
	posted                  uint32 // of the first packet of the next message to post
	begun                   bool   // the current message's first packet has been sent
	left                    int64  // bytes of the current message
	acked                   units.Time
}

// conn is the receiving half.
type conn struct {
	expect  uint32 // the next PSN
	pending int32  // packets since the last acknowledgement
	window  int32  // of what came ahead, + 1
}

// New returns the NIC of a node, with the wires of its links, whose numbers start at
// first. peers holds the NICs of all nodes once all are made.
func New(p Params, node int32, owner Owner, topo networks.Topology, first int32, wires []fabric.Wire, seed uint64, peers []*NIC) *NIC {
	n := &NIC{params: p, node: node, owner: owner, topo: topo, first: first, salt: fabric.Salt(seed, node), peers: peers, moved: -1}
	n.ports = make([]port, len(wires))
	n.origin = sim.Pack(node, p.Flags)
	n.pace()
	for i := range wires {
		n.ports[i] = port{wire: wires[i], ready: -1, tail: -1}
	}
	n.spreadPorts()
	return n
}

// Next returns when the NIC can send its next frame, or [units.Never].
func (n *NIC) Next() units.Time {
	if len(n.due) == 0 {
		return units.Never
	}
	return n.due[0].at
}

// Post queues a message at time now on the queue pair of its ranks. The error says that
// it has more packets than serial-number arithmetic can order (RFC 1982).
func (n *NIC) Post(now units.Time, m Message, toNode int32) error {
	q := n.queuePair(now, m.Src, m.Dst, toNode)
	qp := &n.qps[q]
	m.qp, m.next = q, -1
	if n.params.Packets {
		packets := max(1, (m.Bytes-1)/n.params.MTU+1)
		if packets >= 1<<31 {
			return fmt.Errorf("a message of %d B from rank %d to rank %d needs %d packets, more than sequence numbers can tell apart", m.Bytes, m.Src, m.Dst, packets)
		}
		m.last = qp.posted + uint32(packets) - 1
		if qp.oldest >= 0 && m.last-n.sends.at(qp.oldest).last >= 1<<31 {
			return fmt.Errorf("rank %d has more packets for rank %d outstanding than sequence numbers can tell apart", m.Src, m.Dst)
		}
		qp.posted = m.last + 1
	} else if n.params.Routing != nil {
		m.last = qp.posted
		qp.posted++
	}
	n.Posted += m.Bytes
	slot := n.sends.take()
	*n.sends.at(slot) = m
	// Without packets a message leaves the list as soon as it is sent.
	if qp.current >= 0 || n.params.Packets && qp.oldest >= 0 {
		n.sends.at(qp.newest).next = slot
	}
	if qp.oldest < 0 {
		qp.oldest = slot
	}
	qp.newest = slot
	if qp.current < 0 {
		qp.current, qp.left, qp.begun = slot, m.Bytes, false
		n.ready(q, now)
	}
	return nil
}

// queuePair finds or makes, at time now, the queue pair between two ranks.
func (n *NIC) queuePair(now units.Time, src, dst, toNode int32) int32 {
	key := pair(uint32(src), uint32(dst))
	if q := n.byQP.find(key); q >= 0 {
		return q
	}
	q := int32(len(n.qps))
	n.qps = append(n.qps, queuePair{node: toNode, src: src, dst: dst, next: -1, oldest: -1, current: -1, newest: -1})
	n.byQP.add(key, q)
	probe := sim.Record{T: now, Dst: sim.Pack(toNode, frameData), Src: sim.Pack(n.node, 0), QP: uint32(q)}
	n.qps[q].port = n.output(&probe)
	if n.pacer != nil {
		n.pacer.open(n.params.PerByte)
	}
	return q
}

// output chooses the port towards a record's target, at time r.T, by the hash of its flow.
func (n *NIC) output(r *sim.Record) int32 {
	if len(n.ports) == 1 {
		return 0
	}
	if n.params.Routing != nil {
		return n.routed(r)
	}
	if n.faults != nil {
		return n.around(r)
	}
	first, count := n.topo.Next(n.node, r.To())
	first -= n.first
	if count > 1 {
		first += fabric.Choose(fabric.FlowHash(r)^n.salt, count)
	}
	return first
}

// ready puts a queue pair at the end of its port's round and makes sure that the port is
// in the heap.
func (n *NIC) ready(q int32, now units.Time) {
	if n.pacer != nil {
		n.readyPaced(q, now)
		return
	}
	if n.spread {
		n.place(q, now)
	}
	n.join(&n.ports[n.qps[q].port], q)
	n.wake(n.qps[q].port, now)
}

// join puts a queue pair at the end of a port's round.
func (n *NIC) join(p *port, q int32) {
	n.qps[q].next = -1
	if p.ready < 0 {
		p.ready = q
	} else {
		n.qps[p.tail].next = q
	}
	p.tail = q
	p.waiting++
}

// wake makes sure that a port with something to send is in the heap.
func (n *NIC) wake(at int32, now units.Time) {
	p := &n.ports[at]
	if p.queued {
		if p.stopped || n.pacer != nil {
			n.hasten(at, now)
		}
		return
	}
	p.queued = true
	n.due = append(n.due, due{max(now, p.wire.Free), at})
	n.lift(len(n.due) - 1)
}

// lift moves an entry of the heap up to where it belongs.
func (n *NIC) lift(i int) {
	d := n.due
	for i > 0 && d[i].before(d[(i-1)/2]) {
		d[i], d[(i-1)/2] = d[(i-1)/2], d[i]
		i = (i - 1) / 2
	}
}

func (a due) before(b due) bool { return a.at < b.at || a.at == b.at && a.port < b.port }

// settle restores the heap after the first entry has changed or, if it is gone, been
// replaced by the last.
func (n *NIC) settle() {
	d := n.due
	for i := 0; ; {
		c := 2*i + 1
		if c >= len(d) {
			return
		}
		if c+1 < len(d) && d[c+1].before(d[c]) {
			c++
		}
		if !d[c].before(d[i]) {
			return
		}
		d[i], d[c] = d[c], d[i]
		i = c
	}
}

// Idle says what is left to do, for assertions: nil if every message is sent and
// acknowledged.
func (n *NIC) Idle() error {
	for i := range n.qps {
		if q := &n.qps[i]; q.current >= 0 || q.oldest >= 0 {
			return fmt.Errorf("queue pair %d of node %d, from rank %d to rank %d, has messages", i, n.node, q.src, q.dst)
		}
	}
	if len(n.due) > 0 || int(n.sends.size) != len(n.sends.free) {
		return fmt.Errorf("node %d: %d ports have frames, %d of %d messages are free", n.node, len(n.due), len(n.sends.free), n.sends.size)
	}
	return nil
}

// Transmit sends one frame on the port that is due first, at the time that Next gave:
// an acknowledgement if one waits, else one packet of the queue pair whose turn it is.
func (n *NIC) Transmit(w *sim.Worker) {
	now := n.due[0].at
	p := &n.ports[n.due[0].port]
	if p.stopped || n.pacer != nil {
		n.transmitOpen(w, p, now)
		return
	}
	n.Packets++
	if p.ackHead < len(p.acks) {
		p.sendAck(w, now)
	} else {
		n.sendData(w, p, now)
	}
	n.sent(p)
}

// sendAck sends the oldest acknowledgement.
func (p *port) sendAck(w *sim.Worker, now units.Time) {
	p.wire.Send(w, &p.acks[p.ackHead], now)
	if p.log != nil {
		p.log.acks.Add(p.acks[p.ackHead].Size)
	}
	if p.ackHead++; p.ackHead == len(p.acks) {
		p.acks, p.ackHead = p.acks[:0], 0
	}
}

// sent puts the first port of the heap, which has sent a frame, where it belongs.
func (n *NIC) sent(p *port) {
	if p.ready >= 0 || p.ackHead < len(p.acks) {
		n.due[0].at = p.wire.Free
	} else if t := n.paced(n.due[0].port); t < units.Never {
		n.due[0].at = max(t, p.wire.Free)
	} else {
		p.queued = false
		last := len(n.due) - 1
		n.due[0] = n.due[last]
		n.due = n.due[:last]
	}
	n.settle()
	if n.moved >= 0 {
		n.goOn()
	}
}

// sendData sends the next packet of the queue pair at the head of the round.
func (n *NIC) sendData(w *sim.Worker, p *port, now units.Time) {
	q := p.ready
	qp := &n.qps[q]
	p.ready = qp.next
	p.waiting--
	r := sim.Record{Dst: sim.Pack(qp.node, frameData), Src: n.origin, QP: uint32(q), PSN: qp.psn, Msg: uint32(qp.current)}
	last := true
	if n.params.Packets {
		last = n.cut(qp, &r)
		qp.psn++
	} else {
		r.SetWide(qp.left)
		if n.params.Routing != nil {
			r.Dst |= qp.psn & 255 << 24
			qp.psn++
		}
	}
	if last {
		r.Src |= flagLast << 24
	}
	end := p.wire.Send(w, &r, now)
	if last {
		n.messageSent(w, qp, end)
	}
	if n.pacer != nil {
		n.takeTurn(q, r.Size, now)
	}
	if qp.current >= 0 {
		if n.spread {
			n.moved, n.movedAt = q, now
			return
		}
		if n.pacer != nil {
			return
		}
		n.join(p, q)
	}
}

// cut takes the next packet off the current message and reports the last one.
func (n *NIC) cut(qp *queuePair, r *sim.Record) (last bool) {
	wire := &n.params.Wire
	last = qp.left <= n.params.MTU
	payload := min(qp.left, n.params.MTU)
	add := wire.Middle
	switch {
	case last && qp.begun:
		add = wire.Last
	case last:
		add = wire.Only
	case !qp.begun:
		add = wire.First
	}
	qp.begun = true
	qp.left -= payload
	r.Size = uint32(max(payload+add, wire.MinFrame))
	return last
}

// messageSent moves a queue pair on to its next message.
func (n *NIC) messageSent(w *sim.Worker, qp *queuePair, end units.Time) {
	m := n.sends.at(qp.current)
	if sim.Invariants && n.params.Packets && m.last != qp.psn-1 {
		panic(fmt.Sprintf("nic: message ends with PSN %d instead of %d", qp.psn-1, m.last))
	}
	n.owner.Sent(w, m, end)
	if qp.current = m.next; qp.current >= 0 {
		qp.left, qp.begun = n.sends.at(qp.current).Bytes, false
	}
	if !n.params.Packets {
		qp.oldest = -1
	}
}
