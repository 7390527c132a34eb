package networks

import (
	"fmt"

	"hybrid/internal/diag"
	"hybrid/internal/yamldoc"
)

type leafSpineParams struct {
	Leaves       *int         `yaml:"leaves" range:"1..1000000" doc:"Leaf switches; default: as many as the run's nodes need."`
	Spines       *int         `yaml:"spines" range:"1..100000" doc:"Spine switches; default: one for each host of a leaf, so that nothing is oversubscribed at equal rates."`
	HostsPerLeaf *int         `yaml:"hosts_per_leaf" range:"1..100000" doc:"Hosts on each leaf; default: spread over the leaves, else one for each spine, else half the radix of the smallest balanced network."`
	Uplink       linkOverride `yaml:"uplink" doc:"Links between leaves and spines, where they differ from fabric.link."`
}

func (p *leafSpineParams) hops() (short, long int) { return 2, 4 }

func (p *leafSpineParams) check(*yamldoc.Node, *diag.List) {}

// sizes fills in what the file leaves open. With everything open the network is
// balanced: m hosts and m spines a leaf, m the smallest with 2*m*m >= hosts, as 2m-port
// switches allow.
func (p *leafSpineParams) sizes(hosts int) (leaves, spines, perLeaf int) {
	switch {
	case p.HostsPerLeaf != nil:
		perLeaf = *p.HostsPerLeaf
	case p.Leaves != nil:
		perLeaf = (hosts + *p.Leaves - 1) / *p.Leaves
	case p.Spines != nil:
		perLeaf = *p.Spines
	default:
		for perLeaf = 1; 2*perLeaf*perLeaf < hosts; perLeaf++ {
		}
	}
	leaves = (hosts + perLeaf - 1) / perLeaf
	if p.Leaves != nil {
		leaves = *p.Leaves
	}
	spines = perLeaf
	if p.Spines != nil {
		spines = *p.Spines
	}
	return leaves, spines, perLeaf
}

func (p *leafSpineParams) build(hosts int, link LinkSpec) (Topology, error) {
	leaves, spines, perLeaf := p.sizes(hosts)
	return newLeafSpine("leaf-spine", fmt.Sprintf("leaves=%d spines=%d hosts_per_leaf=%d", leaves, spines, perLeaf),
		leaves, spines, perLeaf, link, p.Uplink.apply(link))
}

// leafSpine numbers its links so: one up-link a host; then for each leaf its
// down-links by host and its up-links by spine; then for each spine its down-links by
// leaf.
type leafSpine struct {
	wired
	leaves, spines, perLeaf int
	spineLinks              int // ID of the first link of the first spine
}

func newLeafSpine(kind, sizes string, leaves, spines, perLeaf int, link, up LinkSpec) (Topology, error) {
	if perLeaf > maxLinks/leaves || spines > maxLinks/leaves || 2*leaves*(perLeaf+spines) > maxLinks {
		return nil, fmt.Errorf("%d leaves with %d hosts and %d spines have more than the %d links that can be held", leaves, perLeaf, spines, maxLinks)
	}
	hosts := leaves * perLeaf
	t := &leafSpine{leaves: leaves, spines: spines, perLeaf: perLeaf, spineLinks: hosts + leaves*(perLeaf+spines),
		wired: wired{kind: kind, hosts: hosts, switches: leaves + spines, sizes: sizes, diameter: 4,
			links: make([]Link, 0, 2*leaves*(perLeaf+spines))}}
	// Half the hosts send to the other half: their own links and, with two leaves or
	// more, half of all up-links carry it.
	t.bisection = together(link.PerByte, hosts/2)
	if leaves == 1 {
		t.diameter = 2
	} else {
		t.bisection = slower(t.bisection, together(up.PerByte, leaves*spines/2))
	}
	t.wire(link, up)
	return t, nil
}

func (t *leafSpine) wire(link, up LinkSpec) {
	for h := range t.hosts {
		t.add(h, t.hosts+h/t.perLeaf, link)
	}
	firstSpine := t.hosts + t.leaves
	for l := range t.leaves {
		for i := range t.perLeaf {
			t.add(t.hosts+l, l*t.perLeaf+i, link)
		}
		for s := range t.spines {
			t.add(t.hosts+l, firstSpine+s, up)
		}
	}
	for s := range t.spines {
		for l := range t.leaves {
			t.add(firstSpine+s, t.hosts+l, up)
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
		base := t.hosts + l*(t.perLeaf+t.spines)
		if l == leaf {
			return int32(base + int(dst)%t.perLeaf), 1
		}
		return int32(base + t.perLeaf), int32(t.spines)
	}
	s := node - t.hosts - t.leaves
	return int32(t.spineLinks + s*t.leaves + leaf), 1
}
