package des

import (
	"hybrid/des/fabric"
	"hybrid/graph"
	"hybrid/graph/collective"
	"hybrid/networks"
)

// Memory is an estimate, in bytes, of what a simulation holds at its largest. What is
// queued in a congested network comes on top of it, 32 bytes a packet.
type Memory struct {
	// Fabric is for links and switches, Ranks for ranks and their NICs, QueuePairs for
	// queue pairs with a message each.
	Fabric, Ranks, QueuePairs int64
	// Links, RankCount and Pairs are how many there are of each; pairs are estimated too.
	Links, RankCount, Pairs int64
	// Memories is the part of Fabric that packet memories of switches take, and Wires that
	// of packets under way on links.
	Memories, Wires int64
}

// Bytes that were measured with TestEstimateMemory's jobs: what is live for an idle link,
// for a rank with its NIC, and for a queue pair with a message; what a process holds at
// least, and the share in percent that the garbage collector adds.
const (
	bytesIdleLink  = 305
	bytesRank      = 4800
	bytesRoutes    = 512 // of the routing table, for a link in use
	bytesQueuePair = 900
	bytesProcess   = 10 << 20
	shareLive      = 125
)

// Total is the memory of the process.
func (m *Memory) Total() int64 {
	return bytesProcess + (m.Fabric+m.Ranks+m.QueuePairs)*shareLive/100
}

// EstimateMemory foresees the memory of a job, of which it reads Graph, Network, Topology,
// Placement and Ideal.
func EstimateMemory(job *Job) Memory {
	topo := job.Topology
	e := newPairs(job)
	m := Memory{Links: int64(len(topo.Links())), RankCount: int64(job.Graph.Ranks), Pairs: e.count()}
	used := min(m.Links, 2*e.meanWay(m.Pairs)) // both ways
	wire, queue := e.perLink(job, used)
	m.Wires = used * job.wireBytes(wire)
	if classes := job.classes(); classes > 0 {
		m.Memories = switchPorts(topo) * (fabric.PortBytes(classes) - fabric.PortBytes(0))
	}
	m.Fabric = m.Links*bytesIdleLink + m.Wires + m.Memories + used*fabric.RingBytes(max(queue, job.arrivals(wire)))
	m.Fabric += min(fabric.RouteBytes(topo), used*bytesRoutes)
	m.Ranks = m.RankCount * bytesRank
	m.QueuePairs = m.Pairs * bytesQueuePair
	return m
}

// newPairs estimates how many pairs of ranks on different nodes send to each other:
// distinct partners where they are known, all ranks where a partner is computed in a loop
// that is long enough, and those of a few members of each group for collectives.
func newPairs(job *Job) *pairs {
	g := job.Graph
	e := &pairs{g: g, place: job.Placement, topo: job.Topology, algs: collective.NewTable(), seen: map[callKey]bool{}, last: make([]int32, g.Ranks)}
	for i := range e.last {
		e.last[i] = -1
	}
	for _, p := range g.Programs {
		for slot, rank := range p.Ranks {
			e.rank(p, int32(slot), rank)
		}
	}
	return e
}

// count returns the number of pairs.
func (e *pairs) count() int64 {
	n := int64(e.g.Ranks)
	return min(e.plain+e.collective, n*(n-1))
}

// pairs counts pairs of ranks.
type pairs struct {
	g     *graph.Graph
	place *networks.Placement
	algs  *collective.Table
	// seen are the collectives that are counted.
	seen map[callKey]bool
	// last is by partner the rank that was last seen to send to it.
	last              []int32
	plain, collective int64
	// Of some pairs the number of links between them, added up.
	topo        networks.Topology
	walked, way int64
	// largest is the longest message, or collective, in bytes.
	largest int64
}

type callKey struct {
	group     int64
	typ       graph.CollType
	algorithm string
}

// rank counts the partners of one rank; times is how often the loops around the present
// operation run.
func (e *pairs) rank(p *graph.Program, slot, rank int32) {
	all := int64(e.g.Ranks) - 1
	times, around, computed := int64(1), []int64(nil), int64(0)
	for i := range p.Ops {
		switch op := &p.Ops[i]; op.Kind {
		case graph.Loop:
			trips, ok := p.Known(op.Peer, slot)
			if !ok {
				trips = all
			}
			around = append(around, times)
			times = min(times*min(max(trips, 0), all), all)
		case graph.End:
			times, around = around[len(around)-1], around[:len(around)-1]
		case graph.Send:
			e.see(p, op, slot)
			if peer, ok := p.Known(op.Peer, slot); ok {
				e.partner(rank, peer)
			} else {
				computed += times
			}
		case graph.Collective:
			e.see(p, op, slot)
			e.call(p, op, slot)
		}
	}
	e.plain += min(computed, all)
}

func (e *pairs) partner(rank int32, peer int64) {
	if peer < 0 || peer >= int64(len(e.last)) || e.last[peer] == rank {
		return
	}
	e.last[peer] = rank
	if e.apart(rank, int32(peer)) {
		e.plain++
	}
}

// apart says whether transfers between two ranks have a queue pair.
func (e *pairs) apart(a, b int32) bool {
	if e.place.Node[a] == e.place.Node[b] || e.place.ScaleUp.Shared(a, b) {
		return false
	}
	e.walk(e.place.Node[a], e.place.Node[b])
	return true
}

// sampledMembers is how many members of a group speak for all.
const sampledMembers = 16

// call counts the pairs of a collective, once for each group and algorithm.
func (e *pairs) call(p *graph.Program, op *graph.Op, slot int32) {
	group, ok := p.Known(op.Tag, slot)
	if !ok || group < 0 || group >= int64(len(e.g.Groups)) {
		group = 0
	}
	call := &p.Calls[op.Arg]
	key := callKey{group, call.Type, call.Algorithm}
	if e.seen[key] {
		return
	}
	e.seen[key] = true
	members := e.g.Groups[group]
	alg := e.algs.Find(call.Type, call.Algorithm)
	if alg == nil || alg.Fits(members) != nil {
		return
	}
	n := members.Size()
	sampled, sum := min(n, sampledMembers), int64(0)
	for i := range sampled {
		sum += e.partners(alg, members, int32(i*n/sampled+i%max(1, n/sampled)))
	}
	e.collective += sum * int64(n) / int64(sampled)
}

// partners counts to how many others, on other nodes, a member sends.
func (e *pairs) partners(alg *collective.Algorithm, group *graph.Group, me int32) (n int64) {
	c := collective.Call{N: int32(group.Size()), Me: me, Units: group.Units}
	sends := map[int32]bool{}
	for i := range alg.Len(&c) {
		s := alg.At(&c, i)
		if s.Send && !sends[s.Peer] && e.apart(group.Members[me], group.Members[s.Peer]) {
			sends[s.Peer] = true
			n++
		}
	}
	return n
}
