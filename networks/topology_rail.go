package networks

import (
	"fmt"
	"math/big"

	"hybrid/internal/diag"
	"hybrid/internal/units"
	"hybrid/internal/yamldoc"
)

type railParams struct {
	Rails          int          `yaml:"rails" default:"8" range:"1..1024" doc:"NICs of a server, and leaves of a pod: NIC i of every server hangs on leaf i."`
	Host           string       `yaml:"host" default:"nic" oneof:"nic|server" doc:"What a host of the network is: one NIC, host h being NIC h mod rails of server h / rails; or a server with all of its NICs, whose queue pairs choose one by hash."`
	ServersPerLeaf *int         `yaml:"servers_per_leaf" range:"1..100000" doc:"Servers of a pod, each with one link to every leaf of it; default: the smallest balanced network."`
	Pods           *int         `yaml:"pods" range:"1..100000" doc:"Pods, each with a leaf for every rail; default: as many as the run's nodes need."`
	Spines         *int         `yaml:"spines" range:"0..100000" doc:"Spine switches; default: as many as oversubscription asks for. 0 leaves the rails apart."`
	Trunk          int          `yaml:"trunk" default:"1" range:"1..1000" doc:"Parallel links between each leaf and each spine."`
	Over           int          `yaml:"oversubscription" default:"1" range:"1..1000" doc:"Links to servers for each up-link of a leaf, where spines is open."`
	Uplink         linkOverride `yaml:"uplink" doc:"Links between leaves and spines, where they differ from fabric.link."`
}

func (p *railParams) hops() (short, long int) { return 2, 4 }

func (p *railParams) check(node *yamldoc.Node, list *diag.List) {
	if p.Spines == nil || *p.Spines > 0 {
		return
	}
	pos := node.Get("spines").Pos
	switch {
	case p.Host == "nic" && p.Rails > 1:
		list.Errorf("E814", pos, "without spines a NIC reaches no other rail").Note("host: server makes a server with all its rails one host")
	case p.Pods != nil && *p.Pods > 1:
		list.Errorf("E814", pos, "without spines a pod reaches no other")
	}
}

// sizes fills in what the file leaves open: s servers a leaf, enough pods for all. With
// s open too, it is the smallest for which spines with as many links as a leaf reach
// all pods, or one pod where they reach none.
func (p *railParams) sizes(servers int) (perLeaf, pods, spines int) {
	spinesFor := func(s int) int {
		if p.Spines != nil {
			return *p.Spines
		}
		return (s + p.Over*p.Trunk - 1) / (p.Over * p.Trunk)
	}
	switch {
	case p.ServersPerLeaf != nil:
		perLeaf = *p.ServersPerLeaf
	case p.Pods != nil:
		perLeaf = (servers + *p.Pods - 1) / *p.Pods
	case p.Spines != nil && *p.Spines == 0:
		perLeaf = servers
	default:
		for perLeaf = 1; perLeaf*max(1, (perLeaf+spinesFor(perLeaf)*p.Trunk)/(p.Rails*p.Trunk)) < servers; perLeaf++ {
		}
	}
	pods = (servers + perLeaf - 1) / perLeaf
	if p.Pods != nil {
		pods = *p.Pods
	}
	return perLeaf, pods, spinesFor(perLeaf)
}

func (p *railParams) build(hosts int, link LinkSpec) (Topology, error) {
	servers := hosts
	if p.Host == "nic" {
		servers = (hosts + p.Rails - 1) / p.Rails
	}
	perLeaf, pods, spines := p.sizes(servers)
	t := &rail{rails: p.Rails, perLeaf: perLeaf, pods: pods, spines: spines, trunk: p.Trunk, shared: p.Host == "server"}
	if spines == 0 && pods > 1 {
		return nil, fmt.Errorf("%d pods without spines do not reach each other", pods)
	}
	leaves := int64(pods) * int64(p.Rails)
	if n := 2 * leaves * (int64(perLeaf) + int64(spines*p.Trunk)); n > maxLinks {
		return nil, tooLarge(int(n))
	}
	t.build(link, p.Uplink.apply(link))
	return t, nil
}

// rail has pods of perLeaf servers and rails leaves; NIC i of each server hangs on leaf
// i of its pod, and every leaf is joined to every spine (NVIDIA, "DGX SuperPOD
// Reference Architecture"; W. Wang et al., "Rail-only: A Low-Cost High-Performance
// Network for Training LLMs with Trillion Parameters", HOTI 2024, for no spines).
//
// Leaves are numbered by pod, then rail, spines after them. Links: those of the NICs by
// server, then rail; of each leaf its down-links by server and its up-links by spine; of
// each spine its down-links by leaf. The links of a trunk are neighbours.
type rail struct {
	wired
	rails, perLeaf, pods, spines, trunk int
	shared                              bool // a host is a server with all its NICs
	spineLinks                          int  // ID of the first link of the first spine
}

func (t *rail) build(link, up LinkSpec) {
	servers, leaves := t.pods*t.perLeaf, t.pods*t.rails
	nics, between := servers*t.rails, leaves*t.spines*t.trunk
	t.wired = wired{kind: "rail", hosts: nics, switches: leaves + t.spines, diameter: 4,
		sizes: fmt.Sprintf("rails=%d pods=%d servers_per_leaf=%d spines=%d", t.rails, t.pods, t.perLeaf, t.spines)}
	if t.trunk > 1 {
		t.sizes += fmt.Sprintf(" trunk=%d", t.trunk)
	}
	if t.shared {
		t.hosts = servers
		t.sizes += " host=server"
	}
	if leaves == 1 || t.shared && t.pods == 1 {
		t.diameter = 2
	}
	t.spineLinks = 2*nics + between
	t.bisection = t.across(link, up)
	t.links = make([]Link, 0, 2*(nics+between))
	t.wire(nics, leaves, link, up)
}

// across is the bisection. Rails of servers are alike, so that all leaves of a pod are
// as good as one; rails of NICs have each their share of the lower half.
func (t *rail) across(link, up LinkSpec) (perByte units.Rat) {
	if t.shared {
		c := newClos(t.hosts, rateOf(link.PerByte, t.rails))
		c.join(t.perLeaf, rateOf(up.PerByte, t.rails*t.spines*t.trunk))
		return c.perByte()
	}
	half := t.hosts / 2
	c := &clos{local: new(big.Rat)}
	for leaf := range t.pods * t.rails {
		servers := half / t.rails // with a NIC of this rail in the lower half
		if leaf%t.rails < half%t.rails {
			servers++
		}
		lower := min(max(servers-leaf/t.rails*t.perLeaf, 0), t.perLeaf)
		c.close(rateOf(link.PerByte, lower), rateOf(link.PerByte, t.perLeaf-lower), rateOf(up.PerByte, t.spines*t.trunk), 1)
	}
	return c.perByte()
}

// host returns the host that is, or has, the NIC of a rail in a server.
func (t *rail) host(server, rail int) int {
	if t.shared {
		return server
	}
	return server*t.rails + rail
}

func (t *rail) wire(nics, leaves int, link, up LinkSpec) {
	for nic := range nics {
		server, rail := nic/t.rails, nic%t.rails
		t.add(t.host(server, rail), t.hosts+server/t.perLeaf*t.rails+rail, link)
	}
	for leaf := range leaves {
		for i := range t.perLeaf {
			t.add(t.hosts+leaf, t.host(leaf/t.rails*t.perLeaf+i, leaf%t.rails), link)
		}
		for s := range t.spines * t.trunk {
			t.add(t.hosts+leaf, t.hosts+leaves+s/t.trunk, up)
		}
	}
	for s := range t.spines {
		for leaf := range leaves * t.trunk {
			t.add(t.hosts+leaves+s, t.hosts+leaf/t.trunk, up)
		}
	}
}

// Next stays on the rail where dst hangs on the same leaf, else goes over any spine. A
// server with all its NICs takes any of them, and is reached by any leaf of its pod.
func (t *rail) Next(at, dst int32) (first, n int32) {
	node, server := int(at), int(dst)
	low, width := 0, t.rails // the leaves of dst in its pod
	if !t.shared {
		server, low, width = int(dst)/t.rails, int(dst)%t.rails, 1
	}
	pod := server / t.perLeaf
	leaves := t.pods * t.rails
	switch leaf := node - t.hosts; {
	case at == dst:
		return 0, 0
	case node < t.hosts:
		return at * int32(width), int32(width)
	case leaf < leaves:
		base := t.pods*t.perLeaf*t.rails + leaf*(t.perLeaf+t.spines*t.trunk)
		if leaf/t.rails == pod && (t.shared || leaf%t.rails == low) {
			return int32(base + server%t.perLeaf), 1
		}
		return int32(base + t.perLeaf), int32(t.spines * t.trunk)
	default:
		return int32(t.spineLinks + ((leaf-leaves)*leaves+pod*t.rails+low)*t.trunk), int32(width * t.trunk)
	}
}
