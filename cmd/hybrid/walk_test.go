package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The walk of a packet in ARCHITECTURE.md names each function that the packet passes, and
// behind one or several names the file that declares them, or the files. Every name is
// declared there, and every file named declares one of the names before it.
func TestPacketWalk(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root(t), "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(text), "## One packet from send to acknowledgement\n")
	section, _, ended := strings.Cut(section, "\n## ")
	if !found || !ended {
		t.Fatal("there is no such section")
	}
	word := regexp.MustCompile("`([^`\n]+)`|\\]\\(([^)\n]+\\.go)\\)")
	declared := map[string]map[string]bool{}
	var names, files []string
	functions := 0
	check := func() {
		for _, n := range names {
			functions++
			if !anyDeclares(t, declared, files, n) {
				t.Errorf("%s is not declared in %s", n, strings.Join(files, " or "))
			}
		}
		for _, f := range files {
			if len(names) > 0 && !declaresAny(declared[f], names) {
				t.Errorf("%s declares none of %s", f, strings.Join(names, ", "))
			}
		}
		names, files = nil, nil
	}
	for _, m := range word.FindAllStringSubmatch(section, -1) {
		switch {
		case m[2] != "":
			if !strings.HasSuffix(m[2], "_test.go") {
				files = append(files, m[2])
			}
			continue
		case len(files) > 0:
			check()
		}
		names = append(names, m[1])
	}
	if check(); functions < 60 {
		t.Errorf("%d functions are named; the way of a packet has more", functions)
	}
}

func anyDeclares(t *testing.T, declared map[string]map[string]bool, files []string, name string) (found bool) {
	for _, f := range files {
		if declared[f] == nil {
			declared[f] = functionsOf(t, f)
		}
		found = found || declared[f][name]
	}
	return found
}

func declaresAny(declared map[string]bool, names []string) bool {
	for _, n := range names {
		if declared[n] {
			return true
		}
	}
	return false
}

// functionsOf returns the functions of a file, and methods as Type.Method.
func functionsOf(t *testing.T, file string) map[string]bool {
	out := map[string]bool{}
	f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root(t), filepath.FromSlash(file)), nil, parser.SkipObjectResolution)
	if err != nil {
		t.Error(err)
		return out
	}
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		name := fn.Name.Name
		if fn.Recv != nil && len(fn.Recv.List) == 1 {
			of := fn.Recv.List[0].Type
			if p, ok := of.(*ast.StarExpr); ok {
				of = p.X
			}
			if id, ok := of.(*ast.Ident); ok {
				name = id.Name + "." + name
			}
		}
		out[name] = true
	}
	return out
}
