package fabric

import (
	"hybrid/des/sim"
	"hybrid/internal/units"
)

// restless names the paused links, by a bit each, modulo 64, that may be more than paused
// in the window: go on, have their pause repeated, or use headroom.
func (s *Buffered) restless(w *sim.Worker) (links uint64) {
	if s.pausing == 0 {
		return 0
	}
	for i := range s.inlets {
		if s.inlets[i].paused > 0 && !s.still(w, i) {
			links |= 1 << (i & 63)
		}
	}
	return links
}

// still says that a paused link stays so in the window, and that nothing comes on it of
// the classes that are paused.
func (s *Buffered) still(w *sim.Worker, link int) bool {
	if s.inlets[link].spare > 0 || s.Least > 0 {
		return false
	}
	most := int64(-1)
	for c := range s.Classes {
		h := s.of(uint32(link), uint8(c))
		if !h.paused {
			continue
		}
		if h.arriving > 0 || h.refresh < w.End {
			return false
		}
		if most < 0 {
			most = s.leaving(link, w.End-w.Start)
		}
		if h.pool-most <= max(0, s.Classes[c].Xon) {
			return false
		}
	}
	return true
}

// leaving returns more bytes than can leave in a window of what has come on a link.
func (s *Buffered) leaving(link int, window units.Time) int64 {
	n := int64(1)
	for i := range s.outlets {
		o := &s.outlets[i]
		switch {
		case o.from>>(link&63)&1 == 0:
		case o.wire.perByte <= 0:
			return Unlimited
		default:
			n += o.stored + window/o.wire.perByte
		}
	}
	return n
}
