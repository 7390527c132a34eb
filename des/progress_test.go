package des

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"hybrid/graph/replay"
)

// What a run tells of its progress grows up to what its result counts, and whether anyone
// listens, and how much the run cost, is of no consequence.
func TestWatch(t *testing.T) {
	for seed := range uint64(40) {
		j := randomJob(t, seed)
		want := simulate(t, j)
		var seen []replay.Progress
		j.Watch = func(state func() replay.Progress) { seen = append(seen, state()) }
		j.Stats = &replay.Stats{}
		j.Threads = 2
		got := simulate(t, j)
		got.Wall, want.Wall = 0, 0
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("case %d: the watch changes the result:\n%s", seed, d)
		}
		if n := int64(len(seen)); n != want.Windows/watchWindows {
			t.Errorf("case %d: asked %d times in %d windows", seed, n, want.Windows)
		}
		last := replay.Progress{Model: "packet"}
		for _, p := range append(seen, replay.Progress{Model: "packet", Now: 1 << 62, Operations: want.Operations, Events: want.Events, PacketHops: want.PacketHops}) {
			if p.Now < last.Now || p.Operations < last.Operations || p.Events < last.Events || p.PacketHops < last.PacketHops || p.Model != "packet" {
				t.Fatalf("case %d: %+v after %+v", seed, p, last)
			}
			last = p
		}
		events := int64(0)
		for _, n := range j.Stats.Threads {
			events += n
		}
		if len(j.Stats.Threads) != 2 || events != want.Events {
			t.Errorf("case %d: threads with %v events, %d in all", seed, j.Stats.Threads, want.Events)
		}
	}
}

// Three hosts send 4096 B to a fourth at once. The packets of 4194 B reach the switch
// together, and the third finds two before it, 8388 B, on the link to host 0. No other
// link has a queue: the acknowledgements leave host 0 one after another. Four hosts have
// something to do at the start; then, a window each, the switch, host 0, the switch, and three
// hosts: ten visits.
func TestStatsQueues(t *testing.T) {
	b := newBuilder(t, 4)
	r := b.Rank(0, true)
	for i := range int64(3) {
		b.recv(r, i+1, 0, 4096)
	}
	r.Done()
	for i := 1; i < 4; i++ {
		r := b.Rank(i, true)
		b.send(r, 0, 0, 4096, 0)
		r.Done()
	}
	j := job(t, b.graph(), network(t, "star", link400, roce), 1)
	j.Stats = &replay.Stats{}
	finished(t, j)
	want := &replay.Stats{Threads: []int64{j.Stats.Threads[0]}, Visits: 10, QueuePairs: 3, Queues: []replay.QueueStat{{Link: "rack-0 to server-0", Bytes: 2 * 4194}}}
	if d := cmp.Diff(want, j.Stats); d != "" {
		t.Error(d)
	}
}
