package des

import (
	"math/big"

	"hybrid/des/fabric"
	"hybrid/internal/units"
)

// The reference's switch with a packet memory: lists, maps and exact fractions, straight
// from the section of the network's file.

type refSwitch struct {
	node          int32
	free          map[int]int64    // of each class's pool
	pool, spare   map[[2]int]int64 // by (incoming link, class)
	paused        map[[2]int]bool
	since         map[[2]int]int64 // of the last pause frame
	ports         map[int]*refPort // by outgoing link
	pauses, drops int64
	through       int64
	marks, cuts   int64
	first         refDrop
	flowlets      map[int32]refFlowlet
}

// refDrop is a packet for which there was no room.
type refDrop struct {
	at, link int64
	class    uint8
	why      fabric.Reason
	psn      uint32
}

type refPort struct {
	link    int
	queues  map[int][]*refStored
	control []refPause
	sending *refStored
	busy    bool
	until   map[int]int64
	turn    int // class, and packets left of it
	credit  int
	drawn   map[int]uint64
	average map[int]*big.Int // 2^-16 bytes
	wakes   map[int64]bool
	parts   map[*refStored]bool // not whole yet
	heads   []*refStored        // that may go on now
	paced   map[int]int64       // by class
	deepest int64               // bytes that a packet has found
}

type refStored struct {
	*refPacket
	in, class int
	bytes     int64
	tail      int64
}

type refPause struct {
	link, class int
	quanta      int64
}

func (f *reference) switchAt(node int32) *refSwitch {
	if s := f.switches[node]; s != nil {
		return s
	}
	s := &refSwitch{node: node, free: map[int]int64{}, pool: map[[2]int]int64{}, spare: map[[2]int]int64{}, paused: map[[2]int]bool{}, since: map[[2]int]int64{}, ports: map[int]*refPort{}}
	sec := &f.run.section
	shares := int64(0)
	for _, c := range sec.Classes {
		shares += c.Share
	}
	for c := range sec.Classes {
		s.free[c] = 1 << 60
		if b := f.run.job.Network.Fabric.Switch.Buffer; b != nil {
			left := *b
			for id, l := range f.links {
				if l.To == node {
					left -= f.run.headroomOf(int32(id))
				}
			}
			s.free[c] = left * sec.Classes[c].Share / shares
		}
	}
	f.switches[node] = s
	return s
}

func (s *refSwitch) port(link int, classes int) *refPort {
	p := s.ports[link]
	if p == nil {
		p = &refPort{link: link, queues: map[int][]*refStored{}, until: map[int]int64{}, turn: classes - 2, drawn: map[int]uint64{}, average: map[int]*big.Int{}, wakes: map[int64]bool{},
			parts: map[*refStored]bool{}, paced: map[int]int64{}}
		s.ports[link] = p
	}
	return p
}

// spareOf is the headroom of a link in use.
func (s *refSwitch) spareOf(in int) (n int64) {
	for k, of := range s.spare {
		if k[0] == in {
			n += of
		}
	}
	return n
}

func (p *refPort) bytes(class int) (n int64) {
	for _, x := range p.queues[class] {
		n += x.bytes
	}
	if p.sending != nil && p.sending.class == class {
		n += p.sending.bytes
	}
	for x := range p.parts {
		if x.class == class {
			n += x.bytes
		}
	}
	return n
}

func has(classes []int, c, data int) bool {
	for _, x := range classes {
		if x == c {
			return true
		}
	}
	return len(classes) == 0 && c == data
}

// limitOf is the lower of a fixed number of bytes and a multiple of the free ones.
func limitOf(bytes *int64, alpha *units.Rat, free int64) int64 {
	limit := int64(1) << 60
	if bytes != nil {
		limit = *bytes
	}
	if alpha != nil && alpha.Num > 0 {
		x := new(big.Int).Mul(big.NewInt(max(free, 0)), big.NewInt(alpha.Num))
		if x.Quo(x, big.NewInt(alpha.Den)); x.Cmp(big.NewInt(limit)) < 0 {
			limit = x.Int64()
		}
	}
	return limit
}

func (f *reference) classOf(p *refPacket) int {
	switch {
	case p.cut:
		return f.run.section.Trim.Class
	case p.ack:
		return int(f.run.params.Classes[1])
	}
	return int(f.run.params.Classes[0])
}

// enter lets a packet arrive at a switch on a link.
func (f *reference) enter(now int64, in int, p *refPacket) {
	s := f.switchAt(f.links[in].To)
	out := f.next(s.node, p)
	if out < 0 {
		f.faults.noWay++
		return
	}
	port := s.port(out, len(f.run.section.Classes))
	why := f.store(now, s, port, in, p)
	if why == 0 {
		return
	}
	class := f.classOf(p)
	if t := f.run.section.Trim; t != nil && !p.ack && !p.cut && !s.paused[[2]int{in, f.classOf(p)}] {
		c := *p
		c.cut, c.stay, c.size = true, true, min(p.size, t.Size)
		class = f.classOf(&c)
		if why = f.store(now, s, port, in, &c); why == 0 {
			s.cuts++
			return
		}
	}
	d := refDrop{now, int64(port.link), uint8(class), why, uint32(p.psn)}
	if s.drops++; s.drops == 1 || d.at == s.first.at && d.link < s.first.link {
		s.first = d
	}
}

func (f *reference) store(now int64, s *refSwitch, port *refPort, in int, p *refPacket) fabric.Reason {
	sec, class := &f.run.section, f.classOf(p)
	x := &refStored{p, in, class, max(p.size-sec.Charge.Less, sec.Charge.Least), p.tail}
	key := [2]int{in, class}
	pool := true
	if pfc := sec.PFC; pfc != nil && has(pfc.Classes, class, int(f.run.params.Classes[0])) {
		if !s.paused[key] {
			over := s.pool[key]+x.bytes > limitOf(pfc.Xoff, pfc.Alpha, s.free[class])
			pool = x.bytes <= s.free[class]
			lost := !pool && s.spareOf(in)+x.bytes > f.run.headroomOf(int32(in))
			if (over || !pool) && !(lost && s.pool[key]+s.spare[key] == 0) {
				s.paused[key] = true
				s.pauses++
				f.sendPause(now, s, key, int64(pfc.Quanta))
			}
		} else {
			pool = false
		}
		if !pool && s.spareOf(in)+x.bytes > f.run.headroomOf(int32(in)) {
			return fabric.HeadroomFull
		}
	} else {
		var limit *queueSection
		if limit = sec.Queue; limit == nil {
			limit = &queueSection{}
		}
		if x.bytes > s.free[class] {
			return fabric.PoolFull
		}
		if port.bytes(class)+x.bytes > limitOf(limit.Limit, limit.Alpha, s.free[class]) {
			return fabric.QueueFull
		}
	}
	if pool {
		s.pool[key] += x.bytes
		s.free[class] -= x.bytes
	} else {
		s.spare[key] += x.bytes
	}
	if f.marks(class, p) {
		f.average(port, class)
		if sec.ECN.At == "enqueue" {
			f.mark(s, port, class, port.bytes(class))
		}
	}
	found := int64(0)
	for c := range sec.Classes {
		found += port.bytes(c)
	}
	port.deepest = max(port.deepest, found)
	if x.tail > now {
		f.part(now, s, port, x)
		return 0
	}
	port.queues[class] = append(port.queues[class], x)
	f.begin(now, s, port)
	return 0
}

func (f *reference) marks(class int, p *refPacket) bool {
	e := f.run.section.ECN
	return e != nil && !p.ack && !p.cut && has(e.Classes, class, int(f.run.params.Classes[0]))
}

func (f *reference) average(port *refPort, class int) {
	if port.average[class] == nil {
		port.average[class] = new(big.Int)
	}
	w, a := f.run.section.ECN.Average, port.average[class]
	d := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(port.bytes(class)), 16), a)
	a.Add(a, d.Quo(d.Mul(d, big.NewInt(w.Num)), big.NewInt(w.Den)))
}

func (f *reference) mark(s *refSwitch, port *refPort, class int, queue int64) {
	e := f.run.section.ECN
	if e.Average.Num > 0 {
		queue = new(big.Int).Rsh(port.average[class], 16).Int64()
	}
	most := e.Kmin
	if e.Kmax != nil {
		most = *e.Kmax
	}
	switch {
	case queue > most:
		s.marks++
	case queue > e.Kmin:
		port.drawn[class]++
		first := 0
		for int(f.links[first].From) != int(s.node) {
			first++
		}
		u := fabric.Draw(fabric.QueueSalt(fabric.PortSalt(f.run.job.Seed, s.node, int32(port.link-first)), uint8(class)), port.drawn[class])
		chance := new(big.Rat).SetFrac64(int64(u)+1, 1<<32) // u < p * 2^32, rounded down
		part := new(big.Int).Lsh(big.NewInt(e.Pmax.Num), 32)
		peak := new(big.Rat).SetFrac(part.Quo(part, big.NewInt(e.Pmax.Den)), big.NewInt(1<<32))
		if chance.Cmp(peak.Mul(peak, new(big.Rat).SetFrac64(queue-e.Kmin, most-e.Kmin))) <= 0 {
			s.marks++
		}
	}
}

// begin lets an idle port look for a frame once all that arrives at this time has, and
// before hosts send: what leaves a switch may still reach them at this time.
func (f *reference) begin(now int64, s *refSwitch, port *refPort) {
	if port.busy || port.wakes[now] {
		return
	}
	port.wakes[now] = true
	f.push(now, 0, 1<<41+int64(port.link), 0, 0, func() {
		delete(port.wakes, now)
		if !port.busy {
			f.service(now, s, port)
		}
	})
}

func (f *reference) service(now int64, s *refSwitch, port *refPort) {
	sec := &f.run.section
	if len(port.control) > 0 {
		c := port.control[0]
		port.control = port.control[1:]
		port.busy = true
		f.hops--
		end := f.transmit(now, port.link, &refPacket{size: sec.PFC.Frame, pause: &c})
		f.push(end, -1, int64(port.link), 0, 0, func() { f.release(end, s, port) })
		port.heads = nil
		return
	}
	var open []int
	for c := range sec.Classes {
		if len(port.queues[c]) == 0 {
			continue
		}
		if u := max(port.until[c], port.paced[c]); u > now {
			f.begin(u, s, port)
			continue
		}
		open = append(open, c)
	}
	if len(open) == 0 {
		f.goOn(now, s, port)
		return
	}
	port.heads = nil
	if len(open) > 1 {
		f.happened["classes compete:"] = true
	}
	class := open[len(open)-1]
	if sec.Schedule != "strict" {
		class = port.take(open, sec)
	}
	x := port.queues[class][0]
	port.queues[class] = port.queues[class][1:]
	f.emit(now, s, port, x)
}

// emit puts a packet on the link of a port.
func (f *reference) emit(now int64, s *refSwitch, port *refPort, x *refStored) {
	sec, class := &f.run.section, x.class
	port.sending, port.busy, x.stay = x, true, false
	if rate := sec.Classes[class].Rate; rate != nil {
		port.paced[class] = now + f.run.clock.Span(*rate, x.size)
		f.calm = max(f.calm, port.paced[class])
	}
	if f.marks(class, x.refPacket) && sec.ECN.At == "dequeue" {
		f.mark(s, port, class, port.bytes(class)-x.bytes)
	}
	end := f.transmit(now, port.link, x.refPacket)
	f.push(end, -1, int64(port.link), 0, 0, func() { f.release(end, s, port) })
}

// take is the turn of one class after the other.
func (p *refPort) take(open []int, sec *switchSection) int {
	for _, c := range open {
		if c == p.turn && p.credit > 0 {
			p.credit--
			return c
		}
	}
	for n := 1; ; n++ {
		at := (p.turn + n + len(sec.Classes)) % len(sec.Classes)
		for _, c := range open {
			if c == at {
				p.turn, p.credit = c, 0
				if sec.Schedule == "weighted" {
					p.credit = int(sec.Classes[c].Weight) - 1
				}
				return c
			}
		}
	}
}

func (f *reference) release(now int64, s *refSwitch, port *refPort) {
	x := port.sending
	port.sending, port.busy = nil, false
	f.begin(now, s, port)
	if x == nil {
		return
	}
	key := [2]int{x.in, x.class}
	spare := min(x.bytes, s.spare[key])
	s.spare[key] -= spare
	s.pool[key] -= x.bytes - spare
	s.free[x.class] += x.bytes - spare
	pfc := f.run.section.PFC
	if !s.paused[key] || s.spare[key] > 0 {
		return
	}
	limit := limitOf(pfc.Xoff, pfc.Alpha, s.free[x.class]) - pfc.Gap
	switch {
	case pfc.Xon != nil:
		limit = min(limit, *pfc.Xon)
	case pfc.Xoff != nil:
		limit = min(limit, *pfc.Xoff/2)
	}
	if s.pool[key] == 0 || s.pool[key] <= limit {
		s.paused[key] = false
		f.sendPause(now, s, key, 0)
	}
}

// sendPause sends a pause frame on the way back of a link, and repeats it.
func (f *reference) sendPause(now int64, s *refSwitch, key [2]int, quanta int64) {
	back := f.wayBack(s, key)
	port := s.port(back, len(f.run.section.Classes))
	port.control = append(port.control, refPause{key[0], key[1], quanta})
	f.begin(now, s, port)
	if quanta == 0 {
		return
	}
	s.since[key] = now
	l := f.links[back]
	at := now + (f.run.clock.Span(l.PerByte, quanta*64)+f.run.clock.Ticks(l.Delay))/2
	f.push(at, 0, 1<<40+int64(key[0]), int64(key[1]), 0, func() {
		if s.paused[key] && s.since[key] == now {
			f.sendPause(at, s, key, quanta)
		}
	})
}

// wayBack is the link on which a switch pauses another.
func (f *reference) wayBack(s *refSwitch, key [2]int) int {
	// Of parallel links the one with the same place among them.
	there, back, from := 0, []int{}, f.links[key[0]].From
	for id, l := range f.links {
		switch {
		case l.From == s.node && l.To == from:
			back = append(back, id)
		case l.From == from && l.To == s.node && id < key[0]:
			there++
		}
	}
	return back[there]
}

// stop is the effect of a pause frame at the near end of the link it names.
func (f *reference) stop(now int64, p *refPause) {
	l := f.links[p.link]
	until := now + f.run.clock.Span(l.PerByte, p.quanta*64)
	if int(l.From) >= f.run.job.Topology.Hosts() {
		s := f.switchAt(l.From)
		port := s.port(p.link, len(f.run.section.Classes))
		port.until[p.class] = until
		f.happened["a switch is paused:"] = true
		f.begin(now, s, port)
		return
	}
	h := &f.hosts[l.From]
	for kind, class := range f.run.params.Classes {
		if int(class) == p.class {
			h.until[[2]int{p.link, kind}] = until
			f.happened["a host is paused:"] = true
		}
	}
	f.wake(now, l.From, p.link)
}
