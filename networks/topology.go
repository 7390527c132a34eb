package networks

import (
	"fmt"

	"hybrid/internal/diag"
	"hybrid/internal/units"
	"hybrid/internal/yamldoc"
)

// Link is one DIRECTED link. Nodes are hosts 0..H-1, then switches H..H+S-1.
type Link struct {
	From, To int32
	PerByte  units.Rat // picoseconds a byte
	Delay    int64     // propagation, picoseconds
}

// Topology is a wired network. Its methods are safe for concurrent use.
type Topology interface {
	// Kind is the row of [Topologies] it was built from.
	Kind() string
	Hosts() int
	Switches() int
	// Links returns all directed links, sorted by From; the index is the link's ID.
	// The caller must not change it.
	Links() []Link
	// Next returns the equal-cost candidates [first, first+n) among the links that
	// leave node at, towards host dst. n is 0 only if at is dst, or a switch that no way
	// leads on from, which no packet for dst reaches.
	Next(at, dst int32) (first, n int32)
	// Describe is one line: sizes, bisection bandwidth (one direction, between two
	// halves of the hosts) and diameter in links.
	Describe() string
}

// maxLinks bounds a topology: 2^25 links take a gigabyte.
const maxLinks = 1 << 25

// parameters are a topology's own keys: the struct that yamldoc fills, with the
// rules that tags cannot say.
type parameters interface {
	// check reports contradictions that do not depend on the run.
	check(node *yamldoc.Node, list *diag.List)
	// hops are the links between two hosts, at least and at most; 0 where the run decides.
	hops() (short, long int)
	// build chooses open sizes for the given number of hosts and wires the network.
	// The error says what does not fit.
	build(hosts int, link LinkSpec) (Topology, error)
}

// topologyKind is a row of the topology table.
type topologyKind struct {
	Name, Doc string
	New       func() parameters
}

func topologyKinds() []topologyKind {
	return []topologyKind{
		{"direct", "Every pair of hosts has a link of its own: one hop, no switch.", func() parameters { return new(directParams) }},
		{"star", "All hosts hang on one switch: two hops.", func() parameters { return new(starParams) }},
		{"leaf-spine", "Two tiers: hosts on leaves, every leaf joined to every spine; two or four hops.", func() parameters { return new(leafSpineParams) }},
		{"fat-tree", "Folded Clos of k-port switches in two or three tiers, with full bisection unless oversubscribed; up to six hops.", func() parameters { return new(fatTreeParams) }},
		{"rail", "Rail-optimised: the same NIC of every server hangs on one leaf; rails meet at spines; two or four hops.", func() parameters { return new(railParams) }},
		{"dragonfly", "Groups of routers, every router joined to all of its group and every group to all others; up to five hops.", func() parameters { return new(dragonflyParams) }},
		{"torus", "Routers on a ring, a 2-D or a 3-D grid whose edges wrap around; dimension-order routes.", func() parameters { return new(torusParams) }},
		{"multi-plane", "Copies of another kind side by side; every NIC has a port in each plane.", func() parameters { return new(planesParams) }},
		{"file", "A wiring read from a file: htsim .topo, ASTRA-sim YAML, HPCC or SimAI topology.txt, or a list of edges.", func() parameters { return new(fileParams) }},
	}
}

// TopologyInfo is a row of the topology table.
type TopologyInfo struct {
	Name, Doc string
}

// Topologies lists the kinds a network file may name.
func Topologies() []TopologyInfo {
	var out []TopologyInfo
	for _, k := range topologyKinds() {
		out = append(out, TopologyInfo{k.Name, k.Doc})
	}
	return out
}

// linkOverride changes the default link for one tier.
type linkOverride struct {
	Rate  *units.Rat `yaml:"rate" unit:"rate" doc:"Rate of each link of this tier; default fabric.link.rate."`
	Delay *int64     `yaml:"delay" unit:"time" range:"0ns.." doc:"Propagation delay of each link of this tier; default fabric.link.delay."`
}

func (o linkOverride) apply(l LinkSpec) LinkSpec {
	if o.Rate != nil {
		l.PerByte = *o.Rate
	}
	if o.Delay != nil {
		l.Delay = *o.Delay
	}
	return l
}

// topologySection is the part of a topology section that every kind has.
type topologySection struct {
	Kind string        `yaml:"kind,required,short" doc:"Kind of topology; hybrid list topologies prints them."`
	Own  *yamldoc.Node `yaml:",rest"`
}

// decodeTopology reads the topology section; nil if the kind is unknown.
func decodeTopology(node *yamldoc.Node, list *diag.List) parameters {
	var s topologySection
	yamldoc.Decode(node, &s, list)
	if s.Kind == "" {
		return nil
	}
	var names []string
	for _, k := range topologyKinds() {
		if k.Name != s.Kind {
			names = append(names, k.Name)
			continue
		}
		p := k.New()
		before := list.CountOf(diag.Error)
		yamldoc.Decode(s.Own, p, list)
		if list.CountOf(diag.Error) == before {
			p.check(node, list)
		}
		return p
	}
	pos := node.Pos
	if k := node.Get("kind"); k != nil {
		pos = k.Pos
	}
	list.Errorf("E817", pos, "unknown topology kind %q%s", s.Kind, diag.DidYouMean(s.Kind, names)).Note("kinds: %s", joined(names))
	return nil
}

// Topology builds the wired network for a run with the given number of hosts. Open
// sizes become the smallest that holds them. A topology with fewer hosts than
// needed is an error (E813), one with more a remark (W822); on error the result is
// nil.
func (n *Network) Topology(hosts int, list *diag.List) Topology {
	pos := n.topologyPos()
	if hosts < 1 {
		list.Errorf("E814", pos, "a topology for %d hosts cannot be built", hosts)
		return nil
	}
	t, err := n.topology.build(hosts, n.Fabric.Link)
	if err != nil {
		list.Errorf("E814", pos, "topology: %v", err)
		return nil
	}
	switch {
	case t.Hosts() < hosts:
		list.Errorf("E813", pos, "the topology has %s, but the run needs %d", plural(t.Hosts(), "host"), hosts).
			Note("%s", t.Describe()).Note("leave its size open to get the smallest that holds the run")
		return nil
	case t.Hosts() > hosts:
		list.Infof("W822", pos, "the topology has %s, the run uses %d", plural(t.Hosts(), "host"), hosts)
	}
	if !n.applyFaults(t, list) {
		return nil
	}
	return t
}

func (n *Network) topologyPos() diag.Pos {
	if s := n.Doc.Get("topology"); s != nil {
		return s.Pos
	}
	return diag.Pos{File: n.File}
}

// wired is what all kinds share.
type wired struct {
	kind            string
	hosts, switches int
	links           []Link
	bisection       units.Rat // picoseconds a byte of the bisection's sum; 0 unlimited, of denominator 0 unknown
	diameter        int
	sizes           string // the chosen sizes, "k=8"
	faults          string // for Describe
}

func (w *wired) Kind() string  { return w.kind }
func (w *wired) Hosts() int    { return w.hosts }
func (w *wired) Switches() int { return w.switches }
func (w *wired) Links() []Link { return w.links }

func (w *wired) common() *wired { return w }

func (w *wired) Describe() string {
	name := w.kind
	if w.sizes != "" {
		name += " " + w.sizes
	}
	s := fmt.Sprintf("%s: %s, %s", name, plural(w.hosts, "host"), plural(w.switches, "switch"))
	if w.hosts > 1 && w.bisection.Den != 0 {
		s += ", bisection " + units.FormatRate(w.bisection)
	}
	if w.hosts > 1 {
		s += ", diameter " + plural(w.diameter, "link")
	}
	return s + w.faults
}

// add appends a link and its place in the order is its ID.
func (w *wired) add(from, to int, l LinkSpec) {
	w.links = append(w.links, Link{From: int32(from), To: int32(to), PerByte: l.PerByte, Delay: l.Delay})
}

// together returns the time of a byte over n parallel links of one rate.
func together(perByte units.Rat, n int) units.Rat {
	r, ok := perByte.Mul(units.NewRat(1, int64(max(1, n))))
	if !ok {
		return perByte
	}
	return r
}

// slower returns the larger time of a byte: the tighter of two capacities.
func slower(a, b units.Rat) units.Rat {
	if a.Cmp(b) > 0 {
		return a
	}
	return b
}

func tooLarge(links int) error {
	return fmt.Errorf("%d links are more than the %d that can be held", links, maxLinks)
}

func joined(names []string) string {
	s := ""
	for i, n := range names {
		if i > 0 {
			s += ", "
		}
		s += n
	}
	return s
}
