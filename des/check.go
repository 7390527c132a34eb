package des

import (
	"fmt"
	"math"

	"hybrid/des/fabric"
	"hybrid/des/nic"
	"hybrid/des/sim"
	"hybrid/internal/diag"
	"hybrid/internal/units"
	"hybrid/networks"
)

// Info is a row of a listing.
type Info struct{ Name, Doc string }

// Transports lists the transports that a network file may name under nic.transport.
func Transports() []Info {
	var out []Info
	for _, t := range nic.Transports() {
		out = append(out, Info{t.Name, t.Doc})
	}
	return out
}

// CheckNIC reads what the network's file leaves to the engine, the nic section as its
// transport does and the further keys of the switch; findings go to list.
func CheckNIC(n *networks.Network, list *diag.List) {
	p, ok := nic.Find(n, list)
	checkSwitch(n, list)
	x, _ := checkRouting(n, list)
	if ok && p.Packets {
		checkOrder(n, x, p.Accept, list)
	}
}

// NICSection returns a value of the struct whose tags declare a transport's keys in the
// nic section, for the reference and the schema; nil if there is no such transport.
func NICSection(transport string) any {
	for _, t := range nic.Transports() {
		if t.Name == transport {
			return t.Section
		}
	}
	return nil
}

// check reads and validates everything that can make a run impossible.
func (r *run) check(list *diag.List) {
	n := r.job.Network
	if r.job.Ideal {
		r.params = nic.Ideal()
	} else {
		r.params, _ = nic.Find(n, list)
	}
	r.section = checkSwitch(n, list)
	routing, routes := checkRouting(n, list)
	if r.params.Packets {
		checkOrder(n, routing, r.params.Accept, list)
	}
	if r.placement.Nodes > r.job.Topology.Hosts() {
		list.Errorf("E954", positionOf(n, "topology"), "the placement uses %d nodes, but the topology has %d hosts", r.placement.Nodes, r.job.Topology.Hosts())
	}
	if len(r.placement.Node) < r.job.Graph.Ranks {
		list.Errorf("E954", diag.Pos{}, "the placement has %d ranks, but the workload has %d", len(r.placement.Node), r.job.Graph.Ranks)
	}
	r.checkScaleUp(list)
	if list.HasErrors() {
		return
	}
	r.readLevels()
	r.groupNodes()
	r.setClock()
	r.params.Clock = r.clock
	r.setMedium()
	r.setFaults(list)
	r.setRouting(routing, routes, list)
	r.setBuffering(list)
	r.setGuard()
	r.lookAhead(list)
	r.sendOverhead, r.receiveOverhead = r.clock.Ticks(r.job.SendOverhead), r.clock.Ticks(r.job.ReceiveOverhead)
}

func positionOf(n *networks.Network, keys ...string) diag.Pos {
	for i := len(keys); i > 0; i-- {
		if s := n.Doc.At(keys[:i]...); s != nil {
			return s.Pos
		}
	}
	return diag.Pos{File: n.File}
}

// readLevels finds the parameters for each distance: the eager limit between nodes,
// and everything inside a node.
func (r *run) readLevels() {
	n := r.job.Network
	r.eagerLimit = math.MaxInt64
	if l, _, ok := n.Level(networks.InterNode); ok {
		r.eagerLimit = l.EagerLimit
	} else {
		r.notes = append(r.notes, "the network has no levels: every message is eager")
	}
	r.copyPerByte = n.Node.CopyPerByte
	if r.copyPerByte.Den == 0 {
		r.copyPerByte = units.Int(0)
	}
	used := r.levelsUsed()
	for id := networks.IntraChip; id <= networks.InterChip; id++ {
		l, from, ok := n.Level(id)
		if !ok {
			if used[id] {
				r.notes = append(r.notes, fmt.Sprintf("the network has no %s level: transfers at that distance take no time", id))
			}
			continue
		}
		if r.levels[id].level = l; !used[id] {
			continue
		}
		r.levels[id].used = true
		switch {
		case len(l.Hockney) == 0:
			r.levels[id].level = hockneyOf(l)
			r.notes = append(r.notes, fmt.Sprintf("level %s has no Hockney figures: transfers inside a node take L + 2o and G", from))
		case from != id:
			r.notes = append(r.notes, fmt.Sprintf("the network has no %s level: transfers inside a node use %s", id, from))
		}
	}
}

// levelsUsed says at which distances inside a node there are different ranks.
func (r *run) levelsUsed() (used [networks.Levels]bool) {
	p := r.placement
	socketOn := make([]int32, p.Nodes) // by node: one of its sockets + 1
	seen := make(map[int32]bool)
	for rank := range r.job.Graph.Ranks {
		node, socket := p.Node[rank], p.Socket[rank]
		used[networks.IntraChip] = used[networks.IntraChip] || seen[socket]
		seen[socket] = true
		if s := socketOn[node]; s != 0 && s != socket+1 {
			used[networks.InterChip] = true
		}
		socketOn[node] = socket + 1
	}
	return used
}

// hockneyOf reads LogGP figures as Hockney's: the time of an isolated message.
func hockneyOf(l *networks.Level) *networks.Level {
	h := &networks.Level{EagerLimit: l.EagerLimit, LogGP: l.LogGP}
	for _, p := range l.LogGP {
		h.Hockney = append(h.Hockney, networks.HockneyPiece{From: p.From, Latency: p.L + 2*p.Overhead, PerByte: p.G})
	}
	return h
}

// setClock chooses the tick.
func (r *run) setClock() {
	rates := append(r.scaleUpRates(), r.copyPerByte)
	rates = append(rates, r.paceRates()...)
	seen := map[units.Rat]bool{}
	for _, l := range r.job.Topology.Links() {
		if !seen[l.PerByte] {
			seen[l.PerByte] = true
			rates = append(rates, l.PerByte)
		}
	}
	for i := range r.levels {
		if l := &r.levels[i]; l.used {
			for _, p := range l.level.Hockney {
				rates = append(rates, p.PerByte)
			}
		}
	}
	r.clock = units.NewClock(rates...)
	if !r.clock.Exact {
		r.notes = append(r.notes, "the rates of this network have no common tick: each serialization time is rounded by at most half a picosecond")
	}
}

// longestWindow bounds the window where nodes have nothing to do with each other, in
// picoseconds.
const longestWindow = 1_000_000_000

// setMedium describes the links of the run, with the lead that makes the least
// look-ahead between hosts and switches as large as possible.
func (r *run) setMedium() {
	m := &fabric.Medium{Clock: r.clock, Wide: !r.params.Packets, Hosts: int32(r.job.Topology.Hosts())}
	if r.params.Packets { // a hop of the ideal transport is a delay and a serialization, no more
		m.Latency = r.clock.Ticks(r.job.Network.Fabric.Switch.Latency)
		m.CutAfter = r.cutAfter()
	} else if r.job.Network.Fabric.Switch.Forwarding == cutThrough {
		r.notes = append(r.notes, "the ideal transport knows no cut-through: a switch forwards messages that it has received whole")
	}
	up, down := units.Never, units.Never
	for _, l := range r.job.Topology.Links() {
		switch {
		case l.From < m.Hosts:
			up = min(up, r.clock.Ticks(l.Delay))
		case l.To < m.Hosts:
			down = min(down, r.clock.Ticks(l.Delay))
		}
	}
	if m.Latency < limitSpan && up < limitSpan && down < limitSpan {
		m.Lead = min(max((m.Latency+up-down)/2, 0), m.Latency)
	}
	r.medium = m
}

// limitSpan bounds every serialization and every delay, so that sums stay in range.
const limitSpan = sim.MaxTime >> 2

// lookAhead sets the window: the least time between a packet's start on a link and its
// effect at the far end, of all links but those where it is nothing.
func (r *run) lookAhead(list *diag.List) {
	r.window = units.Never
	w := &r.params.Wire
	largest := r.params.MTU + max(w.First, w.Middle, w.Last, w.Only, w.Ack, w.MinFrame)
	for id, l := range r.job.Topology.Links() {
		t := r.medium.LookAhead(l)
		if r.params.Packets && (largest > math.MaxUint32 || r.clock.Span(l.PerByte, largest) > limitSpan) || r.clock.Ticks(l.Delay) > limitSpan || r.medium.Latency > limitSpan {
			list.Errorf("E955", positionOf(r.job.Network, "fabric", "link"), "a packet of %d B takes longer on a link than simulated time lasts", largest)
			return
		}
		if t += r.clock.Span(l.PerByte, r.leastHead(l)); t == 0 {
			r.close = append(r.close, int32(id))
		} else {
			r.window = min(r.window, t)
		}
	}
	// A run can be interrupted between windows only.
	r.window = min(r.window, r.clock.Ticks(longestWindow))
	if r.buffering != nil {
		r.window = min(r.window, fabric.MaxWindow)
	}
	if r.job.Window > 0 {
		r.window = min(r.window, r.clock.Ticks(r.job.Window))
	}
}

// smallest returns the size of the smallest frame.
func (r *run) smallest() int64 {
	if !r.params.Packets {
		return 0
	}
	w := &r.params.Wire
	least := max(min(w.First+1, w.Middle+1, w.Last+1, w.Only, w.Ack), w.MinFrame)
	if b := r.buffering; b != nil {
		if least = min(least, b.Frame); b.TrimTo > 0 {
			least = min(least, b.TrimTo)
		}
	}
	return least
}
