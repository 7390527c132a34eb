package des

import (
	"hybrid/internal/diag"
	"hybrid/internal/units"
	"hybrid/networks"
)

const (
	cutThrough     = "cut-through" // of fabric.switch.forwarding
	defaultCutting = 64            // bytes of fabric.switch.cut_after
)

// cutAfter returns the bytes of a frame after which a switch may send it on, 0 where it
// waits for all.
func (r *run) cutAfter() int64 {
	switch {
	case r.job.Network.Fabric.Switch.Forwarding != cutThrough:
		return 0
	case r.section.CutAfter != nil:
		return *r.section.CutAfter
	}
	return defaultCutting
}

// leastHead returns the fewest bytes of a frame that have to arrive on a link before it
// takes effect.
func (r *run) leastHead(l networks.Link) int64 {
	least := r.smallest()
	if r.medium.CutAfter > 0 && l.To >= r.medium.Hosts {
		least = min(least, r.medium.CutAfter)
	}
	return least
}

// checkCut looks whether heads take time on every link where frames do: only then the one
// frame has ended when the next begins. A cut_after without effect becomes a note.
func (r *run) checkCut(list *diag.List) {
	if r.medium.CutAfter == 0 {
		if r.section.CutAfter != nil {
			r.notes = append(r.notes, "cut_after has no effect: switches store and forward")
		}
		return
	}
	for id, l := range r.job.Topology.Links() {
		if r.clock.Span(l.PerByte, r.medium.CutAfter) == 0 && r.clock.Span(l.PerByte, r.largest()) > 0 {
			list.Errorf("E964", positionOf(r.job.Network, "fabric", "switch", "cut_after"), "%d B take no time on the way from %s", r.medium.CutAfter, r.linkName(int32(id)))
			return
		}
	}
}

// countArriving takes off the counters of links the frames that switches deal with before
// they are whole.
func (r *run) countArriving(at units.Time) {
	if r.medium.CutAfter == 0 || at == units.Never {
		return
	}
	at += r.medium.Latency - r.medium.Lead
	hosts := r.job.Topology.Hosts()
	for node, s := range r.buffered {
		for i, id := range r.inlets[hosts+node] {
			c := s.Arriving(i, at)
			r.rec.links[id].RxPackets -= c.Packets
			r.rec.links[id].RxBytes -= c.Bytes
		}
	}
}

// cutThrough counts the frames that went on before they were whole.
func (r *run) cutThrough() (n int64) {
	for _, s := range r.buffered {
		n += s.Tally.Through
	}
	return n
}

// paceRates returns the rates to which senders are held.
func (r *run) paceRates() (rates []units.Rat) {
	if !r.params.Packets {
		return nil
	}
	for _, c := range r.section.Classes {
		if c.Rate != nil {
			rates = append(rates, *c.Rate)
		}
	}
	if r.params.PerByte.Num != 0 {
		rates = append(rates, r.params.PerByte)
	}
	return rates
}

// longestPace returns the longest time between two packets of a class, alone on the link.
func (r *run) longestPace() (t units.Time) {
	for _, perByte := range r.paceRates() {
		t = max(t, min(r.clock.Span(perByte, r.largest()), limitSpan))
	}
	return t
}
