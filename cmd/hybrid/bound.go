package main

import (
	"hybrid/analytic"
	"hybrid/graph/replay"
	"hybrid/internal/units"
	"hybrid/networks"
)

// speed is the least that the platform can do: no message arrives sooner than alpha
// picoseconds, no rank moves a byte faster than beta.
type speed struct {
	alpha int64
	beta  units.Rat
	known bool
}

func (s *speed) offer(alpha int64, beta units.Rat) {
	if !s.known || alpha < s.alpha {
		s.alpha = alpha
	}
	if !s.known || beta.Cmp(s.beta) < 0 {
		s.beta = beta
	}
	s.known = true
}

// lowerBound is the least time that the platform leaves a collective, whatever its
// algorithm.
func (p *prepared) lowerBound(c *replay.CollectiveTimes) (int64, bool) {
	s := p.fastest()
	if !s.known {
		return 0, false
	}
	return analytic.LowerBound(c.Type, c.GroupSize, c.Bytes, s.alpha, s.beta)
}

// idealTime is what the rate of a rank's link alone needs for a collective by its
// algorithm. Where ranks share a node none has a link of its own.
func (p *prepared) idealTime(c *replay.CollectiveTimes) (int64, bool) {
	link := p.platform.network.Fabric.Link.PerByte
	if p.platform.placement.RanksPerNode > 1 || link.IsZero() {
		return 0, false
	}
	return analytic.Ideal(c.Type, c.Algorithm, c.GroupSize, c.Bytes, link)
}

// fastest takes the best of the levels that ranks of the run can have; between nodes
// it is the fabric where there is one, since the levels describe its longest path.
func (p *prepared) fastest() speed {
	var s speed
	for _, id := range p.levels() {
		if id == networks.InterNode && p.topology != nil {
			fabricSpeed(p.topology, p.platform.network, &s)
			continue
		}
		l, _, ok := p.platform.network.Level(id)
		if !ok {
			continue
		}
		for _, h := range l.Hockney {
			s.offer(h.Latency, h.PerByte)
		}
	}
	if up := p.platform.placement.ScaleUp; up != nil {
		scaleUpSpeed(up, &s)
	}
	return s
}

// scaleUpSpeed offers the latency inside a subgroup, and the rate of a rank's port to
// the scale-up fabric together with what it has beside.
func scaleUpSpeed(up *networks.ScaleUpPlacement, s *speed) {
	beside := *s
	for i := range up.Groups {
		g := &up.Groups[i]
		beta := g.PerByte
		if beside.known {
			beta = together(beta, beside.beta)
		}
		s.offer(g.Near(), beta)
	}
}

// together is the time of a byte over two ways at once, 0 if it does not fit.
func together(a, b units.Rat) units.Rat {
	if a.IsZero() || b.IsZero() {
		return units.Int(0)
	}
	rate, ok := a.Inv().Add(b.Inv())
	if !ok {
		return units.Int(0)
	}
	return rate.Inv()
}

// levels lists the distances that two ranks of the run can have.
func (p *prepared) levels() []networks.LevelID {
	if p.platform.placement.RanksPerNode == 1 {
		return []networks.LevelID{networks.InterNode}
	}
	return []networks.LevelID{networks.IntraChip, networks.InterChip, networks.InterNode}
}

// fabricSpeed offers the latency of the shortest path there may be between two hosts
// and the rate of all links of a host together.
func fabricSpeed(topo networks.Topology, n *networks.Network, s *speed) {
	hosts := int32(topo.Hosts())
	ports := make([]int64, hosts)
	var up, down, direct speed
	for _, l := range topo.Links() {
		switch from, to := l.From < hosts, l.To < hosts; {
		case from && to:
			direct.offer(l.Delay, l.PerByte)
			ports[l.From]++
		case from:
			up.offer(l.Delay+n.Fabric.Switch.Latency, l.PerByte)
			ports[l.From]++
		case to:
			down.offer(l.Delay, l.PerByte)
		}
	}
	most := int64(1)
	for _, k := range ports {
		most = max(most, k)
	}
	share := func(r units.Rat) units.Rat {
		if part, ok := r.Mul(units.NewRat(1, most)); ok {
			return part
		}
		return units.Int(0)
	}
	if direct.known {
		s.offer(direct.alpha, share(direct.beta))
	}
	if up.known && down.known {
		s.offer(up.alpha+down.alpha, share(up.beta))
	}
}
