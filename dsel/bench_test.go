package dsel

import (
	"fmt"
	"strings"
	"testing"

	"hybrid/graph"
	"hybrid/internal/diag"
)

func BenchmarkLoad(b *testing.B) {
	for _, bench := range []struct {
		name, file string
		overrides  []string
	}{
		{"program=ring/ranks=4096", "ring.hbp", []string{"n=4096"}},
		{"program=ring/ranks=100000", "ring.hbp", []string{"n=100_000"}},
		{"program=heat2d/ranks=72", "heat2d.hbp", []string{"steps=100_000"}},
		{"program=llm3d/ranks=32", "llm3d.hbp", nil},
		{"program=llm3d/ranks=1024", "llm3d.hbp", []string{"tp=8", "dp=16", "pp=8"}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			var g *graph.Graph
			for b.Loop() {
				g = loadFile(b, bench.file, bench.overrides...)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(g.Ranks), "ns/rank")
		})
	}
}

func BenchmarkParse(b *testing.B) {
	const lines = 5000
	src := []byte("ranks 8\nprogram {\n" + strings.Repeat("  @a async send 64KiB to mod(rank + 1, ranks) tag 3\n", lines) + "}\n")
	b.ReportAllocs()
	for b.Loop() {
		l := newLoader("b.hbp", Options{}, &findings{})
		l.parse("b.hbp", src)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/lines, "ns/statement")
}

// BenchmarkEval measures operands that are evaluated in every iteration.
func BenchmarkEval(b *testing.B) {
	for _, text := range []string{"i", "2 * i + 1", "i % 4 == 0 ? 8 : 16", "mod(rank + i, ranks)", "G.coord(mod(rank + i, ranks), \"x\")", "len(filter(0..i, # > 2))"} {
		src := fmt.Sprintf("ranks 12\ngrid G axes y = 3, x = 4\nprogram { repeat 5 as i { @a[%s] async send 8B to rank; wait @a[*] } }\n", text)
		list := &diag.List{}
		g := Load("b.hbp", []byte(src), Options{}, list)
		if g == nil {
			b.Fatal(render(list, src))
		}
		e := g.Programs[0].Exprs[0]
		b.Run("text="+strings.ReplaceAll(text, " ", ""), func(b *testing.B) {
			env := &graph.Env{Rank: 7, Loops: []int64{3}}
			for b.Loop() {
				if _, err := e.Eval(env); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
