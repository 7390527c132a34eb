package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hybrid/chakra"
)

// writeTrace writes the trace of one rank into a folder.
func writeTrace(t testing.TB, dir string, rank int, nodes ...chakra.Node) {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, fmt.Sprintf("t.%d.et", rank)))
	if err != nil {
		t.Fatal(err)
	}
	e := chakra.NewEncoder(f)
	e.Metadata("0.0.4")
	for i := range nodes {
		e.Node(&nodes[i])
	}
	if err := e.Err(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// faulty is a trace of one rank with three warnings when it is read: a collective without
// a size, one without a type, and an attribute that is a text.
func faulty(t *testing.T) string {
	dir := t.TempDir()
	writeTrace(t, dir, 0,
		chakra.Node{ID: 1, Name: "a", Type: chakra.CommCollNode, Attrs: []chakra.Attr{chakra.Int64("comm_type", 0)}},
		chakra.Node{ID: 2, Name: "b", Type: chakra.CommCollNode, Attrs: []chakra.Attr{chakra.Int64("comm_size", 8)}},
		chakra.Node{ID: 3, Name: "c", Type: chakra.CompNode, DurationMicros: 1, Attrs: []chakra.Attr{chakra.String("is_cpu_op", "1")}})
	return dir
}

// TestMaxWarnings: each step keeps so many warnings; what is beyond is dropped with a
// remark at the end, and does not count for --abort-on-warning.
func TestMaxWarnings(t *testing.T) {
	const (
		size  = `t.0.et: node 1 "a": warning: has no comm_size and is not expanded; it takes its recorded duration [W701]`
		typ   = `t.0.et: node 2 "b": warning: has no comm_type and is not expanded; it takes its recorded duration [W701]`
		text  = `t.0.et: node 3 "c": warning: the attribute is_cpu_op is a string, read as the number 1 [W705]`
		abort = "error: a warning stops the preparation, as --abort-on-warning asks [E407]"
		note  = "; --max-warnings says how many a step may have [W410]"
	)
	dropped := func(n int) string {
		return fmt.Sprintf("warning: and %d more warnings of step read were dropped", n) + note
	}
	for _, c := range []struct {
		name   string
		flags  []string
		status int
		want   []string
	}{
		{"all", nil, exitDone, []string{size, typ, text}},
		{"one", []string{"--max-warnings", "1"}, exitDone, []string{text, dropped(2)}},
		{"none", []string{"--max-warnings", "0"}, exitDone, []string{dropped(3)}},
		{"quiet", []string{"--max-warnings", "1", "-q"}, exitDone, nil},
		{"abort", []string{"--abort-on-warning"}, exitFailed, []string{abort, size, typ, text}},
		{"abort with one", []string{"--abort-on-warning", "--max-warnings", "1"}, exitFailed, []string{abort, text, dropped(2)}},
		// Nothing is kept, so nothing stops the run.
		{"abort with none", []string{"--abort-on-warning", "--max-warnings", "0"}, exitDone, []string{dropped(3)}},
		// What is printed is another matter.
		{"printed", []string{"--abort-on-warning", "--max-errors", "1"}, exitFailed, []string{abort, "and 3 more findings; --max-errors 4 shows them"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := faulty(t)
			status, stdout, stderr := invoke(t.Context(), "", append([]string{"predict", dir, "--models", "hockney"}, c.flags...)...)
			var got []string
			for line := range strings.Lines(stderr) {
				if line = strings.TrimSuffix(line, "\n"); !strings.HasPrefix(line, "      = ") {
					got = append(got, line)
				}
			}
			if d := cmp.Diff(c.want, got); d != "" || status != c.status {
				t.Errorf("status %d, want %d\n%s", status, c.status, d)
			}
			if (stdout == "") != (status == exitFailed) {
				t.Errorf("status %d, but the report is %q", status, stdout)
			}
		})
	}
}

func TestMaxWarningsUsage(t *testing.T) {
	for _, n := range []string{"-1", "40001", "many"} {
		status, _, stderr := invoke(t.Context(), "", "predict", faulty(t), "--max-warnings", n)
		if status != exitUsage || !strings.Contains(stderr, "--max-warnings") {
			t.Errorf("%s: status %d: %s", n, status, stderr)
		}
	}
	if status, _, stderr := invoke(t.Context(), "", "predict", "-q", faulty(t), "--max-warnings", "40000"); status != exitDone {
		t.Errorf("status %d: %s", status, stderr)
	}
}

// TestBarrierInTraces: rank 0 broadcasts and then sends, rank 1 receives that and then
// takes part. The barrier of synchronization closes a circle; the message says so.
func TestBarrierInTraces(t *testing.T) {
	dir := t.TempDir()
	bcast := func(id uint64, deps ...uint64) chakra.Node {
		return chakra.Node{ID: id, Name: "w", Type: chakra.CommCollNode, DataDeps: deps,
			Attrs: []chakra.Attr{chakra.Int64("comm_type", 5), chakra.Int64("comm_size", 8)}}
	}
	transfer := func(id uint64, typ chakra.NodeType, deps ...uint64) chakra.Node {
		return chakra.Node{ID: id, Name: "p", Type: typ, DataDeps: deps,
			Attrs: []chakra.Attr{chakra.Int32("comm_src", 0), chakra.Int32("comm_dst", 1), chakra.Int32("comm_tag", 1), chakra.Int64("comm_size", 8)}}
	}
	writeTrace(t, dir, 0, bcast(1), transfer(2, chakra.CommSendNode, 1))
	writeTrace(t, dir, 1, transfer(1, chakra.CommRecvNode), bcast(2, 1))
	if status, _, stderr := invoke(t.Context(), "", "simulate", "--network", "ideal", dir, "--synchronize=false"); status != exitDone {
		t.Errorf("without barriers: status %d: %s", status, stderr)
	}
	status, _, stderr := invoke(t.Context(), "", "simulate", "--network", "ideal", dir)
	for _, want := range []string{
		"the barrier that synchronization puts before BROADCAST 8B is never passed: rank 0 waits in it for 1, 1 for 0 [W411]",
		"--synchronize=false leaves the barriers out", "[E501]",
	} {
		if status != exitFailed || !strings.Contains(stderr, want) {
			t.Errorf("status %d, no %q in\n%s", status, want, stderr)
		}
	}
}

// TestOrderingInBlueprints: the same in a blueprint, and with asynchronous collectives a
// circle that serialization closes: rank 0's first waits for what rank 1 sends after its
// second.
func TestOrderingInBlueprints(t *testing.T) {
	const barrier = "ranks 2\nprogram {\n  on 0 { bcast 8B root 0\n send 8B to 1 }\n  on 1 { recv 8B from 0\n bcast 8B root 0 }\n}\n"
	const order = "ranks 2\nprogram {\n  on 0 { @r irecv 8B from 1\n async allreduce 8B after @r\n allreduce 8B }\n" +
		"  on 1 { async allreduce 8B\n allreduce 8B\n send 8B to 0 }\n}\n"
	for _, c := range []struct{ text, flag string }{{barrier, "--synchronize"}, {order, "--serialize"}} {
		if status, _, stderr := invoke(t.Context(), c.text, "predict", "-"); status != exitDone {
			t.Errorf("without %s: status %d: %s", c.flag, status, stderr)
		}
		status, _, stderr := invoke(t.Context(), c.text, "predict", "-", c.flag)
		want := "the order that " + c.flag + " asks for keeps the program from ending: without it there is no deadlock [W411]"
		if status != exitFailed || !strings.Contains(stderr, want) {
			t.Errorf("status %d, no %q in\n%s", status, want, stderr)
		}
	}
}
