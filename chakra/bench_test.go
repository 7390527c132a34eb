package chakra

import (
	"bytes"
	"fmt"
	"testing"
)

// benchFile encodes n nodes: small ones like a simulation trace's, or large ones
// with sixteen attributes like those of a PyTorch trace.
func benchFile(n int, large bool) []byte {
	var b bytes.Buffer
	e := NewEncoder(&b)
	e.Metadata("0.0.4")
	for i := range n {
		node := Node{ID: uint64(i), Name: fmt.Sprintf("COMM_SEND_NODE_%d", i), Type: CommSendNode, Attrs: []Attr{
			Int64("comm_size", 131072), Int32("comm_tag", 0), Int32("comm_dst", 0), Bool("is_cpu_op", false)}}
		if i > 0 {
			node.DataDeps = []uint64{uint64(i - 1)}
		}
		if large {
			node.Inputs = "[[4, 5, 0, 1024, 4, 'cuda:0'], [6, 7, 0, 1024, 4, 'cuda:0'], False]"
			for k := range 10 {
				node.Attrs = append(node.Attrs, Int64(fmt.Sprintf("attribute_%d", k), int64(i)))
			}
			node.Attrs = append(node.Attrs, String("op_schema", "aten::mul.Tensor(Tensor self, Tensor other) -> Tensor"), String("scope", "RECORD_FUNCTION"))
		}
		e.Node(&node)
	}
	return b.Bytes()
}

func BenchmarkDecode(b *testing.B) {
	const n = 100_000
	for _, large := range []bool{false, true} {
		data := benchFile(n, large)
		b.Run(fmt.Sprintf("bytes-per-node=%d", len(data)/n), func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			var t trace
			for b.Loop() {
				if err := t.decode(data, nil); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/node")
		})
	}
}

// BenchmarkLoad measures a set of 64 ranks from files to graph.
func BenchmarkLoad(b *testing.B) {
	const ranks, n = 64, 2_000
	data := benchFile(n, false)
	files := make([][]byte, ranks)
	for i := range files {
		files[i] = data
	}
	dir := writeSet(b, files...)
	b.ReportAllocs()
	for b.Loop() {
		mustLoad(b, dir, Options{})
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n*ranks), "ns/node")
}

// Decoding allocates for the file, not for its nodes.
func TestDecodeAllocations(t *testing.T) {
	small, large := benchFile(1000, true), benchFile(8000, true)
	allocs := func(data []byte) float64 {
		return testing.AllocsPerRun(3, func() {
			if _, err := decode(data, nil); err != nil {
				t.Fatal(err)
			}
		})
	}
	if a, b := allocs(small), allocs(large); b > a+32 {
		t.Errorf("%g allocations for 1000 nodes, %g for 8000", a, b)
	}
}
