package analytic

import (
	"testing"

	"pgregory.net/rapid"

	"hybrid/graph"
	"hybrid/internal/units"
	"hybrid/networks"
)

// matrix gives the bytes from the sender's rank to the receiver's position.
type matrix [][]int64

func (m *matrix) Eval(e *graph.Env) (int64, error) { return (*m)[e.Rank][e.Peer], nil }
func (*matrix) String() string                     { return "matrix" }
func (*matrix) Varies() bool                       { return false }

func (m *matrix) size(src, dst int) int64 { return (*m)[src][dst] }

// alltoallv is one all-to-allv over all ranks.
func alltoallv(t fataler, algorithm string, m *matrix) *graph.Graph {
	b := newBuilder(len(*m))
	for r := range *m {
		p := b.rank(r, false)
		call := p.Call(graph.Call{Type: graph.AllToAllV, Algorithm: algorithm, Sizes: m})
		p.Op(graph.Op{Kind: graph.Collective, Site: p.site, Arg: call, Label: -1})
		p.Done()
	}
	return b.finish(t)
}

// The walk gives the closed form of an all-to-allv exactly, whatever its sizes.
func TestPairsClosedForms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, level := rapid.IntRange(1, 17).Draw(t, "N"), drawLevel(t)
		m := make(matrix, n)
		for i := range m {
			m[i] = rapid.SliceOfN(rapid.Int64Range(0, 1<<16), n, n).Draw(t, "sizes")
		}
		for _, algorithm := range []string{"interleaved", "sequential", "pairwise"} {
			want, ok := ClosedFormPairs(algorithm, n, m.size, level)
			r := run(t, "hockney", Job{Graph: alltoallv(t, algorithm, &m), Network: oneLevel(level)})
			if got := r.Clock.PS(r.Makespan); !ok || got != want {
				t.Fatalf("%s over %d ranks: walk %d ps, form %d ps, %v", algorithm, n, got, want, ok)
			}
		}
	})
}

// Three ranks at alpha = 1000 ps and beta = 1 ps a byte. Rank 0 sends 100 B to 1 and
// 700 B to 2, 1 sends 200 B to 2 and 300 B to 0, 2 sends 50 B to 0 and 10 B to 1.
func TestPairsWorked(t *testing.T) {
	level := &networks.Level{EagerLimit: 1 << 40, Hockney: []networks.HockneyPiece{{Latency: 1000, PerByte: units.Int(1)}}}
	m := &matrix{{0, 100, 700}, {300, 0, 200}, {50, 10, 0}}
	for algorithm, want := range map[string]int64{
		"interleaved": 1700,       // the longest message
		"sequential":  100 + 1700, // rank 0: its second send starts after 100
		// Step 1 (to the next): 0 waits for 50 B from 2: 1050; 1 for 100 B: 1100; 2 for 200 B: 1200.
		// Step 2: 0 has 300 B from 1 at 1100 + 1300 = 2400; 1 has 10 B from 2 at 1200 + 1010; 2 has 700 B from 0 at 1050 + 1700.
		"pairwise": 2750,
	} {
		if got, ok := ClosedFormPairs(algorithm, 3, m.size, level); !ok || got != want {
			t.Errorf("%s: %d, %v; want %d", algorithm, got, ok, want)
		}
	}
	limited := *level
	limited.EagerLimit = 699
	for name, ok := range map[string]bool{
		"beyond the eager limit": second(ClosedFormPairs("pairwise", 3, m.size, &limited)),
		"another algorithm":      second(ClosedFormPairs("bruck", 3, m.size, level)),
		"a negative size":        second(ClosedFormPairs("pairwise", 3, func(int, int) int64 { return -1 }, level)),
		"no parameters":          second(ClosedFormPairs("pairwise", 3, m.size, &networks.Level{})),
		"nobody":                 second(ClosedFormPairs("pairwise", 0, m.size, level)),
	} {
		if ok {
			t.Errorf("%s has a closed form", name)
		}
	}
}

func second(_ int64, ok bool) bool { return ok }
