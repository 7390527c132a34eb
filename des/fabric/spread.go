package fabric

import "hybrid/des/sim"

// plain says that a packet's port depends on its flow alone and is in the routing table.
func (s *Switch) plain() bool { return s.table.blocks != nil && s.detours == nil && s.routing == nil }

// spread is forward for the packets of a link, which mostly are several of one flow.
func (s *Switch) spread(part []sim.Record) {
	var dst, src, qp uint32
	var p *port
	at := int32(-1)
	for i := range part {
		r := &part[i]
		if at < 0 || r.Dst != dst || r.Src<<8 != src || r.QP != qp {
			dst, src, qp = r.Dst, r.Src<<8, r.QP
			at = s.way(r)
			p = &s.ports[at]
			s.busy[at>>6] |= 1 << (at & 63)
		}
		if int(p.tail-p.head) == len(p.ring) { // as push, which is a call
			p.first = p.head
			p.grow(&s.rings, at)
		}
		if r.T < p.last {
			p.jumbled = true
		}
		p.last = r.T
		p.ring[p.tail&uint32(len(p.ring)-1)] = *r
		p.tail++
	}
}

// way is output of a plain switch.
func (s *Switch) way(r *sim.Record) int32 {
	host := r.Dst & sim.NodeMask
	t := &s.table
	e := t.blocks[host>>t.bits]
	if e.n == 0 {
		if e = t.hosts[uint32(e.first)<<t.bits|host&(1<<t.bits-1)]; e.n == 0 {
			e = s.lookUp(host)
		}
	}
	if e.n == 1 {
		return int32(e.first)
	}
	return int32(e.first) + Choose(FlowHash(r)^s.salt, int32(e.n))
}
