package analytic

import (
	"math/big"

	"hybrid/internal/units"
	"hybrid/networks"
)

// scaleUp is the parameters of the scale-up fabrics in ticks. A fabric gives its
// figures itself: bandwidth, latencies, and the header and payload of its packets.
//
// A rank sends the packets of a transfer one after another at B, each crosses in X, and
// the receiver takes them one after another at B too. With b the time of a byte, h and m
// header and largest payload, s bytes in P = max(1, ceil(s/m)) packets have been sent
// after (s + P h) b and are received
//
//	X + (min(s, m) + h) b
//
// later: all packets but the last are full, so that the receiver is behind by one full
// packet, or by the only one. For s <= m that is X + 2hb + 2b s. For more it is stated as
// X + (m + h) b + (1 + h/m) b s, which is exact where m divides s and elsewhere early by
// less than the time of one header.
type scaleUp struct {
	place *networks.ScaleUpPlacement
	// near and far are by group: within a subgroup, and between two.
	near, far []level
	used      bool
}

// scaleUpRates returns the per-byte times of the fabrics.
func scaleUpRates(p *networks.Placement, packets networks.ScaleUp) []units.Rat {
	if p.ScaleUp == nil {
		return nil
	}
	var all []units.Rat
	for i := range p.ScaleUp.Groups {
		b := p.ScaleUp.Groups[i].PerByte
		all = append(all, b, withHeaders(b, packets))
	}
	return all
}

// withHeaders returns (1 + h/m) b, or the nearest that fits.
func withHeaders(b units.Rat, packets networks.ScaleUp) units.Rat {
	m := max(packets.Payload, 1)
	exact := new(big.Rat).Mul(bigOf(b), big.NewRat(1, m))
	exact.Mul(exact, new(big.Rat).SetInt(new(big.Int).Add(big.NewInt(m), big.NewInt(packets.Header))))
	if r, ok := units.FromBig(exact); ok {
		return r
	}
	return b
}

func (n *network) convertScaleUp(packets networks.ScaleUp) *scaleUp {
	p := n.place.ScaleUp
	if p == nil {
		return nil
	}
	s := &scaleUp{place: p, near: make([]level, len(p.Groups)), far: make([]level, len(p.Groups))}
	for i := range p.Groups {
		g := &p.Groups[i]
		s.near[i] = n.scaleUpLevel(g, g.Near(), packets)
		s.far[i] = n.scaleUpLevel(g, g.Far(), packets)
	}
	return s
}

// scaleUpLevel returns the parameters of a crossing. In LogGP the bytes of a lone packet
// are late by once more their own time (store), since it is received only when all of it
// has arrived; then both ends are busy for (s + h) b exactly. No processor takes part.
func (n *network) scaleUpLevel(g *networks.ScaleUpGroup, crossing int64, packets networks.ScaleUp) level {
	b, h, m := g.PerByte, packets.Header, max(packets.Payload, 1)
	long := withHeaders(b, packets)
	times := func(perByte units.Rat, bytes int64) units.Time { return min(n.clock.Span(perByte, bytes), horizon/4) }
	after := func(t units.Time) units.Time { return min(n.ticks(crossing)+t, horizon) }
	twice, _ := b.Mul(units.Int(2))
	header, full := times(b, h), times(b, m+h)
	return level{adapter: true, uneven: true,
		hockney: []hockneyPiece{
			{0, after(2 * header), newRate(n.clock, twice)},
			{m + 1, after(full), newRate(n.clock, long)},
		},
		loggp: []loggpPiece{
			{L: after(2 * header), g: header, G: newRate(n.clock, b), O: rate{whole: true}, store: rate{whole: true}},
			{from: 1, L: after(2*header + times(b, 1)), g: header + times(b, 1), G: newRate(n.clock, b), O: rate{whole: true}, store: newRate(n.clock, b)},
			{from: m + 1, L: after(full + times(long, 1)), g: times(long, 1), G: newRate(n.clock, long), O: rate{whole: true}, store: rate{whole: true}},
		}}
}

// level returns the parameters for two ranks of one group.
func (s *scaleUp) level(a, b int32) *level {
	s.used = true
	g := s.place.Group[a]
	if s.place.Subgroup[a] == s.place.Subgroup[b] {
		return &s.near[g]
	}
	return &s.far[g]
}
