package fabric

import (
	"hybrid/des/sim"
	"hybrid/internal/units"
)

// pump puts the first packets of src on a wire, one behind the other, up to the first that
// would start at end or later, or that has left a hole, and as long as there is room in
// dst. It returns how many, and notes when the wire is free and the longest that one
// had to wait. Sizes are masked.
func (p *port) pump(dst, src []sim.Record, end units.Time, mask uint32) int {
	n := min(len(dst), len(src))
	dst, src = dst[:n], src[:n]
	free, perByte, delay, longest := p.wire.Free, p.wire.perByte, p.wire.delay, p.longest
	for i := range src {
		r := &src[i]
		start := max(r.T, free)
		if start >= end || r.Dst == hole {
			n = i
			break
		}
		longest = max(longest, start-r.T)
		s := &dst[i]
		*s = *r
		size := r.Size & mask
		s.Size = size
		free = start + int64(size)*perByte
		s.T = free + delay
	}
	p.wire.Free, p.longest = free, longest
	return n
}

// span returns the records of a ring from place at on that lie side by side, at most up
// to place to.
func span(ring []sim.Record, at, to uint32) []sim.Record {
	lo := at & uint32(len(ring)-1)
	return ring[lo:min(lo+(to-at), uint32(len(ring)))]
}
