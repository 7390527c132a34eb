package des

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"hybrid/graph"
	"hybrid/graph/replay"
	"hybrid/internal/units"
)

// A recording of random programs on random networks is the same with any number of
// threads, in short windows and in any order of processes; marks in between change
// nothing; and the result is that of a run without a recorder.
func TestRecordingIsReproducible(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 77))
		j := randomJob(t, seed)
		j.StopAt = pick[int64](r, 0, 0, 3_000_000)
		every := pick[units.Time](r, 83_560, 1_000_003, 20_000_000)
		want := &tape{every: every}
		plain, res := simulate(t, j), record(t, j, want)
		want.check(t, j, res)
		plain.Wall, plain.Windows = res.Wall, res.Windows
		if d := gocmp.Diff(plain, res); d != "" {
			t.Fatalf("case %d: the recorder changes the result:\n%s", seed, d)
		}
		for _, c := range []struct {
			threads int
			window  int64
			shuffle uint64
		}{{1, 5_000 + int64(r.IntN(200_000)), 0}, {2, 0, 5}, {3, 150_000, seed + 1}} {
			again, k := &tape{every: every}, j
			k.Threads, k.Window, k.ShuffleSeed = c.threads, c.window, c.shuffle
			record(t, k, again)
			again.same(t, fmt.Sprintf("case %d, %+v", seed, c), want)
		}
		unmarked := &tape{}
		record(t, j, unmarked)
		unmarked.marks, unmarked.last = want.marks, slices.Clone(unmarked.last)
		for i := range unmarked.last { // of all the time, not of the time since the last mark
			if q := &unmarked.last[i].Queue; *q < want.last[i].Queue {
				t.Errorf("case %d: link %d had a queue of %d B, and at the end of the run of %d B", seed, i, *q, want.last[i].Queue)
			}
			unmarked.last[i].Queue = want.last[i].Queue
		}
		for i := range unmarked.queues {
			unmarked.queues[i].Most = want.queues[i].Most
		}
		unmarked.same(t, fmt.Sprintf("case %d, without marks", seed), want)
	}
}

// packet is one packet on a link: when its first bit starts, when its last has arrived.
type packet struct{ start, arrive, bytes int64 }

// passed counts the packets of a link before a time, by definition.
func passed(packets []packet, at int64) (c replay.PortCount) {
	for _, p := range packets {
		if p.start < at {
			c.TxPackets++
			c.TxBytes += p.bytes
		}
		if p.arrive < at {
			c.RxPackets++
			c.RxBytes += p.bytes
		}
	}
	return c
}

// A message of 10000 B on a star at 400 Gbit/s (20 ps a byte) is three packets, of 4194,
// 4178 and 1890 B; its acknowledgement is 86 B. With links of 500 ns and a switch that
// takes l:
//
//	link  packet  starts at                  has arrived 500 ns after its last bit left
//	up    1       0                          +83880
//	up    2       83880                      +83560
//	up    3       167440                     +37800
//	down  1       583880 + l                 +83880
//	down  2       667760 + l                 +83560 (its arrival at 667440 + l was before 1 had left)
//	down  3       751320 + l                 +37800
//	ack up        1289120 + l                +1720
//	ack down      1790840 + 2 l              +1720
//
// The clocks of switches run behind those of hosts by half of l; no counter of packets
// shows it. Packet 2 waits on the way down for 320 ps, 16 B, and packet 3, which arrives at
// 705240 + l, for 46080 ps, 2304 B. Each is seen at one mark, and no later than the packet.
func TestCountersAtMarks(t *testing.T) {
	for _, l := range []int64{0, 1, 300_000, 2_000_001} {
		at := func(start, bytes int64) packet { return packet{start, start + 20*bytes + 500_000, bytes} }
		want := map[[2]int32][]packet{
			{0, 2}: {at(0, 4194), at(83_880, 4178), at(167_440, 1890)},
			{2, 1}: {at(583_880+l, 4194), at(667_760+l, 4178), at(751_320+l, 1890)},
			{1, 2}: {at(1_289_120+l, 86)},
			{2, 0}: {at(1_790_840+2*l, 86)},
		}
		var times []units.Time
		for _, packets := range want {
			for _, p := range packets {
				times = append(times, p.start, p.start+1, p.start+20*p.bytes, p.arrive, p.arrive+1, p.arrive+l/2, p.arrive+l)
			}
		}
		slices.Sort(times)
		times = slices.Compact(times)
		n := network(t, "star", link400, fmt.Sprintf("  switch: {latency: %dps}\n%s", l, roce))
		p := &tape{times: times}
		res := record(t, job(t, one(t, 2, 10_000), n, 1), p)
		j := job(t, one(t, 2, 10_000), n, 1)
		p.check(t, j, res)
		last := int64(1_790_840 + 2*l + 501_720) // the last event; no mark comes after it
		if n := len(p.marks); n == 0 || p.marks[n-1].At != last {
			t.Fatalf("latency %d: the last mark is %+v, want one at %d", l, p.marks[n-1], last)
		}
		var queues []int64
		for _, m := range p.marks {
			for id, link := range j.Topology.Links() {
				if q := m.Links[id].Queue; q > 0 {
					queues = append(queues, int64(id), q)
					if m.At > 751_320+l+1 {
						t.Errorf("latency %d, at %d, link %d: a queue of %d B that has gone", l, m.At, id, q)
					}
					m.Links[id].Queue = 0
				}
				if got, want := m.Links[id], passed(want[[2]int32{link.From, link.To}], m.At); got != want {
					t.Errorf("latency %d, at %d, link from %d to %d: %+v, want %+v", l, m.At, link.From, link.To, got, want)
				}
			}
		}
		if d := gocmp.Diff([]int64{3, 16, 3, 2304}, queues); d != "" { // of link 3, from 2 to 1
			t.Errorf("latency %d: queues (-want +got):\n%s", l, d)
		}
	}
}

// Without packets the counters hold messages, of any size: 5 GB at 20 ps a byte are
// 0.1 s on each of two links of 500 ns.
func TestCountersWithoutPackets(t *testing.T) {
	const bytes = 5_000_000_000
	n := network(t, "star", link400, roce)
	j := job(t, one(t, 2, bytes), n, 1)
	j.Ideal = true
	up, down := packet{0, 20*bytes + 500_000, bytes}, packet{20*bytes + 500_000, 40*bytes + 1_000_000, bytes}
	p := &tape{times: []units.Time{1, up.arrive, up.arrive + 1, down.arrive}}
	p.check(t, j, record(t, j, p))
	for _, m := range p.marks {
		for id, link := range j.Topology.Links() {
			var want replay.PortCount
			switch {
			case link.From == 0:
				want = passed([]packet{up}, m.At)
			case link.To == 1:
				want = passed([]packet{down}, m.At)
			}
			if got := m.Links[id]; got != want {
				t.Errorf("at %d, link from %d to %d: %+v, want %+v", m.At, link.From, link.To, got, want)
			}
		}
	}
	if len(p.marks) != len(p.times) {
		t.Errorf("%d marks, want %d", len(p.marks), len(p.times))
	}
}

// Computing for 10 us leaves an idle span, in which every mark is called; after the end,
// and beyond the stop time, none is.
func TestMarksInIdleSpans(t *testing.T) {
	b := newBuilder(t, 1)
	r := b.Rank(0, true)
	b.compute(r, 10_000_000, 0)
	r.Done()
	j := job(t, b.graph(), network(t, "star", link400, roce), 1)
	for _, c := range []struct {
		stop  int64
		every units.Time
		want  int
	}{
		{0, 1_000_000, 10}, // the last at the time of the last event, before it
		{0, 999_999, 10},
		{0, 10_000_001, 0},
		{9_500_000, 1_000_000, 9},
		{9_000_000, 1_000_000, 9}, // the stop time is simulated, and what is before it has happened
		{8_999_999, 1_000_000, 8},
	} {
		j.StopAt = c.stop
		p := &tape{every: c.every}
		p.check(t, j, record(t, j, p))
		if len(p.marks) != c.want {
			t.Errorf("%+v: %d marks", c, len(p.marks))
		}
	}
}

// The events of a transfer, eager and rendezvous, between nodes and inside one. Times are
// those of the tests of transfers: an empty message arrives after 1003.92 ns and is
// acknowledged at 2007.36 ns; inside the node 4096 B take 409.6 ns and 200 ns more.
func TestEventsOfTransfers(t *testing.T) {
	type event struct {
		T    units.Time
		Rank int32
		Kind replay.EventKind
		Op   int32
	}
	n := network(t, "star", link400, roce)
	for _, c := range []struct {
		name    string
		perNode int
		bytes   int64
		flags   graph.Flags
		want    []event
	}{
		{"network", 1, 0, 0, []event{{0, 0, replay.OpStarted, 0}, {0, 1, replay.OpStarted, 0}, {1_960, 0, replay.OpEnded, 0}, {1003_920, 1, replay.OpEnded, 0},
			{2007_360, 0, replay.Acked, 0}, {2007_360, 0, replay.RankEnded, 0}, {2007_360, 1, replay.RankEnded, 0}}},
		{"node", 2, 4096, 0, []event{{0, 0, replay.OpStarted, 0}, {0, 1, replay.OpStarted, 0}, {409_600, 0, replay.OpEnded, 0}, {609_600, 0, replay.Acked, 0},
			{609_600, 0, replay.RankEnded, 0}, {609_600, 1, replay.OpEnded, 0}, {609_600, 1, replay.RankEnded, 0}}},
		// 200 ns for the announcement and as much for the answer come first.
		{"node, rendezvous", 2, 4096, graph.Rendezvous, []event{{0, 0, replay.OpStarted, 0}, {0, 1, replay.OpStarted, 0}, {809_600, 0, replay.OpEnded, 0}, {1009_600, 0, replay.Acked, 0},
			{1009_600, 0, replay.RankEnded, 0}, {1009_600, 1, replay.OpEnded, 0}, {1009_600, 1, replay.RankEnded, 0}}},
	} {
		b := newBuilder(t, 2)
		r := b.Rank(0, true)
		b.send(r, 1, 7, c.bytes, c.flags)
		r.Done()
		r = b.Rank(1, true)
		b.recv(r, 0, 7, c.bytes)
		r.Done()
		j := job(t, b.graph(), n, c.perNode)
		p := &tape{}
		p.check(t, j, record(t, j, p))
		var got []event
		for _, e := range p.events {
			got = append(got, event{e.T, e.Rank, e.Kind, e.Op})
			if e.Kind != replay.RankEnded && (e.Bytes != c.bytes || replay.PlainTag(e.Tag, e.Context) != 7 || e.Peer != 1-e.Rank || e.Step != -1 || e.Collective) {
				t.Errorf("%s: %+v", c.name, e)
			}
		}
		if d := gocmp.Diff(c.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
}

// A rank whose operations have ended stays until what it received is acknowledged at its
// sender: the receiver ends with the sender, 1003.44 ns after its receive. Ranks of other
// programs end with their last operation, and one that has nothing to do ends at 0.
func TestRankEnds(t *testing.T) {
	n := network(t, "star", link400, roce)
	for _, c := range []struct {
		acked bool
		want  []units.Time
	}{{true, []units.Time{2007_360, 0, 2007_360}}, {false, []units.Time{1_960, 0, 1003_920}}} {
		j := job(t, one(t, 3, 0), n, 1)
		j.EndWithAck = c.acked
		p := &tape{}
		p.check(t, j, record(t, j, p))
		got := make([]units.Time, 3)
		for _, e := range p.events {
			if e.Kind == replay.RankEnded {
				got[e.Rank] = e.T
			}
		}
		if d := gocmp.Diff(c.want, got); d != "" {
			t.Errorf("acknowledged %v (-want +got):\n%s", c.acked, d)
		}
	}
}

// An operation says where it comes from: a collective's transfers name their step and
// their collective, those of the barrier before it are marked.
func TestEventsOfCollectives(t *testing.T) {
	b := newBuilder(t, 2)
	for i := range 2 {
		r := b.Rank(i, true)
		r.Op(graph.Op{Kind: graph.Collective, Flags: graph.Synchronize, Site: b.Site(graph.Site{Kind: graph.Collective}), Peer: r.Int(0), Tag: r.Int(0),
			Size: r.Int(1000), Arg: r.Call(graph.Call{Type: graph.AllReduce, Algorithm: "ring"}), Index: r.Int(0), Label: -1})
		r.Done()
	}
	j := job(t, b.graph(), network(t, "star", link400, roce), 1)
	p := &tape{}
	p.check(t, j, record(t, j, p))
	var sync, own int
	for _, e := range p.events {
		if e.Kind != replay.OpStarted {
			continue
		}
		group, instance, ok := replay.ContextCollective(e.Context)
		if !ok || group != 0 || instance != 0 || !e.Collective || e.Op != 0 || e.Step < 0 {
			t.Errorf("%+v", e)
		}
		if e.Sync {
			sync++
		} else if own++; e.Bytes != 500 {
			t.Errorf("a transfer of %d B, want 500", e.Bytes)
		}
	}
	// 2 (N-1) transfers are 2 sends and 2 receives in either.
	if sync != 4 || own != 8 {
		t.Errorf("%d operations of the barrier and %d of the collective", sync, own)
	}
	if len(p.parts) != 2 || p.parts[0].Rank == p.parts[1].Rank {
		t.Errorf("parts %+v", p.parts)
	}
}

// An error of the recorder fails the run and ends the calls.
func TestRecorderFails(t *testing.T) {
	j := job(t, everyone(t, 4, graph.AllReduce, "ring", 1000), network(t, "star", link400, roce), 1)
	for _, name := range []string{"Begin", "Events", "Parts", "Queues", "Mark", "End"} {
		p := &tape{every: 1_000_000, fail: name}
		res := record(t, j, p)
		if res.Verdict.Outcome != replay.Failed || len(res.Verdict.Errors) != 1 || !errors.Is(res.Verdict.Errors[0], errTape) {
			t.Errorf("%s: verdict %+v", name, res.Verdict)
		}
		if last := p.calls[len(p.calls)-1]; last != name {
			t.Errorf("%s failed, and then came %s", name, last)
		}
	}
	// A mark that does not move on would never end.
	p := &tape{times: []units.Time{5, 5}}
	if res := record(t, j, p); res.Verdict.Outcome != replay.Failed || !strings.Contains(fmt.Sprint(res.Verdict.Errors), "after the mark at 5") {
		t.Errorf("the same mark twice: %+v", res.Verdict)
	}
}

// A run that is stopped or interrupted ends the recording with what has happened.
func TestRecordingOfPartOfARun(t *testing.T) {
	n := network(t, "star", link400, roce)
	j := job(t, one(t, 2, 10_000), n, 1)
	j.StopAt = 583_880 // when the first packet is at the switch and starts again
	p := &tape{}
	res := record(t, j, p)
	p.check(t, j, res)
	if res.Verdict.Outcome != replay.Stopped {
		t.Errorf("outcome %v", res.Verdict.Outcome)
	}
	for id, l := range j.Topology.Links() {
		want := replay.PortCount{}
		switch [2]int32{l.From, l.To} {
		case [2]int32{0, 2}:
			want = replay.PortCount{TxPackets: 3, TxBytes: 4194 + 4178 + 1890, RxPackets: 1, RxBytes: 4194}
		case [2]int32{2, 1}:
			want = replay.PortCount{TxPackets: 1, TxBytes: 4194}
		}
		if p.last[id] != want {
			t.Errorf("link from %d to %d: %+v, want %+v", l.From, l.To, p.last[id], want)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	j.StopAt, p = 0, &tape{}
	j.Recorder = p
	res, err := Run(ctx, j)
	if err != nil || res.Verdict.Outcome != replay.Interrupted {
		t.Fatalf("%v, %+v", err, res)
	}
	p.check(t, j, res)
}
