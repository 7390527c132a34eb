package networks

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"hybrid/internal/units"
)

// anySize are sections that leave the number of hosts open.
func anySize() []string {
	return []string{"direct", "star", "leaf-spine", "fat-tree", "{kind: fat-tree, tiers: 2}",
		"{kind: leaf-spine, leaves: 3, spines: 5}", "{kind: leaf-spine, spines: 3, hosts_per_leaf: 2}",
		"{kind: leaf-spine, oversubscription: 3, trunk: 2}", "{kind: fat-tree, oversubscription: 3}",
		"{kind: fat-tree, oversubscription: 2, core_oversubscription: 2, pods: 3}", "{kind: fat-tree, tiers: 2, oversubscription: 3, pods: 4}",
		"rail", "{kind: rail, rails: 3, trunk: 2, oversubscription: 2}", "{kind: rail, rails: 4, host: server}",
		"{kind: rail, rails: 3, host: server, spines: 0}", "{kind: rail, rails: 2, pods: 3}", "{kind: rail, rails: 2, host: server, pods: 3, trunk: 2}",
		"dragonfly", "{kind: dragonfly, arrangement: palm-tree}", "{kind: dragonfly, routers: 3}", "{kind: dragonfly, groups: 5, arrangement: palm-tree}",
		"torus", "{kind: torus, dimensions: 2}", "{kind: torus, dimensions: 1, hosts_per_router: 2}", "{kind: torus, dimensions: 5}",
		"{kind: multi-plane, plane: {kind: leaf-spine}}", "{kind: multi-plane, planes: 3, plane: {kind: rail, rails: 2, host: server}}",
		"{kind: multi-plane, planes: 4, plane: {kind: torus, dimensions: 2}}", "{kind: multi-plane, plane: direct}"}
}

// fixedSizes are sections of given sizes with odd ones among them.
func fixedSizes() []string {
	return []string{"{kind: direct, hosts: 7}", "{kind: star, hosts: 7}", "{kind: fat-tree, k: 2}", "{kind: fat-tree, k: 4}",
		"{kind: fat-tree, k: 6}", "{kind: fat-tree, k: 6, tiers: 2}", "{kind: leaf-spine, leaves: 3, spines: 2, hosts_per_leaf: 5}",
		"{kind: leaf-spine, leaves: 3, spines: 2, hosts_per_leaf: 5, hosts: 8, trunk: 3}",
		"{kind: leaf-spine, leaves: 4, spines: 3, hosts_per_leaf: 3, uplink: {rate: 200Gbps}}",
		"{kind: fat-tree, k: 6, hosts: 31, uplink: {rate: 200Gbps}}", "{kind: fat-tree, k: 6, pods: 3, hosts: 25, core: {rate: 200Gbps}}",
		"{kind: fat-tree, k: 6, oversubscription: 2, core_oversubscription: 2, pods: 3}", "{kind: fat-tree, k: 8, tiers: 2, oversubscription: 3, hosts: 29}",
		"{kind: rail, rails: 3, pods: 2, servers_per_leaf: 3, spines: 2}", "{kind: rail, rails: 3, pods: 3, servers_per_leaf: 3, spines: 1, trunk: 2, host: server}",
		"{kind: rail, rails: 5, pods: 1, servers_per_leaf: 3, uplink: {rate: 800Gbps}}", "{kind: rail, rails: 4, pods: 1, servers_per_leaf: 5, spines: 0, host: server}",
		"{kind: dragonfly, hosts_per_router: 2, routers: 4, global_links: 2, groups: 9}",
		"{kind: dragonfly, hosts_per_router: 2, routers: 4, global_links: 2, groups: 9, arrangement: palm-tree}",
		"{kind: dragonfly, hosts_per_router: 1, routers: 2, global_links: 3, groups: 4}", "{kind: dragonfly, hosts_per_router: 1, routers: 5, global_links: 2, groups: 4, arrangement: palm-tree}",
		"{kind: dragonfly, hosts_per_router: 2, routers: 1, global_links: 4, groups: 5}", "{kind: dragonfly, hosts_per_router: 2, routers: 4, global_links: 2, groups: 1}",
		"{kind: dragonfly, hosts_per_router: 2, routers: 3, global_links: 4, groups: 4, global: {rate: 200Gbps}}",
		"{kind: torus, sizes: [4, 4]}", "{kind: torus, sizes: [4, 4, 4]}", "{kind: torus, sizes: [5, 3, 2]}", "{kind: torus, sizes: [8]}", "{kind: torus, sizes: [2, 2, 2, 2]}",
		"{kind: torus, sizes: [6, 1, 3], hosts_per_router: 2}", "{kind: torus, sizes: [3, 4], neighbor: {rate: 100Gbps}}",
		"{kind: multi-plane, planes: 3, plane: {kind: fat-tree, k: 4}}", "{kind: multi-plane, planes: 2, plane: {kind: rail, rails: 2, pods: 2, servers_per_leaf: 2, host: server}}",
		"{kind: multi-plane, planes: 2, plane: {kind: direct, hosts: 5}}", "{kind: multi-plane, planes: 4, plane: {kind: torus, sizes: [4, 3]}}"}
}

func TestTopologyRoutes(t *testing.T) {
	for i, section := range append(fixedSizes(), anySize()...) {
		hosts := 1
		if i >= len(fixedSizes()) {
			hosts = 13
		}
		topo, found := build(t, section, hosts)
		if topo == nil {
			t.Fatal(section, found)
		}
		for dst := range topo.Hosts() {
			checkRoutes(t, topo, int32(dst))
		}
	}
}

// outLinks returns for every node the first of its links and the one after its last.
func outLinks(topo Topology) (first []int32) {
	nodes := topo.Hosts() + topo.Switches()
	first = make([]int32, nodes+1)
	for _, l := range topo.Links() {
		first[l.From+1]++
	}
	for i := range nodes {
		first[i+1] += first[i]
	}
	return first
}

// distances counts the links from every node to dst by breadth-first search; hosts pass
// nothing on.
func distances(topo Topology, dst int32) []int {
	nodes, links, first := topo.Hosts()+topo.Switches(), topo.Links(), outLinks(topo)
	dist := make([]int, nodes)
	for i := range dist {
		dist[i] = math.MaxInt
	}
	dist[dst] = 0
	for queue := []int32{dst}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		if at != dst && int(at) < topo.Hosts() {
			continue
		}
		for id := first[at]; id < first[at+1]; id++ { // every link has its reverse
			if to := links[id].To; dist[to] == math.MaxInt {
				dist[to] = dist[at] + 1
				queue = append(queue, to)
			}
		}
	}
	return dist
}

// checkRoutes holds all routes to dst against the wiring: every candidate leaves the
// node it is offered at, brings a packet one link nearer, and leads through no host. All
// shortest ways are offered, except in a torus, where they are those that correct the
// first dimension that differs, and in a dragonfly, where routes are at most as long as
// up, local, global, local, down.
func checkRoutes(t rapid.TB, topo Topology, dst int32) {
	links, first, dist := topo.Links(), outLinks(topo), distances(topo, dst)
	kind := topo.Kind()
	if p, ok := topo.(*planes); ok {
		kind = p.base.Kind()
	}
	route := routeLengths(t, topo, dst)
	for at := range int32(topo.Hosts() + topo.Switches()) {
		from, n := topo.Next(at, dst)
		if at == dst {
			if n != 0 {
				t.Fatalf("%s: %d candidates at the target %d", topo.Describe(), n, dst)
			}
			continue
		}
		if n == 0 && dist[at] == math.MaxInt {
			continue // a switch that no way leads on from
		}
		if n < 1 || from < first[at] || from+n > first[at+1] {
			t.Fatalf("%s: at %d towards %d: candidates %d, %d, but links %d to %d", topo.Describe(), at, dst, from, n, first[at], first[at+1])
		}
		if kind != "dragonfly" && route[at] != dist[at] {
			t.Fatalf("%s: %d links from %d to %d, but the shortest way has %d", topo.Describe(), route[at], at, dst, dist[at])
		}
		for id := first[at]; id < first[at+1]; id++ {
			to := links[id].To
			offered := id >= from && id < from+n
			if offered && (route[to] != route[at]-1 && kind != "dragonfly" || to != dst && int(to) < topo.Hosts()) {
				t.Fatalf("%s: link %d to %d is offered at %d towards %d", topo.Describe(), id, to, at, dst)
			}
			if !offered && kind != "torus" && kind != "dragonfly" && dist[to] < dist[at] && (to == dst || int(to) >= topo.Hosts()) {
				t.Fatalf("%s: link %d to %d is not offered at %d towards %d", topo.Describe(), id, to, at, dst)
			}
		}
	}
}

// routeLengths is the longest route from every node; a route that runs in circles
// fails.
func routeLengths(t rapid.TB, topo Topology, dst int32) []int {
	length := make([]int, topo.Hosts()+topo.Switches())
	for i := range length {
		length[i] = -1
	}
	length[dst] = 0
	var follow func(at int32, left int) int
	follow = func(at int32, left int) int {
		if length[at] >= 0 {
			return length[at]
		}
		if left == 0 {
			t.Fatalf("%s: routes to %d run in circles", topo.Describe(), dst)
		}
		first, n := topo.Next(at, dst)
		longest := 0
		for id := first; id < first+n; id++ {
			longest = max(longest, 1+follow(topo.Links()[id].To, left-1))
		}
		length[at] = longest
		return longest
	}
	for at := range length {
		follow(int32(at), len(length))
	}
	return length
}

// The diameter is the longest route, the bisection the maximum flow from the lower
// half of the hosts to the upper (L. Ford, D. Fulkerson 1956), both from the wiring
// alone.
func TestTopologyFigures(t *testing.T) {
	for _, section := range append(fixedSizes(), anySize()...) {
		for _, hosts := range []int{2, 5, 13, 24} {
			topo, _ := build(t, section, hosts)
			if topo == nil || topo.Hosts() < 2 { // of a fixed size that is too small
				continue
			}
			w := topo.(interface{ common() *wired }).common()
			longest := 0
			for dst := range topo.Hosts() {
				longest = max(longest, slices.Max(routeLengths(t, topo, int32(dst))[:topo.Hosts()]))
			}
			if w.diameter != longest {
				t.Errorf("%s: the longest route has %d links", topo.Describe(), longest)
			}
			if want := flow(topo); units.NewRat(want.Den, max(want.Num, 1)) != w.bisection {
				t.Errorf("%s: the maximum flow is %s bytes a picosecond", topo.Describe(), want)
			}
		}
	}
}

// flow is the maximum flow from the lower half of the hosts to the others in bytes a
// picosecond; hosts pass nothing on. All rates must divide 1/80 byte a picosecond.
func flow(topo Topology) units.Rat {
	hosts, nodes := int32(topo.Hosts()), topo.Hosts()+topo.Switches()
	half := hosts / 2
	first := outLinks(topo)
	room := make([]int64, len(topo.Links()))
	for i, l := range topo.Links() {
		room[i] = 80 * l.PerByte.Den / l.PerByte.Num
	}
	back := reverses(topo)
	total := int64(0)
	for {
		// A breadth-first search from all lower hosts; via is the link that reached a node.
		via := make([]int32, nodes)
		for i := range via {
			via[i] = -1
		}
		var queue []int32
		for h := range half {
			via[h] = -2
			queue = append(queue, h)
		}
		end := int32(-1)
		for ; len(queue) > 0 && end < 0; queue = queue[1:] {
			at := queue[0]
			for id := first[at]; id < first[at+1] && end < 0; id++ {
				to := topo.Links()[id].To
				if room[id] == 0 || via[to] != -1 {
					continue
				}
				via[to] = id
				if to >= half && to < hosts {
					end = to
				}
				queue = append(queue, to)
			}
		}
		if end < 0 {
			return units.NewRat(total, 80)
		}
		least := int64(math.MaxInt64)
		for at := end; via[at] >= 0; at = topo.Links()[via[at]].From {
			least = min(least, room[via[at]])
		}
		for at := end; via[at] >= 0; at = topo.Links()[via[at]].From {
			room[via[at]] -= least
			room[back[via[at]]] += least
		}
		total += least
	}
}

// reverses pairs the links of two nodes with those back.
func reverses(topo Topology) []int32 {
	waiting := map[[2]int32][]int32{}
	out := make([]int32, len(topo.Links()))
	for id, l := range topo.Links() {
		key := [2]int32{l.To, l.From}
		if w := waiting[key]; len(w) > 0 {
			out[id], out[w[0]] = w[0], int32(id)
			waiting[key] = w[1:]
			continue
		}
		key = [2]int32{l.From, l.To}
		waiting[key] = append(waiting[key], int32(id))
	}
	return out
}

// Counts by the formulas of the literature: a balanced dragonfly of p = h = a/2 has
// ah+1 groups and p*a*(ah+1) hosts (Kim et al., ISCA 2008); a torus of n dimensions has
// 2n links a router and, with even sizes k, n*k/2 steps at most and 2*k^(n-1) links in
// each direction across its middle (Dally and Towles 2004, chapter 5). 20 ps a byte are
// 400 Gbit/s.
func TestTopologyFormulas(t *testing.T) {
	tests := []struct {
		section, describe string
		run, links        int
	}{
		{"{kind: dragonfly, global_links: 2, groups: 9}", // 4*4 links join the groups below and above the fifth, 2*2 its routers
			"dragonfly groups=9 routers=4 hosts_per_router=2 global_links=2: 72 hosts, 36 switches, bisection 8Tbps, diameter 5 links", 72, 144 + 36*(3+2)},
		{"{kind: torus, sizes: [4, 4]}", "torus 4x4: 16 hosts, 16 switches, bisection 3.2Tbps, diameter 6 links", 16, 32 + 16*4},
		{"{kind: torus, sizes: [8, 8, 8]}", "torus 8x8x8: 512 hosts, 512 switches, bisection 51.2Tbps, diameter 14 links", 512, 1024 + 512*6},
		{"{kind: rail, rails: 8, pods: 2, servers_per_leaf: 16, spines: 16}",
			"rail rails=8 pods=2 servers_per_leaf=16 spines=16: 256 hosts, 32 switches, bisection 51.2Tbps, diameter 4 links", 256, 2*256 + 2*16*16},
		{"{kind: rail, rails: 8, pods: 2, servers_per_leaf: 16, oversubscription: 4, host: server}",
			"rail rails=8 pods=2 servers_per_leaf=16 spines=4 host=server: 32 hosts, 20 switches, bisection 12.8Tbps, diameter 4 links", 32, 2*256 + 2*16*4},
		{"{kind: multi-plane, planes: 4, plane: {kind: leaf-spine, leaves: 4, spines: 2, hosts_per_leaf: 4}}",
			"multi-plane planes=4 of leaf-spine leaves=4 spines=2 hosts_per_leaf=4: 16 hosts, 24 switches, bisection 6.4Tbps, diameter 4 links", 16, 4 * 48},
		{"{kind: fat-tree, k: 8, oversubscription: 3, core_oversubscription: 3}", // 8 pods of 6 edges of 6 hosts, 2 aggregation switches with 2 up-links
			"fat-tree k=8 oversubscription=3 core_oversubscription=3: 288 hosts, 68 switches, bisection 6.4Tbps, diameter 6 links", 288, 2*288 + 2*8*6*2 + 2*8*2*2},
	}
	for _, tt := range tests {
		topo, found := build(t, tt.section, tt.run)
		if topo == nil {
			t.Errorf("%s: %s", tt.section, found)
		} else if topo.Describe() != tt.describe || len(topo.Links()) != tt.links {
			t.Errorf("got  %s, %d links\nwant %s, %d links", topo.Describe(), len(topo.Links()), tt.describe, tt.links)
		}
	}
}

// Half way round a ring both ways are offered, and only there: from router 0 of 8 the
// packet for router 4 may go up or down, after which it keeps its way.
func TestTorusTies(t *testing.T) {
	topo, _ := build(t, "{kind: torus, sizes: [8]}", 8)
	var got []string
	for at := int32(8); at < 16; at++ {
		first, n := topo.Next(at, 4)
		s := fmt.Sprint(at-8, "->")
		for id := first; id < first+n; id++ {
			to := topo.Links()[id].To
			if to >= 8 {
				to -= 8
			}
			s += fmt.Sprint(to)
		}
		got = append(got, s)
	}
	want := []string{"0->17", "1->2", "2->3", "3->4", "4->4", "5->4", "6->5", "7->6"}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// In a dragonfly a route has at most one global link, and every pair of groups is
// joined by the same number of links, as many as there can be.
func TestDragonflyGroups(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		routers, global := rapid.IntRange(1, 6).Draw(t, "routers"), rapid.IntRange(1, 5).Draw(t, "global")
		groups := rapid.IntRange(2, routers*global+1).Draw(t, "groups")
		arrangement := rapid.SampledFrom([]string{"absolute", "palm-tree"}).Draw(t, "arrangement")
		p := &dragonflyParams{Hosts: new(int), Routers: &routers, Global: &global, Groups: &groups, Arrangement: arrangement}
		*p.Hosts = rapid.IntRange(1, 2).Draw(t, "hosts")
		topo, err := p.build(1, LinkSpec{units.Int(20), 1})
		if err != nil {
			t.Fatal(err)
		}
		d := topo.(*dragonfly)
		joined := make([]int, groups*groups)
		perRouter := make([]int, d.switches)
		for _, l := range d.links {
			if a, b := d.Group(l.From), d.Group(l.To); a != b {
				joined[int(a)*groups+int(b)]++
				perRouter[int(l.From)-d.hosts]++
			}
		}
		for i, n := range joined {
			if want := routers * global / (groups - 1); i/groups != i%groups && n != want {
				t.Fatalf("%d links from group %d to %d, want %d", n, i/groups, i%groups, want)
			}
		}
		if most := slices.Max(perRouter); most > global {
			t.Fatalf("a router has %d global links", most)
		}
		dst := int32(rapid.IntRange(0, d.hosts-1).Draw(t, "dst"))
		checkRoutes(t, d, dst)
		for at := range int32(d.hosts + d.switches) {
			crossings := 0
			for node := at; node != dst; {
				first, n := d.Next(node, dst)
				id := first + int32(rapid.IntRange(0, int(n)-1).Draw(t, "choice"))
				if to := d.links[id].To; d.Group(to) != d.Group(node) {
					crossings++
				}
				node = d.links[id].To
			}
			if crossings > 1 {
				t.Fatalf("%d global links from %d to %d", crossings, at, dst)
			}
		}
	})
}

// Towards a group every candidate leads on, within a local and a global step.
func TestDragonflyNextGroup(t *testing.T) {
	for _, section := range fixedSizes() {
		topo, _ := build(t, section, 1)
		d, ok := topo.(Grouped)
		if !ok {
			continue
		}
		for at := range int32(topo.Hosts() + topo.Switches()) {
			for group := range int32(d.Groups()) {
				node := at
				for steps := 0; ; steps++ {
					first, n := d.NextGroup(node, group)
					if n == 0 {
						if d.Group(node) != group || int(node) < topo.Hosts() {
							t.Fatalf("%s: from %d to group %d: ends at %d", topo.Describe(), at, group, node)
						}
						break
					}
					if steps == 3 || topo.Links()[first].From != node || topo.Links()[first+n-1].From != node {
						t.Fatalf("%s: from %d to group %d: %d steps, links %d, %d", topo.Describe(), at, group, steps, first, n)
					}
					node = topo.Links()[first+n-1].To
				}
			}
		}
	}
}

func BenchmarkBuild(b *testing.B) {
	for _, section := range []string{"fat-tree", "leaf-spine", "rail", "{kind: rail, host: server}", "dragonfly", "torus", "{kind: multi-plane, planes: 4, plane: leaf-spine}"} {
		b.Run("hosts=8192/"+section, func(b *testing.B) {
			for b.Loop() {
				topo, found := build(b, section, 8192)
				if topo == nil {
					b.Fatal(found)
				}
				b.ReportMetric(float64(len(topo.Links())), "links")
			}
		})
	}
}
