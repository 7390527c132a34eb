package replay

import (
	"fmt"

	"hybrid/graph"
	"hybrid/graph/collective"
	"hybrid/internal/diag"
	"hybrid/internal/units"
)

// Issue is an operation instance that is ready to start.
type Issue struct {
	// Handle names the instance in Done; it is reused after that.
	Handle int32
	// Op is the index in the rank's program, Site the place it was written; for a
	// collective's transfer both are the collective's.
	Op, Site int32
	// Kind is Compute, Load, Store, Send or Recv.
	Kind  graph.Kind
	Flags graph.Flags
	// InCollective marks a transfer of a collective, Sync one of the barrier before a
	// collective, which records list but no counter counts.
	InCollective, Sync bool
	// Peer is the world rank of the partner, or graph.AnyRank.
	Peer int32
	// Tag and Context complete the matching key.
	Tag     int32
	Context uint64
	// Bytes is the size of a transfer, or of a memory operation's traffic.
	Bytes int64
	// Duration is the time of a compute or memory operation in picoseconds.
	Duration int64
}

// CollectiveEnd reports that a rank has completed its part of a collective.
type CollectiveEnd struct {
	Site, Group int32
	// Instance counts the collectives of the group.
	Instance int64
	// Start is when the rank's own transfers began (behind the synchronization
	// barrier, if any), End when the last of them was done.
	Start, End units.Time
	Type       graph.CollType
	Algorithm  *collective.Algorithm
	Root       int32
	Bytes      int64
}

// Config is shared by the cursors of a run.
type Config struct {
	Graph *graph.Graph
	// MaxTrips bounds the trips of loops that the untimed check may cut short; 0
	// means all.
	MaxTrips int64
	// NoDurations skips the evaluation of durations: for untimed walks of graphs that
	// are not priced.
	NoDurations bool
}

// Cursor is the replay state of one rank.
type Cursor struct {
	cfg  Config
	g    *graph.Graph
	p    *graph.Program
	algs *collective.Table
	rank int32
	slot int32
	env  graph.Env

	// thread state
	pc      int32   // next operation; in a flat program the number of completed ones
	gate    int32   // blocking instances that the thread waits for
	more    bool    // inside a composite: go on although gate > 0
	limits  []int64 // trip counts of the open loops, by slot
	started bool

	indegree []int32 // flat programs: unmet dependencies

	insts    []instance
	freeInst int32
	live     int32
	edges    []edge
	freeEdge int32
	parts    []part
	freePart int32
	streams  []ref
	recs     []labelRec
	counts   []groupCount
	waitAll  int32 // instance of a pending WaitAll, or -1

	queue []int32 // completed instances whose dependents are not yet released
	head  int
	out   []Issue
	now   units.Time
	seq   int64

	// Ended lists the collective parts that ended in the last call; an engine that
	// keeps collective times takes them from here. It is reused by the next call.
	Ended []CollectiveEnd
	// Issued counts the issues so far by kind; Collective counts collective parts,
	// and transfers inside collectives are not counted.
	Issued [graph.NumKinds]int64

	err error
}

// instance is a live operation instance.
type instance struct {
	op      int32
	pending int32 // unmet dependencies
	edges   int32 // first dependent, or -1
	part    int32 // collective part: of a collective itself, or of the transfer's; -1
	step    int32 // the transfer's step in its part, or -1
	rec     int32 // label record, or -1
	next    int32 // free list
	gate    bool  // the thread waits for it
	issued  bool  // handed to the engine
	seq     int64 // 0 when free
}

type edge struct{ inst, next int32 }

// ref is an instance that may have been freed and reused since.
type ref struct {
	inst int32
	seq  int64
}

type labelRec struct {
	label, inst int32
	index, iter int64
	seq         int64
}

type groupCount struct {
	group int32
	n     int64
}

// part is a rank's part of a collective in progress.
type part struct {
	inst     int32
	alg      *collective.Algorithm
	call     collective.Call
	group    *graph.Group
	instance int64
	left     int32 // steps not done
	barrier  bool  // in the synchronization barrier
	real     *collective.Algorithm
	start    units.Time
	partial  []partial
	next     int32
}

// partial is a step some, but not all, of whose dependencies are done.
type partial struct{ step, left int32 }

// NewCursor returns the cursor of a rank, before its first operation.
func NewCursor(cfg Config, algs *collective.Table, rank int) *Cursor {
	p, slot := cfg.Graph.Program(rank)
	c := &Cursor{
		cfg: cfg, g: cfg.Graph, p: p, algs: algs, rank: int32(rank), slot: slot,
		freeInst: -1, freeEdge: -1, freePart: -1, waitAll: -1,
		streams: make([]ref, len(cfg.Graph.Streams)+1),
	}
	c.env.Rank = int32(rank)
	c.env.Loops = make([]int64, p.LoopSlots)
	c.limits = make([]int64, p.LoopSlots)
	return c
}

// Start issues what is ready at time now, appending to out.
func (c *Cursor) Start(now units.Time, out []Issue) []Issue {
	c.begin(now, out)
	c.started = true
	if c.p.Flat {
		c.startFlat()
	}
	c.pump()
	return c.out
}

// Done completes an instance at time now and appends what becomes ready to out.
func (c *Cursor) Done(handle int32, now units.Time, out []Issue) []Issue {
	c.begin(now, out)
	c.queue = append(c.queue, handle)
	c.pump()
	return c.out
}

func (c *Cursor) begin(now units.Time, out []Issue) {
	c.now, c.out = now, out
	c.Ended = c.Ended[:0]
}

// Finished reports whether the rank has nothing left to do.
func (c *Cursor) Finished() bool {
	return c.started && c.live == 0 && c.err == nil && int(c.pc) >= len(c.p.Ops)
}

// Err returns the error that stopped the rank's thread, or nil.
func (c *Cursor) Err() error { return c.err }

// Rank returns the rank.
func (c *Cursor) Rank() int32 { return c.rank }

// Waiting calls visit for every instance that the engine holds.
func (c *Cursor) Waiting(visit func(op int32, step int32, i *Issue)) {
	for h := range c.insts {
		in := &c.insts[h]
		if in.seq == 0 || !in.issued {
			continue
		}
		var is Issue
		if in.step >= 0 {
			pt := &c.parts[in.part]
			s := pt.alg.At(&pt.call, in.step)
			c.stepIssue(&is, int32(h), pt, &s)
		} else if err := c.opIssue(&is, int32(h), in.op); err != nil {
			continue
		}
		visit(in.op, in.step, &is)
	}
}

// Unstarted returns the first operation that has not been reached or released,
// and false if there is none.
func (c *Cursor) Unstarted() (op int32, ok bool) {
	if !c.p.Flat {
		return c.pc, int(c.pc) < len(c.p.Ops)
	}
	for i, n := range c.indegree {
		if n > 0 {
			return int32(i), true
		}
	}
	return 0, false
}

func (c *Cursor) startFlat() {
	n := len(c.p.Ops)
	c.indegree = make([]int32, n)
	for i := range c.p.Ops {
		c.indegree[i] = c.p.Ops[i].DepHi - c.p.Ops[i].DepLo
	}
	for i := range c.p.Ops {
		if c.indegree[i] == 0 {
			c.ready(c.newInst(int32(i)))
		}
	}
}

// pump releases the dependents of completed instances and lets the thread run,
// until neither has anything to do.
func (c *Cursor) pump() {
	for c.err == nil {
		if c.head < len(c.queue) {
			h := c.queue[c.head]
			c.head++
			c.complete(h)
			continue
		}
		if c.p.Flat || (c.gate > 0 && !c.more) || int(c.pc) >= len(c.p.Ops) {
			break
		}
		c.step()
	}
	c.queue, c.head = c.queue[:0], 0
}

// step runs the thread up to and including its next timed operation.
func (c *Cursor) step() {
	p := c.p
	for int(c.pc) < len(p.Ops) {
		op := &p.Ops[c.pc]
		switch op.Kind {
		case graph.Loop:
			n, err := c.eval(op.Peer, c.pc)
			if err != nil {
				c.fail(err)
				return
			}
			if c.cfg.MaxTrips > 0 && n > c.cfg.MaxTrips && p.Uniform(c.pc) {
				n = c.cfg.MaxTrips
			}
			if n <= 0 {
				c.pc = op.Arg + 1
				continue
			}
			c.limits[op.Label], c.env.Loops[op.Label] = n, 0
			c.pc++
		case graph.End:
			slot := p.Ops[op.Arg].Label
			if c.env.Loops[slot]++; c.env.Loops[slot] < c.limits[slot] {
				c.pc = op.Arg + 1
			} else {
				c.pc++
			}
		case graph.Branch:
			n, err := c.eval(op.Peer, c.pc)
			if err != nil {
				c.fail(err)
				return
			}
			if n != 0 {
				c.pc++
			} else {
				c.pc = op.Arg
			}
		case graph.Jump:
			c.pc = op.Arg
		case graph.ScopeEnd:
			c.dropLabels(op.Arg, op.Arg+op.Label)
			c.pc++
		default:
			c.issueThread(op)
			return
		}
	}
}

// issueThread makes the instance of the operation at pc and moves on.
func (c *Cursor) issueThread(op *graph.Op) {
	at := c.pc
	c.pc++
	h := c.newInst(at)
	if op.Stream > 0 {
		c.dependOn(h, c.streams[op.Stream])
		c.streams[op.Stream] = ref{h, c.insts[h].seq}
	}
	for i := op.DepLo; i < op.DepHi; i++ {
		if err := c.dependOnLabel(h, &c.p.Deps[i]); err != nil {
			c.fail(err)
			return
		}
	}
	if op.Label >= 0 {
		if err := c.addLabel(h, op); err != nil {
			c.fail(err)
			return
		}
	}
	if op.Flags&graph.WaitAll != 0 && c.live > 1 {
		c.waitAll = h
		c.insts[h].pending++
	}
	c.more = op.Flags&graph.More != 0
	if op.Flags&graph.Async == 0 {
		c.insts[h].gate = true
		c.gate++
	}
	if c.insts[h].pending == 0 {
		c.ready(h)
	}
}

// ready starts an instance whose dependencies are met.
func (c *Cursor) ready(h int32) {
	in := &c.insts[h]
	op := &c.p.Ops[in.op]
	switch op.Kind {
	case graph.Join:
		c.queue = append(c.queue, h)
	case graph.Collective:
		c.startPart(h, op)
	default:
		var is Issue
		if err := c.opIssue(&is, h, in.op); err != nil {
			c.fail(err)
			return
		}
		in.issued = true
		c.Issued[is.Kind]++
		c.out = append(c.out, is)
	}
}

// complete ends an instance: its dependents, its collective and the thread learn
// of it.
func (c *Cursor) complete(h int32) {
	in := c.insts[h]
	if in.step >= 0 {
		c.freeInstance(h)
		c.stepDone(in.part, in.step)
		return
	}
	if in.gate {
		c.gate--
	}
	if in.rec >= 0 {
		c.dropRec(in.rec)
	}
	for e := in.edges; e >= 0; {
		d := c.edges[e]
		c.edges[e].next, c.freeEdge = c.freeEdge, e
		c.release(d.inst)
		e = d.next
	}
	c.freeInstance(h)
	if c.p.Flat {
		c.pc++ // counts completed operations
		for _, d := range c.p.Dependents(in.op) {
			if c.indegree[d]--; c.indegree[d] == 0 {
				c.ready(c.newInst(d))
			}
		}
	}
	if c.waitAll >= 0 && c.live == 1 {
		w := c.waitAll
		c.waitAll = -1
		c.release(w)
	}
}

func (c *Cursor) release(h int32) {
	if c.insts[h].pending--; c.insts[h].pending == 0 {
		c.ready(h)
	}
}

// opIssue fills an issue for a plain operation.
func (c *Cursor) opIssue(is *Issue, h, at int32) error {
	op := &c.p.Ops[at]
	*is = Issue{Handle: h, Op: at, Site: op.Site, Kind: op.Kind, Flags: op.Flags, Peer: graph.AnyRank}
	c.env.Op = at
	if op.Kind != graph.Send && op.Kind != graph.Recv {
		return c.workIssue(is, op)
	}
	peer, err := c.eval(op.Peer, at)
	if err != nil {
		return err
	}
	tag, err := c.eval(op.Tag, at)
	if err != nil {
		return err
	}
	bytes, err := c.eval(op.Size, at)
	if err != nil {
		return err
	}
	if peer < 0 && !(op.Kind == graph.Recv && peer == graph.AnyRank) || peer >= int64(c.g.Ranks) {
		return c.located(op, "E301", "rank %d computed on rank %d is outside 0..%d", peer, c.rank, c.g.Ranks-1)
	}
	if bytes < 0 {
		return c.located(op, "E222", "negative size %d B on rank %d", bytes, c.rank)
	}
	is.Peer, is.Tag, is.Bytes, is.Context = int32(peer), int32(tag), bytes, uint64(uint32(op.Arg))
	return nil
}

func (c *Cursor) workIssue(is *Issue, op *graph.Op) error {
	if c.cfg.NoDurations {
		return nil
	}
	d, err := c.p.Duration(op.Arg, c.slot, &c.env)
	if err != nil {
		return err
	}
	is.Duration = d
	if m := c.p.Costs[op.Arg].Memory; m.Den > 0 {
		n, err := c.p.Eval(m.V, c.slot, &c.env)
		if err != nil {
			return err
		}
		is.Bytes = units.MulDiv(n, m.Num, m.Den)
	}
	return nil
}

func (c *Cursor) eval(v graph.Value, at int32) (int64, error) {
	if n, ok := c.p.Known(v, c.slot); ok {
		return n, nil
	}
	c.env.Op = at
	return c.p.Eval(v, c.slot, &c.env)
}

// located makes a diagnostic at the operation's site.
func (c *Cursor) located(op *graph.Op, code, format string, args ...any) error {
	return diag.Diagnostic{Severity: diag.Error, Code: code, Pos: c.g.Sites[op.Site].Pos, Message: fmt.Sprintf(format, args...)}
}

func (c *Cursor) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}
