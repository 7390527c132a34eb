package replay

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"hybrid/graph"
)

// one builds a thread program of one rank.
func one(t testing.TB, write func(m *maker)) *graph.Graph {
	return makeGraph(t, graph.Blueprint, 1, false, write)
}

func TestThreadStopsAtBlocking(t *testing.T) {
	d := drive(t, one(t, func(m *maker) {
		m.compute("a", 1)
		m.compute("b", 2, async)
		m.compute("c", 3)
		m.compute("d", 4)
	}), 0, "a")
	d.done("a", "b c")
	d.done("b", "")
	d.done("c", "d")
	d.finished(false)
	d.done("d", "")
	d.finished(true)
}

// A rank ends only when its asynchronous operations have ended too.
func TestAsyncOutlivesThread(t *testing.T) {
	d := drive(t, one(t, func(m *maker) { m.compute("a", 1, async) }), 0, "a")
	d.finished(false)
	d.done("a", "")
	d.finished(true)
}

func TestLoop(t *testing.T) {
	d := drive(t, one(t, func(m *maker) {
		m.loop(2, func(int32) {
			m.compute("a", 1)
			m.loop(2, func(int32) { m.compute("b", 1) })
		})
		m.loop(0, func(int32) { m.compute("never", 1) })
		m.loop(-5, func(int32) { m.compute("never", 1) })
		m.compute("c", 1)
	}), 0, "a")
	for range 2 {
		d.done("a", "b")
		d.done("b", "b")
		if d.c.env.Loops[0] == 0 {
			d.done("b", "a")
		}
	}
	d.done("b", "c")
	d.done("c", "")
	d.finished(true)
	if got, want := d.c.Issued[graph.Compute], int64(2+4+1); got != want {
		t.Errorf("%d operations issued, want %d", got, want)
	}
}

// A loop in which nothing happens takes no time, whatever its trip count.
func TestIdleLoop(t *testing.T) {
	d := drive(t, one(t, func(m *maker) {
		m.loop(1<<60, func(int32) { m.loop(1<<60, func(int32) {}) })
		m.compute("a", 1)
	}), 0, "a")
	d.done("a", "")
	d.finished(true)
}

func TestBranch(t *testing.T) {
	g := one(t, func(m *maker) {
		m.loop(3, func(slot int32) {
			odd := m.r.Expr(&function{"i%2", func(env *graph.Env) (int64, error) { return env.Loops[slot] % 2, nil }})
			site := m.Site(graph.Site{})
			b := m.r.Branch(site, odd)
			m.compute("odd", 1)
			j := m.r.Jump(site)
			m.r.Patch(b)
			m.compute("even", 1)
			m.r.Patch(j)
			m.compute("both", 1)
		})
	})
	d := drive(t, g, 0, "even")
	d.done("even", "both")
	d.done("both", "odd")
	d.done("odd", "both")
	d.done("both", "even")
	d.done("even", "both")
	d.done("both", "")
	d.finished(true)
}

// The members of a composite start together and the thread waits for all.
func TestComposite(t *testing.T) {
	d := drive(t, one(t, func(m *maker) {
		m.compute("a", 1, flag(graph.More))
		m.compute("b", 1, flag(graph.More))
		m.compute("c", 1)
		m.compute("d", 1)
	}), 0, "a b c")
	d.done("c", "")
	d.done("a", "")
	d.done("b", "d")
	d.done("d", "")
	d.finished(true)
}

func TestWaitForLabels(t *testing.T) {
	d := drive(t, one(t, func(m *maker) {
		x, y := m.Label("x"), m.Label("y")
		m.compute("a", 1, async, label(x))
		m.compute("b", 1, async, label(y))
		m.join("wait", after(latest(x)))
		m.compute("c", 1)
		m.join("wait", after(latest(x), latest(y), latest(y)))
		m.compute("d", 1)
	}), 0, "a b")
	d.done("a", "c")
	d.done("c", "")
	d.done("b", "d")
	d.done("d", "")
	d.finished(true)
}

// A label means its latest instance even where an older one is still running.
func TestLatestInstance(t *testing.T) {
	d := drive(t, one(t, func(m *maker) {
		x := m.Label("x")
		m.compute("old", 1, async, label(x))
		m.compute("new", 1, async, label(x))
		m.compute("a", 1)
		m.join("wait", after(latest(x)))
		m.compute("b", 1)
	}), 0, "old new a")
	d.done("new", "")
	d.done("a", "b")
	d.done("b", "")
	d.finished(false)
	d.done("old", "")
	d.finished(true)
}

func TestIndexedLabels(t *testing.T) {
	var values []graph.Value
	d := drive(t, one(t, func(m *maker) {
		x := m.Label("x")
		values = []graph.Value{m.r.Int(10), m.r.Int(20)}
		m.compute("a", 1, async, indexed(x, values[0]))
		m.compute("b", 1, async, indexed(x, values[1]))
		m.compute("c", 1, async, indexed(x, values[1]))
		m.join("wait", after(graph.Dep{Mode: graph.DepIndex, Target: x, Index: values[1]}))
		m.compute("d", 1)
		m.join("wait", after(graph.Dep{Mode: graph.DepEach, Target: x}))
		m.compute("e", 1)
	}), 0, "a b c")
	d.done("b", "")
	d.done("c", "d")
	d.done("d", "")
	d.done("a", "e")
	d.done("e", "")
	d.finished(true)
}

// The instance of the previous iteration, where there is one.
func TestPreviousIteration(t *testing.T) {
	d := drive(t, one(t, func(m *maker) {
		x := m.Label("x")
		m.loop(4, func(int32) {
			m.compute("a", 1, async, label(x), after(graph.Dep{Mode: graph.DepPrev, Target: x, Back: 2}))
		})
	}), 0, "a a")
	d.done("a", "a")
	d.done("a", "a")
	d.done("a", "")
	d.done("a", "")
	d.finished(true)
}

// The iterations that count are those of the innermost loop around both the label
// and what waits: here the outer one.
func TestPreviousIterationOfTheCommonLoop(t *testing.T) {
	d := drive(t, one(t, func(m *maker) {
		x, y := m.Label("x"), m.Label("y")
		m.loop(3, func(int32) {
			m.compute("x", 1, async, label(x))
			m.loop(2, func(int32) {
				m.compute("a", 1, async, after(graph.Dep{Mode: graph.DepPrev, Target: x, Back: 1}))
				m.compute("y", 1, async, label(y))
			})
			m.join("w", after(graph.Dep{Mode: graph.DepPrev, Target: y, Back: 1}))
			m.compute("b", 1)
		})
	}), 0, "x a y a y b")
	d.done("b", "x y y") // second iteration: both a wait for the first x, the join for both y of the first
	d.done("x", "a a")
	d.done("y", "")
	d.done("y", "b")
	d.done("b", "x y y")
}

func TestScopeEndForgetsLabels(t *testing.T) {
	d := drive(t, one(t, func(m *maker) {
		x := m.Label("x")
		m.compute("a", 1, async, label(x))
		m.r.Op(graph.Op{Kind: graph.ScopeEnd, Site: m.Site(graph.Site{}), Arg: x, Label: 1})
		m.join("wait", after(latest(x), graph.Dep{Mode: graph.DepEach, Target: x}))
		m.compute("b", 1)
	}), 0, "a b")
	d.done("b", "")
	d.done("a", "")
	d.finished(true)
}

// Operations of a stream follow one another; the thread does not wait for them.
func TestStream(t *testing.T) {
	d := drive(t, one(t, func(m *maker) {
		s, u := m.Stream("s"), m.Stream("u")
		m.compute("s1", 1, async, stream(s))
		m.compute("s2", 1, async, stream(s))
		m.compute("u1", 1, async, stream(u))
		m.compute("a", 1)
		m.compute("s3", 1, async, stream(s))
	}), 0, "s1 u1 a")
	d.done("a", "")
	d.done("s1", "s2")
	d.done("s2", "s3")
	d.done("s3", "")
	d.done("u1", "")
	d.finished(true)
}

func TestWaitAll(t *testing.T) {
	d := drive(t, one(t, func(m *maker) {
		m.join("nothing outstanding", flag(graph.WaitAll))
		m.compute("a", 1, async)
		m.compute("b", 1, async, after())
		m.join("waitall", flag(graph.WaitAll))
		m.compute("c", 1)
	}), 0, "a b")
	d.done("a", "")
	d.done("b", "c")
	d.done("c", "")
	d.finished(true)
}

// Dependents are released in the order in which the thread issued them.
func TestReleaseInIssueOrder(t *testing.T) {
	d := drive(t, one(t, func(m *maker) {
		x := m.Label("x")
		m.compute("a", 1, async, label(x))
		for _, n := range []string{"b", "c", "d", "e"} {
			m.compute(n, 1, async, after(latest(x)))
		}
	}), 0, "a")
	d.done("a", "b c d e")
	for _, n := range []string{"b", "c", "d", "e"} {
		d.done(n, "")
	}
	d.finished(true)
}

// Operands of an operation that starts later are those of the iteration that issued
// it.
func TestOperandsOfTheIssuingIteration(t *testing.T) {
	d := drive(t, one(t, func(m *maker) {
		x := m.Label("x")
		m.loop(3, func(slot int32) {
			m.computeFor("a", m.r.Expr(counter(slot)), async, label(x), after(latest(x)))
		})
	}), 0, "a")
	var got []int64
	for i := range 3 {
		got = append(got, d.last[0].Duration)
		d.c.Waiting(func(_, _ int32, is *Issue) {
			if is.Duration != int64(i) {
				t.Errorf("in progress: duration %d, want %d", is.Duration, i)
			}
		})
		want := "a"
		if i == 2 {
			want = ""
		}
		d.done("a", want)
	}
	if diff := cmp.Diff([]int64{0, 1, 2}, got); diff != "" {
		t.Error(diff)
	}
	d.finished(true)
}

// A composite may span iterations: its members keep their own operands.
func TestCompositeAcrossIterations(t *testing.T) {
	d := drive(t, one(t, func(m *maker) {
		x := m.Label("x")
		m.compute("x", 1, async, label(x))
		m.loop(3, func(slot int32) {
			m.computeFor("a", m.r.Expr(counter(slot)), flag(graph.More), after(latest(x)))
		})
		m.compute("b", 1)
	}), 0, "x b")
	d.done("x", "a a a")
	for i, is := range d.last {
		if is.Duration != int64(i) {
			t.Errorf("iteration %d has duration %d", i, is.Duration)
		}
	}
}

// flat builds a flat program of one rank.
func flat(t testing.TB, write func(m *maker)) *graph.Graph {
	return makeGraph(t, graph.Chakra, 1, true, write)
}

func TestFlat(t *testing.T) {
	d := drive(t, flat(t, func(m *maker) {
		a := m.compute("a", 1)
		b := m.compute("b", 1)
		j := m.join("j", on(a, b))
		m.compute("c", 1, on(j))
		m.compute("d", 1, on(a))
		m.compute("e", 1)
	}), 0, "a b e")
	d.done("b", "")
	d.done("a", "d c")
	d.done("c", "")
	d.done("d", "")
	d.finished(false)
	d.done("e", "")
	d.finished(true)
}

// A dependency may name an operation that stands later.
func TestFlatForwardDependency(t *testing.T) {
	d := drive(t, flat(t, func(m *maker) {
		m.compute("a", 1, on(1))
		m.compute("b", 1)
	}), 0, "b")
	d.done("b", "a")
	d.done("a", "")
	d.finished(true)
}

// A chain of a hundred thousand joins collapses in one call, without recursion.
func TestChainOfJoins(t *testing.T) {
	const n = 100_000
	d := drive(t, flat(t, func(m *maker) {
		m.compute("a", 1)
		for i := range int32(n) {
			m.r.Op(graph.Op{Kind: graph.Join, Label: -1}, graph.Dep{Target: i})
		}
		m.compute("b", 1, on(n))
	}), 0, "a")
	d.done("a", "b")
	d.done("b", "")
	d.finished(true)
	if live := len(d.c.insts); live > 2 {
		t.Errorf("%d instances were alive at once", live)
	}
}

func TestEmptyProgram(t *testing.T) {
	for _, f := range []bool{true, false} {
		d := drive(t, makeGraph(t, graph.Chakra, 1, f, func(*maker) {}), 0, "")
		d.finished(true)
	}
}

// A rank without an operation that is ready ends at once; one of its operations on the
// way to a cycle is enough to make it a deadlock.
func TestNothingReadyEndsAtOnce(t *testing.T) {
	cyclic := func(m *maker) {
		m.compute("a", 1, on(1))
		m.compute("b", 1, on(0))
	}
	d := drive(t, makeGraph(t, graph.Chakra, 1, true, cyclic), 0, "")
	d.finished(true)
	d = drive(t, makeGraph(t, graph.Chakra, 1, true, func(m *maker) {
		cyclic(m)
		m.compute("c", 1)
	}), 0, "c")
	d.done("c", "")
	d.finished(false)
}
