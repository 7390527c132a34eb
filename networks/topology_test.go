package networks

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hybrid/internal/diag"
	"hybrid/internal/units"
)

// build makes the topology of a section written in flow style.
func build(t testing.TB, section string, hosts int) (Topology, string) {
	t.Helper()
	src := "fabric: {link: {rate: 400Gbps, delay: 500ns}}\ntopology: " + section + "\n"
	var l diag.List
	n := Parse("t.yml", []byte(src), nil, &l)
	if n == nil {
		return nil, messages(&l)
	}
	l = diag.List{}
	topo := n.Topology(hosts, &l)
	return topo, messages(&l)
}

func messages(l *diag.List) string {
	var b strings.Builder
	for _, d := range l.All() {
		fmt.Fprintln(&b, d.Error())
	}
	return b.String()
}

// Sizes, bisection and diameter by the formulas: a k-port fat tree has k^3/4 hosts and
// 5k^2/4 switches in three tiers, k^2/2 and 3k/2 in two; half the hosts times 400 Gbit/s
// cross the middle, unless fewer up-links than hosts do.
func TestTopologySizes(t *testing.T) {
	tests := []struct {
		section      string
		run          int
		hosts, links int
		describe     string
	}{
		{"direct", 5, 5, 20, "direct: 5 hosts, 0 switches, bisection 2.4Tbps, diameter 1 link"}, // 2*3 links cross
		{"{kind: direct, hosts: 1}", 1, 1, 0, "direct: 1 host, 0 switches"},
		{"star", 6, 6, 12, "star: 6 hosts, 1 switch, bisection 1.2Tbps, diameter 2 links"},
		{"{kind: fat-tree, k: 4}", 16, 16, 96, "fat-tree k=4: 16 hosts, 20 switches, bisection 3.2Tbps, diameter 6 links"},
		{"{kind: fat-tree, k: 8}", 128, 128, 768, "fat-tree k=8: 128 hosts, 80 switches, bisection 25.6Tbps, diameter 6 links"},
		{"{kind: fat-tree, k: 8, core: {rate: 200Gbps}}", 128, 128, 768, "fat-tree k=8: 128 hosts, 80 switches, bisection 12.8Tbps, diameter 6 links"},
		{"{kind: fat-tree, tiers: 2, k: 8}", 32, 32, 128, "fat-tree k=8 tiers=2: 32 hosts, 12 switches, bisection 6.4Tbps, diameter 4 links"},
		{"{kind: leaf-spine, leaves: 4, spines: 2, hosts_per_leaf: 4}", 16, 16, 48,
			"leaf-spine leaves=4 spines=2 hosts_per_leaf=4: 16 hosts, 6 switches, bisection 1.6Tbps, diameter 4 links"}, // 4*2/2 up-links
		{"{kind: leaf-spine, leaves: 1, spines: 1, hosts_per_leaf: 4}", 4, 4, 10,
			"leaf-spine leaves=1 spines=1 hosts_per_leaf=4: 4 hosts, 2 switches, bisection 800Gbps, diameter 2 links"},
	}
	for _, tt := range tests {
		topo, found := build(t, tt.section, tt.run)
		if topo == nil || found != "" {
			t.Errorf("%s: %s", tt.section, found)
			continue
		}
		if topo.Hosts() != tt.hosts || len(topo.Links()) != tt.links || topo.Describe() != tt.describe {
			t.Errorf("%s: %d hosts, %d links, %s", tt.section, topo.Hosts(), len(topo.Links()), topo.Describe())
		}
	}
}

// Open sizes are the smallest of the kind that hold the run.
func TestTopologyOpenSizes(t *testing.T) {
	tests := []struct {
		section string
		run     int
		want    string
	}{
		{"fat-tree", 1, "k=2: 2 hosts"},
		{"fat-tree", 17, "k=6: 54 hosts"},
		{"{kind: fat-tree, tiers: 2}", 20, "k=8 tiers=2: 32 hosts"},
		{"leaf-spine", 20, "leaves=5 spines=4 hosts_per_leaf=4: 20 hosts"}, // 2*3*3 < 20 <= 2*4*4
		{"{kind: leaf-spine, hosts_per_leaf: 8}", 20, "leaves=3 spines=8 hosts_per_leaf=8: 24 hosts"},
		{"{kind: leaf-spine, leaves: 3}", 20, "leaves=3 spines=7 hosts_per_leaf=7: 21 hosts"},
		{"{kind: leaf-spine, spines: 2}", 5, "leaves=3 spines=2 hosts_per_leaf=2: 6 hosts"},
	}
	for _, tt := range tests {
		topo, _ := build(t, tt.section, tt.run)
		if topo == nil || !strings.Contains(topo.Describe(), tt.want) {
			t.Errorf("%s for %d: %v, want %s", tt.section, tt.run, topo, tt.want)
		}
	}
}

func TestTopologyFindings(t *testing.T) {
	tests := []struct {
		section string
		run     int
		want    string
	}{
		{"{kind: fat-tree, k: 4}", 17, "t.yml:2:1: error: the topology has 16 hosts, but the run needs 17 [E813]\n"},
		{"{kind: fat-tree, k: 4}", 9, "t.yml:2:1: info: the topology has 16 hosts, the run uses 9 [W822]\n"},
		{"{kind: fat-tree, k: 5}", 9, "t.yml:2:31: error: k is 5, but a fat tree needs an even number of ports [E814]\n"},
		{"{kind: fat-tree, k: 4.5}", 9, "t.yml:2:31: error: topology.k: 4.5 is not a whole number [E806]\n"},
		{"{kind: fat-tree, tiers: 2, core: {rate: 1Gbps}}", 9, "t.yml:2:38: error: core: a fat tree of 2 tiers has no core switches [E814]\n"},
		{"{kind: fat-tree, leafs: 4}", 9, "t.yml:2:28: error: unknown key \"leafs\" in topology [E804]\n"},
		{"{kind: fattree}", 9, "t.yml:2:18: error: unknown topology kind \"fattree\"; did you mean \"fat-tree\"? [E817]\n"},
		{"{k: 4}", 9, "t.yml:2:1: error: \"kind\" is missing in topology [E805]\n"},
		{"direct", 6000, "t.yml:2:11: error: topology: 35994000 links are more than the 33554432 that can be held [E814]\n"},
		{"fat-tree", 6_000_000, "t.yml:2:11: error: topology: 36583500 links are more than the 33554432 that can be held [E814]\n"},
		{"{kind: leaf-spine, leaves: 1000000, spines: 100000, hosts_per_leaf: 100000}", 9,
			"t.yml:2:1: error: topology: 1000000 leaves with 100000 hosts and 100000 spines have more than the 33554432 links that can be held [E814]\n"},
		{"star", 0, "t.yml:2:11: error: a topology for 0 hosts cannot be built [E814]\n"},
	}
	for _, tt := range tests {
		_, found := build(t, tt.section, tt.run)
		// Without levels every file has this warning; it is another test's.
		found = strings.ReplaceAll(found, "t.yml:1:1: warning: no level has closed-form parameters: the analytic models cannot be used with this network [W824]\n", "")
		if found != tt.want {
			t.Errorf("%s for %d:\ngot  %swant %s", tt.section, tt.run, found, tt.want)
		}
	}
}

// In any topology the links are sorted by the node they leave, every link has its
// reverse, and random pairs are joined over all candidates.
func TestTopologyWiring(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		section := rapid.SampledFrom(anySize()).Draw(t, "section")
		hosts := rapid.IntRange(1, 60).Draw(t, "hosts")
		var l diag.List
		n := Parse("t.yml", []byte("fabric: {link: {rate: 400Gbps, delay: 500ns}}\ntopology: "+section), nil, &l)
		topo := n.Topology(hosts, &l)
		if topo.Hosts() < hosts {
			t.Fatalf("%d hosts for %d", topo.Hosts(), hosts)
		}
		pairs := map[[2]int32]int{}
		for i, k := range topo.Links() {
			if i > 0 && topo.Links()[i-1].From > k.From {
				t.Fatalf("link %d leaves %d after %d", i, k.From, topo.Links()[i-1].From)
			}
			if k.PerByte != units.Int(20) || k.Delay != 500_000 || int(max(k.From, k.To)) >= topo.Hosts()+topo.Switches() {
				t.Fatalf("link %d is %+v", i, k)
			}
			pairs[[2]int32{k.From, k.To}]++
		}
		for p, c := range pairs {
			if pairs[[2]int32{p[1], p[0]}] != c {
				t.Fatalf("%d links from %d to %d, %d back", c, p[0], p[1], pairs[[2]int32{p[1], p[0]}])
			}
		}
		b := rapid.IntRange(0, topo.Hosts()-1).Draw(t, "b")
		checkRoutes(t, topo, int32(b))
	})
}

func TestTopologyTierLinks(t *testing.T) {
	topo, found := build(t, "{kind: fat-tree, k: 4, uplink: {rate: 800Gbps}, core: {delay: 1us}}", 16)
	if topo == nil {
		t.Fatal(found)
	}
	ft := topo.(*fatTree)
	for _, l := range topo.Links() {
		want := LinkSpec{units.Int(20), 500_000}
		low, high := int(min(l.From, l.To)), int(max(l.From, l.To))
		if low >= ft.edge {
			want.PerByte = units.Int(10)
		}
		if high >= ft.core {
			want.Delay = 1_000_000
		}
		if l.PerByte != want.PerByte || l.Delay != want.Delay {
			t.Errorf("link %d to %d: %v %d, want %+v", l.From, l.To, l.PerByte, l.Delay, want)
		}
	}
}

// Links of a tier have its rate and delay, all others those of fabric.link: 10, 40 and
// 80 ps a byte are 800, 200 and 100 Gbit/s.
func TestTopologyTiers(t *testing.T) {
	type tier func(topo Topology, l Link) int64
	uplink := func(topo Topology, l Link) int64 { // between switches
		if int(min(l.From, l.To)) >= topo.Hosts() {
			return 10
		}
		return 20
	}
	groups := func(topo Topology, l Link) int64 {
		d := topo.(Grouped)
		switch {
		case int(min(l.From, l.To)) < topo.Hosts():
			return 20
		case d.Group(l.From) == d.Group(l.To):
			return 40
		}
		return 80
	}
	for _, tt := range []struct {
		section string
		of      tier
	}{
		{"{kind: leaf-spine, leaves: 3, spines: 2, hosts_per_leaf: 2, trunk: 2, uplink: {rate: 800Gbps, delay: 10ns}}", uplink},
		{"{kind: rail, rails: 2, pods: 2, servers_per_leaf: 2, uplink: {rate: 800Gbps, delay: 10ns}}", uplink},
		{"{kind: rail, rails: 2, pods: 2, servers_per_leaf: 2, host: server, uplink: {rate: 800Gbps, delay: 10ns}}", uplink},
		{"{kind: torus, sizes: [3, 2], neighbor: {rate: 800Gbps, delay: 10ns}}", uplink},
		{"{kind: multi-plane, plane: {kind: torus, sizes: [3, 2], neighbor: {rate: 800Gbps, delay: 10ns}}}", uplink},
		{"{kind: fat-tree, k: 4, pods: 3, uplink: {rate: 800Gbps, delay: 10ns}}", uplink},
		{"{kind: dragonfly, global_links: 1, groups: 3, local: {rate: 200Gbps, delay: 40ns}, global: {rate: 100Gbps, delay: 80ns}}", groups},
	} {
		topo, found := build(t, tt.section, 1)
		if topo == nil {
			t.Fatal(found)
		}
		for i, l := range topo.Links() {
			want := LinkSpec{units.Int(tt.of(topo, l)), 500_000}
			if want.PerByte.Num != 20 {
				want.Delay = 1000 * want.PerByte.Num
			}
			if l.PerByte != want.PerByte || l.Delay != want.Delay {
				t.Fatalf("%s: link %d, %d to %d: %v %d, want %+v", tt.section, i, l.From, l.To, l.PerByte, l.Delay, want)
			}
		}
	}
}

func TestTopologyContradictions(t *testing.T) {
	tests := []struct {
		section string
		run     int
		want    string
	}{
		{"{kind: leaf-spine, spines: 4, oversubscription: 2}", 9, "t.yml:2:59: error: spines and oversubscription both say how many spines there are [E814]\n"},
		{"{kind: leaf-spine, leaves: 2, hosts_per_leaf: 4, hosts: 9}", 4, "t.yml:2:67: error: 2 leaves of 4 hosts do not hold 9 hosts [E814]\n"},
		{"{kind: leaf-spine, hosts: 9}", 10, "t.yml:2:1: error: the topology has 9 hosts, but the run needs 10 [E813]\n"},
		{"{kind: fat-tree, k: 8, oversubscription: 2}", 9, "t.yml:2:31: error: k is 8, but a switch of 8 ports cannot be divided by the oversubscription [E814]\n"},
		{"{kind: fat-tree, k: 8, pods: 9}", 9, "t.yml:2:40: error: pods is 9, but switches of 8 ports reach no more than 8 [E814]\n"},
		{"{kind: fat-tree, k: 4, hosts: 17}", 9, "t.yml:2:1: error: topology: hosts is 17, but only 16 fit [E814]\n"},
		{"{kind: fat-tree, tiers: 2, core_oversubscription: 2}", 9, "t.yml:2:61: error: core_oversubscription: a fat tree of 2 tiers has no core switches [E814]\n"},
		{"{kind: rail, spines: 0}", 9, "t.yml:2:32: error: without spines a NIC reaches no other rail [E814]\n"},
		{"{kind: rail, spines: 0, host: server, pods: 2}", 9, "t.yml:2:32: error: without spines a pod reaches no other [E814]\n"},
		{"{kind: rail, spines: 0, host: server, servers_per_leaf: 2}", 9, "t.yml:2:1: error: topology: 5 pods without spines do not reach each other [E814]\n"},
		{"{kind: rail, host: gpu}", 9, "t.yml:2:30: error: topology.host: \"gpu\" is not one of nic, server [E809]\n"},
		{"{kind: dragonfly, routers: 4, global_links: 2, groups: 10}", 9,
			"t.yml:2:66: error: groups is 10, but the 8 global links of a group reach no more than 8 others [E814]\n"},
		{"{kind: dragonfly, hosts_per_router: 1, routers: 4, global_links: 2}", 40, "t.yml:2:1: error: the topology has 36 hosts, but the run needs 40 [E813]\n"},
		{"{kind: torus, sizes: []}", 9, "t.yml:2:25: error: a torus has 1 to 6 dimensions, not 0 [E814]\n"},
		{"{kind: torus, sizes: [4, 4], dimensions: 3}", 9, "t.yml:2:52: error: dimensions is 3, but sizes has 2 [E814]\n"},
		{"{kind: torus, sizes: [4, 0]}", 9, "t.yml:2:36: error: topology.sizes[1]: 0 is out of range; it must be from 1 to 1000000 [E808]\n"},
		{"{kind: torus, sizes: [1000000, 1000000]}", 9, "t.yml:2:1: error: topology: sizes 1000000x1000000 have more than the 33554432 links that can be held [E814]\n"},
		{"{kind: multi-plane}", 9, "t.yml:2:1: error: \"plane\" is missing in topology [E805]\n"},
		{"{kind: multi-plane, plane: {kind: toros}}", 9, "t.yml:2:45: error: unknown topology kind \"toros\"; did you mean \"torus\"? [E817]\n"},
		{"{kind: multi-plane, plane: {kind: multi-plane, plane: star}}", 9, "t.yml:2:31: error: a plane cannot be of several planes itself: raise planes [E814]\n"},
		{"{kind: file}", 9, "t.yml:2:1: error: \"file\" is missing in topology [E805]\n"},
		{"{kind: file, file: ../networks}", 9, "t.yml:2:30: error: the topology file ../networks cannot be read: it is not a regular file [E811]\n"},
	}
	for _, tt := range tests {
		_, found := build(t, tt.section, tt.run)
		found = strings.ReplaceAll(found, "t.yml:1:1: warning: no level has closed-form parameters: the analytic models cannot be used with this network [W824]\n", "")
		if found != tt.want {
			t.Errorf("%s for %d:\ngot  %swant %s", tt.section, tt.run, found, tt.want)
		}
	}
}

// Asking for next hops allocates nothing.
func TestNextAllocates(t *testing.T) {
	sections := append(fixedSizes(), anySize()...)
	topos := make([]Topology, 0, len(sections)+1)
	for _, section := range sections {
		if topo, _ := build(t, section, 1); topo != nil {
			topos = append(topos, topo)
		}
	}
	file, _ := wire(t, htsim3)
	for _, topo := range append(topos, file) {
		nodes := int32(topo.Hosts() + topo.Switches())
		if n := testing.AllocsPerRun(1, func() {
			for at := range nodes {
				topo.Next(at, int32(topo.Hosts()-1))
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", topo.Describe(), n)
		}
	}
}

func BenchmarkNext(b *testing.B) {
	for _, section := range []string{"{kind: fat-tree, k: 32}", "leaf-spine", "rail", "{kind: rail, host: server}", "dragonfly", "torus",
		"{kind: multi-plane, planes: 4, plane: leaf-spine}"} {
		topo, found := build(b, section, 8192)
		if topo == nil {
			b.Fatal(found)
		}
		b.Run("hosts=8192/"+section, func(b *testing.B) {
			hosts, switches := topo.Hosts(), topo.Switches()
			sum := int32(0)
			for i := range b.N {
				first, n := topo.Next(int32(hosts+i%switches), int32(i*7919%hosts))
				sum += first + n
			}
			if sum == -1 {
				b.Log(sum)
			}
		})
	}
}
