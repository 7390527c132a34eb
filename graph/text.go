package graph

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"hybrid/internal/units"
)

// WriteText writes the graph for people and golden files: its groups, then each
// program with the ranks that run it, one operation a line with its operands, flags,
// dependencies and place. Equal graphs give equal bytes.
func WriteText(w io.Writer, g *Graph) error {
	t := texter{g: g, w: bufio.NewWriter(w)}
	t.header()
	for i, p := range g.Programs {
		t.program(i, p)
	}
	return t.w.Flush()
}

type texter struct {
	g *Graph
	w *bufio.Writer
}

// printf writes through the buffer, which keeps the first error for Flush.
func (t *texter) printf(format string, args ...any) { fmt.Fprintf(t.w, format, args...) }

func (t *texter) header() {
	g := t.g
	t.printf("graph %s: %s, %s, %s\n", g.Name, g.Origin, plural(g.Ranks, "rank"), plural(len(g.Programs), "program"))
	for _, q := range []struct{ what, name string }{{"machine", g.Machine}, {"network", g.Network}} {
		if q.name != "" {
			t.printf("%s %s\n", q.what, q.name)
		}
	}
	for _, p := range g.Params {
		t.printf("param %s = %s\n", p.Name, p.Value)
	}
	if g.Scaled() {
		t.printf("scale %s\n", g.Scale)
	}
	for _, q := range []struct {
		on   bool
		what string
	}{{g.IssueOrder, "issue order recorded"}, {g.Serialize, "serialized"}, {g.Synchronize, "synchronized"}} {
		if q.on {
			t.printf("%s\n", q.what)
		}
	}
	for _, gr := range g.Groups {
		t.printf("group %d %s: %s\n", gr.ID, gr.Name, RanksText(gr.Members))
	}
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func (t *texter) program(i int, p *Program) {
	if len(p.Ops) == 0 {
		t.printf("\nprogram %d: ranks %s\n  nothing\n", i, RanksText(p.Ranks))
		return
	}
	form := "thread"
	if p.Flat {
		form = "flat"
	}
	t.printf("\nprogram %d: ranks %s, %s\n", i, RanksText(p.Ranks), form)
	for _, c := range p.Chains {
		t.printf("  issue order %s\n", RanksText(c))
	}
	width, depth := len(strconv.Itoa(len(p.Ops)-1)), 0
	for i := range p.Ops {
		op := &p.Ops[i]
		if op.Kind == End {
			depth--
		}
		t.printf("  %*d %s%s", width, i, strings.Repeat("  ", max(depth, 0)), t.opText(p, op))
		t.place(op)
		if op.Kind == Loop {
			depth++
		}
	}
}

// place ends the line with where the operation was written.
func (t *texter) place(op *Op) {
	s := &t.g.Sites[op.Site]
	var parts []string
	if where := s.Where(); where != "" {
		parts = append(parts, where)
	}
	if s.Region != "" {
		parts = append(parts, "in "+strconv.Quote(s.Region))
	}
	if s.Name != "" {
		parts = append(parts, strconv.Quote(s.Name))
	}
	if len(parts) > 0 && op.Kind.Timed() {
		t.printf("  ; %s", strings.Join(parts, " "))
	}
	t.printf("\n")
}

func (t *texter) opText(p *Program, op *Op) string {
	v := p.ValueText
	switch op.Kind {
	case Loop:
		return fmt.Sprintf("loop %s counter %d", v(op.Peer), op.Label)
	case End:
		return "end"
	case Branch:
		return fmt.Sprintf("if %s else %d", v(op.Peer), op.Arg)
	case Jump:
		return fmt.Sprintf("jump %d", op.Arg)
	case ScopeEnd:
		return fmt.Sprintf("forget labels %s", t.labels(op.Arg, op.Label))
	}
	s := op.Kind.String() + t.operands(p, op)
	return s + t.flags(op) + t.label(p, op) + t.deps(p, op)
}

func (t *texter) labels(first, n int32) string {
	var names []string
	for i := first; i < first+n; i++ {
		names = append(names, t.labelName(i))
	}
	return strings.Join(names, " ")
}

func (t *texter) labelName(l int32) string {
	if int(l) < len(t.g.Labels) {
		return "@" + t.g.Labels[l]
	}
	return fmt.Sprintf("@%d", l)
}

func (t *texter) operands(p *Program, op *Op) string {
	switch op.Kind {
	case Compute, Load, Store:
		return workText(p, &p.Works[op.Arg])
	case Send, Recv:
		return transferText(p, op)
	case Collective:
		return t.collectiveText(p, op)
	}
	return ""
}

func transferText(p *Program, op *Op) string {
	way, open := " to ", Value(0)
	if op.Kind == Recv {
		way = " from "
	}
	wild := func(v Value) string {
		if n, ok := p.Const(v); ok && n == AnyRank && op.Kind == Recv {
			return "any"
		}
		return p.ValueText(v)
	}
	s := " " + bytesText(p, op.Size) + way + wild(op.Peer)
	if op.Tag != open {
		if n, ok := p.Const(op.Tag); !ok || n != 0 {
			s += " tag " + wild(op.Tag)
		}
	}
	if op.Arg != 0 {
		s += fmt.Sprintf(" context %d", op.Arg)
	}
	return s
}

func (t *texter) collectiveText(p *Program, op *Op) string {
	call := &p.Calls[op.Arg]
	s := " " + call.Type.String()
	if call.Algorithm != "" {
		s += " " + call.Algorithm
	}
	if call.Sizes != nil {
		s += " (" + call.Sizes.String() + ")B"
	} else {
		s += " " + bytesText(p, op.Size)
	}
	if n, ok := p.Const(op.Peer); !ok || n != 0 {
		s += " root " + p.ValueText(op.Peer)
	}
	if id, ok := p.Const(op.Tag); ok && id >= 0 && int(id) < len(t.g.Groups) {
		s += " over " + t.g.Groups[id].Name
	} else {
		s += " over group " + p.ValueText(op.Tag)
	}
	if p.Flat {
		s += " number " + p.ValueText(op.Index)
	}
	return s
}

func bytesText(p *Program, v Value) string {
	if n, ok := p.Const(v); ok {
		return fmt.Sprintf("%dB", n)
	}
	return p.ValueText(v) + "B"
}

// timeText prints picoseconds exactly, in the largest unit that keeps them whole.
func timeText(p *Program, v Value) string {
	n, ok := p.Const(v)
	if !ok {
		return p.ValueText(v) + "ps"
	}
	for _, u := range []struct {
		ps   int64
		name string
	}{{1e12, "s"}, {1e9, "ms"}, {1e6, "us"}, {1e3, "ns"}} {
		if n != 0 && n%u.ps == 0 {
			return fmt.Sprintf("%d%s", n/u.ps, u.name)
		}
	}
	return fmt.Sprintf("%dps", n)
}

func workText(p *Program, w *Work) string {
	var s string
	v := p.ValueText
	switch w.Model {
	case Fixed:
		s = " " + timeText(p, w.Time)
	case Roofline:
		s = fmt.Sprintf(" flops %s bytes %s", v(w.Flops), v(w.Bytes))
		if w.Precision != "" {
			s += " precision " + w.Precision
		}
	case ECM:
		s = ecmText(p, w)
	case Traffic:
		s = " " + bytesText(p, w.Bytes)
	}
	for _, in := range w.Injections {
		s += " with " + in.String()
	}
	return s
}

func ecmText(p *Program, w *Work) string {
	s := " ecm"
	if w.Label != "" {
		s += " " + w.Label
	}
	if c := w.ECM; c != nil {
		names := [...]string{"TOL", "TnOL", "TL1L2", "TL2L3", "TL3Mem"}
		for i, r := range [...]units.Rat{c.TOL, c.TnOL, c.TL1L2, c.TL2L3, c.TL3Mem} {
			s += fmt.Sprintf(" %s=%s", names[i], r)
		}
	}
	s += " work " + p.ValueText(w.Units)
	if w.Per != "" {
		s += " per " + w.Per
	}
	if n, ok := p.Const(w.Cores); !ok || n != 0 {
		s += " cores " + p.ValueText(w.Cores)
	}
	return s
}

// flags lists what modifies an operation, in the order of the flag bits.
func (t *texter) flags(op *Op) string {
	names := [...]string{"async", "more", "on cpu", "eager", "rendezvous", "injected", "skipped", "all", "barrier first"}
	s := ""
	for i, n := range names {
		if op.Flags&(1<<i) != 0 {
			s += " " + n
		}
	}
	if op.Stream > 0 {
		s += " stream " + t.g.Streams[op.Stream-1]
	}
	return s
}

func (t *texter) label(p *Program, op *Op) string {
	if op.Label < 0 {
		return ""
	}
	s := " label " + t.labelName(op.Label)
	if n, ok := p.Const(op.Index); !ok || n != 0 {
		s += "[" + p.ValueText(op.Index) + "]"
	}
	return s
}

func (t *texter) deps(p *Program, op *Op) string {
	var names []string
	for i := op.DepLo; i < op.DepHi; i++ {
		names = append(names, t.depText(p, &p.Deps[i]))
	}
	if len(names) == 0 {
		return ""
	}
	return " after " + strings.Join(names, " ")
}

func (t *texter) depText(p *Program, d *Dep) string {
	switch d.Mode {
	case DepOp:
		return strconv.Itoa(int(d.Target))
	case DepIndex:
		return fmt.Sprintf("%s[%s]", t.labelName(d.Target), p.ValueText(d.Index))
	case DepEach:
		return t.labelName(d.Target) + "[*]"
	case DepPrev:
		return fmt.Sprintf("%s.prev(%d)", t.labelName(d.Target), d.Back)
	}
	return t.labelName(d.Target)
}

// RanksText prints a list of ranks with runs shortened: 0..71, or 0..56 step 8 for
// evenly spaced ones.
func RanksText(ranks []int32) string {
	var parts []string
	for i := 0; i < len(ranks); {
		n := run(ranks[i:])
		switch step := stride(ranks[i:]); {
		case n < 3:
			n = 1
			parts = append(parts, strconv.Itoa(int(ranks[i])))
		case step == 1:
			parts = append(parts, fmt.Sprintf("%d..%d", ranks[i], ranks[i+n-1]))
		default:
			parts = append(parts, fmt.Sprintf("%d..%d step %d", ranks[i], ranks[i+n-1], step))
		}
		i += n
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}

func stride(ranks []int32) int32 {
	if len(ranks) < 2 {
		return 0
	}
	return ranks[1] - ranks[0]
}

// run is the length of the evenly spaced run that the list begins with.
func run(ranks []int32) int {
	n := 1
	for n < len(ranks) && ranks[n]-ranks[n-1] == stride(ranks) {
		n++
	}
	return n
}
