package chakra

import (
	"fmt"
	"math"

	"hybrid/graph"
	"hybrid/internal/diag"
	"hybrid/internal/units"
)

// picosPerMicro converts the durations of traces.
const picosPerMicro = 1_000_000

// maxMicros is the longest duration that fits in picoseconds.
const maxMicros = math.MaxInt64 / picosPerMicro

// rankLoader lowers one file.
type rankLoader struct {
	*loader
	rank  int32
	file  string
	t     *trace
	rb    *graph.RankBuilder
	own   groupTable // declarations of this file
	refs  map[string]groupRef
	calls []call
	sends []call
	deps  []graph.Dep
}

func (l *rankLoader) at(n *node) place { return place{l.file, l.t, n} }

// rank lowers the trace of one rank.
func (l *loader) rank(rank int, file string, t *trace) {
	r := &rankLoader{loader: l, rank: int32(rank), file: file, t: t, rb: l.b.Rank(rank, true), refs: map[string]groupRef{}}
	for i := range t.nodes {
		r.attributeFindings(&t.nodes[i])
		l.ordered = l.ordered || t.nodes[i].has(slotOrder)
	}
	for _, g := range t.groups {
		r.declare(&t.nodes[g.node], t.text(g.text))
	}
	e, ok := r.dependencies()
	if !ok {
		return
	}
	r.grow(&e)
	ops := make([]graph.Op, len(t.nodes))
	for i := range t.nodes {
		ops[i] = r.op(int32(i), &t.nodes[i])
	}
	r.number(ops)
	r.nodeIDs()
	for i := range ops {
		r.deps = r.deps[:0]
		for _, d := range e.of(int32(i)) {
			r.deps = append(r.deps, graph.Dep{Mode: graph.DepOp, Target: d})
		}
		r.rb.Op(ops[i], r.deps...)
	}
	r.rb.Done()
}

// nodeIDs keeps the ids for output that names the nodes of the trace.
func (l *rankLoader) nodeIDs() {
	l.ids = l.ids[:0]
	for i := range l.t.nodes {
		l.ids = append(l.ids, l.t.nodes[i].id)
	}
	l.b.Graph().SetNodeIDs(l.rank, l.ids)
}

// grow makes room for what the nodes become: up to four operands for a collective,
// three for a transfer, one or two for work.
func (l *rankLoader) grow(e *edges) {
	works, operands := 0, 0
	for i := range l.t.nodes {
		switch n := &l.t.nodes[i]; n.kind {
		case CommCollNode:
			operands += 4
		case CommSendNode, CommRecvNode:
			operands += 3
		case CompNode, MemLoadNode, MemStoreNode:
			works++
			operands += 2
		}
	}
	l.rb.Grow(len(l.t.nodes), len(e.to), works, operands)
}

// attributeFindings reports attributes that were not written as integers.
func (l *rankLoader) attributeFindings(n *node) {
	if n.text|n.float|n.bad == 0 {
		return
	}
	for s := range numSlots {
		name := slotName(s)
		if s == slotOrder && l.opt.IssueOrder != "" {
			name = l.opt.IssueOrder
		}
		switch bit := uint16(1) << s; {
		case n.bad&bit != 0:
			l.f.warnf("W706", name, l.at(n), "the attribute %s is not a whole number in range and is ignored", name)
		case n.text&bit != 0:
			l.f.warnf("W705", name, l.at(n), "the attribute %s is a string, read as the number %d", name, n.vals[s])
		case n.float&bit != 0:
			l.f.warnf("W705", name, l.at(n), "the attribute %s is a floating-point number, read as %d", name, n.vals[s])
		}
	}
}

// op lowers one node.
func (l *rankLoader) op(i int32, n *node) graph.Op {
	switch n.kind {
	case CompNode:
		return l.compute(n)
	case MemLoadNode:
		return l.memory(n, graph.Load)
	case MemStoreNode:
		return l.memory(n, graph.Store)
	case CommSendNode:
		return l.send(i, n)
	case CommRecvNode:
		return l.recv(n)
	case CommCollNode:
		return l.collective(i, n)
	case InvalidNode:
		l.f.warnf("W707", "invalid", l.at(n), "has the type INVALID_NODE or none; it takes no time")
	case numNodeTypes:
		l.f.warnf("W707", fmt.Sprint(n.rawKind), l.at(n), "has the unknown type %d; it takes no time", n.rawKind)
	}
	return l.newOp(graph.Join, n, n.kind.String())
}

// newOp makes an operation whose site is shared by the nodes of all ranks with the
// same name and kind.
func (l *rankLoader) newOp(k graph.Kind, n *node, text string) graph.Op {
	return graph.Op{Kind: k, Site: l.site(k, n, 0, -1, text), Label: -1}
}

// time returns the node's duration in picoseconds.
func (l *rankLoader) time(n *node) int64 {
	if n.duration > maxMicros {
		l.f.errorf("E712", "duration", l.at(n), "the duration of %d microseconds is too long", n.duration)
		return 0
	}
	return int64(n.duration) * picosPerMicro
}

// size returns an attribute in bytes or operations, at least 0.
func (l *rankLoader) size(n *node, s slot) int64 {
	if n.vals[s] < 0 {
		l.f.errorf("E712", slotName(s), l.at(n), "the attribute %s is negative: %d", slotName(s), n.vals[s])
		return 0
	}
	return n.vals[s]
}

func (l *rankLoader) compute(n *node) graph.Op {
	op := l.newOp(graph.Compute, n, n.kind.String())
	if n.vals[slotCPU] != 0 {
		op.Flags |= graph.HostCPU
	}
	work := graph.Work{Model: graph.Fixed}
	if n.duration == 0 && n.vals[slotNumOps] > 0 {
		work.Model = graph.Roofline
		work.Flops, work.Bytes = l.rb.Int(n.vals[slotNumOps]), l.rb.Int(l.size(n, slotTensorSize))
	} else {
		work.Time = l.rb.Int(l.time(n))
	}
	op.Arg = l.rb.Work(work)
	return op
}

func (l *rankLoader) memory(n *node, k graph.Kind) graph.Op {
	op := l.newOp(k, n, n.kind.String())
	if n.duration > 0 {
		op.Arg = l.rb.Work(graph.Work{Model: graph.Fixed, Time: l.rb.Int(l.time(n))})
	} else {
		op.Arg = l.rb.Work(graph.Work{Model: graph.Traffic, Bytes: l.rb.Int(l.size(n, slotTensorSize))})
	}
	return op
}

func (l *rankLoader) send(i int32, n *node) graph.Op {
	op := l.newOp(graph.Send, n, n.kind.String())
	op.Flags |= graph.Eager
	op.Peer = l.rb.Int(l.partner(n, slotDst))
	op.Tag, op.Size = l.rb.Int(tag(n)), l.rb.Int(l.transferSize(n))
	if n.has(slotOrder) && (n.hasGroup || n.has(slotGroup)) {
		if ref := l.group(n); ref.ok {
			l.sends = append(l.sends, call{op: i, group: ref.id, name: ref.name})
		}
	}
	return op
}

func (l *rankLoader) recv(n *node) graph.Op {
	op := l.newOp(graph.Recv, n, n.kind.String())
	op.Peer = l.rb.Int(l.partner(n, slotSrc))
	op.Tag, op.Size = l.rb.Int(tag(n)), l.rb.Int(l.transferSize(n))
	return op
}

// tag keeps negative tags apart from the wildcard that traces do not have.
func tag(n *node) int64 {
	switch t := n.vals[slotTag]; {
	case t >= 0:
		return t
	case t >= math.MinInt32:
		return t & math.MaxUint32
	default:
		return t & (1<<62 - 1) // the largest tag of a trace
	}
}

// transferSize is comm_size, else tensor_size, else nothing, both with a warning.
func (l *rankLoader) transferSize(n *node) int64 {
	if n.has(slotCommSize) {
		return l.size(n, slotCommSize)
	}
	if n.has(slotTensorSize) {
		l.f.warnf("W708", "tensor", l.at(n), "has no comm_size; its tensor_size of %d bytes is used", n.vals[slotTensorSize])
		return l.size(n, slotTensorSize)
	}
	l.f.warnf("W708", "none", l.at(n), "has no comm_size; it transfers 0 bytes")
	return 0
}

// partner is the rank at the other end: the attribute, or the other member of a
// named group of two.
func (l *rankLoader) partner(n *node, s slot) int64 {
	if n.has(s) {
		p := n.vals[s]
		if p < 0 || p >= int64(len(l.set.Files)) {
			l.f.errorf("E712", slotName(s), l.at(n), "%s is %d, but the ranks are 0 to %d", slotName(s), p, len(l.set.Files)-1)
			return 0
		}
		return p
	}
	if !n.hasGroup && !n.has(slotGroup) {
		l.f.errorf("E711", "none", l.at(n), "has no %s and no process group to tell its partner", slotName(s))
		return 0
	}
	ref := l.group(n)
	switch {
	case !ref.ok:
	case ref.pos < 0:
		l.f.errorf("E711", "outside", l.at(n), "has no %s, and rank %d is not in its process group %q", slotName(s), l.rank, ref.name)
	case len(ref.members) != 2:
		l.f.errorf("E711", "size", l.at(n), "has no %s, and its process group %q has %d members, not two", slotName(s), ref.name, len(ref.members))
	default:
		return int64(ref.members[1-ref.pos])
	}
	return 0
}

// collective lowers a collective, or the time it took where it cannot be expanded.
func (l *rankLoader) collective(i int32, n *node) graph.Op {
	ct := n.vals[slotCommType]
	if n.has(slotCommType) && (ct < 0 || ct >= int64(graph.ChakraCollTypes)) {
		l.f.warnf("W701", "type", l.at(n), "has the unknown comm_type %d and is not expanded; it takes its recorded duration", ct)
		return l.skipped(n)
	}
	if !n.has(slotCommType) || !n.has(slotCommSize) {
		missing := "comm_size"
		if !n.has(slotCommType) {
			missing = "comm_type"
		}
		l.f.warnf("W701", missing, l.at(n), "has no %s and is not expanded; it takes its recorded duration", missing)
		return l.skipped(n)
	}
	ref := l.group(n)
	if !ref.ok {
		return l.skipped(n)
	}
	if ref.pos < 0 {
		l.f.warnf("W702", ref.name, l.at(n), "is a collective of the process group %q, in which rank %d is not; it takes its recorded duration", ref.name, l.rank)
		return l.skipped(n)
	}
	return l.expanded(i, n, graph.CollType(ct), ref)
}

// expanded lowers a collective whose transfers will be made. They are eager, like
// the plain sends of a trace.
func (l *rankLoader) expanded(i int32, n *node, ct graph.CollType, ref groupRef) graph.Op {
	size := l.size(n, slotCommSize)
	if ct == graph.Barrier { // whatever size it was recorded with, it carries nothing
		size = 0
	}
	root := l.root(n, ct, ref)
	text := collName(ct) + " " + units.ReadableBytes(size)
	op := graph.Op{Kind: graph.Collective, Flags: graph.Eager, Site: l.site(graph.Collective, n, ct, size, text), Label: -1}
	op.Peer, op.Tag, op.Size = l.rb.Int(root), l.rb.Int(int64(ref.id)), l.rb.Int(size)
	op.Arg = l.rb.Call(graph.Call{Type: ct})
	l.calls = append(l.calls, call{op: i, group: ref.id, name: ref.name, ct: ct, size: size, root: root})
	return op
}

// root is the position of the root in the group: the attribute as a rank, else as
// a position; the first member if there is none.
func (l *rankLoader) root(n *node, ct graph.CollType, ref groupRef) int64 {
	switch ct {
	case graph.Reduce, graph.Gather, graph.Scatter, graph.Broadcast:
	default:
		return 0
	}
	root := n.vals[slotRoot]
	if !n.has(slotRoot) {
		if !n.has(slotSrc) {
			return 0
		}
		root = n.vals[slotSrc]
	}
	if root >= 0 && root <= maxRank {
		if p := l.b.Graph().Groups[ref.id].Pos(int32(root)); p >= 0 {
			return int64(p)
		}
	}
	if root < 0 || root >= int64(len(ref.members)) {
		l.f.errorf("E715", ref.name, l.at(n), "the root %d is neither a member nor a position of the process group %q", root, ref.name)
		return 0
	}
	return root
}

// skipped is a collective that could not be expanded. It occupies nothing.
func (l *rankLoader) skipped(n *node) graph.Op {
	op := l.newOp(graph.Compute, n, "COMM_COLL_NODE not expanded")
	op.Flags |= graph.Skipped | graph.HostCPU
	op.Arg = l.rb.Work(graph.Work{Model: graph.Fixed, Time: l.rb.Int(l.time(n))})
	return op
}

// siteKey is what the nodes of one site share.
type siteKey struct {
	kind    graph.Kind
	ct      graph.CollType
	skipped bool
	size    int64
	name    string
}

// site interns the site of a node.
func (l *rankLoader) site(k graph.Kind, n *node, ct graph.CollType, size int64, text string) int32 {
	skipped := k == graph.Compute && n.kind == CommCollNode
	if id, ok := l.sites[siteKey{k, ct, skipped, size, string(l.t.text(n.name))}]; ok {
		return id
	}
	name := string(l.t.text(n.name))
	id := l.b.Site(graph.Site{Pos: diag.Pos{File: l.file, Node: l.t.nodeText(n)}, Kind: k, Name: name, Text: text})
	l.sites[siteKey{k, ct, skipped, size, name}] = id
	return id
}
