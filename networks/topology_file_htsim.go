package networks

import (
	"math"
	"slices"
	"strings"

	"hybrid/internal/diag"
	"hybrid/internal/units"
)

// htsim describes a fat tree by numbers alone (FatTreeTopology of htsim, C. Raiciu et
// al., SIGCOMM 2010; the format of its later versions): a header, then a section for
// each tier, 0 the switches with hosts. Delays are those of the links below a tier.
// What follows from the numbers is checked as htsim checks it.

// htsimTier is a section of a .topo file; zero is what is not given.
type htsimTier struct {
	at                                word
	speed, down, up, over, bundle     int
	switchLatency, linkLatency, queue int
	seen                              map[string]word
}

type htsimTopo struct {
	*wiringSource
	seen                 map[string]word
	nodes, tiers, pod    int
	tier                 []*htsimTier
	current              *htsimTier
	queue                []word
	tors, aggrs, cores   int // tors and aggrs of a pod, cores of all
	pods, torUps, aggUps int // links upwards of all
}

func htsimKeys() []string {
	return []string{"nodes", "tiers", "podsize", "tier", "downlink_speed_gbps", "radix_down", "radix_up", "queue_up", "queue_down",
		"oversubscribed", "bundle", "switch_latency_ns", "downlink_latency_ns"}
}

func isHtsim(first []string) bool {
	return len(first) == 2 && slices.Contains(htsimKeys(), strings.ToLower(first[0])) && plainNumbers(first[1:])
}

func parseHtsim(s *wiringSource) *wiring {
	t := &htsimTopo{wiringSource: s, seen: map[string]word{}}
	for _, line := range s.lines {
		if s.full() {
			break
		}
		if len(line.words) != 2 {
			s.errorf(line.words[0], "a line is a keyword and a number, not %d words", len(line.words))
			continue
		}
		t.set(line.words[0], line.words[1])
	}
	t.complete()
	if s.errors == 0 {
		t.derive()
	}
	if s.errors > 0 {
		return nil
	}
	if len(t.queue) > 0 {
		s.unused(t.queue[0], "queue sizes of the file are not used; fabric.switch.buffer is the packet memory")
	}
	return t.wiring()
}

// set reads one keyword with its number.
func (t *htsimTopo) set(key, value word) {
	name := strings.ToLower(key.text)
	most := 1_000_000 // so that no product overflows
	switch name {
	case "nodes", "podsize":
		most = maxNodes
	case "queue_up", "queue_down":
		most = math.MaxInt
	case "downlink_latency_ns", "switch_latency_ns":
		most = 1_000_000_000
	}
	n, ok := t.number(value, key.text, 0, most)
	if !ok {
		return
	}
	if name == "tier" {
		t.begin(value, n)
		return
	}
	seen := t.seen
	if t.current != nil {
		seen = t.current.seen
	}
	if _, twice := seen[name]; twice {
		t.errorf(key, "%s stands twice", key.text)
	}
	seen[name] = value
	into := t.field(name)
	if into == nil {
		t.errorf(key, "unknown keyword %q%s", key.text, diag.DidYouMean(name, htsimKeys()))
		return
	}
	if into == &t.pod || into == &t.nodes || into == &t.tiers {
		if t.current != nil {
			t.errorf(key, "%s stands in a tier; it belongs before the first", key.text)
		}
	} else if t.current == nil {
		t.errorf(key, "%s stands before the first Tier", key.text)
		return
	}
	if strings.HasPrefix(name, "queue_") {
		t.queue = append(t.queue, key)
	}
	*into = n
}

func (t *htsimTopo) field(name string) *int {
	c := t.current
	if c == nil {
		c = new(htsimTier)
	}
	switch name {
	case "nodes":
		return &t.nodes
	case "tiers":
		return &t.tiers
	case "podsize":
		return &t.pod
	case "downlink_speed_gbps":
		return &c.speed
	case "radix_down":
		return &c.down
	case "radix_up":
		return &c.up
	case "queue_up", "queue_down":
		return &c.queue
	case "oversubscribed":
		return &c.over
	case "bundle":
		return &c.bundle
	case "switch_latency_ns":
		return &c.switchLatency
	case "downlink_latency_ns":
		return &c.linkLatency
	}
	return nil
}

func (t *htsimTopo) begin(value word, n int) {
	if n != len(t.tier) {
		t.errorf(value, "tier %d where tier %d is expected", n, len(t.tier))
	}
	t.current = &htsimTier{at: value, over: 1, bundle: 1, seen: map[string]word{}}
	t.tier = append(t.tier, t.current)
}

// complete checks that everything needed is there.
func (t *htsimTopo) complete() {
	for _, name := range []string{"Nodes", "Tiers", "Podsize"} {
		if _, ok := t.seen[strings.ToLower(name)]; !ok {
			t.errorf(word{}, "%s is missing", name)
		}
	}
	if t.errors > 0 {
		return
	}
	if t.tiers != 2 && t.tiers != 3 {
		t.errorf(t.seen["tiers"], "Tiers is %d; 2 or 3 is expected", t.tiers)
		return
	}
	if len(t.tier) != t.tiers {
		t.errorf(t.seen["tiers"], "Tiers is %d, but the file has %d", t.tiers, len(t.tier))
		return
	}
	for i, c := range t.tier {
		needs := []string{"Downlink_speed_Gbps", "Radix_Down", "Downlink_Latency_ns"}
		if i < t.tiers-1 {
			needs = append(needs, "Radix_Up")
		}
		for _, name := range needs {
			if _, ok := c.seen[strings.ToLower(name)]; !ok {
				t.errorf(c.at, "%s of tier %d is missing", name, i)
			}
		}
		for _, name := range []string{"Downlink_speed_Gbps", "Radix_Down", "Oversubscribed", "Bundle"} {
			if w, ok := c.seen[strings.ToLower(name)]; ok && w.text == "0" {
				t.errorf(w, "%s of tier %d is 0", name, i)
			}
		}
		if w, ok := c.seen["radix_up"]; ok && (i == t.tiers-1 || c.up == 0) {
			t.errorf(w, "Radix_Up of tier %d is %d: the top tier has no up-links, the others have some", i, c.up)
		}
	}
	if t.errors == 0 && (t.nodes == 0 || t.pod == 0) {
		t.errorf(t.seen["nodes"], "Nodes is %d, Podsize %d: at least 1 is expected", t.nodes, t.pod)
	}
}

// divide returns a/b and complains unless it is whole and positive.
func (t *htsimTopo) divide(at word, a, b int, what string) int {
	switch {
	case b == 0 || a%b != 0 || a/b == 0:
		t.errorf(at, "%s would be %d/%d, which is not a positive whole number", what, a, b)
		return 1
	case a/b > maxEdges:
		t.errorf(at, "%s would be %d, more than the %d that can be held", what, a/b, maxEdges)
		return 1
	}
	return a / b
}

// derive computes the numbers of switches and checks the radices.
func (t *htsimTopo) derive() {
	tor, agg := t.tier[0], t.tier[1]
	t.pods = t.divide(t.seen["podsize"], t.nodes, t.pod, "the number of pods")
	t.tors = t.divide(tor.seen["radix_down"], t.pod, tor.down, "the number of switches of tier 0 in a pod")
	t.torUps = t.divide(agg.seen["downlink_speed_gbps"], t.nodes*tor.speed, agg.speed*tor.over, "the number of links from tier 0 to tier 1")
	t.aggrs = t.divide(agg.seen["radix_down"], t.torUps, t.pods*agg.down, "the number of switches of tier 1 in a pod")
	t.want(tor, "Radix_Up", tor.up, t.aggrs*agg.bundle, "switches of tier 1 times their bundle")
	t.want(tor, "Radix_Down", tor.down, tor.up*tor.over, "Radix_Up times Oversubscribed")
	t.want(tor, "Bundle", tor.bundle, 1, "the number of links to a host")
	if agg.down%agg.bundle != 0 {
		t.errorf(agg.seen["radix_down"], "Radix_Down is %d, which bundles of %d do not divide", agg.down, agg.bundle)
	}
	if t.tiers == 2 {
		if t.pods != 1 {
			t.errorf(t.seen["podsize"], "Podsize is %d, but a tree of 2 tiers is one pod of all %d nodes", t.pod, t.nodes)
		}
		return
	}
	core := t.tier[2]
	t.aggUps = t.divide(core.seen["downlink_speed_gbps"], t.torUps*agg.speed, core.speed*agg.over, "the number of links from tier 1 to tier 2")
	t.cores = t.divide(core.seen["radix_down"], t.aggUps, core.down, "the number of switches of tier 2")
	each := t.divide(core.seen["radix_down"], t.cores*core.bundle, t.aggrs, "the number of links from a switch of tier 1 to tier 2")
	t.want(agg, "Radix_Up", agg.up, each, "switches of tier 2 times their bundle by those of tier 1 in a pod")
	if t.cores%t.aggrs != 0 {
		t.errorf(core.seen["radix_down"], "%d switches of tier 2 do not divide among the %d of tier 1 in a pod", t.cores, t.aggrs)
	}
}

func (t *htsimTopo) want(c *htsimTier, key string, got, want int, why string) {
	if got != want {
		at, ok := c.seen[strings.ToLower(key)]
		if !ok {
			at = c.at
		}
		t.errorf(at, "%s is %d, but %d is expected: %s", key, got, want, why)
	}
}

// wiring lays the links: every switch of tier 0 to every one of tier 1 in its pod; core c
// to the switch of tier 1 numbered c modulo those of a pod, in every pod.
func (t *htsimTopo) wiring() *wiring {
	tors, aggrs := t.pods*t.tors, t.pods*t.aggrs
	w := &wiring{hosts: t.nodes, switches: tors + aggrs + t.cores}
	agg := t.tier[1]
	if n := t.nodes + tors*t.aggrs*agg.bundle + t.aggUps; n > maxEdges {
		t.errorf(t.seen["nodes"], "%d pairs of links are more than the %d that can be held", n, maxEdges)
		return nil
	}
	tor0, agg0 := t.nodes, t.nodes+tors
	for h := range t.nodes {
		t.join(w, h, tor0+h/t.tier[0].down, 0)
	}
	for r := range tors {
		for a := range t.aggrs {
			for range agg.bundle {
				t.join(w, tor0+r, agg0+r/t.tors*t.aggrs+a, 1)
			}
		}
	}
	for c := range t.cores {
		for pod := range t.pods {
			for range t.tier[2].bundle {
				t.join(w, agg0+pod*t.aggrs+c%t.aggrs, agg0+aggrs+c, 2)
			}
		}
	}
	return w
}

// join adds a link below a tier. A switch's latency goes to the links that lead to it.
func (t *htsimTopo) join(w *wiring, low, high, tier int) {
	c := t.tier[tier]
	e := edge{a: int32(low), b: int32(high), rate: units.NewRat(8000, int64(c.speed))}
	e.delay = 1000 * int64(c.linkLatency+c.switchLatency)
	e.back = 1000 * int64(c.linkLatency)
	if tier > 0 {
		e.back += 1000 * int64(t.tier[tier-1].switchLatency)
	}
	w.edges = append(w.edges, e)
}
