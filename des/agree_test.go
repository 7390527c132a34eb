package des

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hybrid/graph"
	"hybrid/graph/replay"
)

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// randomNetwork makes a small network whose parameters invite ties.
func randomNetwork(t *testing.T, r *rand.Rand) string {
	topology := pick(r, "star", "direct", "{kind: leaf-spine, leaves: 4, spines: 2, hosts_per_leaf: 3}",
		"{kind: leaf-spine, leaves: 3, spines: 3, hosts_per_leaf: 4, uplink: {rate: 100Gbps, delay: 70ns}}",
		"{kind: leaf-spine, leaves: 2, spines: 1, hosts_per_leaf: 6, uplink: {rate: 400Gbps, delay: 0ns}}", "{kind: fat-tree, k: 4}")
	link := fmt.Sprintf("{rate: %s, delay: %s}", pick(r, "400Gbps", "400Gbps", "10Gbps", "106.25Gbps", "900GB/s"), pick(r, "100ns", "500ns", "1us", "1ps", "0ns"))
	more := fmt.Sprintf("  switch: {latency: %s}\n  wire: %s\n  mtu: %s\n", pick(r, "0ns", "0ns", "300ns"),
		pick(r, "rocev2", "none", "{preset: rocev2, ack: 0B}", "htsim"), pick(r, "4096B", "256B", "1024B"))
	if r.IntN(4) == 0 {
		more += "nic: {transport: ideal}"
	} else {
		more += fmt.Sprintf("nic: {transport: roce, ack_every: %d}", pick(r, 1, 2, 16))
	}
	return topology + "|" + link + "|" + more
}

// randomGraph makes messages between random ranks, each end behind operations that
// precede it in its rank, and perhaps a collective at the end.
func randomGraph(t *testing.T, r *rand.Rand, ranks int) *graph.Graph {
	type plan struct {
		kind               graph.Kind
		peer, tag          int64
		bytes, deps, flags int
	}
	plans := make([][]plan, ranks)
	for m := range 4 + r.IntN(24) {
		src, dst := r.IntN(ranks), r.IntN(ranks)
		if r.IntN(3) == 0 {
			dst = 0 // a shared receiver
		}
		bytes, flags := pick(r, 0, 1, 100, 4096, 4097, 20000), pick(r, 0, graph.Eager, graph.Rendezvous)
		from := int64(src)
		if r.IntN(8) == 0 {
			from = graph.AnyRank
		}
		for _, at := range []int{src, dst} {
			if r.IntN(3) == 0 {
				plans[at] = append(plans[at], plan{kind: graph.Compute, bytes: pick(r, 0, 1, 83560, 100000, 100000, 333333), deps: r.IntN(3), flags: int(pick(r, 0, 0, graph.HostCPU))})
			}
		}
		tag := int64(pick(r, 0, m))
		plans[src] = append(plans[src], plan{graph.Send, int64(dst), tag, bytes, r.IntN(3), int(flags)})
		plans[dst] = append(plans[dst], plan{graph.Recv, from, tag, bytes, r.IntN(3), 0})
	}
	collective := r.IntN(4) == 0
	b := newBuilder(t, ranks)
	for i, p := range plans {
		k := b.Rank(i, true)
		for at, o := range p {
			var on []int32
			for d := range min(o.deps, at) {
				if dep := int32(at - 1 - r.IntN(min(at, 4))); d == 0 || dep != on[0] {
					on = append(on, dep)
				}
			}
			switch o.kind {
			case graph.Compute:
				b.compute(k, int64(o.bytes), graph.Flags(o.flags), on...)
			case graph.Send:
				b.send(k, o.peer, o.tag, int64(o.bytes), graph.Flags(o.flags), on...)
			default:
				b.recv(k, o.peer, o.tag, int64(o.bytes), on...)
			}
		}
		if collective {
			b.collective(k, graph.AllReduce, "ring", 10000)
		}
		k.Done()
	}
	return b.graph()
}

func randomJob(t *testing.T, seed uint64) Job {
	r := rand.New(rand.NewPCG(seed, 7))
	ranks := 2 + r.IntN(11)
	text := randomNetwork(t, r)
	var parts [3]string
	for i, at := 0, 0; i < len(text); i++ {
		if text[i] == '|' && at < 2 {
			at++
			continue
		}
		parts[at] += text[i : i+1]
	}
	j := job(t, randomGraph(t, r, ranks), network(t, parts[0], parts[1], parts[2]), 1+r.IntN(3))
	j.Seed = r.Uint64()
	j.EndWithAck = r.IntN(2) == 0
	j.Family = pick(r, "synthesized", "collected")
	j.SendOverhead, j.ReceiveOverhead = pick[int64](r, 0, 0, 1000, 83560), pick[int64](r, 0, 0, 500, 83560)
	if r.IntN(2) == 0 {
		randomScaleUp(r, &j)
	}
	return j
}

func finishes(res *replay.Result) []int64 {
	var f []int64
	for _, k := range res.Ranks {
		f = append(f, k.Finish)
	}
	return f
}

// howeverRun demands that threads, the order in which processes are visited and the
// length of windows are of no consequence. Notes of a failure are compared as text.
func howeverRun(t *testing.T, j Job, seed uint64, name string) {
	t.Helper()
	want := plainResult(t, j)
	half := max(1, 1+j.Network.Fabric.Link.Delay/2)
	for i, threads := range []int{1, 2, 3, 4, 8} {
		for n, window := range []int64{0, half, max(1, half/7)} {
			if threads > 3 && n != (i+int(seed))%3 { // each with one of the windows
				continue
			}
			k := j
			k.Threads, k.ShuffleSeed, k.Window = threads, seed+1+uint64(n), window
			if diff := cmp.Diff(want, plainResult(t, k)); diff != "" {
				t.Fatalf("%s, %d threads, windows of %d ps: %s", name, threads, window, diff)
			}
		}
	}
}

// plainResult runs a job and leaves out of the result what may differ between runs;
// errors become texts.
func plainResult(t *testing.T, j Job) *replay.Result {
	t.Helper()
	res := simulate(t, j)
	res.Wall, res.Windows = 0, 0
	if strings.Contains(fmt.Sprint(res.Verdict.Errors), "in a circle") {
		res.Events = 0 // with the pauses that are repeated until somebody looks, between windows
	}
	for _, err := range res.Verdict.Errors {
		res.Notes = append(res.Notes, err.Error())
	}
	res.Verdict.Errors = nil
	return res
}

func TestSameResultHoweverRun(t *testing.T) {
	first, end, _ := casesToRun(5000, 5150, 30)
	for number := first; number < end; number++ {
		c, j := newCase(t, number)
		howeverRun(t, j, number, c.String())
	}
}

// The same on a fabric with many paths and a queue at every port.
func TestSamePermutationHoweverRun(t *testing.T) {
	j := job(t, permutation(t, 128, 100_000), network(t, "{kind: fat-tree, k: 8}", "{rate: 400Gbps, delay: 1us}", roce), 1)
	want := finished(t, j)
	sameInThreads(t, j, want, 1, 2, 3, 7)
}
