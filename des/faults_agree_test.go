package des

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"hybrid/des/fabric"
	"hybrid/internal/diag"
	"hybrid/networks"
)

// withFaults is the job with further text in the network's file.
func withFaults(t testing.TB, j Job, reroute, faults string) Job {
	t.Helper()
	var list diag.List
	src := strings.Replace(j.Network.Source, "fabric:\n", "fabric:\n  reroute: "+reroute+"\n", 1) + "faults: " + faults + "\n"
	n := networks.Parse("test.yml", []byte(src), nil, &list)
	if n == nil {
		t.Fatalf("%v\n%s", list.Err(), src)
	}
	j.Network = n
	if j.Topology = n.Topology(j.Placement.Nodes, &list); j.Topology == nil {
		t.Fatalf("%v\n%s", list.Err(), faults)
	}
	return j
}

// randomFaults makes faults on links of a topology within a time.
func randomFaults(r *rand.Rand, topo networks.Topology, horizon int64) string {
	links := topo.Links()
	rated, lossy := map[[2]int32]bool{}, map[[2]int32]bool{}
	if len(links) == 0 {
		return "[]"
	}
	var out []string
	for range 1 + r.IntN(5) {
		l := links[r.IntN(len(links))]
		pair, back := [2]int32{l.From, l.To}, [2]int32{l.To, l.From}
		name := fmt.Sprintf("link: [%d, %d], direction: %s", l.From, l.To, pick(r, "both", "forward"))
		down := "at: 0ns"
		if r.IntN(4) > 0 {
			down = fmt.Sprintf("at: %dps", r.Int64N(horizon)/1000*1000)
		}
		if r.IntN(3) > 0 {
			down += fmt.Sprintf(", until: %dps", horizon/1000*1000+r.Int64N(horizon))
			if r.IntN(2) == 0 {
				at := r.Int64N(horizon) / 500 * 500
				down = fmt.Sprintf("at: %dps, until: %dps", at, at+1+r.Int64N(horizon)/4)
			}
		}
		switch r.IntN(6) {
		case 0, 1:
			if int(l.From) >= topo.Hosts() { // entries about switches may overlap
				out = append(out, fmt.Sprintf("{switch: %d, %s}", l.From, down))
			}
		case 2, 3:
			if !rated[pair] && !rated[back] {
				out = append(out, fmt.Sprintf("{%s, %s}", name, down))
				rated[pair] = true
			}
		case 4:
			if !lossy[pair] && !lossy[back] {
				out = append(out, fmt.Sprintf("{%s, loss: %s, bit_error_rate: %s}", name, pick(r, "0", "0.01", "0.3"), pick(r, "0", "1e-6", "1e-5")))
				lossy[pair] = true
			}
		case 5:
			if !lossy[pair] && !lossy[back] {
				out = append(out, fmt.Sprintf("{%s, rate: %s}", name, pick(r, "100Gbps", "10Gbps", "800Gbps")))
				lossy[pair] = true
			}
		}
	}
	return "[" + strings.Join(out, ", ") + "]"
}

// randomFaultJob is a random job, with or without packet memories, on which links fail.
func randomFaultJob(t *testing.T, seed uint64) (j Job, faults string) {
	r := rand.New(rand.NewPCG(seed, 5))
	if seed%2 == 0 {
		j = randomJob(t, seed)
	} else {
		j, _ = randomSwitchJob(t, seed)
	}
	if r.IntN(3) == 0 {
		src := strings.Replace(j.Network.Source, "topology: {kind: fat-tree, k: 4}", "topology: {kind: multi-plane, planes: 2, plane: {kind: leaf-spine, leaves: 4, spines: 2, hosts_per_leaf: 3}}", 1)
		src = strings.Replace(src, "topology: star", "topology: {kind: multi-plane, planes: 3, plane: {kind: star}}", 1)
		j.Network.Source = src
	}
	horizon := max(simulate(t, j).Makespan, 1_000_000)
	faults = randomFaults(r, withFaults(t, j, "0ns", "[]").Topology, min(horizon, 1_000_000_000))
	j = withFaults(t, j, pick(r, "0ns", "0ns", "100ns", "1us"), faults)
	var list diag.List
	if (&run{job: &j, placement: j.Placement}).check(&list); list.HasErrors() {
		return randomFaultJob(t, seed+1_000_000)
	}
	return j, faults
}

// lostBy counts what links and switches lost to faults, by reason.
func lostBy(r *run) map[string]int64 {
	out := map[string]int64{}
	if r.faults == nil {
		return out
	}
	for _, f := range r.faults.list {
		for why, name := range map[fabric.Reason]string{fabric.LinkDown: "down", fabric.LinkCut: "cut", fabric.Lost: "loss", fabric.BitErrors: "bits"} {
			if n := f.Lost[why]; n > 0 {
				out[name] += n
			}
		}
		if f.Pauses > 0 {
			out["pause"] += f.Pauses
		}
	}
	for _, s := range r.fabricSwitches() {
		if n, _ := s.Stranded(); n > 0 {
			out["no way"] += n
		}
	}
	return out
}

// The engine and the reference agree on every operation's end, every rank's finish, the
// packets on links, and what is lost, by reason.
func TestFaultsAgreeWithReference(t *testing.T) {
	count := agreeing(t, cases(400), func(t *testing.T, seed uint64) (Job, string) {
		j, faults := randomFaultJob(t, seed)
		return j, "faults: " + faults
	})
	enough(t, count, cases(40), "finished:", "failed:")
	if !testing.Short() {
		enough(t, count, 1, "lost: down:", "lost: cut:", "lost: loss:", "lost: bits:", "lost: no way:", "lost: pause:")
	}
}

// Threads, windows and the order in which processes are visited are of no consequence.
func TestSameFaultsHoweverRun(t *testing.T) {
	for seed := range uint64(60) {
		j, faults := randomFaultJob(t, seed)
		howeverRun(t, j, seed, fmt.Sprintf("case %d\n%s\n", seed, faults))
	}
}
