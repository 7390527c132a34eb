package des

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"hybrid/graph"
	"hybrid/graph/replay"
	"hybrid/internal/units"
)

// mark is what a recorder sees at a mark, and how much it had heard of by then.
type mark struct {
	At            units.Time
	Links         []replay.PortCount
	Queues        []replay.QueueCount // by link and class
	Events, Parts int
}

// tape is a recorder that keeps everything. Every > 0 puts marks at its multiples, else
// they are at the given times.
type tape struct {
	every units.Time
	times []units.Time
	fail  string // the method that fails
	less  bool   // wants neither events nor parts

	clock  units.Clock
	events []replay.Event
	parts  []replay.CollectiveEnd
	marks  []mark
	calls  []string
	res    *replay.Result
	last   []replay.PortCount
	queues []replay.QueueCount // the latest
}

var errTape = errors.New("the tape is full")

func (p *tape) call(name string) error {
	p.calls = append(p.calls, name)
	if name == p.fail {
		return errTape
	}
	return nil
}

func (p *tape) Wants() replay.Wants {
	return replay.Wants{Events: !p.less, Parts: !p.less, Queues: true}
}

func (p *tape) Queues(queues []replay.QueueCount, _ int) error {
	p.queues = slices.Clone(queues)
	return p.call("Queues")
}

func (p *tape) Begin(clock units.Clock) error {
	p.clock = clock
	return p.call("Begin")
}

func (p *tape) Events(events []replay.Event) error {
	p.events = append(p.events, events...)
	return p.call("Events")
}

func (p *tape) Parts(parts []replay.CollectiveEnd) error {
	p.parts = append(p.parts, parts...)
	return p.call("Parts")
}

func (p *tape) NextMark() units.Time {
	switch {
	case p.every > 0:
		return p.every * units.Time(len(p.marks)+1)
	case len(p.marks) < len(p.times):
		return p.times[len(p.marks)]
	}
	return units.Never
}

func (p *tape) Mark(at units.Time, links, _ []replay.PortCount) error {
	p.marks = append(p.marks, mark{at, slices.Clone(links), p.queues, len(p.events), len(p.parts)})
	return p.call("Mark")
}

func (p *tape) End(res *replay.Result, links, _ []replay.PortCount) error {
	p.res, p.last = res, slices.Clone(links)
	return p.call("End")
}

// record runs a job with a recorder.
func record(t *testing.T, j Job, p *tape) *replay.Result {
	t.Helper()
	j.Recorder = p
	return simulate(t, j)
}

// check demands what holds of every recording of a run.
func (p *tape) check(t *testing.T, j Job, res *replay.Result) {
	t.Helper()
	if len(p.calls) == 0 || p.calls[0] != "Begin" || p.calls[len(p.calls)-1] != "End" || p.res != res {
		t.Fatalf("the calls are not from Begin to End: %v", p.calls)
	}
	p.checkOrder(t)
	p.checkOperations(t, res)
	p.checkRanks(t, res)
	p.checkMarks(t)
	if res.Verdict.Outcome != replay.Finished && res.Verdict.Outcome != replay.Deadlock && res.Verdict.Outcome != replay.Unmatched {
		return
	}
	var hops int64
	for id, c := range p.last {
		hops += c.TxPackets
		if c.TxPackets != c.RxPackets || c.TxBytes != c.RxBytes {
			t.Fatalf("link %d ends with %+v", id, c)
		}
	}
	if hops != res.PacketHops {
		t.Fatalf("%d packets on all links, want %d", hops, res.PacketHops)
	}
}

// checkOrder demands strictly rising keys, over all calls.
func (p *tape) checkOrder(t *testing.T) {
	t.Helper()
	for i := range p.events[:max(0, len(p.events)-1)] {
		a, b := &p.events[i], &p.events[i+1]
		if cmp.Or(cmp.Compare(a.T, b.T), cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.Kind, b.Kind)) >= 0 {
			t.Fatalf("event %d is not before the next:\n%+v\n%+v", i, *a, *b)
		}
	}
	for i := range p.parts[:max(0, len(p.parts)-1)] {
		a, b := &p.parts[i], &p.parts[i+1]
		if cmp.Or(cmp.Compare(a.End, b.End), cmp.Compare(a.Group, b.Group), cmp.Compare(a.Instance, b.Instance), cmp.Compare(a.Rank, b.Rank)) >= 0 {
			t.Fatalf("part %d is not before the next:\n%+v\n%+v", i, *a, *b)
		}
	}
}

// checkOperations demands that each operation starts once, ends at most once, and is
// acknowledged at most once, not before, if it is a send; in a run that finished each
// does.
func (p *tape) checkOperations(t *testing.T, res *replay.Result) {
	t.Helper()
	type id struct {
		rank int32
		seq  uint64
	}
	told := map[id][]replay.Event{}
	issued := map[int32]uint64{}
	for _, e := range p.events {
		if e.Kind == replay.RankEnded {
			continue
		}
		k := id{e.Rank, e.Seq}
		if e.Kind == replay.OpStarted {
			if issued[e.Rank]++; e.Seq != issued[e.Rank] || e.T != e.Start {
				t.Fatalf("operation %d of its rank starts as %+v", issued[e.Rank], e)
			}
		}
		same := e
		if n := len(told[k]); n > 0 {
			same = told[k][n-1]
			same.T, same.Kind = e.T, e.Kind
			if e.OpKind == graph.Recv { // ends with the size of what was sent
				same.Bytes = e.Bytes
			}
		}
		if int(e.Kind) != len(told[k]) || e != same {
			t.Fatalf("after %+v came %+v", told[k], e)
		}
		told[k] = append(told[k], e)
	}
	if res.Verdict.Outcome != replay.Finished {
		return
	}
	for k, events := range told {
		want := 2
		if events[0].OpKind == graph.Send {
			want = 3
		}
		if len(events) != want {
			t.Fatalf("operation %v has the events %+v", k, events)
		}
	}
}

// checkRanks demands that each rank ends once, when the result says, after its last
// event.
func (p *tape) checkRanks(t *testing.T, res *replay.Result) {
	t.Helper()
	ended := map[int32]units.Time{}
	for _, e := range p.events {
		if at, ok := ended[e.Rank]; ok && e.Kind != replay.Acked {
			t.Fatalf("rank %d ended at %d; then came %+v", e.Rank, at, e)
		}
		if e.Kind == replay.RankEnded {
			ended[e.Rank] = e.T
		}
	}
	for id, times := range res.Ranks {
		at, ok := ended[int32(id)]
		if !ok && res.Verdict.OK() || ok && at != times.Finish {
			t.Fatalf("%v: rank %d ended %v at %d, want %d", res.Verdict.Outcome, id, ok, at, times.Finish)
		}
	}
}

// checkMarks demands that a mark has heard of everything before it and of nothing else,
// and that counters never fall.
func (p *tape) checkMarks(t *testing.T) {
	t.Helper()
	before := make([]replay.PortCount, len(p.last))
	for _, m := range append(slices.Clone(p.marks), mark{math.MaxInt64, p.last, p.queues, len(p.events), len(p.parts)}) {
		if n := m.Events; n > 0 && p.events[n-1].T >= m.At || n < len(p.events) && p.events[n].T < m.At {
			t.Fatalf("%d events before the mark at %d", n, m.At)
		}
		if n := m.Parts; n > 0 && p.parts[n-1].End >= m.At || n < len(p.parts) && p.parts[n].End < m.At {
			t.Fatalf("%d parts before the mark at %d", n, m.At)
		}
		for id, c := range m.Links {
			b := before[id]
			if c.TxPackets < b.TxPackets || c.TxBytes < b.TxBytes || c.RxPackets < b.RxPackets || c.RxBytes < b.RxBytes || c.RxPackets > c.TxPackets || c.RxBytes > c.TxBytes {
				t.Fatalf("link %d at %d: %+v after %+v", id, m.At, c, b)
			}
		}
		before = m.Links
	}
}

// same demands the same recording.
func (p *tape) same(t *testing.T, what string, want *tape) {
	t.Helper()
	if !slices.Equal(p.events, want.events) {
		t.Fatalf("%s: other events (-one thread, +this):\n%s", what, gocmp.Diff(want.events, p.events))
	}
	part := func(e replay.CollectiveEnd) string {
		e.Algorithm = nil // every run has its own
		return fmt.Sprintf("%+v", e)
	}
	if !slices.EqualFunc(p.parts, want.parts, func(a, b replay.CollectiveEnd) bool { return part(a) == part(b) }) {
		t.Fatalf("%s: other parts", what)
	}
	equal := func(a, b mark) bool {
		return a.At == b.At && a.Events == b.Events && a.Parts == b.Parts && slices.Equal(a.Links, b.Links) && slices.Equal(a.Queues, b.Queues)
	}
	if !slices.EqualFunc(p.marks, want.marks, equal) || !slices.Equal(p.last, want.last) || !slices.Equal(p.queues, want.queues) {
		t.Fatalf("%s: other counters (-one thread, +this):\n%s%s", what, gocmp.Diff(want.marks, p.marks), gocmp.Diff(want.last, p.last))
	}
}
