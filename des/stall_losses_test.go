package des

import (
	"fmt"
	"strings"
	"testing"

	"hybrid/graph/replay"
)

// What a queue pair waits for where links fail, whether switches have a packet memory or
// not. A frame of 4194 B takes 83.88 ns on each of the two links of 500 ns.
func TestFaultsAreNamed(t *testing.T) {
	const bytes = 4096
	for _, c := range []struct{ faults, wait, from, text string }{
		{"{link: [server-0, rack-0], loss: 1, direction: forward}", "lost", "server-0",
			"packet 0 was lost at 0 ps, on the way from server-0 to rack-0: the link loses frames"},
		{"{link: [server-0, rack-0], at: 50ns, direction: forward}", "lost", "server-0",
			"packet 0 was lost at 0 ps, on the way from server-0 to rack-0: the link went down meanwhile"},
		{"{link: [rack-0, server-1], at: 10ns, direction: forward}", "lost", "rack-0",
			"packet 0 was lost at 583.880 ns, on the way from rack-0 to server-1: the link is down"},
		{"{link: [rack-0, server-1], at: 0ns, direction: forward}", "lost", "rack-0",
			"packet 0 was dropped at 583.880 ns, at rack-0: no way leads from there to server-1"},
		{"{link: [server-1, rack-0], loss: 1, direction: forward}", "lost", "server-1",
			"the acknowledgement of packet 0 was lost at 1.168 us, on the way from server-1 to rack-0: the link loses frames"},
		{"{link: [server-0, rack-0], at: 0ns, direction: forward}", "down", "server-0",
			"packet 0 has not been sent: the link from server-0 to rack-0 is down since 0 ps, for good"},
		{"{link: [server-1, rack-0], at: 100ns, direction: forward}", "down", "server-1",
			"the acknowledgement of packet 0 has not been sent: the link from server-1 to rack-0 is down since 100.000 ns, for good"},
	} {
		for _, keys := range []string{"reroute: 1s", "reroute: 1s\n  switch: {buffer: 1MB}"} {
			n := failing(t, "{kind: star, hosts: 2}", link400, keys, "["+c.faults+"]")
			res := simulate(t, job(t, one(t, 2, bytes), n, 1))
			s := res.Verdict.Stall
			if res.Verdict.Outcome != replay.Failed || s == nil || len(s.Pairs) != 1 || s.More != 0 {
				t.Errorf("%s: %+v, stall %+v", c.faults, res.Verdict, s)
				continue
			}
			p := s.Pairs[0]
			if p.Wait != c.wait || p.Text != c.text || p.From != c.from || p.Since < 0 {
				t.Errorf("%s: %+v\nwant %s: %s", c.faults, p, c.wait, c.text)
			}
			if noWay := strings.Contains(c.text, "no way"); noWay != (p.Link < 0) || noWay != (p.To == "") {
				t.Errorf("%s: link %d, to %q", c.faults, p.Link, p.To)
			}
		}
	}
}

// At the stop time a NIC waits for a link that comes back later.
func TestWaitForRepairIsNamed(t *testing.T) {
	j := job(t, one(t, 2, 4096), failing(t, "{kind: star, hosts: 2}", link400, "reroute: 1s", "[{link: [server-0, rack-0], at: 0ns, until: 50us, direction: forward}]"), 1)
	j.StopAt = 10_000_000
	s := simulate(t, j).Verdict.Stall
	if s == nil || len(s.Pairs) != 1 || s.Pairs[0].Wait != "down" || !strings.HasSuffix(s.Pairs[0].Text, "is down since 0 ps, until 50.000 us") {
		t.Errorf("stall %+v", s)
	}
	j.StopAt = 0
	finished(t, j)
}

// In random jobs in which links fail what stands still is the same however the run is done,
// with losses of many flows at one place and one time.
func TestSameStallsOfFaultsHoweverRun(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(60) {
		j, faults := randomFaultJob(t, seed)
		if s := simulate(t, j).Verdict.Stall; s != nil {
			for _, p := range s.Pairs {
				seen[p.Wait]++
			}
		}
		howeverRun(t, j, seed, fmt.Sprintf("case %d\n%s\n", seed, faults))
	}
	for _, name := range []string{"lost", "down"} {
		if seen[name] == 0 {
			t.Errorf("nothing waits for %q: %v", name, seen)
		}
	}
	t.Log(seen)
	b := newBuilder(t, 20)
	for i := range 19 {
		r := b.Rank(i, true)
		b.send(r, 19, int64(i), 100_000, 0)
		r.Done()
	}
	r := b.Rank(19, true)
	for i := range 19 {
		b.recv(r, int64(i), int64(i), 100_000)
	}
	r.Done()
	for _, fault := range []string{"{link: [rack-0, server-19], loss: 0.5}", "{link: [rack-0, server-19], at: 0ns}", "{link: [rack-0, server-19], at: 2us}"} {
		j := job(t, b.graph(), failing(t, "{kind: star, hosts: 20}", link400, "", "["+fault+"]"), 1)
		s := simulate(t, j).Verdict.Stall
		if s == nil || len(s.Pairs) != 16 || s.More != 3 || s.Pairs[7].Wait != "lost" {
			t.Errorf("%s: %+v", fault, s)
		}
		howeverRun(t, j, 1, fault)
	}
}
