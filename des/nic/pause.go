package nic

import (
	"hybrid/des/sim"
	"hybrid/internal/units"
)

// pause stops a class on the port of the link that a pause frame names, or lets it go on.
func (n *NIC) pause(r *sim.Record) {
	at := int32(r.QP) - n.first
	p := &n.ports[at]
	until := r.T + p.wire.PauseTime(r.PSN)
	for kind, class := range n.params.Classes {
		if uint32(class) == r.Msg {
			if p.until[kind] <= r.T {
				p.since[kind] = r.T
			}
			p.until[kind] = until
			if p.log != nil {
				p.log.stops[kind].Frame(r.T, until)
			}
		}
	}
	if r.PSN > 0 {
		n.Paused++
	}
	p.stopped = max(p.until[frameData], p.until[frameAck]) > r.T || p.wire.Faulty()
	if p.queued {
		n.hasten(at, r.T)
	}
}

// transmitOpen is Transmit for a port that is paused in part, or has queue pairs with rates.
func (n *NIC) transmitOpen(w *sim.Worker, p *port, now units.Time) {
	if n.pacer != nil {
		n.ripen(n.due[0].port, now)
	}
	ack, at := p.choose(now)
	if !ack {
		at = min(at, max(n.paced(n.due[0].port), p.until[frameData]))
	}
	if up := p.wire.Up(now); up > now {
		at = max(at, up)
	}
	if at > now {
		n.due[0].at = at
		n.settle()
		return
	}
	n.Packets++
	if ack {
		p.sendAck(w, now)
	} else {
		n.sendData(w, p, now)
	}
	n.sent(p)
}

// choose says what a port that is paused in part sends: an acknowledgement or data, or
// nothing before time at.
func (p *port) choose(now units.Time) (ack bool, at units.Time) {
	p.stopped = max(p.until[frameData], p.until[frameAck]) > now || p.wire.Faulty()
	at = units.Never
	if p.ackHead < len(p.acks) {
		if at = p.until[frameAck]; at <= now {
			return true, now
		}
	}
	if p.ready >= 0 {
		at = min(at, p.until[frameData])
	}
	return false, max(at, now)
}

// hasten lets a port that waits for the end of a pause look again at what it can send.
func (n *NIC) hasten(port int32, now units.Time) {
	for i := range n.due {
		d := &n.due[i]
		if d.port != port {
			continue
		}
		if t := max(now, n.ports[port].wire.Free); t < d.at {
			d.at = t
			n.lift(i)
		}
		return
	}
}
