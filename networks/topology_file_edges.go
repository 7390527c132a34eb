package networks

import (
	"cmp"
	"slices"
	"strings"
)

// A list of edges has a line for each link: two names, then a rate and a delay that may
// be left out. Lines that begin with host or switch say what nodes are; without any, a
// node that is joined to one other only is a host.

// edgeNode is a named node of a list of edges.
type edgeNode struct {
	name           string
	at             word
	host, declared bool
	neighbor       int // the only one so far, or -1 for several
}

type edgeList struct {
	*wiringSource
	nodes  []edgeNode
	byName map[string]int
	edges  []edge // by the nodes' first appearance
}

func parseEdges(s *wiringSource) *wiring {
	l := &edgeList{wiringSource: s, byName: map[string]int{}}
	if !s.plausibleEdges() {
		s.errorf(s.lines[0].words[0], "the file is in none of the formats that are known").
			Note("htsim begins with Nodes, ASTRA-sim with topology:, HPCC with three numbers, SimAI with five and a kind of GPU").
			Note("a list of edges has two names, a rate and a delay in a line: host0 leaf0 400Gbps 500ns")
		return nil
	}
	declares := false
	for _, line := range s.lines {
		if s.full() {
			break
		}
		switch first := line.words[0].text; first {
		case "host", "switch":
			declares = true
			l.declare(line.words[1:], first == "host")
		default:
			l.link(line.words)
		}
	}
	if s.errors > 0 {
		return nil
	}
	l.classify(declares)
	return l.wiring()
}

// plausibleEdges reports whether most of the first lines could be those of a list of
// edges, so that another kind of text gives one finding, not one a line.
func (s *wiringSource) plausibleEdges() bool {
	good, lines := 0, s.lines[:min(len(s.lines), 20)]
	for _, line := range lines {
		first := line.words[0].text
		if n := len(line.words); first == "host" || first == "switch" || n >= 2 && n <= 4 {
			good++
		}
	}
	return 2*good >= len(lines)
}

// node finds or adds a node; i is its place.
func (l *edgeList) node(w word) (i int) {
	i, ok := l.byName[w.text]
	if !ok {
		i = len(l.nodes)
		l.byName[w.text] = i
		l.nodes = append(l.nodes, edgeNode{name: w.text, at: w, neighbor: -2})
	}
	return i
}

func (l *edgeList) declare(words []word, host bool) {
	for _, w := range words {
		n := &l.nodes[l.node(w)]
		if n.declared && n.host != host {
			l.errorf(w, "%s is a host and a switch", w.text)
		}
		n.host, n.declared = host, true
	}
}

func (l *edgeList) link(words []word) {
	if len(words) < 2 || len(words) > 4 {
		l.errorf(words[0], "a link has 2 to 4 words, not %d: two nodes, a rate and a delay", len(words))
		return
	}
	e := edge{delay: -1, back: -1}
	if len(words) > 2 {
		e.rate, _ = l.rate(words[2])
	}
	if len(words) > 3 {
		e.delay, _ = l.delay(words[3])
		e.back = e.delay
	}
	if words[0].text == words[1].text {
		l.errorf(words[1], "the link joins %s to itself", words[1].text)
		return
	}
	if len(l.edges) == maxEdges {
		l.errorf(words[0], "the file has more than the %d links that can be held", maxEdges)
		l.errors = maxWiringErrors + 1
		return
	}
	a, b := l.node(words[0]), l.node(words[1])
	l.nodes[a].meets(b)
	l.nodes[b].meets(a)
	e.a, e.b = int32(a), int32(b)
	l.edges = append(l.edges, e)
}

func (n *edgeNode) meets(other int) {
	if n.neighbor == -2 || n.neighbor == other {
		n.neighbor = other
	} else {
		n.neighbor = -1
	}
}

// classify decides about the nodes that nothing was said about: hosts where only
// switches are declared, switches where hosts are, and by their links where neither is.
func (l *edgeList) classify(declares bool) {
	hosts := slices.ContainsFunc(l.nodes, func(n edgeNode) bool { return n.declared && n.host })
	for i := range l.nodes {
		n := &l.nodes[i]
		switch {
		case n.declared:
		case declares:
			n.host = !hosts
		default:
			n.host = n.neighbor >= 0
		}
	}
}

// wiring numbers hosts and switches in the order of their names, numbers within names
// by value, so that the order of lines does not matter.
func (l *edgeList) wiring() *wiring {
	order := make([]int, len(l.nodes))
	w := &wiring{}
	for i := range order {
		order[i] = i
		if l.nodes[i].host {
			w.hosts++
		}
	}
	w.switches = len(order) - w.hosts
	if w.hosts == 0 {
		l.errorf(l.lines[0].words[0], "no node is a host: every one has several neighbours").
			Note("a line \"host a b c\" says which are")
		return nil
	}
	slices.SortFunc(order, func(a, b int) int {
		if l.nodes[a].host != l.nodes[b].host {
			return cmp.Compare(b2i(l.nodes[b].host), b2i(l.nodes[a].host))
		}
		return compareNames(l.nodes[a].name, l.nodes[b].name)
	})
	node := make([]int32, len(order))
	for i, n := range order {
		node[n] = int32(i)
		w.names = append(w.names, l.nodes[n].name)
	}
	for _, e := range l.edges {
		e.a, e.b = node[e.a], node[e.b]
		w.edges = append(w.edges, e)
	}
	return w
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// compareNames orders h2 before h10.
func compareNames(a, b string) int {
	x, y := a, b
	for x != "" && y != "" {
		dx, dy := digits(x), digits(y)
		if dx > 0 && dy > 0 {
			p, q := strings.TrimLeft(x[:dx], "0"), strings.TrimLeft(y[:dy], "0")
			if c := cmp.Or(cmp.Compare(len(p), len(q)), cmp.Compare(p, q)); c != 0 {
				return c
			}
			x, y = x[dx:], y[dy:]
			continue
		}
		if x[0] != y[0] {
			return cmp.Compare(x[0], y[0])
		}
		x, y = x[1:], y[1:]
	}
	return cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(a, b))
}

func digits(s string) int { return len(s) - len(strings.TrimLeft(s, "0123456789")) }
