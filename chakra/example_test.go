package chakra_test

import (
	"fmt"
	"os"
	"path/filepath"

	"hybrid/chakra"
	"hybrid/internal/diag"
)

func ExampleLoad() {
	var list diag.List
	g := chakra.Load("../testdata/traces/ring", chakra.Options{}, &list)
	fmt.Println(g.Name, g.Ranks, "ranks,", len(g.Programs), "program")
	for _, s := range g.Sites {
		fmt.Println(s.Where(), s.Text)
	}
	// Output:
	// ring 4 ranks, 1 program
	// ring.0.et: node 1 "COMP" COMP_NODE
	// ring.0.et: node 2 "SEND" COMM_SEND_NODE
	// ring.0.et: node 3 "RECV" COMM_RECV_NODE
}

func ExampleEncoder() {
	dir, err := os.MkdirTemp("", "trace")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	f, err := os.Create(filepath.Join(dir, "job.0.et"))
	if err != nil {
		panic(err)
	}
	e := chakra.NewEncoder(f)
	e.Metadata("1.0.0")
	e.Node(&chakra.Node{ID: 1, Name: "gemm", Type: chakra.CompNode, DurationMicros: 25})
	e.Node(&chakra.Node{ID: 2, Name: "gradients", Type: chakra.CommCollNode, DataDeps: []uint64{1},
		Attrs: []chakra.Attr{chakra.Int64("comm_type", 0), chakra.Int64("comm_size", 1<<20)}})
	fmt.Println(e.Err(), f.Close())
	var list diag.List
	g := chakra.Load(dir, chakra.Options{}, &list)
	fmt.Println(len(g.Programs[0].Ops), "operations, the second is", g.Sites[1].Text)
	// Output:
	// <nil> <nil>
	// 2 operations, the second is ALL_REDUCE 1MiB
}
