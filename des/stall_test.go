package des

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hybrid/graph"
	"hybrid/graph/replay"
	"hybrid/internal/units"
	"hybrid/networks"
)

// The ports of a circle are named with what waits there. Each of four switches has 40 KB of
// the host's packets and 40 KB of the ring's before it pauses, and what was under way.
func TestCircleIsExplained(t *testing.T) {
	j := circleJob(t)
	var first *replay.Stall
	for _, threads := range []int{1, 2} {
		j.Threads = threads
		j.Window = int64(threads-1) * 400_000
		s := simulate(t, j).Verdict.Stall
		if s == nil || len(s.Circle) != 4 || len(s.Pairs) != 4 || s.More != 0 {
			t.Fatalf("stall %+v", s)
		}
		if first == nil {
			first = s
		} else if diff := cmp.Diff(first, s); diff != "" {
			t.Error(diff)
		}
	}
	names := networks.NodeNames(j.Topology)
	for i, p := range first.Circle {
		next := first.Circle[(i+1)%4]
		if p.To != next.From || p.Class != 0 || p.Bytes <= 40_000 || p.Since <= 0 || p.Head.Ack {
			t.Errorf("port %+v, then %+v", p, next)
		}
		if l := j.Topology.Links()[p.Link]; names[l.From] != p.From || names[l.To] != p.To {
			t.Errorf("link %d is from %s to %s, not from %s to %s", p.Link, names[l.From], names[l.To], p.From, p.To)
		}
	}
	for i, p := range first.Pairs {
		if p.Wait != "paused" || int(p.Src) != i || int(p.Dst) != (i+2)%4 || !strings.Contains(p.Text, "has paused class 0 since") {
			t.Errorf("pair %+v", p)
		}
	}
}

// A queue pair whose packet was dropped, or cut, says where; the one that lost nothing is
// not listed. Of three senders the first loses nothing: its packets come first.
func TestLostPacketIsNamed(t *testing.T) {
	for keys, want := range map[string]string{
		"queue: {limit: 20KB}":              "was dropped at",
		"queue: {limit: 20KB}, trim: {}":    "was cut to its header at",
		"buffer: 20KB, queue: {limit: 1MB}": "buffer is full",
	} {
		j := job(t, gather(t, 5, 100_000), switched(t, "star", link400, keys), 1)
		s := simulate(t, j).Verdict.Stall
		if s == nil || len(s.Pairs) == 0 {
			t.Fatalf("%s: stall %+v", keys, s)
		}
		for _, p := range s.Pairs {
			if p.Wait != "lost" || !strings.Contains(p.Text, want) || p.From != "rack-0" || p.To != "server-0" || p.Since <= 0 || p.Frame.Ack {
				t.Errorf("%s: %+v", keys, p)
			}
		}
	}
}

// At the stop time packets are on links, in line and at their NICs. Of one message of 1 MiB
// after 10 us nothing is lost; the first packet that has not arrived is on the second link.
func TestWaitsAtStopTime(t *testing.T) {
	j := job(t, one(t, 2, 1<<20), network(t, "star", link400, roce), 1)
	for at, want := range map[int64]string{
		1:          "link", // the first packet, on its way to the switch
		10_000_000: "link", // one of the middle
		22_500_000: "link", // an acknowledgement
		23_478_000: "link", // the same, almost there
	} {
		j.StopAt = at
		res := simulate(t, j)
		s := res.Verdict.Stall
		if res.Verdict.Outcome != replay.Stopped || s == nil || len(s.Pairs) != 1 || s.Pairs[0].Wait != want {
			t.Errorf("at %d: %v, %+v", at, res.Verdict.Outcome, s)
		}
	}
	// A link of 1 us holds 13 packets of 41 senders; of the others the first wait in line.
	j = job(t, gather(t, 41, 1<<20), network(t, "star", link400, roce), 1)
	j.StopAt = 10_000_000
	s := simulate(t, j).Verdict.Stall
	if s == nil || len(s.Pairs) != 16 || s.More != 24 || s.Pairs[0].Wait != "line" || !strings.Contains(s.Pairs[0].Text, "waits in line on the way from rack-0 to server-0") {
		t.Errorf("stall %+v", s)
	}
	if j.Ideal = true; simulate(t, j).Verdict.Stall != nil {
		t.Error("messages without packets are in no queue")
	}
}

// Under strict priority acknowledgements of the lower class wait until data to the same
// host have gone. Two hosts send 8 MiB each to host 0, which takes 343 us, while host 0
// sends 1 MiB to host 1. The remark names the class and the port; in turns there is none.
func TestStarvedClassIsNamed(t *testing.T) {
	b := newBuilder(t, 3)
	r := b.Rank(0, true)
	b.recv(r, 1, 0, 8<<20)
	b.recv(r, 2, 0, 8<<20)
	b.send(r, 1, 0, 1<<20, 0)
	r.Done()
	r = b.Rank(1, true)
	b.send(r, 0, 0, 8<<20, 0)
	b.recv(r, 0, 0, 1<<20)
	r.Done()
	r = b.Rank(2, true)
	b.send(r, 0, 0, 8<<20, 0)
	r.Done()
	n := func(schedule string) *networks.Network {
		return network(t, "star", link400, "  switch: {schedule: "+schedule+", classes: [{}, {}]}\n  wire: rocev2\n  mtu: 4096B\nnic: {transport: roce, class: 1, ack_class: 0}")
	}
	j := job(t, b.graph(), n("strict"), 1)
	var first []string
	for _, window := range []int64{0, 300_000} {
		j.Window = window
		res := finished(t, j)
		if len(res.Notes) != 2 || !strings.Contains(res.Notes[1], "strict priority: class 0 waited") || !strings.Contains(res.Notes[1], "on the way from rack-0 to server-0") {
			t.Fatalf("notes %q", res.Notes)
		}
		if first == nil {
			first = res.Notes
		} else if diff := cmp.Diff(first, res.Notes); diff != "" {
			t.Error(diff)
		}
	}
	t.Log(first[1])
	j.StopAt = 200_000_000
	s := simulate(t, j)
	if len(s.Notes) != 2 || s.Verdict.Stall == nil {
		t.Fatalf("stopped: %q, %+v", s.Notes, s.Verdict.Stall)
	}
	found := false
	for _, p := range s.Verdict.Stall.Pairs {
		found = found || p.Wait == "turn" && p.Frame.Ack && p.Class == 0 && p.Since > 0
	}
	if !found {
		t.Errorf("no pair waits for its turn: %+v", s.Verdict.Stall.Pairs)
	}
	j.StopAt, j.Network = 0, n("round-robin")
	if res := finished(t, j); len(res.Notes) != 1 {
		t.Errorf("round robin: %q", res.Notes)
	}
}

// What stands still at the stop time is the same however the run is done. In 100 random
// jobs packets are lost, in line and on links.
func TestSameStallsHoweverRun(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(100) {
		j, keys := randomSwitchJob(t, seed)
		all := simulate(t, j)
		j.StopAt = max(1, all.Clock.PS(all.Makespan)/(2+int64(seed%9)))
		if s := simulate(t, j).Verdict.Stall; s != nil {
			for _, p := range s.Pairs {
				seen[p.Wait]++
			}
		}
		howeverRun(t, j, seed, fmt.Sprintf("case %d\n%s\n", seed, keys))
	}
	for _, name := range []string{"lost", "line", "link"} {
		if seen[name] == 0 {
			t.Errorf("nothing waits for %q: %v", name, seen)
		}
	}
}

// roundTopology has two hosts and three switches, on which packets go round for ever.
type roundTopology struct{ circleTopology }

func (c roundTopology) Next(at, dst int32) (first, n int32) {
	if at < c.n {
		return at, 1
	}
	return c.n + 3*(at-c.n) + 1, 1
}

// Packets that go round end the run, also while ranks have gone on for long before.
func TestPacketsThatGoRound(t *testing.T) {
	for _, before := range []int64{0, 3_000_000_000_000} {
		b := newBuilder(t, 3)
		r := b.Rank(0, true)
		b.send(r, 1, 0, 10_000, 0, b.compute(r, before, graph.HostCPU))
		r.Done()
		r = b.Rank(1, true)
		b.recv(r, 0, 0, 10_000)
		r.Done()
		j := job(t, b.graph(), network(t, "star", "{rate: 400Gbps, delay: 100us}", roce), 1)
		j.Topology = roundTopology{circleTopology{3}}
		res := simulate(t, j)
		if res.Verdict.Outcome != replay.Failed || len(res.Verdict.Errors) != 1 || !strings.Contains(res.Verdict.Errors[0].Error(), "go round without arriving") {
			t.Fatalf("verdict %+v", res.Verdict)
		}
		if s := res.Verdict.Stall; s == nil || len(s.Pairs) != 1 || s.Pairs[0].Wait != "link" && s.Pairs[0].Wait != "line" {
			t.Errorf("stall %+v", s)
		}
	}
}

// Computing for hours between messages is no standstill, with pauses or without, nor is a
// slow link on which one packet takes longer than the guard's time between looks.
func TestGuardLetsHealthyRunsGo(t *testing.T) {
	const hours = 3 * 3600 * 1e12
	b := newBuilder(t, 3)
	r := b.Rank(0, true)
	last := b.recv(r, 1, 0, 300_000)
	for range 4 {
		last = b.recv(r, 1, 0, 100_000, b.compute(r, hours, graph.HostCPU, last))
	}
	b.recv(r, 2, 0, 300_000)
	r.Done()
	r = b.Rank(1, true)
	last = b.send(r, 0, 0, 300_000, 0)
	for range 4 {
		last = b.send(r, 0, 0, 100_000, 0, b.compute(r, hours, graph.HostCPU, last))
	}
	r.Done()
	r = b.Rank(2, true)
	b.send(r, 0, 0, 300_000, 0, b.compute(r, hours, graph.HostCPU))
	r.Done()
	g := b.graph()
	for _, link := range []string{link400, "{rate: 10kbps, delay: 1s}"} {
		finished(t, job(t, g, network(t, "star", link, roce), 1))
	}
	finished(t, job(t, g, switched(t, "star", link400, "pfc: {xoff: 20KB}"), 1))
	finished(t, job(t, g, switched(t, "star", "{rate: 1Mbps, delay: 1ms}", "pfc: {xoff: 20KB}"), 1))
}

// A look fails a run only if nothing came forward since the one before, at which only the
// network had something to do, and no change of the network is to come.
func TestLooksOfTheGuard(t *testing.T) {
	j := job(t, one(t, 2, 10_000), network(t, "star", link400, roce), 1)
	r, _, err := simulateRun(context.Background(), &j)
	if err != nil {
		t.Fatal(err)
	}
	look := func(fails bool, when string) {
		t.Helper()
		if err := r.progressing(); (err != nil) != fails {
			t.Errorf("%s: %v", when, err)
		}
	}
	wait := r.guard.wait
	look(false, "the first look")
	if r.guard.wait != 2*wait {
		t.Errorf("a look at a run that came forward: %d, then %d", wait, r.guard.wait)
	}
	look(true, "nothing moves")
	r.guard.notBefore = r.kernel.Reached + 1
	look(false, "a change is to come")
	r.guard.notBefore = 0
	r.nics[0].Taken++
	look(false, "an acknowledgement came")
	r.kernel.Workers()[0].Hops += 1 << 20
	r.nics[0].Packets += 1 << 20
	look(false, "a packet each for every hop")
	r.kernel.Workers()[0].Hops += 1 << 30
	look(true, "frames go round")
	r.kernel.Workers()[0].Hops++
	r.domains[0].at(units.Time(r.kernel.Reached)+5, eventResume, r.domains[0].newOp())
	look(false, "a rank has something to do")
}
