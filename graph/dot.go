package graph

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
)

// WriteDOT writes the graph in the language of Graphviz: a cluster for each program
// with the ranks that run it, a node for each operation, solid edges for
// dependencies, and dashed ones for the order in which a thread reaches its
// operations. Equal graphs give equal bytes.
func WriteDOT(w io.Writer, g *Graph) error {
	t := texter{g: g, w: bufio.NewWriter(w)}
	t.printf("digraph %s {\n  node [shape=box, fontname=monospace];\n", strconv.Quote(g.Name))
	for i, p := range g.Programs {
		if len(p.Ops) > 0 {
			t.cluster(i, p)
		}
	}
	t.printf("}\n")
	return t.w.Flush()
}

func dotName(program int, op int32) string { return fmt.Sprintf("p%d_%d", program, op) }

func (t *texter) cluster(n int, p *Program) {
	t.printf("  subgraph cluster_%d {\n    label=%s;\n", n, strconv.Quote(fmt.Sprintf("program %d: ranks %s", n, RanksText(p.Ranks))))
	for i := range p.Ops {
		op := &p.Ops[i]
		t.printf("    %s [label=%s];\n", dotName(n, int32(i)), strconv.Quote(t.dotLabel(p, op)))
	}
	holders := map[int32][]int32{} // operations by label
	for i := range p.Ops {
		if op := &p.Ops[i]; op.Kind.Timed() && op.Label >= 0 {
			holders[op.Label] = append(holders[op.Label], int32(i))
		}
	}
	for i := range p.Ops {
		t.edges(n, p, int32(i), holders)
	}
	t.printf("  }\n")
}

// dotLabel is the operation without its dependencies, which are edges.
func (t *texter) dotLabel(p *Program, op *Op) string {
	bare := *op
	bare.DepLo, bare.DepHi = 0, 0
	s := t.opText(p, &bare)
	if where := t.g.Sites[op.Site].Where(); where != "" && op.Kind.Timed() {
		s += "\n" + where
	}
	return s
}

func (t *texter) edges(n int, p *Program, i int32, holders map[int32][]int32) {
	for _, d := range p.OpDeps(i) {
		from := []int32{d.Target}
		if d.Mode != DepOp {
			from = holders[d.Target]
		}
		for _, f := range from {
			t.printf("    %s -> %s;\n", dotName(n, f), dotName(n, i))
		}
	}
	if p.Flat {
		return
	}
	op := &p.Ops[i]
	var next []int32
	switch op.Kind {
	case Loop:
		next = []int32{i + 1, op.Arg + 1}
	case End:
		next = []int32{op.Arg + 1, i + 1}
	case Branch:
		next = []int32{i + 1, op.Arg}
	case Jump:
		next = []int32{op.Arg}
	default:
		next = []int32{i + 1}
	}
	for _, to := range next {
		if int(to) < len(p.Ops) {
			t.printf("    %s -> %s [style=dashed];\n", dotName(n, i), dotName(n, to))
		}
	}
}
