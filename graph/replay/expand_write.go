package replay

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"hybrid/graph"
	"hybrid/graph/collective"
)

// MaxExpandedNodes bounds what [WriteExpanded] and [WriteExpandedJSON] write.
const MaxExpandedNodes = 20_000_000

// expandedWriter writes the nodes of all ranks of a graph of flat programs.
type expandedWriter struct {
	g     *graph.Graph
	algs  *collective.Table
	w     *bufio.Writer
	line  []byte
	names map[int32][]byte // of sites, as JSON
}

// newExpandedWriter returns an error for a graph that has no expanded form, or one of too
// many nodes.
func newExpandedWriter(g *graph.Graph, limit int64) (*expandedWriter, error) {
	x := &expandedWriter{g: g, algs: collective.NewTable(), names: map[int32][]byte{}}
	nodes := int64(0)
	for rank := range g.Ranks {
		e := NewExpansion(g, x.algs, rank)
		if e == nil {
			return nil, fmt.Errorf("graph %s: rank %d runs a thread, whose loops have no nodes; GOAL has its operations unrolled", g.Name, rank)
		}
		if nodes += e.Len(); nodes > limit {
			return nil, fmt.Errorf("graph %s has more than %d nodes with its collectives expanded; --after algorithms shows it without", g.Name, limit)
		}
	}
	return x, nil
}

// WriteExpanded writes what [graph.WriteText] writes before the programs, then a line for
// each node of each rank, the transfers of collectives among them, with what it waits
// for; in an annotated graph also with what waits for it, and the nodes of each rank that
// wait for nothing. It fails where there are more than [MaxExpandedNodes].
func WriteExpanded(w io.Writer, g *graph.Graph) error {
	x, err := newExpandedWriter(g, MaxExpandedNodes)
	if err != nil {
		return err
	}
	if err := graph.WriteHeader(w, g); err != nil {
		return err
	}
	x.w = bufio.NewWriter(w)
	for rank := range g.Ranks {
		fmt.Fprintln(x.w)
		e := NewExpansion(g, x.algs, rank)
		if g.Annotated {
			x.put(appendIDs(fmt.Appendf(x.line[:0], "rank %d: ready", rank), e.AppendReady(nil)))
		}
		for n := range e.Nodes() {
			x.put(e.appendText(x.line[:0], n, g.Annotated))
		}
	}
	return x.w.Flush()
}

// put writes a line; the buffer keeps the first error for Flush.
func (x *expandedWriter) put(line []byte) {
	_, _ = x.w.Write(append(line, '\n'))
	x.line = line
}

func appendIDs(b []byte, ids []uint64) []byte {
	for _, id := range ids {
		b = strconv.AppendUint(append(b, ' '), id, 10)
	}
	return b
}

// appendText appends the line of a node.
func (x *Expansion) appendText(b []byte, n *ExpandedNode, children bool) []byte {
	b = fmt.Appendf(b, "rank %d: node %d ", x.rank, n.ID)
	switch {
	case n.Role == StartNode || n.Role == EndNode:
		b = x.appendCall(append(b, [...]string{StartNode: "start", EndNode: "end"}[n.Role]...), n.Op)
	case n.Kind == graph.Send || n.Kind == graph.Recv:
		b = appendTransfer(b, n)
	case n.Kind == graph.Join:
		b = append(b, "join"...)
	default:
		b = fmt.Appendf(b, "%s %s", n.Kind, exactTime(n.Duration))
	}
	if len(n.Deps) > 0 {
		b = appendIDs(append(b, " after"...), n.Deps)
	}
	if children && len(n.Children) > 0 {
		b = appendIDs(append(b, " before"...), n.Children)
	}
	if name := x.g.Sites[n.Site].Name; name != "" && n.Role != TransferNode {
		b = strconv.AppendQuote(append(b, "  ; "...), name)
	}
	return b
}

func appendTransfer(b []byte, n *ExpandedNode) []byte {
	if n.Sync {
		b = append(b, "barrier "...)
	}
	way := "to"
	if n.Kind == graph.Recv {
		way = "from"
	}
	if b = fmt.Appendf(b, "%s %dB %s ", n.Kind, n.Bytes, way); n.Peer == graph.AnyRank {
		b = append(b, "any"...)
	} else {
		b = strconv.AppendInt(b, int64(n.Peer), 10)
	}
	if tag := n.tag(); n.Role == PlainNode && tag == graph.AnyTag {
		b = append(b, " tag any"...)
	} else if n.Role == PlainNode && tag != 0 {
		b = strconv.AppendInt(append(b, " tag "...), tag, 10)
	}
	return b
}

// tag returns the tag as it was written, or the number of a transfer among those of its
// pair in the collective.
func (n *ExpandedNode) tag() int64 {
	if n.Role == TransferNode {
		return int64(n.Tag &^ syncTag)
	}
	return PlainTag(n.Tag, n.Context)
}

func (x *Expansion) appendCall(b []byte, op int32) []byte {
	s := x.collective(&x.this, op)
	o := &x.p.Ops[op]
	b = fmt.Appendf(b, " %s", x.p.Calls[o.Arg].Type)
	if s.alg != nil {
		b = fmt.Appendf(b, " %s", s.alg.Name)
	}
	b = fmt.Appendf(b, " %dB", x.value(o.Size))
	if root := x.value(o.Peer); root != 0 {
		b = fmt.Appendf(b, " root %d", root)
	}
	if s.group != nil {
		b = fmt.Appendf(b, " over %s", s.group.Name)
	}
	return fmt.Appendf(b, " number %d", x.value(o.Index))
}

// exactTime prints picoseconds in the largest unit that keeps them whole.
func exactTime(ps int64) string {
	for _, u := range []struct {
		ps   int64
		name string
	}{{1e12, "s"}, {1e9, "ms"}, {1e6, "us"}, {1e3, "ns"}} {
		if ps != 0 && ps%u.ps == 0 {
			return strconv.FormatInt(ps/u.ps, 10) + u.name
		}
	}
	return strconv.FormatInt(ps, 10) + "ps"
}

// WriteExpandedJSON writes the form of [graph.WriteJSON] with the nodes of each rank in
// place of programs. It fails where there are more than [MaxExpandedNodes].
func WriteExpandedJSON(w io.Writer, g *graph.Graph) error {
	x, err := newExpandedWriter(g, MaxExpandedNodes)
	if err != nil {
		return err
	}
	return graph.WriteJSON(w, g, func(w *bufio.Writer) error {
		x.w = w
		for rank := range g.Ranks {
			if err := x.rank(rank); err != nil {
				return err
			}
		}
		return nil
	})
}

func (x *expandedWriter) rank(rank int) error {
	e := NewExpansion(x.g, x.algs, rank)
	sep := ",\n"
	if rank == 0 {
		sep = "\n"
	}
	fmt.Fprintf(x.w, "%s{\"rank\":%d,", sep, rank)
	if x.g.Annotated {
		line := appendList(x.line[:0], "ready", e.AppendReady(nil))
		_, _ = x.w.Write(append(line, ','))
	}
	fmt.Fprint(x.w, "\"nodes\":[")
	sep = "\n"
	for n := range e.Nodes() {
		line, err := x.node(append(x.line[:0], sep...), e, n)
		if err != nil {
			return err
		}
		_, _ = x.w.Write(line)
		x.line, sep = line, ",\n"
	}
	fmt.Fprint(x.w, "\n]}")
	return nil
}

// node appends the object of a node: what every node has, what its kind adds, then the
// lists.
func (x *expandedWriter) node(b []byte, e *Expansion, n *ExpandedNode) ([]byte, error) {
	name, err := x.name(n.Site)
	if err != nil {
		return nil, err
	}
	b = strconv.AppendUint(append(b, `{"id":`...), n.ID, 10)
	b = append(append(b, `,"kind":"`...), n.Kind.String()...)
	b = append(append(b, `","name":`...), name...)
	b = appendInt(b, `,"site":`, int64(n.Site))
	if n.Role != PlainNode {
		b = strconv.AppendUint(append(b, `,"collective":`...), e.id(n.Op), 10)
		b = append(b, [...]string{TransferNode: `,"role":"transfer"`, StartNode: `,"role":"start"`, EndNode: `,"role":"end"`}[n.Role]...)
	}
	switch {
	case n.Role == StartNode:
		b = e.appendCallJSON(b, n.Op)
	case n.Role == TransferNode:
		b = strconv.AppendBool(append(appendInt(b, `,"step":`, int64(n.Step)), `,"synchronization":`...), n.Sync)
	}
	switch n.Kind {
	case graph.Send, graph.Recv:
		b = appendInt(appendInt(appendInt(b, `,"partner":`, int64(n.Peer)), `,"tag":`, n.tag()), `,"bytes":`, n.Bytes)
	case graph.Compute, graph.Load, graph.Store:
		b = strconv.AppendBool(append(appendInt(b, `,"duration_ps":`, n.Duration), `,"host_cpu":`...), n.Flags.Has(graph.HostCPU))
	}
	b = appendList(append(b, ','), "deps", n.Deps)
	if x.g.Annotated {
		b = appendList(append(b, ','), "children", n.Children)
	}
	return append(b, '}'), nil
}

func (x *Expansion) appendCallJSON(b []byte, op int32) []byte {
	s := x.collective(&x.this, op)
	o := &x.p.Ops[op]
	algorithm := ""
	if s.alg != nil {
		algorithm = s.alg.Name
	}
	return fmt.Appendf(b, `,"type":"%s","algorithm":"%s","group":%d,"number":%d,"size_bytes":%d,"root":%d`,
		x.p.Calls[o.Arg].Type, algorithm, x.value(o.Tag), x.value(o.Index), x.value(o.Size), x.value(o.Peer))
}

func (x *expandedWriter) name(site int32) ([]byte, error) {
	name, ok := x.names[site]
	if !ok {
		var err error
		if name, err = json.Marshal(x.g.Sites[site].Name); err != nil {
			return nil, err
		}
		x.names[site] = name
	}
	return name, nil
}

func appendInt(b []byte, key string, n int64) []byte {
	return strconv.AppendInt(append(b, key...), n, 10)
}

func appendList(b []byte, key string, ids []uint64) []byte {
	b = append(append(append(b, '"'), key...), `":[`...)
	for i, id := range ids {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendUint(b, id, 10)
	}
	return append(b, ']')
}
