package main

import (
	"runtime"
	"testing"

	"hybrid/chakra"
)

// ringTraces are the traces of an AllReduce of 1 MiB over n ranks: with the ring
// 2 n (n-1) transfers.
func ringTraces(t testing.TB, n int) string {
	dir := t.TempDir()
	for rank := range n {
		writeTrace(t, dir, rank, chakra.Node{ID: 1, Name: "ar", Type: chakra.CommCollNode,
			Attrs: []chakra.Attr{chakra.Int64("comm_type", 0), chakra.Int64("comm_size", 1<<20)}})
	}
	return dir
}

// allocated returns the bytes that f allocates in all, which bounds what it ever holds.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestPreparationMemory: preparing 1,024 traces with 2,095,104 transfers between them
// allocates less than 50 MB in all, so that it never holds as much.
func TestPreparationMemory(t *testing.T) {
	dir := ringTraces(t, 1024)
	n := allocated(func() {
		if status, _, stderr := invoke(t.Context(), "", "graph", dir); status != exitDone {
			t.Errorf("status %d: %s", status, stderr)
		}
	})
	if n > 50_000_000 {
		t.Errorf("%d bytes", n)
	}
	t.Logf("%d bytes", n)
}

// BenchmarkPreparation prepares the traces of a ring over 1,024 ranks; with expand the
// 4,194,304 nodes of all transfers are written out, too.
func BenchmarkPreparation(b *testing.B) {
	dir := ringTraces(b, 1024)
	for _, c := range []struct {
		name string
		args []string
	}{{"out=none", []string{"graph", dir}}, {"out=json", []string{"graph", dir, "-o", "json", "--synchronize=false", "--out", "/dev/null"}}} {
		b.Run(c.name, func(b *testing.B) {
			var bytes uint64
			for b.Loop() {
				bytes += allocated(func() {
					if status, _, stderr := invoke(b.Context(), "", c.args...); status != exitDone {
						b.Fatal(stderr)
					}
				})
			}
			b.ReportMetric(float64(bytes)/float64(b.N), "B-allocated/op")
		})
	}
}
