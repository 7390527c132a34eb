package records

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hybrid/graph"
	"hybrid/graph/collective"
	"hybrid/graph/replay"
	"hybrid/internal/diag"
	"hybrid/internal/units"
)

// maker writes the programs of tests.
type maker struct {
	*graph.Builder
	r    *graph.RankBuilder
	rank int64
	line int
}

func (m *maker) add(name string, op graph.Op, after ...int32) int32 {
	m.line++
	op.Site, op.Label = m.Site(graph.Site{Pos: diag.Pos{File: "t", Line: m.line}, Kind: op.Kind, Name: name}), -1
	var deps []graph.Dep
	for _, d := range after {
		deps = append(deps, graph.Dep{Target: d})
	}
	return m.r.Op(op, deps...)
}

func (m *maker) compute(micros int64, flags graph.Flags, after ...int32) int32 {
	arg := m.r.Work(graph.Work{Model: graph.Fixed, Time: m.r.Int(micros * 1e6)})
	return m.add("work", graph.Op{Kind: graph.Compute, Arg: arg, Flags: flags}, after...)
}

func (m *maker) send(to, bytes, tag int64, after ...int32) int32 {
	return m.add("send", graph.Op{Kind: graph.Send, Peer: m.r.Int(to), Size: m.r.Int(bytes), Tag: m.r.Int(tag)}, after...)
}

func (m *maker) recv(from, bytes, tag int64, after ...int32) int32 {
	return m.add("recv", graph.Op{Kind: graph.Recv, Peer: m.r.Int(from), Size: m.r.Int(bytes), Tag: m.r.Int(tag)}, after...)
}

func (m *maker) join(after ...int32) int32 {
	return m.add("meta", graph.Op{Kind: graph.Join}, after...)
}

func (m *maker) collective(typ graph.CollType, algorithm string, k, bytes int64, flags graph.Flags, after ...int32) int32 {
	op := graph.Op{Kind: graph.Collective, Flags: flags, Size: m.r.Int(bytes), Index: m.r.Int(k), Arg: m.r.Call(graph.Call{Type: typ, Algorithm: algorithm})}
	return m.add("coll", op, after...)
}

// traces builds a graph of flat programs, program one of threads.
func traces(t testing.TB, ranks int, write func(m *maker)) *graph.Graph {
	return build(t, graph.Chakra, ranks, true, write)
}

func build(t testing.TB, origin graph.Origin, ranks int, flat bool, write func(m *maker)) *graph.Graph {
	t.Helper()
	m := &maker{Builder: graph.NewBuilder("test", origin, ranks)}
	for rank := range ranks {
		m.r, m.rank, m.line = m.Rank(rank, flat), int64(rank), 0
		write(m)
		m.r.Done()
	}
	g, err := m.Finish()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range g.Programs {
		p.Costs = nil
		for i := range p.Works {
			p.Costs = append(p.Costs, graph.Cost{Terms: []graph.Term{{V: p.Works[i].Time, Num: 1, Den: 1}}})
		}
	}
	return g
}

// The test engine: a byte takes a nanosecond to send, a transfer arrives one
// microsecond after its send has ended and is acknowledged two microseconds after it.
// Computations do not share.
const (
	bytePS   = 1000
	crossing = 1e6
)

type engine struct {
	g       *graph.Graph
	cursors []*replay.Cursor
	queue   []action
	made    int
	events  []replay.Event
	parts   []replay.CollectiveEnd
	arrived map[matchKey]int
	waiting map[matchKey][]func(units.Time)
	seq     []uint64
	open    []int
	ended   []bool
}

type matchKey struct {
	src, dst, tag int32
	context       uint64
}

type action struct {
	t    units.Time
	made int
	do   func(t units.Time)
}

func (e *engine) at(t units.Time, do func(t units.Time)) {
	e.made++
	e.queue = append(e.queue, action{t, e.made, do})
}

// run simulates up to and including a time and returns the stream of events and parts,
// each in order.
func run(g *graph.Graph, until units.Time) *engine {
	e := &engine{g: g, arrived: map[matchKey]int{}, waiting: map[matchKey][]func(units.Time){}, seq: make([]uint64, g.Ranks),
		open: make([]int, g.Ranks), ended: make([]bool, g.Ranks)}
	algs := collective.NewTable()
	for rank := range g.Ranks {
		c := replay.NewCursor(replay.Config{Graph: g}, algs, rank)
		e.cursors = append(e.cursors, c)
		e.at(0, func(t units.Time) { e.issue(c, c.Start(t, nil), t) })
	}
	for len(e.queue) > 0 {
		slices.SortFunc(e.queue, func(a, b action) int { return cmp.Or(cmp.Compare(a.t, b.t), cmp.Compare(a.made, b.made)) })
		a := e.queue[0]
		if a.t > until {
			break
		}
		e.queue = e.queue[1:]
		a.do(a.t)
		e.endRanks(a.t)
	}
	slices.SortStableFunc(e.events, func(a, b replay.Event) int {
		return cmp.Or(cmp.Compare(a.T, b.T), cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.Kind, b.Kind))
	})
	slices.SortStableFunc(e.parts, func(a, b replay.CollectiveEnd) int {
		return cmp.Or(cmp.Compare(a.End, b.End), cmp.Compare(a.Group, b.Group), cmp.Compare(a.Instance, b.Instance), cmp.Compare(a.Rank, b.Rank))
	})
	return e
}

func (e *engine) tell(ev replay.Event, kind replay.EventKind, t units.Time) {
	ev.Kind, ev.T = kind, t
	e.events = append(e.events, ev)
}

func (e *engine) done(c *replay.Cursor, handle int32, t units.Time) {
	e.issue(c, c.Done(handle, t, nil), t)
}

func (e *engine) issue(c *replay.Cursor, issues []replay.Issue, t units.Time) {
	e.parts = append(e.parts, c.Ended...)
	for _, is := range issues {
		e.start(c, is, t)
	}
}

func (e *engine) start(c *replay.Cursor, is replay.Issue, t units.Time) {
	r := c.Rank()
	e.seq[r]++
	ev := replay.Event{Start: t, Rank: r, OpKind: is.Kind, Flags: is.Flags, Collective: is.InCollective, Sync: is.Sync, Op: is.Op, Step: is.Step,
		Peer: is.Peer, Seq: e.seq[r], Tag: is.Tag, Context: is.Context, Bytes: is.Bytes, Work: is.Duration, Written: c.Written(is.Handle)}
	e.tell(ev, replay.OpStarted, t)
	end := func(t units.Time) {
		e.tell(ev, replay.OpEnded, t)
		e.done(c, is.Handle, t)
	}
	switch is.Kind {
	case graph.Send:
		k := matchKey{r, is.Peer, is.Tag, is.Context}
		e.open[r]++
		e.open[is.Peer]++
		sent := t + is.Bytes*bytePS
		e.at(sent, end)
		e.at(sent+crossing, func(t units.Time) { e.arrive(k, t) })
		e.at(sent+2*crossing, func(t units.Time) {
			e.tell(ev, replay.Acked, t)
			e.open[r]--
			e.open[is.Peer]--
		})
	case graph.Recv:
		k := matchKey{is.Peer, r, is.Tag, is.Context}
		if e.arrived[k] > 0 {
			e.arrived[k]--
			e.at(t, end)
			return
		}
		e.waiting[k] = append(e.waiting[k], end)
	default:
		e.at(t+is.Duration, end)
	}
}

func (e *engine) arrive(k matchKey, t units.Time) {
	w := e.waiting[k]
	if len(w) == 0 {
		e.arrived[k]++
		return
	}
	e.waiting[k] = w[1:]
	w[0](t)
}

// endRanks ends ranks that have finished and whose transfers, sent and received, are
// acknowledged.
func (e *engine) endRanks(t units.Time) {
	for r, c := range e.cursors {
		if !e.ended[r] && c.Finished() && e.open[r] == 0 {
			e.ended[r] = true
			e.events = append(e.events, replay.Event{T: t, Rank: int32(r), Kind: replay.RankEnded, Seq: 1<<64 - 1})
		}
	}
}

func (e *engine) finished() bool { return !slices.Contains(e.ended, false) }

// counters are the packets and bytes on links before a time.
type counters func(at units.Time) (links, scaleUp []replay.PortCount)

// deliver hands the stream to the recorder in windows, as the packet engine does.
func (e *engine) deliver(r *Recorder, window units.Time, outcome replay.Outcome, count counters) (*replay.Result, error) {
	if count == nil {
		count = func(units.Time) (links, scaleUp []replay.PortCount) { return nil, nil }
	}
	if err := r.Begin(units.PicosecondClock()); err != nil {
		return nil, err
	}
	events, parts := e.events, e.parts
	mark := r.NextMark()
	for now := units.Time(0); len(events) > 0 || len(parts) > 0; {
		end := min(now+window, mark)
		n, m := 0, 0
		for n < len(events) && events[n].T < end {
			n++
		}
		for m < len(parts) && parts[m].End < end {
			m++
		}
		if n > 0 {
			if err := r.Events(slices.Clone(events[:n])); err != nil {
				return nil, err
			}
		}
		if m > 0 {
			if err := r.Parts(slices.Clone(parts[:m])); err != nil {
				return nil, err
			}
		}
		events, parts, now = events[n:], parts[m:], end
		if now < mark {
			mark = min(mark, r.NextMark())
			continue
		}
		if len(events) == 0 && len(parts) == 0 {
			break
		}
		links, scaleUp := count(now)
		if err := r.Mark(now, links, scaleUp); err != nil {
			return nil, err
		}
		mark = r.NextMark()
	}
	links, scaleUp := count(units.Never)
	res := &replay.Result{Clock: units.PicosecondClock(), Verdict: replay.Verdict{Outcome: outcome}}
	return res, r.End(res, links, scaleUp)
}

// pair is two hosts with a link each way, 400 Gbit/s and 500 ns.
func pair() *Platform {
	perByte := units.NewRat(20, 1)
	return &Platform{Hosts: 2, HostOf: []int32{0, 1},
		Nodes: []Node{{"server-0", 3, 0}, {"server-1", 3, 1}},
		Links: []Link{{0, 1, perByte, 500_000}, {1, 0, perByte, 500_000}}}
}

// record runs a graph on the test engine and returns the text of every file, by name.
func record(t *testing.T, g *graph.Graph, opt Options) map[string]string {
	t.Helper()
	return recordWith(t, g, pair(), opt, 1e6, units.Never, nil)
}

func recordWith(t *testing.T, g *graph.Graph, p *Platform, opt Options, window, until units.Time, count counters) map[string]string {
	t.Helper()
	if opt.Dir == "" {
		opt.Dir = t.TempDir()
	}
	if opt.Name == "" {
		opt.Name = "test"
	}
	r, err := New(g, p, opt)
	if err != nil {
		t.Fatal(err)
	}
	e := run(g, until)
	outcome := replay.Finished
	if !e.finished() {
		outcome = replay.Stopped
	}
	if _, err := e.deliver(r, window, outcome, count); err != nil {
		t.Fatal(err)
	}
	return files(t, opt.Dir)
}

// files reads a folder.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		out[filepath.ToSlash(name)] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// body is a table without its header.
func body(text string) string {
	_, rows, _ := strings.Cut(text, "\n")
	return rows
}

// lines joins rows.
func lines(rows ...string) string { return strings.Join(rows, "\n") + "\n" }
