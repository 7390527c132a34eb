package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hybrid/internal/diag"
)

// invoke runs the program in this process.
func invoke(ctx context.Context, stdin string, args ...string) (status int, stdout, stderr string) {
	var out, err bytes.Buffer
	status = Main(ctx, args, strings.NewReader(stdin), &out, &err)
	return status, out.String(), err.String()
}

// An interrupt before the first run leaves an empty report, marked as interrupted.
func TestInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	status, stdout, stderr := invoke(ctx, "", "compare", "-o", "json")
	if status != exitInterrupted {
		t.Errorf("status %d, want %d", status, exitInterrupted)
	}
	var doc struct{ Verdict string }
	if err := json.Unmarshal([]byte(stdout), &doc); err != nil || doc.Verdict != "interrupted" {
		t.Errorf("verdict %q (%v), want interrupted", doc.Verdict, err)
	}
	if !strings.Contains(stderr, "interrupted") {
		t.Errorf("standard error does not say why: %q", stderr)
	}
}

// An interrupt during a simulation of hours ends it; the report has what was complete.
func TestInterruptedSimulation(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	heat := filepath.Join(root(t), "testdata", "blueprints", "heat2d.hbp")
	status, stdout, _ := invoke(ctx, "", "simulate", heat, "-D", "steps=1_000_000", "-o", "json")
	var doc struct{ Verdict string }
	if err := json.Unmarshal([]byte(stdout), &doc); err != nil || status != exitInterrupted || doc.Verdict != "interrupted" {
		t.Errorf("status %d, verdict %q (%v)", status, doc.Verdict, err)
	}
}

// A signal during a simulation of hours ends the program with status 130, the report
// written as a whole and marked. The blueprint comes over a pipe that holds less than it,
// so that the program runs and has its handler once it is written.
func TestSignal(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.Command("hybrid", "simulate", "-", "-o", "json", "--out", filepath.Join(dir, "report.json"))
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	program := "ranks 4\nprogram { repeat 1_000_000_000 { allreduce 64KiB algo ring } }\n//" + strings.Repeat("-", 1<<20) + "\n"
	if _, err := io.WriteString(stdin, program); err != nil {
		t.Fatal(err)
	}
	if err := stdin.Close(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != exitInterrupted {
		t.Errorf("the program ends with %v, want status %d", err, exitInterrupted)
	}
	if !strings.Contains(stderr.String(), "hybrid: interrupted") {
		t.Errorf("standard error does not say why: %q", stderr.String())
	}
	text, err := os.ReadFile(filepath.Join(dir, "report.json"))
	if err != nil {
		t.Fatal(err)
	}
	var doc struct{ Verdict string }
	if err := json.Unmarshal(text, &doc); err != nil || doc.Verdict != "interrupted" {
		t.Errorf("verdict %q (%v), want interrupted", doc.Verdict, err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("%d files beside the report (%v)", len(files)-1, err)
	}
}

// The keys that scripts rely on are all there, in compare and in the commands that run
// a part of it.
func TestJSONKeys(t *testing.T) {
	for _, command := range []string{"compare", "simulate", "predict"} {
		status, stdout, stderr := invoke(t.Context(), "", command, "-q", "-o", "json")
		if status != exitDone {
			t.Fatalf("%s: status %d: %s", command, status, stderr)
		}
		var doc map[string]any
		if err := json.Unmarshal([]byte(stdout), &doc); err != nil {
			t.Fatalf("%s: %v", command, err)
		}
		for _, path := range []string{
			"schema", "inputs.workload", "inputs.network", "inputs.machine", "inputs.seed", "inputs.parameters",
			"graph.ranks", "graph.operations", "graph.messages", "graph.message_bytes", "graph.collectives",
			"runs.model", "runs.makespan_ps", "runs.events", "runs.packets", "runs.wall_ns", "runs.ranks.rank", "runs.ranks.finish_ps",
			"runs.ranks.compute_ps", "runs.ranks.communication_ps", "runs.ranks.exposed_ps", "metrics",
			"operations.where", "operations.kind", "operations.name", "operations.count", "operations.ranks", "operations.total_ps",
			"operations.mean_ps", "operations.error", "collectives.type", "collectives.algorithm", "collectives.group_size",
			"collectives.bytes", "collectives.transfers", "collectives.transfer_bytes", "collectives.count", "collectives.lower_bound_ps",
			"collectives.error", "findings",
		} {
			if !has(doc, path) {
				t.Errorf("%s: no key %s", command, path)
			}
		}
		if doc["schema"] != "hybrid/compare/v1" {
			t.Errorf("%s: schema %v", command, doc["schema"])
		}
	}
}

// has follows a path of keys; of a list it looks at the first element.
func has(v any, path string) bool {
	for key := range strings.SplitSeq(path, ".") {
		if list, ok := v.([]any); ok && len(list) > 0 {
			v = list[0]
		}
		object, ok := v.(map[string]any)
		if !ok {
			return false
		}
		if v, ok = object[key]; !ok {
			return false
		}
	}
	return true
}

// Wall-clock times are the only thing in a report that may differ between two runs.
func TestSameBytes(t *testing.T) {
	for _, format := range []string{"text", "csv"} {
		_, first, _ := invoke(t.Context(), "", "compare", "-q", "-o", format, "--cores", "1")
		_, second, _ := invoke(t.Context(), "", "compare", "-q", "-o", format, "--cores", "4")
		if diff := cmp.Diff(first, second); diff != "" || first == "" {
			t.Errorf("-o %s differs between two runs:\n%s", format, diff)
		}
	}
}

func TestSniff(t *testing.T) {
	for _, test := range []struct {
		text string
		want content
	}{
		{"", unknownContent},
		{"blueprint \"x\"\nranks 2\n", blueprintContent},
		{"// levels: {}\nranks 2\n", blueprintContent},
		{"param n: int = 4\nranks n\n", blueprintContent},
		{"# a network\n\nname: x\nlevels: {}\n", networkContent},
		{"---\nfabric:\n  mtu: 4096B\n", networkContent},
		{"kerncraft version: 0.8\nclock: 2.4 GHz\n", machineContent},
		{"num_ranks 2\nrank 0 {\n", goalContent},
		{"{\"0\": [0, 1]}", jsonContent},
		{"# rank server\n0, 0\n1, 1\n", mappingContent},
		{"\x00\x01\x02binary", unknownContent},
	} {
		if got := sniff([]byte(test.text)); got != test.want {
			t.Errorf("%q is taken for %s, not %s", test.text, got, test.want)
		}
	}
}

func TestPlacementFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "placement")
	for text, want := range map[string][]int32{"0 0\n1,1 # two nodes\n": {0, 0, 1, 1}, "# none\n": nil} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		got, err := readPlacement(path)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%q: %v %s", text, err, diff)
		}
	}
	for _, text := range []string{"0 x", "-1", "0 99999999999"} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := readPlacement(path); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}

// Errors get room before warnings, whatever their order in the files.
func TestMaxErrorsKeepsErrors(t *testing.T) {
	var out bytes.Buffer
	a := &app{stderr: &out, sources: newSources(), global: globalOptions{color: "never", maxErrors: 2}}
	var list diag.List
	for line := range 5 {
		list.Warnf("W402", diag.Pos{File: "a", Line: line + 1}, "a warning")
	}
	list.Errorf("E402", diag.Pos{File: "b", Line: 1}, "the error")
	a.render(&list)
	want := "a:1: warning: a warning [W402]\nb:1: error: the error [E402]\nand 4 more findings; --max-errors 6 shows them\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}

func TestColor(t *testing.T) {
	var out bytes.Buffer
	for _, test := range []struct {
		flag, noColor, force string
		want                 bool
	}{
		{"auto", "", "", false}, {"always", "1", "", true}, {"never", "", "1", false}, {"auto", "", "1", true}, {"auto", "1", "1", false},
	} {
		t.Setenv("CLICOLOR_FORCE", test.force)
		t.Setenv("TERM", "xterm")
		t.Setenv("NO_COLOR", test.noColor)
		if test.noColor == "" {
			os.Unsetenv("NO_COLOR")
		}
		a := &app{global: globalOptions{color: test.flag}}
		if got := a.colored(&out); got != test.want {
			t.Errorf("%+v: colour %v", test, got)
		}
	}
}

// Every code that the program can print is explained, once.
func TestCodesAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range diag.Codes() {
		if seen[c.Code] {
			t.Errorf("code %s stands twice in the table", c.Code)
		}
		seen[c.Code] = true
		if c.Title == "" || c.Doc == "" {
			t.Errorf("code %s is not explained", c.Code)
		}
	}
}
