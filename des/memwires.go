package des

import (
	"hybrid/des/fabric"
	"hybrid/graph"
	"hybrid/internal/diag"
	"hybrid/internal/units"
	"hybrid/networks"
)

// walkedPairs is how many pairs speak for the ways of all, and longestWalk bounds a way.
const (
	walkedPairs = 2048
	longestWalk = 64
)

// walk counts the links between two hosts, of the first pairs.
func (e *pairs) walk(from, to int32) {
	if e.walked == walkedPairs || int(max(from, to)) >= e.topo.Hosts() {
		return
	}
	links := e.topo.Links()
	e.walked++
	for steps := 0; from != to && steps < longestWalk; steps++ {
		first, n := e.topo.Next(from, to)
		if n == 0 {
			return
		}
		from = links[first].To
		e.way++
	}
}

// defaultWay is the number of links between hosts where no pair is known: that of a fat tree
// of three tiers.
const defaultWay = 6

// meanWay returns how many links that number of pairs use one way, if they share none.
func (e *pairs) meanWay(pairs int64) int64 {
	if e.walked == 0 {
		return pairs * defaultWay
	}
	return units.MulDiv(pairs, max(e.way, e.walked), e.walked)
}

// see notes how large a message may be; a size that is computed may be any.
func (e *pairs) see(p *graph.Program, op *graph.Op, slot int32) {
	n, ok := p.Known(op.Size, slot)
	if !ok {
		n = limitMessage
	}
	e.largest = max(e.largest, min(n, limitMessage))
}

// limitMessage bounds the bytes of a message in estimates.
const limitMessage = 1 << 40

// classes returns the number of traffic classes of switches with a packet memory, 0 where
// they have none.
func (job *Job) classes() int64 {
	n := job.Network
	if n == nil || job.Ideal {
		return 0
	}
	var ignored diag.List
	if routing, _ := checkRouting(n, &ignored); !buffers(n, routing) {
		return 0
	}
	return int64(len(checkSwitch(n, &ignored).Classes))
}

// foreseenQueue is the length of a queue, in packets, that is foreseen where links are
// shared; longer ones come on top of the estimate.
const foreseenQueue = 32

// perLink returns how many packets may be on a link at once, as far as messages have as many,
// and how many in the queue before it, as far as that is foreseen.
func (e *pairs) perLink(job *Job, used int64) (wire, queue int64) {
	mtu := int64(limitMessage)
	if job.Network != nil && !job.Ideal {
		mtu = max(job.Network.Fabric.MTU, 1)
	}
	share := max(1, units.MulDiv(2*e.meanWay(e.count()), 1, max(used, 1)))
	all := e.largest/mtu + 1
	if share == 1 { // a queue pair has the link to itself, so that nothing queues
		return all, 1
	}
	wire = min(all, 1<<30) * min(share, 1<<30)
	return wire, min(wire, foreseenQueue)
}

// wireBytes returns the bytes that a link in use takes for the packets under way on it.
func (job *Job) wireBytes(packets int64) int64 {
	const least = 32
	links := job.Topology.Links()
	if job.Network == nil || job.Ideal || len(links) == 0 {
		return fabric.RingBytes(least)
	}
	f := &job.Network.Fabric
	sum := int64(0)
	for _, l := range links {
		sum += fabric.RingBytes(max(least, min(packets, packetsUnderWay(l, max(f.MTU, 1), f.Switch.Latency))))
	}
	return sum / int64(len(links))
}

// arrivals returns how many packets come to an output in a window, on the first link as on
// any.
func (job *Job) arrivals(packets int64) int64 {
	links := job.Topology.Links()
	if job.Network == nil || job.Ideal || len(links) == 0 {
		return 1
	}
	f := &job.Network.Fabric
	return min(packets, packetsUnderWay(links[0], max(f.MTU, 1), f.Switch.Latency)/2)
}

// packetsUnderWay returns how many packets a link holds: those on it, and those sent in a
// window, which lasts as long. Its ring has room for as many.
func packetsUnderWay(l networks.Link, mtu, latency int64) int64 {
	const longest = 1e15 // ps, so that nothing overflows
	time := 2 * (min(l.Delay, longest) + min(latency, longest))
	if l.PerByte.Num <= 0 || mtu > longest/l.PerByte.Num {
		return 1
	}
	return units.MulDiv(time, l.PerByte.Den, l.PerByte.Num*mtu) + 2
}

// switchPorts counts the links that leave switches.
func switchPorts(t networks.Topology) (n int64) {
	hosts := int32(t.Hosts())
	for _, l := range t.Links() {
		if l.From >= hosts {
			n++
		}
	}
	return n
}
