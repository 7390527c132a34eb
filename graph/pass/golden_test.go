package pass_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hybrid/graph"
	"hybrid/graph/pass"
	"hybrid/internal/diag"
	"hybrid/internal/units"
)

// world is a builder with one site to hang operations on.
type world struct {
	*graph.Builder
	lines int
}

func newWorld(origin graph.Origin, ranks int) *world {
	return &world{Builder: graph.NewBuilder("test", origin, ranks)}
}

// at is a new site on the next line.
func (w *world) at(kind graph.Kind, text string) int32 {
	w.lines++
	return w.Site(graph.Site{Pos: diag.Pos{File: "test.hbp", Line: w.lines}, Kind: kind, Text: text})
}

func (w *world) finish(t *testing.T) *graph.Graph {
	t.Helper()
	g, err := w.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// heat is a halo exchange and a reduction in a loop on a ring of four ranks.
func heat(t *testing.T) *graph.Graph {
	w := newWorld(graph.Blueprint, 4)
	loop := w.at(graph.Loop, "repeat")
	work, swap, sum := w.at(graph.Compute, "compute"), w.at(graph.Send, "sendrecv"), w.at(graph.Collective, "allreduce")
	stream, label := w.Stream("comm"), w.Label("sum")
	for rank := range int64(4) {
		r := w.Rank(int(rank), false)
		r.BeginLoop(loop, r.Int(100000))
		r.Op(graph.Op{Kind: graph.Compute, Site: work, Label: -1, Arg: r.Work(graph.Work{Model: graph.Fixed, Time: r.Int(25_000_000)})})
		r.Op(graph.Op{Kind: graph.Recv, Site: swap, Label: -1, Flags: graph.More, Peer: r.Int((rank + 3) % 4), Size: r.Int(8000)})
		r.Op(graph.Op{Kind: graph.Send, Site: swap, Label: -1, Peer: r.Int((rank + 1) % 4), Size: r.Int(8000)})
		r.Op(graph.Op{Kind: graph.Collective, Site: sum, Flags: graph.Async, Stream: stream, Label: label, Size: r.Int(1001),
			Arg: r.Call(graph.Call{Type: graph.AllReduce})}, graph.Dep{Mode: graph.DepPrev, Target: label, Back: 1})
		r.EndLoop(loop)
		r.Op(graph.Op{Kind: graph.Join, Flags: graph.WaitAll, Site: sum, Label: -1})
		r.Done()
	}
	return w.finish(t)
}

// trace has two collectives of one group whose recorded order agrees with the
// dependencies on rank 0 and contradicts them on rank 1, and a third.
func trace(t *testing.T) *graph.Graph {
	w := newWorld(graph.Chakra, 2)
	a, b, c := w.at(graph.Collective, "ALL_REDUCE a"), w.at(graph.Collective, "ALL_REDUCE b"), w.at(graph.Collective, "ALL_GATHER c")
	for rank := range 2 {
		r := w.Rank(rank, true)
		call := func(site int32, number int64, typ graph.CollType, deps ...graph.Dep) int32 {
			return r.Op(graph.Op{Kind: graph.Collective, Site: site, Label: -1, Size: r.Int(1001), Index: r.Int(number), Arg: r.Call(graph.Call{Type: typ})}, deps...)
		}
		var deps []graph.Dep
		if rank == 1 {
			deps = []graph.Dep{{Target: 1}}
		}
		x := call(a, 0, graph.AllReduce, deps...)
		y := call(b, 1, graph.AllReduce)
		z := call(c, 2, graph.AllGather)
		r.Chain([]int32{x, y, z})
		r.Done()
	}
	return w.finish(t)
}

func half() *units.Rat {
	r := units.NewRat(1, 2)
	return &r
}

// TestGolden holds the text form before and after passes against
// testdata/graph; HYBRID_UPDATE=1 rewrites the files.
func TestGolden(t *testing.T) {
	for _, c := range []struct {
		name  string
		build func(*testing.T) *graph.Graph
		opt   pass.Options
		after string
	}{
		{"heat-all", heat, pass.Options{Serialize: true, Synchronize: true, Scale: half(), Algorithms: map[string]string{"allreduce": "double_tree"}}, ""},
		{"heat-algorithms", heat, pass.Options{NetworkAlgorithms: map[string]string{"allreduce": "tree"}}, "algorithms"},
		{"trace-serialize", trace, pass.Options{Serialize: true}, "serialize"},
		{"trace-check", trace, pass.Options{Serialize: true}, "check"},
		{"trace-abort", trace, pass.Options{Serialize: true, Synchronize: true, AbortOnWarning: true}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := c.build(t)
			before := text(t, g)
			var list diag.List
			err := pass.Run(g, c.opt, c.after, &list)
			got := fmt.Sprintf("-- before --\n%s-- after --\n%s-- findings --\n%s", before, text(t, g), findings(&list, err))
			golden(t, filepath.Join("..", "..", "testdata", "graph", c.name+".txtar"), got)
		})
	}
}

func text(t *testing.T, g *graph.Graph) string {
	t.Helper()
	var b strings.Builder
	if err := graph.WriteText(&b, g); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func findings(list *diag.List, err error) string {
	var b strings.Builder
	for _, d := range list.All() {
		fmt.Fprintln(&b, d.Error())
		for _, n := range d.Notes {
			fmt.Fprintln(&b, "  note:", n)
		}
	}
	if err != nil {
		fmt.Fprintln(&b, "stopped")
	}
	return b.String()
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if os.Getenv("HYBRID_UPDATE") != "" {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s differs (-want +got):\n%s", path, d)
	}
}
