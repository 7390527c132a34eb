package des

import (
	"fmt"

	"hybrid/des/nic"
	"hybrid/des/scaleup"
	"hybrid/des/sim"
	"hybrid/graph/replay"
	"hybrid/internal/diag"
	"hybrid/internal/units"
)

// passage is a transfer on its way through the scale-up fabric.
type passage struct {
	message arrival
	dst     int32
	context uint64
	next    int32 // free list
}

// sendScaleUp hands a send to the scale-up fabric. It is always eager and costs the host
// processors nothing.
func (d *domain) sendScaleUp(now units.Time, at int32) {
	o := &d.ops[at]
	src := d.ranks[o.rank].id
	i := d.freePass
	if i >= 0 {
		d.freePass = d.passages[i].next
	} else {
		i = int32(len(d.passages))
		d.passages = append(d.passages, passage{})
	}
	d.passages[i] = passage{dst: o.peer, context: o.context,
		message: arrival{via: scaleUpEager, src: src, tag: o.tag, site: o.site, sender: at, bytes: o.bytes}}
	d.fabric.Post(now, o.rank, d.run.local[o.peer], o.bytes, i)
}

// upper is the side of a domain that its scale-up fabric sees.
type upper struct{ d *domain }

// Sent implements [scaleup.Owner]. The fabric has no acknowledgements: a transfer counts
// as acknowledged one round trip of latency after its last bit has left.
func (u upper) Sent(ref int32, at units.Time) {
	d, p := u.d, &u.d.passages[ref]
	crossing := d.fabric.Crossing(d.ops[p.message.sender].rank, d.run.local[p.dst])
	d.localArrival(p.message.sender, later(later(at, crossing), crossing))
	d.at(at, eventEnd, p.message.sender)
}

// Received implements [scaleup.Owner].
func (u upper) Received(ref int32, at units.Time) {
	d := u.d
	p := d.passages[ref]
	d.passages[ref].next, d.freePass = d.freePass, ref
	d.arrive(at, p.dst, p.context, p.message)
}

// handPort is hand for a domain with a fabric.
func (d *domain) handPort(now units.Time, m nic.Message, to int32) {
	at := d.run.port[d.run.placement.Node[m.Src]]
	if err := d.ports.nics[at].Post(now, m, to); err != nil {
		d.w.Fail(err)
	}
	d.ports.update(at)
}

// stepGroup is Step for a domain with several nodes, or with a scale-up fabric. At equal
// times packets arrive first; then the NICs decide what to send, in the order of their
// nodes; then come the packets of the scale-up fabric; then operations end; and packets of
// the fabric start when nothing else is left.
func (d *domain) stepGroup(w *sim.Worker) units.Time {
	d.w, d.books = w, &d.run.books[w.ID]
	inbox, later := d.in.Gather(w)
	handled := int64(0)
	for i := 0; ; handled++ {
		arrival := units.Never
		if i < len(inbox) {
			arrival = inbox[i].T
		}
		port, send := d.ports.next()
		up, event, serve := d.fabric.Next(), d.events.Next(), d.fabric.Due()
		now := min(arrival, send, up, event, serve)
		if now >= w.End {
			w.Events += handled
			return min(later, now)
		}
		switch now {
		case arrival:
			at := d.run.port[inbox[i].To()]
			d.ports.nics[at].Receive(w, &inbox[i])
			d.ports.update(at)
			i++
		case send:
			d.ports.nics[port].Transmit(w)
			d.ports.update(port)
		case up:
			handled += d.fabric.Step() - 1
		case event:
			d.handle(d.events.Pop())
		default:
			d.fabric.Serve()
			handled--
		}
	}
}

// checkScaleUp looks whether the scale-up groups fit the workload.
func (r *run) checkScaleUp(list *diag.List) {
	s := r.placement.ScaleUp
	if s != nil && (len(s.Group) < r.job.Graph.Ranks || len(s.Subgroup) < r.job.Graph.Ranks) {
		list.Errorf("E954", diag.Pos{}, "the scale-up groups name %d ranks, but the workload has %d", min(len(s.Group), len(s.Subgroup)), r.job.Graph.Ranks)
	}
}

// groupNodes finds which nodes are one process because ranks on them share a scale-up
// fabric: by node the first such node. Fabrics with one rank carry nothing.
func (r *run) groupNodes() {
	nodes := newSets(r.placement.Nodes)
	s := r.placement.ScaleUp
	r.lead = nodes
	if s == nil {
		return
	}
	first := make([]int32, len(s.Groups)) // by group: a rank + 1
	for rank := range int32(r.job.Graph.Ranks) {
		g := s.Group[rank]
		if g < 0 {
			continue
		}
		if f := first[g]; f > 0 {
			nodes.union(r.placement.Node[f-1], r.placement.Node[rank])
			r.grouped = append(r.grouped, f-1, rank)
		} else {
			first[g] = rank + 1
		}
	}
	for i := range nodes {
		nodes[i] = nodes.find(int32(i))
	}
}

// buildFabrics gives the domains whose ranks have a scale-up fabric to share theirs.
func (r *run) buildFabrics() {
	s := r.placement.ScaleUp
	if len(r.grouped) == 0 {
		return
	}
	groups := make([]scaleup.Group, len(s.Groups))
	for i := range s.Groups {
		g := &s.Groups[i]
		groups[i] = scaleup.Group{PerByte: g.PerByte, Near: min(r.clock.Ticks(g.Near()), sim.MaxTime), Far: min(r.clock.Ticks(g.Far()), sim.MaxTime)}
	}
	r.port = make([]int32, r.placement.Nodes)
	for _, rank := range r.grouped {
		if d := r.domains[r.placement.Node[rank]]; d.fabric == nil {
			cfg := scaleup.Config{Clock: r.clock, Header: r.job.Network.ScaleUp.Header, Payload: r.job.Network.ScaleUp.Payload, Groups: groups}
			for i := range d.ranks {
				cfg.Group, cfg.Subgroup = append(cfg.Group, s.Group[d.ranks[i].id]), append(cfg.Subgroup, s.Subgroup[d.ranks[i].id])
			}
			d.fabric = scaleup.New(cfg, upper{d})
		}
	}
	for i, d := range r.domains {
		if d.fabric != nil {
			r.port[i] = int32(len(d.ports.nics))
			d.ports.add(r.nics[i])
		}
	}
	for i, d := range r.domains {
		if d.fabric != nil && d.id == int32(i) {
			d.ports.ready()
		}
	}
}

// scaleUpRates returns the times per byte of the groups.
func (r *run) scaleUpRates() []units.Rat {
	var rates []units.Rat
	for _, rank := range r.grouped {
		s := r.placement.ScaleUp
		rates = append(rates, s.Groups[s.Group[rank]].PerByte)
	}
	return rates
}

// countScaleUp returns by rank what has passed its port of a scale-up fabric so far, or
// nil where there is none.
func (r *run) countScaleUp() []replay.PortCount {
	if r.placement.ScaleUp == nil {
		return nil
	}
	r.rec.ups = r.rec.ups[:0]
	for rank, node := range r.placement.Node[:r.job.Graph.Ranks] {
		var c replay.PortCount
		if f := r.domains[node].fabric; f != nil {
			n := f.Count(r.local[rank])
			c = replay.PortCount{TxPackets: n.TxPackets, TxBytes: n.TxBytes, RxPackets: n.RxPackets, RxBytes: n.RxBytes}
		}
		r.rec.ups = append(r.rec.ups, c)
	}
	return r.rec.ups
}

// scaleUpNote says for the result what the fabrics carried.
func (r *run) scaleUpNote() []string {
	var packets, bytes int64
	for i, d := range r.domains {
		if d.fabric != nil && d.id == int32(i) {
			packets, bytes = packets+d.fabric.Packets, bytes+d.fabric.Delivered
		}
	}
	if packets == 0 {
		return nil
	}
	return []string{fmt.Sprintf("scale-up fabric: packets sent %s, data received %s; its queues are unlimited", units.FormatCount(packets), units.ReadableBytes(bytes))}
}
