package dsel

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/alecthomas/participle/v2/lexer"

	"hybrid/internal/diag"
)

// seedFiles adds every blueprint of testdata to the corpus.
func seedFiles(f *testing.F) {
	for _, dir := range []string{"blueprints", "errors"} {
		files, _ := filepath.Glob(filepath.Join("..", "testdata", dir, "*.hbp"))
		for _, name := range files {
			src, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(string(src))
		}
	}
	for _, s := range []string{"", "ranks 1e12", "ranks 2\nprogram { repeat 1_000_000_000_000_000_000 { compute 1ps } }",
		"ranks 3\nprogram { par { send 8B to 1; recv 8B from any tag any } waitall }",
		"ranks 2\nfn f(x) = f2(x) + f2(x)\nfn f2(x) = x + x\nprogram { compute f(1us) }",
		"ranks 4\nprogram { @a[rank] async sendrecv 8B to mod(rank + 1, 4) from mod(rank - 1, 4) wait @a[rank] }"} {
		f.Add(s)
	}
}

// FuzzLoad: no input makes loading panic or hang, and a blueprint that loads
// without an error has a graph.
func FuzzLoad(f *testing.F) {
	seedFiles(f)
	f.Fuzz(func(t *testing.T, src string) {
		list := &diag.List{}
		p := LoadProgram("fuzz.hbp", []byte(src), Options{Seed: 1}, list)
		if (p == nil) != list.HasErrors() {
			t.Errorf("program %v, errors %v", p != nil, list.HasErrors())
		}
	})
}

// FuzzLex: tokens stand in the source where they say, in order, and the last one
// is the end.
func FuzzLex(f *testing.F) {
	seedFiles(f)
	f.Fuzz(func(t *testing.T, src string) {
		tokens := scan("fuzz.hbp", []byte(src), &findings{})
		at := 0
		for _, tok := range tokens[:len(tokens)-1] {
			o := tok.Pos.Offset
			if len(src) >= 3 && src[:3] == "\ufeff" {
				o += 3
			}
			if o < at || tok.EOF() {
				t.Fatalf("token %q at %d, before %d", tok.Value, o, at)
			}
			if tok.Type == tokString {
				continue // one that is not closed has the value ""
			}
			if src[o:o+len(tok.Value)] != tok.Value {
				t.Fatalf("token %q is not at %d", tok.Value, o)
			}
			at = o + len(tok.Value)
		}
		if last := tokens[len(tokens)-1]; last.Type != lexer.EOF {
			t.Fatalf("the last token is %v", last)
		}
	})
}
