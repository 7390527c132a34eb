package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// importRule says which packages of this module a package may import. A rule for
// "des/..." covers everything below des. internal/... is open to all.
type importRule struct {
	importer string
	imported string
}

// importRules is the whole architecture in one table: left may import right, nothing
// else. The two engines never see each other, and the front ends see neither engine,
// machine nor network: two independent answers, or a comparison is worth nothing.
func importRules() []importRule {
	return []importRule{
		{"cmd/hybrid", "..."},
		{"report", "graph graph/replay"},
		{"report/records", "graph graph/replay graph/collective"},
		{"analytic", "graph graph/replay graph/collective machines networks"},
		{"des", "graph graph/replay graph/collective networks des/..."},
		{"des/nic", "des/fabric des/sim networks"},
		{"des/fabric", "des/sim networks"},
		{"des/scaleup", "des/sim graph"},
		{"des/node", "des/sim graph graph/replay"},
		{"des/sim", ""},
		{"dsel", "graph"},
		{"chakra", "graph"},
		{"graph/replay", "graph graph/collective"},
		{"graph/pass", "graph graph/collective"},
		{"graph/collective", "graph"},
		{"graph", ""},
		{"machines", ""},
		{"networks", ""},
		{"internal/units", ""},
		{"internal/diag", ""},
		{"internal/yamldoc", ""},
	}
}

// goPackage is what go list says about a package.
type goPackage struct {
	ImportPath, Dir                    string
	Imports, TestImports, XTestImports []string
	GoFiles, TestGoFiles, XTestGoFiles []string
}

const module = "hybrid/"

func goList(t *testing.T) []goPackage {
	t.Helper()
	cmd := exec.Command("go", "list", "-e", "-json=ImportPath,Dir,Imports,TestImports,XTestImports,GoFiles,TestGoFiles,XTestGoFiles", "./...")
	cmd.Dir = root(t)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var all []goPackage
	d := json.NewDecoder(bytes.NewReader(out))
	for {
		var p goPackage
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

func allowed(importer, imported string) bool {
	if strings.HasPrefix(imported, "internal/") {
		return true
	}
	for _, r := range importRules() {
		if r.importer != importer {
			continue
		}
		for pattern := range strings.FieldsSeq(r.imported) {
			if pattern == "..." || pattern == imported {
				return true
			}
			if below, ok := strings.CutSuffix(pattern, "..."); ok && strings.HasPrefix(imported, below) {
				return true
			}
		}
	}
	return false
}

func TestImports(t *testing.T) {
	for _, p := range goList(t) {
		importer, ok := strings.CutPrefix(p.ImportPath, module)
		if !ok {
			t.Errorf("package %s: the root holds no Go code", p.ImportPath)
			continue
		}
		if !slices.ContainsFunc(importRules(), func(r importRule) bool { return r.importer == importer }) {
			t.Errorf("package %s has no rule in importRules: say what it may import", importer)
		}
		for _, i := range p.Imports {
			if imported, ok := strings.CutPrefix(i, module); ok && !allowed(importer, imported) {
				t.Errorf("%s imports %s, which no rule allows", importer, imported)
			}
		}
	}
}

// The engines do not see each other in tests either.
func TestEnginesAreIndependent(t *testing.T) {
	for _, p := range goList(t) {
		importer := strings.TrimPrefix(p.ImportPath, module)
		for _, i := range slices.Concat(p.TestImports, p.XTestImports) {
			imported := strings.TrimPrefix(i, module)
			if engine(importer) != "" && engine(imported) != "" && engine(importer) != engine(imported) {
				t.Errorf("a test of %s imports %s: the engines are independent", importer, imported)
			}
		}
	}
}

func engine(pkg string) string {
	for _, e := range []string{"des", "analytic"} {
		if pkg == e || strings.HasPrefix(pkg, e+"/") {
			return e
		}
	}
	return ""
}

func TestRulesNameNoStranger(t *testing.T) {
	if allowed("des", "analytic") || allowed("analytic", "des") || allowed("dsel", "chakra") || allowed("chakra", "networks") {
		t.Error("the table allows what the design forbids")
	}
	if !allowed("des", "des/sim") || !allowed("cmd/hybrid", "des") || !allowed("dsel", "internal/diag") {
		t.Error("the table forbids what the design allows")
	}
}
