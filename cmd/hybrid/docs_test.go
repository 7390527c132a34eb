package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hybrid/internal/diag"
)

// The reference parts of the manual are written from the tables that the program itself
// uses, between two comments. HYBRID_UPDATE=1 rewrites them.
func TestGeneratedDocs(t *testing.T) {
	parts := map[string]string{"network": parameterTable("network"), "machine": parameterTable("machine"), "codes": codeTable()}
	block := regexp.MustCompile(`(?s)<!-- generated: (\w+) -->\n(.*?)<!-- end -->`)
	seen := 0
	for _, name := range []string{"networks.md", "codes.md"} {
		path := filepath.Join(root(t), "docs", name)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		want := block.ReplaceAllStringFunc(string(text), func(s string) string {
			seen++
			part := block.FindStringSubmatch(s)[1]
			return fmt.Sprintf("<!-- generated: %s -->\n%s<!-- end -->", part, parts[part])
		})
		if want == string(text) {
			continue
		}
		if os.Getenv("HYBRID_UPDATE") != "" {
			if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		t.Errorf("docs/%s is out of date (HYBRID_UPDATE=1 rewrites it):\n%s", name, cmp.Diff(string(text), want))
	}
	if seen != len(parts) {
		t.Errorf("%d generated parts, want %d", seen, len(parts))
	}
}

// parameterTable lists the keys of a kind of file.
func parameterTable(kind string) string {
	var own []explained
	for _, p := range parameters() {
		if p.kind == kind {
			own = append(own, p)
		}
	}
	var b strings.Builder
	b.WriteString("| key | value | default | range | meaning |\n|---|---|---|---|---|\n")
	for _, p := range merged(own) {
		values := p.Range
		if len(p.OneOf) > 0 {
			values = strings.Join(p.OneOf, ", ")
		}
		def := p.Default
		if p.Required {
			def = "(required)"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", p.Path, fieldType(p.Field), def, values, cell(p.Doc))
	}
	return b.String()
}

func codeTable() string {
	var b strings.Builder
	b.WriteString("| code | what | why, and what to do |\n|---|---|---|\n")
	for _, c := range diag.Codes() {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", c.Code, cell(c.Title), cell(c.Doc))
	}
	return b.String()
}

// cell makes text fit into one cell of a table.
func cell(s string) string {
	return strings.Join(strings.Fields(strings.NewReplacer("|", `\|`, "<", "&lt;").Replace(s)), " ")
}
