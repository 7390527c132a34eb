package chakra

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hybrid/graph"
	"hybrid/internal/diag"
)

// file encodes nodes behind a metadata message.
func file(nodes ...Node) []byte {
	var b bytes.Buffer
	e := NewEncoder(&b)
	e.Metadata("0.0.4")
	for i := range nodes {
		e.Node(&nodes[i])
	}
	return b.Bytes()
}

// bare encodes nodes without a metadata message.
func bare(nodes ...Node) []byte { return file(nodes...)[len(file()):] }

// writeSet writes one file for each rank, x.0.et and so on, and returns the folder.
func writeSet(t testing.TB, ranks ...[]byte) string {
	t.Helper()
	dir := t.TempDir()
	for r, data := range ranks {
		write(t, dir, fmt.Sprintf("x.%d.et", r), data)
	}
	return dir
}

func write(t testing.TB, dir, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
		t.Fatal(err)
	}
}

// load loads a folder and returns the findings as text without the folder's name.
func load(t testing.TB, dir string, opt Options) (*graph.Graph, string) {
	t.Helper()
	var list diag.List
	g := Load(dir, opt, &list)
	if (g == nil) != list.HasErrors() {
		t.Errorf("graph %v with errors %v", g != nil, list.HasErrors())
	}
	return g, findingsText(&list, dir)
}

func findingsText(list *diag.List, dir string) string {
	var b strings.Builder
	diag.Renderer{}.Render(&b, list)
	return strings.ReplaceAll(strings.ReplaceAll(b.String(), dir+string(filepath.Separator), ""), dir, "DIR")
}

// mustLoad loads a folder without any finding.
func mustLoad(t testing.TB, dir string, opt Options) *graph.Graph {
	t.Helper()
	g, text := load(t, dir, opt)
	if g == nil || text != "" {
		t.Fatalf("findings:\n%s", text)
	}
	return g
}

// dump prints the operations of a rank, one a line.
func dump(g *graph.Graph, rank int) string {
	p, slot := g.Program(rank)
	var b strings.Builder
	for i := range p.Ops {
		op := &p.Ops[i]
		v := func(v graph.Value) int64 {
			n, _ := p.Known(v, slot)
			return n
		}
		fmt.Fprintf(&b, "%d %s%s", i, op.Kind, flagText(op.Flags))
		switch op.Kind {
		case graph.Compute, graph.Load, graph.Store:
			w := &p.Works[op.Arg]
			switch w.Model {
			case graph.Fixed:
				fmt.Fprintf(&b, " %dps", v(w.Time))
			case graph.Roofline:
				fmt.Fprintf(&b, " %d flops %dB", v(w.Flops), v(w.Bytes))
			case graph.Traffic:
				fmt.Fprintf(&b, " %dB", v(w.Bytes))
			}
		case graph.Send, graph.Recv:
			fmt.Fprintf(&b, " %d tag %d %dB", v(op.Peer), v(op.Tag), v(op.Size))
		case graph.Collective:
			fmt.Fprintf(&b, " %s %v %dB root %d number %d", p.Calls[op.Arg].Type, g.Groups[v(op.Tag)].Members, v(op.Size), v(op.Peer), v(op.Index))
		}
		for k, d := range p.OpDeps(int32(i)) {
			if k == 0 {
				b.WriteString(" after")
			}
			fmt.Fprintf(&b, " %d", d.Target)
		}
		b.WriteByte('\n')
	}
	for _, c := range p.Chains {
		fmt.Fprintf(&b, "chain %v\n", c)
	}
	return b.String()
}

func flagText(f graph.Flags) string {
	s := ""
	for _, x := range []struct {
		f    graph.Flags
		name string
	}{{graph.HostCPU, " host"}, {graph.Eager, " eager"}, {graph.Skipped, " skipped"}} {
		if f.Has(x.f) {
			s += x.name
		}
	}
	return s
}

// repoRoot is the folder with go.mod above the package.
func repoRoot(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.mod above the package")
		}
		dir = filepath.Dir(dir)
	}
}

// shared returns a path under the folder of public traces, and skips the test
// where that folder is absent.
func shared(t testing.TB, path string) string {
	t.Helper()
	base := os.Getenv("HYBRID_SHARED")
	if base == "" {
		base = filepath.Join(repoRoot(t), "..", "shared")
	}
	p := filepath.Join(base, "traces", path)
	if _, err := os.Stat(p); err != nil {
		t.Skipf("public traces are not here (set HYBRID_SHARED): %v", err)
	}
	return p
}

// decode decodes a file into a new trace.
func decode(data []byte, forced *schema) (*trace, error) {
	t := &trace{}
	return t, t.decode(data, forced)
}

func comp(id uint64, micros uint64, data ...uint64) Node {
	return Node{ID: id, Name: "COMP", Type: CompNode, DurationMicros: micros, DataDeps: data}
}

func coll(id uint64, ct graph.CollType, size int64, attrs ...Attr) Node {
	return Node{ID: id, Name: "COLL", Type: CommCollNode,
		Attrs: append([]Attr{Int64("comm_type", int64(ct)), Int64("comm_size", size)}, attrs...)}
}
