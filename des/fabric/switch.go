package fabric

import (
	"math/bits"

	"hybrid/des/sim"
	"hybrid/internal/units"
	"hybrid/networks"
)

// Switch is an output-queued, store-and-forward switch.
type Switch struct {
	rings
	in      *sim.Inputs
	ports   []port
	busy    []uint64 // ports with queued packets, one bit each
	node    int32
	first   int32 // the link of port 0
	table   routes
	topo    networks.Topology
	salt    uint64
	detours *detours // nil where no link fails
	// Of routes that are not ECMP by murmur3, else nil:
	routing *Routing
	groups  networks.Grouped
	copies  []sim.Record // scratch
}

// NewSwitch returns the switch at a node with the wires of its links, whose numbers
// start at first. The seed decides, together with the node, how flows are spread.
func NewSwitch(topo networks.Topology, node, first int32, wires []Wire, in *sim.Inputs, seed uint64) *Switch {
	s := &Switch{in: in, ports: make([]port, len(wires)), busy: make([]uint64, (len(wires)+63)/64),
		node: node, first: first, topo: topo, salt: mix(seed ^ mix(uint64(node)+1))}
	for i := range wires {
		s.ports[i].wire = wires[i]
	}
	s.keep = len(wires)*topo.Switches() <= fewOutputs
	s.table = newRoutes(topo, len(wires))
	return s
}

// Step implements [sim.Process].
func (s *Switch) Step(w *sim.Worker) units.Time {
	s.borrow(w, len(s.ports))
	next := s.receive(w)
	for word := range s.busy {
		for set := s.busy[word]; set != 0; set &= set - 1 {
			p := &s.ports[word<<6+bits.TrailingZeros64(set)]
			t := p.serve(w)
			p.first = p.head
			p.own(&s.rings)
			if t == units.Never {
				s.busy[word] &^= set & -set
			}
			next = min(next, t)
		}
	}
	return next
}

// receive moves the packets that arrive before the window's end to their output
// queues, link by link, and returns when the next one arrives.
func (s *Switch) receive(w *sim.Worker) units.Time {
	next := units.Never
	busy := s.in.Busy()
	for word := range busy {
		for set := busy[word]; set != 0; set &= set - 1 {
			slot := word<<6 + bits.TrailingZeros64(set)
			c := s.in.At(slot)
			for part := c.Take(w.End); len(part) > 0; part = c.Take(w.End) {
				if s.plain() {
					s.spread(part)
				} else {
					part = s.own(part)
					for i := range part {
						s.forward(&part[i])
					}
				}
				w.Events += int64(len(part))
			}
			next = min(next, s.in.Settle(slot))
		}
	}
	return next
}

func (s *Switch) forward(r *sim.Record) {
	at := s.output(r)
	if at < 0 {
		s.strand(r)
		return
	}
	s.busy[at>>6] |= 1 << (at & 63)
	s.ports[at].push(r, &s.rings, at)
}

// choices are the equal-cost ports of a packet, numbered within the switch: n of them
// from first on or, where links fail, those of a list.
type choices struct {
	first, n int32
	list     []int32
}

// at returns one of the ports.
func (c choices) at(i int32) int32 {
	if c.list != nil {
		return c.list[i]
	}
	return c.first + i
}

// output chooses the port of a packet that arrives at r.T, or -1 if no way leads on.
func (s *Switch) output(r *sim.Record) int32 {
	if s.routing != nil {
		return s.routed(r)
	}
	c := s.candidates(r)
	if c.n == 1 {
		return c.at(0)
	}
	if c.n == 0 {
		return -1
	}
	return c.at(s.pick(r, c.n))
}

// candidates returns the ports that lead to a packet's target on shortest ways.
func (s *Switch) candidates(r *sim.Record) choices {
	if s.detours != nil {
		return s.around(r)
	}
	return s.regular(r)
}

// regular is candidates where no link fails.
func (s *Switch) regular(r *sim.Record) choices {
	if s.table.blocks != nil {
		e := s.route(r.Dst & sim.NodeMask)
		return choices{first: int32(e.first), n: int32(e.n)}
	}
	first, n := s.topo.Next(s.node, r.To())
	return choices{first: first - s.first, n: n}
}

// pick chooses among n candidates by the hash of the flow, so that the packets of a queue
// pair keep to one path.
func (s *Switch) pick(r *sim.Record, n int32) int32 { return Choose(FlowHash(r)^s.salt, n) }

// TakeWaits hands over, for each outgoing link on which a packet has waited since the
// last call, the longest such wait.
func (s *Switch) TakeWaits(take func(link int32, wait units.Time)) {
	for i := range s.ports {
		if p := &s.ports[i]; p.longest > 0 {
			take(s.first+int32(i), p.longest)
			p.longest = 0
		}
	}
}

// FlowHash identifies the flow of a packet: origin, target and queue pair.
func FlowHash(r *sim.Record) uint64 {
	return (uint64(r.Src&sim.NodeMask)<<40 ^ uint64(r.Dst&sim.NodeMask)<<16) + uint64(r.QP)*0x9e3779b97f4a7c15
}

// Choose maps a hash to one of n candidates.
func Choose(hash uint64, n int32) int32 {
	return int32(mix(hash) >> 32 * uint64(n) >> 32)
}

// mix is the finalizer of MurmurHash3 (Appleby, 2011).
func mix(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// Salt returns the hash salt of a node under a seed, for hosts with several links.
func Salt(seed uint64, node int32) uint64 { return mix(seed ^ mix(uint64(node)+1)) }
