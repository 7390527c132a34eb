package des

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hybrid/graph/replay"
	"hybrid/internal/diag"
	"hybrid/networks"
)

// randomRouting makes a section fabric.routing for a topology.
func randomRouting(r *rand.Rand, topo networks.Topology) string {
	hash := ", hash: " + pick(r, "murmur3", "murmur3", "crc32", "crc32-salted", "hash", "hash-salted", "dpr", "dpr-fallback")
	switch r.IntN(9) {
	case 0:
		return "{kind: ecmp" + hash + "}"
	case 1, 2:
		return fmt.Sprintf("{kind: spray, entropies: %d, order: %s%s}", pick(r, 1, 3, 128), pick(r, "round-robin", "random"), hash)
	case 3:
		return fmt.Sprintf("{kind: flowlet, gap: %s, slots: %d}", pick(r, "0ns", "100ns", "1us", "100us"), pick(r, 1, 4, 512))
	case 4, 5:
		return fmt.Sprintf("{kind: adaptive, sample: %s%s}", pick(r, "all", "all", "1", "2", "3"), hash)
	case 6:
		return "{kind: valiant, per: " + pick(r, "flow", "packet") + hash + "}"
	}
	if topo.Hosts() == 1 {
		return "ecmp"
	}
	var routes []string
	for range 1 + r.IntN(30) {
		routes = append(routes, randomRoute(r, topo))
	}
	return fmt.Sprintf("{kind: source, per: %s, routes: [%s]%s}", pick(r, "flow", "packet"), strings.Join(routes, ", "), hash)
}

// randomRoute is a random shortest way between two hosts.
func randomRoute(r *rand.Rand, topo networks.Topology) string {
	names := networks.NodeNames(topo)
	for {
		from, to := int32(r.IntN(topo.Hosts())), int32(r.IntN(topo.Hosts()))
		if from == to {
			continue
		}
		var via []string
		for at := from; ; {
			first, n := topo.Next(at, to)
			if at = topo.Links()[first+int32(r.IntN(int(n)))].To; at == to {
				break
			}
			via = append(via, names[at])
		}
		return fmt.Sprintf("{from: %s, to: %s, via: [%s]}", names[from], names[to], strings.Join(via, ", "))
	}
}

// randomRoutedJob is a random job whose routes are not the default.
func randomRoutedJob(t *testing.T, seed uint64) (Job, string) {
	r := rand.New(rand.NewPCG(seed, 2024))
	topology := pick(r, "{kind: leaf-spine, leaves: 4, spines: 2, hosts_per_leaf: 3}",
		"{kind: leaf-spine, leaves: 3, spines: 3, trunk: 2, hosts_per_leaf: 4, uplink: {rate: 100Gbps, delay: 70ns}}", "{kind: fat-tree, k: 4}",
		"{kind: dragonfly, groups: 5, routers: 2, hosts_per_router: 2, global_links: 2}", "{kind: torus, sizes: [3, 4]}",
		"{kind: multi-plane, planes: 3, plane: star}", "{kind: multi-plane, planes: 2, plane: {kind: leaf-spine, leaves: 3, spines: 2, hosts_per_leaf: 4}}",
		"star", "direct")
	link := fmt.Sprintf("{rate: %s, delay: %s}", pick(r, "400Gbps", "400Gbps", "10Gbps", "106.25Gbps", "900GB/s"), pick(r, "100ns", "500ns", "1us", "1ps", "0ns"))
	g := randomGraph(t, r, 2+r.IntN(11))
	perNode := 1 + r.IntN(3)
	keys := ""
	if r.IntN(2) == 0 && topology != "direct" {
		keys = ", " + randomSwitch(r)
	}
	nic := fmt.Sprintf("{transport: roce, ack_every: %d, out_of_order: accept}", pick(r, 1, 2, 16))
	if keys == "" && r.IntN(4) == 0 {
		nic = "{transport: ideal}"
	}
	rest := fmt.Sprintf("  switch: {latency: %s%s}\n  wire: %s\n  mtu: %s\nnic: %s", pick(r, "0ns", "0ns", "300ns"), keys,
		pick(r, "rocev2", "none", "{preset: rocev2, ack: 0B}", "htsim"), pick(r, "4096B", "256B", "1024B"), nic)
	plain := job(t, g, network(t, topology, link, rest), perNode)
	routing := randomRouting(r, plain.Topology)
	j := job(t, g, network(t, topology, link, "  routing: "+routing+"\n"+rest), perNode)
	j.Seed = r.Uint64()
	j.EndWithAck = r.IntN(2) == 0
	var list diag.List
	if (&run{job: &j, placement: j.Placement}).check(&list); list.HasErrors() { // the headroom of long fast links
		if all := list.All(); all[0].Code != "E956" {
			t.Fatalf("%s: %v", routing, list.Err())
		}
		return randomRoutedJob(t, seed+1_000_000)
	}
	return j, topology + "\n" + link + "\n" + routing + "\n" + rest
}

// The engine and the reference agree whichever way packets take.
func TestRoutesAgreeWithReference(t *testing.T) {
	cases := uint64(250)
	if testing.Short() {
		cases = 60
	}
	outcomes := map[replay.Outcome]int{}
	for seed := range cases {
		j, text := randomRoutedJob(t, seed)
		f, digest, finish := referAll(j)
		r, res := runSwitches(t, j)
		outcomes[res.Verdict.Outcome]++
		if diff := cmp.Diff(finish, finishes(res)); diff != "" {
			t.Errorf("finish of ranks (-reference +engine):\n%s", diff)
		}
		if res.Digest != digest || res.PacketHops != f.hops {
			t.Errorf("digest %x and %d packet-hops, the reference has %x and %d", res.Digest, res.PacketHops, digest, f.hops)
		}
		var got, want [5]int64
		for _, s := range r.buffered {
			got = add(got, [5]int64{s.Tally.Pauses, s.Tally.Drops, s.Tally.Cuts, s.Marks()})
		}
		for _, s := range f.switches {
			want = add(want, [5]int64{s.pauses, s.drops, s.cuts, s.marks})
		}
		if got != want {
			t.Errorf("pauses, drops, cuts, marks: %v, the reference has %v", got, want)
		}
		if t.Failed() {
			t.Fatalf("case %d:\n%s", seed, text)
		}
	}
	if outcomes[replay.Finished] < int(cases)/4 {
		t.Errorf("too few of the cases finish: %v", outcomes)
	}
	t.Logf("outcomes: %v", outcomes)
}

func TestSameRoutesHoweverRun(t *testing.T) {
	for seed := range uint64(60) {
		j, text := randomRoutedJob(t, seed)
		howeverRun(t, j, seed, fmt.Sprintf("case %d\n%s\n", seed, text))
	}
}
