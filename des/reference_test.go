package des

import (
	"cmp"
	"container/heap"

	"hybrid/des/fabric"
	"hybrid/des/nic"
	"hybrid/des/sim"
	"hybrid/graph/collective"
	"hybrid/graph/replay"
	"hybrid/internal/diag"
	"hybrid/networks"
)

// reference is the model once more, as plainly as it can be written: one heap for
// everything that happens anywhere, closures, pointers, a link that is free or not. It
// shares with the engine what both take from outside (cursor, matcher, equal sharing,
// flow hash, parsed parameters), and none of its mechanics.
type reference struct {
	poll     func(*reference)
	run      *run // parameters only
	queue    refQueue
	links    []networks.Link
	free     []int64 // by link
	close    []bool  // by link: without look-ahead
	count    []int64 // packets so far by link
	hosts    []refHost
	ranks    []refRank
	lanes    []*refLane
	switches map[int32]*refSwitch // those with a packet memory
	faults   *refFaults           // nil without
	hops     int64
	now      int64
	round    int // of the event at hand
	waiting  int // events that do not concern the network
	moved    int64
	calm     int64 // from here on nothing but a packet's move changes the network
	careless bool  // at equal times the highest incoming link goes first: a wrong rule
	happened map[string]bool
	last     refEvent
	names    []string
}

type refEvent struct {
	t           int64
	round       int   // within the instant: how many links without look-ahead led here
	class       int   // 0 arrival, 1 transmit decision, 2 scale-up packet, 3 operation, 4 scale-up service
	a, b, order int64 // link, count; link; rank, issue, kind
	do          func()
}

type refQueue []refEvent

func (q refQueue) Len() int { return len(q) }
func (q refQueue) Less(i, j int) bool {
	x, y := &q[i], &q[j]
	return cmp.Or(cmp.Compare(x.t, y.t), cmp.Compare(x.round, y.round), cmp.Compare(x.class, y.class), cmp.Compare(x.a, y.a), cmp.Compare(x.b, y.b), cmp.Compare(x.order, y.order)) < 0
}
func (q refQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *refQueue) Push(x any)   { *q = append(*q, x.(refEvent)) }
func (q *refQueue) Pop() any     { x := (*q)[len(*q)-1]; *q = (*q)[:len(*q)-1]; return x }

type refHost struct {
	pairs map[[2]int32]*refPair
	acks  map[int][]*refPacket // by link
	ready map[int][]*refPair
	busy  map[int]bool
	until map[[2]int]int64 // by (link, kind): paused
	waits map[int][]*refPair
}

type refPair struct {
	id, to          int32
	src, dst        int32
	link            int
	psn, want, held int
	unsent, unacked []*refMessage
	opens           int64              // its rate lets the next packet start
	came            map[int]*refPacket // by number: ahead of a missing one
}

type refMessage struct {
	nic.Message
	left  int64
	begun bool
	last  int
}

type refPacket struct {
	hash     uint64
	from, to int32
	size     int64
	pair     *refPair
	psn      int
	last     *refMessage
	ack      bool
	cut      bool
	pause    *refPause
	tail     int64 // when the last bit counts at the switch that it is at
	stay     bool  // cut there
	turned   bool  // see reference_routing_test.go
}

// refer runs a job and returns the digest, the finish of every rank and the hops.
func refer(j Job) (uint64, []int64, int64) {
	f, d, finish := referAll(j)
	return d, finish, f.hops
}

func referAll(j Job) (*reference, uint64, []int64) { return referWatched(j, nil) }

// referWatched is referAll and lets poll look at the reference after each event.
func referWatched(j Job, poll func(*reference)) (*reference, uint64, []int64) {
	f := newReference(j)
	f.poll = poll
	d, finish := f.simulate()
	return f, d, finish
}

func newReference(j Job) *reference {
	r := &run{job: &j, placement: j.Placement}
	r.check(new(diag.List))
	f := &reference{run: r, links: j.Topology.Links(), switches: map[int32]*refSwitch{}, happened: map[string]bool{}}
	f.free, f.count, f.close = make([]int64, len(f.links)), make([]int64, len(f.links)), make([]bool, len(f.links))
	for _, id := range r.close {
		f.close[id] = true
	}
	f.setFaults()
	f.hosts = make([]refHost, j.Placement.Nodes)
	for i := range f.hosts {
		f.hosts[i] = refHost{map[[2]int32]*refPair{}, map[int][]*refPacket{}, map[int][]*refPair{}, map[int]bool{}, map[[2]int]int64{}, map[int][]*refPair{}}
	}
	f.ranks = make([]refRank, j.Graph.Ranks)
	algs := collective.NewTable()
	for i := range f.ranks {
		k := &f.ranks[i]
		k.id, k.at = int32(i), j.Placement.Node[i]
		k.cursor = replay.NewCursor(replay.Config{Graph: j.Graph}, algs, i)
		k.cpu.Collected = j.Family == "collected"
		f.push(0, 3, int64(i), 0, 0, func() { f.follow(0, k, k.cursor.Start(0, nil)) })
	}
	return f
}

func (f *reference) simulate() (d uint64, finish []int64) {
	for f.queue.Len() > 0 && !f.stuck() {
		e := heap.Pop(&f.queue).(refEvent)
		f.now, f.round = e.t, e.round
		if e.class == 0 && f.last.class == 0 && e.t == f.last.t && e.a < 1<<40 && f.links[e.a].To == f.links[f.last.a].To {
			f.happened["frames arrive together:"] = true
		}
		if e.class != 0 || e.a < 1<<40 {
			f.last = e
		}
		if e.class >= 2 {
			f.waiting--
			f.moved = e.t
		}
		e.do()
		if f.poll != nil {
			f.poll(f)
		}
	}
	finish = make([]int64, len(f.ranks))
	for i := range f.ranks {
		d = digest(d, f.ranks[i].digest)
		finish[i] = f.ranks[i].end
	}
	return d, finish
}

func (f *reference) push(t int64, class int, a, b, order int64, do func()) {
	f.pushRound(t, f.roundAt(t), class, a, b, order, do)
}

func (f *reference) pushRound(t int64, round, class int, a, b, order int64, do func()) {
	if class >= 2 {
		f.waiting++
	}
	if f.careless && class == 0 && a < int64(len(f.links)) {
		a = int64(len(f.links)) - 1 - a
	}
	heap.Push(&f.queue, refEvent{t, round, class, a, b, order, do})
}

// stuck reports that pauses alone are left, which are repeated for ever: every one has
// had the time to end, and no packet has moved.
func (f *reference) stuck() bool {
	return f.run.buffering != nil && f.run.buffering.Quanta > 0 && f.waiting == 0 && f.now-max(f.moved, f.calm) > 2*f.run.still.patience
}

// roundAt returns the round of time t in which a host or switch does what it now knows it
// will do then.
func (f *reference) roundAt(t int64) int {
	if t > f.now {
		return 0
	}
	return f.round
}

func (f *reference) transmit(now int64, link int, p *refPacket) int64 {
	l := f.links[link]
	f.hops++
	if p.pause == nil {
		f.moved = now
	}
	start := max(now, f.free[link])
	if f.faults != nil && f.lost(start, link, p) {
		return max(start, f.free[link])
	}
	f.free[link] = start + f.run.clock.Span(l.PerByte, p.size)
	at, round := f.free[link]+f.run.clock.Ticks(l.Delay), 0
	if hosts := f.run.job.Topology.Hosts(); int(l.To) >= hosts {
		if at += f.run.medium.Latency; f.close[link] && at == start {
			round = f.roundAt(start) + 1
		}
		f.count[link]++
		tail := at
		at -= f.headStart(l, p)
		f.pushRound(at, round, 0, int64(link), f.output(at, l.To, p)<<40+f.count[link], 0, func() { f.head(at, tail, link, p) })
	} else {
		if f.close[link] && at == start {
			round = f.roundAt(start) + 1
		}
		f.count[link]++
		f.pushRound(at, round, 0, int64(link), f.count[link], 0, func() { f.arrive(at, p) })
	}
	return f.free[link]
}

// output orders frames that come at one time on one link to a switch with a packet memory,
// which is only possible where they have no size.
func (f *reference) output(when int64, at int32, p *refPacket) int64 {
	switch {
	case f.run.buffering == nil || f.run.ordered():
		return 0
	case p.pause != nil:
		return int64(p.pause.link)
	}
	return int64(f.nextAt(when, at, p))
}

// reach lets a frame arrive at a switch.
func (f *reference) reach(now int64, link int, p *refPacket) {
	f.turn(f.links[link].To, p)
	switch to := f.links[link].To; {
	case p.pause != nil:
		f.stop(now, p.pause)
	case f.run.buffering != nil:
		f.enter(now, link, p)
	default:
		if out := f.next(to, p); out >= 0 {
			f.transmit(now, out, p)
		} else {
			f.faults.noWay++
		}
	}
}

func (f *reference) next(at int32, p *refPacket) int { return f.nextAt(f.now, at, p) }

func (f *reference) nextAt(when int64, at int32, p *refPacket) int {
	if f.run.params.Routing != nil {
		return f.routed(when, at, p)
	}
	if f.faults != nil {
		return f.detour(when, at, p)
	}
	first, n := f.run.job.Topology.Next(at, p.to)
	if n > 1 {
		first += fabric.Choose(p.hash^fabric.Salt(f.run.job.Seed, at), n)
	}
	return int(first)
}

func refHash(from, to, pair int32) uint64 {
	return fabric.FlowHash(&sim.Record{Src: uint32(from), Dst: uint32(to), QP: uint32(pair)})
}

// wake lets a host's link send as soon as it is free: acknowledgements first.
func (f *reference) wake(now int64, host int32, link int) {
	h := &f.hosts[host]
	f.ripen(now, h, link)
	if h.busy[link] || len(h.acks[link])+len(h.ready[link]) == 0 {
		return
	}
	h.busy[link] = true
	t := max(now, f.free[link])
	f.push(t, 1, int64(link), 0, 0, func() {
		h.busy[link] = false
		f.ripen(t, h, link)
		if f.faults != nil && f.waitForLink(t, host, link) {
			return
		}
		ack, data := len(h.acks[link]) > 0, len(h.ready[link]) > 0
		for kind, waits := range []*bool{&data, &ack} {
			if u := h.until[[2]int{link, kind}]; *waits && u > t {
				*waits = false
				f.push(u, 1, int64(link), 0, 0, func() { f.wake(u, host, link) })
			}
		}
		if ack {
			q := h.acks[link]
			h.acks[link] = q[1:]
			f.transmit(t, link, q[0])
		} else if !data {
			return
		} else {
			q := h.ready[link][0]
			h.ready[link] = h.ready[link][1:]
			f.packet(t, host, q)
			if len(q.unsent) > 0 {
				f.place(t, host, q)
				f.line(t, host, q)
				f.wake(t, host, q.link)
			}
		}
		f.wake(t, host, link)
	})
}

func (f *reference) packet(now int64, host int32, q *refPair) {
	m, par := q.unsent[0], &f.run.params
	p := &refPacket{hash: refHash(host, q.to, q.id), from: host, to: q.to, pair: q, psn: q.psn, size: m.left}
	q.psn++
	last := true
	if par.Packets {
		last = m.left <= par.MTU
		p.size = min(m.left, par.MTU)
		switch {
		case !m.begun && last:
			p.size += par.Wire.Only
		case !m.begun:
			p.size += par.Wire.First
		case last:
			p.size += par.Wire.Last
		default:
			p.size += par.Wire.Middle
		}
		p.size = max(p.size, par.Wire.MinFrame)
		m.left -= min(m.left, par.MTU)
		m.begun = true
	}
	end := f.transmit(now, q.link, p)
	if rate := par.PerByte; rate.Num > 0 {
		q.opens = now + f.run.clock.Span(rate, p.size)
	}
	if last {
		p.last, m.last = m, p.psn
		q.unsent, q.unacked = q.unsent[1:], append(q.unacked, m)
		if m.Kind == nic.Eager || m.Kind == nic.Data {
			f.endAt(end, f.ranks[m.Src].ops[m.Sender])
		}
	}
}

func (f *reference) post(now int64, m nic.Message) {
	host := f.run.placement.Node[m.Src]
	h := &f.hosts[host]
	q := h.pairs[[2]int32{m.Src, m.Dst}]
	if q == nil {
		q = &refPair{id: int32(len(h.pairs)), to: f.run.placement.Node[m.Dst], src: m.Src, dst: m.Dst}
		q.link = f.next(host, &refPacket{hash: refHash(host, q.to, q.id), from: host, to: q.to, pair: q})
		h.pairs[[2]int32{m.Src, m.Dst}] = q
	}
	if q.unsent = append(q.unsent, &refMessage{Message: m, left: m.Bytes}); len(q.unsent) == 1 {
		f.place(now, host, q)
		f.ripen(now, h, q.link)
		f.line(now, host, q)
	}
	f.wake(now, host, q.link)
}

func (f *reference) arrive(now int64, p *refPacket) {
	q := p.pair
	if p.pause != nil {
		f.stop(now, p.pause)
		return
	}
	if f.run.params.Accept && !p.ack && !p.cut {
		f.accept(now, p)
		return
	}
	if !f.run.params.Packets { // messages come as they come
		q.want = p.psn
	}
	if p.cut || !p.ack && p.psn > q.want && (f.run.buffering != nil || f.faults != nil) {
		return
	}
	if p.ack {
		for len(q.unacked) > 0 && q.unacked[0].last <= p.psn {
			f.acknowledged(now, q.unacked[0])
			q.unacked = q.unacked[1:]
		}
		return
	}
	if p.psn != q.want {
		panic("reference: packets out of order")
	}
	q.want++
	q.held++
	if f.run.params.Packets && (p.last != nil || q.held == int(f.run.params.AckEvery)) {
		q.held = 0
		a := &refPacket{hash: refHash(p.to, p.from, q.id), from: p.to, to: p.from, pair: q, psn: p.psn, ack: true,
			size: max(f.run.params.Wire.Ack, f.run.params.Wire.MinFrame)}
		link := f.next(p.to, a)
		f.hosts[p.to].acks[link] = append(f.hosts[p.to].acks[link], a)
		f.wake(now, p.to, link)
	}
	if p.last != nil {
		f.delivered(now, p.last.Message)
		if !f.run.params.Packets {
			f.acknowledged(now, p.last)
		}
	}
}

func (f *reference) acknowledged(now int64, m *refMessage) {
	if f.run.job.EndWithAck && (m.Kind == nic.Eager || m.Kind == nic.Data) {
		f.ranks[m.Src].end, f.ranks[m.Dst].end = max(f.ranks[m.Src].end, now), max(f.ranks[m.Dst].end, now)
	}
}
