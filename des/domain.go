package des

import (
	"fmt"

	"hybrid/des/nic"
	"hybrid/des/node"
	"hybrid/des/scaleup"
	"hybrid/des/sim"
	"hybrid/graph"
	"hybrid/graph/replay"
	"hybrid/internal/units"
)

// domain is the logical process of one node, with its NIC and the ranks placed on it, or
// of all nodes whose ranks share a scale-up fabric.
type domain struct {
	run   *run
	id    int32 // of its first node
	ranks []rank
	nic   *nic.NIC // of a domain without a fabric
	in    *sim.Inputs
	// Of a domain with a fabric, which may have several nodes:
	fabric   *scaleup.Fabric
	ports    ports
	passages []passage
	freePass int32

	w       *sim.Worker // of the current visit
	books   *books      // the same worker's
	events  sim.Events
	ops     []op
	freeOp  int32
	arrived []arrival
	freeArr int32
	issues  []replay.Issue
	ended   []int32

	// The latest transfer inside the node; see path.
	lastPath  localPath
	pathOf    pathKey
	pathKnown bool

	records  bool           // a recorder is to be told of operations
	ends     bool           // and of the ends of ranks
	told     []replay.Event // of operations that it will hear of again
	freeTold []int32
}

// rank is the state of one rank.
type rank struct {
	id       int32
	cursor   *replay.Cursor
	matcher  replay.Matcher
	activity replay.Activity
	cpu      node.Processor
	issued   uint64     // operations so far; the issue order breaks ties
	end      units.Time // of the latest operation
	acked    units.Time // when the latest transfer inside the node arrived
	digest   uint64
	kept     []replay.Issue // to start later (see ahead)
}

// op is an operation that the rank's cursor has issued and that has not ended.
type op struct {
	handle, rank, site, peer, tag int32
	program                       int32 // operation index, for the digest
	kind                          graph.Kind
	flags                         graph.Flags
	inCollective, shared, live    bool
	start                         units.Time
	seq                           uint64
	context                       uint64
	bytes                         int64
	next                          int32 // free list
	told                          int32 // what a recorder was told, or 0
}

// Kinds of events, which order those of one operation.
const (
	eventBegin   = iota // the rank starts
	eventShare          // an operation that shares the accelerator ends
	eventEnd            // any other operation ends
	eventPost           // the host processor has prepared a send
	eventAck            // a transfer inside the node counts as acknowledged
	eventResume         // a rank goes on that was ahead
	eventRankEnd        // a rank ends that was ahead
	eventKinds   = 8
)

// orderBits is how many bits of an event's key count a rank's operations.
const orderBits = 44

func key(rank int32, seq uint64) uint64 { return uint64(rank)<<orderBits | seq&(1<<orderBits-1) }

// Step implements [sim.Process]. At equal times packets arrive first, in the order of
// their links; then the NIC decides what to send; then operations end and follow-ups
// start, in the order of (rank, issue). With a scale-up fabric stepGroup does the same.
func (d *domain) Step(w *sim.Worker) units.Time {
	if d.fabric != nil {
		return d.stepGroup(w)
	}
	d.w, d.books = w, &d.run.books[w.ID]
	inbox, later := d.in.Gather(w)
	handled := int64(len(inbox))
	for i := 0; ; handled++ {
		arrival := units.Never
		if i < len(inbox) {
			arrival = inbox[i].T
		}
		send, event := d.nic.Next(), d.events.Next()
		if arrival <= send && arrival <= event {
			if arrival == units.Never {
				break
			}
			d.nic.Receive(w, &inbox[i])
			i++
		} else if send <= event {
			if send >= w.End {
				break
			}
			d.nic.Transmit(w)
		} else {
			if event >= w.End {
				break
			}
			d.handle(d.events.Pop())
		}
	}
	w.Events += handled
	return min(later, d.nic.Next(), d.events.Next())
}

func (d *domain) handle(e sim.Event) {
	switch e.Kind % eventKinds {
	case eventBegin:
		r := &d.ranks[e.Arg]
		d.follow(e.T, e.Arg, r.cursor.Start(e.T, d.issues[:0]))
	case eventShare:
		cpu := &d.ranks[e.Arg].cpu
		d.ended = cpu.End(e.T, e.Kind/eventKinds, d.ended[:0])
		if len(d.ended) == 0 { // an answer that became void
			d.w.Events--
			return
		}
		for _, o := range d.ended {
			d.end(e.T, o)
		}
		if cpu.Valid(e.Kind / eventKinds) { // else one that began since has a later answer
			next, version := cpu.Next()
			d.expectShare(e.Arg, next, version)
		}
	case eventEnd:
		d.end(e.T, e.Arg)
	case eventPost:
		d.post(e.T, e.Arg)
	case eventAck:
		if d.w.Events--; e.Arg != 0 { // not a matter of the simulation
			d.tellAcked(d.books, e.Arg, e.T)
		}
	case eventResume:
		d.resume(e.T, e.Arg)
	case eventRankEnd:
		d.w.Events-- // not a matter of the simulation
		d.tellRank(e.T, &d.ranks[e.Arg])
	}
}

// at schedules the end, or the posting, of an operation.
func (d *domain) at(t units.Time, kind uint32, o int32) {
	d.events.Push(sim.Event{T: t, Key: key(d.ops[o].rank, d.ops[o].seq), Kind: kind, Arg: o})
}

func (d *domain) expectShare(rank int32, next units.Time, version uint32) {
	if next < units.Never {
		d.events.Push(sim.Event{T: next, Key: key(rank, 0), Kind: eventShare + eventKinds*version, Arg: rank})
	}
}

// end completes an operation and starts what waited for it.
func (d *domain) end(now units.Time, at int32) {
	o := &d.ops[at] // nothing takes its place before the next operation starts
	if sim.Invariants && (!o.live || now < o.start || now < d.w.Start || now >= d.w.End) {
		panic(fmt.Sprintf("des: operation %+v ends at %d in the window from %d to %d", *o, now, d.w.Start, d.w.End))
	}
	o.live = false
	o.next, d.freeOp = d.freeOp, at
	r := &d.ranks[o.rank]
	switch {
	case o.kind == graph.Send || o.kind == graph.Recv:
		r.activity.TransferEnd(now)
	case o.shared:
		r.activity.ComputeEnd(now)
	}
	if !o.inCollective {
		d.books.tally.Op(o.site, o.start, now)
	}
	if o.told != 0 {
		d.tellEnd(now, o.told)
	}
	r.end = now
	r.digest = digest(digest(r.digest, uint64(o.program)), uint64(now))
	d.follow(now, o.rank, r.cursor.Done(o.handle, now, d.issues[:0]))
}

// digest is one step of a hash in the manner of FNV-1a over words, with the finalizing
// shift that lets high bits reach low ones.
func digest(h, word uint64) uint64 {
	h = (h ^ word) * 0x9e3779b97f4a7c15
	return h ^ h>>29
}

// follow takes what a cursor returned: collective parts that ended and operations to
// start.
func (d *domain) follow(now units.Time, at int32, issues []replay.Issue) {
	d.issues = issues
	r := &d.ranks[at]
	d.note(now, r)
	if d.alone(r) {
		d.ahead(now, at)
		return
	}
	for i := range issues {
		d.start(now, at, &issues[i])
	}
}

// note takes the collective parts that ended, and the end of a rank.
func (d *domain) note(now units.Time, r *rank) {
	for i := range r.cursor.Ended {
		e := &r.cursor.Ended[i]
		d.books.tally.Op(e.Site, e.Start, e.End)
		d.books.ended = append(d.books.ended, *e)
		r.end = max(r.end, e.End)
	}
	if d.ends && r.cursor.Finished() {
		d.tellRank(now, r)
	}
}

// start begins an operation.
func (d *domain) start(now units.Time, at int32, is *replay.Issue) {
	r := &d.ranks[at]
	r.issued++
	i := d.newOp()
	o := &d.ops[i]
	// Field by field: a composite literal goes through the stack and stalls.
	o.handle, o.rank, o.site, o.peer, o.tag, o.program, o.told = is.Handle, at, is.Site, is.Peer, is.Tag, is.Op, 0
	o.kind, o.flags, o.inCollective, o.shared, o.live = is.Kind, is.Flags, is.InCollective, false, true
	o.start, o.seq, o.context, o.bytes = now, r.issued, is.Context, is.Bytes
	if d.records {
		o.told = d.tellStart(now, r, is)
	}
	switch is.Kind {
	case graph.Send:
		if !is.Sync {
			d.books.tally.Result.Messages++
			d.books.tally.Result.MessageBytes += is.Bytes
		}
		r.activity.TransferBegin(now)
		d.send(now, i)
	case graph.Recv:
		r.activity.TransferBegin(now)
		d.receive(now, i)
	default:
		d.compute(now, i, d.run.clock.Ticks(is.Duration))
	}
}

func (d *domain) compute(now units.Time, at int32, work units.Time) {
	o := &d.ops[at]
	r := &d.ranks[o.rank]
	if !r.cpu.Shares(o.kind, o.flags, work) {
		end := later(now, work)
		r.activity.Compute(now, end)
		d.at(end, eventEnd, at)
		return
	}
	o.shared = true
	r.activity.ComputeBegin(now)
	next, version := r.cpu.Begin(now, at, work)
	d.expectShare(o.rank, next, version)
}

// later adds a span to a time; beyond the range of time the kernel ends the run.
func later(t, span units.Time) units.Time {
	if span > sim.MaxTime-t {
		return sim.MaxTime + 1
	}
	return t + span
}

func (d *domain) newOp() int32 {
	if i := d.freeOp; i >= 0 {
		d.freeOp = d.ops[i].next
		return i
	}
	d.ops = append(d.ops, op{})
	return int32(len(d.ops) - 1)
}
