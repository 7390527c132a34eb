package analytic_test

import (
	"fmt"

	"hybrid/analytic"
	"hybrid/graph"
	"hybrid/internal/units"
	"hybrid/networks"
)

// A ring all-reduce of 1 MiB on eight ranks, 2 us and 12.5 GB/s: fourteen messages of
// 128 KiB one after the other, and the least that any algorithm needs.
func ExampleClosedForm() {
	level := &networks.Level{EagerLimit: 64 << 10, Hockney: []networks.HockneyPiece{{Latency: 2_000_000, PerByte: units.Int(80)}}}
	t, _ := analytic.ClosedForm("hockney", graph.AllReduce, "ring", 8, 1<<20, level)
	least, _ := analytic.LowerBound(graph.AllReduce, 8, 1<<20, 2_000_000, units.Int(80))
	fmt.Println(units.FormatPS(t), units.FormatPS(least))
	// Output: 174.801 us 148.801 us
}

// What 400 Gbit/s, 20 ps a byte, leave the same all-reduce: each rank's link carries
// twice 7/8 MiB.
func ExampleIdeal() {
	t, _ := analytic.Ideal(graph.AllReduce, "ring", 8, 1<<20, units.Int(20))
	fmt.Println(units.FormatPS(t))
	// Output: 36.700 us
}

func ExampleModels() {
	for _, m := range analytic.Models() {
		fmt.Println(m.Name)
	}
	// Output:
	// hockney
	// loggp
}
