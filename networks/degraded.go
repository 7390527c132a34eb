package networks

import (
	"cmp"
	"encoding/binary"
	"slices"
	"sync"
)

// Wiring is what [Degraded] needs of a topology, for all sets of failed links together.
// It is not changed once made.
type Wiring struct {
	topo  Topology
	links []Link
	hosts int
	base  []int32 // by node, and one more: its first link
	inAt  []int32 // by node, and one more: its part of in
	in    []int32 // links by target, rising
}

// NewWiring prepares a topology.
func NewWiring(topo Topology) *Wiring {
	w := &Wiring{topo: topo, links: topo.Links(), hosts: topo.Hosts()}
	nodes := w.hosts + topo.Switches()
	w.base, w.inAt = make([]int32, nodes+1), make([]int32, nodes+1)
	for _, l := range w.links {
		w.base[l.From+1]++
		w.inAt[l.To+1]++
	}
	for i := range nodes {
		w.base[i+1] += w.base[i]
		w.inAt[i+1] += w.inAt[i]
	}
	w.in = make([]int32, len(w.links))
	next := slices.Clone(w.inAt)
	for id, l := range w.links {
		w.in[next[l.To]] = int32(id)
		next[l.To]++
	}
	return w
}

// Degraded gives the next hops of a topology some of whose links are down: all shortest
// ways, counted in links, over those that are up. A packet passes through no host. Its
// tables have a column for all hosts that links from the same switches lead to; they are
// computed when they are first asked for. Its methods are safe for concurrent use.
type Degraded struct {
	*Wiring
	down []uint64 // by link, one bit each
	once sync.Once

	class []int32  // by host, -1 if no link from a switch leads there
	rep   []int32  // by class: one host
	dist  []uint16 // by class and switch: links to its hosts, 0 if there is no way
	last  []int32  // links to hosts that are up, numbered at their switch, at the places of in
	lasts []int32  // by host: end of its part of last
}

// Without returns the ways of a topology without some links.
func (w *Wiring) Without(down []int32) *Degraded {
	d := &Degraded{Wiring: w, down: make([]uint64, (len(w.links)+63)/64)}
	for _, id := range down {
		d.down[id>>6] |= 1 << (id & 63)
	}
	return d
}

func (d *Degraded) up(id int32) bool { return d.down[id>>6]>>(id&63)&1 == 0 }

// prepare finds the distances.
func (d *Degraded) prepare() {
	d.classify()
	switches := d.topo.Switches()
	d.dist = make([]uint16, len(d.rep)*switches)
	queue := make([]int32, 0, switches)
	for c, host := range d.rep {
		d.search(d.dist[c*switches:(c+1)*switches], host, queue)
	}
}

// classify groups the hosts by the switches from which a link that is up leads to them.
func (d *Degraded) classify() {
	d.class, d.lasts = make([]int32, d.hosts), make([]int32, d.hosts)
	d.last = make([]int32, d.inAt[d.hosts])
	byKey := map[string]int32{}
	var key []byte
	for h := range int32(d.hosts) {
		key = key[:0]
		from, at := int32(-1), d.inAt[h]
		for _, id := range d.in[d.inAt[h]:d.inAt[h+1]] {
			l := d.links[id]
			if int(l.From) < d.hosts || !d.up(id) {
				continue
			}
			d.last[at] = id
			at++
			if l.From != from {
				from = l.From
				key = binary.LittleEndian.AppendUint32(key, uint32(from))
			}
		}
		d.lasts[h], d.class[h] = at, -1
		if len(key) == 0 {
			continue
		}
		c, ok := byKey[string(key)]
		if !ok {
			c = int32(len(d.rep))
			byKey[string(key)] = c
			d.rep = append(d.rep, h)
		}
		d.class[h] = c
	}
}

// search counts the links from all switches to a host, breadth first.
func (d *Degraded) search(dist []uint16, host int32, queue []int32) {
	reach := func(node int32, n uint16) {
		if s := int(node) - d.hosts; s >= 0 && dist[s] == 0 && n > 0 { // 2^16 links are no way
			dist[s] = n
			queue = append(queue, node)
		}
	}
	for _, id := range d.last[d.inAt[host]:d.lasts[host]] {
		reach(d.links[id].From, 1)
	}
	for i := 0; i < len(queue); i++ {
		at := queue[i]
		n := dist[int(at)-d.hosts] + 1
		for _, id := range d.in[d.inAt[at]:d.inAt[at+1]] {
			if d.up(id) {
				reach(d.links[id].From, n)
			}
		}
	}
}

// Ways are the next hops of one switch.
type Ways struct {
	d    *Degraded
	base int32
	node int32
	sets [][]int32 // of its links, numbered from 0 on
	of   []int32   // by class: a set, or one of the following
}

const (
	noWay    = -1
	attached = -2
)

// At returns the next hops of a switch.
func (d *Degraded) At(node int32) *Ways {
	d.once.Do(d.prepare)
	w := &Ways{d: d, base: d.base[node], node: node, of: make([]int32, len(d.rep))}
	switches, own := d.topo.Switches(), int(node)-d.hosts
	links := d.links[d.base[node]:d.base[node+1]]
	byKey := map[string]int32{}
	var ports []int32
	var key []byte
	for c := range d.rep {
		dist := d.dist[c*switches : (c+1)*switches]
		switch dist[own] {
		case 0:
			w.of[c] = noWay
			continue
		case 1:
			w.of[c] = attached
			continue
		}
		ports, key = ports[:0], key[:0]
		for i := range links {
			if s := int(links[i].To) - d.hosts; s >= 0 && dist[s] == dist[own]-1 && d.up(w.base+int32(i)) {
				ports = append(ports, int32(i))
				key = binary.LittleEndian.AppendUint32(key, uint32(i))
			}
		}
		id, ok := byKey[string(key)]
		if !ok {
			id = int32(len(w.sets))
			byKey[string(key)] = id
			w.sets = append(w.sets, slices.Clone(ports))
		}
		w.of[c] = id
	}
	return w
}

// To appends to ports the links of the switch, numbered from 0 on, on shortest ways to a
// host, or returns a list that must not be changed. It is empty if there is no way.
func (w *Ways) To(dst int32, ports []int32) []int32 {
	c := w.d.class[dst]
	if c < 0 || w.of[c] == noWay {
		return nil
	}
	if id := w.of[c]; id >= 0 {
		return w.sets[id]
	}
	for _, id := range w.d.last[w.d.inAt[dst]:w.d.lasts[dst]] {
		if w.d.links[id].From == w.node {
			ports = append(ports, id-w.base)
		}
	}
	return ports
}

// FromHost appends to ports the links of a host, numbered from 0 on, on shortest ways to
// another one.
func (d *Degraded) FromHost(host, dst int32, ports []int32) []int32 {
	d.once.Do(d.prepare)
	base := d.base[host]
	links := d.links[base:d.base[host+1]]
	for i, l := range links {
		if l.To == dst && d.up(base+int32(i)) {
			ports = append(ports, int32(i))
		}
	}
	c := d.class[dst]
	if len(ports) > 0 || c < 0 {
		return ports
	}
	dist := d.dist[int(c)*d.topo.Switches() : (int(c)+1)*d.topo.Switches()]
	nearest := uint16(0)
	for i, l := range links {
		s := int(l.To) - d.hosts
		if s < 0 || dist[s] == 0 || !d.up(base+int32(i)) {
			continue
		}
		if n := dist[s]; nearest == 0 || n < nearest {
			nearest, ports = n, ports[:0]
		}
		if dist[s] == nearest {
			ports = append(ports, int32(i))
		}
	}
	return ports
}

// Entries returns the number of entries that the tables of one set of failed links have,
// about.
func (w *Wiring) Entries() int64 {
	edges := map[int32]bool{}
	for _, l := range w.links {
		if int(l.To) < w.hosts && int(l.From) >= w.hosts {
			edges[l.From] = true
		}
	}
	return int64(cmp.Or(len(edges), 1)) * int64(w.topo.Switches())
}
