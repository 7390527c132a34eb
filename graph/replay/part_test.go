package replay

import (
	"errors"
	"slices"
	"testing"

	"hybrid/graph"
	"hybrid/graph/collective"
)

// Four ranks reduce to the first around the ring: 1 -> 2 -> 3 -> 0.
func TestCollectiveSteps(t *testing.T) {
	g := makeGraph(t, graph.Blueprint, 4, false, func(m *maker) {
		m.compute("a", 1)
		m.collective("r", graph.Reduce, "ring", 0, 100)
		m.compute("b", 1)
	})
	d := drive(t, g, 2, "a")
	d.done("a", "r<1")
	if i := d.last[0]; i.Bytes != 100 || !i.InCollective || i.Context != CollectiveContext(0, 0) || i.Kind != graph.Recv {
		t.Errorf("%+v", i)
	}
	d.done("r<1", "r>3")
	d.now = 41
	d.done("r>3", "b")
	want := []CollectiveEnd{{Rank: 2, Op: 1, Site: d.c.Ended[0].Site, Start: 1, End: 42, Type: graph.Reduce, Algorithm: d.c.algs.Find(graph.Reduce, "ring"), Bytes: 100}}
	if !slices.Equal(d.c.Ended, want) {
		t.Errorf("%+v, want %+v", d.c.Ended, want)
	}
	d.done("b", "")
	d.finished(true)
	if got := d.c.Issued; got[graph.Compute] != 2 || got[graph.Collective] != 1 || got[graph.Send]+got[graph.Recv] != 0 {
		t.Errorf("issued %v", got)
	}
}

// The synchronization barrier is the zero-byte tree, before the collective's own
// transfers and apart from them in tags.
func TestSynchronizationBarrier(t *testing.T) {
	g := makeGraph(t, graph.Blueprint, 3, false, func(m *maker) {
		m.collective("r", graph.Reduce, "ring", 0, 100, flag(graph.Synchronize))
	})
	// Rank 2 is the child of 0 and the parent of 1 in the tree over 3.
	d := drive(t, g, 2, "rsync<1 rsync<0")
	if i := d.last[0]; i.Bytes != 0 || !i.Sync || i.Tag < syncTag {
		t.Errorf("%+v", i)
	}
	d.done("rsync<1", "rsync>0")
	d.done("rsync>0", "")
	d.done("rsync<0", "rsync>1")
	d.done("rsync>1", "r<1")
	if i := d.last[0]; i.Bytes != 100 || i.Sync || i.Tag >= syncTag {
		t.Errorf("%+v", i)
	}
	d.done("r<1", "r>0")
	d.done("r>0", "")
	d.finished(true)
	// 4 barrier steps were done by then: the collective starts behind them.
	if e := d.c.Ended[0]; e.Start != 4 || e.End != 6 {
		t.Errorf("from %d to %d, want 4 to 6", e.Start, e.End)
	}
}

// A group of one has nothing to transfer, and no barrier.
func TestGroupOfOne(t *testing.T) {
	g := makeGraph(t, graph.Blueprint, 2, false, func(m *maker) {
		self := m.Group("self", []int32{int32(m.rank)})
		m.collective("r", graph.AllReduce, "ring", self, 100, flag(graph.Synchronize))
		m.compute("a", 1)
	})
	d := drive(t, g, 1, "a")
	if len(d.c.Ended) != 1 || d.c.Ended[0].Start != d.c.Ended[0].End {
		t.Errorf("%+v", d.c.Ended)
	}
	d.done("a", "")
	d.finished(true)
}

// Collectives of a group are numbered in the order in which the thread reaches
// them, not in the order in which they can start.
func TestCollectivesNumberedInCallOrder(t *testing.T) {
	g := makeGraph(t, graph.Blueprint, 2, false, func(m *maker) {
		x := m.Label("x")
		m.compute("a", 1, async, label(x))
		m.collective("first", graph.Broadcast, "sequential", 0, 1, async, after(latest(x)))
		m.collective("second", graph.Broadcast, "sequential", 0, 1, async)
	})
	d := drive(t, g, 0, "a second>1")
	if got, want := d.last[1].Context, CollectiveContext(0, 1); got != want {
		t.Errorf("context %x, want %x", got, want)
	}
	d.done("a", "first>1")
	if got, want := d.last[0].Context, CollectiveContext(0, 0); got != want {
		t.Errorf("context %x, want %x", got, want)
	}
	d.done("first>1", "")
	d.done("second>1", "")
	d.finished(true)
}

// With serialization a collective waits for the one issued before it in its group,
// and for no other.
func TestSerializedCollectives(t *testing.T) {
	g := makeGraph(t, graph.Blueprint, 2, false, func(m *maker) {
		other := m.Group("other", []int32{1, 0})
		m.collective("a", graph.Gather, "direct", 0, 1, async)
		m.collective("b", graph.Gather, "direct", 0, 1, async)
		m.collective("c", graph.Gather, "direct", other, 1, async)
	})
	drive(t, g, 1, "a>0 b>0 c<0")
	g.Serialize = true
	d := drive(t, g, 1, "a>0 c<0")
	d.done("a>0", "b>0")
	d.done("b>0", "")
	d.done("c<0", "")
	d.finished(true)
}

// Scaling truncates each transfer of a collective, not its size: floor(126/2) = 63
// for 1001 B over 8; durations of traces are truncated to microseconds.
func TestScale(t *testing.T) {
	for _, c := range []struct {
		origin graph.Origin
		ps     int64
	}{{graph.Chakra, 1_000_000}, {graph.Blueprint, 1_500_000}} {
		g := makeGraph(t, c.origin, 8, true, func(m *maker) {
			m.collective("r", graph.AllReduce, "ring", 0, 1001)
			m.compute("a", 3_000_000)
			m.send("s", 0, 7)
		})
		g.Scale.Num, g.Scale.Den = 1, 2
		d := drive(t, g, 0, "r>1 r<7 a s")
		if got := []int64{d.last[0].Bytes, d.last[1].Bytes, d.last[2].Duration, d.last[3].Bytes}; !slices.Equal(got, []int64{63, 63, c.ps, 3}) {
			t.Errorf("%s: %v", c.origin, got)
		}
	}
}

// Tags beyond 31 bits stay apart, and none of them is taken for the wildcard.
func TestLargeTags(t *testing.T) {
	seen := map[[2]uint64]bool{}
	for _, tag := range []int64{0, 1, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1 << 32, 1<<62 - 1} {
		g := makeGraph(t, graph.Chakra, 1, true, func(m *maker) { m.send("s", 0, 1, m.tag(tag)) })
		d := drive(t, g, 0, "s")
		i := d.last[0]
		k := [2]uint64{i.Context, uint64(i.Tag)}
		if i.Tag < 0 || i.Context>>63 != 0 || seen[k] {
			t.Errorf("tag %d becomes %d in context %x", tag, i.Tag, i.Context)
		}
		seen[k] = true
	}
}

func TestFailures(t *testing.T) {
	bad := errors.New("bad")
	fails := &function{"fails", func(*graph.Env) (int64, error) { return 0, bad }}
	constant := func(n int64) *function { return &function{"n", func(*graph.Env) (int64, error) { return n, nil }} }
	for name, write := range map[string]func(m *maker){
		"duration":   func(m *maker) { m.computeFor("a", m.r.Expr(fails)) },
		"peer":       func(m *maker) { m.add("a", graph.Op{Kind: graph.Send, Peer: m.r.Expr(constant(2))}, nil) },
		"any sender": func(m *maker) { m.add("a", graph.Op{Kind: graph.Send, Peer: m.r.Expr(constant(-1))}, nil) },
		"size":       func(m *maker) { m.add("a", graph.Op{Kind: graph.Recv, Size: m.r.Expr(constant(-1))}, nil) },
		"tag":        func(m *maker) { m.add("a", graph.Op{Kind: graph.Send, Tag: m.r.Expr(constant(-1))}, nil) },
		"algorithm":  func(m *maker) { m.collective("a", graph.Gather, "tree", 0, 1) },
		"group":      func(m *maker) { m.collective("a", graph.Gather, "", 9, 1) },
		"member":     func(m *maker) { m.collective("a", graph.Gather, "", m.Group("other", []int32{1}), 1) },
		"fit": func(m *maker) {
			m.collective("a", graph.AllReduce, "halving-doubling", m.Group("three", []int32{0, 1, 2}), 1)
		},
		"trips": func(m *maker) {
			s := m.Site(graph.Site{})
			m.r.BeginLoop(s, m.r.Expr(fails))
			m.compute("a", 1)
			m.r.EndLoop(s)
		},
		"branch": func(m *maker) { m.r.Patch(m.r.Branch(m.Site(graph.Site{}), m.r.Expr(fails))) },
	} {
		g := makeGraph(t, graph.Blueprint, 2, false, func(m *maker) {
			if m.rank == 0 {
				write(m)
			}
		})
		c := NewCursor(Config{Graph: g}, collective.NewTable(), 0)
		if out := c.Start(0, nil); c.Err() == nil || len(out) != 0 || c.Finished() {
			t.Errorf("%s: error %v, %d issued, finished %t", name, c.Err(), len(out), c.Finished())
		}
		if v := Diagnose(g, []*Cursor{c}, nil); v.Outcome != Failed || len(v.Errors) != 1 {
			t.Errorf("%s: verdict %+v", name, v)
		}
	}
}
