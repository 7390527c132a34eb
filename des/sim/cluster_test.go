package sim

import (
	"context"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"hybrid/internal/units"
)

// gossip passes records on over all its links, each with its delay, and notes the order in
// which it saw them.
type gossip struct {
	in    *Inputs
	out   []*Channel
	delay []units.Time
	last  []units.Time // of the newest record by link
	start []Record
	seen  []Record
}

func (p *gossip) Step(w *Worker) units.Time {
	got, later := p.in.Gather(w)
	if w.Start == 0 && p.start != nil {
		got, p.start = append(p.start, got...), nil
	}
	for i := range got {
		r := got[i]
		p.seen = append(p.seen, r)
		w.Events++
		if r.PSN == 0 {
			continue
		}
		r.PSN--
		at := int(r.QP+r.PSN) % len(p.out)
		sent := r
		sent.T = max(r.T+p.delay[at], p.last[at])
		p.last[at] = sent.T
		*p.out[at].Slot() = sent
		p.out[at].Mark(w, sent.T)
	}
	return later
}

type wiring struct {
	from, to []int32
	delay    []units.Time
}

// components returns the sets of processes that links without delay join, and the links
// within each, by brute force.
func (g wiring) components(n int) (members [][]int32, inside [][]int) {
	set := make([]int32, n)
	for i := range set {
		set[i] = int32(i)
	}
	for range n {
		for i, d := range g.delay {
			if d == 0 {
				low := min(set[g.from[i]], set[g.to[i]])
				set[g.from[i]], set[g.to[i]] = low, low
			}
		}
	}
	for s := range int32(n) {
		var m []int32
		var in []int
		for p := range set {
			if set[p] == s {
				m = append(m, int32(p))
			}
		}
		for i := range g.delay {
			if set[g.from[i]] == s && set[g.to[i]] == s {
				in = append(in, i)
			}
		}
		if slices.ContainsFunc(in, func(i int) bool { return g.delay[i] == 0 }) {
			members, inside = append(members, m), append(inside, in)
		}
	}
	return members, inside
}

func (g wiring) run(t *rapid.T, n int, start [][]Record, threads int, window units.Time, shuffle uint64) ([][]Record, int64) {
	k := NewKernel(n, g.to)
	procs, all := make([]Process, n), make([]*gossip, n)
	for i := range procs {
		p := &gossip{in: k.Inputs(int32(i)), start: start[i]}
		for id, from := range g.from {
			if int(from) == i {
				p.out, p.delay, p.last = append(p.out, k.Channel(id)), append(p.delay, g.delay[id]), append(p.last, 0)
			}
		}
		procs[i], all[i] = p, p
		k.Due(int32(i), 0)
	}
	members, inside := g.components(n)
	for i := range members {
		k.Join(procs, members[i], inside[i])
	}
	if got := k.Run(context.Background(), Config{Processes: procs, Window: window, Threads: threads, Stop: units.Never, Shuffle: shuffle, Small: 1}); got != Drained {
		t.Fatalf("the run ended with %d: %v", got, k.Err)
	}
	if k.InFlight() != 0 {
		t.Fatal("records are left")
	}
	var seen [][]Record
	var events int64
	for _, p := range all {
		seen = append(seen, p.seen)
	}
	for _, w := range k.Workers() {
		events += w.Events
	}
	return seen, events
}

// rounds is the same without kernel, windows and clusters: one list of records on their
// way, and rounds at every instant in which something arrives.
func (g wiring) rounds(n int, start [][]Record) [][]Record {
	type flying struct {
		link  int
		round int
		r     Record
	}
	var air []flying
	seen, last := make([][]Record, n), make([]units.Time, len(g.to))
	relay := func(p int32, r Record, round int) {
		seen[p] = append(seen[p], r)
		if r.PSN == 0 {
			return
		}
		r.PSN--
		var out []int
		for id, from := range g.from {
			if from == p {
				out = append(out, id)
			}
		}
		id := out[int(r.QP+r.PSN)%len(out)]
		at := max(r.T+g.delay[id], last[id])
		if at > r.T {
			round = 0
		} else {
			round++
		}
		r.T, last[id] = at, at
		air = append(air, flying{id, round, r})
	}
	for p := range start {
		for _, r := range start[p] {
			relay(int32(p), r, 0)
		}
	}
	for len(air) > 0 {
		best := 0
		for i, f := range air {
			b := air[best]
			if f.r.T < b.r.T || f.r.T == b.r.T && (f.round < b.round || f.round == b.round && f.link < b.link) {
				best = i
			}
		}
		f := air[best]
		air = slices.Delete(air, best, best+1)
		relay(g.to[f.link], f.r, f.round)
	}
	return seen
}

// Links without delay may join processes in any way, also in cycles: what every process
// sees, and in which order, is what the rule of rounds says, with any number of workers,
// any order of members and any window.
func TestClusterRounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 9).Draw(t, "processes")
		var g wiring
		least := units.Time(100)
		for p := range n {
			for range rapid.IntRange(1, 3).Draw(t, "links") {
				g.from, g.to = append(g.from, int32(p)), append(g.to, rapid.Int32Range(0, int32(n)-1).Draw(t, "to"))
				d := rapid.SampledFrom([]units.Time{0, 0, 0, 7, 10, 100}).Draw(t, "delay")
				if g.delay = append(g.delay, d); d > 0 {
					least = min(least, d)
				}
			}
		}
		start := make([][]Record, n)
		for p := range start {
			for i := range rapid.IntRange(0, 4).Draw(t, "records") {
				start[p] = append(start[p], Record{PSN: rapid.Uint32Range(0, 30).Draw(t, "hops"), QP: uint32(i), Src: uint32(p)})
			}
		}
		want := g.rounds(n, start)
		for _, c := range []struct {
			threads int
			window  units.Time
			shuffle uint64
		}{{1, least, 0}, {2, least, 1}, {1, 1, 2}, {3, max(1, least/2), 3}} {
			got, events := g.run(t, n, start, c.threads, c.window, c.shuffle)
			if !slices.EqualFunc(got, want, func(a, b []Record) bool { return slices.Equal(a, b) }) {
				t.Fatalf("%d workers, window %d: %v, want %v", c.threads, c.window, got, want)
			}
			count := int64(0)
			for _, s := range want {
				count += int64(len(s))
			}
			if events != count {
				t.Fatalf("%d events, want %d", events, count)
			}
		}
	})
}

// A zero-delay ring of three passes a record on 30,000 times in one instant, and the
// cluster's members keep their due times from before they were joined.
func TestClusterInstantEnds(t *testing.T) {
	k, procs := ring(3, 0, 0)
	procs[0].(*relay).start = []Record{{PSN: 30_000}}
	all := slices.Clone(procs)
	k.Join(procs, []int32{0, 1, 2}, []int{0, 1, 2})
	if got := k.Run(context.Background(), Config{Processes: procs, Window: units.Never, Threads: 1, Stop: units.Never}); got != Drained {
		t.Fatalf("the run ended with %d", got)
	}
	for i, p := range all {
		if seen := p.(*relay).seen; len(seen) != 10_000+boolToInt(i == 0) || seen[len(seen)-1].T != 0 {
			t.Errorf("process %d saw %d records", i, len(seen))
		}
	}
	if k.Windows != 1 {
		t.Errorf("%d windows", k.Windows)
	}
}

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
