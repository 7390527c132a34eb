package des

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"hybrid/graph"
	"hybrid/graph/replay"
	"hybrid/internal/diag"
	"hybrid/internal/units"
	"hybrid/networks"
)

// inGroups puts ranks into scale-up groups, -1 for none, and subgroups: 800 Gbit/s, 10 ps a
// byte, with hops and cables of 100 ns, so that a packet of 4096 + 24 B takes 41.2 ns at
// both ends and crosses in 300 ns, between subgroups in 700 ns.
func inGroups(j Job, group []int32, subgroup []uint32) Job {
	s := &networks.ScaleUpPlacement{Group: group, Subgroup: subgroup}
	for id := range 3 {
		s.Groups = append(s.Groups, networks.ScaleUpGroup{ID: uint32(id), PerByte: units.Int(10), Hop: 100_000, Cable: 100_000})
	}
	p := *j.Placement
	p.ScaleUp = s
	j.Placement = &p
	return j
}

func oneGroup(j Job) Job {
	return inGroups(j, make([]int32, j.Graph.Ranks), make([]uint32, j.Graph.Ranks))
}

// sendAndReceive is one message between two ranks, behind compute operations.
func sendAndReceive(t testing.TB, bytes int64, flags graph.Flags, before, after int64) *graph.Graph {
	b := newBuilder(t, 2)
	r := b.Rank(0, true)
	c := b.compute(r, before, 0)
	b.send(r, 1, 1, bytes, flags, c)
	r.Done()
	r = b.Rank(1, true)
	c = b.compute(r, after, 0)
	b.recv(r, 0, 1, bytes, c)
	r.Done()
	return b.graph()
}

func TestScaleUpTransfer(t *testing.T) {
	for _, c := range []struct {
		name      string
		g         *graph.Graph
		subgroup  uint32
		end, recv int64 // of the sender with its acknowledgement, of the receiver
	}{
		{"one packet", sendAndReceive(t, 4096, 0, 0, 0), 0, 41_200 + 600_000, 382_400},
		{"the other subgroup", sendAndReceive(t, 4096, 0, 0, 0), 1, 41_200 + 1_400_000, 782_400},
		{"no bytes", sendAndReceive(t, 0, 0, 0, 0), 0, 240 + 600_000, 300_480},
		// 4096 and 904 B: 41,200 + 9,280 to send; the last packet arrives at 350,480 and
		// waits for the first until 382,400.
		{"two packets", sendAndReceive(t, 5000, 0, 0, 0), 0, 50_480 + 600_000, 391_680},
		{"held until its receive starts", sendAndReceive(t, 4096, 0, 0, 1_000_000), 0, 641_200, 1_000_000},
		{"a send later than its receive", sendAndReceive(t, 4096, 0, 50_000, 0), 0, 691_200, 432_400},
		{"no rendezvous", sendAndReceive(t, 4096, graph.Rendezvous, 0, 1_000_000), 0, 641_200, 1_000_000},
	} {
		j := inGroups(job(t, c.g, network(t, "star", link400, roce), 1), []int32{1, 1}, []uint32{0, c.subgroup})
		j.SendOverhead, j.ReceiveOverhead = 5_000_000, 5_000_000 // the host processors have no part in it
		res := finished(t, j)
		if got := finishes(res); got[0] != c.end || got[1] != c.recv {
			t.Errorf("%s: the ranks end at %v, want %d and %d", c.name, got, c.end, c.recv)
		}
		if res.Packets != 0 || res.PacketHops != 0 {
			t.Errorf("%s: %d packets on the network", c.name, res.Packets)
		}
	}
}

// At 400 GB/s, 2.5 ps a byte, a packet of 4096 + 32 B takes 10.32 ns; a hop of a scale-up
// switch 100 ns, a cable 50 ns. 1 MiB is sent in 256 packet times, and received a packet
// time and one hop with two cables later, or three hops with four. To two receivers at once
// every packet takes twice as long.
func TestScaleUpFigures(t *testing.T) {
	for _, c := range []struct {
		receivers      int
		subgroup       uint32
		sent, received int64
	}{{1, 0, 2_641_920, 2_852_240}, {1, 1, 2_641_920, 3_152_240}, {2, 0, 5_283_840, 5_283_840 + 10_320 + 200_000}} {
		b := newBuilder(t, 1+c.receivers)
		r := b.Rank(0, true)
		for i := range c.receivers {
			b.send(r, int64(i+1), 0, 1<<20, 0)
		}
		r.Done()
		for i := range c.receivers {
			r = b.Rank(i+1, true)
			b.recv(r, 0, 0, 1<<20)
			r.Done()
		}
		group, subgroup := make([]int32, 1+c.receivers), make([]uint32, 1+c.receivers)
		for i := range c.receivers {
			subgroup[1+i] = c.subgroup
		}
		j := inGroups(job(t, b.graph(), network(t, "star", link400, roce), 1), group, subgroup)
		j.Placement.ScaleUp.Groups[0] = networks.ScaleUpGroup{PerByte: units.NewRat(5, 2), Hop: 100_000, Cable: 50_000}
		j.Network.ScaleUp, j.EndWithAck = networks.ScaleUp{Header: 32, Payload: 4096}, false
		res := finished(t, j)
		if got := [2]int64{res.Clock.PS(res.Ranks[0].Finish), res.Clock.PS(res.Ranks[1].Finish)}; got != [2]int64{c.sent, c.received} {
			t.Errorf("%d receivers, subgroup %d: sent and received at %d, want %d and %d", c.receivers, c.subgroup, got, c.sent, c.received)
		}
	}
}

// The closed forms of collectives of 8 ranks in one group: a ring's step of 4096 B takes
// 41.2 + 300 + 41.2 ns; in a direct exchange all seven packets of a rank leave at 288.4,
// arrive at 588.4 together with six others and share the receiver.
func TestScaleUpCollectives(t *testing.T) {
	for _, c := range []struct {
		g    *graph.Graph
		want int64
	}{
		{everyone(t, 8, graph.AllReduce, "ring", 8*4096), 14 * 382_400},
		{everyone(t, 8, graph.AllToAll, "interleaved", 8*4096), 288_400 + 300_000 + 288_400},
		{everyone(t, 8, graph.Gather, "direct", 4096), 41_200 + 300_000 + 288_400},
		{everyone(t, 8, graph.Barrier, "ring", 0), 14 * 300_480},
	} {
		j := oneGroup(job(t, c.g, network(t, "star", link400, roce), 1))
		j.EndWithAck = false
		if got := finished(t, j).Makespan; got != c.want {
			t.Errorf("%d, want %d", got, c.want)
		}
	}
}

// Ranks of different groups, and ranks in none, use the network: the same time with groups
// and without. Ranks on one node that share a group use its fabric.
func TestScaleUpGroupsOnly(t *testing.T) {
	n := network(t, "star", link400, roce)
	for _, group := range [][]int32{{0, 0, 0, 1}, {0, 0, -1, 0}, {-1, 0, 0, 0}, {-1, -1, -1, -1}, {0, 1, 2, 1}} {
		j := job(t, one(t, 4, 100_000), n, 1)
		want := finished(t, j)
		j = inGroups(j, group, make([]uint32, 4))
		got := finished(t, j)
		if group[0] == group[3] && group[0] >= 0 {
			want.Makespan = 0
		}
		if shared := group[0] >= 0 && group[0] == group[3]; shared != (got.PacketHops == 0) || !shared && got.Makespan != want.Makespan {
			t.Errorf("%v: %d packet-hops, %d; without groups %d", group, got.PacketHops, got.Makespan, want.Makespan)
		}
	}
	j := oneGroup(job(t, one(t, 2, 4096), n, 2))
	if got, want := finished(t, j).Makespan, int64(641_200); got != want {
		t.Errorf("on one node: %d, want %d", got, want)
	}
}

// incast is rounds in which every rank sends to all others of its group of eight at once,
// with a barrier of all ranks after each, so that packets of many senders reach each
// receiver at exactly the same time.
func incast(t testing.TB, ranks int, rounds, bytes int64) *graph.Graph {
	b := newBuilder(t, ranks)
	for i := range ranks {
		r := b.Rank(i, false)
		r.BeginLoop(b.site(graph.Loop), r.Int(rounds))
		for peer := i / 8 * 8; peer < i/8*8+8; peer++ {
			if peer == i {
				continue
			}
			r.Op(graph.Op{Kind: graph.Send, Flags: graph.Async, Site: b.site(graph.Send), Peer: r.Int(int64(peer)), Tag: r.Int(0), Size: r.Int(bytes), Label: -1})
			r.Op(graph.Op{Kind: graph.Recv, Flags: graph.Async, Site: b.site(graph.Recv), Peer: r.Int(graph.AnyRank), Tag: r.Int(0), Size: r.Int(bytes), Label: -1})
		}
		r.Op(graph.Op{Kind: graph.Join, Flags: graph.WaitAll, Site: b.site(graph.Join), Label: -1})
		b.collective(r, graph.Barrier, "tree", 0)
		r.EndLoop(b.site(graph.End))
		r.Done()
	}
	return b.graph()
}

// Exact ties at the receivers: whichever thread runs which group, and wherever the groups'
// ranks are, the result is the same.
func TestScaleUpTiesHoweverRun(t *testing.T) {
	j := job(t, incast(t, 24, 5, 10_000), network(t, "{kind: fat-tree, k: 8}", link400, roce), 1)
	group, subgroup := make([]int32, 24), make([]uint32, 24)
	for i := range group {
		group[i], subgroup[i] = int32(i/8), uint32(i%8/4)
	}
	j = inGroups(j, group, subgroup)
	want := finished(t, j)
	want.Wall, want.Windows = 0, 0
	for _, threads := range []int{1, 2, 3, 7} {
		for seed := range uint64(3) {
			k := j
			k.Threads, k.ShuffleSeed = threads, seed
			if seed == 2 {
				k.Window = 1000
			}
			got := finished(t, k)
			got.Wall, got.Windows = 0, 0
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("%d threads, seed %d: %s", threads, seed, diff)
			}
		}
	}
}

func TestScaleUpPlacementTooSmall(t *testing.T) {
	j := inGroups(job(t, one(t, 4, 8), network(t, "star", link400, roce), 1), []int32{0, 0}, []uint32{0, 0})
	_, err := Run(context.Background(), j)
	var le *diag.ListError
	if !errors.As(err, &le) || le.List.All()[0].Code != "E954" {
		t.Errorf("error %v", err)
	}
}

// Bandwidths and latencies beyond the range of time end the run.
func TestScaleUpOutOfRange(t *testing.T) {
	for _, change := range []func(*networks.ScaleUpGroup){
		func(g *networks.ScaleUpGroup) { g.PerByte = units.Int(8_000_000_000_000_000) },
		func(g *networks.ScaleUpGroup) { g.Hop = math.MaxInt64 },
		func(g *networks.ScaleUpGroup) { g.Cable = math.MaxInt64 / 2 },
	} {
		j := oneGroup(job(t, one(t, 2, 4096), network(t, "star", link400, roce), 1))
		change(&j.Placement.ScaleUp.Groups[0])
		if res := simulate(t, j); res.Verdict.OK() {
			t.Errorf("verdict %+v", res.Verdict)
		}
	}
}

// The tournament, against a scan: the earliest, and of several at one time the first.
func TestPorts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 20).Draw(t, "ports")
		var p ports
		due := make([]units.Time, n)
		for i := range due {
			p.add(nil)
			due[i] = units.Never
		}
		p.ready()
		for range rapid.IntRange(0, 50).Draw(t, "changes") {
			i := rapid.IntRange(0, n-1).Draw(t, "port")
			due[i] = rapid.SampledFrom([]units.Time{1, 2, 3, units.Never}).Draw(t, "due")
			p.set(int32(i), due[i])
			first := 0
			for k := range due {
				if due[k] < due[first] {
					first = k
				}
			}
			if got, at := p.next(); at != due[first] || at < units.Never && got != int32(first) {
				t.Fatalf("port %d at %d, want %d at %d", got, at, first, due[first])
			}
		}
	})
}

// BenchmarkScaleUp is groups of eight ranks of which each sends 1 MiB to each other one of
// its group, four times over, with barriers of all ranks.
func BenchmarkScaleUp(b *testing.B) {
	for _, groups := range []int{1, 16} {
		b.Run(fmt.Sprintf("groups=%d", groups), func(b *testing.B) {
			j := job(b, incast(b, 8*groups, 4, 1<<20), network(b, "{kind: fat-tree, k: 8}", link400, roce), 1)
			s := &networks.ScaleUpPlacement{}
			for g := range groups {
				s.Groups = append(s.Groups, networks.ScaleUpGroup{ID: uint32(g), PerByte: units.Int(10), Hop: 100_000, Cable: 100_000})
				for i := range 8 {
					s.Group, s.Subgroup = append(s.Group, int32(g)), append(s.Subgroup, uint32(i/4))
				}
			}
			j.Placement.ScaleUp = s
			cpu := cpuSeconds()
			for range b.N {
				finished(b, j)
			}
			cpu = cpuSeconds() - cpu
			b.ReportMetric(float64(b.N)*float64(groups)*8*7*256*4/cpu/1e6, "Mpackets/cpu-s")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// A message that nobody receives is reported like one over the network; a run that is
// stopped before the acknowledgement has not finished where that counts.
func TestScaleUpVerdicts(t *testing.T) {
	b := newBuilder(t, 2)
	r := b.Rank(0, true)
	b.send(r, 1, 7, 4096, 0)
	r.Done()
	b.Rank(1, true).Done()
	n := network(t, "star", link400, roce)
	v := simulate(t, oneGroup(job(t, b.graph(), n, 1))).Verdict
	if len(v.Unreceived) != 1 || v.Unreceived[0].Rank != 0 || v.Unreceived[0].Peer != 1 || v.Unreceived[0].Tag != 7 || v.Unreceived[0].Bytes != 4096 {
		t.Errorf("unreceived: %+v", v.Unreceived)
	}
	j := oneGroup(job(t, sendAndReceive(t, 4096, 0, 0, 0), n, 1))
	for _, c := range []struct {
		stop int64
		ack  bool
		want replay.Outcome
	}{{382_399, false, replay.Stopped}, {382_400, false, replay.Finished}, {641_199, true, replay.Stopped}, {641_200, true, replay.Finished}} {
		j.StopAt, j.EndWithAck = c.stop, c.ack
		if got := simulate(t, j).Verdict.Outcome; got != c.want {
			t.Errorf("stopped at %d, acknowledgements %v: %v, want %v", c.stop, c.ack, got, c.want)
		}
	}
}
