package dsel

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hybrid/graph"
)

// TestLowering compares the graph of small blueprints, in its text form, with what
// stands below them. HYBRID_UPDATE=1 rewrites the files.
func TestLowering(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "lower", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		head, body, _ := strings.Cut(string(raw), "-- blueprint.hbp --\n")
		src, want, _ := strings.Cut(body, "-- graph --\n")
		name := strings.TrimSuffix(filepath.Base(file), ".txtar") + ".hbp"
		var b strings.Builder
		if err := graph.WriteText(&b, loadText(t, name, src)); err != nil {
			t.Fatal(err)
		}
		if os.Getenv("HYBRID_UPDATE") == "1" {
			text := head + "-- blueprint.hbp --\n" + src + "-- graph --\n" + b.String()
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if d := cmp.Diff(want, b.String()); d != "" {
			t.Errorf("%s (-want +got)\n%s", file, d)
		}
	}
}
