package des

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"hybrid/internal/diag"
)

// cutting is a network whose switches cut through.
func cutting(t testing.TB, topology, link, keys string) Job {
	return Job{Network: switched(t, topology, link, "forwarding: cut-through"+keys)}
}

// Alone on equal links, each switch delays a frame by the time of its first c bytes and
// the latency: sum of all s_k + (h-1) * (c b + L) + h d. 1 MiB are 1,069,584 B in packets,
// 21,391.68 ns at 400 Gbit/s; c = 84, L = 300 ns, d = 500 ns. Over one switch 21,391.68 +
// 1.68 + 300 + 2 * 500 = 22,693.36 ns; over three 21,391.68 + 3 * 301.68 + 4 * 500 =
// 24,296.72 ns. The acknowledgement of 86 B takes 1.72 ns and the same delays.
func TestCutThroughAlone(t *testing.T) {
	for _, c := range []struct {
		topology   string
		ranks      int
		recv, back int64
	}{
		{"star", 2, 22_693_360, 1_720 + 301_680 + 1_000_000},
		{"{kind: leaf-spine, leaves: 2, spines: 1, hosts_per_leaf: 2}", 4, 24_296_720, 1_720 + 3*301_680 + 2_000_000},
	} {
		n := cutting(t, c.topology, link400, ", cut_after: 84B, latency: 300ns").Network
		for _, acked := range []bool{false, true} {
			j := job(t, one(t, c.ranks, 1<<20), n, 1)
			j.EndWithAck = acked
			want := c.recv
			if acked {
				want += c.back
			}
			r, res := runSwitches(t, j)
			if got := res.Ranks[c.ranks-1].Finish; got != want || !res.Verdict.OK() {
				t.Errorf("%s, acknowledged %v: %d, want %d; %v", c.topology, acked, got, want, res.Verdict)
			}
			// 256 packets and 16 acknowledgements, at each switch.
			if got, want := r.cutThrough(), int64(272*len(r.buffered)); len(r.buffered) == 1 && got != want || len(r.buffered) > 1 && got != 272*3 {
				t.Errorf("%s: %d frames went through, want %d", c.topology, got, want)
			}
		}
	}
}

// A frame of no more than cut_after is whole when it takes effect: nothing differs from
// store and forward.
func TestCutThroughOfWhole(t *testing.T) {
	j := job(t, one(t, 2, 1<<20), cutting(t, "star", link400, ", cut_after: 64KiB").Network, 1)
	if got := finished(t, j).Makespan; got != 23_479_000 {
		t.Errorf("%d, want 23,479,000", got)
	}
}

// One packet of 4,096 + 98 B from 400 Gbit/s over two links of 100 Gbit/s to 400 Gbit/s. It
// enters the slower links after 64 B: 64 * 20 ps + 500 ns and 64 * 80 ps + 70 ns. Before the
// last link, which is faster, it is stored: 4,194 * 80 ps + 70 ns, and takes 4,194 * 20 ps +
// 500 ns on it. The way back of the acknowledgement, 86 B, is the same.
func TestCutThroughToFaster(t *testing.T) {
	n := cutting(t, "{kind: leaf-spine, leaves: 2, spines: 1, hosts_per_leaf: 2, uplink: {rate: 100Gbps, delay: 70ns}}", link400, "").Network
	j := job(t, one(t, 4, 4096), n, 1)
	const heads = 64*20 + 500_000 + 64*80 + 70_000
	const recv, ack = heads + 4194*80 + 70_000 + 4194*20 + 500_000, heads + 86*80 + 70_000 + 86*20 + 500_000
	r, res := runSwitches(t, j)
	if res.Makespan != recv+ack || r.cutThrough() != 4 {
		t.Errorf("%d with %d frames going through, want %d with 4", res.Makespan, r.cutThrough(), recv+ack)
	}
}

// Two hosts send a packet of 4,194 B, 83.88 ns, to a third, the second one later by delta.
// The first starts again at 64 * 20 ps + 500 ns = 501.28 ns, and the output is free at
// 585.16 ns. The second has its head there at 501.28 ns + delta and its tail 82.6 ns later.
//   - delta 50 ns: at 551.28 ns the output is busy: stored until 633.88 ns, when it is free.
//   - delta 20 ns: stored until 603.88 ns.
//   - delta 0: both heads come at 501.28 ns; the first link's goes on, the other is stored
//     until 583.88 ns and waits until 585.16 ns.
//   - delta 83.88 ns: its head is there when the output becomes free, at 585.16 ns.
//   - delta 83.87 ns: 0.01 ns too early; stored until 667.75 ns.
func TestCutThroughBusy(t *testing.T) {
	for delta, starts := range map[int64]int64{50_000: 633_880, 20_000: 603_880, 0: 585_160, 83_880: 585_160, 83_870: 667_750} {
		b := newBuilder(t, 3)
		for id := range 2 {
			r := b.Rank(id, true)
			b.send(r, 2, 0, 4096, 0, b.compute(r, int64(id)*delta, 0))
			r.Done()
		}
		r := b.Rank(2, true)
		b.recv(r, 0, 0, 4096)
		b.recv(r, 1, 0, 4096)
		r.Done()
		j := job(t, b.graph(), cutting(t, "star", link400, "").Network, 1)
		j.EndWithAck = false
		if got, want := finished(t, j).Ranks[2].Finish, starts+83_880+500_000; got != want {
			t.Errorf("delta %d: %d, want %d", delta, got, want)
		}
	}
}

// randomCutJob is a random job on switches that cut through, with links of different rates
// in most cases; half of them have a packet memory with all that belongs to it.
func randomCutJob(t *testing.T, seed uint64) (Job, string) {
	r := rand.New(rand.NewPCG(seed, 31))
	rate := func() string { return pick(r, "400Gbps", "400Gbps", "100Gbps", "200Gbps", "106.25Gbps", "900GB/s") }
	up := fmt.Sprintf("uplink: {rate: %s, delay: %s}", rate(), pick(r, "70ns", "0ns", "500ns"))
	topology := pick(r, "star", "{kind: leaf-spine, leaves: 4, spines: 2, hosts_per_leaf: 3}", "{kind: leaf-spine, leaves: 4, spines: 2, hosts_per_leaf: 3, "+up+"}",
		"{kind: leaf-spine, leaves: 3, spines: 1, hosts_per_leaf: 4, "+up+"}", "{kind: torus, sizes: [4, 3]}", "{kind: fat-tree, k: 4}")
	keys := fmt.Sprintf("forwarding: cut-through, latency: %s", pick(r, "0ns", "0ns", "300ns"))
	if r.IntN(3) > 0 {
		keys += fmt.Sprintf(", cut_after: %s", pick(r, "1B", "84B", "256B", "1500B"))
	}
	if r.IntN(2) == 0 {
		keys += ", " + randomSwitch(r)
	}
	more := fmt.Sprintf("  switch: {%s}\n  wire: %s\n  mtu: %s\nnic: {transport: roce, ack_every: %d}", keys,
		pick(r, "rocev2", "none", "{preset: rocev2, ack: 0B}", "htsim"), pick(r, "4096B", "256B", "1024B"), pick(r, 1, 2, 16))
	link := fmt.Sprintf("{rate: %s, delay: %s}", rate(), pick(r, "100ns", "500ns", "1us", "1ps", "0ns"))
	j := job(t, randomGraph(t, r, 2+r.IntN(11)), network(t, topology, link, more), 1+r.IntN(3))
	j.Seed = r.Uint64()
	j.EndWithAck = r.IntN(2) == 0
	if text := topology + link + more; fits(t, j, text) {
		return j, text
	}
	return randomCutJob(t, seed+1_000_000)
}

func TestCutThroughAgreesWithReference(t *testing.T) {
	count := agreeing(t, cases(300), randomCutJob)
	enough(t, count, cases(5), "pauses:", "drops:", "cuts:", "marks:", "sent on before it was whole:")
}

func TestSameCutThroughHoweverRun(t *testing.T) {
	for seed := range cases(60) {
		j, name := randomCutJob(t, seed)
		howeverRun(t, j, seed, fmt.Sprintf("case %d: %s", seed, name))
	}
}

// The message of 10000 B of TestCountersAtMarks over a switch that cuts through after 64 B
// and takes l:
//
//	link  packet  starts at          has arrived 500 ns after its last bit left
//	up    1       0                  +83880
//	up    2       83880              +83560
//	up    3       167440             +37800
//	down  1       501280 + l         +83880 (64 B of it are there)
//	down  2       585160 + l         +83560 (likewise, and the first has left)
//	down  3       668720 + l         +37800
//	ack up        1206520 + l        +1720
//	ack down      1707800 + 2 l      +1720
//
// A packet counts as received by the switch when its last bit is there, also if most of it
// is on the way out by then.
func TestCountersOfCutThrough(t *testing.T) {
	for _, l := range []int64{0, 1, 50_000, 300_000} {
		at := func(start, bytes int64) packet { return packet{start, start + 20*bytes + 500_000, bytes} }
		want := map[[2]int32][]packet{
			{0, 2}: {at(0, 4194), at(83_880, 4178), at(167_440, 1890)},
			{2, 1}: {at(501_280+l, 4194), at(585_160+l, 4178), at(668_720+l, 1890)},
			{1, 2}: {at(1_206_520+l, 86)},
			{2, 0}: {at(1_707_800+2*l, 86)},
		}
		var times []int64
		for _, packets := range want {
			for _, p := range packets {
				times = append(times, p.start, p.start+1, p.start+20*p.bytes, p.start+501_280, p.start+501_281, p.start+501_281+l, p.arrive, p.arrive+1, p.arrive+l/2, p.arrive+l)
			}
		}
		slices.Sort(times)
		p := &tape{times: slices.Compact(times)}
		j := job(t, one(t, 2, 10_000), cutting(t, "star", link400, fmt.Sprintf(", latency: %dps", l)).Network, 1)
		p.check(t, j, record(t, j, p))
		for _, m := range p.marks {
			for id, link := range j.Topology.Links() {
				if got, want := m.Links[id], passed(want[[2]int32{link.From, link.To}], m.At); got != want {
					t.Errorf("latency %d, at %d, link from %d to %d: %+v, want %+v", l, m.At, link.From, link.To, got, want)
				}
			}
		}
		if n := len(p.marks); n < 40 || p.marks[n-1].At != 1_707_800+2*l+501_720 {
			t.Errorf("latency %d: %d marks", l, n)
		}
	}
}

// A recorder changes nothing and sees the same however the run is run.
func TestRecordingOfCutThrough(t *testing.T) {
	for seed := range cases(60) {
		j, name := randomCutJob(t, seed)
		want, res := recordedSame(t, j, fmt.Sprintf("case %d: %s", seed, name))
		if !strings.Contains(name, "pfc") { // pause frames are on links, but are no packets
			want.check(t, j, res)
		}
	}
}

// A head that takes no time is refused, and cut_after has no meaning elsewhere: a warning
// says so.
func TestCutAfterSections(t *testing.T) {
	for _, c := range []struct{ link, keys, code string }{
		{"{rate: 7000001GB/s, delay: 1us}", "forwarding: cut-through, cut_after: 1B", "E964"},
		{link400, "cut_after: 64B", "W964"},
		{link400, "forwarding: cut-through, cut_after: 1B", ""},
	} {
		var list diag.List
		j := job(t, one(t, 2, 1), switched(t, "star", c.link, c.keys), 1)
		(&run{job: &j, placement: j.Placement}).check(&list)
		got := ""
		for _, d := range list.All() {
			got += d.Code
		}
		if got != c.code {
			t.Errorf("%s: %q, want %q: %v", c.keys, got, c.code, list.All())
		}
	}
	j := job(t, one(t, 2, 1<<20), cutting(t, "star", link400, "").Network, 1)
	j.Ideal = true
	if got, want := finished(t, j).Makespan, int64(2*(1<<20*20+500_000)); got != want {
		t.Errorf("the ideal transport takes %d, want %d", got, want)
	}
}

// Whatever the threads and the window, on a fabric with many paths where pauses spread.
func TestSameCutThroughPausesHoweverRun(t *testing.T) {
	j := job(t, permutation(t, 128, 200_000), switched(t, "{kind: fat-tree, k: 8}", "{rate: 400Gbps, delay: 1us}", "forwarding: cut-through, "+tight), 1)
	r, want := runSwitches(t, j)
	pauses := int64(0)
	for _, s := range r.buffered {
		pauses += s.Tally.Pauses
	}
	if !want.Verdict.OK() || pauses < 50 || r.cutThrough() == 0 {
		t.Fatalf("%+v, %d pauses, %d frames go through", want.Verdict, pauses, r.cutThrough())
	}
	sameInThreads(t, j, want, 2, 3)
}
