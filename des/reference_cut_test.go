package des

import "hybrid/networks"

// The reference's cut-through: an event for the head of a frame, one for its tail, and a
// list of heads that a port decides on when it next looks what to send.

// headStart returns how much sooner than its last bit a frame takes effect at a switch.
func (f *reference) headStart(l networks.Link, p *refPacket) int64 {
	if f.run.job.Network.Fabric.Switch.Forwarding != "cut-through" || !f.run.params.Packets {
		return 0
	}
	after := int64(64)
	if c := f.run.section.CutAfter; c != nil {
		after = *c
	}
	return f.run.clock.Span(l.PerByte, p.size) - f.run.clock.Span(l.PerByte, min(p.size, after))
}

// head lets the first bytes of a frame arrive at a switch.
func (f *reference) head(now, tail int64, link int, p *refPacket) {
	p.tail = tail
	if p.pause != nil && tail > now {
		f.push(tail, 0, int64(link), -1, 0, func() { f.reach(tail, link, p) })
		return
	}
	f.reach(now, link, p)
}

// part keeps a frame that is not whole, for which there is room.
func (f *reference) part(now int64, s *refSwitch, port *refPort, x *refStored) {
	port.parts[x] = true
	in, out := f.links[x.in], f.links[port.link]
	if !port.busy && !x.stay && out.PerByte.Cmp(in.PerByte) >= 0 {
		port.heads = append(port.heads, x)
		f.begin(now, s, port)
	}
	at := x.tail
	f.push(at, 0, int64(x.in), -1, 0, func() {
		if port.parts[x] {
			delete(port.parts, x)
			port.queues[x.class] = append(port.queues[x.class], x)
			f.begin(at, s, port)
		}
	})
}

// goOn sends the first frame that has begun to arrive at this time and may go.
func (f *reference) goOn(now int64, s *refSwitch, port *refPort) {
	heads := port.heads
	port.heads = nil
	for _, x := range heads {
		if max(port.until[x.class], port.paced[x.class]) > now {
			continue
		}
		delete(port.parts, x)
		s.through++
		if f.run.section.Schedule != "strict" {
			port.take([]int{x.class}, &f.run.section)
		}
		f.emit(now, s, port, x)
		return
	}
}
