package networks

import (
	"fmt"

	"hybrid/internal/diag"
	"hybrid/internal/yamldoc"
)

type dragonflyParams struct {
	Hosts       *int         `yaml:"hosts_per_router" range:"1..4096" doc:"Hosts on each router, p; default: with a = 2p = 2h, the smallest that holds the run's nodes."`
	Routers     *int         `yaml:"routers" range:"1..4096" doc:"Routers of a group, a; default as for hosts_per_router."`
	Global      *int         `yaml:"global_links" range:"1..4096" doc:"Links of each router to other groups, h; default as for hosts_per_router."`
	Groups      *int         `yaml:"groups" range:"1..16000000" doc:"Groups, at most a*h+1; default: as many as the run's nodes need."`
	Arrangement string       `yaml:"arrangement" default:"absolute" oneof:"absolute|palm-tree" doc:"Which router of a group holds the links to which other group: in order of the groups' numbers, or of their distance downwards."`
	Local       linkOverride `yaml:"local" doc:"Links between routers of a group, where they differ from fabric.link."`
	GlobalLink  linkOverride `yaml:"global" doc:"Links between groups, where they differ from fabric.link."`
}

func (p *dragonflyParams) hops() (short, long int) { return 2, 5 }

func (p *dragonflyParams) check(node *yamldoc.Node, list *diag.List) {
	if p.Groups == nil || p.Routers == nil || p.Global == nil {
		return
	}
	if reach := *p.Routers * *p.Global; *p.Groups > reach+1 {
		list.Errorf("E814", node.Get("groups").Pos, "groups is %d, but the %d global links of a group reach no more than %d others", *p.Groups, reach, reach)
	}
}

func given(p *int, otherwise int) int {
	if p == nil {
		return otherwise
	}
	return *p
}

// smallest chooses p = h = x and a = 2x with the least x that holds all hosts, except for
// what the file gives (J. Kim, W. Dally, S. Scott, D. Abts, "Technology-Driven,
// Highly-Scalable Dragonfly Topology", ISCA 2008, section 3.1: a = 2p = 2h).
func (p *dragonflyParams) smallest(hosts int) *dragonfly {
	x := given(p.Hosts, given(p.Global, (given(p.Routers, 1)+1)/2))
	for ; ; x++ {
		t := &dragonfly{perRouter: given(p.Hosts, x), routers: given(p.Routers, 2*x), global: given(p.Global, x)}
		group := t.perRouter * t.routers
		most := t.routers*t.global + 1
		t.groups = given(p.Groups, min(most, (hosts+group-1)/group))
		small := group*t.groups < hosts && (p.Hosts == nil || p.Routers == nil || p.Groups == nil)
		if p.Hosts != nil && p.Routers != nil && p.Global != nil || t.groups <= most && !small {
			return t
		}
	}
}

func (p *dragonflyParams) build(hosts int, link LinkSpec) (Topology, error) {
	t := p.smallest(hosts)
	t.palm = p.Arrangement == "palm-tree"
	if most := t.routers*t.global + 1; t.groups > most {
		return nil, fmt.Errorf("%d groups are more than the %d that groups of %d routers with %d global links can join", t.groups, most, t.routers, t.global)
	}
	if n := int64(t.groups) * int64(t.routers) * int64(2*t.perRouter+t.routers-1+t.global); n > maxLinks {
		return nil, tooLarge(int(n))
	}
	t.build(link, p.Local.apply(link), p.GlobalLink.apply(link))
	return t, nil
}

// dragonfly has groups of routers, perRouter hosts each. The routers of a group are all
// joined to each other. A group has copies links to each other group, as many as its
// routers*global allow; what is left over stays unused.
//
// The channels of a group are numbered so that those to one other group are neighbours;
// router r holds channels r*global and following. In the absolute arrangement channel
// copies*i+c leads to the i-th other group by number; in the palm tree to the group i+1
// below (C. Camarero, E. Vallejo, R. Beivide, "Topological Characterization of Hamming
// and Dragonfly Networks and Its Implications on Routing", ACM TACO 11(4), 2014; E.
// Hastings et al., "Comparing Global Link Arrangements for Dragonfly Networks",
// CLUSTER 2015, for both). Copy c of one group meets copy c of the other.
//
// Links: one up-link a host; then of each router its down-links by host, its local links
// by router, its channels by number.
type dragonfly struct {
	wired
	perRouter, routers, global, groups int
	copies                             int
	palm                               bool
	used                               int // channels of a group
	perGroup                           int // links that leave the routers of a group
}

func (t *dragonfly) build(link, local, global LinkSpec) {
	if t.groups > 1 {
		t.copies = t.routers * t.global / (t.groups - 1)
		t.used = t.copies * (t.groups - 1)
	}
	t.perGroup = t.routers*(t.perRouter+t.routers-1) + t.used
	routers := t.groups * t.routers
	arrangement := ""
	if t.palm {
		arrangement = " arrangement=palm-tree"
	}
	t.wired = wired{kind: "dragonfly", hosts: routers * t.perRouter, switches: routers,
		sizes: fmt.Sprintf("groups=%d routers=%d hosts_per_router=%d global_links=%d%s", t.groups, t.routers, t.perRouter, t.global, arrangement)}
	t.links = make([]Link, 0, t.hosts+t.groups*t.perGroup)
	t.wire(link, local, global)
	t.bisection = t.cut(t.perRouter, link.PerByte)
	t.diameter = t.longest()
}

// longest is the longest minimal route: up, local, global, local, down, where a group
// has more than one router and is not alone. A local step before the global one is
// needed unless every router holds a channel to every group.
func (t *dragonfly) longest() int {
	switch {
	case t.groups == 1 && t.routers == 1:
		return 2
	case t.groups == 1 || t.routers == 1:
		return 3
	}
	for idx := range t.groups - 1 {
		if low, high := t.holders(idx); high-low+1 < t.routers {
			return 5
		}
	}
	return 4
}

func (t *dragonfly) wire(link, local, global LinkSpec) {
	for h := range t.hosts {
		t.add(h, t.hosts+h/t.perRouter, link)
	}
	for r := range t.groups * t.routers {
		node := t.hosts + r
		group, own := r/t.routers, r%t.routers
		for i := range t.perRouter {
			t.add(node, r*t.perRouter+i, link)
		}
		for q := range t.routers {
			if q != own {
				t.add(node, t.hosts+group*t.routers+q, local)
			}
		}
		for c := own * t.global; c < min((own+1)*t.global, t.used); c++ {
			peer := t.target(group, c/t.copies)
			back := t.index(peer, group)*t.copies + c%t.copies
			t.add(node, t.hosts+peer*t.routers+back/t.global, global)
		}
	}
}

// target returns the i-th of the other groups in the arrangement's order.
func (t *dragonfly) target(group, i int) int {
	switch {
	case t.palm:
		return (group - i - 1 + t.groups) % t.groups
	case i < group:
		return i
	}
	return i + 1
}

// index is the inverse of target.
func (t *dragonfly) index(group, target int) int {
	switch {
	case t.palm:
		return (group - target - 1 + t.groups) % t.groups
	case target < group:
		return target
	}
	return target - 1
}

// holders returns the first and the last router with a channel to the i-th other group.
func (t *dragonfly) holders(i int) (low, high int) {
	return i * t.copies / t.global, (i*t.copies + t.copies - 1) / t.global
}

// router returns the ID of the first link that leaves a router of a group.
func (t *dragonfly) router(group, own int) int {
	return t.hosts + group*t.perGroup + own*(t.perRouter+t.routers-1) + min(own*t.global, t.used)
}

// Next is minimal routing: at most one local step, one global, one local. A router with
// channels to the group of dst takes any of these; others go to any router that has
// some. Ways through a third group are never taken, also where they would be as short.
func (t *dragonfly) Next(at, dst int32) (first, n int32) {
	switch {
	case at == dst:
		return 0, 0
	case int(at) < t.hosts:
		return at, 1
	}
	r, to := int(at)-t.hosts, int(dst)/t.perRouter
	group, own := r/t.routers, r%t.routers
	if r == to {
		return int32(t.router(group, own) + int(dst)%t.perRouter), 1
	}
	if group == to/t.routers {
		return t.local(group, own, to%t.routers, to%t.routers)
	}
	return t.NextGroup(at, int32(to/t.routers))
}

// local returns the links to the routers low..high of a router's own group, itself not
// among them.
func (t *dragonfly) local(group, own, low, high int) (first, n int32) {
	base := t.router(group, own) + t.perRouter + low
	if low > own {
		base--
	}
	return int32(base), int32(high - low + 1)
}

// Groups implements [Grouped].
func (t *dragonfly) Groups() int { return t.groups }

// Group implements [Grouped].
func (t *dragonfly) Group(node int32) int32 {
	r := int(node) - t.hosts
	if r < 0 {
		r = int(node) / t.perRouter
	}
	return int32(r / t.routers)
}

// NextGroup implements [Grouped].
func (t *dragonfly) NextGroup(at, group int32) (first, n int32) {
	r := int(at) - t.hosts
	if r < 0 {
		return at, 1
	}
	from, own := r/t.routers, r%t.routers
	if from == int(group) {
		return 0, 0
	}
	i := t.index(from, int(group))
	low, high := max(i*t.copies, own*t.global), min((i+1)*t.copies, (own+1)*t.global)
	if low < high {
		return int32(t.router(from, own) + t.perRouter + t.routers - 1 + low - own*t.global), int32(high - low)
	}
	low, high = t.holders(i)
	return t.local(from, own, low, high)
}

// Grouped is a [Topology] whose switches fall into groups, for routes by way of a group
// that is neither the source's nor the target's (L. Valiant, "A Scheme for Fast Parallel
// Communication", SIAM J. Computing 11(2), 1982).
type Grouped interface {
	Topology
	// Groups is the number of groups.
	Groups() int
	// Group returns the group of a host or a switch.
	Group(node int32) int32
	// NextGroup is [Topology.Next] towards any switch of a group; n is 0 in that group.
	NextGroup(at, group int32) (first, n int32)
}
