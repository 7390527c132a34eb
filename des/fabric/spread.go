package fabric

import "hybrid/des/sim"

// plain says that a packet's port depends on its flow alone and is in the routing table.
func (s *Switch) plain() bool { return s.table.blocks != nil && s.detours == nil && s.routing == nil }

// spread is forward for the packets of a link, which mostly are several of one flow.
func (s *Switch) spread(part []sim.Record) {
	var dst, src, qp uint32
	at := int32(-1)
	for i := range part {
		r := &part[i]
		if at < 0 || r.Dst != dst || r.Src<<8 != src || r.QP != qp {
			dst, src, qp = r.Dst, r.Src<<8, r.QP
			e := s.route(dst & sim.NodeMask)
			if at = int32(e.first); e.n > 1 {
				at += Choose(FlowHash(r)^s.salt, int32(e.n))
			}
			s.busy[at>>6] |= 1 << (at & 63)
		}
		s.ports[at].push(r, &s.rings, at)
	}
}
