package des

import (
	"hybrid/des/nic"
	"hybrid/des/sim"
	"hybrid/graph"
	"hybrid/internal/units"
	"hybrid/networks"
)

// arrival is a message, or the announcement of one, that has reached its node and
// whose receive may not have been posted yet.
type arrival struct {
	via           arrivalKind
	src, tag      int32
	site, sender  int32 // sender: the operation at the sending node
	bytes         int64
	at            units.Time // when its data, or the announcement, are there (inside a node)
	latency, span units.Time // of the data inside a node
	next          int32      // free list
}

// arrivalKind says which way a message came and what is left to do for it.
type arrivalKind uint8

const (
	netEager arrivalKind = iota
	netRequest
	localEager
	localRequest
	scaleUpEager
)

// send starts a send: over the NIC, once the host processor has prepared it, over the
// scale-up fabric, or inside the node.
func (d *domain) send(now units.Time, at int32) {
	o := &d.ops[at]
	if src := d.ranks[o.rank].id; !d.run.throughNIC(src, o.peer) {
		if d.run.placement.ScaleUp.Shared(src, o.peer) {
			d.sendScaleUp(now, at)
		} else {
			d.sendLocal(now, at)
		}
		return
	}
	ready := d.ranks[o.rank].cpu.Message(now, d.run.sendOverhead)
	if ready == now {
		d.post(now, at)
		return
	}
	d.at(ready, eventPost, at)
}

// post hands a prepared send to the NIC: the message itself or, for a rendezvous, the
// request to send it.
func (d *domain) post(now units.Time, at int32) {
	o := &d.ops[at]
	m := nic.Message{Context: o.context, Bytes: o.bytes, Src: d.ranks[o.rank].id, Dst: o.peer, Tag: o.tag, Site: o.site, Sender: at, Flow: o.told}
	if rendezvous(o, d.run.eagerLimit) {
		m.Kind, m.Announced, m.Bytes = nic.RequestToSend, o.bytes, 0
		m.Flow = 0 // that of the data counts
	}
	d.hand(now, m)
}

// rendezvous says whether a send announces itself first.
func rendezvous(o *op, limit int64) bool {
	switch {
	case o.flags.Has(graph.Eager):
		return false
	case o.flags.Has(graph.Rendezvous):
		return true
	}
	return o.bytes > limit
}

func (d *domain) hand(now units.Time, m nic.Message) {
	to := d.run.placement.Node[m.Dst]
	if d.fabric != nil {
		d.handPort(now, m, to)
		return
	}
	if err := d.nic.Post(now, m, to); err != nil {
		d.w.Fail(err)
	}
}

// Sent implements [nic.Owner].
func (d *domain) Sent(_ *sim.Worker, m *nic.Message, at units.Time) {
	if m.Kind == nic.Eager || m.Kind == nic.Data {
		d.at(at, eventEnd, m.Sender)
	}
}

// Delivered implements [nic.Owner].
func (d *domain) Delivered(_ *sim.Worker, m *nic.Message, at units.Time) {
	switch m.Kind {
	case nic.Eager:
		d.arrive(at, m.Dst, m.Context, arrival{via: netEager, src: m.Src, tag: m.Tag, site: m.Site, sender: m.Sender, bytes: m.Bytes})
	case nic.RequestToSend:
		d.arrive(at, m.Dst, m.Context, arrival{via: netRequest, src: m.Src, tag: m.Tag, site: m.Site, sender: m.Sender, bytes: m.Announced})
	case nic.ClearToSend:
		o := &d.ops[m.Sender]
		d.hand(at, nic.Message{Kind: nic.Data, Bytes: o.bytes, Src: m.Dst, Dst: m.Src, Sender: m.Sender, Receiver: m.Receiver, Flow: o.told})
	case nic.Data:
		d.received(at, m.Receiver)
	}
}

// arrive offers a message to the matcher of rank dst.
func (d *domain) arrive(now units.Time, dst int32, context uint64, a arrival) {
	i := d.newArrival()
	d.arrived[i] = a
	r := &d.ranks[d.run.local[dst]]
	if o, ok := r.matcher.Arrive(context, a.src, a.tag, int64(i)); ok {
		d.meet(now, int32(o), i)
	}
}

// receive posts a receive.
func (d *domain) receive(now units.Time, at int32) {
	o := &d.ops[at]
	if i, ok := d.ranks[o.rank].matcher.Post(o.context, o.peer, o.tag, int64(at)); ok {
		d.meet(now, at, int32(i))
	}
}

// meet continues when a message and its receive have found each other.
func (d *domain) meet(now units.Time, at, in int32) {
	a := &d.arrived[in] // nothing takes its place before the next message arrives
	a.next, d.freeArr = d.freeArr, in
	if told := d.ops[at].told; told != 0 { // what was sent counts, not what the receive expected
		d.told[told].Bytes = a.bytes
	}
	switch a.via {
	case netEager:
		d.received(now, at)
	case netRequest:
		d.hand(now, nic.Message{Kind: nic.ClearToSend, Src: d.ranks[d.ops[at].rank].id, Dst: a.src, Sender: a.sender, Receiver: at})
	case localEager, scaleUpEager: // a.at is 0 for the latter
		d.at(max(now, a.at), eventEnd, at)
	case localRequest:
		// The answer takes as long as the announcement did; then the data go.
		begin := later(max(now, a.at), a.at-d.ops[a.sender].start)
		d.at(later(begin, a.span), eventEnd, a.sender)
		d.localArrival(a.sender, later(later(begin, a.span), a.latency))
		d.at(later(later(begin, a.span), a.latency), eventEnd, at)
	}
}

// received ends a receive whose message has arrived over the NIC, once the host
// processor has dealt with it.
func (d *domain) received(now units.Time, at int32) {
	d.at(later(d.ranks[d.ops[at].rank].cpu.Message(now, d.run.receiveOverhead), 0), eventEnd, at)
}

// sendLocal carries a send to the same node by the level's Hockney figures, without
// contention: the sender is free after bytes * time per byte, the data are there a
// latency later. A message is matched in the order of posting, even if a shorter one
// posted later is there sooner.
func (d *domain) sendLocal(now units.Time, at int32) {
	o := &d.ops[at]
	src := d.ranks[o.rank].id
	path := d.path(src, o.peer, o.bytes)
	a := arrival{via: localEager, src: src, tag: o.tag, site: o.site, sender: at, bytes: o.bytes, latency: path.latency, span: path.span}
	if rendezvous(o, path.eagerLimit) {
		a.via, a.at = localRequest, later(now, path.announce)
	} else {
		sent := later(now, path.span)
		a.at = later(sent, path.latency)
		d.at(sent, eventEnd, at)
		d.localArrival(at, a.at)
	}
	d.arrive(now, o.peer, o.context, a)
}

// path is localPath; one transfer is mostly like the one before.
func (d *domain) path(src, dst int32, bytes int64) localPath {
	at := pathKey{d.run.placement.Level(src, dst), src == dst, bytes}
	if d.pathOf != at || !d.pathKnown {
		d.pathOf, d.pathKnown, d.lastPath = at, true, d.run.localPath(src, dst, bytes)
	}
	return d.lastPath
}

// pathKey is all that the times of a transfer inside a node depend on.
type pathKey struct {
	level networks.LevelID
	self  bool
	bytes int64
}

// localArrival notes when a transfer inside the node, or through the scale-up fabric,
// counts as acknowledged.
func (d *domain) localArrival(sender int32, at units.Time) {
	o := &d.ops[sender]
	r := &d.ranks[o.rank]
	r.acked = max(r.acked, at)
	if o.told != 0 || d.run.job.StopAt > 0 {
		d.events.Push(sim.Event{T: at, Key: key(o.rank, o.seq), Kind: eventAck, Arg: o.told})
	}
}

func (d *domain) newArrival() int32 {
	if i := d.freeArr; i >= 0 {
		d.freeArr = d.arrived[i].next
		return i
	}
	d.arrived = append(d.arrived, arrival{})
	return int32(len(d.arrived) - 1)
}
