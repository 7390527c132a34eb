package replay

import (
	"hybrid/graph"
	"hybrid/graph/collective"
	"hybrid/internal/units"
)

// Issue is an operation instance that is ready to start.
type Issue struct {
	// Handle names the instance in Done; it is reused after that.
	Handle int32
	// Op is the index in the rank's program, Site the place it was written; for a
	// collective's transfer both are the collective's.
	Op, Site int32
	// Step is the transfer's number in its collective, or in the barrier before it; -1
	// for an operation of its own.
	Step int32
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
	// Rank is whose part it is, Op the collective in the rank's program.
	Rank, Op    int32
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
	// Sent is what the rank itself has sent, after scaling; only of an all-to-allv,
	// whose size no single number gives.
	Sent int64
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
	iters    []int64 // by record: the counters of the loops that DepPrev counts
	latest   []ref   // by label: its latest instance
	held     []Issue
	freeHeld []int32
	counts   []groupCount
	waitAll  int32 // instance of a pending WaitAll, or -1

	chosen []*collective.Algorithm // by call, once it has been looked up
	scaled bool
	cut    bool  // a loop was cut short by MaxTrips
	fuel   int64 // iterations that an untimed walk may take, 0 for any number
	// onPart is told of every collective that the rank starts; nil for engines.
	onPart func(*part)
	// trace follows dependencies for exports; nil for engines.
	trace *tracer

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

// instance is a live operation instance. The transfer of a collective has neither
// dependents nor a label: it keeps there which steps wait for it, from edges up to
// but not including rec.
type instance struct {
	op      int32
	pending int32 // unmet dependencies
	edges   int32 // first dependent, or -1
	part    int32 // collective part: of a collective itself, or of the transfer's; -1
	step    int32 // the transfer's step in its part, or -1
	rec     int32 // label record, or -1
	next    int32 // held issue, or -1; the next free instance in the free list
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
	index, seq  int64
}

type groupCount struct {
	group int32
	n     int64
	last  ref
}

// part is a rank's part of a collective in progress.
type part struct {
	inst     int32
	alg      *collective.Algorithm
	call     collective.Call
	group    *graph.Group
	instance int64
	context  uint64 // of its transfers
	left     int32  // steps not done
	barrier  bool   // in the synchronization barrier
	real     *collective.Algorithm
	start    units.Time
	partial  []partial
	sizes    *pairSizes // of an all-to-allv; kept for the next one
	sent     int64
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
		streams: make([]ref, len(cfg.Graph.Streams)+1), scaled: cfg.Graph.Scaled(),
	}
	if !p.Flat {
		c.latest = make([]ref, p.NumLabels)
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
	if c.err == nil {
		c.complete(handle)
		c.pump()
	}
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

// Alone reports whether exactly one operation is in progress and nothing else can
// start before it is done.
func (c *Cursor) Alone() bool { return c.live == 1 }

// Err returns the error that stopped the rank's thread, or nil.
func (c *Cursor) Err() error { return c.err }

// Rank returns the rank.
func (c *Cursor) Rank() int32 { return c.rank }

// startFlat starts what waits for nothing. A rank that has no such operation ends at
// once: nothing of it will ever be released.
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
	if c.live == 0 {
		c.pc = int32(n)
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
				n, c.cut = c.cfg.MaxTrips, true
			}
			if n <= 0 || p.Idle(c.pc) {
				c.pc = op.Arg + 1
				continue
			}
			c.limits[op.Label], c.env.Loops[op.Label] = n, 0
			c.pc++
		case graph.End:
			if c.fuel > 0 {
				if c.fuel--; c.fuel == 0 {
					c.fail(errFuel)
					return
				}
			}
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
		if err := c.dependOnLabel(h, i); err != nil {
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
	if op.Kind == graph.Collective || op.Flags&(graph.Async|graph.More) != 0 && c.p.Varies(at) {
		if err := c.fixOperands(h, op); err != nil {
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

// fixOperands evaluates what must be evaluated when the thread reaches an
// operation, because it may start only after the loop counters have moved on: the
// place of a collective among those of its group, and computed operands of an
// operation that the thread does not wait for.
func (c *Cursor) fixOperands(h int32, op *graph.Op) error {
	at := c.insts[h].op
	if op.Kind == graph.Collective {
		return c.preparePart(h, op)
	}
	if op.Kind == graph.Join {
		return nil
	}
	i := int32(len(c.held))
	if n := len(c.freeHeld); n > 0 {
		i, c.freeHeld = c.freeHeld[n-1], c.freeHeld[:n-1]
	} else {
		c.held = append(c.held, Issue{})
	}
	c.insts[h].next, c.held[i] = i, Issue{}
	return c.opIssue(&c.held[i], h, at)
}

// ready starts an instance whose dependencies are met.
func (c *Cursor) ready(h int32) {
	in := &c.insts[h]
	op := &c.p.Ops[in.op]
	switch op.Kind {
	case graph.Join:
		c.queue = append(c.queue, h)
	case graph.Collective:
		if in.part < 0 {
			if err := c.preparePart(h, op); err != nil {
				c.fail(err)
				return
			}
		}
		c.startPart(h)
	default:
		c.out = append(c.out, Issue{})
		is := &c.out[len(c.out)-1]
		if in.next >= 0 {
			*is = c.held[in.next]
		} else if err := c.opIssue(is, h, in.op); err != nil {
			c.out = c.out[:len(c.out)-1]
			c.fail(err)
			return
		}
		in.issued = true
		c.Issued[is.Kind]++
	}
}

// complete ends an instance: its dependents, its collective and the thread learn
// of it.
func (c *Cursor) complete(h int32) {
	if c.trace != nil {
		c.trace.complete(h)
	}
	in := &c.insts[h]
	if in.step >= 0 {
		p, lo, hi := in.part, in.edges, in.rec
		c.freeInstance(h)
		c.stepDone(p, lo, hi)
		return
	}
	op, edges := in.op, in.edges
	if in.gate {
		c.gate--
	}
	if in.rec >= 0 {
		c.dropRec(in.rec)
	}
	if in.next >= 0 {
		c.freeHeld = append(c.freeHeld, in.next)
	}
	c.freeInstance(h)
	for e := c.issueOrder(edges); e >= 0; {
		d := c.edges[e]
		c.edges[e].next, c.freeEdge = c.freeEdge, e
		c.release(d.inst)
		e = d.next
	}
	if c.p.Flat {
		c.pc++ // counts completed operations
		for _, d := range c.p.Dependents(op) {
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
