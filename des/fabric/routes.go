package fabric

import (
	"math/bits"

	"hybrid/networks"
)

// MaxRoutes bounds the blocks of all routing tables of a run together; larger fabrics ask
// the topology for each packet.
const MaxRoutes = 1 << 22

// route is a set of equal-cost ports, numbered within the switch.
type route struct{ first, n uint16 }

// routes is the routing table of a switch. Hosts whose numbers agree but for the last bits
// are a block. Where neighbours in number are neighbours in the network, all but a few
// blocks have one route for all their hosts, so that the table is as short as one of pods,
// or groups, and of the switch's own hosts. Blocks are looked up in the topology when a
// packet first needs them.
type routes struct {
	// blocks holds by block the route of all its hosts or, with n = 0, the number of its
	// part of hosts. Part 0 has no routes: it is that of blocks which nobody has asked for.
	blocks, hosts []route
	bits          uint8
}

// blockBits returns how many bits tell the hosts of a block apart: at least 4, more where
// there would be more than some hundred blocks.
func blockBits(hosts int) uint8 { return uint8(max(4, bits.Len(uint(hosts-1))-7)) }

// RouteBytes returns the memory of all routing tables where each switch has one block with
// several routes.
func RouteBytes(topo networks.Topology) int64 {
	b := blockBits(topo.Hosts())
	blocks := (int64(topo.Hosts())-1)>>b + 1
	if blocks*int64(topo.Switches()) > MaxRoutes {
		return 0
	}
	return (blocks + 2<<b) * int64(topo.Switches()) * 4
}

// newRoutes returns the empty table of a switch, or none where that would be too much.
func newRoutes(topo networks.Topology, ports int) routes {
	b := blockBits(topo.Hosts())
	blocks := (topo.Hosts()-1)>>b + 1
	if blocks*topo.Switches() > MaxRoutes || ports >= 1<<16 {
		return routes{}
	}
	return routes{blocks: make([]route, blocks), hosts: make([]route, 1<<b), bits: b}
}

// route returns the ports towards a host; there must be a table.
func (s *Switch) route(host uint32) route {
	t := &s.table
	e := t.blocks[host>>t.bits]
	if e.n == 0 {
		if e = t.hosts[uint32(e.first)<<t.bits|host&(1<<t.bits-1)]; e.n == 0 {
			e = s.lookUp(host)
		}
	}
	return e
}

// lookUp asks the topology for the block of a host, and returns the host's route.
func (s *Switch) lookUp(host uint32) route {
	t := &s.table
	block, part := host>>t.bits, len(t.hosts)
	lo := block << t.bits
	same := true
	for i := range uint32(1) << t.bits {
		e := route{}
		if lo+i < uint32(s.topo.Hosts()) {
			first, n := s.topo.Next(s.node, int32(lo+i))
			e = route{uint16(first - s.first), uint16(n)}
			same = same && (i == 0 || e == t.hosts[part])
		}
		t.hosts = append(t.hosts, e)
	}
	e := t.hosts[part+int(host-lo)]
	if same {
		t.blocks[block], t.hosts = e, t.hosts[:part]
	} else {
		t.blocks[block] = route{first: uint16(part >> t.bits)}
	}
	return e
}
