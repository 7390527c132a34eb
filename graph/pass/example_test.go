package pass_test

import (
	"fmt"

	"hybrid/graph"
	"hybrid/graph/pass"
	"hybrid/internal/diag"
)

// A flag chooses an algorithm that does not fit six ranks.
func ExampleRun() {
	b := graph.NewBuilder("six", graph.Blueprint, 6)
	site := b.Site(graph.Site{Pos: diag.Pos{File: "six.hbp", Line: 3, Col: 1}})
	for rank := range 6 {
		r := b.Rank(rank, false)
		r.Op(graph.Op{Kind: graph.Collective, Site: site, Label: -1, Size: r.Int(8), Arg: r.Call(graph.Call{Type: graph.AllReduce})})
		r.Done()
	}
	g, err := b.Finish()
	if err != nil {
		fmt.Println(err)
		return
	}
	var list diag.List
	fmt.Println(pass.Run(g, pass.Options{Algorithms: map[string]string{"allreduce": "halving-doubling"}}, "", &list))
	// Output:
	// six.hbp:3:1: error: allreduce halving-doubling over world needs a group whose size is a power of two, not 6 [E303]
}
