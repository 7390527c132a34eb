package replay

import (
	"iter"
	"math"
	"strconv"

	"hybrid/graph"
	"hybrid/graph/collective"
)

// Expansion numbers the nodes of one rank's prepared trace: its operations, with each
// collective as the transfers that a cursor issues for it. A collective becomes
//
//	transfers of the barrier -> start node -> transfers -> end node
//
// where the barrier is there with synchronization only. The start and the end take no
// time. The barrier's first transfers (the start node without a barrier) depend on what
// the collective depends on, and what depends on the collective depends on its end. The
// start waits for every receive of the barrier and every send that has no successor in
// it, the end likewise for the collective's own transfers.
//
// Operations keep the ids of the trace, and a collective's id is its end's. The other
// nodes have ids above the largest of the rank's trace, in program order: the barrier's
// steps, the start, the steps. Room for a barrier is always left, so that ids do not
// depend on the ordering options. Where 64 bits do not reach, operations are numbered by
// their places in the program instead.
//
// Nothing is stored for a transfer, 12 bytes for a collective. An Expansion is not safe
// for concurrent use.
type Expansion struct {
	g     *graph.Graph
	p     *graph.Program
	rank  int32
	slot  int32
	algs  *collective.Table
	colls []int32  // the collectives, in program order
	base  []uint64 // the first id of each
	nodes int64
	// placed numbers operations by place.
	placed bool
	env    graph.Env
	// this and next are the collective that a query is about and one that depends on it.
	this, next shape
}

// shape is one collective of the rank.
type shape struct {
	known       bool
	op          int32
	base        uint64
	group       *graph.Group
	context     uint64
	alg, sync   *collective.Algorithm
	call        collective.Call
	sizes       pairSizes // of an all-to-allv
	steps, room int32     // transfers of the collective, and of a barrier before it
	barrier     bool      // it has one
}

// NodeRole says what a node of the expanded form stands for.
type NodeRole uint8

// Roles of expanded nodes.
const (
	// PlainNode is an operation of the trace.
	PlainNode NodeRole = iota
	// TransferNode is a transfer of a collective or of the barrier before it.
	TransferNode
	// StartNode and EndNode bound a collective.
	StartNode
	EndNode
)

// ExpandedNode is a node of the expanded form. Queries reuse its slices.
type ExpandedNode struct {
	ID   uint64
	Role NodeRole
	// Kind is the operation's; Join for the start and the end of a collective.
	Kind  graph.Kind
	Flags graph.Flags
	// Op and Site are the operation, of all nodes of a collective the collective's; Step
	// is a transfer's number in the collective or, with Sync, in the barrier; else -1.
	Op, Site, Step int32
	Sync           bool
	// Peer is the world rank of a transfer's partner, else graph.AnyRank; Tag and Context
	// are its matching key, as in [Issue].
	Peer, Tag int32
	Context   uint64
	// Bytes is the size of a transfer, Duration the time of a compute or memory operation
	// in picoseconds (0 in a graph without prices), both after scaling.
	Bytes, Duration int64
	// Deps and Children are the ids of the nodes that this one waits for and of those
	// that wait for it.
	Deps, Children []uint64
}

// NewExpansion returns the numbering of a rank, or nil for a thread program, whose
// loops have no nodes to number. It takes time in proportion to the rank's operations.
func NewExpansion(g *graph.Graph, algs *collective.Table, rank int) *Expansion {
	p, slot := g.Program(rank)
	if !p.Flat {
		return nil
	}
	x := &Expansion{g: g, p: p, rank: int32(rank), slot: slot, algs: algs, env: graph.Env{Rank: int32(rank)}}
	largest, extra := uint64(0), uint64(0)
	for i := range p.Ops {
		largest = max(largest, x.id(int32(i)))
		if p.Ops[i].Kind == graph.Collective {
			x.colls = append(x.colls, int32(i))
		}
	}
	x.base = make([]uint64, len(x.colls))
	x.nodes = int64(len(p.Ops))
	for i, op := range x.colls {
		x.base[i] = extra
		s := x.collective(&x.this, op)
		extra += uint64(s.room) + 1 + uint64(s.steps)
		if x.nodes += 1 + int64(s.steps); s.barrier {
			x.nodes += int64(s.room)
		}
	}
	if largest >= math.MaxUint64-extra {
		x.placed, largest = true, uint64(len(p.Ops))
	}
	for i := range x.base {
		x.base[i] += largest + 1
	}
	x.this.known = false // it has another base
	return x
}

// Len returns the number of nodes of the rank's expanded trace.
func (x *Expansion) Len() int64 { return x.nodes }

// id returns the id of an operation.
func (x *Expansion) id(op int32) uint64 {
	if x.placed {
		return uint64(op)
	}
	return x.g.NodeID(x.rank, op)
}

// collective fills s with the collective at op.
func (x *Expansion) collective(s *shape, op int32) *shape {
	if s.known && s.op == op {
		return s
	}
	o := &x.p.Ops[op]
	s.known, s.op, s.base, s.group = true, op, x.base[x.index(op)], nil
	s.steps, s.room, s.barrier = 0, 0, false
	id, root, bytes, instance := x.value(o.Tag), x.value(o.Peer), x.value(o.Size), x.value(o.Index)
	q := &x.p.Calls[o.Arg]
	if s.alg = x.algs.Find(q.Type, q.Algorithm); q.Algorithm == "" {
		s.alg = x.algs.Default(q.Type)
	}
	if s.alg == nil || id < 0 || id >= int64(len(x.g.Groups)) || x.g.Groups[id].Pos(x.rank) < 0 {
		return s // no run comes this far: the collective is only its start and its end
	}
	s.group, s.sync = x.g.Groups[id], x.algs.SyncBarrier()
	s.context = CollectiveContext(s.group.ID, instance)
	setCall(&s.call, s.group, x.rank, int32(root), bytes)
	if q.Sizes != nil {
		s.sizes.begin(q.Sizes, s.group, x.g.Sites[o.Site].Pos, op, nil)
		s.call.Sizes = &s.sizes
	}
	s.steps = s.alg.Len(&s.call)
	if s.group.Size() > 1 {
		s.room = s.sync.Len(&s.call)
		s.barrier = o.Flags&graph.Synchronize != 0
	}
	return s
}

// setCall fills a rank's view of a collective, field by field, so that what the call
// remembers of the rank's place in a tree stays.
func setCall(c *collective.Call, group *graph.Group, rank, root int32, bytes int64) {
	c.N, c.Me, c.Root, c.Bytes, c.Units, c.Sizes = int32(group.Size()), group.Pos(rank), root, bytes, group.Units, nil
}

// index returns the place of a collective in colls.
func (x *Expansion) index(op int32) int {
	lo, hi := 0, len(x.colls)
	for lo < hi {
		if mid := (lo + hi) / 2; x.colls[mid] < op {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// value returns an operand, which is known in a flat program.
func (x *Expansion) value(v graph.Value) int64 {
	n, _ := x.p.Known(v, x.slot)
	return n
}

func (s *shape) startID() uint64 { return s.base + uint64(s.room) }

// firstID returns the id of step 0.
func (s *shape) firstID() uint64 { return s.startID() + 1 }

// Op fills n with an operation of the trace; for a collective with its end.
func (x *Expansion) Op(n *ExpandedNode, op int32) {
	if x.p.Ops[op].Kind == graph.Collective {
		x.End(n, op)
		return
	}
	x.reset(n, op)
	n.ID, n.Kind, n.Flags = x.id(op), x.p.Ops[op].Kind, x.p.Ops[op].Flags
	n.Deps = x.appendDeps(n.Deps, op)
	n.Children = x.appendChildren(n.Children, op)
	x.operands(n, &x.p.Ops[op])
}

// operands fills what depends on the kind.
func (x *Expansion) operands(n *ExpandedNode, o *graph.Op) {
	switch o.Kind {
	case graph.Send, graph.Recv:
		n.Peer, n.Bytes = int32(x.value(o.Peer)), x.g.ScaleBytes(x.value(o.Size))
		n.Tag, n.Context = splitTag(x.value(o.Tag), o.Arg)
	case graph.Compute, graph.Load, graph.Store:
		if int(o.Arg) >= len(x.p.Costs) {
			return
		}
		x.env.Op = n.Op
		if d, err := x.p.Duration(o.Arg, x.slot, &x.env); err == nil {
			n.Duration = x.g.ScaleTime(d)
		}
	}
}

// Start fills n with the node at which a collective's own transfers may start.
func (x *Expansion) Start(n *ExpandedNode, op int32) {
	s := x.bound(n, op, StartNode)
	n.ID = s.startID()
	if s.barrier {
		n.Deps = appendLast(n.Deps, s.sync, &s.call, s.room, s.base)
	} else {
		n.Deps = x.appendDeps(n.Deps, op)
	}
	if s.steps == 0 {
		n.Children = append(n.Children, x.id(op))
		return
	}
	n.Children = appendRoots(n.Children, s.alg, &s.call, s.firstID())
}

// End fills n with the end of a collective.
func (x *Expansion) End(n *ExpandedNode, op int32) {
	s := x.bound(n, op, EndNode)
	n.ID = x.id(op)
	if s.steps == 0 {
		n.Deps = append(n.Deps, s.startID())
	} else {
		n.Deps = appendLast(n.Deps, s.alg, &s.call, s.steps, s.firstID())
	}
	n.Children = x.appendChildren(n.Children, op)
}

func (x *Expansion) bound(n *ExpandedNode, op int32, role NodeRole) *shape {
	x.reset(n, op)
	n.Role, n.Kind = role, graph.Join
	return x.collective(&x.this, op)
}

// Node fills n with the node of an [Event] or an [Issue]: a transfer of a collective, or
// with sync of the barrier before it; with a negative step the operation itself.
func (x *Expansion) Node(n *ExpandedNode, op, step int32, sync bool) {
	if step < 0 {
		x.Op(n, op)
		return
	}
	x.reset(n, op)
	s := x.collective(&x.this, op)
	alg, first, after := s.alg, s.firstID(), x.id(op)
	if sync {
		alg, first, after = s.sync, s.base, s.startID()
	}
	t := alg.At(&s.call, step)
	n.Role, n.ID, n.Step, n.Sync = TransferNode, first+uint64(step), step, sync
	n.Flags = x.p.Ops[op].Flags & (graph.Eager | graph.Rendezvous)
	if n.Kind = graph.Recv; t.Send {
		n.Kind = graph.Send
	}
	n.Peer, n.Context, n.Tag = s.group.Members[t.Peer], s.context, t.Tag
	if sync {
		n.Tag |= syncTag
	} else {
		n.Bytes = x.g.ScaleBytes(t.Bytes)
	}
	switch {
	case t.Lo < t.Hi:
		n.Deps = appendRange(n.Deps, t.Lo, t.Hi, first)
	case sync:
		n.Deps = x.appendDeps(n.Deps, op)
	default:
		n.Deps = append(n.Deps, s.startID())
	}
	n.Children = appendRange(n.Children, t.NextLo, t.NextHi, first)
	if isLast(&t) {
		n.Children = append(n.Children, after)
	}
}

func (x *Expansion) reset(n *ExpandedNode, op int32) {
	*n = ExpandedNode{Op: op, Site: x.p.Ops[op].Site, Step: -1, Peer: graph.AnyRank, Deps: n.Deps[:0], Children: n.Children[:0]}
}

// isLast reports whether the end of the collective waits for the step itself.
func isLast(t *collective.Step) bool { return !t.Send || t.NextLo >= t.NextHi }

func appendRange(ids []uint64, lo, hi int32, first uint64) []uint64 {
	for i := lo; i < hi; i++ {
		ids = append(ids, first+uint64(i))
	}
	return ids
}

func appendRoots(ids []uint64, alg *collective.Algorithm, c *collective.Call, first uint64) []uint64 {
	for k := 0; ; k++ {
		lo, hi := alg.Roots(c, k)
		if lo >= hi {
			return ids
		}
		ids = appendRange(ids, lo, hi, first)
	}
}

func appendLast(ids []uint64, alg *collective.Algorithm, c *collective.Call, steps int32, first uint64) []uint64 {
	for i := range steps {
		if t := alg.At(c, i); isLast(&t) {
			ids = append(ids, first+uint64(i))
		}
	}
	return ids
}

// appendDeps appends what an operation waits for.
func (x *Expansion) appendDeps(ids []uint64, op int32) []uint64 {
	for _, d := range x.p.OpDeps(op) {
		ids = append(ids, x.id(d.Target))
	}
	return ids
}

// appendChildren appends what waits for an operation: of collectives the nodes with
// which they begin.
func (x *Expansion) appendChildren(ids []uint64, op int32) []uint64 {
	for _, d := range x.p.Dependents(op) {
		ids = x.appendEntry(ids, d)
	}
	return ids
}

func (x *Expansion) appendEntry(ids []uint64, op int32) []uint64 {
	if x.p.Ops[op].Kind != graph.Collective {
		return append(ids, x.id(op))
	}
	if s := x.collective(&x.next, op); s.barrier {
		return appendRoots(ids, s.sync, &s.call, s.base)
	}
	return append(ids, x.next.startID())
}

// AppendReady appends the ids of the nodes that wait for nothing, in program order.
func (x *Expansion) AppendReady(ids []uint64) []uint64 {
	for i := range x.p.Ops {
		if o := &x.p.Ops[i]; o.DepLo == o.DepHi {
			ids = x.appendEntry(ids, int32(i))
		}
	}
	return ids
}

// Nodes returns the nodes of the rank in program order, those of a collective as its
// barrier, start, transfers and end. The same node is filled again each time.
func (x *Expansion) Nodes() iter.Seq[*ExpandedNode] {
	return func(yield func(*ExpandedNode) bool) {
		var n ExpandedNode
		for i := range x.p.Ops {
			if !x.nodesOf(&n, int32(i), yield) {
				return
			}
		}
	}
}

func (x *Expansion) nodesOf(n *ExpandedNode, op int32, yield func(*ExpandedNode) bool) bool {
	if x.p.Ops[op].Kind == graph.Collective {
		s := x.collective(&x.this, op)
		steps, room := s.steps, s.room
		if !s.barrier {
			room = 0
		}
		for i := range room {
			if x.Node(n, op, i, true); !yield(n) {
				return false
			}
		}
		if x.Start(n, op); !yield(n) {
			return false
		}
		for i := range steps {
			if x.Node(n, op, i, false); !yield(n) {
				return false
			}
		}
	}
	x.Op(n, op)
	return yield(n)
}

// AppendName appends the name of a node: the trace's for an operation and the end of a
// collective, with what it is behind it for the others.
func (x *Expansion) AppendName(b []byte, n *ExpandedNode) []byte {
	s := &x.g.Sites[n.Site]
	if b = append(b, s.Name...); s.Name == "" {
		b = append(b, s.Text...)
	}
	switch {
	case n.Role == StartNode:
		b = append(b, " start"...)
	case n.Role == TransferNode && n.Sync:
		b = appendStep(b, " barrier step ", n.Step)
	case n.Role == TransferNode:
		b = appendStep(b, " step ", n.Step)
	}
	return b
}

func appendStep(b []byte, text string, step int32) []byte {
	return strconv.AppendInt(append(b, text...), int64(step), 10)
}
