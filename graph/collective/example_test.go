package collective_test

import (
	"fmt"

	"hybrid/graph"
	"hybrid/graph/collective"
)

// The part of rank 2 in a ring all-reduce of 1000 B over 4 ranks.
func Example() {
	alg := collective.NewTable().Find(graph.AllReduce, "ring")
	call := collective.Call{N: 4, Me: 2, Bytes: 1000}
	for i := range alg.Len(&call) {
		s := alg.At(&call, i)
		verb, way := "receive", "from"
		if s.Send {
			verb, way = "send", "to"
		}
		fmt.Printf("step %d: %s %d B %s %d, after steps [%d,%d)\n", i, verb, s.Bytes, way, s.Peer, s.Lo, s.Hi)
		if i == 3 {
			break
		}
	}
	transfers, bytes := collective.Totals(alg, 4, 0, 1000)
	fmt.Println(transfers, "transfers,", bytes, "B")
	// Output:
	// step 0: send 250 B to 3, after steps [0,0)
	// step 1: receive 250 B from 1, after steps [0,0)
	// step 2: send 250 B to 3, after steps [1,2)
	// step 3: receive 250 B from 1, after steps [1,2)
	// 24 transfers, 6000 B
}
