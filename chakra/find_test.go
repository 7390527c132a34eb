package chakra

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hybrid/internal/diag"
)

func TestParseName(t *testing.T) {
	for name, want := range map[string]candidate{
		"llama.10.et":         {prefix: "llama.", suffix: ".et", rank: 10, numbered: true},
		"llama.3.et.gz":       {prefix: "llama.", suffix: ".et", rank: 3, numbered: true},
		"rank_0.chakra.json":  {prefix: "rank_", suffix: ".chakra.json", rank: 0, numbered: true},
		"a2a_8npus-1.7.et":    {prefix: "a2a_8npus-1.", suffix: ".et", rank: 7, numbered: true},
		"trace.et.12":         {prefix: "trace.et.", suffix: "", rank: 12, numbered: true},
		"007":                 {prefix: "", suffix: "", rank: 7, numbered: true},
		"tp2.json":            {prefix: "tp2.json"},
		"x.99999999999999.et": {prefix: "x.99999999999999.et"},
	} {
		want.path = name
		if got := parseName(name); got != want {
			t.Errorf("%s: got %+v, want %+v", name, got, want)
		}
	}
}

// find reports base names in rank order, or the findings.
func find(t *testing.T, arg, dir string) string {
	t.Helper()
	var list diag.List
	set, ok := Find(arg, &list)
	if !ok {
		return findingsText(&list, dir)
	}
	names := []string{set.Name + ":"}
	for _, f := range set.Files {
		names = append(names, filepath.Base(f))
	}
	return strings.Join(names, " ")
}

func TestFind(t *testing.T) {
	dir := t.TempDir()
	want := "job:"
	for r := range 12 {
		name := "job." + string("0123456789ab"[r%10:r%10+1]) + ".et"
		if r >= 10 {
			name = "job.1" + string("01"[r-10]) + ".et"
		}
		write(t, dir, name, file(comp(1, 5)))
		want += " " + name
	}
	write(t, dir, "notes.txt", []byte("not a trace"))
	write(t, dir, "job.json", []byte(`{"1": [0]}`))
	if err := os.Mkdir(filepath.Join(dir, "job.12.et"), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, arg := range []string{"", "job", "job.", "job.7.et", "job.11.et", "job.*.et", "job.*"} {
		if got := find(t, filepath.Join(dir, arg), dir); got != want {
			t.Errorf("%q: got %s\nwant %s", arg, got, want)
		}
	}
	if got, want := find(t, filepath.Join(dir, "jo"), dir), "jo: error: there is no trace file here and no file whose name starts like this [E701]\n"; got != want {
		t.Errorf("got %swant %s", got, want)
	}
}

func TestFindSingleFile(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "mine.et", file(comp(1, 5)))
	write(t, dir, "other.et", file(comp(1, 5)))
	if got, want := find(t, filepath.Join(dir, "mine.et"), dir), "mine.et: mine.et"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestFindProblems(t *testing.T) {
	trace := file(comp(1, 5))
	type files map[string][]byte
	for _, c := range []struct {
		name  string
		files files
		arg   string
		want  string
	}{
		{"hole", files{"x.0.et": trace, "x.3.et": trace}, "", "DIR: error: 2 of the ranks 0 to 3 have no file: 1, 2 [E703]\n"},
		{"many holes", files{"x.20.et": trace}, "", "DIR: error: 20 of the ranks 0 to 20 have no file: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 [E703]\n      = and 4 more ranks\n"},
		{"double", files{"x.0.et": trace, "x.00.et": trace}, "", "DIR: error: rank 0 has two files: x.0.et and x.00.et [E703]\n"},
		{"two sets", files{"x.0.et": trace, "y.0.et": trace, "y.1.et": trace}, "", "DIR: error: there are 2 trace sets here; name one of them [E702]\n      = x (1 file)\n      = y (2 files)\n"},
		{"nothing", files{"a.txt": []byte("text")}, "", "DIR: error: the only file here, a.txt, is not a Chakra trace [E701]\n"},
		{"absent", files{}, "q/x", "q/x: error: there is no such file, folder or prefix of trace files [E701]\n"},
		{"host trace", files{"et.json": []byte(`{"schema": "1.1.0-chakra.0.0.4", "start_ts": 1, "nodes": []}`)}, "",
			"et.json: error: this is a PyTorch host trace, not a simulation trace; chakra_trace_link and then chakra_converter make a Chakra trace of it [E705]\n"},
		{"group file", files{"x.0.et": trace, "g.json": []byte(`{"1": [0]}`)}, "g.json",
			"g.json: error: this is a process-group file; name the traces themselves, and this file with --groups [E705]\n"},
	} {
		dir := t.TempDir()
		for name, data := range c.files {
			write(t, dir, name, data)
		}
		if got := find(t, filepath.Join(dir, c.arg), dir); got != c.want {
			t.Errorf("%s: got\n%swant\n%s", c.name, got, c.want)
		}
	}
}

// Content decides: a trace named .json loads, JSON named .et is refused by name.
func TestContentDecides(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "x.0.json", file(comp(1, 5)))
	write(t, dir, "x.json", []byte(`{"1": [0]}`))
	mustLoad(t, dir, Options{})
	dir = t.TempDir()
	write(t, dir, "x.0.et", file(comp(1, 5)))
	write(t, dir, "x.1.et", []byte(`{"workload_graph": []}`))
	write(t, dir, "x.2.et", []byte("plain text that is no trace"))
	_, text := load(t, dir, Options{})
	want := "x.1.et: error: this is a trace in the JSON form of the Chakra feeder; give the binary trace (.et) that it was made from, chakra_converter writes it [E705]\n" +
		"x.2.et: error: this is not a Chakra trace: frame 0 at byte 0: announces 112 bytes, but only 26 are left in the file [E701]\n"
	if text != want {
		t.Errorf("got\n%swant\n%s", text, want)
	}
}
