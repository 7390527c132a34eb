package networks

import (
	"fmt"

	"hybrid/internal/diag"
	"hybrid/internal/yamldoc"
)

type leafSpineParams struct {
	Leaves           *int         `yaml:"leaves" range:"1..1000000" doc:"Leaf switches; default: as many as the run's nodes need."`
	Spines           *int         `yaml:"spines" range:"1..100000" doc:"Spine switches; default: as many as oversubscription asks for, one for each host of a leaf where nothing is oversubscribed."`
	HostsPerLeaf     *int         `yaml:"hosts_per_leaf" range:"1..100000" doc:"Hosts on each leaf; default: spread over the leaves, else one for each spine, else half the radix of the smallest balanced network."`
	Hosts            *int         `yaml:"hosts" range:"1..16000000" doc:"Hosts that are there; default: every leaf is full. The last leaves may have fewer hosts than the others, or none."`
	Trunk            int          `yaml:"trunk" default:"1" range:"1..1000" doc:"Parallel links between each leaf and each spine."`
	Oversubscription *int         `yaml:"oversubscription" range:"1..1000" doc:"Links to hosts for each up-link of a leaf, from which the number of spines follows; default 1."`
	Uplink           linkOverride `yaml:"uplink" doc:"Links between leaves and spines, where they differ from fabric.link."`
}

func (p *leafSpineParams) hops() (short, long int) { return 2, 4 }

func (p *leafSpineParams) check(node *yamldoc.Node, list *diag.List) {
	if p.Spines != nil && p.Oversubscription != nil {
		list.Errorf("E814", node.Get("oversubscription").Pos, "spines and oversubscription both say how many spines there are")
	}
	if p.Hosts != nil && p.Leaves != nil && p.HostsPerLeaf != nil && *p.Hosts > *p.Leaves**p.HostsPerLeaf {
		list.Errorf("E814", node.Get("hosts").Pos, "%d leaves of %d hosts do not hold %d hosts", *p.Leaves, *p.HostsPerLeaf, *p.Hosts)
	}
}

// spinesFor is the least number of spines with which leaves of perLeaf hosts keep the
// oversubscription.
func (p *leafSpineParams) spinesFor(perLeaf int) int {
	over := p.Trunk
	if p.Oversubscription != nil {
		over *= *p.Oversubscription
	}
	return (perLeaf + over - 1) / over
}

// sizes fills in what the file leaves open. With everything open the switches have one
// radix: m hosts and s up-links a leaf, m+s links of a spine, m the smallest that holds
// all hosts on the leaves a spine reaches.
func (p *leafSpineParams) sizes(hosts int) (leaves, spines, perLeaf int) {
	switch {
	case p.HostsPerLeaf != nil:
		perLeaf = *p.HostsPerLeaf
	case p.Leaves != nil:
		perLeaf = (hosts + *p.Leaves - 1) / *p.Leaves
	case p.Spines != nil:
		perLeaf = *p.Spines
	default:
		for perLeaf = 1; perLeaf*(perLeaf/p.Trunk+p.spinesFor(perLeaf)) < hosts; perLeaf++ {
		}
	}
	leaves = (hosts + perLeaf - 1) / perLeaf
	if p.Leaves != nil {
		leaves = *p.Leaves
	}
	spines = p.spinesFor(perLeaf)
	if p.Spines != nil {
		spines = *p.Spines
	}
	return leaves, spines, perLeaf
}

func (p *leafSpineParams) build(hosts int, link LinkSpec) (Topology, error) {
	if p.Hosts != nil {
		hosts = *p.Hosts
	}
	leaves, spines, perLeaf := p.sizes(hosts)
	t := &leafSpine{leaves: leaves, spines: spines, perLeaf: perLeaf, trunk: p.Trunk,
		wired: wired{kind: "leaf-spine", hosts: leaves * perLeaf, sizes: fmt.Sprintf("leaves=%d spines=%d hosts_per_leaf=%d", leaves, spines, perLeaf)}}
	if p.Trunk > 1 {
		t.sizes += fmt.Sprintf(" trunk=%d", p.Trunk)
	}
	if p.Hosts != nil {
		t.hosts = hosts
	}
	return t.build(link, p.Uplink.apply(link))
}

// leafSpine numbers its links so: one up-link a host; then for each leaf its
// down-links by host and its up-links by spine; then for each spine its down-links by
// leaf. The links of a trunk are neighbours.
type leafSpine struct {
	wired
	leaves, spines, perLeaf, trunk int
	spineLinks                     int // ID of the first link of the first spine
}

func (t *leafSpine) build(link, up LinkSpec) (Topology, error) {
	if t.perLeaf > maxLinks/t.leaves || t.spines > maxLinks/t.leaves/t.trunk || 2*t.leaves*(t.perLeaf+t.spines*t.trunk) > maxLinks {
		return nil, fmt.Errorf("%d leaves with %d hosts and %d spines have more than the %d links that can be held", t.leaves, t.perLeaf, t.spines, maxLinks)
	}
	if t.hosts > t.leaves*t.perLeaf {
		return nil, fmt.Errorf("%d leaves of %d hosts do not hold %d hosts", t.leaves, t.perLeaf, t.hosts)
	}
	between := t.leaves * t.spines * t.trunk
	t.switches, t.spineLinks, t.diameter = t.leaves+t.spines, 2*t.hosts+between, 4
	if t.hosts <= t.perLeaf {
		t.diameter = 2
	}
	c := newClos(t.hosts, rateOf(link.PerByte, 1))
	c.join(t.perLeaf, rateOf(up.PerByte, t.spines*t.trunk))
	t.bisection = c.perByte()
	t.links = make([]Link, 0, 2*(t.hosts+between))
	t.wire(link, up)
	return t, nil
}

// below returns the first host of a leaf and the one after its last.
func (t *leafSpine) below(leaf int) (first, end int) {
	return min(leaf*t.perLeaf, t.hosts), min((leaf+1)*t.perLeaf, t.hosts)
}

func (t *leafSpine) wire(link, up LinkSpec) {
	for h := range t.hosts {
		t.add(h, t.hosts+h/t.perLeaf, link)
	}
	firstSpine := t.hosts + t.leaves
	for l := range t.leaves {
		first, end := t.below(l)
		for h := first; h < end; h++ {
			t.add(t.hosts+l, h, link)
		}
		for s := range t.spines * t.trunk {
			t.add(t.hosts+l, firstSpine+s/t.trunk, up)
		}
	}
	for s := range t.spines {
		for l := range t.leaves * t.trunk {
			t.add(firstSpine+s, t.hosts+l/t.trunk, up)
		}
	}
}

// Next goes up to any spine unless dst hangs on the same leaf.
func (t *leafSpine) Next(at, dst int32) (first, n int32) {
	node, leaf := int(at), int(dst)/t.perLeaf
	switch {
	case at == dst:
		return 0, 0
	case node < t.hosts:
		return at, 1
	case node < t.hosts+t.leaves:
		l := node - t.hosts
		begin, end := t.below(l)
		base := t.hosts + begin + l*t.spines*t.trunk
		if l == leaf {
			return int32(base + int(dst) - begin), 1
		}
		return int32(base + end - begin), int32(t.spines * t.trunk)
	}
	s := node - t.hosts - t.leaves
	return int32(t.spineLinks + (s*t.leaves+leaf)*t.trunk), int32(t.trunk)
}
