package des

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// A class of 100 Gbit/s on links of 400 Gbit/s: a packet starts at the switch no sooner than
// the one before takes at 80 ps a byte. The first is there after 4,194 * 20 ps + 500 ns; 254
// of 4,178 B follow at that pace, and the last starts behind them. Acknowledgements, of
// another class, are not held up.
func TestRateOfClass(t *testing.T) {
	j := job(t, one(t, 2, 1<<20), switched(t, "star", link400, "classes: [{rate: 100Gbps}, {}]"), 1)
	const recv = 4194*20 + 500_000 + (4194+254*4178)*80 + 4178*20 + 500_000
	if got, want := finished(t, j).Makespan, int64(recv+2*(86*20+500_000)); got != want {
		t.Errorf("%d, want %d", got, want)
	}
	j.EndWithAck = false
	if got := finished(t, j).Ranks[1].Finish; got != recv {
		t.Errorf("received at %d, want %d", got, recv)
	}
	// While it cuts through: 64 B of the first are there after 64 * 20 ps + 500 ns.
	j = job(t, one(t, 2, 1<<20), cutting(t, "star", link400, ", classes: [{rate: 100Gbps}, {}]").Network, 1)
	j.EndWithAck = false
	if got, want := finished(t, j).Ranks[1].Finish, int64(recv-(4194-64)*20); got != want {
		t.Errorf("cutting through: %d, want %d", got, want)
	}
}

// A rate that is no less than the link's changes nothing, nor does one that has no common
// tick with it.
func TestRateOfClassAboveLink(t *testing.T) {
	for _, rate := range []string{"400Gbps", "900GB/s"} {
		j := job(t, permutation(t, 16, 100_000), switched(t, "{kind: fat-tree, k: 4}", link400, "classes: [{rate: "+rate+"}, {}]"), 1)
		k := job(t, permutation(t, 16, 100_000), switched(t, "{kind: fat-tree, k: 4}", link400, "classes: [{}, {}]"), 1)
		got, want := finished(t, j), finished(t, k)
		if got.Clock.PS(got.Makespan) != want.Makespan || got.PacketHops != want.PacketHops {
			t.Errorf("%s: %d, want %d", rate, got.Clock.PS(got.Makespan), want.Makespan)
		}
	}
}

// withRates gives some of the classes of a switch a rate.
func withRates(r *rand.Rand, keys string) string {
	parts := strings.Split(keys, "{share")
	for i := range parts[1:] {
		if r.IntN(2) == 0 {
			parts[i] += fmt.Sprintf("{rate: %s, share", pick(r, "100Gbps", "50Gbps", "10Gbps", "33GB/s"))
		} else {
			parts[i] += "{share"
		}
	}
	return strings.Join(parts, "")
}

// randomRatedClasses is a random job whose classes have rates in most cases, with and without
// cut-through.
func randomRatedClasses(t *testing.T, seed uint64) (Job, string) {
	r := rand.New(rand.NewPCG(seed, 12))
	keys := withRates(r, randomSwitch(r))
	topology := pick(r, "star", "{kind: leaf-spine, leaves: 4, spines: 2, hosts_per_leaf: 3, uplink: {rate: 100Gbps, delay: 70ns}}", "{kind: fat-tree, k: 4}")
	link := fmt.Sprintf("{rate: %s, delay: %s}", pick(r, "400Gbps", "100Gbps", "106.25Gbps"), pick(r, "100ns", "500ns", "0ns"))
	more := fmt.Sprintf("  switch: {latency: %s, forwarding: %s, %s}\n  wire: %s\n  mtu: %s\nnic: {transport: roce, ack_every: %d}", pick(r, "0ns", "300ns"),
		pick(r, "cut-through", "store-and-forward"), keys, pick(r, "rocev2", "none", "{preset: rocev2, ack: 0B}"), pick(r, "4096B", "256B"), pick(r, 1, 2, 16))
	j := job(t, randomGraph(t, r, 2+r.IntN(11)), network(t, topology, link, more), 1+r.IntN(3))
	j.Seed = r.Uint64()
	if text := topology + " " + link + "\n" + more; fits(t, j, text) {
		return j, text
	}
	return randomRatedClasses(t, seed+1_000_000)
}

// The engine and the reference agree where classes have rates, with and without cut-through,
// and nothing depends on how the run is done.
func TestRatesOfClassesAgreeWithReference(t *testing.T) {
	held := 0
	agreeing(t, cases(200), func(t *testing.T, seed uint64) (Job, string) {
		j, text := randomRatedClasses(t, seed)
		if strings.Contains(text, ", share") { // behind a rate
			held++
		}
		return j, text
	})
	sameHoweverRun(t, cases(50), randomRatedClasses)
	if held < int(cases(80)) {
		t.Errorf("too few cases with rates: %d", held)
	}
}

// A queue pair of 100 Gbit/s on links of 400 Gbit/s: the last of 256 packets starts 4,194 +
// 254 * 4,178 B at 80 ps each behind the first.
func TestRateOfQueuePair(t *testing.T) {
	n := network(t, "star", link400, "  wire: rocev2\n  mtu: 4096B\nnic: {transport: roce, rate: 100Gbps}")
	j := job(t, one(t, 2, 1<<20), n, 1)
	j.EndWithAck = false
	const want = (4194+254*4178)*80 + 2*(4178*20+500_000)
	if got := finished(t, j).Ranks[1].Finish; got != want {
		t.Errorf("received at %d, want %d", got, want)
	}
}

// randomRatedPairs is a random job whose queue pairs have a rate, with and without a packet
// memory.
func randomRatedPairs(t *testing.T, seed uint64) (Job, string) {
	r := rand.New(rand.NewPCG(seed, 13))
	keys := "latency: " + pick(r, "0ns", "300ns")
	if r.IntN(2) == 0 {
		keys += ", forwarding: " + pick(r, "cut-through", "store-and-forward") + ", " + withRates(r, randomSwitch(r))
	}
	topology := pick(r, "star", "direct", "{kind: multi-plane, planes: 3, plane: {kind: leaf-spine, leaves: 3, spines: 2, hosts_per_leaf: 4}}", "{kind: torus, sizes: [4, 3]}", "{kind: fat-tree, k: 4}")
	link := fmt.Sprintf("{rate: %s, delay: %s}", pick(r, "400Gbps", "100Gbps", "106.25Gbps"), pick(r, "100ns", "500ns", "0ns"))
	more := fmt.Sprintf("  switch: {%s}\n  wire: %s\n  mtu: %s\nnic: {transport: roce, ack_every: %d, rate: %s}", keys, pick(r, "rocev2", "none", "{preset: rocev2, ack: 0B}"),
		pick(r, "4096B", "256B"), pick(r, 1, 2, 16), pick(r, "100Gbps", "25Gbps", "400Gbps", "10GB/s", "106.25Gbps"))
	j := job(t, randomGraph(t, r, 2+r.IntN(11)), network(t, topology, link, more), 1+r.IntN(3))
	j.Seed = r.Uint64()
	j.EndWithAck = r.IntN(2) == 0
	if r.IntN(4) == 0 {
		randomScaleUp(r, &j)
	}
	if text := topology + " " + link + "\n" + more; fits(t, j, text) {
		return j, text
	}
	return randomRatedPairs(t, seed+1_000_000)
}

// The engine and the reference agree where queue pairs have rates, and nothing depends on
// how the run is done.
func TestRatesOfQueuePairsAgreeWithReference(t *testing.T) {
	agreeing(t, cases(200), randomRatedPairs)
	sameHoweverRun(t, cases(50), randomRatedPairs)
}
