package fabric

import (
	"hybrid/des/sim"
	"hybrid/internal/units"
	"hybrid/networks"
)

// RoutingKind says how a packet's way is chosen.
type RoutingKind uint8

// Kinds of routing.
const (
	ECMP     RoutingKind = iota // a hash of the flow among equals
	Spray                       // a hash of flow and packet
	Flowlet                     // the emptiest queue, anew after a pause of the flow
	Adaptive                    // the emptiest queue, packet by packet
	Source                      // explicit paths
	Valiant                     // by way of a random switch or group
)

// Turned marks, in the top byte of Record.Src, a packet of [Valiant] routing that has been
// where it had to pass, or need not pass anywhere.
const Turned = 1 << 5

// FirstEntropy is the entropy of a queue pair's first sprayed packet; unsprayed packets
// have 0.
const FirstEntropy = 256

// Routing is what all switches and NICs of a run know about routes. It does not change
// during the run. A nil *Routing is ECMP by murmur3.
type Routing struct {
	Kind RoutingKind
	Hash *Hash
	// PerPacket chooses anew for each data packet; sprayed packets always are. Random and
	// Entropies say how their entropy follows from their number.
	PerPacket, Random bool
	Entropies         uint32
	// Gap is the pause after which a flow becomes another flowlet, in ticks, and Slots the
	// number of flowlets that a switch knows.
	Gap   units.Time
	Slots int
	// Sample is the number of ports that an adaptive switch looks at, 0 for all.
	Sample int32
	Paths  Paths
	Seed   uint64
	// Wide says that records are whole messages, whose number is in the byte of the kind.
	Wide bool
}

// Reorders says whether packets of a flow may take different paths.
func (x *Routing) Reorders() bool {
	return x.Kind == Spray || x.Kind == Flowlet || x.Kind == Adaptive || x.PerPacket
}

// Ordered says whether switches choose by what their queues hold when a packet arrives.
func (x *Routing) Ordered() bool { return x.Kind == Flowlet || x.Kind == Adaptive }

// Use gives the switch other routes than ECMP by murmur3.
func (s *Switch) Use(x *Routing) {
	s.routing = x
	if x.Kind == Valiant {
		s.groups, _ = s.topo.(networks.Grouped)
	}
}

// routed is output under a routing that is not the default: -1 if no link leads on.
func (s *Switch) routed(r *sim.Record) int32 {
	var c choices
	switch s.routing.Kind {
	case Valiant:
		c = s.detour(r)
	case Source:
		if links := s.routing.Paths.of(s.routing, r).from(s.node); links != nil {
			i := int32(0)
			if len(links) > 1 {
				i = s.routing.Member(r, s.node, s.salt, int32(len(links)))
			}
			return links[i] - s.first
		}
		c = s.candidates(r)
	default:
		c = s.candidates(r)
	}
	switch c.n {
	case 0:
		return -1
	case 1:
		return c.at(0)
	}
	return c.at(s.routing.Member(r, s.node, s.salt, c.n))
}

// Member returns which of n equal-cost links of a node a packet takes.
func (x *Routing) Member(r *sim.Record, node int32, salt uint64, n int32) int32 {
	e := x.entropy(r)
	if x.Hash.member == nil {
		return Choose((FlowHash(r)+uint64(e)*0xc2b2ae3d27d4eb4f)^salt, n)
	}
	return x.Hash.member(flow{uint32(r.From()), uint32(r.To()), r.QP, e}, node, n)
}

// entropy is what tells the packets of a sprayed flow apart.
func (x *Routing) entropy(r *sim.Record) uint32 {
	if x.Kind != Spray || !x.single(r) {
		return 0
	}
	return FirstEntropy + x.Step(FlowHash(r), x.number(r))
}

// Step returns the entropy of a flow's packet, counted from the first.
func (x *Routing) Step(flow uint64, number uint32) uint32 {
	if x.Random {
		return Below(x.Entropies, x.Seed, ForEntropy, flow, number)
	}
	return number % x.Entropies
}

// single says whether a record has a path of its own: data packets do, acknowledgements
// keep to that of their flow.
func (x *Routing) single(r *sim.Record) bool {
	return x.Wide || r.Kind() == 0 || r.Kind() == Cut
}

// number returns the packet's number within its queue pair; of whole messages modulo 256.
func (x *Routing) number(r *sim.Record) uint32 {
	if x.Wide {
		return uint32(r.Kind())
	}
	return r.PSN
}

// Purpose says what a random number is for.
type Purpose uint64

// Purposes.
const (
	ForEntropy Purpose = 0x5e57a11e00000001 + iota
	ForDetour
	ForPath
	ForTie
	ForSample // the first port of a sample; others follow
)

// Below returns a number below n that depends on the seed, the purpose, a flow and a
// counter, and on nothing else.
func Below(n uint32, seed uint64, p Purpose, flow uint64, counter uint32) uint32 {
	return uint32(mix(mix(mix(seed^uint64(p))^flow)+uint64(counter)) >> 32 * uint64(n) >> 32)
}

// counter is the packet's number where each chooses for itself, else 0.
func (x *Routing) counter(r *sim.Record) uint32 {
	if x.PerPacket && x.single(r) {
		return x.number(r)
	}
	return 0
}

// own returns packets of a link as a copy where routing marks them: the link's writer may be
// copying its ring at this time.
func (s *Switch) own(part []sim.Record) []sim.Record {
	if s.routing == nil || s.routing.Kind != Valiant {
		return part
	}
	s.copies = append(s.copies[:0], part...)
	return s.copies
}

// detour returns the links of a packet's way to the group or the switch that it has to pass
// first, and from there on of its shortest ways. A packet that comes to its target's own
// switch before goes no further.
func (s *Switch) detour(r *sim.Record) choices {
	c := s.candidates(r)
	if r.Src>>24&Turned != 0 {
		return c
	}
	if !s.attached(c) {
		if via := s.via(r); via.n > 0 {
			return via
		}
		c = s.candidates(r) // the other ones may have taken their place
	}
	r.Src |= Turned << 24
	return c
}

// via returns the links towards where a packet has to pass: none if that is here, or if it
// need not pass anywhere. In groups that is another than those of origin and target; else
// the switch of a random host.
func (s *Switch) via(r *sim.Record) choices {
	x := s.routing
	if g := s.groups; g != nil {
		a, b := g.Group(r.From()), g.Group(r.To())
		if a == b || g.Groups() < 3 {
			return choices{}
		}
		a, b = min(a, b), max(a, b)
		via := int32(Below(uint32(g.Groups()-2), x.Seed, ForDetour, FlowHash(r), x.counter(r)))
		if via >= a {
			via++
		}
		if via >= b {
			via++
		}
		first, n := g.NextGroup(s.node, via)
		return choices{first: first - s.first, n: n}
	}
	probe := *r
	probe.Dst = Below(uint32(s.topo.Hosts()), x.Seed, ForDetour, FlowHash(r), x.counter(r))
	c := s.candidates(&probe)
	if s.attached(c) {
		return choices{}
	}
	return c
}

// attached says whether links lead to a host.
func (s *Switch) attached(c choices) bool {
	return c.n > 0 && int(s.topo.Links()[s.first+c.at(0)].To) < s.topo.Hosts()
}

// Paths are explicit routes: for some pairs of hosts one or more.
type Paths struct {
	pairs map[uint64][]Path
}

// Path is a route: the nodes that it leaves, the origin first, and the parallel links by
// which it leaves each.
type Path []Hop

// Hop is a step of a path.
type Hop struct {
	Node  int32
	Links []int32
}

// Add adds a path from a host to another.
func (p *Paths) Add(from, to int32, path Path) {
	if p.pairs == nil {
		p.pairs = map[uint64][]Path{}
	}
	key := uint64(from)<<32 | uint64(to)
	p.pairs[key] = append(p.pairs[key], path)
}

// of returns the path of a packet, or nil.
func (p *Paths) of(x *Routing, r *sim.Record) Path {
	all := p.pairs[uint64(r.From())<<32|uint64(r.To())]
	switch n := uint32(len(all)); {
	case n == 0:
		return nil
	case n == 1:
		return all[0]
	case x.PerPacket && x.single(r):
		return all[x.number(r)%n]
	default:
		return all[Below(n, x.Seed, ForPath, FlowHash(r), 0)]
	}
}

// from returns the links by which a path leaves a node, or nil.
func (p Path) from(node int32) []int32 {
	for i := range p {
		if p[i].Node == node {
			return p[i].Links
		}
	}
	return nil
}

// First returns the links by which a packet leaves its origin if a path is prescribed, or
// nil.
func (x *Routing) First(r *sim.Record) []int32 {
	if x.Kind != Source {
		return nil
	}
	return x.Paths.of(x, r).from(r.From())
}
