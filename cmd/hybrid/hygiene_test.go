package main

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"hybrid/internal/diag"
)

// maxLines bounds a file: what is longer holds more than one thing.
const maxLines = 500

// Every code in the source is one that hybrid explain knows.
func TestCodesAreExplained(t *testing.T) {
	code := regexp.MustCompile(`"[EW][0-9]{3}"`)
	for _, p := range goList(t) {
		for _, name := range p.GoFiles {
			path := filepath.Join(p.Dir, name)
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range code.FindAllString(string(text), -1) {
				if _, ok := diag.Explain(c[1 : len(c)-1]); !ok {
					t.Errorf("%s/%s: code %s is not in the table", p.ImportPath, name, c)
				}
			}
		}
	}
}

// TestHygiene holds every package against rules that are easy to break unnoticed:
// short files, a doc.go with the package comment, no init functions, a comment on every
// exported name.
func TestHygiene(t *testing.T) {
	for _, p := range goList(t) {
		if len(p.GoFiles) == 0 {
			continue
		}
		if !slices.Contains(p.GoFiles, "doc.go") {
			t.Errorf("%s has no doc.go", p.ImportPath)
		}
		for _, name := range slices.Concat(p.GoFiles, p.TestGoFiles, p.XTestGoFiles) {
			checkFile(t, filepath.Join(p.Dir, name))
		}
	}
}

func checkFile(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	name, err := filepath.Rel(root(t), path)
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(text, []byte("\n")); n > maxLines {
		t.Errorf("%s has %d lines, more than %d", name, n, maxLines)
	}
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, path, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Error(err)
		return
	}
	if filepath.Base(path) == "doc.go" && f.Doc == nil {
		t.Errorf("%s has no package comment", name)
	}
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
			t.Errorf("%s:%d: an init function", name, fset.Position(fn.Pos()).Line)
		}
	}
}
