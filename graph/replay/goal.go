package replay

import (
	"bufio"
	"fmt"
	"io"
	"slices"

	"hybrid/graph"
	"hybrid/graph/collective"
	"hybrid/internal/diag"
)

// GOALOptions configure [WriteGOAL].
type GOALOptions struct {
	// MaxOps bounds the operations of the file; 0 means ten million.
	MaxOps int64
	// Findings receives W406 where times are rounded to whole nanoseconds; nil drops it.
	Findings *diag.List
}

const defaultGOALOps = 10_000_000

// firstGOALTag is where the tags of collectives start, as Schedgen has them; tags of
// point-to-point messages that reach up there, or that have a context of their own,
// move behind it.
const firstGOALTag = 100_000

// WriteGOAL writes the graph in the text form of GOAL (Hoefler, Siebert, Lumsdaine,
// Group operation assembly language, ICPP 2009), as LogGOPSim's txt2bin reads it:
// loops unrolled, collectives as the transfers of their algorithms, compute and
// memory operations as calc in nanoseconds. The graph must be priced. Protocols of
// sends and the sharing of processors have no place in GOAL and are lost.
func WriteGOAL(w io.Writer, g *graph.Graph, opt GOALOptions) error {
	if opt.MaxOps <= 0 {
		opt.MaxOps = defaultGOALOps
	}
	for _, p := range g.Programs {
		if len(p.Costs) < len(p.Works) {
			return fmt.Errorf("graph %s: compute operations have no duration yet", g.Name)
		}
	}
	x := goalWriter{g: g, opt: opt, w: bufio.NewWriter(w), tags: map[goalTag]int32{}, algs: collective.NewTable()}
	fmt.Fprintf(x.w, "num_ranks %d\n", g.Ranks)
	for r := range g.Ranks {
		if err := x.rank(r); err != nil {
			return err
		}
	}
	if x.rounded > 0 && opt.Findings != nil {
		opt.Findings.Warnf("W406", diag.Pos{}, "%d durations are not whole nanoseconds and were rounded", x.rounded)
	}
	return x.w.Flush()
}

// goalTag is a matching key without its ranks.
type goalTag struct {
	context uint64
	tag     int32
}

type goalWriter struct {
	g       *graph.Graph
	opt     GOALOptions
	w       *bufio.Writer
	algs    *collective.Table
	tags    map[goalTag]int32
	ops     int64
	rounded int64
	label   int32
	// last is the previous message of a kind with a partner and tag, which the next
	// must not overtake.
	last map[goalKey]goalMessage
	t    *tracer
}

type goalKey struct {
	kind      graph.Kind
	peer, tag int32
}

type goalMessage struct {
	label int32
	epoch int
}

func (x *goalWriter) rank(r int) error {
	fmt.Fprintf(x.w, "\nrank %d {\n", r)
	c := NewCursor(Config{Graph: x.g}, x.algs, r)
	x.label, x.last = 0, map[goalKey]goalMessage{}
	x.t = &tracer{c: c, emit: x.node, ops: map[int32]int32{}}
	c.trace = x.t
	// A loop without operations ends here too.
	c.fuel = x.opt.MaxOps + 1
	x.t.run(func() bool { return x.ops <= x.opt.MaxOps })
	switch {
	case x.ops > x.opt.MaxOps || c.err == errFuel:
		return fmt.Errorf("graph %s has more than %d operations when its loops are unrolled: too many for GOAL", x.g.Name, x.opt.MaxOps)
	case c.err != nil:
		return c.err
	case !c.Finished():
		return fmt.Errorf("graph %s: rank %d does not come to its end: its dependencies form a cycle", x.g.Name, r)
	}
	fmt.Fprintf(x.w, "}\n")
	return nil
}

// node writes an operation and its dependencies and returns its label.
func (x *goalWriter) node(is *Issue, requires []int32) int32 {
	x.ops++
	x.label++
	fmt.Fprintf(x.w, "l%d: ", x.label)
	follows := int32(0)
	switch {
	case is == nil:
		fmt.Fprintf(x.w, "calc 0\n")
	case is.Kind == graph.Send:
		follows = x.message(is, "send", "to")
	case is.Kind == graph.Recv:
		follows = x.message(is, "recv", "from")
	default:
		fmt.Fprintf(x.w, "calc %d\n", x.nanoseconds(is.Duration))
	}
	for _, n := range requires {
		fmt.Fprintf(x.w, "l%d requires l%d\n", x.label, n)
	}
	if follows > 0 && !slices.Contains(requires, follows) {
		fmt.Fprintf(x.w, "l%d irequires l%d\n", x.label, follows)
	}
	return x.label
}

// message writes a transfer and returns the one that it must not overtake, or 0.
func (x *goalWriter) message(is *Issue, verb, way string) int32 {
	tag := x.tag(is)
	fmt.Fprintf(x.w, "%s %db %s %d", verb, is.Bytes, way, is.Peer)
	if tag != 0 {
		fmt.Fprintf(x.w, " tag %d", tag)
	}
	fmt.Fprintln(x.w)
	k := goalKey{is.Kind, is.Peer, tag}
	prev := x.last[k]
	x.last[k] = goalMessage{x.label, x.t.epoch}
	if prev.epoch != x.t.epoch {
		return 0 // the thread has waited for it, or will not start before it
	}
	return prev.label
}

// tag maps a context and a tag to one GOAL tag, the same on all ranks.
func (x *goalWriter) tag(is *Issue) int32 {
	if is.Context == 0 && is.Tag < firstGOALTag {
		return is.Tag
	}
	k := goalTag{is.Context, is.Tag}
	n, ok := x.tags[k]
	if !ok {
		n = firstGOALTag + int32(len(x.tags))
		x.tags[k] = n
	}
	return n
}

func (x *goalWriter) nanoseconds(ps int64) int64 {
	if ps%1000 != 0 {
		x.rounded++
	}
	return (ps + 500) / 1000
}
