package dsel

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func manual(t *testing.T) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "docs", "blueprint.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// TestManualExamples: every example of the manual loads. A fragment without a
// program stands beside one that has what it refers to.
func TestManualExamples(t *testing.T) {
	const around = "\nranks 8\nprogram { repeat 10 as step { region \"sweep\" { compute 1us } } }\n"
	parts := strings.Split(manual(t), "```")
	if len(parts) < 7 {
		t.Fatalf("only %d examples", len(parts)/2)
	}
	for i := 1; i < len(parts); i += 2 {
		src := strings.TrimPrefix(parts[i], "\n")
		if !strings.Contains(src, "program") {
			src += around
		}
		if t.Run("example", func(t *testing.T) { loadText(t, "manual.hbp", src) }); t.Failed() {
			t.Logf("in\n%s", src)
		}
	}
}

// TestManualIsComplete: the manual names every verb, unit, declaration, clause and
// function, and names no function that there is not.
func TestManualIsComplete(t *testing.T) {
	text := manual(t)
	words := setOf(regexp.MustCompile(`[A-Za-zµ_][A-Za-z_0-9]*`).FindAllString(text, -1))
	var functions []string
	for _, f := range machineFunctions() {
		functions = append(functions, f.name)
	}
	known := slices.Concat(verbs(), blockWords(), declWords(), clauseWords(), builtinNames(), functions, gridMethods(), precisions(), paramTypes())
	for _, w := range known {
		if !words[w] {
			t.Errorf("the manual does not name %s", w)
		}
	}
	for u := range unitTable() {
		base := strings.TrimSuffix(u, "/s")
		if !words[strings.Split(base, "/")[0]] && u != "μs" && !strings.HasSuffix(u, "bps") && !strings.HasSuffix(u, "flop/s") {
			t.Errorf("the manual does not name the unit %s", u)
		}
	}
}
