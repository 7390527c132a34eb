package networks

import (
	"fmt"

	"hybrid/internal/diag"
	"hybrid/internal/yamldoc"
)

type fatTreeParams struct {
	K        *int         `yaml:"k" range:"2..1024" doc:"Ports of every switch, even; default: the smallest that holds the run's nodes."`
	Tiers    int          `yaml:"tiers" default:"3" range:"2..3" doc:"Tiers of switches: k*k/2 hosts with 2, k*k*k/4 with 3."`
	Pods     *int         `yaml:"pods" range:"1..1024" doc:"Pods that are built, at most k; with 2 tiers, switches of the lowest tier. Default: all k."`
	Hosts    *int         `yaml:"hosts" range:"1..16000000" doc:"Hosts that are there; default: as many as fit. The last switches of the lowest tier may have fewer hosts than the others, or none."`
	Over     int          `yaml:"oversubscription" default:"1" range:"1..1000" doc:"Down-links for each up-link of a switch of the lowest tier: o*k/(o+1) hosts hang on it."`
	CoreOver *int         `yaml:"core_oversubscription" range:"1..1000" doc:"Down-links for each up-link of a switch of the middle tier of 3; default 1."`
	Uplink   linkOverride `yaml:"uplink" doc:"Links between the lowest tier of switches and the next, where they differ from fabric.link."`
	Core     linkOverride `yaml:"core" doc:"Links to the core switches of a 3-tier network, where they differ from uplink."`
}

func (p *fatTreeParams) hops() (short, long int) { return 2, 2 * p.Tiers }

func (p *fatTreeParams) check(node *yamldoc.Node, list *diag.List) {
	if p.K != nil && !p.fits(*p.K) {
		pos := node.Get("k").Pos
		if p.Over == 1 && p.coreOver() == 1 {
			list.Errorf("E814", pos, "k is %d, but a fat tree needs an even number of ports", *p.K)
		} else {
			list.Errorf("E814", pos, "k is %d, but a switch of %d ports cannot be divided by the oversubscription", *p.K, *p.K).
				Note("with o down-links for each up-link, k must be a multiple of o+1")
		}
	}
	if p.Tiers == 2 && (p.Core.Rate != nil || p.Core.Delay != nil) {
		list.Errorf("E814", node.Get("core").Pos, "core: a fat tree of 2 tiers has no core switches")
	}
	if p.Tiers == 2 && p.CoreOver != nil {
		list.Errorf("E814", node.Get("core_oversubscription").Pos, "core_oversubscription: a fat tree of 2 tiers has no core switches")
	}
	if p.K != nil && p.Pods != nil && *p.Pods > *p.K {
		list.Errorf("E814", node.Get("pods").Pos, "pods is %d, but switches of %d ports reach no more than %d", *p.Pods, *p.K, *p.K)
	}
}

func (p *fatTreeParams) coreOver() int {
	if p.CoreOver == nil || p.Tiers == 2 {
		return 1
	}
	return *p.CoreOver
}

// fits reports whether the ports of a switch divide as the oversubscription says.
func (p *fatTreeParams) fits(k int) bool {
	return k%(p.Over+1) == 0 && (p.Tiers == 2 || k%(p.coreOver()+1) == 0)
}

// tree sizes the tree of k-port switches. With nothing oversubscribed it has k^2/2
// hosts in two tiers and k^3/4 in three (C. Leiserson 1985; M. Al-Fares, A. Loukissas,
// A. Vahdat, "A Scalable, Commodity Data Center Network Architecture", SIGCOMM 2008,
// section 3).
func (p *fatTreeParams) tree(k int) *fatTree {
	over, core := p.Over, p.coreOver()
	t := &fatTree{pods: k, perEdge: over * k / (over + 1), aggrs: k / (over + 1), edges: core * k / (core + 1), ups: k / (core + 1)}
	if p.Pods != nil {
		t.pods = *p.Pods
	}
	t.wired = wired{kind: "fat-tree", sizes: fmt.Sprintf("k=%d", k), diameter: 6}
	if p.Tiers == 2 {
		t.edges, t.ups = 1, 0
		t.sizes += " tiers=2"
	}
	if p.Pods != nil {
		t.sizes += fmt.Sprintf(" pods=%d", t.pods)
	}
	if over > 1 {
		t.sizes += fmt.Sprintf(" oversubscription=%d", over)
	}
	if core > 1 {
		t.sizes += fmt.Sprintf(" core_oversubscription=%d", core)
	}
	t.hosts = t.pods * t.edges * t.perEdge
	return t
}

// choose returns the tree of the given k, or the smallest that has the hosts.
func (p *fatTreeParams) choose(hosts int) *fatTree {
	if p.K != nil {
		return p.tree(*p.K)
	}
	k := p.Over + 1
	for {
		if p.fits(k) && (p.Pods == nil || k >= *p.Pods) {
			if t := p.tree(k); t.hosts >= hosts {
				return t
			}
		}
		k += p.Over + 1
	}
}

func (p *fatTreeParams) build(hosts int, link LinkSpec) (Topology, error) {
	if p.Hosts != nil {
		hosts = *p.Hosts
	}
	t := p.choose(hosts)
	if p.Hosts != nil {
		if hosts > t.hosts {
			return nil, fmt.Errorf("hosts is %d, but only %d fit", hosts, t.hosts)
		}
		t.hosts = hosts
	}
	up := p.Uplink.apply(link)
	if p.Tiers == 2 {
		l := &leafSpine{wired: t.wired, leaves: t.pods, spines: t.aggrs, perLeaf: t.perEdge, trunk: 1}
		return l.build(link, up)
	}
	if n := 2 * (t.hosts + t.pods*t.edges*t.aggrs + t.pods*t.aggrs*t.ups); n > maxLinks {
		return nil, tooLarge(n)
	}
	t.build(link, up, p.Core.apply(up))
	return t, nil
}

// fatTree has three tiers of switches. Its pods have edges edge switches with perEdge
// hosts each, and aggrs aggregation switches, each with ups links to core switches:
// aggregation switch a of every pod reaches those numbered a*ups .. a*ups+ups-1. Of the
// hosts, the last may be missing.
//
// Its switches are numbered edge, aggregation, core; its links: one up-link a host,
// then the down-links and the up-links of each edge and each aggregation switch, then of
// each core switch one link a pod.
type fatTree struct {
	wired
	pods, edges, aggrs, ups, perEdge int
	edge, aggr, core                 int // node number of the first of each tier
	aggrLinks, coreLink              int // link ID of the first of each tier
}

func (t *fatTree) build(link, up, core LinkSpec) {
	edges, aggrs := t.pods*t.edges, t.pods*t.aggrs
	t.edge = t.hosts
	t.aggr = t.edge + edges
	t.core = t.aggr + aggrs
	t.switches = edges + aggrs + t.aggrs*t.ups
	t.aggrLinks = 2*t.hosts + edges*t.aggrs
	t.coreLink = t.aggrLinks + aggrs*(t.edges+t.ups)
	switch {
	case t.hosts <= t.perEdge:
		t.diameter = 2
	case t.hosts <= t.perEdge*t.edges:
		t.diameter = 4
	}
	c := newClos(t.hosts, rateOf(link.PerByte, 1))
	c.join(t.perEdge, rateOf(up.PerByte, t.aggrs))
	c.join(t.edges, rateOf(core.PerByte, t.aggrs*t.ups))
	t.bisection = c.perByte()
	t.links = make([]Link, 0, t.coreLink+aggrs*t.ups)
	t.wire(link, up, core)
}

// below returns the first host of an edge switch and the one after its last.
func (t *fatTree) below(edge int) (first, end int) {
	return min(edge*t.perEdge, t.hosts), min((edge+1)*t.perEdge, t.hosts)
}

func (t *fatTree) wire(link, up, core LinkSpec) {
	for h := range t.hosts {
		t.add(h, t.edge+h/t.perEdge, link)
	}
	for e := range t.pods * t.edges {
		first, end := t.below(e)
		for h := first; h < end; h++ {
			t.add(t.edge+e, h, link)
		}
		for a := range t.aggrs {
			t.add(t.edge+e, t.aggr+e/t.edges*t.aggrs+a, up)
		}
	}
	for a := range t.pods * t.aggrs {
		for e := range t.edges {
			t.add(t.aggr+a, t.edge+a/t.aggrs*t.edges+e, up)
		}
		for c := range t.ups {
			t.add(t.aggr+a, t.core+a%t.aggrs*t.ups+c, core)
		}
	}
	for c := range t.aggrs * t.ups {
		for pod := range t.pods {
			t.add(t.core+c, t.aggr+pod*t.aggrs+c/t.ups, core)
		}
	}
}

// Next goes up by any link until dst is below, then down by the only one.
func (t *fatTree) Next(at, dst int32) (first, n int32) {
	node, host := int(at), int(dst)
	edge := host / t.perEdge
	switch {
	case at == dst:
		return 0, 0
	case node < t.edge:
		return at, 1
	case node < t.aggr:
		e := node - t.edge
		begin, end := t.below(e)
		base := t.hosts + begin + e*t.aggrs
		if e == edge {
			return int32(base + host - begin), 1
		}
		return int32(base + end - begin), int32(t.aggrs)
	case node < t.core:
		a := node - t.aggr
		base := t.aggrLinks + a*(t.edges+t.ups)
		if a/t.aggrs == edge/t.edges {
			return int32(base + edge%t.edges), 1
		}
		return int32(base + t.edges), int32(t.ups)
	}
	return int32(t.coreLink + (node-t.core)*t.pods + edge/t.edges), 1
}
