package networks

import (
	"fmt"

	"hybrid/internal/diag"
	"hybrid/internal/yamldoc"
)

type torusParams struct {
	Sizes     []int        `yaml:"sizes" range:"1..1000000" doc:"Routers along each dimension, up to 6 of them: [4, 4, 4]; default: the smallest nearly cubic grid that holds the run's nodes."`
	Dims      *int         `yaml:"dimensions" range:"1..6" doc:"Number of dimensions, where sizes is open; default 3."`
	PerRouter int          `yaml:"hosts_per_router" default:"1" range:"1..4096" doc:"Hosts on each router."`
	Neighbor  linkOverride `yaml:"neighbor" doc:"Links between neighbouring routers, where they differ from fabric.link."`
}

// maxDimensions bounds a torus; 2 to 3 are built, 5 and 6 have been.
const maxDimensions = 6

func (p *torusParams) hops() (short, long int) {
	if len(p.Sizes) == 0 {
		return 0, 0
	}
	return 2, 2 + halfWay(p.Sizes)
}

// halfWay is the most steps between two routers: half the size of each dimension.
func halfWay(sizes []int) int {
	sum := 0
	for _, k := range sizes {
		sum += k / 2
	}
	return sum
}

func (p *torusParams) check(node *yamldoc.Node, list *diag.List) {
	if p.Sizes == nil {
		return
	}
	pos := node.Get("sizes").Pos
	if n := len(p.Sizes); n == 0 || n > maxDimensions {
		list.Errorf("E814", pos, "a torus has 1 to %d dimensions, not %d", maxDimensions, n)
	}
	if p.Dims != nil && *p.Dims != len(p.Sizes) {
		list.Errorf("E814", node.Get("dimensions").Pos, "dimensions is %d, but sizes has %d", *p.Dims, len(p.Sizes))
	}
}

// choose returns sizes that differ by at most one with the least product that is enough
// for all routers.
func (p *torusParams) choose(routers int) []int {
	if p.Sizes != nil {
		return p.Sizes
	}
	sizes := make([]int, given(p.Dims, 3))
	for i := range sizes {
		sizes[i] = 1
	}
	for i := 0; product(sizes) < routers; i = (i + 1) % len(sizes) {
		sizes[i]++
	}
	return sizes
}

// product saturates at a number that no torus can have.
func product(sizes []int) int {
	n := 1
	for _, k := range sizes {
		if n = n * k; n > maxLinks {
			return maxLinks + 1
		}
	}
	return n
}

func (p *torusParams) build(hosts int, link LinkSpec) (Topology, error) {
	t := &torus{perRouter: p.PerRouter, sizes: p.choose((hosts + p.PerRouter - 1) / p.PerRouter)}
	t.ports = t.perRouter
	for _, k := range t.sizes {
		t.port = append(t.port, t.ports)
		t.ports += min(k-1, 2)
	}
	routers := product(t.sizes)
	if n := int64(routers) * int64(t.ports+t.perRouter); n > maxLinks {
		return nil, fmt.Errorf("sizes %s have more than the %d links that can be held", dims(t.sizes), maxLinks)
	}
	t.wired = wired{kind: "torus", hosts: routers * t.perRouter, switches: routers, diameter: 2 + halfWay(t.sizes)}
	t.wired.sizes = dims(t.sizes)
	if t.perRouter > 1 {
		t.wired.sizes += fmt.Sprintf(" hosts_per_router=%d", t.perRouter)
	}
	t.links = make([]Link, 0, t.hosts+routers*t.ports)
	t.wire(link, p.Neighbor.apply(link))
	t.bisection = t.cut(t.perRouter, link.PerByte)
	return t, nil
}

// torus is a grid of routers whose edges wrap around; the first dimension's
// coordinate changes fastest in a router's number. A router has two neighbours in each
// dimension, one where the dimension has two routers, none where it has one.
//
// Links: one up-link a host; then of each router its down-links by host, and for each
// dimension the link upwards and the link downwards.
type torus struct {
	wired
	sizes     []int
	perRouter int
	port      []int // by dimension: place of its links among those of a router
	ports     int   // links of a router
}

func (t *torus) wire(link, neighbor LinkSpec) {
	for h := range t.hosts {
		t.add(h, t.hosts+h/t.perRouter, link)
	}
	for r := range t.switches {
		for i := range t.perRouter {
			t.add(t.hosts+r, r*t.perRouter+i, link)
		}
		stride := 1
		for _, k := range t.sizes {
			x := r / stride % k
			for way := range min(k-1, 2) {
				to := (x + 1 + way*(k-2)) % k
				t.add(t.hosts+r, t.hosts+r+(to-x)*stride, neighbor)
			}
			stride *= k
		}
	}
}

// Next corrects one dimension after the other, the first one first, each the shorter
// way round (W. Dally, B. Towles, "Principles and Practices of Interconnection
// Networks", 2004, section 8.4.2). Half way round an even ring both ways are as
// short and both are offered; the next router goes on the same way, which is then
// shorter.
func (t *torus) Next(at, dst int32) (first, n int32) {
	switch {
	case at == dst:
		return 0, 0
	case int(at) < t.hosts:
		return at, 1
	}
	r, to := int(at)-t.hosts, int(dst)/t.perRouter
	base := t.hosts + r*t.ports
	stride := 1
	for d, k := range t.sizes {
		up := to/stride%k - r/stride%k
		if up < 0 {
			up += k
		}
		if up != 0 {
			first = int32(base + t.port[d])
			switch {
			case k == 2 || 2*up < k:
				return first, 1
			case 2*up > k:
				return first + 1, 1
			}
			return first, 2
		}
		stride *= k
	}
	return int32(base + int(dst)%t.perRouter), 1
}
