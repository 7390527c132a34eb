package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// digestRun is what a named run of testdata/reference/digests.tsv came to.
type digestRun struct {
	Digest     string `json:"digest"`
	Makespan   int64  `json:"makespan_ps"`
	Operations int64  `json:"operations"`
	PacketHops int64  `json:"packet_hops"`
	notes      string // no part of the file
}

// The named runs, at least ten, have the digest of every operation's end that they have
// always had, with any number of threads: pauses, marks, cut and dropped packets are among
// them. A change of the model changes them on purpose:
// HYBRID_UPDATE=1 rewrites the file, and its difference tells which runs it concerns.
func TestDigests(t *testing.T) {
	path := filepath.Join(root(t), "testdata", "reference", "digests.tsv")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	runs, notes := 0, ""
	for line := range strings.Lines(string(text)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if strings.HasPrefix(line, "#") || f[0] == "name" {
			out.WriteString(line)
			continue
		}
		runs++
		r := digestOf(t, f[0], strings.Fields(f[1]), 1)
		notes += r.notes + "\n"
		for _, cores := range []int{2, 3} {
			if again := digestOf(t, f[0], strings.Fields(f[1]), cores); again != r {
				t.Errorf("%s with %d threads: %+v, with one %+v", f[0], cores, again, r)
			}
		}
		fmt.Fprintf(&out, "%s\t%s\t%s\t%d\t%d\t%d\n", f[0], f[1], r.Digest, r.Makespan, r.Operations, r.PacketHops)
	}
	if runs < 10 {
		t.Errorf("%d named runs, want 10", runs)
	}
	for _, what := range []string{"pauses", "marked", "cut", "dropped"} {
		if !regexp.MustCompile(what + " [1-9]").MatchString(notes) {
			t.Errorf("no run has any: %s", what)
		}
	}
	if d := cmp.Diff(string(text), out.String()); d != "" {
		if os.Getenv("HYBRID_UPDATE") == "" {
			t.Fatalf("digests differ (-golden +now):\n%s", d)
		}
		if err := os.WriteFile(path, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// digestOf simulates; of the arguments the first is a workload in testdata.
func digestOf(t *testing.T, name string, args []string, cores int) digestRun {
	t.Helper()
	all := append([]string{"simulate", "-q", "-o", "json", "--cores", fmt.Sprint(cores), filepath.Join(root(t), "testdata", args[0])}, args[1:]...)
	var out, errs bytes.Buffer
	want := exitDone
	if strings.HasSuffix(name, "-lost") { // packets are, and nothing sends them again
		want = exitFailed
	}
	if status := Main(context.Background(), all, strings.NewReader(""), &out, &errs); status != want {
		t.Fatalf("%s: status %d\n%s", name, status, errs.String())
	}
	var report struct {
		Runs []struct {
			digestRun
			Notes []string `json:"notes"`
		} `json:"runs"`
	}
	if err := json.Unmarshal(out.Bytes(), &report); err != nil || len(report.Runs) != 1 || len(report.Runs[0].Digest) != 16 {
		t.Fatalf("%s: %v, runs %+v", name, err, report.Runs)
	}
	r := report.Runs[0].digestRun
	r.notes = strings.Join(report.Runs[0].Notes, "; ")
	return r
}
