package dsel

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"hybrid/graph"
	"hybrid/internal/diag"
)

// places removes the places of operations from the text of a graph: what stands
// behind the semicolon of a line.
var places = regexp.MustCompile(`(?m)  ; .*$`)

func graphText(t tester, g *graph.Graph) string {
	t.Helper()
	var b strings.Builder
	if err := graph.WriteText(&b, g); err != nil {
		t.Fatal(err)
	}
	return places.ReplaceAllString(b.String(), "")
}

// TestOverrideEqualsEdit: a parameter set from outside gives the graph of the text
// with that default.
func TestOverrideEqualsEdit(t *testing.T) {
	for _, test := range []struct{ file, name, old, value string }{
		{"heat2d.hbp", "px", "6", "3"}, {"heat2d.hbp", "steps", "50", "2 * 7"}, {"ring.hbp", "msg", "8B", "64KiB"}, {"llm3d.hbp", "tf", "900us", "1.5ms"},
		{"llm3d.hbp", "mb", "8", "pp + 1"}, {"moe.hbp", "hot", "2.0", "3"}, {"ddp.hbp", "bucket", "4", "6"}, {"hpcg.hbp", "levels", "4", "2"},
	} {
		raw, err := os.ReadFile(filepath.Join("..", "testdata", "blueprints", test.file))
		if err != nil {
			t.Fatal(err)
		}
		line := regexp.MustCompile(`(?m)^(param ` + test.name + `: \w+ = )` + regexp.QuoteMeta(test.old) + `\b`)
		if !line.Match(raw) {
			t.Fatalf("%s has no parameter %s = %s", test.file, test.name, test.old)
		}
		edited := line.ReplaceAllString(string(raw), "${1}"+test.value)
		want := loadText(t, test.file, edited)
		got := loadFile(t, test.file, test.name+"="+test.value)
		if d := cmp.Diff(graphText(t, want), graphText(t, got)); d != "" {
			t.Errorf("%s -D %s=%s\n%s", test.file, test.name, test.value, d)
		}
		if d := cmp.Diff(want.Params, got.Params); d != "" {
			t.Errorf("%s -D %s=%s\n%s", test.file, test.name, test.value, d)
		}
	}
}

// TestLayoutDoesNotMatter: blanks, comments, line ends, continuations and
// formatting change no graph.
func TestLayoutDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &writer{t: t}
		src := "ranks 6\nstream s\ngrid G axes y = 2 periodic, x = 3\nprogram {\n" + w.block(0, 4)(nil) + "}\n"
		want := strings.ReplaceAll(graphText(t, loadText(t, "l.hbp", src)), " ", "") // expressions keep theirs
		formatted, err := Format([]byte(src))
		if err != nil {
			t.Fatal(err)
		}
		for _, other := range []string{
			string(formatted), "\ufeff" + strings.ReplaceAll(src, "\n", "\r\n"), strings.ReplaceAll(src, "\n", " // é {(\n"),
			strings.ReplaceAll(src, "(", "( /* ) */\n\t"), strings.ReplaceAll(src, " to ", " \\\n  to "), strings.ReplaceAll(src, "\n", "\n\n;"),
		} {
			if got := strings.ReplaceAll(graphText(t, loadText(t, "l.hbp", other)), " ", ""); got != want {
				t.Fatalf("%s\n---\n%s\n---\n%s", src, other, cmp.Diff(want, got))
			}
		}
	})
}

// TestRanksRenumber: a program that names its ranks through a rotation does the
// same work, rank for rank, on the rotated ranks.
func TestRanksRenumber(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 7).Draw(t, "ranks")
		by := rapid.IntRange(0, n-1).Draw(t, "rotation")
		k := rapid.IntRange(1, n-1).Draw(t, "step")
		const body = "fn at(r) = mod(r + %d, ranks)\nfn me(r) = mod(r - %d, ranks)\nprogram {\nfor i in 0..2 {\ncompute me(rank) * i * 1us\n" +
			"sendrecv 8B * (1 + me(rank)) to at(me(rank) + %d) from at(me(rank) - %d) rsize 8B * (1 + mod(me(rank) - %d, ranks))\n}\nif me(rank) %% 2 == 0 { store 3B }\n}\n"
		load := func(shift int) *graph.Graph {
			return priced(loadText(t, "r.hbp", fmt.Sprintf("ranks %d\n", n)+fmt.Sprintf(body, shift, shift, k, k, k)))
		}
		plain, rotated := load(0), load(by)
		for rank := range n {
			a, b := values(t, plain, rank), values(t, rotated, (rank+by)%n)
			for i := range a {
				for _, peer := range []int{0} {
					a[i][peer] = (a[i][peer] + int64(by)) % int64(n)
				}
			}
			if d := cmp.Diff(a, b); d != "" {
				t.Fatalf("rank %d of %d rotated by %d\n%s", rank, n, by, d)
			}
		}
	})
}

// values lists partner, size and time of the operations of a rank in its second
// iteration.
func values(t *rapid.T, g *graph.Graph, rank int) (out [][3]int64) {
	p, slot := g.Program(rank)
	env := &graph.Env{Rank: int32(rank), Loops: []int64{1}}
	eval := func(v graph.Value) int64 {
		n, err := p.Eval(v, slot, env)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for i := range p.Ops {
		switch op := &p.Ops[i]; op.Kind {
		case graph.Send, graph.Recv:
			out = append(out, [3]int64{eval(op.Peer), eval(op.Size)})
		case graph.Compute, graph.Store:
			out = append(out, [3]int64{int64(rank), eval(p.Works[op.Arg].Bytes), eval(p.Works[op.Arg].Time)})
		}
	}
	return out
}

// TestHaloExtents: along a periodic axis a rank sends two messages whatever its
// extent, to itself for 1 and both to the one neighbour for 2; along an open axis
// one for each neighbour that there is. Sends meet receives.
func TestHaloExtents(t *testing.T) {
	for extent := 1; extent <= 4; extent++ {
		for _, periodic := range []bool{false, true} {
			word, want := "", 2*(extent-1)
			if periodic {
				word, want = " periodic", 2*extent
			}
			g := loadText(t, "h.hbp", fmt.Sprintf("grid G axes x = %d%s\nprogram { halo G [x: 8B] }\n", extent, word))
			sends, recvs := map[string]int{}, map[string]int{}
			total := 0
			for rank := range extent {
				p, slot := g.Program(rank)
				for i := range p.Ops {
					op := &p.Ops[i]
					peer, _ := p.Known(op.Peer, slot)
					tag, _ := p.Known(op.Tag, slot)
					if op.Kind == graph.Send {
						sends[fmt.Sprint(rank, peer, tag, op.Arg)]++
						total++
					} else {
						recvs[fmt.Sprint(peer, rank, tag, op.Arg)]++
					}
				}
			}
			if d := cmp.Diff(sends, recvs); d != "" || total != want {
				t.Errorf("extent %d%s: %d messages, want %d\n%s", extent, word, total, want, d)
			}
		}
	}
}

// TestPositions: what the place of a finding is, by line, column and span, in text
// with tabs, other scripts, carriage returns, brackets over several lines, included
// files, overrides and parameter files.
func TestPositions(t *testing.T) {
	read := func(string) ([]byte, error) { return []byte("// é\nlet x = 1B +\t1us\n"), nil }
	for name, test := range map[string]struct {
		src, want string
		opt       Options
	}{
		"tab":           {src: "ranks 2\nprogram {\n\tcompute\ttiem\n}\n", want: "p.hbp:3:10 4"},
		"other script":  {src: "ranks 2\nprogram { region \"größe\" { compute tiem } }\n", want: "p.hbp:2:36 4"},
		"µ":             {src: "ranks 2\nprogram { compute 3µs + tiem }\n", want: "p.hbp:2:25 4"},
		"CRLF":          {src: "ranks 2\r\nprogram {\r\n  compute tiem\r\n}\r\n", want: "p.hbp:3:11 4"},
		"byte order":    {src: "\ufeffranks tiem\nprogram { }\n", want: "p.hbp:1:7 4"},
		"brackets":      {src: "ranks 2\nprogram { compute max(1us,\n    /* c\n */ tiem) }\n", want: "p.hbp:4:5 4"},
		"continuation":  {src: "ranks 2\nprogram { compute \\\n   tiem }\n", want: "p.hbp:3:4 4"},
		"include":       {src: "include \"d/i.hbp\"\nranks 2\nprogram { compute 1us * x }\n", opt: Options{ReadFile: read}, want: "d/i.hbp:2:12 1"},
		"override":      {src: "param n: int = 2\nranks n\nprogram { }\n", opt: Options{Params: []Override{{Name: "n", Value: "2 + 1us", Pos: diag.Pos{File: "-D n=2 + 1us"}}}}, want: "-D n=2 + 1us:1:3 1"},
		"override unit": {src: "param n: int = 2\nranks n\nprogram { }\n", opt: Options{Params: []Override{{Name: "n", Value: "64k", Pos: diag.Pos{File: "-D n=64k"}}}}, want: "-D n=64k:1:1 3"},
		"file":          {src: "param n: int = 2\nranks n\nprogram { }\n", opt: Options{ParamsFile: "# c\nn:  \"2 + tiem\"\n", ParamsName: "v.yml"}, want: "v.yml:2:10 4"},
		"file unit":     {src: "param n: int = 2\nranks n\nprogram { }\n", opt: Options{ParamsFile: "# c\nn: 64k\n", ParamsName: "v.yml"}, want: "v.yml:2:4 3"},
	} {
		list := &diag.List{}
		LoadProgram("p.hbp", []byte(test.src), test.opt, list)
		got := "nothing"
		if all := list.All(); len(all) > 0 {
			p := all[0].Pos
			got = fmt.Sprintf("%s:%d:%d %d", p.File, p.Line, p.Col, p.Span)
		}
		if got != test.want {
			t.Errorf("%s: %s, want %s\n%s", name, got, test.want, render(list, test.src))
		}
	}
}
