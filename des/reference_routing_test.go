package des

import (
	"encoding/binary"
	"hash/crc32"
	"hash/fnv"
	"slices"

	"hybrid/des/fabric"
	"hybrid/des/nic"
	"hybrid/networks"
)

// The reference's routes: lists of links and plain rules, from the parameters.

// refFlowlet is an entry of a switch's table.
type refFlowlet struct {
	at   int64
	link int
}

func (f *reference) among(when int64, at, dst int32) (links []int) {
	if f.faults != nil {
		return f.alive(when, at, dst)
	}
	first, n := f.run.job.Topology.Next(at, dst)
	for i := range n {
		links = append(links, int(first+i))
	}
	return links
}

// hashed chooses among n by the hash of a flow, or of a packet by its entropy.
func (f *reference) hashed(at int32, p *refPacket, n int) int {
	x := f.run.params.Routing
	entropy := 0
	if x.Kind == fabric.Spray && !p.ack {
		entropy = 256 + f.step(p)
	}
	b := binary.BigEndian.AppendUint32(nil, uint32(p.from))
	b = binary.BigEndian.AppendUint32(b, uint32(p.to))
	b = binary.BigEndian.AppendUint32(b, uint32(p.pair.id))
	b = binary.BigEndian.AppendUint16(b, uint16(entropy))
	withSwitch := binary.BigEndian.AppendUint32(slices.Clone(b), uint32(at))
	plain := func(b []byte) int {
		h := fnv.New32a()
		h.Write(b)
		return int(h.Sum32())
	}
	switch x.Hash.Name {
	case "crc32":
		return int(crc32.ChecksumIEEE(b)) % n
	case "hash":
		return plain(b) % n
	case "hash-salted":
		return plain(withSwitch) % n
	case "dpr":
		return int(p.to) % 512 % n
	case "dpr-fallback":
		if p.to < 512 {
			return int(p.to) % n
		}
		fallthrough
	case "crc32-salted":
		return int(crc32.ChecksumIEEE(withSwitch)) % 65536 % n
	}
	return int(fabric.Choose((p.hash+uint64(entropy)*0xc2b2ae3d27d4eb4f)^fabric.Salt(f.run.job.Seed, at), int32(n)))
}

// number is that of a packet, or of a whole message modulo 256.
func (f *reference) number(p *refPacket) int {
	if f.run.params.Packets {
		return p.psn
	}
	return p.psn % 256
}

func (f *reference) step(p *refPacket) int {
	x := f.run.params.Routing
	if x.Random {
		return int(fabric.Below(x.Entropies, f.run.job.Seed, fabric.ForEntropy, p.hash, uint32(f.number(p))))
	}
	return f.number(p) % int(x.Entropies)
}

// routed is next where routes are not the default.
func (f *reference) routed(when int64, at int32, p *refPacket) int {
	x := f.run.params.Routing
	links := f.among(when, at, p.to)
	host := int(at) < f.run.job.Topology.Hosts()
	switch x.Kind {
	case fabric.Source:
		if own := f.prescribed(at, p); own != nil {
			links = own
		}
	case fabric.Valiant:
		if to := f.passing(at, p); to != nil && !p.turned && !host {
			links = to
		}
	case fabric.Flowlet, fabric.Adaptive:
		if !host {
			return f.byQueue(at, p, links)
		}
	}
	switch len(links) {
	case 0:
		return -1
	case 1:
		return links[0]
	}
	return links[f.hashed(at, p, len(links))]
}

// prescribed returns the links by which a packet's path leaves a node.
func (f *reference) prescribed(at int32, p *refPacket) (links []int) {
	x := f.run.params.Routing
	var paths [][]int32 // nodes
	if f.names == nil {
		f.names = networks.NodeNames(f.run.job.Topology)
	}
	for _, e := range f.run.job.Network.Fabric.Routing.Get("routes").Items {
		names := []string{e.Get("from").Text}
		for _, v := range e.Get("via").Items {
			names = append(names, v.Text)
		}
		var nodes []int32
		for _, name := range append(names, e.Get("to").Text) {
			nodes = append(nodes, int32(slices.Index(f.names, name)))
		}
		if nodes[0] == p.from && nodes[len(nodes)-1] == p.to {
			paths = append(paths, nodes)
		}
	}
	if len(paths) == 0 {
		return nil
	}
	i := 0
	if len(paths) > 1 {
		if i = int(fabric.Below(uint32(len(paths)), f.run.job.Seed, fabric.ForPath, p.hash, 0)); x.PerPacket && !p.ack {
			i = f.number(p) % len(paths)
		}
	}
	here := slices.Index(paths[i], at)
	for id, l := range f.links {
		if here >= 0 && l.From == at && l.To == paths[i][here+1] {
			links = append(links, id)
		}
	}
	return links
}

// passing returns the links towards where a packet has to pass first; nil if that is here
// or nowhere.
func (f *reference) passing(at int32, p *refPacket) []int {
	x, topo := f.run.params.Routing, f.run.job.Topology
	counter := uint32(0)
	if x.PerPacket && !p.ack {
		counter = uint32(f.number(p))
	}
	if g, ok := topo.(networks.Grouped); ok {
		var others []int32
		for i := range int32(g.Groups()) {
			if i != g.Group(p.from) && i != g.Group(p.to) {
				others = append(others, i)
			}
		}
		if g.Group(p.from) == g.Group(p.to) || len(others) == 0 {
			return nil
		}
		via := others[fabric.Below(uint32(len(others)), f.run.job.Seed, fabric.ForDetour, p.hash, counter)]
		if g.Group(at) == via {
			return nil
		}
		first, n := g.NextGroup(at, via)
		var links []int
		for i := range n {
			links = append(links, int(first+i))
		}
		return links
	}
	via := int32(fabric.Below(uint32(topo.Hosts()), f.run.job.Seed, fabric.ForDetour, p.hash, counter))
	for _, to := range []int32{p.to, via} {
		for _, id := range f.among(f.now, at, to) {
			if f.links[id].To == to {
				return nil
			}
		}
	}
	return f.among(f.now, at, via)
}

// turn notes that a packet has passed where it had to.
func (f *reference) turn(at int32, p *refPacket) {
	if x := f.run.params.Routing; x != nil && x.Kind == fabric.Valiant && p.pause == nil && f.passing(at, p) == nil {
		p.turned = true
	}
}

// byQueue chooses by what the ports of a switch hold now.
func (f *reference) byQueue(at int32, p *refPacket, links []int) int {
	switch len(links) {
	case 0:
		return -1
	case 1:
		return links[0]
	}
	x, s := f.run.params.Routing, f.switchAt(at)
	least := func(order []int) int {
		best, score := -1, [2]int64{}
		for _, id := range order {
			port := s.port(id, len(f.run.section.Classes))
			var now [2]int64
			if port.until[f.classOf(p)] > f.now {
				now[0] = 1
			}
			for c := range f.run.section.Classes {
				now[1] += port.bytes(c)
			}
			if best < 0 || slices.Compare(now[:], score[:]) < 0 {
				best, score = id, now
			}
		}
		return best
	}
	if x.Kind == fabric.Adaptive {
		kind := uint64(0)
		if p.ack {
			kind = uint64(nic.AckKind)
		}
		if p.cut {
			kind = uint64(fabric.Cut)
		}
		flow := p.hash ^ fabric.Salt(f.run.job.Seed, at) ^ kind<<56
		if x.Sample == 0 {
			from := fabric.Below(uint32(len(links)), f.run.job.Seed, fabric.ForTie, flow, uint32(p.psn))
			return least(append(slices.Clone(links[from:]), links[:from]...))
		}
		var drawn []int
		for i := range x.Sample {
			drawn = append(drawn, links[fabric.Below(uint32(len(links)), f.run.job.Seed, fabric.ForSample+fabric.Purpose(i), flow, uint32(p.psn))])
		}
		return least(drawn)
	}
	if s.flowlets == nil {
		s.flowlets = map[int32]refFlowlet{}
	}
	slot := fabric.Choose(p.hash^fabric.Salt(f.run.job.Seed, at), int32(x.Slots))
	e, known := s.flowlets[slot]
	if !known || f.now-e.at > x.Gap || !slices.Contains(links, e.link) {
		e.link = least(links)
	}
	e.at = f.now
	s.flowlets[slot] = e
	return e.link
}

// place chooses the link of a queue pair's next packet, where each has its own.
func (f *reference) place(now int64, host int32, q *refPair) {
	x := f.run.params.Routing
	if x == nil || x.Kind != fabric.Spray && x.Kind != fabric.Adaptive && (x.Kind != fabric.Source || !x.PerPacket) {
		return
	}
	p := &refPacket{hash: refHash(host, q.to, q.id), from: host, to: q.to, pair: q, psn: q.psn}
	links := f.among(f.now, host, q.to)
	h := &f.hosts[host]
	switch {
	case x.Kind == fabric.Source:
		q.link = f.routed(f.now, host, p)
	case len(links) == 1:
		q.link = links[0]
	case x.Kind == fabric.Adaptive:
		full := max(f.run.params.MTU+f.run.params.Wire.Middle, f.run.params.Wire.MinFrame)
		start := func(id int) int64 {
			f.ripen(now, h, id)
			ahead := int64(len(h.ready[id]) + len(h.acks[id]))
			return max(now, f.free[id], h.until[[2]int{id, 0}]) + ahead*f.run.clock.Span(f.links[id].PerByte, full)
		}
		q.link = slices.MinFunc(links, func(a, b int) int { return int(start(a) - start(b)) })
	case x.Kind == fabric.Spray && x.Random:
		q.link = f.routed(f.now, host, p)
	case x.Kind == fabric.Spray:
		from := int(fabric.Choose(p.hash^fabric.Salt(f.run.job.Seed, host), int32(len(links))))
		q.link = links[(from+f.step(p))%len(links)]
	}
}

// accept takes a packet in whatever order.
func (f *reference) accept(now int64, p *refPacket) {
	q, par := p.pair, &f.run.params
	if q.came == nil {
		q.came = map[int]*refPacket{}
	}
	q.came[p.psn] = p
	q.held++
	var complete []*refMessage
	for ; q.came[q.want] != nil; q.want++ {
		if m := q.came[q.want].last; m != nil {
			complete = append(complete, m)
		}
		delete(q.came, q.want)
	}
	if par.Packets && (len(complete) > 0 || q.held == int(par.AckEvery)) {
		q.held = 0
		a := &refPacket{hash: refHash(p.to, p.from, q.id), from: p.to, to: p.from, pair: q, psn: q.want - 1, ack: true, size: max(par.Wire.Ack, par.Wire.MinFrame)}
		link := f.next(p.to, a)
		f.hosts[p.to].acks[link] = append(f.hosts[p.to].acks[link], a)
		f.wake(now, p.to, link)
	}
	for _, m := range complete {
		f.delivered(now, m.Message)
		if !par.Packets {
			f.acknowledged(now, m)
		}
	}
}
