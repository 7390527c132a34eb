package report_test

import (
	"fmt"
	"os"

	"hybrid/graph"
	"hybrid/graph/replay"
	"hybrid/internal/diag"
	"hybrid/internal/units"
	"hybrid/report"
)

// Two runs of a program with one computation, laid side by side.
func Example() {
	b := graph.NewBuilder("one", graph.Blueprint, 1)
	b.Site(graph.Site{Pos: diag.Pos{File: "one.hbp", Line: 3, Col: 13}, Kind: graph.Compute, Text: "compute 1us"})
	g, err := b.Finish()
	if err != nil {
		fmt.Println(err)
		return
	}
	run := func(model string, ps int64) *replay.Result {
		return &replay.Result{Model: model, Clock: units.PicosecondClock(), Makespan: ps, Operations: 1,
			Sites: []replay.SiteTimes{{Count: 1, Ranks: 1, Total: replay.Sum{Lo: uint64(ps)}}}}
	}
	c := report.New(report.Inputs{}, g, []*replay.Result{run("packet", 1_000_000), run("loggp", 900_000)}, nil, nil)
	fmt.Println(c.Sentence(1))
	if err := c.WriteCSV(os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// LogGP predicts 0.900 us where the packet simulation takes 1.000 us: 10.0 % too fast.
	// where,kind,name,text,count,ranks,packet_total_ps,packet_mean_ps,loggp_total_ps,loggp_mean_ps,loggp_error
	// one.hbp:3:13,compute,,compute 1us,1,1,1000000,1000000,900000,900000,-0.1
}
