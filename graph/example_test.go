package graph_test

import (
	"fmt"
	"os"

	"hybrid/graph"
	"hybrid/internal/diag"
)

// A ping-pong of two ranks, repeated a hundred thousand times: the loop is one
// operation.
func Example() {
	b := graph.NewBuilder("pingpong", graph.Blueprint, 2)
	at := func(line int, k graph.Kind) int32 {
		return b.Site(graph.Site{Pos: diag.Pos{File: "pingpong.hbp", Line: line}, Kind: k})
	}
	for rank := range int64(2) {
		r := b.Rank(int(rank), false)
		r.BeginLoop(at(1, graph.Loop), r.Int(100_000))
		send := graph.Op{Kind: graph.Send, Site: at(2+int(rank), graph.Send), Label: -1, Peer: r.Int(1 - rank), Size: r.Int(8)}
		recv := graph.Op{Kind: graph.Recv, Site: at(3-int(rank), graph.Recv), Label: -1, Peer: r.Int(1 - rank), Size: r.Int(8)}
		if rank == 0 {
			r.Op(send)
			r.Op(recv)
		} else {
			r.Op(recv)
			r.Op(send)
		}
		r.EndLoop(at(4, graph.End))
		r.Done()
	}
	g, err := b.Finish()
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := graph.WriteText(os.Stdout, g); err != nil {
		fmt.Println(err)
	}
	// Output:
	// graph pingpong: blueprint, 2 ranks, 2 programs
	// group 0 world: 0, 1
	//
	// program 0: ranks 0, thread
	//   0 loop 100000 counter 0
	//   1   send 8B to 1  ; pingpong.hbp:2
	//   2   recv 8B from 1  ; pingpong.hbp:3
	//   3 end
	//
	// program 1: ranks 1, thread
	//   0 loop 100000 counter 0
	//   1   recv 8B from 0  ; pingpong.hbp:2
	//   2   send 8B to 0  ; pingpong.hbp:3
	//   3 end
}
