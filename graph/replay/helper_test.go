package replay

import (
	"fmt"
	"strings"
	"testing"

	"hybrid/graph"
	"hybrid/graph/collective"
	"hybrid/internal/diag"
)

// maker writes programs for tests. Every operation has a name, which is its site.
type maker struct {
	*graph.Builder
	r    *graph.RankBuilder
	rank int64
	line int
}

// mod changes an operation before it is added, or gives it dependencies.
type mod func(op *graph.Op, deps *[]graph.Dep)

func flag(f graph.Flags) mod { return func(op *graph.Op, _ *[]graph.Dep) { op.Flags |= f } }

func label(l int32) mod { return func(op *graph.Op, _ *[]graph.Dep) { op.Label = l } }

func indexed(l int32, i graph.Value) mod {
	return func(op *graph.Op, _ *[]graph.Dep) { op.Label, op.Index = l, i }
}

func stream(s uint16) mod { return func(op *graph.Op, _ *[]graph.Dep) { op.Stream = s } }

func after(d ...graph.Dep) mod {
	return func(_ *graph.Op, deps *[]graph.Dep) { *deps = append(*deps, d...) }
}

func on(ops ...int32) mod {
	return func(_ *graph.Op, deps *[]graph.Dep) {
		for _, o := range ops {
			*deps = append(*deps, graph.Dep{Target: o})
		}
	}
}

func latest(l int32) graph.Dep { return graph.Dep{Mode: graph.DepLabel, Target: l} }

var async = flag(graph.Async)

func (m *maker) add(name string, op graph.Op, mods []mod) int32 {
	m.line++
	op.Site, op.Label = m.Site(graph.Site{Pos: diag.Pos{File: "t", Line: m.line}, Kind: op.Kind, Text: name}), -1
	var deps []graph.Dep
	for _, f := range mods {
		f(&op, &deps)
	}
	return m.r.Op(op, deps...)
}

func (m *maker) compute(name string, ps int64, mods ...mod) int32 {
	return m.computeFor(name, m.r.Int(ps), mods...)
}

func (m *maker) computeFor(name string, v graph.Value, mods ...mod) int32 {
	return m.add(name, graph.Op{Kind: graph.Compute, Arg: m.r.Work(graph.Work{Model: graph.Fixed, Time: v})}, mods)
}

func (m *maker) send(name string, to, bytes int64, mods ...mod) int32 {
	return m.add(name, graph.Op{Kind: graph.Send, Peer: m.r.Int(to), Size: m.r.Int(bytes)}, mods)
}

func (m *maker) recv(name string, from, bytes int64, mods ...mod) int32 {
	return m.add(name, graph.Op{Kind: graph.Recv, Peer: m.r.Int(from), Size: m.r.Int(bytes)}, mods)
}

func (m *maker) tag(n int64) mod {
	v := m.r.Int(n)
	return func(op *graph.Op, _ *[]graph.Dep) { op.Tag = v }
}

func (m *maker) join(name string, mods ...mod) int32 {
	return m.add(name, graph.Op{Kind: graph.Join}, mods)
}

func (m *maker) collective(name string, typ graph.CollType, algorithm string, group int32, bytes int64, mods ...mod) int32 {
	op := graph.Op{Kind: graph.Collective, Tag: m.r.Int(int64(group)), Size: m.r.Int(bytes), Arg: m.r.Call(graph.Call{Type: typ, Algorithm: algorithm})}
	return m.add(name, op, mods)
}

func (m *maker) loop(trips int64, body func(slot int32)) {
	m.line++
	site := m.Site(graph.Site{Pos: diag.Pos{File: "t", Line: m.line}, Kind: graph.Loop})
	slot := m.r.BeginLoop(site, m.r.Int(trips))
	body(slot)
	m.r.EndLoop(site)
}

// make builds a graph: write is called for each rank.
func makeGraph(t testing.TB, origin graph.Origin, ranks int, flat bool, write func(m *maker)) *graph.Graph {
	t.Helper()
	m := &maker{Builder: graph.NewBuilder("test", origin, ranks)}
	for rank := range ranks {
		m.r, m.rank, m.line = m.Rank(rank, flat), int64(rank), 0
		write(m)
		m.r.Done()
	}
	g, err := m.Finish()
	if err != nil {
		t.Fatal(err)
	}
	priceFixed(g)
	return g
}

// priceFixed lets fixed work cost its time.
func priceFixed(g *graph.Graph) {
	for _, p := range g.Programs {
		p.Costs = nil
		for i := range p.Works {
			p.Costs = append(p.Costs, graph.Cost{Terms: []graph.Term{{V: p.Works[i].Time, Num: 1, Den: 1}}})
		}
	}
}

// function is a computed operand.
type function struct {
	name string
	f    func(env *graph.Env) (int64, error)
}

func (f *function) Eval(env *graph.Env) (int64, error) { return f.f(env) }
func (f *function) String() string                     { return f.name }

func counter(slot int32) *function {
	return &function{"i", func(env *graph.Env) (int64, error) { return env.Loops[slot], nil }}
}

// driver runs one rank by hand: operations complete when the test says so.
type driver struct {
	t    *testing.T
	g    *graph.Graph
	c    *Cursor
	held []Issue
	now  int64
	last []Issue
}

// drive starts a rank and expects the named operations to be issued.
func drive(t *testing.T, g *graph.Graph, rank int, want string) *driver {
	t.Helper()
	d := &driver{t: t, g: g, c: NewCursor(Config{Graph: g}, collective.NewTable(), rank)}
	d.take(d.c.Start(0, nil), want)
	return d
}

func (d *driver) name(i *Issue) string {
	name := d.g.Sites[i.Site].Text
	if i.InCollective {
		way := "<"
		if i.Kind == graph.Send {
			way = ">"
		}
		if i.Sync {
			way = "sync" + way
		}
		name += fmt.Sprintf("%s%d", way, i.Peer)
	}
	return name
}

func (d *driver) take(out []Issue, want string) {
	d.t.Helper()
	var names []string
	for i := range out {
		names = append(names, d.name(&out[i]))
	}
	if got := strings.Join(names, " "); got != want {
		d.t.Fatalf("issued %q, want %q", got, want)
	}
	d.held = append(d.held, out...)
	d.last = out
}

// done completes the oldest live operation of the given name and expects what that
// issues, in order.
func (d *driver) done(name, want string) {
	d.t.Helper()
	for i := range d.held {
		if d.name(&d.held[i]) == name {
			h := d.held[i].Handle
			d.held = append(d.held[:i], d.held[i+1:]...)
			d.now++
			d.take(d.c.Done(h, d.now, nil), want)
			return
		}
	}
	d.t.Fatalf("%q is not in progress", name)
}

func (d *driver) finished(want bool) {
	d.t.Helper()
	if d.c.Err() != nil {
		d.t.Fatal(d.c.Err())
	}
	if got := d.c.Finished(); got != want {
		d.t.Fatalf("finished %t, want %t", got, want)
	}
}
