package des

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hybrid/des/fabric"
	"hybrid/graph"
	"hybrid/graph/replay"
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
// packets of 4096 B and 98, 82, ..., 82 B of headers on 400 Gbit/s, then 100 Gbit/s. The
// second link is busy without a break from the arrival of the first packet on: 4194 * 20
// + (4194 + 9 * 4178) * 80 + 2 * 500,000 ps. The other direction is as fast as it was.
func TestDegradedRate(t *testing.T) {
	const want = 4194*20 + (4194+9*4178)*80 + 2*500_000
	const whole = (4194+9*4178)*20 + 4194*20 + 2*500_000
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
			if c.at == "0ns" { // known from the start, and the end at once
				buffered = strings.Replace(buffered, "1s", "0ns", 1)
			}
			n := failing(t, "{kind: star, hosts: 2}", link400, buffered, fmt.Sprintf("[{link: %s, at: %s, until: %s, direction: forward}]", c.link, c.at, c.until))
			j := job(t, sendAt(t, 2, c.start, 4096), n, 1)
			j.EndWithAck = false
			res := simulate(t, j)
			switch {
			case !c.lost && (!res.Verdict.OK() || res.Ranks[1].Finish != c.start+2*s+2*d):
				t.Errorf("%+v: %+v, received at %d", c, res.Verdict, res.Ranks[1].Finish)
			case c.lost && (res.Verdict.Outcome != replay.Failed || !strings.Contains(res.Verdict.Errors[0].Error(), "packet 0 of queue pair 0 of server-0 was ")):
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
			if res.Verdict.Outcome != replay.Failed || !strings.Contains(res.Verdict.Errors[0].Error(), "server-0 waits for its link to come back, server-0 to rack-0") {
				t.Errorf("%+v", res.Verdict)
			}
		} else if got := res.Ranks[1].Finish; got != 50_000_000+2*s+2*d {
			t.Errorf("received at %d", got)
		}
	}
}

// acrossLeaves lets every rank of the first half send to the one of the other half.
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
// of which arrive at s + d, leaves at s + d + 4 W b. The spine sends the first d + s after it
// has begun to arrive, and is as busy: the last bit leaves d + s later. A hop more of the
// last packet, which has 4178 B, 83,560 ps, and two of d.
func TestSpineDown(t *testing.T) {
	const s, d = 83_880, 500_000
	const bytes = 4194 + 15*4178
	want := int64(s + d + 4*bytes*20 + d + s + d + 83_560 + d)
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

// taken says over which of two spines a flow of one host to another goes.
func taken(t *testing.T, reroute string, g *graph.Graph) (spine int) {
	t.Helper()
	const leafSpine = "{kind: leaf-spine, leaves: 2, spines: 2, hosts_per_leaf: 1}"
	for i := range 2 {
		n := failing(t, leafSpine, link400, "reroute: "+reroute, fmt.Sprintf("[{link: [rack-0, spine-%d], loss: 1, direction: forward}]", i))
		if res := simulate(t, job(t, g, n, 1)); !res.Verdict.OK() {
			return i
		}
	}
	t.Fatal("the flow takes neither of two spines")
	return 0
}

// A message of 1000 packets crosses from one leaf to another, and the spine that it takes
// fails at 20 us. The first packet has 4194 B, the others 4178 B; packet k, from 0 on,
// is on the leaf's link to the spine from 583,880 + 320 + k 83,560 ps, k > 0, on, and on
// the spine's link to the other leaf 583,560 ps later. At 20 us
//
//	20,000,000 - 584,200 = 232.36 * 83,560: packet 232 is on the leaf's link,
//	20,000,000 - 1,167,760 = 225.37 * 83,560: packet 225 is on the spine's.
//
// Both are cut. Packets 226 to 231 arrive at the spine when its links are down: they are
// dropped, while switches do not know because the link is down, else because no way leads
// on. Packet 233 is the first that takes the other spine, at once even if others are told
// late: the link that fails is the leaf's own.
func TestFailureInTheMiddle(t *testing.T) {
	g := one(t, 2, 4_096_000)
	for reroute, why := range map[string]fabric.Reason{"0ns": fabric.NoWay, "5us": fabric.LinkDown} {
		spine := taken(t, reroute, g)
		n := failing(t, "{kind: leaf-spine, leaves: 2, spines: 2, hosts_per_leaf: 1}", link400, "reroute: "+reroute, fmt.Sprintf("[{switch: spine-%d, at: 20us}]", spine))
		r, res := runSwitches(t, job(t, g, n, 1))
		want := map[string]int64{"cut": 2, "no way": 6}
		if why == fabric.LinkDown {
			want = map[string]int64{"cut": 2, "down": 6}
		}
		if diff := cmp.Diff(want, lostBy(r)); diff != "" {
			t.Errorf("reroute %s (-want +got): %s", reroute, diff)
		}
		text := fmt.Sprintf("packet 225 of queue pair 0 of server-0 was lost on the way from spine-%d to rack-1: the link went down meanwhile", spine)
		if v := res.Verdict; v.Outcome != replay.Failed || !strings.Contains(v.Errors[0].Error(), text) {
			t.Errorf("%+v", v)
		}
		if got := r.nics[1].Discarded; got != 1000-233 {
			t.Errorf("%d packets arrive behind the lost ones, want those from 233 on", got)
		}
	}
}

// A link elsewhere fails, from the spine to the other leaf. Packet 225 is cut. With reroute 0
// those that arrive at the spine later go back to the leaf and over the other spine, which
// is the shortest way there is. With 5 us they are dropped until then: those from 226 to
// 285, which arrives at the spine at 1,167,760 + 285 * 83,560 ps.
func TestLateReroute(t *testing.T) {
	g := one(t, 2, 4_096_000)
	for reroute, last := range map[string]int64{"0ns": 225, "5us": 285} {
		spine := taken(t, reroute, g)
		n := failing(t, "{kind: leaf-spine, leaves: 2, spines: 2, hosts_per_leaf: 1}", link400, "reroute: "+reroute, fmt.Sprintf("[{link: [spine-%d, rack-1], at: 20us, direction: forward}]", spine))
		r, _ := runSwitches(t, job(t, g, n, 1))
		lost := lostBy(r)
		if got := lost["cut"] + lost["down"] + lost["no way"]; lost["cut"] != 1 || got != last-225+1 || r.nics[1].Discarded != 1000-1-last {
			t.Errorf("reroute %s: %v, %d behind; want packets 225 to %d lost", reroute, lost, r.nics[1].Discarded, last)
		}
	}
}

// A message that starts when the link is back, and that is known, takes it again; one in
// between takes the other way. Both are as fast.
func TestRecovery(t *testing.T) {
	g := one(t, 2, 4096)
	spine := taken(t, "5us", g)
	const alone = 4*83_880 + 4*500_000
	for start, want := range map[int64]int64{3_000_000: 0, 12_000_000: 0, 26_000_000: 1} {
		n := failing(t, "{kind: leaf-spine, leaves: 2, spines: 2, hosts_per_leaf: 1}", link400, "reroute: 5us",
			fmt.Sprintf("[{switch: spine-%d, at: 2us, until: 20us}, {link: [rack-0, spine-%d], rate: 200Gbps, direction: forward}]", spine, spine))
		j := job(t, sendAt(t, 2, start, 4096), n, 1)
		j.EndWithAck = false
		if got := finished(t, j).Ranks[1].Finish; got != start+alone+want*83_880 {
			t.Errorf("start at %d: received after %d, want %d", start, got-start, alone+want*83_880)
		}
	}
}

// A NIC with a port in each of four planes, one of which is down: queue pairs and
// acknowledgements take the others, even if the port is up and the far end's is down.
func TestPlaneDown(t *testing.T) {
	for _, faults := range []string{"[{switch: rack-2, at: 0ns}]", "[{link: [server-0, rack-2], at: 0ns}]", "[{link: [server-9, rack-2], at: 0ns}]"} {
		b := newBuilder(t, 20)
		for i := range 20 {
			r := b.Rank(i, true)
			if i < 10 {
				b.send(r, int64(i+10), 1, 50_000, 0)
			} else {
				b.recv(r, int64(i-10), 1, 50_000)
			}
			r.Done()
		}
		n := failing(t, "{kind: multi-plane, planes: 4, plane: {kind: star}}", link400, "", faults)
		r, res := runSwitches(t, job(t, b.graph(), n, 2))
		if !res.Verdict.OK() || len(lostBy(r)) > 0 {
			t.Errorf("%s: %+v, lost %v", faults, res.Verdict, lostBy(r))
		}
	}
}

// Of 100,000 packets on a lossy link each is lost with 1 %: 1000, give or take three
// times the square root of 100,000 * 0.01 * 0.99. Packets of 98 B and bit errors of
// 1e-5 are lost with 1 - (1 - 1e-5)^784 = 0.78093 %: 780.93, give or take 3 * 27.84.
func TestLossIsBinomial(t *testing.T) {
	for _, c := range []struct {
		key         string
		least, most int64
		why         string
	}{{"loss: 0.01", 906, 1094, "loss"}, {"bit_error_rate: 1e-5", 698, 864, "bits"}} {
		seen := map[int64]bool{}
		for seed := range uint64(3) {
			b := newBuilder(t, 2)
			r := b.Rank(0, true)
			for range 10_000 {
				b.send(r, 1, 1, 10, 0)
			}
			r.Done()
			b.Rank(1, true).Done()
			n := network(t, "{kind: star, hosts: 2}", link400, "  mtu: 1B\n  wire: {preset: none, first: 97B, middle: 97B, last: 97B, only: 97B}\nnic: {transport: roce}\nfaults: [{link: [server-0, rack-0], direction: forward, "+c.key+"}]")
			j := job(t, b.graph(), n, 1)
			j.Seed = seed
			run, _ := runSwitches(t, j)
			got := lostBy(run)[c.why]
			if got < c.least || got > c.most {
				t.Errorf("%s, seed %d: %d packets of 100,000 are lost", c.key, seed, got)
			}
			seen[got] = true
		}
		if len(seen) < 2 {
			t.Errorf("%s: as many are lost whatever the seed: %v", c.key, seen)
		}
	}
}

// The ideal transport has the rates and the outages, but no loss.
func TestIdealTransportFails(t *testing.T) {
	run := func(faults string, start int64) *replay.Result {
		n := failing(t, "{kind: star, hosts: 2}", link400, "", faults)
		j := job(t, sendAt(t, 2, start, 100_000), n, 1)
		j.Ideal = true
		return simulate(t, j)
	}
	if got := run("[{link: [rack-0, server-1], rate: 100Gbps}, {link: [server-0, rack-0], loss: 1}]", 0).Ranks[1].Finish; got != 100_000*100+2*500_000 {
		t.Errorf("received at %d", got)
	}
	if v := run("[{link: [rack-0, server-1], at: 3us, until: 4us}]", 0).Verdict; v.Outcome != replay.Failed || !strings.Contains(v.Errors[0].Error(), "a message from server-0 to server-1 was lost on the way from rack-0 to server-1") {
		t.Errorf("%+v", v)
	}
	if got := run("[{link: [rack-0, server-0], at: 3us, until: 8us}]", 5_000_000).Ranks[1].Finish; got != 8_000_000+2*2_000_000+2*500_000 {
		t.Errorf("received at %d", got)
	}
}

// A pause whose end is lost ends by itself. The switch's way to host 1 has a quarter of the
// rate, so that it pauses host 0 after about 2 us, for 16,000 quanta of 64 B, 20.48 us. The
// way back to host 0 is down from 3 us on: what would let it go on, and further pauses, are
// lost, and the link to host 1 falls idle.
func TestLostPauseEnds(t *testing.T) {
	const slow = "{link: [rack-0, server-1], rate: 100Gbps, direction: forward}"
	finish := func(faults string) (int64, int64) {
		n := failing(t, "{kind: star, hosts: 2}", link400, "switch: {pfc: {xoff: 60KB, xon: 30KB, quanta: 16000}}", "["+faults+"]")
		j := job(t, one(t, 2, 1_000_000), n, 1)
		j.EndWithAck = false
		r, res := runSwitches(t, j)
		if res.Ranks[1].Finish == 0 || res.Ranks[0].Finish == 0 {
			t.Fatalf("%+v", res.Verdict)
		}
		return res.Ranks[1].Finish, lostBy(r)["pause"]
	}
	want, none := finish(slow)
	got, lost := finish(slow + ", {link: [rack-0, server-0], at: 3us, direction: forward}")
	if none != 0 || lost == 0 || got <= want || got > want+20_480_000 {
		t.Errorf("received at %d with %d pauses lost, at %d with %d", got, lost, want, none)
	}
}

// What a run says of its faults: how many links, what they lost and where.
func TestFaultNotes(t *testing.T) {
	n := failing(t, "{kind: star, hosts: 2}", link400, "", "[{link: [server-0, rack-0], loss: 1, direction: forward}]")
	j := job(t, one(t, 2, 10_000), n, 1)
	res := simulate(t, j)
	if want := `faults on a directed link lost packets: 3 for "the link loses frames"; by link: server-0 to rack-0 3`; len(res.Notes) != 2 || res.Notes[1] != want {
		t.Errorf("notes %q, want %q", res.Notes, want)
	}
}

// A recorder changes nothing where links fail; counters hold what was sent before a mark
// and what has arrived.
func TestRecordingOfFaults(t *testing.T) {
	for seed := range uint64(80) {
		j, faults := randomFaultJob(t, seed)
		recordedSame(t, j, fmt.Sprintf("case %d: %s", seed, faults))
	}
}

// Tables of ways for too many sets of failed links are refused before the run: in a fat tree
// of 8192 hosts one has 1280 times 512 entries, 204 have 2^27.
func TestTooManyFailures(t *testing.T) {
	for n, want := range map[int]bool{150: true, 300: false} {
		var faults []string
		for i := range n {
			faults = append(faults, fmt.Sprintf("{link: [%d, %d], at: %dns, until: %dns}", i, 8192+i/16, i+1000, i+1001))
		}
		j := job(t, one(t, 2, 1), failing(t, "{kind: fat-tree, k: 32}", link400, "", "["+strings.Join(faults, ", ")+"]"), 1)
		_, err := Run(context.Background(), j)
		if want != (err == nil) || !want && !strings.Contains(err.Error(), "E968") {
			t.Errorf("%d failures: %v", n, err)
		}
	}
}

// BenchmarkFaults is the permutation on a fat tree of which eight links between switches are
// down from the start, or go down when all is over.
func BenchmarkFaults(b *testing.B) {
	for _, k := range []int{8, 16} {
		hosts := k * k * k / 4
		for _, c := range []struct{ name, faults string }{{"none", "[]"}, {"static", "[{random_links: 8, at: 0ns}]"}, {"late", "[{random_links: 8, at: 100ms, until: 200ms}]"}} {
			b.Run(fmt.Sprintf("hosts=%d/%s", hosts, c.name), func(b *testing.B) {
				n := failing(b, fmt.Sprintf("{kind: fat-tree, k: %d}", k), "{rate: 400Gbps, delay: 1us}", "", c.faults)
				j := job(b, permutation(b, hosts, 2_000_000), n, 1)
				packetHops(b, j)
			})
		}
	}
}
