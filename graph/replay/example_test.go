package replay_test

import (
	"fmt"

	"hybrid/graph"
	"hybrid/graph/replay"
	"hybrid/internal/diag"
)

// Four ranks that send before they receive: fine below the eager limit, a deadlock
// above it.
func ExampleCheck() {
	ring := func(bytes int64) *graph.Graph {
		b := graph.NewBuilder("ring", graph.Blueprint, 4)
		site := b.Site(graph.Site{Pos: diag.Pos{File: "ring.hbp", Line: 2}})
		for rank := range int64(4) {
			r := b.Rank(int(rank), false)
			r.Op(graph.Op{Kind: graph.Send, Site: site, Label: -1, Peer: r.Int((rank + 1) % 4), Size: r.Int(bytes)})
			r.Op(graph.Op{Kind: graph.Recv, Site: site, Label: -1, Peer: r.Int((rank + 3) % 4), Size: r.Int(bytes)})
			r.Done()
		}
		g, err := b.Finish()
		if err != nil {
			panic(err)
		}
		return g
	}
	limit := func(_, _ int32) int64 { return 65535 }
	for _, bytes := range []int64{8, 65536} {
		var list diag.List
		g := ring(bytes)
		result := replay.Check(g, replay.CheckOptions{EagerLimit: limit})
		replay.ReportCheck(g, result, &list)
		fmt.Println(bytes, "B:", result.Verdict.Outcome)
		for _, d := range list.All() {
			if d.Severity == diag.Error {
				fmt.Println(d.Error())
			}
		}
	}
	// Output:
	// 8 B: finished
	// 65536 B: deadlock
	// ring.hbp:2: error: deadlock at 65536 B (eager limit 65535 B): 0 waits in send to 1, 1 in send to 2, 2 in send to 3, 3 in send to 0 [E501]
}
