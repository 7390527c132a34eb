package dsel

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"hybrid/graph/replay"
)

// matched draws a statement that every rank executes and whose messages fit by
// construction, whatever the protocol.
func matched(t *rapid.T, depth, id int) string {
	size := "8B * (1 + rank)"
	if depth > 0 {
		size = "8B * (1 + rank) + 1B * " + loopName(rapid.IntRange(0, depth-1).Draw(t, "variable"))
	}
	how := rapid.SampledFrom([]string{"", " stream s", " stream u"}).Draw(t, "stream")
	d := rapid.IntRange(0, 6).Draw(t, "distance")
	name := fmt.Sprintf("@m%d", id)
	switch rapid.IntRange(0, 8).Draw(t, "statement") {
	case 0:
		return "halo G [x: 64B, y: 32B]" + how + "\n"
	case 1: // the receiver computes the sender's size
		return "exchange " + size + " + 1B * peer with [mod(rank + " + fmt.Sprint(d) + ", ranks), mod(rank - " + fmt.Sprint(d) + ", ranks)]" + how + "\n"
	case 2:
		return fmt.Sprintf("sendrecv 8B to mod(rank + %d, ranks) from mod(rank - %d, ranks) tag %d%s\n", d, d, d, how)
	case 3:
		return "alltoallv " + size + " + 1B * peer over G[y]" + rapid.SampledFrom([]string{"", " algo sequential", " algo pairwise"}).Draw(t, "algo") + "\n"
	case 4:
		return fmt.Sprintf("transfer %dB from %d to mod(%d, ranks)\n", d, rapid.IntRange(0, 5).Draw(t, "from"), d)
	case 5:
		return "allreduce 8B over G[x] algo ring" + how + "\n"
	case 6:
		return name + " async halo G [y: 8B]\ncompute 1us\nwait " + name + "\n"
	case 7:
		return "par { halo G [x: 8B]; exchange 4B with [mod(3 - rank, ranks)]; compute 1us }\n"
	}
	if depth >= 2 {
		return "barrier algo tree\n"
	}
	body := ""
	for k := range rapid.IntRange(1, 3).Draw(t, "statements") {
		body += matched(t, depth+1, 10*id+k)
	}
	return "repeat 2 as " + loopName(depth) + " {\n" + body + "}\n"
}

// TestGlobalStatementsMatch: statements that write both ends of their messages
// leave no message without its receive, no size that differs and no deadlock, also
// where no send leaves without its receive.
func TestGlobalStatementsMatch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := "ranks 6\nstream s\nstream u\ngrid G axes y = 2 periodic, x = 3\nprogram {\n"
		for k := range rapid.IntRange(1, 5).Draw(t, "statements") {
			src += matched(t, 0, k+1)
		}
		g := priced(loadText(t, "m.hbp", src+"}\n"))
		r := replay.Check(g, replay.CheckOptions{AllRendezvous: true})
		if !r.OK() || !r.Complete || len(r.Differing) > 0 {
			t.Fatalf("%v, truncated %v, differing %v, calls %v\n%s", r.Verdict, r.Truncated, r.Differing, r.Calls, src)
		}
	})
}
