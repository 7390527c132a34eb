package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hybrid/chakra"
)

// traceFolder writes one file for each rank and returns their folder.
func traceFolder(t *testing.T, ranks ...[]chakra.Node) string {
	t.Helper()
	dir := t.TempDir()
	for r, nodes := range ranks {
		var b bytes.Buffer
		e := chakra.NewEncoder(&b)
		e.Metadata("0.0.4")
		for i := range nodes {
			e.Node(&nodes[i])
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("x.%d.et", r)), b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// A rank none of whose nodes is ready ends at once, and others go on. Who waits for it
// waits for ever, and the run says so.
func TestBlockedRank(t *testing.T) {
	blocked := []chakra.Node{
		{ID: 1, Type: chakra.CommSendNode, DataDeps: []uint64{2}, Attrs: []chakra.Attr{chakra.Int64("comm_size", 8), chakra.Int64("comm_dst", 1)}},
		{ID: 2, Type: chakra.CompNode, DurationMicros: 3, DataDeps: []uint64{1}},
	}
	works := []chakra.Node{{ID: 1, Type: chakra.CompNode, DurationMicros: 5}}
	waits := []chakra.Node{{ID: 1, Type: chakra.CommRecvNode, Attrs: []chakra.Attr{chakra.Int64("comm_size", 8), chakra.Int64("comm_src", 0)}}}

	status, stdout, stderr := invoke(context.Background(), "", "compare", traceFolder(t, blocked, works, nil), "-o", "json")
	var doc struct {
		Runs []struct {
			Ranks []struct {
				Finish int64 `json:"finish_ps"`
			}
		}
	}
	if err := json.Unmarshal([]byte(stdout), &doc); err != nil || status != exitDone {
		t.Fatalf("status %d, %v, %s", status, err, stderr)
	}
	if !strings.Contains(stderr, "no node of rank 0 is ready at the start, so the rank ends at once: node 1 waits for node 2 waits for node 1 [W711]") {
		t.Errorf("no warning: %s", stderr)
	}
	for i, run := range doc.Runs {
		for r, want := range []int64{0, 5_000_000, 0} {
			if got := run.Ranks[r].Finish; got != want {
				t.Errorf("run %d: rank %d ends at %d ps, want %d", i, r, got, want)
			}
		}
	}
	if len(doc.Runs) != 3 {
		t.Errorf("%d runs", len(doc.Runs))
	}

	for _, flag := range []string{"--no-check=false", "--no-check"} {
		status, _, stderr = invoke(context.Background(), "", "simulate", traceFolder(t, blocked, waits), flag)
		if status != exitFailed || !strings.Contains(stderr, "[W711]") || !strings.Contains(stderr, "rank 0 -> 1, tag 0: 1 receive but no send [E401]") {
			t.Errorf("%s: status %d: %s", flag, status, stderr)
		}
	}
	status, _, stderr = invoke(context.Background(), "", "simulate", traceFolder(t, blocked, works), "--abort-on-warning")
	if status != exitFailed || !strings.Contains(stderr, "[E407]") {
		t.Errorf("--abort-on-warning: status %d: %s", status, stderr)
	}
}
