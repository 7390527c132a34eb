package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestREADME runs the commands in the console blocks of README.md, in the root of the
// repository, and compares what they print on standard output with what stands there.
// `| head -N` may end a command. HYBRID_UPDATE=1 rewrites the blocks.
func TestREADME(t *testing.T) {
	path := filepath.Join(root(t), "README.md")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(root(t))
	var out bytes.Buffer
	ran := 0
	rest := string(text)
	for {
		before, after, ok := strings.Cut(rest, "```console\n")
		out.WriteString(before)
		if !ok {
			break
		}
		block, tail, ok := strings.Cut(after, "```\n")
		if !ok {
			t.Fatal("a console block does not end")
		}
		fmt.Fprintf(&out, "```console\n%s```\n", rerun(t, block, &ran))
		rest = tail
	}
	if ran == 0 {
		t.Fatal("README.md has no command to run")
	}
	if os.Getenv("HYBRID_UPDATE") != "" {
		if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(text), out.String()); diff != "" {
		t.Errorf("README.md does not show what the program prints (HYBRID_UPDATE=1 rewrites it):\n%s", diff)
	}
}

// rerun returns the block with what its commands print now.
func rerun(t *testing.T, block string, ran *int) string {
	t.Helper()
	var out strings.Builder
	for line := range strings.Lines(block) {
		command, ok := strings.CutPrefix(line, "$ ")
		if !ok {
			continue // output of the time of writing
		}
		out.WriteString(line)
		args, head := parseCommand(t, strings.TrimSpace(command))
		_, stdout, stderr := invoke(t.Context(), "", args...)
		if stdout == "" {
			t.Errorf("%sprints nothing: %s", line, stderr)
		}
		for i, l := range strings.SplitAfter(stdout, "\n") {
			if head == 0 || i < head {
				out.WriteString(l)
			}
		}
		*ran++
	}
	return out.String()
}

// parseCommand splits a command line of hybrid, installed or run by go. A word may stand in
// single quotes.
func parseCommand(t *testing.T, command string) (args []string, head int) {
	t.Helper()
	command, filter, piped := strings.Cut(command, " | head -")
	if piped {
		n, err := strconv.Atoi(filter)
		if err != nil {
			t.Fatalf("%q is not a number of lines", filter)
		}
		head = n
	}
	if rest, ok := strings.CutPrefix(command, "go run ./cmd/hybrid"); ok {
		command = "hybrid" + rest
	}
	for i, part := range strings.Split(command, "'") {
		if i%2 == 1 { // between quotes
			args = append(args, part)
		} else {
			args = append(args, strings.Fields(part)...)
		}
	}
	if len(args) == 0 || args[0] != "hybrid" || strings.Contains(command, `"`) || strings.Count(command, "'")%2 == 1 {
		t.Fatalf("cannot run %q", command)
	}
	return args[1:], head
}
