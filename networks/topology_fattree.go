package networks

import (
	"fmt"

	"hybrid/internal/diag"
	"hybrid/internal/yamldoc"
)

type fatTreeParams struct {
	K      *int         `yaml:"k" range:"2..1024" doc:"Ports of every switch, even; default: the smallest that holds the run's nodes."`
	Tiers  int          `yaml:"tiers" default:"3" range:"2..3" doc:"Tiers of switches: k*k/2 hosts with 2, k*k*k/4 with 3."`
	Uplink linkOverride `yaml:"uplink" doc:"Links between the lowest tier of switches and the next, where they differ from fabric.link."`
	Core   linkOverride `yaml:"core" doc:"Links to the core switches of a 3-tier network, where they differ from uplink."`
}

func (p *fatTreeParams) hops() (short, long int) { return 2, 2 * p.Tiers }

func (p *fatTreeParams) check(node *yamldoc.Node, list *diag.List) {
	if p.K != nil && *p.K%2 != 0 {
		list.Errorf("E814", node.Get("k").Pos, "k is %d, but a fat tree needs an even number of ports", *p.K)
	}
	if p.Tiers == 2 && (p.Core.Rate != nil || p.Core.Delay != nil) {
		list.Errorf("E814", node.Get("core").Pos, "core: a fat tree of 2 tiers has no core switches")
	}
}

// hostsOf is the number of hosts of k-port switches: k^2/2 with two tiers, k^3/4
// with three (C. Leiserson 1985; M. Al-Fares, A. Loukissas, A. Vahdat, "A Scalable,
// Commodity Data Center Network Architecture", SIGCOMM 2008, section 3).
func (p *fatTreeParams) hostsOf(k int) int {
	if p.Tiers == 2 {
		return k * k / 2
	}
	return k * k * k / 4
}

func (p *fatTreeParams) build(hosts int, link LinkSpec) (Topology, error) {
	k := 2
	if p.K != nil {
		k = *p.K
	} else {
		for p.hostsOf(k) < hosts {
			k += 2
		}
	}
	sizes := fmt.Sprintf("k=%d", k)
	up := p.Uplink.apply(link)
	if p.Tiers == 2 {
		return newLeafSpine("fat-tree", sizes+" tiers=2", k, k/2, k/2, link, up)
	}
	if 6*p.hostsOf(k) > maxLinks {
		return nil, tooLarge(6 * p.hostsOf(k))
	}
	return newFatTree(k, sizes, link, up, p.Core.apply(up)), nil
}

// fatTree has three tiers of k-port switches. With m = k/2: k pods of m edge and m
// aggregation switches, m hosts an edge switch, and m*m core switches, of which
// aggregation switch a of every pod reaches those numbered a*m .. a*m+m-1.
//
// Its switches are numbered edge, aggregation, core; its links: one up-link a host,
// then of each edge and aggregation switch m down-links and m up-links, then of each
// core switch one link a pod.
type fatTree struct {
	wired
	k, m                int
	edge, aggr, core    int // node number of the first of each tier
	aggrLinks, coreLink int // link ID of the first of each tier
}

func newFatTree(k int, sizes string, link, up, core LinkSpec) Topology {
	m := k / 2
	hosts := k * m * m
	t := &fatTree{k: k, m: m, edge: hosts, aggr: hosts + k*m, core: hosts + 2*k*m,
		aggrLinks: hosts + k*m*k, coreLink: hosts + 2*k*m*k,
		wired: wired{kind: "fat-tree", hosts: hosts, switches: 2*k*m + m*m, sizes: sizes, diameter: 6,
			links: make([]Link, 0, 6*hosts)}}
	// Every tier has as many links as there are hosts, so half of each carries the
	// bisection; k is even, so the pods split in halves.
	t.bisection = together(slower(link.PerByte, slower(up.PerByte, core.PerByte)), hosts/2)
	t.wire(link, up, core)
	return t
}

func (t *fatTree) wire(link, up, core LinkSpec) {
	m := t.m
	for h := range t.hosts {
		t.add(h, t.edge+h/m, link)
	}
	for e := range t.k * m {
		for i := range m {
			t.add(t.edge+e, e*m+i, link)
		}
		for a := range m {
			t.add(t.edge+e, t.aggr+e/m*m+a, up)
		}
	}
	for a := range t.k * m {
		for e := range m {
			t.add(t.aggr+a, t.edge+a/m*m+e, up)
		}
		for c := range m {
			t.add(t.aggr+a, t.core+a%m*m+c, core)
		}
	}
	for c := range m * m {
		for pod := range t.k {
			t.add(t.core+c, t.aggr+pod*m+c/m, core)
		}
	}
}

// Next goes up by any link until dst is below, then down by the only one.
func (t *fatTree) Next(at, dst int32) (first, n int32) {
	node, host, m := int(at), int(dst), t.m
	edge, pod := host/m, host/(m*m)
	switch {
	case at == dst:
		return 0, 0
	case node < t.edge:
		return at, 1
	case node < t.aggr:
		e := node - t.edge
		base := t.hosts + e*t.k
		if e == edge {
			return int32(base + host%m), 1
		}
		return int32(base + m), int32(m)
	case node < t.core:
		a := node - t.aggr
		base := t.aggrLinks + a*t.k
		if a/m == pod {
			return int32(base + edge%m), 1
		}
		return int32(base + m), int32(m)
	}
	return int32(t.coreLink + (node-t.core)*t.k + pod), 1
}
