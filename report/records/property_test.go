package records

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hybrid/graph"
	"hybrid/graph/replay"
	"hybrid/internal/units"
)

// drawTraces writes a random program of collectives, computations and joins in a chain
// of random form, the same on every rank.
func drawTraces(t *rapid.T, tb testing.TB) *graph.Graph {
	ranks := rapid.IntRange(1, 4).Draw(t, "ranks")
	steps := rapid.SliceOfN(rapid.IntRange(0, 5), 1, 8).Draw(t, "steps")
	size := rapid.Int64Range(0, 3000).Draw(t, "size")
	return traces(tb, ranks, func(m *maker) {
		k := int64(0)
		var last []int32
		for i, s := range steps {
			var op int32
			switch s {
			case 0:
				op = m.compute(m.rank+int64(i), 0, last...)
			case 1:
				op = m.join(last...)
			default:
				types := []graph.CollType{graph.AllReduce, graph.Broadcast, graph.Barrier, graph.AllToAll}
				algorithm := []string{"ring", "interleaved", "tree", "sequential"}
				op = m.collective(types[s-2], algorithm[s-2], k, size, graph.Synchronize, last...)
				k++
			}
			last = []int32{op}
			if i%3 == 2 && s < 2 {
				last = nil // what follows does not wait
			}
		}
	})
}

// In any run that finishes, chakra-perf has a row for each send of the stream in the
// order of time, chakra-completion-stats one for each rank, every collective is complete
// and ends after its latest start (or with it, where a receive starts last of all), fractions never fall and end at 1, and every node
// of the annotated traces has times and starts after what it waits for.
func TestRandomRuns(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := drawTraces(rt, t)
		p := &Platform{Hosts: g.Ranks}
		for i := range g.Ranks {
			p.HostOf = append(p.HostOf, int32(i))
			p.Nodes = append(p.Nodes, Node{"server-" + itoa(int64(i)), 3, int32(i)})
		}
		dir, err := os.MkdirTemp("", "records")
		if err != nil {
			rt.Fatal(err)
		}
		defer os.RemoveAll(dir)
		window := rapid.Int64Range(2e5, 5e6).Draw(rt, "window")
		interval := rapid.Int64Range(3e5, 1e7).Draw(rt, "interval")
		got := recordWith(t, g, p, Options{Dir: dir, Interval: interval}, window, units.Never, nil)
		e := run(g, units.Never)
		sends := 0
		for i := range e.events {
			if e.events[i].Kind == replay.Acked {
				sends++
			}
		}
		checkColumn(rt, body(got["test-chakra-perf-0.csv"]), 2, sends, false)
		checkColumn(rt, body(got["test-chakra-completion-stats-0.csv"]), 2, g.Ranks, false)
		for column := 1; column <= 5; column++ {
			checkColumn(rt, body(got["test-chakra-cdf-0.csv"]), column, -1, true)
		}
		for row := range strings.Lines(body(got["test-chakra-comm-collective-stats-0.csv"])) {
			if f := strings.Split(row, ","); float(rt, f[6]) < float(rt, f[5]) || f[8] != "1\n" {
				rt.Fatalf("collective %s", row)
			}
		}
		for rank := range g.Ranks {
			checkAnnotated(rt, readAnnotated(t, got["post-annotated/test."+strconv.Itoa(rank)+".json"]))
		}
	})
}

func float(t *rapid.T, cell string) float64 {
	v, err := strconv.ParseFloat(cell, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// checkColumn demands a number of rows and a column that does not fall, and, of
// fractions, that it ends with 1.
func checkColumn(t *rapid.T, rows string, column, count int, fractions bool) {
	n, last := 0, 0.0
	for row := range strings.Lines(rows) {
		n++
		v := float(t, strings.Split(strings.TrimSuffix(row, "\n"), ",")[column])
		if v < last {
			t.Fatalf("column %d falls to %v in row %s", column, v, row)
		}
		last = v
	}
	if count >= 0 && n != count {
		t.Fatalf("%d rows, want %d", n, count)
	}
	if fractions && last != 1 {
		t.Fatalf("column %d ends at %v", column, last)
	}
}

func checkAnnotated(t *rapid.T, nodes map[uint64]annotatedNode) {
	for id, n := range nodes {
		if n.S == none || n.E == none || n.R == none || n.E < n.S {
			t.Fatalf("node %d: %s to %s", id, n.S, n.E)
		}
		for _, d := range n.DataDeps {
			// A send is over before its acknowledgement comes.
			if nodes[d].Type != "COMM_SEND_NODE" && nodes[d].E > n.S || nodes[d].S > n.S {
				t.Fatalf("node %d starts at %s, before node %d ends at %s", id, n.S, d, nodes[d].E)
			}
		}
	}
}
