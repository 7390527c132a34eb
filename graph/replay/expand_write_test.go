package replay

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"hybrid/graph"
	"hybrid/graph/collective"
)

// small is a compute of 1.5 us, a broadcast of 9 B from the second of two ranks, and a
// message with tag 3 after it.
func small(t testing.TB) *graph.Graph {
	g := makeGraph(t, graph.Chakra, 2, true, func(m *maker) {
		c := m.compute("c", 1_500_000)
		b := m.collective("b", graph.Broadcast, "", 0, 9, flag(graph.Synchronize), on(c), func(op *graph.Op, _ *[]graph.Dep) { op.Peer = m.r.Int(1) })
		if m.rank == 0 {
			m.send("s", 1, 64, m.tag(3), on(b))
		} else {
			m.recv("r", 0, 64, m.tag(3), on(b))
		}
	})
	g.Expanded = true
	return g
}

// TestWriteExpanded: ids 0 to 2 are the trace's; 3 and 4 are the barrier of rank 0, the
// tree's root, whose child is rank 1; 5 is the start; the only transfer is 6.
func TestWriteExpanded(t *testing.T) {
	g := small(t)
	var b bytes.Buffer
	if err := WriteExpanded(&b, g); err != nil {
		t.Fatal(err)
	}
	want := `graph test: chakra, 2 ranks, 2 programs
group 0 world: 0, 1

rank 0: node 0 compute 1500ns
rank 0: node 3 barrier recv 0B from 1 after 0
rank 0: node 4 barrier send 0B to 1 after 3
rank 0: node 5 start broadcast interleaved 9B root 1 over world number 0 after 3 4
rank 0: node 6 recv 9B from 1 after 5
rank 0: node 1 end broadcast interleaved 9B root 1 over world number 0 after 6
rank 0: node 2 send 64B to 1 tag 3 after 1

rank 1: node 0 compute 1500ns
rank 1: node 3 barrier send 0B to 0 after 0
rank 1: node 4 barrier recv 0B from 0 after 0
rank 1: node 5 start broadcast interleaved 9B root 1 over world number 0 after 3 4
rank 1: node 6 send 9B to 0 after 5
rank 1: node 1 end broadcast interleaved 9B root 1 over world number 0 after 6
rank 1: node 2 recv 64B from 0 tag 3 after 1
`
	if d := cmp.Diff(want, b.String()); d != "" {
		t.Error(d)
	}
	g.Annotated = true
	b.Reset()
	if err := WriteExpanded(&b, g); err != nil {
		t.Fatal(err)
	}
	want = `rank 1: ready 0
rank 1: node 0 compute 1500ns before 3 4
rank 1: node 3 barrier send 0B to 0 after 0 before 5
rank 1: node 4 barrier recv 0B from 0 after 0 before 5
rank 1: node 5 start broadcast interleaved 9B root 1 over world number 0 after 3 4 before 6
rank 1: node 6 send 9B to 0 after 5 before 1
rank 1: node 1 end broadcast interleaved 9B root 1 over world number 0 after 6 before 2
rank 1: node 2 recv 64B from 0 tag 3 after 1
`
	if d := cmp.Diff(want, b.String()[strings.Index(b.String(), "rank 1:"):]); d != "" {
		t.Error(d)
	}
}

// jsonNode is what a reader of the JSON form decodes a node into.
type jsonNode struct {
	ID              uint64   `json:"id"`
	Kind            string   `json:"kind"`
	Role            string   `json:"role"`
	Collective      uint64   `json:"collective"`
	Step            *int32   `json:"step"`
	Synchronization bool     `json:"synchronization"`
	Partner         *int32   `json:"partner"`
	Tag             int64    `json:"tag"`
	Bytes           int64    `json:"bytes"`
	Duration        int64    `json:"duration_ps"`
	Algorithm       string   `json:"algorithm"`
	Deps            []uint64 `json:"deps"`
	Children        []uint64 `json:"children"`
}

// TestWriteExpandedJSON: the JSON form holds what the expansion says.
func TestWriteExpandedJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := flatGraph(t, rapid.Bool().Draw(t, "synchronize"))
		g.Expanded, g.Annotated = true, rapid.Bool().Draw(t, "annotated")
		var b bytes.Buffer
		if err := WriteExpandedJSON(&b, g); err != nil {
			t.Fatal(err)
		}
		var doc struct {
			Schema   string
			Expanded bool
			Traces   []struct {
				Rank  int
				Ready []uint64
				Nodes []jsonNode
			}
		}
		if err := json.Unmarshal(b.Bytes(), &doc); err != nil {
			t.Fatalf("%v in\n%s", err, b.String())
		}
		if doc.Schema != graph.JSONSchema || !doc.Expanded || len(doc.Traces) != g.Ranks {
			t.Fatalf("schema %q, expanded %t, %d traces", doc.Schema, doc.Expanded, len(doc.Traces))
		}
		for rank, trace := range doc.Traces {
			x := NewExpansion(g, collective.NewTable(), rank)
			if trace.Rank != rank || int64(len(trace.Nodes)) != x.Len() || g.Annotated && !slices.Equal(trace.Ready, x.AppendReady(nil)) {
				t.Fatalf("rank %d: %d nodes, %v are ready", trace.Rank, len(trace.Nodes), trace.Ready)
			}
			i := 0
			for n := range x.Nodes() {
				got := trace.Nodes[i]
				i++
				ok := got.ID == n.ID && got.Kind == n.Kind.String() && slices.Equal(got.Deps, n.Deps) && got.Duration == n.Duration &&
					(got.Role == "") == (n.Role == PlainNode) && got.Synchronization == n.Sync && (got.Step == nil || *got.Step == n.Step)
				if n.Kind == graph.Send || n.Kind == graph.Recv {
					ok = ok && got.Partner != nil && *got.Partner == n.Peer && got.Bytes == n.Bytes && got.Tag == n.tag()
				}
				if g.Annotated {
					ok = ok && slices.Equal(got.Children, n.Children)
				}
				if n.Role == StartNode {
					ok = ok && got.Algorithm != "" && got.Collective == x.id(n.Op)
				}
				if !ok {
					t.Fatalf("rank %d: %+v, want %+v", rank, got, n)
				}
			}
		}
	})
}

// TestExpandedLimit: too many nodes are an error before anything is written.
func TestExpandedLimit(t *testing.T) {
	g := allReduce(t, 4, "ring", 8, 0) // 14 nodes a rank: 2 (N-1) = 6 sends, 6 receives, start and end
	if _, err := newExpandedWriter(g, 56); err != nil {
		t.Error(err)
	}
	_, err := newExpandedWriter(g, 55)
	want := "graph test has more than 55 nodes with its collectives expanded; --after algorithms shows it without"
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	var b bytes.Buffer
	if err := WriteExpanded(&b, one(t, func(m *maker) { m.compute("a", 1) })); err == nil || b.Len() > 0 {
		t.Errorf("error %v and %d bytes for a thread program", err, b.Len())
	}
}
