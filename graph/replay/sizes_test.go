package replay

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hybrid/graph"
	"hybrid/graph/collective"
	"hybrid/internal/diag"
	"hybrid/internal/units"
)

// sizesOf are the sizes of an all-to-allv by formula: 100 times the sender's rank,
// plus 10 times the receiver's position, plus the loop counter.
type sizesOf struct {
	varies bool
	fail   error
	offset int64
}

func (s *sizesOf) Eval(e *graph.Env) (int64, error) {
	n := 100*int64(e.Rank) + 10*e.Peer + s.offset
	if s.varies {
		n += e.Loops[0]
	}
	return n, s.fail
}

func (s *sizesOf) String() string { return "sizes" }

func (s *sizesOf) Varies() bool { return s.varies }

func (m *maker) alltoallv(name, algorithm string, sizes graph.PairSizes, group int32, mods ...mod) {
	op := graph.Op{Kind: graph.Collective, Tag: m.r.Int(int64(group)), Arg: m.r.Call(graph.Call{Type: graph.AllToAllV, Algorithm: algorithm, Sizes: sizes})}
	m.add(name, op, mods)
}

// bytesOf prints what was issued last.
func (d *driver) bytesOf() string {
	s := ""
	for i := range d.last {
		s += fmt.Sprintf("%s=%d ", d.name(&d.last[i]), d.last[i].Bytes)
	}
	return s
}

// TestPairSizes: a size is that of the sender's world rank and the receiver's position
// in the group, seen alike from both ends, and it is scaled like any other.
func TestPairSizes(t *testing.T) {
	sizes := &sizesOf{}
	write := func(m *maker) {
		if m.rank == 0 {
			return
		}
		m.alltoallv("v", "sequential", sizes, m.Group("odd order", []int32{3, 1, 2}))
	}
	g := makeGraph(t, graph.Blueprint, 4, true, write)
	d := drive(t, g, 2, "v<1 v<3 v>3")
	// Rank 2 has position 2, rank 3 position 0, rank 1 position 1.
	if got, want := d.bytesOf(), "v<1=120 v<3=320 v>3=200 "; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	d.done("v>3", "v>1")
	if got, want := d.bytesOf(), "v>1=210 "; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for _, name := range []string{"v>1", "v<1", "v<3"} {
		d.done(name, "")
	}
	if e := d.c.Ended[0]; e.Sent != 410 || e.Bytes != 0 {
		t.Errorf("%+v", e)
	}
	g.Scale = units.NewRat(1, 3)
	if got, want := drive(t, g, 2, "v<1 v<3 v>3").bytesOf(), "v<1=40 v<3=106 v>3=66 "; got != want {
		t.Errorf("scaled: %s, want %s", got, want)
	}
}

// TestPairSizesAreFixed when the thread reaches the operation, not when its transfers
// start: three iterations are reached while the first compute still runs.
func TestPairSizesAreFixed(t *testing.T) {
	sizes := &sizesOf{varies: true}
	g := makeGraph(t, graph.Blueprint, 2, false, func(m *maker) {
		l := m.Label("a")
		m.compute("a", 1, async, label(l))
		m.loop(3, func(int32) { m.alltoallv("v", "interleaved", sizes, 0, async, after(latest(l))) })
	})
	d := drive(t, g, 0, "a")
	d.done("a", "v<1 v>1 v<1 v>1 v<1 v>1")
	if got, want := d.bytesOf(), "v<1=100 v>1=10 v<1=101 v>1=11 v<1=102 v>1=12 "; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	r := Check(g, CheckOptions{})
	if !r.OK() || !r.Complete {
		t.Errorf("%+v", r)
	}
}

// TestPairSizesThatFail stop the rank with their own message, or with one about a
// negative number at the operation.
func TestPairSizesThatFail(t *testing.T) {
	broken := errors.New("no size")
	for _, c := range []struct {
		sizes *sizesOf
		want  string
	}{
		{&sizesOf{fail: broken}, "no size"},
		{&sizesOf{offset: -11}, "t:1: negative size -1 B from rank 0 to rank 1 [E222]"},
	} {
		g := makeGraph(t, graph.Blueprint, 2, false, func(m *maker) { m.alltoallv("v", "", c.sizes, 0) })
		cur := NewCursor(Config{Graph: g}, collective.NewTable(), 0)
		cur.Start(0, nil)
		err := cur.Err()
		if err == nil {
			t.Fatalf("no error, want %s", c.want)
		}
		got := err.Error()
		if d, ok := err.(diag.Diagnostic); ok {
			got = fmt.Sprintf("%s: %s [%s]", d.Pos, d.Message, d.Code)
		}
		if got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

// TestTallyOfPairs: an all-to-allv counts with what all its pairs move. Three ranks:
// the sum over senders r and receivers p != r of 100 r + 10 p is 2*300 + 2*30.
func TestTallyOfPairs(t *testing.T) {
	sizes := &sizesOf{}
	g := makeGraph(t, graph.Blueprint, 3, false, func(m *maker) { m.alltoallv("v", "pairwise", sizes, 0) })
	tally, cursors := NewTally(g), make([]*Cursor, 3)
	for r := range cursors {
		cursors[r] = NewCursor(Config{Graph: g}, collective.NewTable(), r)
		for out := cursors[r].Start(0, nil); len(out) > 0; {
			out = append(out[1:], cursors[r].Done(out[0].Handle, 5, nil)...)
			for i := range cursors[r].Ended {
				tally.Part(&cursors[r].Ended[i])
			}
		}
	}
	tally.Finish()
	want := []CollectiveTimes{{Type: graph.AllToAllV, Algorithm: "pairwise", GroupSize: 3, Bytes: 660, Transfers: 6, TransferBytes: 660,
		Count: 1, Total: Sum{Lo: 5}, Max: 5}}
	if d := cmp.Diff(want, tally.Result.Collectives); d != "" {
		t.Error(d)
	}
}

// TestLoopsOfPairs: iterations communicate alike where the sizes do not depend on
// them.
func TestLoopsOfPairs(t *testing.T) {
	for _, varies := range []bool{false, true} {
		sizes := &sizesOf{varies: varies}
		g := makeGraph(t, graph.Blueprint, 2, false, func(m *maker) {
			m.loop(9, func(int32) { m.alltoallv("v", "", sizes, 0) })
		})
		if got := g.Programs[0].Uniform(0); got == varies {
			t.Errorf("sizes that vary %t: uniform %t", varies, got)
		}
	}
}

// TestDirectPhases: the sends of the second phase start together, in order, when the
// last receive of the first is done.
func TestDirectPhases(t *testing.T) {
	g := makeGraph(t, graph.Blueprint, 3, false, func(m *maker) { m.collective("r", graph.AllReduce, "direct", 0, 300) })
	d := drive(t, g, 0, "r<2 r<1 r>1 r>2 r<2 r<1")
	d.done("r>1", "")
	d.done("r<1", "")
	d.done("r<2", "r>1 r>2")
	for _, name := range []string{"r>2", "r>1", "r>2", "r<2", "r<1"} {
		d.done(name, "")
	}
	d.finished(true)
}

// TestPairSizesAreNotStored: the thousandth instance takes no memory that the tenth
// did not.
func TestPairSizesAreNotStored(t *testing.T) {
	sizes, algs := &sizesOf{varies: true}, collective.NewTable()
	run := func(trips int64) float64 {
		g := makeGraph(t, graph.Blueprint, 8, false, func(m *maker) {
			m.loop(trips, func(int32) { m.alltoallv("v", "pairwise", sizes, 0) })
		})
		return testing.AllocsPerRun(1, func() { instantly(NewCursor(Config{Graph: g}, algs, 0), nil) })
	}
	// The runtime's own allocations are counted too, so a few more mean nothing.
	if few, many := run(10), run(1000); many > few+10 {
		t.Errorf("%v allocations for 1000 instances, %v for 10", many, few)
	}
}
