package dsel

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hybrid/graph"
	algorithms "hybrid/graph/collective"
	"hybrid/graph/replay"
	"hybrid/internal/diag"
)

// transfersOf runs a rank alone, operations ending in the order in which they start,
// and lists its transfers: ">1:8" sends 8 B to rank 1, "<1:8" receives.
func transfersOf(t *testing.T, src string, rank int) string {
	t.Helper()
	g := priced(loadText(t, "v.hbp", src))
	c := replay.NewCursor(replay.Config{Graph: g}, algorithms.NewTable(), rank)
	held := c.Start(0, nil)
	var out []string
	for now := int64(1); len(held) > 0; now++ {
		is := held[0]
		if is.Kind == graph.Send || is.Kind == graph.Recv {
			out = append(out, fmt.Sprintf("%s%d:%d", map[bool]string{true: ">", false: "<"}[is.Kind == graph.Send], is.Peer, is.Bytes))
		}
		held = append(held[1:], c.Done(is.Handle, now, nil)...)
	}
	if c.Err() != nil || !c.Finished() {
		t.Fatalf("rank %d: %v", rank, c.Err())
	}
	return strings.Join(out, " ")
}

// TestAlltoallv: what rank 2 of four sends and receives. The sender's rank and the
// receiver's position decide a size on both sides: in the world, rank r sends
// 10*r + p bytes to position p; over the pair [3, 2], where rank 3 has position 0, rank
// 2 sends 20 and receives 30 + 1.
func TestAlltoallv(t *testing.T) {
	for src, want := range map[string]string{
		// Receives from 1, 0, 3 (s = 1, 2, 3 places before), then sends to 3, 0, 1.
		"alltoallv 10B * rank + 1B * peer":                         "<1:12 <0:2 <3:32 >3:23 >0:20 >1:21",
		"alltoallv 10B * rank + 1B * peer algo direct":             "<1:12 <0:2 <3:32 >3:23 >0:20 >1:21",
		"alltoallv 10B * rank + 1B * peer algo sequential":         "<1:12 <0:2 <3:32 >3:23 >0:20 >1:21",
		"async alltoallv 10B * rank + 1B * peer algo sequential":   "<1:12 <0:2 <3:32 >3:23 >0:20 >1:21",
		"par { alltoallv 10B * rank + 1B * peer algo sequential }": "<1:12 <0:2 <3:32 >3:23 >0:20 >1:21",
		"alltoallv 10B * rank + 1B * peer algo pairwise":           ">3:23 <3:32 >0:20 <0:2 >1:21 <1:12",
		"on [3, 2] { alltoallv 10B * rank + 1B * peer over pair }": "<3:31 >3:20",
		"alltoallv 0B": "<1:0 <0:0 <3:0 >3:0 >0:0 >1:0",
		"repeat 2 as i { on [3, 2] { alltoallv 1B * (rank + i) over pair }}": "<3:3 >3:2 <3:4 >3:3",
		// Both are reached, with i = 0 and 1, before the first can start.
		"@a async compute 1us\nrepeat 2 as i { on [3, 2] { async alltoallv 1B * (rank + i) over pair after @a }}": "<3:3 >3:2 <3:4 >3:3",
	} {
		got := transfersOf(t, "ranks 4\ngroup pair = [3, 2]\nprogram {\n"+src+"\n}\n", 2)
		if got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", src, got, want)
		}
	}
}

// TestAlltoallvFaults: sizes that are no sizes are found before the run where they
// hang on no loop, once for a place, and when the transfer starts otherwise.
func TestAlltoallvFaults(t *testing.T) {
	for src, want := range map[string]string{
		"alltoallv 8B * (1 - peer)":              "3:11 E222 size is negative: -8 bytes",
		"alltoallv 8B * peer / 3":                "3:11 E221 size is 2.6666666666666665 bytes, not a whole number",
		"alltoallv 8":                            "3:11 E220 a size in bytes is expected here, not a whole number",
		"alltoallv":                              "3:1 E240 alltoallv needs a size, which may use peer",
		"repeat 3 as i { alltoallv 8B * (1-i) }": "",
	} {
		list := &diag.List{}
		g := Load("f.hbp", []byte("ranks 4\nprogram {\n"+src+"\n}\n"), Options{}, list)
		got := ""
		if all := list.All(); len(all) > 0 {
			got = fmt.Sprintf("%d:%d %s %s", all[0].Pos.Line, all[0].Pos.Col, all[0].Code, all[0].Message)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", src, d)
		}
		if want != "" {
			continue
		}
		if g == nil {
			t.Fatal("no graph")
		}
		r := replay.Check(g, replay.CheckOptions{})
		if d := cmp.Diff("3:27 E222 size is negative: -8 bytes", failure(&r.Verdict)); d != "" {
			t.Errorf("%s: %s", src, d)
		}
	}
}

// failure is the first error of a run.
func failure(v *replay.Verdict) string {
	if len(v.Errors) == 0 {
		return v.Outcome.String()
	}
	d, ok := v.Errors[0].(diag.Diagnostic)
	if !ok {
		return fmt.Sprint(v.Errors[0])
	}
	return fmt.Sprintf("%d:%d %s %s", d.Pos.Line, d.Pos.Col, d.Code, d.Message)
}
