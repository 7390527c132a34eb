package des

import (
	"math"
	"slices"

	"hybrid/des/fabric"
	"hybrid/des/nic"
	"hybrid/des/sim"
	"hybrid/internal/diag"
	"hybrid/internal/units"
	"hybrid/internal/yamldoc"
	"hybrid/networks"
)

// switchSection declares the keys of fabric.switch. The first three are read by package
// networks and named here so that another one is an error with a suggestion.
type switchSection struct {
	Latency    *yamldoc.Node  `yaml:"latency" doc:"Time from a packet's arrival to its output queue."`
	Forwarding *yamldoc.Node  `yaml:"forwarding" doc:"store-and-forward or cut-through."`
	Buffer     *yamldoc.Node  `yaml:"buffer" doc:"Packet memory."`
	CutAfter   *int64         `yaml:"cut_after" unit:"size" range:"1B..1MiB" doc:"Of cut-through: the bytes of a frame that must have arrived before it can be sent on; default: 64B."`
	Headroom   *int64         `yaml:"headroom" unit:"size" range:"0B..1GiB" doc:"Memory for each cabled port, taken off the buffer first, for what arrives after a pause was sent; default: what its link needs, or nothing without pfc."`
	Charge     chargeSection  `yaml:"charge" doc:"What a frame occupies in memory."`
	Classes    []classSection `yaml:"classes" doc:"Traffic classes from 0 on, at most 8; default: one."`
	Schedule   string         `yaml:"schedule" default:"strict" oneof:"strict|round-robin|weighted" doc:"strict: a higher class goes first; round-robin: classes take turns, a packet each; weighted: as many packets each as their weight. Pause frames go before all."`
	PFC        *pfcSection    `yaml:"pfc" doc:"Priority flow control (IEEE 802.1Qbb); without it nothing is paused."`
	Queue      *queueSection  `yaml:"queue" doc:"Bound of an output queue of a class without PFC."`
	ECN        *ecnSection    `yaml:"ecn" doc:"Explicit congestion notification; without it nothing is marked."`
	Trim       *trimSection   `yaml:"trim" doc:"Cuts packets for which a queue has no room to their header; without it they are dropped."`
}

type chargeSection struct {
	Less  int64 `yaml:"less" unit:"size" default:"0B" range:"0B..64KiB" doc:"Bytes of a frame on the link that are not kept in memory."`
	Least int64 `yaml:"least" unit:"size" default:"0B" range:"0B..64KiB" doc:"The least that a frame occupies."`
}

type classSection struct {
	Share  int64      `yaml:"share" default:"1" range:"0..1000000" doc:"Its share of the buffer that headroom leaves, as a proportion of all shares."`
	Weight int32      `yaml:"weight" default:"1" range:"1..1000000" doc:"Packets of a turn of the weighted schedule."`
	Rate   *units.Rat `yaml:"rate" unit:"rate" range:"1Mbps.." doc:"The most that a port sends of the class: a packet starts no sooner than the one before it takes at this rate; default: no bound."`
}

type pfcSection struct {
	Classes []int      `yaml:"classes" range:"0..7" doc:"Lossless classes; default: that of data."`
	Xoff    *int64     `yaml:"xoff" unit:"size" range:"0B.." doc:"A port pauses its class for the packet that takes what it holds beyond this."`
	Alpha   *units.Rat `yaml:"alpha" range:"0..1024" doc:"The same, beyond this times the free bytes of the pool; of both the lower counts."`
	Xon     *int64     `yaml:"xon" unit:"size" range:"0B.." doc:"A paused class goes on when the port's headroom is empty and it holds at most this; default: half of xoff."`
	Gap     int64      `yaml:"gap" unit:"size" default:"0B" range:"0B..1GiB" doc:"And at least this much less than what pauses it."`
	Frame   int64      `yaml:"frame" unit:"size" default:"84B" range:"1B..128B" doc:"Size of a pause frame on the link."`
	Quanta  uint32     `yaml:"quanta" default:"65535" range:"64..65535" doc:"Length of a pause in 512 bit times; it is repeated after half of it and the link's delay."`
}

type queueSection struct {
	Limit *int64     `yaml:"limit" unit:"size" range:"0B.." doc:"Bytes in the queue."`
	Alpha *units.Rat `yaml:"alpha" range:"0..1024" doc:"Multiple of the free bytes of the pool; of both the lower counts."`
}

type ecnSection struct {
	Classes []int     `yaml:"classes" range:"0..7" doc:"Classes whose data packets are marked; default: that of data."`
	Kmin    int64     `yaml:"kmin,required" unit:"size" range:"0B..1TiB" doc:"Queue up to which nothing is marked."`
	Kmax    *int64    `yaml:"kmax" unit:"size" range:"0B..1TiB" doc:"Queue beyond which everything is marked; default: kmin, a step."`
	Pmax    units.Rat `yaml:"pmax" default:"1" range:"0..1" doc:"Probability at kmax, to which it rises linearly."`
	Average units.Rat `yaml:"average" default:"0" range:"0..1" doc:"Weight of a new packet in the average of the queue; 0: the queue itself."`
	At      string    `yaml:"at" default:"dequeue" oneof:"enqueue|dequeue" doc:"enqueue: by what an arriving packet finds in its queue; dequeue: by what a packet leaves behind when its transmission starts."`
}

type trimSection struct {
	Size  int64 `yaml:"size" unit:"size" default:"64B" range:"1B..64KiB" doc:"Size of a cut packet on the link."`
	Class int   `yaml:"class" default:"0" range:"0..7" doc:"Traffic class of cut packets."`
}

// SwitchSection returns a value of the struct whose tags declare the keys of
// fabric.switch, for the reference and the schema.
func SwitchSection() any { return switchSection{} }

// checkSwitch reads fabric.switch; findings go to list.
func checkSwitch(n *networks.Network, list *diag.List) (s switchSection) {
	if n.Fabric.Switch.Section != nil {
		yamldoc.DecodeAt(n.Fabric.Switch.Section, "fabric.switch", &s, list)
	}
	if len(s.Classes) == 0 {
		s.Classes = []classSection{{Share: 1, Weight: 1}}
	}
	at := func(key string) diag.Pos { return positionOf(n, "fabric", "switch", key) }
	if s.CutAfter != nil && n.Fabric.Switch.Forwarding != cutThrough {
		list.Warnf("W964", at("cut_after"), "cut_after has no effect: switches store and forward").Note("forwarding: cut-through sends frames on while they arrive")
	}
	if len(s.Classes) > fabric.MaxClasses {
		list.Errorf("E956", at("classes"), "%d traffic classes; at most %d are possible", len(s.Classes), fabric.MaxClasses)
	}
	if p := s.PFC; p != nil {
		if p.Xoff == nil && p.Alpha == nil {
			list.Errorf("E956", at("pfc"), "pfc needs xoff or alpha").Note("xoff: 700KB pauses a port at a fixed number of bytes, alpha: 0.125 at a part of the free memory")
		}
		if p.Xoff != nil && p.Xon != nil && *p.Xon > *p.Xoff {
			list.Errorf("E956", at("pfc"), "xon is more than xoff: %d B and %d B", *p.Xon, *p.Xoff)
		}
		s.checkClasses(p.Classes, at("pfc"), list)
	}
	if e := s.ECN; e != nil {
		if e.Kmax != nil && *e.Kmax < e.Kmin {
			list.Errorf("E956", at("ecn"), "kmax is less than kmin: %d B and %d B", *e.Kmax, e.Kmin)
		}
		s.checkClasses(e.Classes, at("ecn"), list)
	}
	if s.Trim != nil {
		s.checkClasses([]int{s.Trim.Class}, at("trim"), list)
	}
	return s
}

func (s *switchSection) checkClasses(classes []int, at diag.Pos, list *diag.List) {
	for _, c := range classes {
		if c >= len(s.Classes) {
			list.Errorf("E956", at, "class %d is named, but fabric.switch.classes has %d", c, len(s.Classes))
		}
	}
}

// buffers says whether switches have a packet memory: where the file says something of it,
// and where they cut through or choose ports by their queues.
func buffers(n *networks.Network, routing *fabric.Routing) bool {
	s := &n.Fabric.Switch
	return s.Buffer != nil || hasMemory(s.Section) || s.Forwarding == cutThrough || routing != nil && routing.Ordered()
}

// hasMemory says whether keys of fabric.switch are about a packet memory.
func hasMemory(section *yamldoc.Node) bool {
	return section != nil && slices.ContainsFunc(section.Items, func(e *yamldoc.Node) bool { return e.Key != "cut_after" })
}

// setBuffering describes the packet memory of the switches, if the network asks for one.
func (r *run) setBuffering(list *diag.List) {
	n, s := r.job.Network, &r.section
	if !r.params.Packets || !buffers(n, r.params.Routing) {
		return
	}
	last := uint8(len(s.Classes) - 1)
	if r.params.Classes[0] > last {
		list.Errorf("E956", positionOf(n, "nic", "class"), "data have class %d, but fabric.switch.classes has %d", r.params.Classes[0], last+1)
		return
	}
	r.params.Classes[1] = min(r.params.Classes[1], last)
	r.params.Flags, r.params.Lossy = fabric.Capable, true
	b := &fabric.Buffering{Turns: s.Schedule != "strict", Less: s.Charge.Less, Least: s.Charge.Least, Frame: math.MaxInt64, Seed: r.job.Seed, Shuffle: r.job.ShuffleSeed,
		CutAfter: r.medium.CutAfter, Stepwise: r.medium.CutAfter > 0, Clock: r.clock}
	b.Kinds[nic.DataKind], b.Kinds[nic.AckKind] = r.params.Classes[0], r.params.Classes[1]
	for _, c := range s.Classes {
		class := fabric.Class{Weight: 1, Limit: s.Queue.threshold()}
		if s.Schedule == "weighted" {
			class.Weight = c.Weight
		}
		if c.Rate != nil {
			class.PerByte, b.Stepwise = *c.Rate, true
		}
		b.Classes = append(b.Classes, class)
	}
	if p := s.PFC; p != nil {
		b.Frame, b.Quanta = p.Frame, p.Quanta
		for _, c := range p.Classes {
			p.apply(&b.Classes[c])
		}
		if len(p.Classes) == 0 {
			p.apply(&b.Classes[r.params.Classes[0]])
		}
	}
	if e := s.ECN; e != nil {
		for _, c := range e.Classes {
			b.Classes[c].Mark = e.mark()
		}
		if len(e.Classes) == 0 {
			b.Classes[r.params.Classes[0]].Mark = e.mark()
		}
	}
	if t := s.Trim; t != nil {
		b.TrimTo, b.Kinds[fabric.Cut] = t.Size, uint8(t.Class)
	}
	r.buffering = b
	r.still.patience = r.patience()
	r.checkBuffers(list)
	r.checkCut(list)
}

func threshold(bytes *int64, alpha *units.Rat) fabric.Threshold {
	t := fabric.Threshold{Bytes: fabric.Unlimited}
	if bytes != nil {
		t.Bytes = min(*bytes, fabric.Unlimited)
	}
	if alpha != nil {
		t.Alpha = *alpha
	}
	return t
}

func (q *queueSection) threshold() fabric.Threshold {
	if q == nil {
		return threshold(nil, nil)
	}
	return threshold(q.Limit, q.Alpha)
}

// apply makes a class lossless.
func (p *pfcSection) apply(c *fabric.Class) {
	c.Lossless, c.Xoff, c.Gap, c.Xon = true, threshold(p.Xoff, p.Alpha), p.Gap, fabric.Unlimited
	switch {
	case p.Xon != nil:
		c.Xon = *p.Xon
	case p.Xoff != nil:
		c.Xon = *p.Xoff / 2
	}
}

func (e *ecnSection) mark() *fabric.Mark {
	m := &fabric.Mark{Least: e.Kmin, Most: e.Kmin, Peak: fabric.Part(1<<32, e.Pmax.Num, e.Pmax.Den), Weight: e.Average, Leaving: e.At == "dequeue"}
	if e.Kmax != nil {
		m.Most = *e.Kmax
	}
	return m
}

// patience returns how long nothing may move in a network in which something can: every
// pause has ended twice, and a frame has crossed every link.
func (r *run) patience() units.Time {
	t := units.Time(0)
	for _, l := range r.job.Topology.Links() {
		one := min(r.clock.Span(l.PerByte, int64(r.buffering.Quanta)*64+2*r.params.MTU), limitSpan) + min(r.clock.Ticks(l.Delay), limitSpan)
		t = max(t, one)
	}
	return 2*min(max(t, r.longestPace()), limitSpan) + 4*min(r.medium.Latency, limitSpan)
}

// incoming returns the links that lead to each node.
func (r *run) incoming() [][]int32 {
	topo := r.job.Topology
	in := make([][]int32, topo.Hosts()+topo.Switches())
	for id, l := range topo.Links() {
		in[l.To] = append(in[l.To], int32(id))
	}
	return in
}

// checkBuffers looks whether the memory holds the headroom, and whether frames and links
// fit into what a switch can tell apart.
func (r *run) checkBuffers(list *diag.List) {
	n := r.job.Network
	r.inlets = r.incoming()
	if largest := r.largest(); largest > fabric.MaxFrame {
		list.Errorf("E956", positionOf(n, "fabric", "mtu"), "frames of %d B; switches with a packet memory take at most %d B", largest, fabric.MaxFrame)
		return
	}
	leaving := make([]int, len(r.inlets))
	for _, l := range r.job.Topology.Links() {
		leaving[l.From]++
	}
	for node := r.job.Topology.Hosts(); node < len(r.inlets); node++ {
		for _, id := range r.inlets[node] {
			if r.section.PFC != nil && !r.checkPauses(id, list) {
				return
			}
		}
		if ports := max(len(r.inlets[node]), leaving[node]); ports > fabric.MaxInlets {
			list.Errorf("E956", positionOf(n, "topology"), "a switch has %d links; with a packet memory it can have %d", ports, fabric.MaxInlets)
			return
		}
		if b := n.Fabric.Switch.Buffer; b != nil && r.headroom(int32(node)) > *b {
			list.Errorf("E956", positionOf(n, "fabric", "switch", "buffer"), "the headroom of %d links takes %s; the buffer has %s",
				len(r.inlets[node]), units.FormatBytes(r.headroom(int32(node))), units.FormatBytes(*b))
			return
		}
	}
}

// checkPauses looks whether pauses reach a link's near end, and whether one lasts until its
// repetition is there: half of it is more than half the delay and what a frame may wait.
func (r *run) checkPauses(id int32, list *diag.List) bool {
	n, l, b := r.job.Network, r.job.Topology.Links()[id], r.buffering
	if r.back(id) < 0 {
		list.Errorf("E956", positionOf(n, "topology"), "pauses cannot stop what comes from %s: no link leads back", r.linkName(id))
		return false
	}
	pause := r.clock.Span(l.PerByte, int64(b.Quanta)*64)
	if pause == 0 {
		list.Errorf("E956", positionOf(n, "fabric", "switch", "pfc"), "pauses have no length on the link from %s, which takes no time for a bit", r.linkName(id))
		return false
	}
	wait := r.clock.Ticks(l.Delay) + r.clock.Span(l.PerByte, 2*(r.largest()+fabric.MaxClasses*b.Frame))
	if pause < wait {
		list.Errorf("E956", positionOf(n, "fabric", "switch", "pfc"), "a pause of %d quanta ends %s before its repetition arrives, from %s", b.Quanta,
			units.FormatPS(r.clock.PS(wait-pause)), r.linkName(id))
		return false
	}
	return true
}

// largest returns the size of the largest frame.
func (r *run) largest() int64 {
	w := &r.params.Wire
	return max(r.params.MTU+max(w.First, w.Middle, w.Last, w.Only), w.Ack, w.MinFrame)
}

// headroom returns the bytes of headroom of all links of a switch.
func (r *run) headroom(node int32) int64 {
	sum := int64(0)
	for _, id := range r.inlets[node] {
		sum += min(r.headroomOf(id), fabric.Unlimited>>12)
	}
	return sum
}

// headroomOf returns the headroom of a link: as the file says, or all that can arrive
// after the packet that makes the switch send a pause, for each lossless class: 2 d/b + 2
// Lmax + Lpause and the latencies of the switches; and that packet, if the pool is full
// before xoff is reached. The pause waits for a frame, and pauses
// of other classes, is sent, travels and, at a switch, passes its latency; a frame may
// have started just before, and what is under way then takes the delay and the switch's
// own latency.
func (r *run) headroomOf(id int32) int64 {
	if h := r.section.Headroom; h != nil {
		return *h
	}
	if r.section.PFC == nil {
		return 0
	}
	if r.job.Network.Fabric.Switch.Buffer == nil {
		return fabric.Unlimited
	}
	l := r.job.Topology.Links()[id]
	lossless := int64(0)
	for i := range r.buffering.Classes {
		if r.buffering.Classes[i].Lossless {
			lossless++
		}
	}
	waits := 2*r.clock.Ticks(l.Delay) + r.medium.Latency
	if l.From >= r.medium.Hosts {
		waits += r.medium.Latency
	}
	perByte := units.NewRat(max(l.PerByte.Num, 1), l.PerByte.Den)
	one := units.MulDiv(waits, perByte.Den, perByte.Num*r.clock.PerPS) + 1 + 3*r.largest() + lossless*r.buffering.Frame
	return lossless * min(one, fabric.Unlimited>>16)
}

// newBuffered makes the switch at a node.
func (r *run) newBuffered(node, first int32, wires []fabric.Wire, process []int32) sim.Process {
	links := r.job.Topology.Links()
	inlets := make([]fabric.Inlet, len(r.inlets[node]))
	for i, id := range r.inlets[node] {
		l := links[id]
		back := r.back(id)
		in := fabric.Inlet{Link: id, Back: max(back-first, -1), Headroom: r.headroomOf(id), Refresh: units.Never}
		if l.From < r.medium.Hosts {
			in.Host = l.From
		}
		if r.medium.CutAfter > 0 {
			in.Far = fabric.NewWire(r.medium, l, nil)
		}
		if r.buffering.Quanta > 0 {
			in.Refresh = max(1, (wires[in.Back].PauseTime(r.buffering.Quanta)+r.clock.Ticks(l.Delay))/2)
		}
		inlets[i] = in
	}
	s := fabric.NewBuffered(r.buffering, r.job.Topology, node, first, wires, inlets, r.pools(node), r.kernel.Inputs(process[node]))
	if r.rec != nil {
		s.Record()
	}
	if x := r.params.Routing; x != nil {
		s.Use(x)
	}
	r.buffered = append(r.buffered, s)
	return s
}

// pools returns what each class has of the buffer that headroom leaves.
func (r *run) pools(node int32) []int64 {
	pools := make([]int64, len(r.section.Classes))
	left, shares := fabric.Unlimited, int64(0)
	if b := r.job.Network.Fabric.Switch.Buffer; b != nil {
		left = min(*b, fabric.Unlimited) - r.headroom(node)
	}
	for _, c := range r.section.Classes {
		shares += c.Share
	}
	for i, c := range r.section.Classes {
		if pools[i] = fabric.Unlimited; r.job.Network.Fabric.Switch.Buffer != nil {
			pools[i] = fabric.Part(left, c.Share, max(shares, 1))
		}
	}
	return pools
}

// back returns the link that leads the other way: of several between the same nodes the
// one with the same place among them.
func (r *run) back(id int32) int32 {
	links := r.job.Topology.Links()
	l := links[id]
	place := 0
	for _, other := range r.inlets[l.To] {
		if other < id && links[other].From == l.From {
			place++
		}
	}
	for _, other := range r.inlets[l.From] {
		if links[other].From != l.To {
			continue
		}
		if place == 0 {
			return other
		}
		place--
	}
	return -1
}
