package networks

import (
	"fmt"

	"hybrid/internal/diag"
	"hybrid/internal/yamldoc"
)

type planesParams struct {
	Planes int           `yaml:"planes" default:"2" range:"1..64" doc:"Number of planes; a NIC has a port in each, of fabric.link.rate every one."`
	Plane  *yamldoc.Node `yaml:"plane,required" doc:"Topology of each plane: any other kind with its keys, such as {kind: leaf-spine, spines: 4}."`

	base parameters
}

func (p *planesParams) hops() (short, long int) {
	if p.base == nil {
		return 0, 0
	}
	return p.base.hops()
}

func (p *planesParams) check(_ *yamldoc.Node, list *diag.List) {
	p.base = decodeTopology(p.Plane, list)
	if _, nested := p.base.(*planesParams); nested {
		list.Errorf("E814", p.Plane.Pos, "a plane cannot be of several planes itself: raise planes")
	}
}

func (p *planesParams) build(hosts int, link LinkSpec) (Topology, error) {
	base, err := p.base.build(hosts, link)
	if err != nil {
		return nil, err
	}
	w := base.(interface{ common() *wired }).common()
	if n := len(w.links) * p.Planes; n > maxLinks {
		return nil, tooLarge(n)
	}
	t := &planes{base: base, planes: p.Planes, hostLinks: firstOfSwitches(w)}
	sizes := fmt.Sprintf("planes=%d of %s", p.Planes, w.kind)
	if w.sizes != "" {
		sizes += " " + w.sizes
	}
	t.wired = wired{kind: "multi-plane", hosts: w.hosts, switches: w.switches * p.Planes, sizes: sizes,
		bisection: together(w.bisection, p.Planes), diameter: w.diameter}
	t.perPlane = len(w.links) - t.hostLinks
	t.wire(w)
	return t, nil
}

// firstOfSwitches is the number of links that leave hosts.
func firstOfSwitches(w *wired) int {
	for id := range w.links {
		if int(w.links[id].From) >= w.hosts {
			return id
		}
	}
	return len(w.links)
}

// planes are copies of a base topology that share nothing but the hosts: a packet stays
// in the plane that the hash of its flow chose at the NIC. Switches are numbered by
// plane.
//
// Links: of each link of a host in the base one a plane, side by side, so that
// candidates of a host are still neighbours; then the links of the switches, plane by
// plane.
type planes struct {
	wired
	base                        Topology
	planes, hostLinks, perPlane int
}

func (t *planes) wire(w *wired) {
	t.links = make([]Link, 0, len(w.links)*t.planes)
	for id := range t.hostLinks {
		for plane := range t.planes {
			t.copy(w, id, plane)
		}
	}
	for plane := range t.planes {
		for id := t.hostLinks; id < len(w.links); id++ {
			t.copy(w, id, plane)
		}
	}
}

func (t *planes) copy(w *wired, id, plane int) {
	l := w.links[id]
	shift := func(node int32) int32 {
		if int(node) < w.hosts {
			return node
		}
		return node + int32(plane*w.switches)
	}
	l.From, l.To = shift(l.From), shift(l.To)
	t.links = append(t.links, l)
}

// Next offers the candidates of every plane at a host, those of its own at a switch.
func (t *planes) Next(at, dst int32) (first, n int32) {
	if int(at) < t.hosts {
		first, n = t.base.Next(at, dst)
		return first * int32(t.planes), n * int32(t.planes)
	}
	switches := int32(t.switches / t.planes)
	plane := (at - int32(t.hosts)) / switches
	first, n = t.base.Next(at-plane*switches, dst)
	return first + int32(t.hostLinks*(t.planes-1)) + plane*int32(t.perPlane), n
}
