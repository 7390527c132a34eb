package dsel

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hybrid/graph"
	"hybrid/internal/diag"
)

// loadFile loads a blueprint of testdata with overrides of the form name=value.
func loadFile(t testing.TB, name string, overrides ...string) *graph.Graph {
	t.Helper()
	file := filepath.Join("..", "testdata", "blueprints", name)
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return loadText(t, name, string(src), overrides...)
}

func loadText(t tester, name, src string, overrides ...string) *graph.Graph {
	t.Helper()
	list := &diag.List{}
	p := LoadProgram(name, []byte(src), Options{Params: parseOverrides(overrides), Seed: 1}, list)
	if list.HasErrors() || p == nil {
		t.Fatalf("%s does not load:\n%s", name, render(list, src))
	}
	return p.Graph
}

func parseOverrides(list []string) []Override {
	var out []Override
	for _, o := range list {
		n, v, _ := strings.Cut(o, "=")
		out = append(out, Override{Name: n, Value: v})
	}
	return out
}

func render(list *diag.List, src string) string {
	var b strings.Builder
	diag.Renderer{Source: func(string) string { return src }}.Render(&b, list)
	return b.String()
}

// tally counts the operation instances that a run executes.
type tally struct {
	compute, sends, recvs, joins int64
	sent                         int64
	collectives                  map[graph.CollType]int64
	collectiveBytes              int64
}

func (c *tally) nodes() int64 {
	n := c.compute + c.sends + c.recvs + c.joins
	for _, k := range c.collectives {
		n += k
	}
	return n
}

// count executes every rank's control flow without timing.
func count(t testing.TB, g *graph.Graph) *tally {
	t.Helper()
	c := &tally{collectives: map[graph.CollType]int64{}}
	for rank := range g.Ranks {
		p, slot := g.Program(rank)
		walk(t, g, p, slot, rank, c)
	}
	return c
}

func walk(t testing.TB, g *graph.Graph, p *graph.Program, slot int32, rank int, c *tally) {
	env := &graph.Env{Rank: int32(rank), Loops: make([]int64, p.LoopSlots)}
	left := make([]int64, p.LoopSlots)
	val := func(v graph.Value) int64 {
		n, err := p.Eval(v, slot, env)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for pc := int32(0); int(pc) < len(p.Ops); pc++ {
		op := &p.Ops[pc]
		env.Op = pc
		switch op.Kind {
		case graph.Compute, graph.Load, graph.Store:
			c.compute++
		case graph.Send:
			c.sends++
			c.sent += val(op.Size)
			if to := val(op.Peer); to < 0 || to >= int64(g.Ranks) {
				t.Fatalf("rank %d sends to %d", rank, to)
			}
		case graph.Recv:
			c.recvs++
		case graph.Collective:
			c.collectives[p.Calls[op.Arg].Type]++
			c.collectiveBytes += val(op.Size)
		case graph.Join:
			c.joins++
		case graph.Loop:
			n := val(op.Peer)
			if n <= 0 {
				pc = op.Arg
				continue
			}
			env.Loops[op.Label], left[op.Label] = 0, n
		case graph.End:
			l := &p.Ops[op.Arg]
			if left[l.Label]--; left[l.Label] > 0 {
				env.Loops[l.Label]++
				pc = op.Arg
			}
		case graph.Branch:
			if val(op.Peer) == 0 {
				pc = op.Arg - 1
			}
		case graph.Jump:
			pc = op.Arg - 1
		}
	}
}

// TestGoldenCounts: what the eight programs execute, counted by hand from their
// text. Receives equal sends. In moe each alltoallv of 8 ranks is 7 messages a
// rank; a rank keeps its own share.
func TestGoldenCounts(t *testing.T) {
	none := map[graph.CollType]int64{}
	for _, test := range []struct {
		file      string
		overrides []string
		ranks     int
		nodes     int64
		compute   int64
		sends     int64
		bytes     int64
		coll      map[graph.CollType]int64
	}{
		{"pingpong.hbp", []string{"reps=10"}, 2, 40, 0, 20, 160, none},
		{"heat2d.hbp", []string{"steps=2"}, 72, 1440, 144, 576, 9_439_488, map[graph.CollType]int64{graph.AllReduce: 144}},
		{"ring.hbp", []string{"n=8", "steps=2"}, 8, 48, 16, 16, 128, none},
		{"sor.hbp", nil, 16, 2560, 640, 960, 7_864_320, none},
		{"hpcg.hbp", []string{"iters=2"}, 8, 1488, 384, 528, 20_572_032, map[graph.CollType]int64{graph.AllReduce: 48}},
		{"ddp.hbp", []string{"steps=2"}, 8, 896, 784, 0, 0, map[graph.CollType]int64{graph.AllReduce: 96}},
		{"llm3d.hbp", nil, 32, 13_184, 4128, 384, 25_769_803_776,
			map[graph.CollType]int64{graph.AllReduce: 8192, graph.ReduceScatter: 32, graph.AllGather: 32}},
	} {
		g := loadFile(t, test.file, test.overrides...)
		c := count(t, g)
		if g.Ranks != test.ranks || c.nodes() != test.nodes || c.compute != test.compute || c.sends != test.sends || c.recvs != c.sends || c.sent != test.bytes {
			t.Errorf("%s: %d ranks, %d nodes, %d compute, %d sends, %d receives, %d bytes; want %d, %d, %d, %d, %d, %d", test.file,
				g.Ranks, c.nodes(), c.compute, c.sends, c.recvs, c.sent, test.ranks, test.nodes, test.compute, test.sends, test.sends, test.bytes)
		}
		for k := range graph.CollType(graph.NumCollTypes) {
			if c.collectives[k] != test.coll[k] {
				t.Errorf("%s: %d %s, want %d", test.file, c.collectives[k], k, test.coll[k])
			}
		}
	}
}

// tester is what tests and property tests have in common.
type tester interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}
