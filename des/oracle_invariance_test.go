package des

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"hybrid/graph"
)

// What the ranks hand over is what arrives, and every packet of it once on every link of
// its way: with h links, h packet-hops a packet, acknowledgements included.
func TestNothingIsLostOrTwice(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 11))
		ranks := 2 + r.IntN(15)
		g := permutation(t, ranks, 1+r.Int64N(100_000))
		j := job(t, g, switched(t, "star", link400, "pfc: {xoff: 9KB, xon: 4KB}, ecn: {kmin: 4KB}"), 1)
		run, res := runSwitches(t, j)
		var posted, delivered int64
		for _, n := range run.nics {
			posted, delivered = posted+n.Posted, delivered+n.Delivered
		}
		if posted != delivered || res.MessageBytes != delivered || run.kernel.InFlight() != 0 || run.buffered[0].Stored() != 0 || res.PacketHops != 2*res.Packets {
			t.Errorf("case %d: %d B posted, %d delivered, %d in messages; %d packets, %d hops", seed, posted, delivered, res.MessageBytes, res.Packets, res.PacketHops)
		}
	}
}

// Hosts that change places so that the network stays the same change the result only in
// that way: on a star any hosts, in a leaf-spine with one spine leaves and the hosts of a
// leaf. (Where paths are chosen by hash, or frames arrive together, numbers of hosts have a
// part in the result; here sizes and starts are such that they do not.)
func TestSameNetworkOtherNumbers(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 12))
		topology, place := "star", r.Perm(12)
		if seed%2 == 1 {
			topology = "{kind: leaf-spine, leaves: 4, spines: 1, hosts_per_leaf: 3}"
			place = nil
			for _, leaf := range r.Perm(4) {
				for _, host := range r.Perm(3) {
					place = append(place, 3*leaf+host)
				}
			}
		}
		type message struct{ src, dst, bytes, start int64 }
		var all []message
		for range 30 {
			x := message{r.Int64N(12), r.Int64N(12), 1 + r.Int64N(60_000), r.Int64N(20_000_000)}
			if x.src != x.dst {
				all = append(all, x)
			}
		}
		run := func(at func(int64) int64) []int64 {
			b := newBuilder(t, 12)
			ranks := make([]*graph.RankBuilder, 12)
			for i := range ranks {
				ranks[i] = b.Rank(i, true)
			}
			for tag, x := range all {
				src, dst := ranks[at(x.src)], ranks[at(x.dst)]
				b.send(src, at(x.dst), int64(tag), x.bytes, 0, b.compute(src, x.start, 0))
				b.recv(dst, at(x.src), int64(tag), x.bytes)
			}
			for _, r := range ranks {
				r.Done()
			}
			j := job(t, b.graph(), switched(t, topology, "{rate: 100Gbps, delay: 777777ps}", "pfc: {xoff: 30KB, xon: 20KB}"), 1)
			j.Family = "collected"
			return finishes(finished(t, j))
		}
		want, got := run(func(i int64) int64 { return i }), run(func(i int64) int64 { return int64(place[i]) })
		for i := range want {
			if got[place[i]] != want[i] {
				t.Fatalf("case %d: host %d ends at %d, as host %d at %d", seed, i, want[i], place[i], got[place[i]])
			}
		}
	}
}

// Everything takes half the time with twice the rates and half the delays, and also with
// half of all sizes and half the delays at the same rates; with both, sizes take a quarter.
// Pauses are counted in bits and thresholds in bytes, so that they change likewise.
func TestHalfTheTime(t *testing.T) {
	run := func(link string, half int64) []int64 {
		keys := fmt.Sprintf("latency: 0ns, buffer: %dB, headroom: %dB, classes: [{share: 3}, {share: 1}], pfc: {xoff: %dB, xon: %dB, frame: %dB, quanta: %d}", 1_600_000/half, 80_000/half, 20_000/half, 10_000/half, 84/half, 65_534/half)
		n := network(t, "{kind: leaf-spine, leaves: 4, spines: 2, hosts_per_leaf: 4}", link, fmt.Sprintf("  switch: {%s}\n  wire: {preset: none, first: %dB, middle: %dB, last: %dB, only: %dB, ack: %dB}\n  mtu: %dB\nnic: {transport: roce}",
			keys, 98/half, 82/half, 82/half, 98/half, 86/half, 4096/half))
		b := newBuilder(t, 16)
		for i := range 16 {
			r := b.Rank(i, true)
			for to := range int64(16) {
				if to%5 == int64(i)%3 && to != int64(i) {
					b.send(r, to, int64(i), 200_000/half, 0)
				}
				if int64(i)%5 == to%3 && to != int64(i) {
					b.recv(r, to, to, 200_000/half)
				}
			}
			r.Done()
		}
		run, res := runSwitches(t, job(t, b.graph(), n, 1))
		if !res.Verdict.OK() {
			t.Fatal(res.Verdict)
		}
		pauses := int64(0)
		for _, s := range run.buffered {
			pauses += s.Tally.Pauses
		}
		if pauses == 0 {
			t.Error("no pauses")
		}
		return finishes(res)
	}
	slow, fast, small := run("{rate: 200Gbps, delay: 1us}", 1), run("{rate: 400Gbps, delay: 500ns}", 1), run("{rate: 200Gbps, delay: 500ns}", 2)
	for i := range slow {
		if slow[i] != 2*fast[i] || slow[i] != 2*small[i] {
			t.Errorf("rank %d ends at %d, twice as fast at %d, half as large at %d", i, slow[i], fast[i], small[i])
		}
	}
}
