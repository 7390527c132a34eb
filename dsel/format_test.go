package dsel

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFormat(t *testing.T) {
	const src = "blueprint   \"x\"\n\n\n\nparam a:int=3   range 1,4 // c\nranks 2\nprogram{\n\n" +
		"repeat 3{\ncompute max( 1us,\n2us )\n@a  async send 8B   to -1+rank tag 2*rank\n\n\n  /* b */ wait @a\n}\n" +
		"for i in 0..n-1 { compute 1us   *i }\nsend 8B to \\\n1\n\n}\n\n\n"
	const want = "blueprint \"x\"\n\nparam a:int=3 range 1, 4  // c\nranks 2\nprogram {\n" +
		"  repeat 3 {\n    compute max(1us,\n        2us)\n    @a async send 8B to -1+rank tag 2*rank\n\n    /* b */ wait @a\n  }\n" +
		"  for i in 0..n-1 { compute 1us * i }\n  send 8B to \\\n      1\n}\n"
	got, err := Format([]byte(src))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, string(got)); d != "" {
		t.Error(d)
	}
}

// tokenText is what formatting must not change: the tokens and the comments.
func tokenText(src string) (out []string) {
	for _, t := range scanWith(&scanner{src: src, list: &findings{}, all: true}) {
		if t.Type != tokNL && t.Type != tokSoftNL && t.Type != tokJoin {
			out = append(out, t.Value)
		}
	}
	return out
}

func checkFormat(t *testing.T, src string) {
	t.Helper()
	once, err := Format([]byte(src))
	if err != nil {
		return // lexical errors
	}
	if d := cmp.Diff(tokenText(src), tokenText(string(once))); d != "" {
		t.Fatalf("formatting changes the text\n%s", d)
	}
	twice, err := Format(once)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(once), string(twice)); d != "" {
		t.Fatalf("formatting twice differs\n%s", d)
	}
}

func TestFormatFiles(t *testing.T) {
	for _, dir := range []string{"blueprints", "errors"} {
		files, _ := filepath.Glob(filepath.Join("..", "testdata", dir, "*.hbp"))
		for _, name := range files {
			src, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			checkFormat(t, string(src))
		}
	}
}

// FuzzFormat: formatting keeps every token and comment, and is idempotent.
func FuzzFormat(f *testing.F) {
	seedFiles(f)
	f.Fuzz(checkFormat)
}

// TestExamplesAreCanonical: what the project ships is formatted.
func TestExamplesAreCanonical(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join("..", "testdata", "blueprints", "*.hbp"))
	for _, name := range append(files, "example.hbp") {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Format(src)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(string(src), string(got)); d != "" {
			t.Errorf("%s is not formatted\n%s", name, d)
		}
	}
}
