package replay

import (
	"errors"
	"fmt"

	"hybrid/graph"
	"hybrid/graph/collective"
)

// CheckOptions configure [Check].
type CheckOptions struct {
	// EagerLimit returns the size in bytes up to which a send from src to dst leaves
	// without its receive; nil means that every send does.
	EagerLimit func(src, dst int32) int64
	// AllEager and AllRendezvous replace the limit for sends that do not say what they
	// are.
	AllEager, AllRendezvous bool
	// MaxOps bounds the operations and transfers that are followed; 0 means a million,
	// well under a second.
	MaxOps int64
}

// defaultMaxOps keeps a check well under a second.
const defaultMaxOps = 1_000_000

// representativeTrips is how often a loop whose iterations communicate alike is
// followed where following all would take too long.
const representativeTrips = 3

// SizeMismatch is a message that met a receive of another size.
type SizeMismatch struct {
	SendSite, RecvSite int32
	Src, Dst, Tag      int32
	// Sent and Buffer are the bytes of the first such message and of its receive, Count
	// the messages between the two sites.
	Sent, Buffer, Count int64
}

// CallMismatch is a collective on which the members of a group disagree.
type CallMismatch struct {
	Group    int32
	Instance int64
	// A is the first call, B the one that differs from it. B.Rank is -1 where members
	// finished without any call; Absent are these, of which there are Missing.
	A, B    CalledBy
	Absent  []int32
	Missing int
}

// CalledBy is a collective as one rank calls it.
type CalledBy struct {
	Rank, Site int32
	Type       graph.CollType
	Algorithm  string
	Root       int32
	Bytes      int64
}

// CheckResult is what an untimed run finds.
type CheckResult struct {
	// Verdict is how the run ended. It says nothing unless Complete or Representative
	// is set.
	Verdict Verdict
	// Truncated are messages of a blueprint longer than their receives, an error;
	// Differing are others whose sizes differ, where the size sent counts.
	Truncated, Differing []SizeMismatch
	// Calls are disagreements about collectives.
	Calls []CallMismatch
	// Unsafe is the deadlock that comes if no send leaves without its receive, where the
	// run as configured finishes; nil if there is none.
	Unsafe *Verdict
	// Complete says that the whole program was followed. Otherwise Representative says
	// that it was followed with a few iterations of each loop whose iterations
	// communicate alike; neither means that it was too long to follow at all, or that
	// what was found hangs on which message a receive with wildcards takes.
	Complete, Representative bool
	// Ops is the number of operations and transfers followed.
	Ops int64
}

// OK reports whether nothing was found that keeps the program from finishing.
func (r *CheckResult) OK() bool {
	return r.Verdict.OK() && len(r.Truncated) == 0 && len(r.Calls) == 0
}

// Coverage says in a sentence what was not followed, or "" for a complete check.
func (r *CheckResult) Coverage() string {
	switch {
	case r.Complete:
		return ""
	case r.Representative:
		return fmt.Sprintf("long loops were checked for deadlocks and unmatched messages in their first %d iterations only", representativeTrips)
	}
	return "the program was not checked for deadlocks and unmatched messages before the run: it is too long, or depends on the order of arrival"
}

var errFuel = errors.New("replay: the untimed run is too long")

// Check runs the program without time: eager sends complete at once, others when
// they meet their receive. It finds deadlocks, unmatched and truncated messages and
// collectives that do not fit together, in time linear in the operations.
func Check(g *graph.Graph, opt CheckOptions) CheckResult {
	if opt.MaxOps <= 0 {
		opt.MaxOps = defaultMaxOps
	}
	r, eager := follow(g, opt)
	if r.OK() && eager && (r.Complete || r.Representative) && !opt.AllRendezvous {
		opt.AllEager, opt.AllRendezvous = false, true
		if u, _ := follow(g, opt); u.Verdict.Outcome == Deadlock && (u.Complete || u.Representative) {
			u.Verdict.HasLimit = false
			r.Unsafe = &u.Verdict
		}
	}
	return r
}

// follow walks the program: with shortened loops first, and in full if these hide
// something and it is not too long. A fault that the short walk alone shows is not
// reported: loops of different lengths need not fit when both are cut.
func follow(g *graph.Graph, opt CheckOptions) (r CheckResult, eager bool) {
	short := newWalk(g, opt, representativeTrips)
	short.run()
	if !short.cut() {
		return short.result()
	}
	whole := newWalk(g, opt, 0)
	whole.run()
	if !whole.exhausted() {
		return whole.result()
	}
	if r, eager = short.result(); !r.OK() || short.exhausted() {
		return CheckResult{Ops: short.ops + whole.ops}, false
	}
	r.Complete, r.Representative = false, true
	return r, eager
}

// walk is one untimed run.
type walk struct {
	g        *graph.Graph
	opt      CheckOptions
	cursors  []*Cursor
	matchers []Matcher
	done     [][]int32 // completions that a rank has not been told of
	queued   []bool
	work     []int32 // ranks with completions, first in first out
	head     int
	out      []Issue
	flights  []transferEnd
	free     []int32
	ops      int64
	stopped  bool // not all ranks have started
	chose    bool // a receive with wildcards took a message: time might choose another
	eager    bool // a send without a word about its protocol went eagerly
	sizes    sizeTable
	calls    callTable
}

// transferEnd is a message or receive in a matcher. A message whose sender does not
// wait has handle -1.
type transferEnd struct {
	handle, rank, site, peer, tag int32
	bytes                         int64
	collective                    bool
}

func newWalk(g *graph.Graph, opt CheckOptions, trips int64) *walk {
	w := &walk{g: g, opt: opt, cursors: make([]*Cursor, g.Ranks), matchers: make([]Matcher, g.Ranks),
		done: make([][]int32, g.Ranks), queued: make([]bool, g.Ranks)}
	w.calls.open = map[flightKey]*openCall{}
	algs := collective.NewTable()
	for r := range w.cursors {
		c := NewCursor(Config{Graph: g, MaxTrips: trips, NoDurations: true}, algs, r)
		c.fuel = opt.MaxOps
		c.onPart = func(p *part) { w.calls.add(g, c, p) }
		w.cursors[r] = c
	}
	return w
}

// turn bounds how many completions a rank handles before the next one's turn, so
// that no rank runs far ahead of what it sends.
const turn = 64

func (w *walk) run() {
	for r := range w.cursors {
		if w.ops >= w.opt.MaxOps {
			w.stopped = true
			return
		}
		w.out = w.cursors[r].Start(0, w.out[:0])
		w.handle(int32(r))
	}
	for w.head < len(w.work) && w.ops < w.opt.MaxOps {
		r := w.work[w.head]
		if w.head++; w.head > 1024 && 2*w.head > len(w.work) {
			w.work = append(w.work[:0], w.work[w.head:]...)
			w.head = 0
		}
		w.queued[r] = false
		w.turn(r)
	}
}

func (w *walk) turn(r int32) {
	n := min(len(w.done[r]), turn)
	for i := range n {
		w.out = w.cursors[r].Done(w.done[r][i], 0, w.out[:0])
		w.handle(r)
	}
	w.done[r] = append(w.done[r][:0], w.done[r][n:]...)
	if len(w.done[r]) > 0 {
		w.wake(r)
	}
}

func (w *walk) wake(r int32) {
	if !w.queued[r] {
		w.queued[r] = true
		w.work = append(w.work, r)
	}
}

func (w *walk) complete(rank, handle int32) {
	w.done[rank] = append(w.done[rank], handle)
	w.wake(rank)
}

// handle starts what a rank's cursor has issued.
func (w *walk) handle(r int32) {
	for i := range w.out {
		is := &w.out[i]
		w.ops++
		switch is.Kind {
		case graph.Send:
			w.send(r, is)
		case graph.Recv:
			w.recv(r, is)
		default:
			w.complete(r, is.Handle)
		}
	}
}

func (w *walk) send(r int32, is *Issue) {
	e := transferEnd{is.Handle, r, is.Site, is.Peer, is.Tag, is.Bytes, is.InCollective}
	if w.isEager(r, is) {
		w.complete(r, is.Handle)
		e.handle = -1
	}
	id := w.flight(e)
	if recv, ok := w.matchers[is.Peer].Arrive(is.Context, r, is.Tag, id); ok {
		w.meet(id, recv)
	}
}

func (w *walk) isEager(r int32, is *Issue) bool {
	switch {
	case is.Flags&graph.Eager != 0:
		return true
	case is.Flags&graph.Rendezvous != 0:
		return false
	case w.opt.AllRendezvous:
		return false
	}
	eager := w.opt.AllEager || w.opt.EagerLimit == nil || is.Bytes <= w.opt.EagerLimit(r, is.Peer)
	w.eager = w.eager || eager && !is.InCollective
	return eager
}

func (w *walk) recv(r int32, is *Issue) {
	id := w.flight(transferEnd{is.Handle, r, is.Site, is.Peer, is.Tag, is.Bytes, is.InCollective})
	if msg, ok := w.matchers[r].Post(is.Context, is.Peer, is.Tag, id); ok {
		w.meet(msg, id)
	}
}

// meet completes a message and its receive.
func (w *walk) meet(msg, recv int64) {
	m, r := &w.flights[msg], &w.flights[recv]
	w.chose = w.chose || r.peer == graph.AnyRank || r.tag == graph.AnyTag
	if m.bytes != r.bytes && !m.collective {
		w.sizes.add(m, r)
	}
	w.complete(r.rank, r.handle)
	if m.handle >= 0 {
		w.complete(m.rank, m.handle)
	}
	w.free = append(w.free, int32(msg), int32(recv))
}

func (w *walk) flight(e transferEnd) int64 {
	if n := len(w.free); n > 0 {
		i := w.free[n-1]
		w.free = w.free[:n-1]
		w.flights[i] = e
		return int64(i)
	}
	w.flights = append(w.flights, e)
	return int64(len(w.flights) - 1)
}

// cut reports whether a loop was followed for only some of its iterations.
func (w *walk) cut() bool {
	for _, c := range w.cursors {
		if c.cut {
			return true
		}
	}
	return false
}

// exhausted reports whether the walk ended because it was too long.
func (w *walk) exhausted() bool {
	if w.stopped || w.head < len(w.work) {
		return true
	}
	for _, c := range w.cursors {
		if c.err == errFuel {
			return true
		}
	}
	return false
}

func (w *walk) result() (CheckResult, bool) {
	if w.exhausted() {
		return CheckResult{Ops: w.ops}, false
	}
	var left []Pending
	for r := range w.matchers {
		w.matchers[r].Waiting(func(int64) {}, func(id int64) {
			e := &w.flights[id]
			if e.handle < 0 { // a sender that waits is among the pending operations
				left = append(left, Pending{Rank: e.rank, Site: e.site, Kind: graph.Send, Peer: e.peer, Tag: e.tag, Bytes: e.bytes, Collective: e.collective})
			}
		})
	}
	SortPending(left)
	r := CheckResult{Verdict: Diagnose(w.g, w.cursors, left), Complete: true, Ops: w.ops}
	w.limit(&r.Verdict)
	r.Truncated, r.Differing = w.sizes.split(w.g.Origin)
	r.Calls = w.calls.finish(w.g, w.cursors)
	if w.chose && !r.OK() {
		return CheckResult{Ops: w.ops}, false
	}
	return r, w.eager
}

// limit notes the eager limit that holds in a cycle.
func (w *walk) limit(v *Verdict) {
	if w.opt.EagerLimit != nil && !w.opt.AllEager && !w.opt.AllRendezvous {
		v.SetLimit(w.opt.EagerLimit)
	}
}
