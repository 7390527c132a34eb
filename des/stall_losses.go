package des

import (
	"hybrid/des/fabric"
	"hybrid/graph/replay"
	"hybrid/internal/units"
)

// eachLoss hands over the losses that are kept: for want of room, on links with faults, and
// where no way led on.
func (r *run) eachLoss(visit func(*fabric.Loss)) {
	for _, s := range r.buffered {
		s.Losses(visit)
	}
	if r.faults == nil {
		return
	}
	for _, f := range r.faults.list {
		f.Losses(visit)
	}
	for _, s := range r.fabricSwitches() {
		s.Astray(visit)
	}
}

// lostAt returns when a packet was lost.
func (r *run) lostAt(l *fabric.Loss) units.Time { return r.clockAt(l.Link, l.At) }

func isLost(r *run, s *sighting) (p replay.StalledPair, ok bool) {
	l := s.lost
	if l == nil {
		return p, false
	}
	at, name, class := r.lostAt(l), r.lostFrame(s), r.params.Classes[0]
	if s.frame.Ack {
		class = r.params.Classes[1]
	}
	switch when := r.timeText(at); {
	case l.Cut:
		p = r.waitOn(l.Link, l.Class, at, "%s was cut to its header at %s, on the way from %s: %s (class %d)", name, when, r.linkName(l.Link), l.Reason, l.Class)
	case l.Reason == fabric.NoWay: // it was on the way to no link
		from := r.nodeName(r.job.Topology.Links()[l.Link].From)
		p = r.waitOn(l.Link, class, at, "%s was dropped at %s, at %s: no way leads from there to %s", name, when, from, r.nodeName(l.Packet.To()))
		p.Link, p.To = -1, ""
	case l.Reason >= fabric.LinkDown:
		p = r.waitOn(l.Link, class, at, "%s was lost at %s, on the way from %s: %s", name, when, r.linkName(l.Link), l.Reason)
	default:
		p = r.waitOn(l.Link, l.Class, at, "%s was dropped at %s, on the way from %s: %s (class %d)", name, when, r.linkName(l.Link), l.Reason, l.Class)
	}
	return p, true
}

// lostFrame names what was lost: where the acknowledgement of a message has not come back,
// an earlier one that is known to be lost may stand for it.
func (r *run) lostFrame(s *sighting) string {
	if !s.frame.Ack {
		return s.frame.Short()
	}
	f := r.frameOf(&s.lost.Packet)
	return f.Short()
}

// isCutOff holds where a NIC waits for its link, which is down.
func isCutOff(r *run, s *sighting) (p replay.StalledPair, ok bool) {
	link, class := s.Link, r.params.Classes[0]
	if q := s.queued; q != nil && s.atNIC {
		link, class = q.Link, q.Class
	} else if !s.unsent() {
		return p, false
	}
	if r.faults == nil || r.faults.links[link] == nil {
		return p, false
	}
	out, down := r.faults.links[link].Outage(r.kernel.Reached)
	if !down {
		return p, false
	}
	text := "%s has not been sent: the link from %s is down since %s, for good"
	args := []any{s.frame.Short(), r.linkName(link), r.timeText(out.From)}
	if out.Until < units.Never {
		text = "%s has not been sent: the link from %s is down since %s, until %s"
		args = append(args, r.timeText(out.Until))
	}
	return r.waitOn(link, class, out.From, text, args...), true
}
