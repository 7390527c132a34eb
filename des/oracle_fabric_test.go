package des

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"hybrid/graph"
	"hybrid/internal/units"
	"hybrid/networks"
)

// What htsim finds for a transfer alone, from host 0 to host 13 of a fat tree of 16 hosts
// with links of 100 Gbit/s and 1 us: six links, frames of up to 4,086 B (its UEC) or 4,000
// B (its RoCE) and 64 B more, acknowledgements of 64 B.
func TestTransfersOfHtsim(t *testing.T) {
	for _, c := range []struct{ mtu, bytes, ps int64 }{
		{4086, 1, 12_061_920}, {4086, 4000, 13_981_440}, {4086, 65_536, 19_020_640}, {4086, 100_000, 21_818_720}, {4086, 1_000_000, 94_945_120}, {4086, 2_000_000, 176_199_520},
		{4000, 4000, 13_981_440}, {4000, 1_000_000, 94_936_320},
	} {
		n := network(t, "{kind: fat-tree, k: 4}", "{rate: 100Gbps, delay: 1us}", fmt.Sprintf("  wire: htsim\n  mtu: %dB\nnic: {transport: roce}", c.mtu))
		if got := finished(t, job(t, one(t, 14, c.bytes), n, 1)).Makespan; got != c.ps {
			t.Errorf("%d B in packets of %d B: acknowledged at %d, want %d", c.bytes, c.mtu, got, c.ps)
		}
	}
}

// Fifteen hosts of that fat tree send 2,000,000 B each, 500 packets of 4,064 B (325.12 ns),
// to the sixteenth. The packets of its neighbour keep its link busy from 1,325.12 ns on
// until those of the others are there, and then until all 7,500 are through: the last
// arrives 1 us after that, and its acknowledgement, if it came over all six links, after
// 6,030.72 ns more; with pauses and without. htsim has the same time for the last of its
// flows but for the superfluous packets that it sends where the MTU divides the size.
func TestIncastOfHtsim(t *testing.T) {
	const last = 1_325_120 + 7500*325_120 + 1_000_000
	b := newBuilder(t, 16)
	for i := range 15 {
		r := b.Rank(i, true)
		b.send(r, 15, 0, 2_000_000, 0)
		r.Done()
	}
	r := b.Rank(15, true)
	for i := range 15 {
		b.recv(r, int64(i), 0, 2_000_000)
	}
	r.Done()
	g := b.graph()
	for _, keys := range []string{"latency: 0ns", "pfc: {xoff: 60000B, xon: 48000B}"} {
		n := network(t, "{kind: fat-tree, k: 4}", "{rate: 100Gbps, delay: 1us}", "  switch: {"+keys+"}\n  wire: htsim\n  mtu: 4000B\nnic: {transport: roce}")
		j := job(t, g, n, 1)
		j.EndWithAck = false
		if got := finished(t, j).Makespan; got != last {
			t.Errorf("%s: the last is received at %d, want %d", keys, got, last)
		}
		j.EndWithAck = true
		if got := finished(t, j).Makespan; got != last+6_030_720 {
			t.Errorf("%s: the last is acknowledged at %d, want %d", keys, got, last+6_030_720)
		}
	}
}

// hub is a switch with hosts whose links to it and from it have rates of their own.
type hub struct {
	up, down []units.Rat
	delay    int64
}

func (hub) Kind() string     { return "hub" }
func (h hub) Hosts() int     { return len(h.up) }
func (hub) Switches() int    { return 1 }
func (hub) Describe() string { return "" }
func (h hub) Links() (out []networks.Link) {
	n := int32(len(h.up))
	for i, rate := range h.up {
		out = append(out, networks.Link{From: int32(i), To: n, PerByte: rate, Delay: h.delay})
	}
	for i, rate := range h.down {
		out = append(out, networks.Link{From: n, To: int32(i), PerByte: rate, Delay: h.delay})
	}
	return out
}

func (h hub) Next(at, dst int32) (first, n int32) {
	switch {
	case at == dst:
		return 0, 0
	case int(at) < len(h.up):
		return at, 1
	}
	return int32(len(h.up)) + dst, 1
}

// ns-3 counts whole nanoseconds: a packet of 4,048 B takes 323 ns at 100 Gbit/s, an
// acknowledgement of 60 B 4 ns. With links of just these times the incasts end as there:
// eight flows of 500 packets 323 ns apart until 1,296,331 ns; two flows of 2,000 packets at
// 1,296,008 and 1,296,331 ns, though they are paused on the way by a dynamic threshold of
// an eighth. The last packet: 323 + 1,000 ns to the switch, 4,000 * 323 ns until the
// bottleneck has sent all, 1,000 ns; its acknowledgement 2 * (4 + 1,000) ns.
func TestIncastsOfNS3(t *testing.T) {
	data, ack := units.NewRat(323_000, 4048), units.NewRat(4000, 60)
	for _, c := range []struct {
		flows, bytes int64
		keys         string
	}{
		{8, 2_000_000, "latency: 0ns"}, {2, 8_000_000, "latency: 0ns"}, {8, 2_000_000, "buffer: 33766000B, headroom: 37500B, pfc: {alpha: 0.05}"},
		{2, 8_000_000, "buffer: 33542144B, headroom: 37500B, pfc: {alpha: 0.125}"},
	} {
		n := network(t, "star", "{rate: 100Gbps, delay: 1us}", "  switch: {"+c.keys+"}\n  wire: ns3\n  mtu: 4000B\nnic: {transport: roce, ack_every: 1}")
		j := job(t, gather(t, int(c.flows)+1, c.bytes), n, 1)
		h := hub{up: []units.Rat{ack}, down: []units.Rat{data}, delay: 1_000_000}
		for range c.flows {
			h.up, h.down = append(h.up, data), append(h.down, ack)
		}
		j.Topology = h
		r, res := runSwitches(t, j)
		if len(r.buffered) > 0 && r.buffered[0].Tally.Pauses == 0 {
			t.Errorf("%d flows: no pauses", c.flows)
		}
		got := finishes(res)[1:]
		slices.Sort(got)
		if c.flows == 8 && len(r.buffered) > 0 {
			got = got[7:] // pauses let some flows end earlier, but not the last
			c.flows = 1
		}
		for i, ticks := range got {
			if ps, want := res.Clock.PS(ticks), 1_296_331_000-(c.flows-1-int64(i))*323_000; ps != want || !res.Verdict.OK() {
				t.Errorf("%d flows, %s: flow %d is acknowledged at %d ps, want %d", c.flows, c.keys, i, ps, want)
			}
		}
	}
}

// Ten packets of 4,048 B over 400, 100 and 200 Gbit/s and 1 us each, in ns-3's whole
// nanoseconds: 80, 323 and 161 ns a packet, 1, 4 and 2 ns for an acknowledgement of 60 B. 80
// + 10 * 323 + 161 + 3,000 ns until all are there, 3,007 ns for the acknowledgement.
func TestDifferentRatesOfNS3(t *testing.T) {
	var p path
	link := func(from, to int32, ps, bytes int64) {
		p.links = append(p.links, networks.Link{From: from, To: to, PerByte: units.NewRat(ps, bytes), Delay: 1_000_000})
	}
	link(0, 2, 80_000, 4048)
	link(1, 3, 2_000, 60)
	link(2, 3, 323_000, 4048)
	link(2, 0, 1_000, 60)
	link(3, 1, 161_000, 4048)
	link(3, 2, 4_000, 60)
	j := job(t, one(t, 2, 40_000), network(t, "star", link400, "  wire: ns3\n  mtu: 4000B\nnic: {transport: roce}"), 1)
	j.Topology = p
	res := finished(t, j)
	if got := res.Clock.PS(res.Makespan); got != 9_478_000 || !res.Clock.Exact {
		t.Errorf("acknowledged at %d, want 9478000", got)
	}
}

// Over three links of any rates and delays the last bit is there after all delays and the
// longest chain of serializations: over all 1 <= k1 <= k2 <= n, the packets up to k1 on the
// first link, k1 to k2 on the second, k2 to n on the third. For equal packets that is one
// packet on each link and n-1 more on the slowest.
func TestAnyRates(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		rates := [3]int64{pick[int64](r, 5, 10, 20, 40, 80, 800), pick[int64](r, 5, 10, 20, 40, 80, 800), pick[int64](r, 5, 10, 20, 40, 80, 800)}
		bytes, delay := 1+r.Int64N(30_000), r.Int64N(2_000_000)
		var packets []int64 // with headers
		for left := bytes; left > 0; left -= 4096 {
			size := min(left, 4096) + 82
			if left == bytes {
				size += 16
			}
			packets = append(packets, size)
		}
		sum := func(from, to int, rate int64) (s int64) {
			for _, w := range packets[from : to+1] {
				s += w * rate
			}
			return s
		}
		longest := int64(0)
		for a := range packets {
			for b := a; b < len(packets); b++ {
				longest = max(longest, sum(0, a, rates[0])+sum(a, b, rates[1])+sum(b, len(packets)-1, rates[2]))
			}
		}
		j := job(t, one(t, 2, bytes), network(t, "star", link400, roce), 1)
		j.Topology, j.EndWithAck = newPath(rates, delay), false
		if got, want := finished(t, j).Makespan, longest+3*delay; got != want {
			t.Errorf("%d B at %v ps a byte: received at %d, want %d", bytes, rates, got, want)
		}
	}
}

// Two flows of n packets of time s into one link, the second delta later, first come first
// served. The link is busy from the arrival of the first packet at s + d until all 2n are
// through, when the second flow ends. Before the last packet of the first flow, which comes
// (n-1)s later, all its others go and those packets j of the second flow with delta + j s
// < (n-1)s, n - 1 - floor(delta/s) of them; where they come at once the lower link, that of
// the first flow, goes first.
func TestTwoFlowsShareALink(t *testing.T) {
	const n, s, d = 40, 4064 * 80, 1_000_000
	for _, delta := range []int64{0, 1, s / 2, s - 1, s, s + 1, 7 * s, 7*s + 123, (n-1)*s - 1, (n - 1) * s, n*s - 1} {
		b := newBuilder(t, 3)
		r := b.Rank(0, true)
		b.recv(r, 1, 0, n*4000)
		b.recv(r, 2, 0, n*4000)
		r.Done()
		r = b.Rank(1, true)
		b.send(r, 0, 0, n*4000, 0)
		r.Done()
		r = b.Rank(2, true)
		b.send(r, 0, 0, n*4000, 0, b.compute(r, delta, 0))
		r.Done()
		for _, keys := range []string{"latency: 0ns", "pfc: {xoff: 60KB, xon: 40KB}"} {
			j := job(t, b.graph(), network(t, "star", "{rate: 100Gbps, delay: 1us}", "  switch: {"+keys+"}\n  wire: {preset: htsim, ack: 0B}\n  mtu: 4000B\nnic: {transport: roce}"), 1)
			got := finishes(finished(t, j))[1:]
			if keys == "latency: 0ns" {
				want := s + d + (n+n-1-delta/s)*s + d + 2*d // an acknowledgement takes 2 d
				if delta > (n-1)*s {
					want = s + d + n*s + d + 2*d
				}
				if got[0] != want {
					t.Errorf("delta %d: the first flow ends at %d, want %d", delta, got[0], want)
				}
			}
			if want := int64(s + d + 2*n*s + d + 2*d); max(got[0], got[1]) != want {
				t.Errorf("delta %d, %s: the last flow ends at %d, want %d", delta, keys, got[1], want)
			}
		}
	}
}

// Two ports fill a memory of B = 33,554,432 - 3*4,096 - 3*37,500 B with packets of W = 4,048
// B that one output empties; a port is paused beyond an eighth of what is free. Packets
// arrive from both at t0 + k s, the lower port first; by then k have left, in turn. Before
// the arrivals the ports hold floor(k/2) and ceil(k/2), the memory k. The first pause is at
// the first k at which one more packet is beyond the eighth: about B/10 = 3,342,964 B a
// port, alpha B / (1 + 2 alpha), after some 535 us.
func TestDynamicThresholdPausesAt(t *testing.T) {
	const w, memory, s, d = 4048, 33_429_644, 4048 * 80, 1_000_000
	at := int64(0)
	for k := int64(0); at == 0; k++ {
		lower, upper := (k/2+1)*w > (memory-k*w)/8, ((k+1)/2+1)*w > (memory-(k+1)*w)/8
		if lower || upper {
			at = s + d + k*s
		}
	}
	j := job(t, gather(t, 3, 8_000_000), network(t, "star", "{rate: 100Gbps, delay: 1us}",
		"  switch: {buffer: 33542144B, headroom: 37500B, pfc: {alpha: 0.125}}\n  wire: ns3\n  mtu: 4000B\nnic: {transport: roce}"), 1)
	for stop, want := range map[int64]bool{at - 1: false, at: true} {
		j.StopAt = stop
		if r, _ := runSwitches(t, j); r.pools(3)[0] != memory || r.buffered[0].Tally.Pauses > 0 != want {
			t.Errorf("until %d: memory of %d B, %d pauses", stop, r.pools(3)[0], r.buffered[0].Tally.Pauses)
		}
	}
	if at/1_000_000 != 535 {
		t.Errorf("the first pause is at %d", at)
	}
	// The ports settle there: with a tenth of the memory each, and what may still arrive
	// after a pause, 2 d at 100 Gbit/s, two packets and the pause frame.
	j.StopAt = 0
	r, res := runSwitches(t, j)
	if most := slices.Max(r.queues); !res.Verdict.OK() || most < memory/5-2*w || most > memory/5+2*(25_000+3*w) {
		t.Errorf("%v; the queue holds %d B at most", res.Verdict, most)
	}
}

// The headroom of 400 Gbit/s and 500 ns, a cable of 100 m, is 62,667 B (see
// TestHeadroomSuffices); a kilometre, 5 us, takes 2 * 4.5 us / 20 ps = 450,000 B more, and
// nothing else of it changes.
func TestHeadroomGrowsWithDelay(t *testing.T) {
	for delay, want := range map[string]int64{"500ns": 62_667, "5us": 512_667} {
		r, _ := runSwitches(t, job(t, gather(t, 3, 1<<20), switched(t, "star", "{rate: 400Gbps, delay: "+delay+"}", "buffer: 10MB, pfc: {xoff: 20KB, xon: 10KB}"), 1))
		if got := r.headroomOf(0); got != want || r.losses().drops > 0 || r.buffered[0].Tally.Pauses == 0 {
			t.Errorf("%s: headroom %d B, want %d; %+v", delay, got, want, r.buffered[0].Tally)
		}
	}
}

// circuit is hosts in a ring, each with a link to the next.
type circuit struct{ links []networks.Link }

func (circuit) Kind() string             { return "circuit" }
func (c circuit) Hosts() int             { return len(c.links) }
func (circuit) Switches() int            { return 0 }
func (c circuit) Links() []networks.Link { return c.links }
func (circuit) Describe() string         { return "" }
func (c circuit) Next(at, dst int32) (first, n int32) {
	if at == dst {
		return 0, 0
	}
	return at, 1
}

// A ring all-reduce whose hops take different times t_i. If only delays differ a step of a
// rank begins when it has received the one before, and the whole takes the longest sum of
// 2(N-1) hops in a row. That is not so if rates differ, as a link that takes long for one
// message is busy with it when the next comes: then a step begins when the message is there
// and the link is free.
func TestRingOfUnequalHops(t *testing.T) {
	const ranks, chunk = 8, 1 << 17
	r := rand.New(rand.NewPCG(3, 4))
	for i := range 40 {
		var c circuit
		for k := range int32(ranks) {
			l := networks.Link{From: k, To: (k + 1) % ranks, PerByte: units.Int(20), Delay: r.Int64N(5_000_000)}
			if i%2 == 1 {
				l.PerByte = units.Int(pick[int64](r, 5, 20, 80))
			}
			c.links = append(c.links, l)
		}
		var want int64
		for start := range ranks {
			sum := int64(0)
			for k := range 2 * (ranks - 1) {
				l := &c.links[(start+k)%ranks]
				sum += l.Delay + chunk*l.PerByte.Num
			}
			want = max(want, sum)
		}
		if i%2 == 1 {
			want = 0
			there, free := make([]int64, ranks), make([]int64, ranks)
			for range 2 * (ranks - 1) {
				next := make([]int64, ranks)
				for k := range c.links {
					l := &c.links[k]
					free[k] = max(there[k], free[k]) + chunk*l.PerByte.Num
					next[(k+1)%ranks] = free[k] + l.Delay
				}
				there = next
				want = max(want, slices.Max(there))
			}
		}
		j := job(t, everyone(t, ranks, graph.AllReduce, "ring", ranks*chunk), network(t, "direct", link400, roce), 1)
		j.Topology, j.Ideal, j.EndWithAck = c, true, false
		if got := finished(t, j).Makespan; got != want {
			t.Errorf("circuit %d: %d, want %d", i, got, want)
		}
	}
}

// A sender that has at most w messages on their way, each answered: while w s < r, of the
// time s of one on the link and the time r until its answer is there, w go in each r: the
// last answer comes at (ceil(n/w) - 1) r + (n - (ceil(n/w) - 1) w - 1) s + r.
func TestWindowOfMessages(t *testing.T) {
	const s, r = 4194 * 20, 2*4194*20 + 2*98*20 + 4*500_000
	for _, c := range []struct{ n, w int64 }{{1, 1}, {20, 1}, {20, 4}, {21, 4}, {23, 4}, {100, 17}, {100, 25}, {7, 8}} {
		b := newBuilder(t, 2)
		k := b.Rank(0, true)
		var answers []int32
		for i := range c.n {
			var on []int32
			if i >= c.w {
				on = []int32{answers[i-c.w]}
			}
			b.send(k, 1, i, 4096, 0, on...)
			answers = append(answers, b.recv(k, 1, i, 0))
		}
		k.Done()
		k = b.Rank(1, true)
		for i := range c.n {
			b.send(k, 0, i, 0, 0, b.recv(k, 0, i, 4096))
		}
		k.Done()
		j := job(t, b.graph(), network(t, "star", link400, "  wire: {preset: rocev2, ack: 0B}\n  mtu: 4096B\nnic: {transport: roce}"), 1)
		j.EndWithAck = false
		rounds := (c.n + c.w - 1) / c.w
		if got, want := finished(t, j).Ranks[0].Finish, (rounds-1)*r+(c.n-(rounds-1)*c.w-1)*s+r; got != want {
			t.Errorf("%d messages, a window of %d: %d, want %d", c.n, c.w, got, want)
		}
	}
}

// A queue that stands between kmin and kmax marks with probability pmax (q - kmin) / (kmax
// - kmin). Two flows arrive at the rate of the output, one of m packets and one of n =
// 100,000: packet i leaves min(i+1, m, n+m-1-i) behind it. The number of marks is within
// three standard deviations of the sum of the probabilities.
func TestStandingQueueMarks(t *testing.T) {
	const n, m, w = 100_000, 6, 4064
	b := newBuilder(t, 3)
	r := b.Rank(0, true)
	b.recv(r, 1, 0, n*4000)
	b.recv(r, 2, 0, m*4000)
	r.Done()
	r = b.Rank(1, true)
	b.send(r, 0, 0, n*4000, 0)
	r.Done()
	r = b.Rank(2, true)
	b.send(r, 0, 0, m*4000, 0)
	r.Done()
	g := b.graph()
	for _, seed := range []uint64{1, 2, 3} {
		j := job(t, g, network(t, "star", link400, fmt.Sprintf("  switch: {ecn: {kmin: %dB, kmax: %dB, pmax: 0.1}}\n  wire: htsim\n  mtu: 4000B\nnic: {transport: roce}", 2*w, 10*w)), 1)
		j.Seed = seed
		run, res := runSwitches(t, j)
		// In units of 1/80: p = (q - 2)/8 * 1/10; the variance of one is p (1 - p).
		var mean, variance int64 // times 80 and 6,400
		for i := range int64(n + m) {
			p := max(min(i+1, m, n+m-1-i)-2, 0)
			mean, variance = mean+p, variance+p*(80-p)
		}
		off := 80*run.buffered[0].Marks() - mean
		if !res.Verdict.OK() || off*off > 9*variance || off == 0 {
			t.Errorf("seed %d: %d packets marked, the mean is %d", seed, run.buffered[0].Marks(), mean/80)
		}
	}
}
