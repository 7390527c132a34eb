package des

import (
	"slices"
	"testing"

	"hybrid/graph"
	"hybrid/internal/units"
	"hybrid/networks"
)

// An isolated transfer over h equal links of delay d: the last bit arrives after the
// serialization of all packets, h-1 more of the largest one, and h delays; the
// acknowledgement needs h times its own serialization and delay.
func TestIsolatedTransfer(t *testing.T) {
	star400 := []string{"star", "{rate: 400Gbps, delay: 500ns}"}
	star100 := []string{"star", "{rate: 100Gbps, delay: 500ns}"}
	for _, c := range []struct {
		net       []string
		ranks     int
		bytes     int64
		recv, ack int64 // ps
	}{
		{star400, 2, 0, 1003_920, 2007_360},
		{star400, 2, 1, 1003_960, 2007_400},
		{star400, 2, 4096, 1167_760, 2171_200},
		{star400, 2, 4097, 1169_420, 2172_860},
		{star400, 2, 65536, 2421_160, 3424_600},
		{star400, 2, 1 << 20, 22475_560, 23479_000},
		{star100, 2, 0, 1015_680, 2029_440},
		{star100, 2, 4096, 1671_040, 2684_800},
		{star100, 2, 65536, 6684_640, 7698_400},
		{star100, 2, 1 << 20, 86902_240, 87916_000},
		{[]string{"{kind: fat-tree, k: 4}", "{rate: 100Gbps, delay: 1us}"}, 16, 1 << 20, 93244_320, 99285_600},
	} {
		n := network(t, c.net[0], c.net[1], roce)
		j := job(t, one(t, c.ranks, c.bytes), n, 1)
		res := finished(t, j)
		if got := res.Makespan; got != c.ack {
			t.Errorf("%v %d B: acknowledged at %d, want %d", c.net, c.bytes, got, c.ack)
		}
		j.EndWithAck = false
		res = finished(t, j)
		if got := res.Makespan; got != c.recv {
			t.Errorf("%v %d B: received at %d, want %d", c.net, c.bytes, got, c.recv)
		}
	}
}

// path is two hosts joined by two switches: links of any rates there, and the same back.
type path struct{ links []networks.Link }

func (p path) Kind() string           { return "path" }
func (p path) Hosts() int             { return 2 }
func (p path) Switches() int          { return 2 }
func (p path) Links() []networks.Link { return p.links }
func (p path) Describe() string       { return "" }

// Next goes left to host 0 and right to host 1; the nodes in line are 0, 2, 3, 1.
func (p path) Next(at, dst int32) (first, n int32) {
	for id, l := range p.links {
		left := l.To == 0 || l.To == 2 && l.From == 3 || l.To == 3 && l.From == 1
		if l.From == at && left == (dst == 0) {
			return int32(id), 1
		}
	}
	return 0, 0
}

func newPath(rates [3]int64, delay int64) path {
	ends := [3][2]int32{{0, 2}, {2, 3}, {3, 1}}
	var p path
	for from := range int32(4) {
		for i, e := range ends {
			l := networks.Link{From: e[0], To: e[1], PerByte: units.Int(rates[i]), Delay: delay}
			if l.From != from {
				l.From, l.To = l.To, l.From
			}
			if l.From == from {
				p.links = append(p.links, l)
			}
		}
	}
	return p
}

// The last packet has arrived after all delays and the longest chain of serializations:
// link by link, packet by packet, never back in either. 40960 B over 400, 100 and 200
// Gbit/s: the first packet on the first link (4194 B * 20 ps), all on the second (41796 B
// * 80 ps), the last on the third (4178 B * 40 ps), 3 us. The acknowledgement: 86 B at
// 140 ps, 3 us.
func TestDifferentRates(t *testing.T) {
	j := job(t, one(t, 2, 40960), network(t, "star", link400, roce), 1)
	j.Topology = newPath([3]int64{20, 80, 40}, 1_000_000)
	if got, want := finished(t, j).Makespan, int64(9606_720); got != want {
		t.Errorf("acknowledged at %d, want %d", got, want)
	}
	j.EndWithAck = false
	if got, want := finished(t, j).Makespan, int64(6594_680); got != want {
		t.Errorf("received at %d, want %d", got, want)
	}
}

// Eight senders fill one output port of the star: once the first packet has arrived
// there, the port never idles until all 8*256 packets are through.
// 4194 B first packet up, 1 us, 8 * 1069584 B at 80 ps, 1 us.
func TestIncast(t *testing.T) {
	b := newBuilder(t, 9)
	for i := range 8 {
		r := b.Rank(i, true)
		b.send(r, 8, int64(i), 1<<20, 0)
		r.Done()
	}
	r := b.Rank(8, true)
	for i := range 8 {
		b.recv(r, int64(i), int64(i), 1<<20)
	}
	r.Done()
	j := job(t, b.graph(), network(t, "star", "{rate: 100Gbps, delay: 1us}", roce), 1)
	j.EndWithAck = false
	if got, want := finished(t, j).Makespan, int64(686869_280); got != want {
		t.Errorf("last receive at %d, want %d", got, want)
	}
	// The last packets of the eight messages arrive one packet (4178 B, 334.24 ns) apart,
	// and each acknowledgement is 2 * (86 B * 80 ps + 1 us) on its way.
	j.EndWithAck = true
	acks := finishes(finished(t, j))[:8]
	slices.Sort(acks)
	for i, got := range acks {
		if want := 686869_280 + 2013_760 - int64(7-i)*334_240; got != want {
			t.Errorf("acknowledgement %d at %d, want %d", i, got, want)
		}
	}
}

// The closed forms of these collectives know no acknowledgements, and with frames of no
// size the simulation equals them. With frames of 86 B (1.72 ns at 400 Gbit/s) every
// acknowledgement that a NIC sends before its last data packet of the collective delays
// that packet: a step of 256 packets has 16, the last of which comes behind the last
// packet, so that 16*steps - 1 count; in the barrier one before each of the last five
// transfers of the chain.
func TestCollectivesOnStar(t *testing.T) {
	const (
		star = "{rate: 400Gbps, delay: 500ns}"
		bare = "  wire: {preset: rocev2, ack: 0B}\n  mtu: 4096B\nnic: {transport: roce}"
		ack  = 1_720
	)
	for _, c := range []struct {
		typ       graph.CollType
		algorithm string
		bytes     int64
		want      int64
		acks      int64
	}{
		// 14 steps of 1 MiB, each the time of an isolated transfer.
		{graph.AllReduce, "ring", 8 << 20, 14 * 22475_560, 14*16 - 1},
		// Every rank sends 7 messages of 1 MiB back to back; rotation keeps them apart.
		{graph.AllToAll, "sequential", 8 << 20, 150825_640, 7*16 - 1},
		// Six transfers of an empty message in series (98 B: 1003.92 ns), and one more
		// serialization at each of the four levels where two meet.
		{graph.Barrier, "tree", 0, 6*1003_920 + 4*1_960, 5},
	} {
		g := everyone(t, 8, c.typ, c.algorithm, c.bytes)
		j := job(t, g, network(t, "star", star, bare), 1)
		j.EndWithAck = false
		if got := finished(t, j).Makespan; got != c.want {
			t.Errorf("%s %s: %d, want %d", c.typ, c.algorithm, got, c.want)
		}
		j = job(t, g, network(t, "star", star, roce), 1)
		j.EndWithAck = false
		if got, want := finished(t, j).Makespan, c.want+c.acks*ack; got != want {
			t.Errorf("%s %s with acknowledgements: %d, want %d", c.typ, c.algorithm, got, want)
		}
	}
}

// On links of their own, each transfer takes delay + bytes*time per byte: 500 ns and
// 8e12/429496729600 = 15625/838.8608 ps a byte, 131072 B in 2441406.25 ps.
func TestIdealRings(t *testing.T) {
	n := network(t, "direct", "{rate: 429496729600bps, delay: 500ns}", roce)
	for _, c := range []struct {
		typ   graph.CollType
		steps int64
		bytes int64
	}{
		{graph.AllReduce, 14, 1 << 17},
		{graph.ReduceScatter, 7, 1 << 17},
		{graph.AllGather, 7, 1 << 20},
	} {
		j := job(t, everyone(t, 8, c.typ, "ring", 1<<20), n, 1)
		j.Ideal, j.EndWithAck = true, false
		res := finished(t, j)
		if !res.Clock.Exact {
			t.Fatal("the clock is not exact")
		}
		step := 500_000*res.Clock.PerPS + res.Clock.Span(n.Fabric.Link.PerByte, c.bytes)
		if want := c.steps * step; res.Makespan != want {
			t.Errorf("%s: %d ticks, want %d", c.typ, res.Makespan, want)
		}
	}
}

// Two operations of 10 us share the accelerator, or do not where durations were
// measured together.
func TestSharedCompute(t *testing.T) {
	for family, want := range map[string]int64{"synthesized": 20_000_000, "compiled": 20_000_000, "collected": 10_000_000} {
		b := newBuilder(t, 1)
		r := b.Rank(0, true)
		b.compute(r, 10_000_000, 0)
		b.compute(r, 10_000_000, 0)
		r.Done()
		j := job(t, b.graph(), network(t, "star", "{rate: 400Gbps, delay: 500ns}", roce), 1)
		j.Family = family
		if got := finished(t, j).Makespan; got != want {
			t.Errorf("%s: %d, want %d", family, got, want)
		}
	}
}

// Transfers of an 8-rank allreduce of 1000 B: 2*7*8 of 125 B around the ring, 7 up and
// 7 down the tree, and 6 exchanges of 500, 250, 125, 125, 250, 500 B on each rank.
func TestTransfersOfAllReduce(t *testing.T) {
	for algorithm, want := range map[string][2]int64{"ring": {112, 14000}, "tree": {14, 14000}, "halving-doubling": {48, 8 * 1750}} {
		res := finished(t, job(t, everyone(t, 8, graph.AllReduce, algorithm, 1000), network(t, "star", link400, roce), 1))
		if got := [2]int64{res.Messages, res.MessageBytes}; got != want {
			t.Errorf("%s: %d messages of %d B, want %v", algorithm, got[0], got[1], want)
		}
	}
}

// Twice the rates and half the delays: everything takes half the time.
func TestScaling(t *testing.T) {
	run := func(link, latency string) []int64 {
		n := network(t, "{kind: fat-tree, k: 4}", link, "  switch: {latency: "+latency+"}\n"+roce)
		return finishes(finished(t, job(t, permutation(t, 16, 200_000), n, 1)))
	}
	slow, fast := run("{rate: 200Gbps, delay: 1us}", "300ns"), run("{rate: 400Gbps, delay: 500ns}", "150ns")
	for i := range slow {
		if slow[i] != 2*fast[i] {
			t.Errorf("rank %d ends at %d and, twice as fast, at %d", i, slow[i], fast[i])
		}
	}
}

// Alone, an ideal transfer of S bytes over h hops takes h * (delay + S * time per byte),
// whatever the network file says about switches, headers and packets.
func TestIdealTransfer(t *testing.T) {
	const size = 1_000_000
	for hops, topology := range map[int64]string{1: "direct", 2: "star", 4: "{kind: leaf-spine, leaves: 2, spines: 2, hosts_per_leaf: 1}"} {
		j := job(t, one(t, 2, size), network(t, topology, link400, "  switch: {latency: 300ns}\n"+roce), 1)
		j.Ideal = true
		if got, want := finished(t, j).Makespan, hops*(500_000+size*20); got != want {
			t.Errorf("%s: %d, want %d", topology, got, want)
		}
	}
}
