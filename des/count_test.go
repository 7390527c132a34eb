package des

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hybrid/graph/replay"
	"hybrid/internal/units"
)

// refCounts is what a recorder should see at a mark, read off the reference.
type refCounts struct {
	packets []int64             // by link, pause frames included
	bytes   map[[2]int]int64    // by (link, class): in memory
	most    map[[2]int]int64    // since the last mark
	paused  map[[2]int]int64    // before the last frame
	frame   map[[2]int][2]int64 // from when and until when it pauses
	totals  map[int32][4]int64  // by switch: marks, drops, cuts, pauses
}

// refPoll reads the counters of the reference after each event, and keeps what they were
// at each mark.
type refPoll struct {
	every int64
	now   refCounts
	marks []refCounts
}

func (p *refPoll) poll(f *reference) {
	c := &p.now
	if c.packets == nil {
		*c = refCounts{make([]int64, len(f.links)), map[[2]int]int64{}, map[[2]int]int64{}, map[[2]int]int64{}, map[[2]int][2]int64{}, map[int32][4]int64{}}
	}
	for int64(len(p.marks)+1)*p.every <= f.now {
		p.mark()
	}
	copy(c.packets, f.count)
	until := func(key [2]int, to int64) {
		if old, ok := c.frame[key]; !ok && to == 0 || ok && old[1] == to {
			return
		}
		c.paused[key] += refPaused(c.frame[key], f.now)
		c.frame[key] = [2]int64{f.now, to}
	}
	for node, s := range f.switches {
		c.totals[node] = [4]int64{s.marks, s.drops, s.cuts, s.pauses}
		for link, port := range s.ports {
			for class := range f.run.section.Classes {
				key := [2]int{link, class}
				c.bytes[key] = port.bytes(class)
				c.most[key] = max(c.most[key], c.bytes[key])
				until(key, port.until[class])
			}
		}
	}
	for i := range f.hosts {
		for key, to := range f.hosts[i].until {
			until([2]int{key[0], int(f.run.params.Classes[key[1]])}, to)
		}
	}
}

func refPaused(frame [2]int64, at int64) int64 { return max(min(at, frame[1])-frame[0], 0) }

// mark keeps the counters for the next mark.
func (p *refPoll) mark() {
	at := int64(len(p.marks)+1) * p.every
	c := refCounts{slices.Clone(p.now.packets), nil, map[[2]int]int64{}, map[[2]int]int64{}, nil, map[int32][4]int64{}}
	for key, n := range p.now.most {
		c.most[key] = n
		p.now.most[key] = p.now.bytes[key]
	}
	for key, frame := range p.now.frame {
		c.paused[key] = p.now.paused[key] + refPaused(frame, at)
	}
	for node, n := range p.now.totals {
		c.totals[node] = n
	}
	p.marks = append(p.marks, c)
}

// At marks the counters are those of the reference at that very time, also where the clocks
// of switches run behind: packets that have started, the most bytes of a class in memory,
// how long it was paused, and what switches did to packets and senders.
func TestCountersAgreeWithReference(t *testing.T) {
	var seen [6]int64
	cases := uint64(40)
	if testing.Short() {
		cases = 10
	}
	for seed := range cases {
		j, keys := randomSwitchJob(t, seed)
		r, _ := runSwitches(t, j)
		every := units.Time(83_560) + r.medium.Lead
		p := &tape{every: every}
		record(t, j, p)
		ref := refPoll{every: every}
		referWatched(j, ref.poll)
		for i, m := range p.marks[:min(len(p.marks), len(ref.marks))] {
			want := &ref.marks[i]
			what := fmt.Sprintf("case %d, at %d, lead %d: %s", seed, m.At, r.medium.Lead, keys)
			classes := len(m.Queues) / len(m.Links)
			totals := map[int32][4]int64{}
			for id, l := range m.Links {
				if l.TxPackets != want.packets[id] {
					t.Fatalf("%s: %d packets on link %d, want %d", what, l.TxPackets, id, want.packets[id])
				}
				for c, q := range m.Queues[id*classes : (id+1)*classes] {
					key := [2]int{id, c}
					if q.Most != want.most[key] || q.Paused != want.paused[key] {
						t.Fatalf("%s: link %d, class %d: %+v, want at most %d B and a pause of %d", what, id, c, q, want.most[key], want.paused[key])
					}
					seen[4], seen[5] = max(seen[4], q.Most), max(seen[5], q.Paused)
				}
				from, to := j.Topology.Links()[id].From, j.Topology.Links()[id].To
				a := totals[from]
				totals[from] = [4]int64{a[0] + l.TxMarks, a[1] + l.TxDrops, a[2] + l.TxCuts, a[3]}
				a = totals[to]
				totals[to] = [4]int64{a[0], a[1], a[2], a[3] + l.Pauses}
			}
			for node, n := range want.totals {
				if totals[node] != n {
					t.Fatalf("%s: switch %d has marks, drops, cuts, pauses %v, want %v", what, node, totals[node], n)
				}
				for k := range n {
					seen[k] = max(seen[k], n[k])
				}
			}
		}
	}
	if slices.Contains(seen[:], 0) && !testing.Short() {
		t.Errorf("something never happened: %v", seen)
	}
}

// checkQueues demands of the counters of classes that they never fall, add up to those of
// links and, at the end, to what switches and NICs say for the notes of the result.
func (p *tape) checkQueues(t *testing.T, r *run) {
	t.Helper()
	if len(p.last) == 0 { // a single node
		return
	}
	classes := len(p.queues) / len(p.last)
	before := make([]replay.QueueCount, len(p.queues))
	for _, m := range append(slices.Clone(p.marks), mark{At: units.Never, Links: p.last, Queues: p.queues}) {
		for i, q := range m.Queues {
			b := before[i]
			if q.TxPackets < b.TxPackets || q.TxBytes < b.TxBytes || q.Marks < b.Marks || q.Drops < b.Drops || q.Cuts < b.Cuts || q.PauseFrames < b.PauseFrames || q.Paused < b.Paused || q.Paused > m.At {
				t.Fatalf("link %d, class %d, at %d: %+v after %+v", i/classes, i%classes, m.At, q, b)
			}
			if r.buffering == nil && q.Most != m.Links[i].Queue {
				t.Fatalf("link %d at %d: a queue of %d B, and of %d B", i, m.At, q.Most, m.Links[i].Queue)
			}
		}
		before = m.Queues
		for id, l := range m.Links {
			p.checkLink(t, r, &m, id, l, m.Queues[id*classes:(id+1)*classes])
		}
	}
	var told, sum [5]int64
	frames, stopped := int64(0), int64(0)
	for id, l := range p.last {
		told = add(told, [5]int64{l.Pauses, l.TxDrops, l.TxCuts, l.TxMarks})
		if int(r.job.Topology.Links()[id].From) < r.job.Topology.Hosts() {
			frames += l.PauseFrames
		}
	}
	for _, s := range r.buffered {
		sum = add(sum, [5]int64{s.Tally.Pauses, s.Tally.Drops, s.Tally.Cuts, s.Marks()})
	}
	for _, n := range r.nics {
		stopped += n.Paused
	}
	early := r.job.StopAt > 0 && r.medium.Lead > 0 // the counters end at the stop, the notes a lead behind it
	for k := range told {
		early = early && told[k] <= sum[k]
	}
	if told != sum && !early || frames != stopped {
		t.Fatalf("pauses, drops, cuts, marks of links %v and %d pause frames at NICs, of switches and NICs %v and %d", told, frames, sum, stopped)
	}
}

// checkLink demands that the classes of a link add up to the link, but for the pause frames
// on it, which are in no class.
func (p *tape) checkLink(t *testing.T, r *run, m *mark, id int, l replay.PortCount, classes []replay.QueueCount) {
	t.Helper()
	for _, q := range classes {
		l.TxPackets, l.TxBytes, l.PauseFrames = l.TxPackets-q.TxPackets, l.TxBytes-q.TxBytes, l.PauseFrames-q.PauseFrames
		l.TxMarks, l.TxDrops, l.TxCuts = l.TxMarks-q.Marks, l.TxDrops-q.Drops, l.TxCuts-q.Cuts
	}
	frame := int64(0)
	if r.buffering != nil {
		frame = r.buffering.Frame
	}
	if l.TxPackets < 0 || l.TxPackets > 0 && l.TxBytes != l.TxPackets*frame || l.TxPackets == 0 && l.TxBytes != 0 || l.PauseFrames|l.TxMarks|l.TxDrops|l.TxCuts != 0 {
		t.Fatalf("link %d at %d: classes and pause frames leave %+v", id, m.At, l)
	}
}

// What a recorder does not want it is not told, and nothing else changes: the counters, the
// result, and, where they need no acknowledgements, the ends of ranks.
func TestSelectiveRecording(t *testing.T) {
	for seed := range uint64(60) {
		j, keys := randomSwitchJob(t, seed)
		if seed%3 == 0 {
			j = randomJob(t, seed)
		}
		if seed%4 == 0 {
			j.StopAt = 3_000_000
		}
		r, plain := runSwitches(t, j)
		every := units.Time(1_000_003) + r.medium.Lead
		want, got := &tape{every: every}, &tape{every: every, less: true}
		record(t, j, want)
		k := j
		k.Threads, k.ShuffleSeed, k.Recorder = 1+int(seed%4), seed, got
		again, res := runSwitches(t, k)
		if res.Digest != plain.Digest || res.Events != plain.Events || res.PacketHops != plain.PacketHops || !cmp.Equal(res.Notes, plain.Notes) || !cmp.Equal(finishes(res), finishes(plain)) {
			t.Fatalf("case %d: the recorder changes the result: %s", seed, keys)
		}
		if got.checkQueues(t, again); len(got.parts) > 0 {
			t.Fatalf("case %d: %d parts", seed, len(got.parts))
		}
		var ends []replay.Event
		for i, e := range want.events {
			if e.Kind == replay.RankEnded && !j.EndWithAck {
				ends = append(ends, want.events[i])
			}
		}
		if !slices.Equal(got.events, ends) {
			t.Fatalf("case %d: events %+v, want %+v", seed, got.events, ends)
		}
		want.events, want.parts, got.events, got.parts = nil, nil, nil, nil
		for _, p := range []*tape{want, got} {
			for i := range p.marks {
				p.marks[i].Events, p.marks[i].Parts = 0, 0
			}
		}
		// Without events, a rank may have ended long before simulated time reaches its end.
		n := min(len(want.marks), len(got.marks))
		want.marks, got.marks = want.marks[:n], got.marks[:n]
		got.same(t, fmt.Sprintf("case %d: %s", seed, keys), want)
	}
}
