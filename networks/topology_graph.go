package networks

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
)

// maxTable bounds the entries of the table of next hops of a topology from a file: one
// for each switch and each set of switches that hosts hang on. A fat tree of 65,536
// hosts has 2^22.
const maxTable = 1 << 25

// wiredGraph is any wiring. Its next hops are the shortest ways, counted in links, from a
// table that has one column for all hosts on the same switches. A packet passes through
// no host.
//
// The links of a node are ordered so that those of one set of next hops are neighbours;
// links to hosts come first, by host.
type wiredGraph struct {
	wired
	names []string
	base  []int32 // by node, and one more: its first link
	inner []int32 // by node: its first link to a switch
	back  []int32 // by link: that in the other direction
	// attached are the nodes with links to a host, from attachedAt[host] on, by node.
	attached   []attachment
	attachedAt []int32
	// class groups the hosts with links to the same nodes.
	class   []int32
	member  []int32 // by class: its first host
	classes int
	dist    []uint16 // by class and switch: links to its hosts; 0 if there is no way
	table   []hop    // by switch, then class of source, and class of target
	partial int      // sets of next hops that no order makes neighbours
}

// attachment is a node with n links to a host, from first on.
type attachment struct{ node, first, n int32 }

// hop is a set of next hops among a node's links to switches.
type hop struct{ first, n uint16 }

func (w *wiring) build(link LinkSpec) (Topology, error) {
	if len(w.edges) > maxLinks/2 {
		return nil, tooLarge(2 * len(w.edges))
	}
	g := &wiredGraph{names: w.names}
	g.wired = wired{kind: "file", hosts: w.hosts, switches: w.switches, sizes: w.format}
	g.layLinks(w.edges, link)
	g.classify()
	if rows := int64(g.switches + g.classes); rows*int64(g.classes) > maxTable {
		return nil, fmt.Errorf("next hops from %d switches to %d sets of switches that hosts hang on need a table of more than %d entries", g.switches, g.classes, maxTable)
	}
	g.dist = make([]uint16, g.classes*g.switches)
	for c := range g.classes {
		if !g.search(c) {
			return nil, fmt.Errorf("ways of more than 65535 links are too long")
		}
	}
	if err := g.measure(); err != nil {
		return nil, err
	}
	if err := g.fillTable(); err != nil {
		return nil, err
	}
	g.attach()
	g.bisection = g.maximumFlow()
	return g, nil
}

func (w *wiredGraph) isHost(node int32) bool { return int(node) < w.hosts }

// layLinks makes the links of all edges, sorted by source, target, rate and delay, so
// that the order of edges in the file does not matter.
func (g *wiredGraph) layLinks(edges []edge, link LinkSpec) {
	g.links = make([]Link, 0, 2*len(edges))
	for _, e := range edges {
		there := Link{From: e.a, To: e.b, PerByte: e.rate, Delay: e.delay}
		if e.rate.Den == 0 {
			there.PerByte = link.PerByte
		}
		if e.delay < 0 {
			there.Delay = link.Delay
		}
		back := there
		back.From, back.To = e.b, e.a
		if e.back >= 0 {
			back.Delay = e.back
		}
		g.links = append(g.links, there, back)
	}
	order := make([]int32, len(g.links))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(i, j int32) int { return compareLinks(&g.links[i], &g.links[j]) })
	g.back = make([]int32, len(order))
	at := make([]int32, len(order))
	for id, i := range order {
		at[i] = int32(id)
	}
	sorted := make([]Link, len(order))
	for id, i := range order {
		sorted[id], g.back[id] = g.links[i], at[i^1]
	}
	g.links = sorted
	g.indexLinks()
}

func compareLinks(a, b *Link) int {
	if c := cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)); c != 0 {
		return c
	}
	if a.PerByte != b.PerByte {
		return a.PerByte.Cmp(b.PerByte)
	}
	return cmp.Compare(a.Delay, b.Delay)
}

func (g *wiredGraph) indexLinks() {
	nodes := g.hosts + g.switches
	g.base, g.inner = make([]int32, nodes+1), make([]int32, nodes)
	for _, l := range g.links {
		g.base[l.From+1]++
	}
	for i := range nodes {
		g.base[i+1] += g.base[i]
		g.inner[i] = g.base[i]
	}
	for _, l := range g.links {
		if g.isHost(l.To) {
			g.inner[l.From]++
		}
	}
}

// out returns the links that leave a node.
func (g *wiredGraph) out(node int32) []Link { return g.links[g.base[node]:g.base[node+1]] }

// classify puts hosts with links to the same nodes into one class.
func (g *wiredGraph) classify() {
	g.class = make([]int32, g.hosts)
	byKey := map[string]int32{}
	var key []byte
	for h := range int32(g.hosts) {
		key = key[:0]
		for _, l := range g.out(h) {
			key = binary.LittleEndian.AppendUint32(key, uint32(l.To))
		}
		c, ok := byKey[string(key)]
		if !ok {
			c = int32(len(byKey))
			byKey[string(key)] = c
			g.member = append(g.member, h)
		}
		g.class[h] = c
	}
	g.classes = len(byKey)
}

// search counts the links from all switches to the hosts of a class, breadth first.
func (g *wiredGraph) search(c int) (ok bool) {
	dist := g.dist[c*g.switches : (c+1)*g.switches]
	var queue []int32
	for _, l := range g.out(g.member[c]) {
		if s := int(l.To) - g.hosts; s >= 0 && dist[s] == 0 {
			dist[s] = 1
			queue = append(queue, l.To)
		}
	}
	for ; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		d := dist[int(at)-g.hosts]
		for id := g.inner[at]; id < g.base[at+1]; id++ {
			to := g.links[id].To
			if s := int(to) - g.hosts; dist[s] == 0 {
				if dist[s] = d + 1; dist[s] == 0 {
					return false
				}
				queue = append(queue, to)
			}
		}
	}
	return true
}

// fromHost is the number of links from a host to those of a class, by way of switches; 0
// if there is no way.
func (g *wiredGraph) fromHost(h int32, c int) int {
	nearest := 0
	for id := g.inner[h]; id < g.base[h+1]; id++ {
		d := int(g.dist[c*g.switches+int(g.links[id].To)-g.hosts])
		if d > 0 && (nearest == 0 || d+1 < nearest) {
			nearest = d + 1
		}
	}
	return nearest
}

// measure finds the diameter, and hosts that do not reach each other.
func (g *wiredGraph) measure() error {
	several := make([]bool, g.classes)
	for h, c := range g.class {
		several[c] = several[c] || g.member[c] != int32(h)
	}
	for a := range g.classes {
		from := g.member[a]
		for c := range g.classes {
			if a == c && !several[c] {
				continue
			}
			d := g.fromHost(from, c)
			if a != c {
				if _, ok := slices.BinarySearchFunc(g.out(from), g.member[c], func(l Link, to int32) int { return cmp.Compare(l.To, to) }); ok {
					d = 1
				}
			}
			if d == 0 {
				return fmt.Errorf("no way leads from host %s to host %s", g.label(from), g.label(g.member[c]))
			}
			g.diameter = max(g.diameter, d)
		}
	}
	return nil
}

// attach lists for each host the nodes with links to it.
func (g *wiredGraph) attach() {
	g.attachedAt = make([]int32, g.hosts+1)
	for h := range int32(g.hosts) {
		first := len(g.attached)
		for id := g.base[h]; id < g.base[h+1]; id++ {
			node, in := g.links[id].To, g.back[id]
			if n := len(g.attached); n > first && g.attached[n-1].node == node {
				g.attached[n-1].first = min(g.attached[n-1].first, in)
				g.attached[n-1].n++
				continue
			}
			g.attached = append(g.attached, attachment{node, in, 1})
		}
		slices.SortFunc(g.attached[first:], func(a, b attachment) int { return cmp.Compare(a.node, b.node) })
		g.attachedAt[h+1] = int32(len(g.attached))
	}
}

// Next takes the links to dst where there are some, else the table's.
func (g *wiredGraph) Next(at, dst int32) (first, n int32) {
	if at == dst {
		return 0, 0
	}
	list := g.attached[g.attachedAt[dst]:g.attachedAt[dst+1]]
	low, high := 0, len(list)
	for low < high {
		if mid := (low + high) / 2; list[mid].node < at {
			low = mid + 1
		} else {
			high = mid
		}
	}
	if low < len(list) && list[low].node == at {
		return list[low].first, list[low].n
	}
	row := int(at) - g.hosts
	if row < 0 {
		row = g.switches + int(g.class[at])
	}
	e := g.table[row*g.classes+int(g.class[dst])]
	return g.inner[at] + int32(e.first), int32(e.n)
}

// Name implements [Named].
func (g *wiredGraph) Name(node int32) string {
	if g.names == nil {
		return ""
	}
	return g.names[node]
}

// label names a node in messages.
func (g *wiredGraph) label(node int32) string { return cmp.Or(g.Name(node), fmt.Sprint(node)) }

// Describe adds how often next hops are left out.
func (g *wiredGraph) Describe() string {
	s := g.wired.Describe()
	if g.partial > 0 {
		s += fmt.Sprintf("; %s of equal next hops used in part", plural(g.partial, "set"))
	}
	return s
}

// Named is a [Topology] whose nodes have names.
type Named interface {
	Topology
	// Name returns the name of a host or a switch; "" where the file gives none.
	Name(node int32) string
}
