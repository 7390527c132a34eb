package networks

import (
	"math/big"
	"strconv"
	"strings"

	"hybrid/internal/diag"
	"hybrid/internal/units"
	"hybrid/internal/yamldoc"
)

// astraDoc is the network file of ASTRA-sim's analytical network (W. Won et al.,
// "ASTRA-sim2.0", ISPASS 2023): one entry a dimension, the innermost first. A gigabyte
// is 2^30 B, and a hop over a Switch counts its latency up and down.
type astraDoc struct {
	Topology  []string    `yaml:"topology,required" doc:"Ring, FullyConnected or Switch."`
	Count     []int       `yaml:"npus_count,required" range:"2..1000000" doc:"NPUs along the dimension."`
	Bandwidth []units.Rat `yaml:"bandwidth,required" range:"0.." doc:"Rate of each link and direction, GB/s."`
	Latency   []units.Rat `yaml:"latency,required" range:"0.." doc:"Delay of each link, ns."`
}

func isAstra(first []string) bool {
	for _, key := range []string{"topology:", "npus_count:", "bandwidth:", "latency:", "---"} {
		if strings.HasPrefix(first[0], key) {
			return true
		}
	}
	return false
}

func parseAstra(s *wiringSource) *wiring {
	before := s.list.CountOf(diag.Error)
	var d astraDoc
	root := yamldoc.Parse(s.file, []byte(s.text), s.list)
	if root != nil {
		yamldoc.Decode(root, &d, s.list)
	}
	if s.list.CountOf(diag.Error) > before {
		s.errors++
		return nil
	}
	return s.dimensions(root, &d)
}

// place is where an entry of a list was written.
func place(root *yamldoc.Node, key string, i int) word {
	n := root.Get(key)
	if i >= 0 && n != nil && i < len(n.Items) {
		n = n.Items[i]
	}
	if n == nil {
		return word{}
	}
	return word{n.Text, n.Pos.Line, n.Pos.Col}
}

// dimensions lays out the NPUs as a grid. An NPU that passes messages on is a host and a
// switch, joined by links that take no time; in a single Switch or FullyConnected none
// needs to.
func (s *wiringSource) dimensions(root *yamldoc.Node, d *astraDoc) *wiring {
	n := len(d.Topology)
	for _, o := range []struct {
		key string
		n   int
	}{{"npus_count", len(d.Count)}, {"bandwidth", len(d.Bandwidth)}, {"latency", len(d.Latency)}} {
		if o.n != n {
			s.errorf(place(root, o.key, -1), "%s has length %d, but topology has %d", o.key, o.n, n)
		}
	}
	npus := product(d.Count)
	if npus > maxNodes/2 {
		s.errorf(place(root, "npus_count", -1), "the dimensions have more than the %d NPUs that can be held", maxNodes/2)
	}
	if n == 0 {
		s.errorf(place(root, "topology", -1), "there is no dimension")
	}
	if s.errors > 0 {
		return nil
	}
	g := &astraGrid{wiringSource: s, npus: npus, next: npus, wiring: &wiring{hosts: npus}}
	if n > 1 || d.Topology[0] == "Ring" {
		g.base, g.next = npus, 2*npus
		for i := range int32(npus) {
			g.wiring.edges = append(g.wiring.edges, edge{i, i + int32(npus), units.Int(0), 0, 0})
		}
	}
	stride := 1
	for i := range n {
		e := edge{rate: s.gibibytes(place(root, "bandwidth", i), d.Bandwidth[i]), delay: s.nanoseconds(place(root, "latency", i), d.Latency[i])}
		e.back = e.delay
		g.dimension(place(root, "topology", i), d.Topology[i], d.Count[i], stride, e)
		stride *= d.Count[i]
		if s.errors > 0 {
			return nil
		}
	}
	g.wiring.switches = g.next - npus
	return g.wiring
}

// gibibytes is the time of a byte at so many times 2^30 B/s, picoseconds.
func (s *wiringSource) gibibytes(at word, rate units.Rat) units.Rat {
	if rate.Num > 0 {
		v := new(big.Rat).SetFrac64(rate.Den, rate.Num)
		v.Mul(v, new(big.Rat).SetFrac64(1_000_000_000_000, 1<<30))
		if r, ok := units.FromBig(v); ok {
			return r
		}
	}
	s.errorf(at, "bandwidth is %s GB/s; a positive number with few digits is expected", rate)
	return units.Int(0)
}

func (s *wiringSource) nanoseconds(at word, ns units.Rat) int64 {
	ps, ok := ns.Mul(units.Int(1000))
	if !ok || ps.Den != 1 {
		s.errorf(at, "latency is %s ns, not a whole number of picoseconds", ns)
	}
	return ps.Num
}

// astraGrid wires one dimension after the other.
type astraGrid struct {
	*wiringSource
	wiring *wiring
	npus   int
	base   int // node of NPU 0 that links end at
	next   int // number of the next switch
}

// dimension joins the NPUs that differ only in it: count of them, stride apart.
func (g *astraGrid) dimension(at word, kind string, count, stride int, e edge) {
	kinds := []string{"Ring", "FullyConnected", "Switch"}
	var join func(first int)
	links := 0
	switch kind {
	case "Ring":
		join, links = func(first int) { g.ring(first, count, stride, e) }, count
	case "FullyConnected":
		join, links = func(first int) { g.full(first, count, stride, e) }, count*(count-1)/2
	case "Switch":
		join, links = func(first int) { g.star(first, count, stride, e) }, count
	default:
		g.errorf(at, "unknown topology %q%s", kind, diag.DidYouMean(kind, kinds)).Note("ASTRA-sim has %s", joined(kinds))
		return
	}
	groups := g.npus / count
	if links > (maxEdges-len(g.wiring.edges))/groups {
		g.errorf(at, "the network has more than the %d pairs of links that can be held", maxEdges)
		return
	}
	for i := range groups {
		join(i/stride*stride*count + i%stride)
	}
}

func (g *astraGrid) npu(first, i, stride int) int32 { return int32(g.base + first + i*stride) }

func (g *astraGrid) add(a, b int32, e edge) {
	e.a, e.b = a, b
	g.wiring.edges = append(g.wiring.edges, e)
}

func (g *astraGrid) ring(first, count, stride int, e edge) {
	for i := range count {
		if i+1 < count || count > 2 {
			g.add(g.npu(first, i, stride), g.npu(first, (i+1)%count, stride), e)
		}
	}
}

func (g *astraGrid) full(first, count, stride int, e edge) {
	for i := range count {
		for j := i + 1; j < count; j++ {
			g.add(g.npu(first, i, stride), g.npu(first, j, stride), e)
		}
	}
}

func (g *astraGrid) star(first, count, stride int, e edge) {
	for i := range count {
		g.add(g.npu(first, i, stride), int32(g.next), e)
	}
	g.next++
}

// dims writes sizes as 4x8.
func dims(sizes []int) string {
	var out []string
	for _, k := range sizes {
		out = append(out, strconv.Itoa(k))
	}
	return strings.Join(out, "x")
}
