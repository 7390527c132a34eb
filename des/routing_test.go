package des

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

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
	if text := topology + "\n" + link + "\n" + routing + "\n" + rest; fits(t, j, text) {
		return j, text
	}
	return randomRoutedJob(t, seed+1_000_000)
}

// The engine and the reference agree whichever way packets take.
func TestRoutesAgreeWithReference(t *testing.T) {
	kinds := map[string]int{}
	count := agreeing(t, cases(250), func(t *testing.T, seed uint64) (Job, string) {
		j, text := randomRoutedJob(t, seed)
		for _, row := range routings() {
			if strings.Contains(text, "kind: "+row.Name) {
				kinds[row.Name]++
			}
		}
		return j, text
	})
	enough(t, count, cases(60), "finished:")
	for _, row := range routings() {
		enough(t, kinds, cases(8), row.Name)
	}
}

func TestSameRoutesHoweverRun(t *testing.T) {
	for seed := range uint64(60) {
		j, text := randomRoutedJob(t, seed)
		howeverRun(t, j, seed, fmt.Sprintf("case %d\n%s\n", seed, text))
	}
}

// A recorder changes nothing whichever way packets take.
func TestRecordingOfRoutes(t *testing.T) {
	for seed := range uint64(40) {
		j, text := randomRoutedJob(t, seed)
		recordedSame(t, j, fmt.Sprintf("case %d:\n%s", seed, text))
	}
}

// routesOfBench are kinds of routing for fabrics with many paths.
func routesOfBench() [][2]string {
	return [][2]string{{"ecmp", "ecmp"}, {"crc32", "{kind: ecmp, hash: crc32-salted}"}, {"spray", "spray"}, {"flowlet", "{kind: flowlet, gap: 1us}"},
		{"adaptive", "adaptive"}, {"sample", "{kind: adaptive, sample: 2}"}, {"valiant", "valiant"}}
}

// The same on a fabric with many paths and a queue at every port. The emptiest queues end
// the permutation sooner than the hash of flows.
func TestSameRoutesOfPermutation(t *testing.T) {
	span := map[string]int64{}
	for _, c := range routesOfBench() {
		j := job(t, permutation(t, 128, 200_000), routedNetwork(t, "{kind: fat-tree, k: 8}", "{rate: 400Gbps, delay: 1us}", c[1], "  wire: rocev2\n  mtu: 4096B"), 1)
		want := finished(t, j)
		span[c[0]] = want.Makespan
		sameInThreads(t, j, want, 2, 3)
	}
	if span["adaptive"] >= span["ecmp"] || span["spray"] >= span["ecmp"] || span["sample"] >= span["ecmp"] {
		t.Errorf("the permutation takes %v", span)
	}
	t.Log(span)
}

// BenchmarkRoutes is the permutation by each kind of routing.
func BenchmarkRoutes(b *testing.B) {
	for _, c := range routesOfBench() {
		b.Run("hosts=128/"+c[0], func(b *testing.B) {
			j := job(b, permutation(b, 128, 2_000_000), routedNetwork(b, "{kind: fat-tree, k: 8}", "{rate: 400Gbps, delay: 1us}", c[1], "  wire: rocev2\n  mtu: 4096B"), 1)
			packetHops(b, j)
		})
	}
}
