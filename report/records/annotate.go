package records

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
	"unicode/utf8"

	"hybrid/graph"
	"hybrid/graph/replay"
	"hybrid/internal/units"
)

// AnnotatedSchema names the form of annotated traces.
const AnnotatedSchema = "hybrid/annotated-trace/v1"

const (
	annotatedDir = "post-annotated"
	stampWidth   = 13
	noStamp      = "XXXXXXXXXXXXX"
)

// annotatedPath is the annotated trace of a rank, relative to the folder of records.
func annotatedPath(name string, rank int32) string {
	return annotatedDir + "/" + name + "." + itoa(int64(rank)) + ".json"
}

// annotated writes each rank's prepared trace with the times of its nodes. A node is
// written when it is done, so that only which nodes were written is remembered.
type annotated struct {
	quiet
	r         *Recorder
	numbering numbering
	ranks     []annotatedRank
	name      []byte // of the node that is written
}

type annotatedRank struct {
	file *spool
	any  bool // a node has been written
	// ops are the operations that have been written, others the further nodes of
	// collectives, which are numbered from first.
	ops, others bitset
	first       uint64
	// running are the starts of nodes in progress, by id.
	running map[uint64]units.Time
	// waiting are joins some of whose dependencies have ended.
	waiting map[int32]waitingJoin
	stack   []ended
}

type waitingJoin struct {
	left int32
	t    units.Time
}

type ended struct {
	op int32
	t  units.Time
}

// bitset grows with what is put in.
type bitset []uint64

func (b *bitset) add(i uint64) {
	for i/64 >= uint64(len(*b)) {
		*b = append(*b, 0)
	}
	(*b)[i/64] |= 1 << (i % 64)
}

func (b bitset) has(i uint64) bool { return i/64 < uint64(len(b)) && b[i/64]>>(i%64)&1 != 0 }

func newAnnotated(r *Recorder) listener {
	if !annotates(r.g) {
		return &quiet{}
	}
	return &annotated{r: r, numbering: newNumbering(r)}
}

func (a *annotated) begin() error {
	dir := filepath.Join(a.r.opt.Dir, annotatedDir)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return diskError(dir, err)
	}
	a.ranks = make([]annotatedRank, a.r.g.Ranks)
	for i := range a.ranks {
		q := &a.ranks[i]
		q.file = newSpool(filepath.Join(a.r.opt.Dir, filepath.FromSlash(annotatedPath(a.r.name, int32(i)))), len(a.ranks))
		q.running, q.waiting = map[uint64]units.Time{}, map[int32]waitingJoin{}
		q.file.buf = fmt.Appendf(q.file.buf, "{\"schema\": %q, \"rank\": %d, \"nodes\": [", AnnotatedSchema, i)
		if err := q.file.create(); err != nil {
			return err
		}
		if err := a.beginRank(int32(i)); err != nil {
			return err
		}
	}
	return nil
}

// beginRank finds where the nodes of collectives are numbered, and completes the joins
// that wait for nothing.
func (a *annotated) beginRank(rank int32) error {
	p, _ := a.r.g.Program(int(rank))
	x, q := a.numbering.of(rank), &a.ranks[rank]
	for n := range x.Nodes() {
		if !isOperation(n) {
			q.first = n.ID
			break
		}
	}
	for i := range p.Ops {
		if op := &p.Ops[i]; op.Kind == graph.Join && op.DepLo == op.DepHi {
			q.stack = append(q.stack, ended{int32(i), 0})
		}
	}
	return a.joins(rank)
}

func (a *annotated) events(events []replay.Event) error {
	for i := range events {
		e := &events[i]
		if e.Kind == replay.RankEnded {
			continue
		}
		if err := a.event(e); err != nil {
			return err
		}
	}
	return nil
}

func (a *annotated) event(e *replay.Event) error {
	q := &a.ranks[e.Rank]
	n := a.numbering.find(e.Rank, e.Op, e.Step, e.Sync)
	if e.Kind == replay.OpStarted {
		q.running[n.ID] = e.T
		// The start of a collective has the id before its first step.
		if n.Role != replay.TransferNode || n.Sync || q.others.has(n.ID-uint64(e.Step)-1-q.first) {
			return nil
		}
		a.numbering.of(e.Rank).Start(n, e.Op)
		return a.write(e.Rank, n, e.T, e.T)
	}
	if e.Kind == replay.Acked || e.OpKind != graph.Send {
		delete(q.running, n.ID)
		if err := a.write(e.Rank, n, e.Start, e.T); err != nil {
			return err
		}
	}
	if e.Kind != replay.OpEnded || e.Step >= 0 {
		return nil
	}
	return a.release(e.Rank, e.Op, e.T)
}

// parts writes the end of each collective that a rank has completed.
func (a *annotated) parts(parts []replay.CollectiveEnd) error {
	for i := range parts {
		e := &parts[i]
		x, n := a.numbering.of(e.Rank), &a.numbering.node
		x.Start(n, e.Op)
		if !a.ranks[e.Rank].noted(n) { // it has no transfers
			if err := a.write(e.Rank, n, e.Start, e.Start); err != nil {
				return err
			}
		}
		x.End(n, e.Op)
		if err := a.write(e.Rank, n, e.End, e.End); err != nil {
			return err
		}
		if err := a.release(e.Rank, e.Op, e.End); err != nil {
			return err
		}
	}
	return nil
}

// release tells the joins behind an operation that it has ended; they take no time and
// cause no events.
func (a *annotated) release(rank, op int32, t units.Time) error {
	a.count(rank, op, t)
	return a.joins(rank)
}

func (a *annotated) count(rank, op int32, t units.Time) {
	q := &a.ranks[rank]
	p, _ := a.r.g.Program(int(rank))
	for _, d := range p.Dependents(op) {
		if p.Ops[d].Kind != graph.Join {
			continue
		}
		w, ok := q.waiting[d]
		if !ok {
			w.left = p.Ops[d].DepHi - p.Ops[d].DepLo
		}
		w.left, w.t = w.left-1, max(w.t, t)
		if w.left > 0 {
			q.waiting[d] = w
			continue
		}
		delete(q.waiting, d)
		q.stack = append(q.stack, ended{d, w.t})
	}
}

// joins writes the joins on the stack, and those that they complete in turn.
func (a *annotated) joins(rank int32) error {
	q := &a.ranks[rank]
	for len(q.stack) > 0 {
		top := q.stack[len(q.stack)-1]
		q.stack = q.stack[:len(q.stack)-1]
		if err := a.write(rank, a.numbering.find(rank, top.op, -1, false), top.t, top.t); err != nil {
			return err
		}
		a.count(rank, top.op, top.t)
	}
	return nil
}

// noted reports whether a node has been written; note notes it.
func (q *annotatedRank) noted(n *replay.ExpandedNode) bool {
	if isOperation(n) {
		return q.ops.has(uint64(n.Op))
	}
	return q.others.has(n.ID - q.first)
}

func (q *annotatedRank) note(n *replay.ExpandedNode) {
	if isOperation(n) {
		q.ops.add(uint64(n.Op))
		return
	}
	q.others.add(n.ID - q.first)
}

// isOperation tells an operation, or the end of a collective, which has its id, from a
// collective's further nodes.
func isOperation(n *replay.ExpandedNode) bool {
	return n.Role == replay.PlainNode || n.Role == replay.EndNode
}

// never stands for a time that did not come.
const never = -1

// write appends a node with its start and its end.
func (a *annotated) write(rank int32, n *replay.ExpandedNode, start, end units.Time) error {
	q := &a.ranks[rank]
	q.note(n)
	a.object(rank, n, start, end)
	return q.file.tidy()
}

// object appends the JSON of a node.
func (a *annotated) object(rank int32, n *replay.ExpandedNode, start, end units.Time) {
	q := &a.ranks[rank]
	b := q.file.buf
	if q.any {
		b = append(b, ',')
	}
	q.any = true
	b = append(b, "\n{\"id\": "...)
	b = strconv.AppendUint(b, n.ID, 10)
	b = append(b, ", \"name\": "...)
	a.name = a.numbering.of(rank).AppendName(a.name[:0], n)
	b = appendJSONText(b, a.name)
	b = append(b, ", \"type\": \""...)
	b = append(append(b, nodeType(n)...), "\", \"dataDeps\": "...)
	b = appendIDs(b, n.Deps)
	b = append(b, ", \"children\": "...)
	b = appendIDs(b, n.Children)
	b = a.operands(b, rank, n)
	b = a.identity(b, n)
	var wall time.Duration
	r := units.Time(never)
	if a.r.opt.Wall != nil {
		wall = a.r.opt.Wall()
	}
	if end != never {
		r = int64(wall / time.Microsecond)
		end = a.r.ps(end) / 1e6
	}
	if start != never {
		start = a.r.ps(start) / 1e6
	}
	b = appendStamp(append(b, ", \"s\": \""...), start)
	b = appendStamp(append(b, "\", \"e\": \""...), end)
	b = appendStamp(append(b, "\", \"r\": \""...), r)
	q.file.buf = append(b, "\"}"...)
}

// operands appends what the node does.
func (a *annotated) operands(b []byte, rank int32, n *replay.ExpandedNode) []byte {
	switch n.Kind {
	case graph.Send, graph.Recv:
		b = append(b, ", \"commSize\": "...)
		b = strconv.AppendInt(b, n.Bytes, 10)
		b = append(b, ", \"partner\": "...)
		b = strconv.AppendInt(b, int64(n.Peer), 10)
		tag := commTag(&replay.Event{Collective: n.Role == replay.TransferNode, OpKind: n.Kind, Rank: rank, Peer: n.Peer, Tag: n.Tag, Context: n.Context})
		b = append(b, ", \"tag\": "...)
		b = strconv.AppendUint(b, tag, 10)
	case graph.Compute, graph.Load, graph.Store:
		b = append(b, ", \"durationMicros\": "...)
		b = appendDecimal(b, n.Duration, 6)
		if n.Kind == graph.Compute && n.Flags.Has(graph.HostCPU) && !n.Flags.Has(graph.Skipped) {
			b = append(b, ", \"isCpuOp\": true"...)
		}
	}
	return b
}

// identity appends which collective the node belongs to.
func (a *annotated) identity(b []byte, n *replay.ExpandedNode) []byte {
	if n.Role != replay.TransferNode {
		return b
	}
	group, instance, _ := replay.ContextCollective(n.Context)
	b = append(b, ", \"pgName\": "...)
	b = appendJSONText(b, []byte(a.r.g.Groups[group].Name))
	b = append(b, ", \"collective\": "...)
	b = strconv.AppendInt(b, collectiveHash(group, instance), 10)
	if n.Sync {
		b = append(b, ", \"isAddedSynchronization\": true"...)
	}
	return b
}

// nodeType is the type of a node in the Chakra schema.
func nodeType(n *replay.ExpandedNode) string {
	switch n.Kind {
	case graph.Compute:
		if n.Flags.Has(graph.Skipped) {
			return "COMM_COLL_NODE"
		}
		return "COMP_NODE"
	case graph.Load:
		return "MEM_LOAD_NODE"
	case graph.Store:
		return "MEM_STORE_NODE"
	case graph.Send:
		return "COMM_SEND_NODE"
	case graph.Recv:
		return "COMM_RECV_NODE"
	}
	return "METADATA_NODE"
}

// appendStamp prints whole microseconds in 13 digits, or the place they would have.
func appendStamp(b []byte, micros int64) []byte {
	if micros == never {
		return append(b, noStamp...)
	}
	var digits [20]byte
	d := strconv.AppendInt(digits[:0], micros, 10)
	for i := len(d); i < stampWidth; i++ {
		b = append(b, '0')
	}
	return append(b, d...)
}

// appendJSONText quotes a text. JSON is UTF-8, names of traces may be anything.
func appendJSONText(b, s []byte) []byte {
	const hex = "0123456789abcdef"
	if !utf8.Valid(s) {
		s = bytes.ToValidUTF8(s, []byte("\uFFFD"))
	}
	b = append(b, '"')
	for _, c := range s {
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < ' ':
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}

// end writes the nodes that did not finish, with the start of those in progress.
func (a *annotated) end(*replay.Result) error {
	for rank := range a.ranks {
		q := &a.ranks[rank]
		for n := range a.numbering.of(int32(rank)).Nodes() {
			if q.noted(n) {
				continue
			}
			start, ok := q.running[n.ID]
			if !ok {
				start = never
			}
			a.object(int32(rank), n, start, never)
			if err := q.file.tidy(); err != nil {
				return err
			}
		}
		q.file.buf = append(q.file.buf, "\n]}\n"...)
	}
	return nil
}

// close leaves no unfinished JSON behind.
func (a *annotated) close(how closing) error {
	var all []*spool
	for i := range a.ranks {
		if f := a.ranks[i].file; f != nil {
			all = append(all, f)
		}
	}
	return closeAll(all, how == whole)
}
