package des

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hybrid/graph/replay"
)

// randomSwitch makes the keys of a switch with a packet memory, with thresholds of a few
// packets.
func randomSwitch(r *rand.Rand) string {
	var keys []string
	add := func(format string, args ...any) { keys = append(keys, fmt.Sprintf(format, args...)) }
	classes := 1 + r.IntN(3)
	var list []string
	for range classes {
		list = append(list, fmt.Sprintf("{share: %d, weight: %d}", 1+r.IntN(3), 1+r.IntN(3)))
	}
	add("classes: [%s]", strings.Join(list, ", "))
	add("schedule: %s", pick(r, "strict", "round-robin", "weighted"))
	if r.IntN(3) > 0 {
		add("charge: {less: 18B, least: %dB}", pick(r, 0, 46))
	}
	if r.IntN(4) > 0 {
		add("buffer: %dB", pick(r, 12_000, 40_000, 300_000, 5_000_000))
		if r.IntN(2) == 0 {
			add("headroom: %dB", pick(r, 0, 5000, 10_000))
		}
	}
	of := "[0]"
	if classes > 1 {
		of = pick(r, "[0]", "[0, 1]", "[1]")
	}
	trim := r.IntN(4) == 0
	if !trim && r.IntN(4) > 0 {
		var p []string
		if r.IntN(2) == 0 {
			xoff := pick(r, 0, 1000, 4000, 9000, 30_000)
			p = append(p, fmt.Sprintf("xoff: %dB, xon: %dB", xoff, r.IntN(xoff+1)))
		}
		if len(p) == 0 || r.IntN(3) == 0 {
			p = append(p, "alpha: "+pick(r, "0.125", "0.5", "0.01"))
		}
		add("pfc: {%s, classes: %s, gap: %dB, frame: %dB, quanta: %d}", strings.Join(p, ", "), of, pick(r, 0, 0, 3000), pick(r, 84, 64), pick(r, 65535, 65535, 200, 64))
	}
	if trim || r.IntN(2) == 0 {
		add("queue: {%s}", pick(r, "limit: 9000B", "limit: 40KB", "alpha: 1", "alpha: 0.1", "limit: 20KB, alpha: 0.5"))
	}
	if r.IntN(2) == 0 {
		kmin := pick(r, 0, 1000, 5000)
		add("ecn: {kmin: %dB, kmax: %dB, pmax: %s, average: %s, at: %s, classes: %s}", kmin, kmin+pick(r, 0, 4000, 20_000), pick(r, "1", "0.3", "0.123456789012"), pick(r, "0", "0.1", "1"), pick(r, "enqueue", "dequeue"), of)
	}
	if trim {
		add("trim: {size: 64B, class: %d}", r.IntN(classes))
	}
	return strings.Join(keys, ", ")
}

// randomSwitchJob is a random job on RoCE whose switches have a packet memory.
func randomSwitchJob(t *testing.T, seed uint64) (Job, string) {
	r := rand.New(rand.NewPCG(seed, 99))
	topology := pick(r, "star", "{kind: leaf-spine, leaves: 4, spines: 2, hosts_per_leaf: 3}",
		"{kind: leaf-spine, leaves: 3, spines: 1, hosts_per_leaf: 4, uplink: {rate: 100Gbps, delay: 70ns}}", "{kind: fat-tree, k: 4}")
	link := fmt.Sprintf("{rate: %s, delay: %s}", pick(r, "400Gbps", "400Gbps", "10Gbps", "106.25Gbps", "900GB/s"), pick(r, "100ns", "500ns", "1us", "1ps", "0ns"))
	keys := randomSwitch(r)
	more := fmt.Sprintf("  switch: {latency: %s, %s}\n  wire: %s\n  mtu: %s\nnic: {transport: roce, ack_every: %d}", pick(r, "0ns", "0ns", "300ns"), keys,
		pick(r, "rocev2", "none", "{preset: rocev2, ack: 0B}", "htsim"), pick(r, "4096B", "256B", "1024B"), pick(r, 1, 2, 16))
	j := job(t, randomGraph(t, r, 2+r.IntN(11)), network(t, topology, link, more), 1+r.IntN(3))
	j.Seed = r.Uint64()
	j.EndWithAck = r.IntN(2) == 0
	if fits(t, j, keys) {
		return j, keys
	}
	return randomSwitchJob(t, seed+1_000_000)
}

// runSwitches simulates and returns the run with its switches.
func runSwitches(t *testing.T, j Job) (*run, *replay.Result) {
	t.Helper()
	r, res, err := simulateRun(context.Background(), &j)
	if err != nil {
		t.Fatal(err)
	}
	return r, res
}

// A switch with a packet memory that nothing fills does what one without does.
func TestUnlimitedMemoryChangesNothing(t *testing.T) {
	for seed := range uint64(100) {
		j, _ := randomSwitchJob(t, seed)
		plain, empty := *j.Network, *j.Network
		section := *j.Network.Fabric.Switch.Section
		section.Items = nil
		plain.Fabric.Switch.Section, plain.Fabric.Switch.Buffer = &section, nil
		large := int64(1) << 50
		empty.Fabric.Switch.Section, empty.Fabric.Switch.Buffer = &section, &large
		j.Network = &plain
		want := simulate(t, j)
		j.Network = &empty
		r2, got := runSwitches(t, j)
		if len(r2.buffered) == 0 {
			t.Fatal("no packet memory")
		}
		if got.Digest != want.Digest || got.PacketHops != want.PacketHops || !cmp.Equal(finishes(got), finishes(want)) {
			t.Fatalf("case %d: %x and %d packet-hops, want %x and %d", seed, got.Digest, got.PacketHops, want.Digest, want.PacketHops)
		}
	}
}

// A recorder changes nothing in a run with bounded buffers, and sees the same however the
// run is run.
func TestRecordingOfSwitches(t *testing.T) {
	dropped := int64(0)
	for seed := range uint64(60) {
		j, keys := randomSwitchJob(t, seed)
		want, _ := recordedSame(t, j, fmt.Sprintf("case %d: %s", seed, keys))
		r, _ := runSwitches(t, j)
		lost := int64(0)
		for _, s := range r.buffered {
			lost += s.Tally.Drops
		}
		told := int64(0)
		for _, l := range want.last {
			told += l.TxDrops
		}
		if told != lost {
			t.Fatalf("case %d: %d packets dropped, %d in the counters of links: %s", seed, lost, told, keys)
		}
		dropped += lost
	}
	if dropped == 0 {
		t.Error("no case drops a packet")
	}
}

// The same on a fabric with many paths, where pauses spread.
func TestSamePausesHoweverRun(t *testing.T) {
	j := job(t, permutation(t, 128, 200_000), switched(t, "{kind: fat-tree, k: 8}", "{rate: 400Gbps, delay: 1us}", tight), 1)
	r, want := runSwitches(t, j)
	pauses := int64(0)
	for _, s := range r.buffered {
		pauses += s.Tally.Pauses
	}
	if !want.Verdict.OK() || pauses < 100 {
		t.Fatalf("%+v, %d pauses", want.Verdict, pauses)
	}
	sameInThreads(t, j, want, 1, 2, 3, 7)
}

// A pause is so many bit times: where a bit takes none, pauses would have no length and be
// repeated without end.
func TestPausesNeedTime(t *testing.T) {
	j := job(t, one(t, 2, 1), switched(t, "star", link400, "pfc: {xoff: 9KB}"), 1)
	j.Topology = newPath([3]int64{0, 20, 20}, 500_000)
	if _, err := Run(context.Background(), j); err == nil || !strings.Contains(err.Error(), "pauses have no length on the link from server-0 to rack-0") {
		t.Errorf("error %v", err)
	}
}
