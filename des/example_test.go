package des_test

import (
	"context"
	"fmt"

	"hybrid/des"
	"hybrid/graph"
	"hybrid/internal/diag"
	"hybrid/networks"
)

// Two ranks on the two sides of a switch: one sends 1 MiB, the other receives it.
func ExampleRun() {
	b := graph.NewBuilder("pair", graph.Chakra, 2)
	site := b.Site(graph.Site{Kind: graph.Send})
	for rank, kind := range []graph.Kind{graph.Send, graph.Recv} {
		r := b.Rank(rank, true)
		r.Op(graph.Op{Kind: kind, Site: site, Peer: r.Int(int64(1 - rank)), Size: r.Int(1 << 20), Flags: graph.Eager, Label: -1})
		r.Done()
	}
	g, err := b.Finish()
	if err != nil {
		fmt.Println(err)
		return
	}
	var list diag.List
	sets := []string{"topology.kind=star", "fabric.link.delay=500ns"}
	n := networks.Load("roce-leaf-spine-400g", sets, &list)
	if n == nil {
		fmt.Println(list.Err())
		return
	}
	place, err := networks.NewPlacement(g.Ranks, networks.PlacementOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	res, err := des.Run(context.Background(), des.Job{
		Graph: g, Network: n, Placement: place, Topology: n.Topology(place.Nodes, &list), Threads: 1,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s after %d ps, %d packet-hops\n", res.Verdict.Outcome, res.Clock.PS(res.Makespan), res.PacketHops)
	// Output: finished after 22475560 ps, 544 packet-hops
}
