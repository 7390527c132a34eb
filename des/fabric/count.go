package fabric

import (
	"hybrid/des/sim"
	"hybrid/internal/units"
	"hybrid/networks"
)

// Count counts packets and their bytes on a link.
type Count struct{ Packets, Bytes int64 }

// Add counts a packet of a transport with packets.
func (c *Count) Add(size uint32) {
	c.Packets++
	c.Bytes += int64(size)
}

func (c *Count) add(r *sim.Record, wide bool) {
	if !wide {
		c.Add(r.Size)
		return
	}
	c.Packets++
	c.Bytes += r.Wide()
}

// Count lets the wire, and copies made of it from now on, count what is put on it.
func (w *Wire) Count(c *Count) { w.sent = c }

func (w *Wire) wide() bool { return w.slow != nil && w.slow.wide }

// count counts the packets that a visit has sent, from place from to head.
func (p *port) count(from uint32) {
	for i := from; i != p.head; i++ {
		p.wire.sent.Add(p.ring[i&uint32(len(p.ring)-1)].Size)
	}
}

// Passed returns how many packets have started on a link before a time, and how many
// have arrived in full at its other end. Everything before that time, and nothing
// else, must have happened. It runs between windows.
//
// Whatever starts or arrives at that time or later is still on the channel: it takes
// effect no sooner. A switch's clock runs Lead behind, so that packets which start up
// to Lead later may be there too.
func (w *Wire) Passed(m *Medium, l networks.Link, at units.Time) (started, arrived Count) {
	started, arrived = *w.sent, *w.sent
	var lead, pipeline units.Time
	if l.From >= m.Hosts {
		lead = m.Lead
	}
	if l.To >= m.Hosts {
		pipeline = m.Latency - m.Lead
	}
	wide := w.wide()
	var late, under Count
	w.out.Newest(at, func(r *sim.Record) {
		tail := r.T
		if w.cut != 0 {
			tail += w.rest(r.Size)
		}
		if tail-pipeline >= at {
			under.add(r, wide)
		}
		if lead > 0 && tail-w.delay-w.Span(r, 0)+lead >= at {
			late.add(r, wide)
		}
	})
	started, arrived = started.less(late), arrived.less(under)
	if w.faults != nil {
		w.faults.passed(&started, &arrived, lead, at)
	}
	return started, arrived
}

func (c Count) less(o Count) Count { return Count{c.Packets - o.Packets, c.Bytes - o.Bytes} }
