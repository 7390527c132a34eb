package des

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"hybrid/graph"
	"hybrid/internal/diag"
	"hybrid/networks"
)

// routed parses a network with a routing and a receiver that takes packets in any order.
func routedNetwork(t testing.TB, topology, link, routing, more string) *networks.Network {
	return network(t, topology, link, "  routing: "+routing+"\n"+more+"\nnic: {transport: roce, out_of_order: accept}")
}

// sends makes messages of one size between pairs of ranks, all posted at once.
func sends(t testing.TB, ranks int, bytes int64, pairs ...[2]int) *graph.Graph {
	b := newBuilder(t, ranks)
	for i := range ranks {
		r := b.Rank(i, true)
		for tag, p := range pairs {
			if p[0] == i {
				b.send(r, int64(p[1]), int64(tag), bytes, 0)
			}
			if p[1] == i {
				b.recv(r, int64(p[0]), int64(tag), bytes)
			}
		}
		r.Done()
	}
	return b.graph()
}

// n equal packets in turn over p planes of rate R/p each: a plane gets at most ceil(n/p) of
// them, and each plane is a path of h links: ceil(n/p)*s + (h-1)*s + h*d. 256 packets of
// 4096 + 126 B over eight planes of 100 Gbit/s, four links of 500 ns: s = 337.76 ns, 35*s +
// 2 us. Over seven planes ceil(256/7) = 37 packets: 40*s + 2 us. Without spraying all go by
// one plane: 259*s + 2 us.
func TestSprayOverPlanes(t *testing.T) {
	for _, c := range []struct {
		planes  int
		routing string
		want    int64
	}{{8, "spray", 13821_600}, {7, "{kind: spray, entropies: 256}", 15510_400}, {8, "ecmp", 89479_840}} {
		n := routedNetwork(t, fmt.Sprintf("{kind: multi-plane, planes: %d, plane: {kind: leaf-spine, leaves: 2, spines: 1, hosts_per_leaf: 1}}", c.planes),
			"{rate: 100Gbps, delay: 500ns}", c.routing, "  wire: mrc\n  mtu: 4096B")
		j := job(t, one(t, 2, 1<<20), n, 1)
		j.EndWithAck = false
		for j.Seed = range uint64(4) {
			if got := finished(t, j).Makespan; got != c.want {
				t.Errorf("%d planes, %s: received at %d, want %d", c.planes, c.routing, got, c.want)
			}
		}
	}
}

// Two queue pairs of one host share its planes packet by packet: 2*128 packets are as long
// under way as 256 of one.
func TestQueuePairsShareSprayedPlanes(t *testing.T) {
	for _, routing := range []string{"spray", "adaptive"} {
		n := routedNetwork(t, "{kind: multi-plane, planes: 8, plane: {kind: leaf-spine, leaves: 2, spines: 1, hosts_per_leaf: 1}}",
			"{rate: 100Gbps, delay: 500ns}", routing, "  wire: mrc\n  mtu: 4096B")
		j := job(t, sends(t, 4, 1<<19, [2]int{0, 2}, [2]int{1, 3}), n, 2)
		j.EndWithAck = false
		if got, want := finished(t, j).Makespan, int64(13821_600); got != want {
			t.Errorf("%s: received at %d, want %d", routing, got, want)
		}
	}
}

// A short last packet overtakes the one before where their paths part, so that the first
// decides: 4086 and 1 B with 64 B each, six links of 100 Gbit/s and 1 us: 6*(332 ns + 1 us)
// + 6*(5.12 ns + 1 us) for the acknowledgement, 14.02272 us. On one path it follows the
// first, 14.02272 us + 65*0.08 ns = 14.02792 us (htsim gives both).
func TestShortPacketOvertakes(t *testing.T) {
	n := routedNetwork(t, "{kind: fat-tree, k: 4}", "{rate: 100Gbps, delay: 1us}", "spray", "  wire: htsim\n  mtu: 4086B")
	j := job(t, one(t, 16, 4087), n, 1)
	seen := map[int64]int{}
	for j.Seed = range uint64(32) {
		seen[finished(t, j).Makespan]++
	}
	if seen[14022_720] == 0 || seen[14027_920] == 0 || seen[14022_720]+seen[14027_920] != 32 {
		t.Errorf("acknowledged at %v", seen)
	}
}

// Hosts 0 to 3 of one leaf send a packet each to hosts 4 to 7 of another, by two spines.
// They arrive at one time; the first two take one up-link each whichever the hash names,
// the third finds a packet on both, the fourth takes the emptier again. So two arrive after
// four links, and two a packet later: s = 4194 B * 20 ps = 83.88 ns.
func TestAdaptiveBalances(t *testing.T) {
	pairs := [][2]int{{0, 4}, {1, 5}, {2, 6}, {3, 7}}
	const alone, s = 4 * (83_880 + 500_000), 83_880
	for routing, want := range map[string][]int64{
		"adaptive": {alone, alone, alone + s, alone + s},
		"flowlet":  {alone, alone, alone + s, alone + s}, // a flow's first packet moves too
	} {
		n := routedNetwork(t, "{kind: leaf-spine, leaves: 2, spines: 2, hosts_per_leaf: 4}", link400, routing, "  wire: rocev2\n  mtu: 4096B")
		j := job(t, sends(t, 8, 4096, pairs...), n, 1)
		j.EndWithAck = false
		for j.Seed = range uint64(16) {
			got := finishes(finished(t, j))[4:]
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("%s, seed %d: received at %v, want %v", routing, j.Seed, got, want)
			}
		}
	}
}

// The packets of a transfer follow each other without a pause, so that a flowlet never ends
// and the transfer takes as long as on one path. 256 packets, the first 16 B longer:
// 21391.68 ns, three more links for the last, four delays.
func TestFlowletKeepsItsPath(t *testing.T) {
	for _, gap := range []string{"100us", "84ns"} {
		n := routedNetwork(t, "{kind: leaf-spine, leaves: 2, spines: 2, hosts_per_leaf: 1}", link400, "{kind: flowlet, gap: "+gap+"}", "  wire: rocev2\n  mtu: 4096B")
		j := job(t, one(t, 2, 1<<20), n, 1)
		j.EndWithAck = false
		if got, want := finished(t, j).Makespan, int64(21391_680+3*83_880+2000_000); got != want {
			t.Errorf("gap %s: received at %d, want %d", gap, got, want)
		}
	}
}

// In a dragonfly of groups of one router a minimal way has three links, one of them
// global. By way of another group it has four, and the acknowledgement too; within a group
// nothing changes. An empty message is one packet of 98 B, its acknowledgement one of 86.
func TestValiantPassesAnotherGroup(t *testing.T) {
	for _, c := range []struct {
		routing    string
		to         int
		hops, span int64
	}{
		{"ecmp", 9, 6, 3 * (1960 + 1720 + 2*500_000)}, {"valiant", 9, 8, 4 * (1960 + 1720 + 2*500_000)}, {"valiant", 1, 4, 2 * (1960 + 1720 + 2*500_000)},
	} {
		n := routedNetwork(t, "{kind: dragonfly, groups: 5, routers: 1, hosts_per_router: 2, global_links: 4}", link400, c.routing, "  wire: rocev2\n  mtu: 4096B")
		j := job(t, sends(t, 10, 0, [2]int{0, c.to}), n, 1)
		for j.Seed = range uint64(8) {
			res := finished(t, j)
			if res.PacketHops != c.hops || res.Makespan != c.span {
				t.Errorf("%s to host %d: %d packet-hops in %d, want %d in %d", c.routing, c.to, res.PacketHops, res.Makespan, c.hops, c.span)
			}
		}
	}
}

// Elsewhere the way leads by the switch of a random host: in a leaf-spine of four leaves
// two or four links more than none, each of them often; never more.
func TestValiantOnLeaves(t *testing.T) {
	n := routedNetwork(t, "{kind: leaf-spine, leaves: 4, spines: 2, hosts_per_leaf: 2}", link400, "valiant", "  wire: rocev2\n  mtu: 4096B")
	seen := map[int64]int{}
	j := job(t, sends(t, 8, 0, [2]int{0, 7}), n, 1)
	for j.Seed = range uint64(64) {
		seen[finished(t, j).PacketHops]++
	}
	if seen[8] < 8 || seen[10] < 16 || seen[12] < 8 || seen[8]+seen[10]+seen[12] != 64 {
		t.Errorf("packet-hops %v; there and back both take four links or six", seen)
	}
	j = job(t, sends(t, 8, 0, [2]int{0, 1}), n, 1)
	if got := finished(t, j).PacketHops; got != 4 {
		t.Errorf("on one leaf: %d packet-hops", got)
	}
}

// Two transfers on one up-link take a packet time longer than on two. Nodes are given by
// name or number: switch 0 is node 6.
func TestExplicitRoutes(t *testing.T) {
	const alone, s = 4 * (83_880 + 500_000), 83_880
	for _, c := range []struct {
		routes string
		want   int64
	}{
		{"{from: 0, to: 3, via: [rack-0, spine-0, rack-1]}, {from: server-1, to: server-4, via: [6, 8, 7]}", alone + s},
		{"{from: 0, to: 3, via: [switch 0, switch 2, switch 1]}, {from: host 1, to: 4, via: [6, 9, 7]}", alone},
		{"{from: 0, to: 3, via: [rack-0, spine-1, rack-1]}, {from: 1, to: 4, via: [rack-0, spine-1, rack-1]}", alone + s},
	} {
		n := routedNetwork(t, "{kind: leaf-spine, leaves: 2, spines: 2, hosts_per_leaf: 3}", link400, "{kind: source, routes: ["+c.routes+"]}", "  wire: rocev2\n  mtu: 4096B")
		j := job(t, sends(t, 6, 4096, [2]int{0, 3}, [2]int{1, 4}), n, 1)
		j.EndWithAck = false
		for j.Seed = range uint64(4) {
			if got := finished(t, j).Makespan; got != c.want {
				t.Errorf("%s: received at %d, want %d", c.routes, got, c.want)
			}
		}
	}
}

// A queue pair whose packets take two routes in turn, between hosts with links to both: each
// carries half of them.
func TestRoutesPacketByPacket(t *testing.T) {
	n := routedNetwork(t, "{kind: multi-plane, planes: 2, plane: star}", "{rate: 100Gbps, delay: 500ns}",
		"{kind: source, per: packet, routes: [{from: 0, to: 1, via: [rack-0]}, {from: 0, to: 1, via: [rack-1]}]}", "  wire: mrc\n  mtu: 4096B")
	j := job(t, one(t, 2, 1<<20), n, 1)
	j.EndWithAck = false
	if got, want := finished(t, j).Makespan, int64(129*337_760+1000_000); got != want {
		t.Errorf("received at %d, want %d", got, want)
	}
}

// Messages of the ideal transport are sprayed one by one, and received in the order of
// posting: the short one that overtakes waits.
func TestSprayedMessages(t *testing.T) {
	n := network(t, "{kind: multi-plane, planes: 2, plane: star}", "{rate: 100Gbps, delay: 500ns}", "  routing: spray\n  wire: none\n  mtu: 4096B\nnic: {transport: ideal}")
	b := newBuilder(t, 2)
	r := b.Rank(0, true)
	b.send(r, 1, 0, 100_000, 0)
	b.send(r, 1, 0, 1000, 0)
	r.Done()
	r = b.Rank(1, true)
	first := b.recv(r, 0, 0, 100_000)
	b.recv(r, 0, 0, 1000)
	b.compute(r, 1000_000, 0, first)
	r.Done()
	// Both planes at once: 2*(100000*80 ps + 500 ns); the computation follows.
	if got, want := finished(t, job(t, b.graph(), n, 1)).Makespan, int64(2*(8000_000+500_000)+1000_000); got != want {
		t.Errorf("ends at %d, want %d", got, want)
	}
}

// All that is wrong is told at once, each where it is written.
func TestRoutingErrors(t *testing.T) {
	for _, c := range []struct{ routing, nic, want string }{
		{"spray", "roce", "E961"}, {"adaptive", "roce", "E961"}, {"flowlet", "roce", "E961"}, {"{kind: valiant, per: packet}", "roce", "E961"},
		{"valiant", "roce", ""}, {"ecmp", "roce", ""}, {"{kind: ecmp, hash: crc32}", "roce", ""}, {"spray", "ideal", ""}, {"adaptive", "ideal", ""},
		{"{kind: spray}", "{transport: roce, out_of_order: accept}", ""},
		{"spary", "roce", "E960"}, {"{kind: ecmp, hash: md5}", "roce", "E809"}, {"{kind: ecmp, gap: 1us}", "roce", "E804"}, {"{kind: adaptive, sample: 0}", "roce", "E960"},
		{"{kind: source, routes: [{from: 0, to: 9, via: [rack-0]}, {from: rack-0, to: 1, via: [server-1]}]}", "roce", "E962 E962 E962"},
		{"{kind: source, routes: [{from: 0, to: 3, via: [rack-0, rack-1]}, {from: 0, to: 1, via: [rack-0, spine-0, rack-0]}]}", "roce", "E962 E962"},
		{"{kind: source}", "roce", "E805"}, {"{kind: source, routes: []}", "roce", "E960"},
	} {
		n := network(t, "{kind: leaf-spine, leaves: 2, spines: 2, hosts_per_leaf: 3}", link400, "  routing: "+c.routing+"\n  wire: rocev2\n  mtu: 4096B\nnic: "+c.nic)
		_, err := Run(context.Background(), job(t, one(t, 6, 1), n, 1))
		var codes []string
		if list, ok := err.(*diag.ListError); ok {
			for _, f := range list.List.All() {
				codes = append(codes, f.Code)
				if f.Pos.Line == 0 {
					t.Errorf("%s: no position: %v", c.routing, f)
				}
			}
		}
		if got := strings.Join(codes, " "); got != c.want {
			t.Errorf("%s, %s: %q, want %q: %v", c.routing, c.nic, got, c.want, err)
		}
	}
}

// Routes are checked without a run where the topology's size is given.
func TestCheckRoutes(t *testing.T) {
	for topology, want := range map[string]int{"{kind: leaf-spine, leaves: 2, spines: 2, hosts_per_leaf: 3}": 1, "{kind: leaf-spine, spines: 2, hosts_per_leaf: 3}": 0} {
		n := network(t, topology, link400, "  routing: {kind: source, routes: [{from: 0, to: 4, via: [rack-0, spine-2, rack-1]}]}\n  wire: rocev2\n  mtu: 4096B\nnic: roce")
		var list diag.List
		if CheckRoutes(n, n.Topology(1, new(diag.List)), &list); list.CountOf(diag.Error) != want {
			t.Errorf("%s: %v", topology, list.Err())
		}
	}
}

func TestRoutingTable(t *testing.T) {
	for i, r := range Routings() {
		if s := RoutingSections()[i+1]; s.Name != r.Name || r.Doc == "" {
			t.Errorf("%d: %q and %q", i, r, s)
		}
	}
}
