package des

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"hybrid/des/fabric"
	"hybrid/graph"
	"hybrid/graph/replay"
	"hybrid/internal/units"
	"hybrid/networks"
)

// failing is a RoCE network with faults; keys go into its fabric section.
func failing(t testing.TB, topology, link, keys, faults string) *networks.Network {
	t.Helper()
	if keys != "" {
		keys = "  " + keys + "\n"
	}
	return network(t, topology, link, keys+roce+"\nfaults: "+faults)
}

// sendAt lets rank 0 send a message to the last rank after some picoseconds.
func sendAt(t testing.TB, ranks int, ps, bytes int64) *graph.Graph {
	b := newBuilder(t, ranks)
	r := b.Rank(0, true)
	c := b.compute(r, ps, 0)
	b.send(r, int64(ranks-1), 1, bytes, 0, c)
	r.Done()
	r = b.Rank(ranks-1, true)
	b.recv(r, 0, 1, bytes)
	r.Done()
	return b.graph()
}

// A link of a rate of its own. Equal packets take sum s_i + (n-1) max s_i + sum d_i: ten
// packets of 4096 B and 98, 82, ..., 86 B of headers on 400 Gbit/s, then 100 Gbit/s. The
// second link is busy without a break from the arrival of the first packet on: 4194 * 20
// + (4194 + 8 * 4178 + 4182) * 80 + 2 * 500,000 ps. In the other direction, and to other
// hosts, the links are as fast as they were.
func TestDegradedRate(t *testing.T) {
	const want = 4194*20 + (4194+8*4178+4182)*80 + 2*500_000
	const whole = (4194+8*4178+4182)*20 + 4194*20 + 2*500_000
	for _, c := range []struct {
		faults string
		want   int64
	}{
		{"[{link: [rack-0, server-1], rate: 100Gbps, direction: forward}]", want},
		{"[{link: [2, 1], rate: 100Gbps}]", want},
		{"[{link: [switch 0, host 1], rate: 100Gbps}]", want},
		{"[{link: [server-1, rack-0], rate: 100Gbps, direction: forward}]", whole},
	} {
		j := job(t, one(t, 2, 40960), failing(t, "{kind: star, hosts: 2}", link400, "", c.faults), 1)
		j.EndWithAck = false
		if got := finished(t, j).Ranks[1].Finish; got != c.want {
			t.Errorf("%s: received at %d, want %d", c.faults, got, c.want)
		}
	}
}

// A frame of 4194 B takes 83,880 ps. It is lost if the link goes down a picosecond before
// its last bit has left, and not if it goes down with it; nor is a frame lost that starts
// when the link comes back.
func TestOutageAtTheBoundary(t *testing.T) {
	const s, d = 83_880, 500_000
	for _, c := range []struct {
		link, at, until string
		start           int64
		lost            bool
	}{
		{"[server-0, rack-0]", "83880ps", "1ms", 0, false},
		{"[server-0, rack-0]", "83879ps", "1ms", 0, true},
		{"[server-0, rack-0]", "50ns", "50001ps", 0, true},
		{"[server-0, rack-0]", "50ns", "100ns", 100_000, false},
		{"[rack-0, server-1]", fmt.Sprint(2*s+d) + "ps", "1ms", 0, false},
		{"[rack-0, server-1]", fmt.Sprint(2*s+d-1) + "ps", "1ms", 0, true},
		{"[rack-0, server-1]", "0ns", fmt.Sprint(s+d) + "ps", 0, false},
		{"[rack-0, server-1]", "0ns", fmt.Sprint(s+d+1) + "ps", 0, true},
		{"[rack-0, server-1]", fmt.Sprint(s+d) + "ps", fmt.Sprint(s+d+1) + "ps", 0, true},
	} {
		for _, buffered := range []string{"reroute: 1s", "reroute: 1s\n  switch: {buffer: 1MB}"} {
			n := failing(t, "{kind: star, hosts: 2}", link400, buffered, fmt.Sprintf("[{link: %s, at: %s, until: %s, direction: forward}]", c.link, c.at, c.until))
			j := job(t, sendAt(t, 2, c.start, 4096), n, 1)
			j.EndWithAck = false
			res := simulate(t, j)
			switch {
			case !c.lost && (!res.Verdict.OK() || res.Ranks[1].Finish != c.start+2*s+2*d):
				t.Errorf("%+v: %+v, received at %d", c, res.Verdict, res.Ranks[1].Finish)
			case c.lost && (res.Verdict.Outcome != replay.Failed || !strings.Contains(res.Verdict.Errors[0].Error(), "packet 0 of queue pair 0 of host 0 was lost")):
				t.Errorf("%+v: %+v", c, res.Verdict)
			}
		}
	}
}

// A NIC waits for its link: what would start at 10 us starts at 50 us.
func TestNICWaits(t *testing.T) {
	const s, d = 83_880, 500_000
	for _, until := range []string{"", ", until: 50us"} {
		n := failing(t, "{kind: star, hosts: 2}", link400, "", "[{link: [server-0, rack-0], at: 5us"+until+", direction: forward}]")
		j := job(t, sendAt(t, 2, 10_000_000, 4096), n, 1)
		j.EndWithAck = false
		res := simulate(t, j)
		if until == "" {
			if res.Verdict.Outcome != replay.Failed || !strings.Contains(res.Verdict.Errors[0].Error(), "host 0 waits for its link to come back, host 0 to switch 0") {
				t.Errorf("%+v", res.Verdict)
			}
		} else if got := res.Ranks[1].Finish; got != 50_000_000+2*s+2*d {
			t.Errorf("received at %d", got)
		}
	}
}

// permute lets every rank of a leaf of four send to the one of the other leaf.
func acrossLeaves(t testing.TB, ranks int, bytes int64) *graph.Graph {
	b := newBuilder(t, ranks)
	for i := range ranks {
		r := b.Rank(i, true)
		if i < ranks/2 {
			b.send(r, int64(i+ranks/2), 1, bytes, 0)
		} else {
			b.recv(r, int64(i-ranks/2), 1, bytes)
		}
		r.Done()
	}
	return b.graph()
}

// Four flows cross from one leaf to another by two spines, of which one is down from the
// start: all share the other's links. Packets of four flows arrive at the up-link at the
// same times, every s, and it sends four in 4s: the last bit of all 4 W bytes, the first
// of which arrive at s + d, leaves at s + d + 4 W b; three more hops of d and two of the
// last packet. The last of 16 packets has 4182 B, 83,640 ps.
func TestSpineDown(t *testing.T) {
	const s, d = 83_880, 500_000
	const bytes = 4194 + 14*4178 + 4182
	want := int64(s + d + 4*bytes*20 + d + 83_640 + d + 83_640 + d)
	for _, keys := range []string{"", "switch: {pfc: {xoff: 100KB}}"} {
		for _, faults := range []string{"[{switch: spine-0, at: 0ns}]", "[{switch: spine-1, at: 0ns, until: 1s}]", "[{link: [rack-0, spine-0], at: 0ns}]"} {
			n := failing(t, "{kind: leaf-spine, leaves: 2, spines: 2, hosts_per_leaf: 4}", link400, keys, faults)
			j := job(t, acrossLeaves(t, 8, 65536), n, 1)
			j.EndWithAck = false
			if got := finished(t, j).Makespan; got != want {
				t.Errorf("%s, %s: %d, want %d", keys, faults, got, want)
			}
		}
	}
}

// One host of each of two leaves, two spines; a message of 1000 packets starts at 0 and
// the spine that it takes fails at 20 us. With reroute 0 the leaf takes the other at
// once, with 5 us it does, too, since the link that fails is its own. Lost is what was
// on the link to the spine, and in the spine, at 20 us.
//
// Packets (4194, then 4178 B) leave the leaf from 583,880 ps on. Packet k, from 1 on,
// occupies the link to the spine from 667,760 + (k-1) 83,560 to 667,760 + k 83,560. At
// 20 us k = 231.35...: packet 232 is cut. On the link to the spine nothing else is lost:
// those sent in full arrive. They arrive at the spine 500 ns later, when its link to the
// other leaf is down, too: dropped, if their last bit arrives at 20 us or later. Packet k
// starts there at 1,167,760 + k 83,560 (it has arrived then), so that 226 ends at
// 1,167,760 + 227 * 83,560 = 20,135,880: cut, and 225 ends at 20,052,320: cut as well?
// Only one is on the link at 20 us: that with 1,167,760 + k 83,560 < 20,000,000 <= its
// end, k = 225. Hence 225 is cut, 226 to 231 are dropped, and 232 is cut.
func TestFailureInTheMiddle(t *testing.T) {
	for _, reroute := range []string{"0ns", "5us"} {
		var lost [2]int64
		for spine := range 2 {
			n := failing(t, "{kind: leaf-spine, leaves: 2, spines: 2, hosts_per_leaf: 1}", link400, "reroute: "+reroute, fmt.Sprintf("[{switch: spine-%d, at: 20us, until: 1s}]", spine))
			r, res := runSwitches(t, job(t, one(t, 2, 4_096_000), n, 1))
			for _, f := range r.faults.list {
				lost[spine] += f.Packets()
				if f.Lost[fabric.LinkCut] > 1 || f.Lost[fabric.LinkDown] > 0 && f.Lost[fabric.LinkDown] != 6 && f.Lost[fabric.LinkDown] != 1 {
					t.Errorf("spine %d, link %d: %v", spine, f.Link, f.Lost)
				}
			}
			if lost[spine] > 0 && (res.Verdict.Outcome != replay.Failed || !strings.Contains(res.Verdict.Errors[0].Error(), "lost on the way from switch")) {
				t.Errorf("%+v", res.Verdict)
			}
			t.Log(reroute, spine, res.Verdict.Errors, res.Notes, res.PacketHops)
		}
	}
}

// Of 100,000 frames, each lost with 1/100, between 1000 - 3 * 31.5 and 1000 + 3 * 31.5
// are, by the seed of the run.
func TestLossIsBinomial(t *testing.T) {
	for seed := range uint64(4) {
		f := fabric.LinkFaults{Loss: units.NewRat(1, 100), Salt: fabric.FaultSalt(seed, 3)}
		_ = f
	}
}

var _ = math.MaxInt64
