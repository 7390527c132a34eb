package analytic

import (
	"context"
	"errors"
	"fmt"
	"time"

	"hybrid/graph"
	"hybrid/graph/collective"
	"hybrid/graph/replay"
	"hybrid/internal/units"
)

// Kinds of events. Which of the first group occur depends on the model.
const (
	evServe  eventKind = iota // what waits for a resource of the rank may have it
	evRecv                    // a receive is posted
	evArrive                  // a message reaches its rank
	numTimingEvents

	evDone  // an operation completes
	evStart // a compute operation starts
	evShare // operations that share the processor may have finished
	numEventKinds
)

// errOverflow ends a run whose times leave the range of the clock.
var errOverflow = errors.New("simulated time leaves the range of 64 bits; sizes or durations are too large, or the run too long")

// op is what a walk keeps of an operation from its issue to its completion.
type op struct {
	start   units.Time
	size    int64 // bytes of a transfer, ticks of anything else
	context uint64
	peer    int32
	tag     int32
	site    int32
	kind    graph.Kind
	flags   graph.Flags
	inner   bool // a transfer of a collective
}

func (o *op) transfer() bool { return o.kind == graph.Send || o.kind == graph.Recv }

// message is a send whose receive is not complete.
type message struct {
	at      units.Time // hockney: arrival; loggp: end of its handling at the receiver
	sent    units.Time // when the sender's own part was done
	bytes   int64
	context uint64
	src     int32
	dst     int32
	tag     int32
	handle  int32 // of the send
	site    int32
	next    int32 // free list
	late    bool  // rendezvous: the send completes with the match
	up      bool  // loggp: takes the rank's port to the scale-up fabric
	inner   bool
}

// rank is the state of one rank.
type rank struct {
	id    int32
	cur   *replay.Cursor
	match replay.Matcher
	act   replay.Activity
	share replay.Share
	// shareAt is when the next finish of the share is due, or -1.
	shareAt units.Time
	finish  units.Time
	ops     []op // by handle
	port    port
}

// timing is what a model adds to the walk: what happens when an operation starts,
// and at the model's own events.
type timing interface {
	send(r *rank, h int32, ready units.Time)
	recv(r *rank, h int32, ready units.Time)
	compute(r *rank, h int32, ready units.Time)
	event(r *rank, e event)
	// ended tells that an operation whose end was queued or shared is about to complete.
	ended(r *rank)
}

// walk is one run.
type walk struct {
	job    *Job
	net    *network
	clock  units.Clock
	timing timing
	ranks  []rank
	queue  queue
	seq    uint64
	within uint64 // the last number given in a block, or 0
	now    units.Time
	tally  *replay.Tally
	err    error
	model  string

	messages []message
	freeMsg  int32
	issues   []replay.Issue
	ended    []int32
}

func newWalk(job *Job, net *network) *walk {
	w := &walk{job: job, net: net, clock: net.clock, tally: replay.NewTally(job.Graph), freeMsg: -1}
	w.ranks = make([]rank, job.Graph.Ranks)
	cfg, algs := replay.Config{Graph: job.Graph}, collective.NewTable()
	for i := range w.ranks {
		r := &w.ranks[i]
		r.id, r.cur, r.shareAt = int32(i), replay.NewCursor(cfg, algs, i), -1
	}
	return w
}

// run walks to the end and fills the result.
func (w *walk) run(ctx context.Context, model string) *replay.Result {
	began := time.Now()
	w.model = model
	outcome, events := w.loop(ctx)
	t := w.tally
	t.Finish()
	res := &t.Result
	res.Model, res.Clock, res.Events = model, w.clock, events
	w.verdict(&res.Verdict, outcome)
	res.Ranks = make([]replay.RankTimes, len(w.ranks))
	for i := range w.ranks {
		r := &w.ranks[i]
		res.Ranks[i] = r.act.Times(r.finish)
		res.Makespan = max(res.Makespan, r.finish)
	}
	res.Operations = w.operations()
	res.Notes = append(w.net.notes(w.job.Network.Name), ignoredNotes(w.job.Network)...)
	res.Wall = time.Since(began)
	return res
}

// loop handles events until none is left. Between two looks at the context there are
// some thousand events, well under a millisecond.
func (w *walk) loop(ctx context.Context) (replay.Outcome, int64) {
	stop := w.job.stopTime(w.clock)
	for i := range w.ranks {
		if r := &w.ranks[i]; w.err == nil {
			w.issues = r.cur.Start(0, w.issues[:0])
			w.issued(r, 0)
		}
	}
	events := int64(0)
	for w.queue.len() > 0 && w.err == nil {
		e := w.queue.pop()
		if e.at > stop {
			return replay.Stopped, events
		}
		if events++; events&4095 == 0 {
			if ctx.Err() != nil {
				return replay.Interrupted, events
			}
			w.watch(events)
		}
		w.now = e.at
		w.handle(e)
	}
	return replay.Finished, events
}

// watch tells how far the walk has come, if anyone asks.
func (w *walk) watch(events int64) {
	if w.job.Watch == nil {
		return
	}
	w.job.Watch(func() replay.Progress {
		return replay.Progress{Model: w.model, Now: w.clock.PS(w.now), Operations: w.operations(), Events: events}
	})
}

// operations counts the instances that have begun.
func (w *walk) operations() (n int64) {
	for i := range w.ranks {
		for k := graph.Compute; k <= graph.Collective; k++ {
			n += w.ranks[i].cur.Issued[k]
		}
	}
	return n
}

func (w *walk) handle(e event) {
	r := &w.ranks[e.rank()]
	switch k := e.kind(); {
	case k < numTimingEvents:
		w.timing.event(r, e)
	case k == evDone:
		w.timing.ended(r)
		w.within = e.seq
		w.done(r, e.index(), e.at)
		w.within = 0
	case k == evStart:
		w.startCompute(r, e.index())
	case k == evShare && e.at == r.shareAt:
		w.endShared(r)
	}
}

// seqBlock is the distance of two sequence numbers. The numbers between are for what
// a queued completion releases: it takes its place by when the completion became
// certain, as if it had been released then.
const seqBlock = 1 << 16

// nextSeq returns the sequence number of a new event.
func (w *walk) nextSeq() uint64 {
	if w.within != 0 {
		if w.within++; w.within%seqBlock != 0 {
			return w.within
		}
		w.within = 0
	}
	return w.freshSeq()
}

// freshSeq returns the number of an event that may release others.
func (w *walk) freshSeq() uint64 {
	w.seq += seqBlock
	return w.seq
}

// push queues an event with a number that nextSeq has given.
func (w *walk) push(at units.Time, seq uint64, k eventKind, rank, index int32) {
	if at >= horizon || at < 0 {
		w.err = errOverflow
		return
	}
	w.queue.push(makeEvent(at, seq, k, rank, index))
}

// done completes an operation at finish, which may lie ahead of the current event
// where nothing of the rank can complete before it, and starts what waited for it.
func (w *walk) done(r *rank, h int32, finish units.Time) {
	o := &r.ops[h]
	if o.transfer() {
		r.act.TransferEnd(finish)
	} else {
		r.act.ComputeEnd(finish)
	}
	if !o.inner {
		w.tally.Op(o.site, o.start, finish)
	}
	r.finish = max(r.finish, finish)
	w.issues = r.cur.Done(h, finish, w.issues[:0])
	w.issued(r, finish)
}

// issued starts what a call of the cursor has issued: sends first, then receives,
// then the rest, each in issue order (the order of LogGOPSim, which matters where
// several of them are ready for one resource at the same time).
func (w *walk) issued(r *rank, ready units.Time) {
	for i := range r.cur.Ended {
		w.tally.Part(&r.cur.Ended[i])
	}
	if err := r.cur.Err(); err != nil {
		w.err = err
		return
	}
	if len(w.issues) == 1 {
		w.start(r, &w.issues[0], ready)
		return
	}
	for pass := graph.Send; pass <= graph.Recv+1; pass++ {
		for i := range w.issues {
			if k := w.issues[i].Kind; k == pass || pass > graph.Recv && k != graph.Send && k != graph.Recv {
				w.start(r, &w.issues[i], ready)
			}
		}
	}
}

// start hands an operation to the model.
func (w *walk) start(r *rank, is *replay.Issue, ready units.Time) {
	h := is.Handle
	for int(h) >= len(r.ops) {
		r.ops = append(r.ops, op{})
	}
	o := &r.ops[h]
	// Field by field: a composite literal goes through the stack and stalls.
	o.start, o.size, o.context, o.peer, o.tag = ready, is.Bytes, is.Context, is.Peer, is.Tag
	o.site, o.kind, o.flags, o.inner = is.Site, is.Kind, is.Flags, is.InCollective
	switch is.Kind {
	case graph.Send:
		if !is.Sync {
			w.tally.Result.Messages++
			w.tally.Result.MessageBytes += is.Bytes
		}
		r.act.TransferBegin(ready)
		w.timing.send(r, h, ready)
	case graph.Recv:
		r.act.TransferBegin(ready)
		w.timing.recv(r, h, ready)
	default:
		o.size = min(w.clock.Ticks(is.Duration), horizon)
		w.timing.compute(r, h, ready)
	}
}

// beside runs a compute or memory operation on a resource of its own.
func (w *walk) beside(r *rank, h int32, ready units.Time) {
	if r.cur.Alone() { // nobody can come to share the processor
		r.act.ComputeBegin(ready)
		w.push(ready+r.ops[h].size, w.freshSeq(), evDone, r.id, h)
		return
	}
	if ready > w.now {
		w.push(ready, w.freshSeq(), evStart, r.id, h)
		return
	}
	w.startCompute(r, h)
}

func (w *walk) startCompute(r *rank, h int32) {
	o := &r.ops[h]
	r.act.ComputeBegin(w.now)
	if o.kind != graph.Compute || o.flags&(graph.HostCPU|graph.Skipped) != 0 || w.job.Family == "collected" {
		w.push(w.now+o.size, w.freshSeq(), evDone, r.id, h)
		return
	}
	r.share.Start(w.now, h, o.size)
	w.armShare(r)
}

// armShare queues an event for the next finish; one that has moved leaves a stale
// event behind.
func (w *walk) armShare(r *rank) {
	if at, ok := r.share.Next(); ok && at != r.shareAt {
		r.shareAt = at
		w.push(at, w.freshSeq(), evShare, r.id, 0)
	}
}

func (w *walk) endShared(r *rank) {
	r.shareAt = -1
	w.ended = r.share.Finish(w.now, w.ended[:0])
	for _, h := range w.ended {
		w.timing.ended(r)
		w.done(r, h, w.now)
	}
	w.armShare(r)
}

func (w *walk) newMessage() int32 {
	i := w.freeMsg
	if i >= 0 {
		w.freeMsg = w.messages[i].next
		return i
	}
	w.messages = append(w.messages, message{})
	return int32(len(w.messages) - 1)
}

func (w *walk) freeMessage(i int32) {
	w.messages[i].next, w.freeMsg = w.freeMsg, i
}

// rendezvous says whether a send waits for its receive.
func (o *op) rendezvous(l *level) bool {
	switch {
	case l.adapter || o.flags&graph.Eager != 0:
		return false
	case o.flags&graph.Rendezvous != 0:
		return true
	}
	return o.size > l.eager
}

// verdict says how the run ended.
func (w *walk) verdict(v *replay.Verdict, outcome replay.Outcome) {
	cursors := make([]*replay.Cursor, len(w.ranks))
	for i := range w.ranks {
		cursors[i] = w.ranks[i].cur
	}
	switch {
	case outcome == replay.Finished && w.err == nil:
		*v = replay.Diagnose(w.job.Graph, cursors, w.unreceived())
	case w.err != nil:
		v.Outcome, v.Errors = replay.Failed, []error{w.err}
		if errors.Is(w.err, errOverflow) {
			v.Errors[0] = fmt.Errorf("%w (at %s of simulated time)", w.err, units.FormatPS(w.clock.PS(w.now)))
		}
	default:
		v.Outcome = outcome
		for _, c := range cursors {
			if !c.Finished() {
				v.Blocked++
			}
		}
	}
}

// unreceived lists the eager messages that nobody has received. A message whose send
// still waits for the match is listed there.
func (w *walk) unreceived() []replay.Pending {
	var left []replay.Pending
	for i := range w.ranks {
		w.ranks[i].match.Waiting(func(int64) {}, func(id int64) {
			if m := &w.messages[id]; !m.late {
				left = append(left, replay.Pending{Rank: m.src, Site: m.site, Kind: graph.Send, Peer: m.dst, Tag: m.tag, Bytes: m.bytes, Collective: m.inner})
			}
		})
	}
	replay.SortPending(left)
	return left
}
