package des

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"hybrid/graph"
)

// Alone, an ideal transfer takes as many times the delay and the serialization as its
// route has links; both hosts are the furthest apart that the kind has.
func TestIdealTransferTopologies(t *testing.T) {
	const size = 1_000_000
	for _, c := range []struct {
		topology string
		hosts    int
		hops     int64
	}{
		{"{kind: rail, rails: 4, pods: 2, servers_per_leaf: 2}", 16, 4},
		{"{kind: rail, rails: 4, pods: 1, servers_per_leaf: 2, spines: 0, host: server}", 2, 2},
		{"{kind: rail, rails: 4, pods: 2, servers_per_leaf: 2, host: server}", 4, 4},
		{"{kind: dragonfly, hosts_per_router: 2, routers: 4, global_links: 2, groups: 9}", 72, 5},
		{"{kind: torus, sizes: [5, 5]}", 13, 2 + 2 + 2}, // router 12 is two steps away in both dimensions
		{"{kind: torus, sizes: [4, 4, 4]}", 43, 2 + 3*2},
		{"{kind: multi-plane, planes: 4, plane: {kind: leaf-spine, leaves: 2, spines: 2, hosts_per_leaf: 2}}", 4, 4},
		{"{kind: fat-tree, k: 6, oversubscription: 2, core_oversubscription: 2, pods: 3}", 48, 6},
		{"{kind: leaf-spine, leaves: 2, spines: 2, hosts_per_leaf: 3, trunk: 2}", 6, 4},
	} {
		j := job(t, one(t, c.hosts, size), network(t, c.topology, link400, "  switch: {latency: 300ns}\n"+roce), 1)
		j.Ideal = true
		if got, want := finished(t, j).Makespan, c.hops*(500_000+size*20); got != want {
			t.Errorf("%s: %d, want %d", c.topology, got, want)
		}
	}
}

// ASTRA-sim's analytical network takes floor(500 + bytes/53.687) ns for each step of a
// ring on 50 GB/s, which are 50*2^30 B/s, and 500 ns; without its rounding a step of
// 2^19 B takes 500000 + 9765625 ps, and an all-reduce on 8 NPUs 14 of them. Over a Switch
// every step takes two such hops.
func TestRingOfFile(t *testing.T) {
	for kind, hops := range map[string]int64{"Ring": 1, "FullyConnected": 1, "Switch": 2} {
		file := filepath.Join(t.TempDir(), "net.yml")
		text := fmt.Sprintf("topology: [%s]\nnpus_count: [8]\nbandwidth: [50.0]\nlatency: [500.0]\n", kind)
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		n := network(t, fmt.Sprintf("{kind: file, file: %q}", file), link400, roce)
		j := job(t, everyone(t, 8, graph.AllReduce, "ring", 8<<19), n, 1)
		j.Ideal = true
		res := finished(t, j)
		if got, want := res.Clock.PS(res.Makespan), 14*hops*(500_000+9_765_625); got != want {
			t.Errorf("%s: %d, want %d", kind, got, want)
		}
	}
}
