package des

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"hybrid/graph"
	"hybrid/graph/replay"
	"hybrid/internal/diag"
)

// pingPong lets two ranks pass a message of no bytes to and fro in a loop.
func pingPong(t testing.TB, times int64) *graph.Graph {
	b := newBuilder(t, 2)
	for i := range 2 {
		r := b.Rank(i, false)
		r.BeginLoop(b.site(graph.Loop), r.Int(times))
		first, second := graph.Send, graph.Recv
		if i == 1 {
			first, second = second, first
		}
		for tag, k := range []graph.Kind{first, second} {
			r.Op(graph.Op{Kind: k, Site: b.site(k), Peer: r.Int(int64(1 - i)), Tag: r.Int(int64(tag)), Size: r.Int(0), Label: -1})
		}
		r.EndLoop(b.site(graph.End))
		r.Done()
	}
	return b.graph()
}

// Without delays a transfer of the ideal transport takes the time of its bytes on every
// hop, and one of no bytes takes none.
func TestLinksWithoutDelay(t *testing.T) {
	leafSpine := "{kind: leaf-spine, leaves: 2, spines: 1, hosts_per_leaf: 2, uplink: {rate: 400Gbps, delay: %s}}"
	for _, c := range []struct {
		name, topology, delay string
		g                     *graph.Graph
		want                  int64
	}{
		{"2 hops of 1 MiB at 20 ps a byte", "star", "0ns", one(t, 4, 1<<20), 2 * 20 << 20},
		{"6 hops of a fat tree", "{kind: fat-tree, k: 4}", "0ns", one(t, 16, 1000), 6 * 20_000},
		{"no bytes", "{kind: fat-tree, k: 4}", "0ns", one(t, 16, 0), 0},
		{"10,000 messages of no bytes to and fro", "star", "0ns", pingPong(t, 5000), 0},
		// 14 steps of 80,000 / 8 B over 2 hops.
		{"ring all-reduce", "star", "0ns", everyone(t, 8, graph.AllReduce, "ring", 80_000), 14 * 2 * 10_000 * 20},
		{"a barrier", "star", "0ns", everyone(t, 8, graph.Barrier, "tree", 0), 0},
		{"delay on the links of hosts only", fmt.Sprintf(leafSpine, "0ns"), "500ns", one(t, 4, 1000), 4*20_000 + 2*500_000},
		{"delay between switches only", fmt.Sprintf(leafSpine, "500ns"), "0ns", one(t, 4, 1000), 4*20_000 + 2*500_000},
	} {
		n := network(t, c.topology, fmt.Sprintf("{rate: 400Gbps, delay: %s}", c.delay), roce)
		for threads := 1; threads <= 3; threads++ {
			j := job(t, c.g, n, 1)
			j.Ideal, j.Threads, j.ShuffleSeed = true, threads, uint64(threads-1)
			if got := finished(t, j).Makespan; got != c.want {
				t.Errorf("%s, %d threads: %d, want %d", c.name, threads, got, c.want)
			}
		}
	}
}

// Random machines with some links without look-ahead: the reference, which counts rounds
// event by event, agrees, and nothing depends on how the run is done.
func TestLinksWithoutDelayAgree(t *testing.T) {
	cases := 0
	for seed := uint64(400); cases < 120; seed++ {
		j := randomJob(t, seed)
		r := &run{job: &j, placement: j.Placement}
		r.check(new(diag.List))
		if len(r.close) == 0 {
			continue
		}
		cases++
		digest, finish, hops := refer(j)
		for _, threads := range []int{1, 2, 3} {
			k := j
			k.Threads, k.ShuffleSeed = threads, seed*uint64(threads-1)
			if threads > 1 {
				k.Window = 1000
			}
			res := simulate(t, k)
			if res.Digest != digest || res.PacketHops != hops || !slices.Equal(finishes(res), finish) {
				t.Fatalf("case %d, %d threads: digest %x, %d packet-hops, %v; the reference has %x, %d, %v",
					seed, threads, res.Digest, res.PacketHops, finishes(res), digest, hops, finish)
			}
			if res.Verdict.Outcome == replay.Failed {
				t.Fatalf("case %d: %+v", seed, res.Verdict)
			}
		}
	}
}

// The sets are those of a search along the links.
func TestSets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 20).Draw(t, "n")
		s, label := newSets(n), make([]int32, n)
		for i := range label {
			label[i] = int32(i)
		}
		for range rapid.IntRange(0, 30).Draw(t, "unions") {
			a, b := rapid.IntRange(0, n-1).Draw(t, "a"), rapid.IntRange(0, n-1).Draw(t, "b")
			s.union(int32(a), int32(b))
			low, high := min(label[a], label[b]), max(label[a], label[b])
			for i := range label {
				if label[i] == high {
					label[i] = low
				}
			}
		}
		for i := range n {
			if got := s.find(int32(i)); got != label[i] {
				t.Fatalf("%d is in the set of %d, want %d", i, got, label[i])
			}
		}
	})
}

// BenchmarkWithoutDelay is every host to every other with the ideal transport, where links
// without delay make one process of the whole machine, and with delays for comparison.
func BenchmarkWithoutDelay(b *testing.B) {
	for _, delay := range []string{"0ns", "1us"} {
		b.Run("delay="+delay, func(b *testing.B) {
			j := job(b, everyone(b, 128, graph.AllToAll, "interleaved", 128*65536), network(b, "{kind: fat-tree, k: 8}", fmt.Sprintf("{rate: 400Gbps, delay: %s}", delay), roce), 1)
			j.Ideal = true
			var hops int64
			cpu := cpuSeconds()
			for range b.N {
				hops += finished(b, j).PacketHops
			}
			b.ReportMetric(float64(hops)/(cpuSeconds()-cpu)/1e6, "Mhops/cpu-s")
			b.ReportMetric(0, "ns/op")
		})
	}
}
