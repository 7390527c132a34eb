package des

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hybrid/graph"
	"hybrid/graph/replay"
)

// tieJob is a run full of events at equal times: everybody starts at once, with equal
// sizes, over links of equal rates and delays.
type tieJob struct {
	name, topology, switches string
	ranks                    int
	program                  func(b builder, r *graph.RankBuilder, rank, ranks int)
}

const (
	tightPFC  = "buffer: 4MB, headroom: 70KB, pfc: {xoff: 9KB, xon: 5KB}"
	alphaPFC  = "buffer: 2MB, headroom: 70KB, classes: [{share: 3}, {share: 1}], pfc: {alpha: 0.125}, ecn: {kmin: 9KB, kmax: 40KB, average: 0.1}"
	trimming  = "buffer: 2MB, classes: [{}, {}], queue: {limit: 20KB}, trim: {class: 1}"
	dropping  = "buffer: 100KB, queue: {alpha: 0.5}"
	turnsECN  = "classes: [{}, {weight: 3}], schedule: weighted, ecn: {kmin: 8KB}"
	leafSpine = "{kind: leaf-spine, leaves: 4, spines: 4, hosts_per_leaf: 4}"
)

func tieJobs() []tieJob {
	incast := func(b builder, r *graph.RankBuilder, rank, ranks int) {
		for tag := range int64(10) {
			for i := 1; i < ranks; i++ {
				if rank == 0 {
					b.recv(r, int64(i), tag, 4096)
				} else if i == rank {
					b.send(r, 0, tag, 4096, 0)
				}
			}
		}
	}
	shift := func(b builder, r *graph.RankBuilder, rank, ranks int) { // one permutation after the other
		var last int32
		for step := 1; step < 6; step++ {
			var on []int32
			if step > 1 {
				on = []int32{last}
			}
			b.send(r, int64((rank+step*3)%ranks), int64(step), 16_384, 0, on...)
			last = b.recv(r, int64((rank-step*3%ranks+ranks)%ranks), int64(step), 16_384, on...)
		}
	}
	all := func(b builder, r *graph.RankBuilder, _, _ int) {
		b.collective(r, graph.AllToAll, "interleaved", 16*8192)
	}
	reduce := func(b builder, r *graph.RankBuilder, _, _ int) {
		for instance := range int64(3) {
			call := r.Call(graph.Call{Type: graph.AllReduce, Algorithm: "halving-doubling"})
			r.Op(graph.Op{Kind: graph.Collective, Site: b.Site(graph.Site{Kind: graph.Collective}), Peer: r.Int(0), Tag: r.Int(0), Size: r.Int(65_536), Arg: call, Index: r.Int(instance), Label: -1})
		}
	}
	stencil := func(b builder, r *graph.RankBuilder, rank, ranks int) {
		var on []int32
		for step := range int64(3) {
			var next []int32
			for _, d := range []int{1, ranks - 1, 4, ranks - 4} {
				next = append(next, b.send(r, int64((rank+d)%ranks), step*64+int64(d), 8192, 0, on...), b.recv(r, int64((rank-d+ranks)%ranks), step*64+int64(d), 8192, on...))
			}
			on = []int32{b.compute(r, 1_000_000, 0, next...)}
		}
	}
	return []tieJob{
		{"incast", "star", "", 16, incast},
		{"incast, pauses", "star", tightPFC, 16, incast},
		{"incast, trimming", "star", trimming, 16, incast},
		{"incast, drops", leafSpine, dropping, 16, incast},
		{"incast over spines, pauses", leafSpine, tightPFC, 16, incast},
		{"permutations", leafSpine, "", 16, shift},
		{"permutations, pauses", "{kind: fat-tree, k: 4}", tightPFC, 16, shift},
		{"permutations on a torus, marks", "{kind: torus, sizes: [4, 4]}", turnsECN, 16, shift},
		{"all-to-all", "{kind: dragonfly, hosts_per_router: 2, routers: 4, global_links: 2, groups: 2}", "", 16, all},
		{"all-to-all, dynamic pauses", leafSpine, alphaPFC, 16, all},
		{"all-to-all, trimming", "{kind: fat-tree, k: 4}", trimming, 16, all},
		{"all-reduce on planes", "{kind: multi-plane, planes: 2, plane: {kind: leaf-spine, leaves: 4, spines: 2, hosts_per_leaf: 4}}", "", 16, reduce},
		{"stencil", leafSpine, "", 16, stencil},
		{"stencil, pauses", leafSpine, tightPFC, 16, stencil},
	}
}

// build makes the job's graph, with its ranks' programs in some order.
func (j *tieJob) build(t testing.TB, order []int) *graph.Graph {
	b := newBuilder(t, j.ranks)
	for _, rank := range order {
		r := b.Rank(rank, true)
		j.program(b, r, rank, j.ranks)
		r.Done()
	}
	return b.graph()
}

func (j *tieJob) job(t testing.TB) Job {
	order := make([]int, j.ranks)
	for i := range order {
		order[i] = i
	}
	n := switched(t, j.topology, link400, j.switches)
	if j.switches == "" {
		n = network(t, j.topology, link400, roce)
	}
	return job(t, j.build(t, order), n, 1)
}

// On runs full of ties the whole result is the same for 1, 2, 3, 4 and 8 threads that take
// processes in any order, in windows of the look-ahead, a half, a third, and a picosecond.
func TestTiesHoweverRun(t *testing.T) {
	happened := map[string]bool{}
	for _, c := range tieJobs() {
		j := c.job(t)
		diff, what := agreement(t, j)
		if diff != "" {
			t.Fatalf("%s: %s", c.name, diff)
		}
		for _, label := range what {
			happened[label] = true
		}
		r, _, err := simulateRun(context.Background(), &j)
		if err != nil {
			t.Fatal(err)
		}
		look := r.clock.PS(r.window)
		want := plainResult(t, j)
		for i, threads := range []int{1, 2, 3, 4, 8} {
			for k, window := range []int64{0, look / 2, look / 3, 1} {
				if testing.Short() && (i+k)%3 != 0 {
					continue
				}
				again := j
				again.Threads, again.Window, again.ShuffleSeed = threads, window, uint64(1+4*i+k)
				if diff := cmp.Diff(want, plainResult(t, again)); diff != "" {
					t.Fatalf("%s, %d threads, windows of %d ps (-one thread +here):\n%s", c.name, threads, window, diff)
				}
			}
		}
	}
	for _, label := range []string{"pauses:", "drops:", "cuts:", "marks:", "a switch is paused:", "a host is paused:", "finished:", "failed:"} {
		if !happened[label] {
			t.Errorf("no job: %s", label)
		}
	}
}

// The jobs are full of ties indeed: where of frames that arrive together the one of the
// highest link goes first, not of the lowest, the reference finds other results.
func TestTiesMatter(t *testing.T) {
	for _, c := range tieJobs() {
		j := c.job(t)
		digest, _ := newReference(j).simulate()
		wrong := newReference(j)
		wrong.careless = true
		if other, _ := wrong.simulate(); other == digest {
			t.Errorf("%s: another order of arrivals at equal times changes nothing", c.name)
		}
	}
}

// Pauses that have stopped each other in a circle end the run when nothing else is going on
// any more, so that when they are noticed is of no consequence: here a rank goes on
// computing, in steps of 7,001 ps, for longer than the network is given to move again.
func TestStandstillHoweverRun(t *testing.T) {
	b := newBuilder(t, 5)
	for i := range 4 {
		r := b.Rank(i, true)
		b.send(r, int64(i+2)%4, 0, 400_000, 0)
		b.recv(r, int64(i+2)%4, 0, 400_000)
		r.Done()
	}
	r := b.Rank(4, true)
	waits := b.recv(r, 0, 1, 8) // so that it is not done ahead
	var on []int32
	for range 40_000 {
		on = []int32{b.compute(r, 7_001, 0, on...)}
	}
	b.compute(r, 1, 0, waits)
	r.Done()
	j := job(t, b.graph(), switched(t, "star", link400, "pfc: {xoff: 40KB, xon: 20KB}"), 1)
	j.Topology = circleTopology{5}
	f, digest, finish := referAll(j)
	for _, window := range []int64{0, 250_000, 100_000, 70_000} {
		for _, threads := range []int{1, 2, 3} {
			j.Threads, j.Window, j.ShuffleSeed = threads, window, uint64(threads)
			res := simulate(t, j)
			if res.Verdict.Outcome != replay.Failed || !strings.Contains(fmt.Sprint(res.Verdict.Errors), "in a circle") {
				t.Fatalf("%+v", res.Verdict)
			}
			if res.Digest != digest || res.PacketHops != f.hops || !cmp.Equal(finishes(res), finish) || res.Makespan != 40_000*7_001 {
				t.Errorf("windows of %d ps, %d threads: %x, %d packet-hops, %v; the reference has %x, %d, %v", window, threads, res.Digest, res.PacketHops, finishes(res), digest, f.hops, finish)
			}
		}
	}
}

// plainDigest is what of a result does not name places in the program's text.
func plainDigest(res *replay.Result) string {
	return fmt.Sprintf("%x, %d packet-hops, %v, %v", res.Digest, res.PacketHops, finishes(res), res.Notes)
}

// The order in which the ranks' programs are given is of no consequence.
func TestTiesInAnyOrderOfRanks(t *testing.T) {
	for i, c := range tieJobs() {
		j := c.job(t)
		want := plainDigest(simulate(t, j))
		for seed := range uint64(3) {
			j.Graph = c.build(t, rand.New(rand.NewPCG(seed, uint64(i))).Perm(c.ranks))
			if got := plainDigest(simulate(t, j)); got != want {
				t.Errorf("%s, ranks shuffled with %d: %s, want %s", c.name, seed, got, want)
			}
		}
	}
}

// Nor is the order of the lines of a topology's file, nor which end of a link comes first,
// nor the order of keys and classes in the network file.
func TestTiesInAnyOrderOfLines(t *testing.T) {
	dir := t.TempDir()
	edges := strings.Fields("h0,l0 h1,l0 h2,l0 h3,l0 h4,l1 h5,l1 h6,l1 h7,l1 h8,l2 h9,l2 h10,l2 h11,l2 h12,l3 h13,l3 h14,l3 h15,l3 " +
		"l0,s0 l1,s0 l2,s0 l3,s0 l0,s1 l1,s1 l2,s1 l3,s1 l0,s1,100Gbps,1us l1,s1,400Gbps,1us l2,s1,400Gbps l3,s1,200Gbps,500ns")
	hpcc := func(r *rand.Rand) string {
		var lines []string
		for h := range 16 {
			lines = append(lines, fmt.Sprintf("%d %d 400Gbps 0.0005ms 0", h, 16+h/4))
		}
		for l := range 4 {
			lines = append(lines, fmt.Sprintf("%d 20 400Gbps 0.0005ms 0", 16+l), fmt.Sprintf("%d 21 400Gbps 0.0005ms 0", 16+l))
		}
		shuffle(r, lines)
		ids := strings.Fields("16 17 18 19 20 21")
		shuffle(r, ids)
		return "22 6 24\n" + strings.Join(ids, " ") + "\n" + strings.Join(lines, "\n") + "\n"
	}
	list := func(r *rand.Rand) string {
		var lines []string
		for _, e := range edges {
			ends := strings.Split(e, ",")
			if r != nil && r.IntN(2) == 0 {
				ends[0], ends[1] = ends[1], ends[0]
			}
			lines = append(lines, strings.Join(ends, " "))
		}
		shuffle(r, lines)
		return strings.Join(lines, "\n") + "\n"
	}
	for name, text := range map[string]func(*rand.Rand) string{"edges": list, "hpcc": hpcc} {
		for _, c := range tieJobs() {
			if !strings.HasPrefix(c.topology, "{kind: leaf-spine") {
				continue
			}
			want := ""
			for seed := range uint64(4) {
				var r *rand.Rand
				keys := topLevel(c.switches)
				if seed > 0 {
					r = rand.New(rand.NewPCG(seed, 5))
					shuffle(r, keys)
				}
				file := filepath.Join(dir, name)
				if err := os.WriteFile(file, []byte(text(r)), 0o644); err != nil {
					t.Fatal(err)
				}
				j := c.job(t)
				again := job(t, j.Graph, switched(t, fmt.Sprintf("{kind: file, file: %q}", file), link400, strings.Join(keys, ", ")), 1)
				switch got := plainDigest(simulate(t, again)); {
				case seed == 0:
					want = got
				case got != want:
					t.Errorf("%s, %s, lines shuffled with %d: %s, want %s", name, c.name, seed, got, want)
				}
			}
		}
	}
}

// shuffle changes the order of texts, or leaves it where r is nil.
func shuffle(r *rand.Rand, texts []string) {
	if r != nil {
		r.Shuffle(len(texts), func(a, b int) { texts[a], texts[b] = texts[b], texts[a] })
	}
}

// topLevel cuts the keys of a YAML mapping apart.
func topLevel(keys string) (out []string) {
	depth, from := 0, 0
	for i, r := range keys {
		switch r {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case ',':
			if depth == 0 {
				out, from = append(out, strings.TrimSpace(keys[from:i])), i+1
			}
		}
	}
	if from < len(keys) {
		out = append(out, strings.TrimSpace(keys[from:]))
	}
	return out
}
