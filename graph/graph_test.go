package graph

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hybrid/internal/diag"
	"hybrid/internal/units"
)

// expr is a computed operand for tests.
type expr struct {
	text string
	f    func(env *Env) (int64, error)
}

func (e *expr) Eval(env *Env) (int64, error) { return e.f(env) }
func (e *expr) String() string               { return e.text }

func rankTimes(n int64) *expr {
	return &expr{"rank * n", func(env *Env) (int64, error) { return int64(env.Rank) * n, nil }}
}

func site(b *Builder, line int, k Kind) int32 {
	return b.Site(Site{Pos: diag.Pos{File: "t.hbp", Line: line, Col: 3}, Kind: k})
}

func finish(t *testing.T, b *Builder) *Graph {
	t.Helper()
	g, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestSharing: ranks whose programs have the same shape share one; what differs is
// a column, what is alike a constant.
func TestSharing(t *testing.T) {
	b := NewBuilder("t", Blueprint, 6)
	s := site(b, 1, Send)
	for rank := range 5 { // rank 5 runs nothing
		r := b.Rank(rank, false)
		r.Op(Op{Kind: Send, Site: s, Label: -1, Peer: r.Int(int64(rank+1) % 5), Size: r.Int(8)})
		if rank == 2 {
			r.Op(Op{Kind: Send, Site: s, Label: -1, Peer: r.Int(0), Size: r.Int(16)})
		}
		r.Done()
	}
	g := finish(t, b)
	if len(g.Programs) != 3 {
		t.Fatalf("%d programs, want 3", len(g.Programs))
	}
	p := g.Programs[0]
	if d := cmp.Diff([]int32{0, 1, 3, 4}, p.Ranks); d != "" {
		t.Error(d)
	}
	if n, ok := p.Const(p.Ops[0].Size); !ok || n != 8 {
		t.Errorf("size %d %t, want the constant 8", n, ok)
	}
	if _, ok := p.Const(p.Ops[0].Peer); ok || p.ValueText(p.Ops[0].Peer) != "{1 2 4 0}" {
		t.Errorf("peer %s", p.ValueText(p.Ops[0].Peer))
	}
	for rank, want := range []int64{1, 2, 3, 4, 0} {
		q, slot := g.Program(rank)
		if n, ok := q.Known(q.Ops[0].Peer, slot); !ok || n != want {
			t.Errorf("rank %d sends to %d", rank, n)
		}
	}
	if q, _ := g.Program(5); len(q.Ops) != 0 {
		t.Errorf("rank 5 has %d operations", len(q.Ops))
	}
}

// TestShapesThatDiffer: everything that the cursor follows keeps programs apart.
func TestShapesThatDiffer(t *testing.T) {
	same := rankTimes(1)
	variants := map[string]func(b *Builder, r *RankBuilder, s int32){
		"plain": func(_ *Builder, r *RankBuilder, s int32) { r.Op(Op{Kind: Join, Site: s, Label: -1}) },
		"flags": func(_ *Builder, r *RankBuilder, s int32) { r.Op(Op{Kind: Join, Site: s, Label: -1, Flags: Async}) },
		"high flags": func(_ *Builder, r *RankBuilder, s int32) {
			r.Op(Op{Kind: Join, Site: s, Label: -1, Flags: Synchronize})
		},
		"stream": func(b *Builder, r *RankBuilder, s int32) {
			r.Op(Op{Kind: Join, Site: s, Label: -1, Stream: b.Stream("s")})
		},
		"label": func(_ *Builder, r *RankBuilder, s int32) { r.Op(Op{Kind: Join, Site: s, Label: 0}) },
		"dependency": func(_ *Builder, r *RankBuilder, s int32) {
			r.Op(Op{Kind: Join, Site: s, Label: -1}, Dep{Mode: DepLabel})
		},
		"dependency mode": func(_ *Builder, r *RankBuilder, s int32) {
			r.Op(Op{Kind: Join, Site: s, Label: -1}, Dep{Mode: DepEach})
		},
		"distance": func(_ *Builder, r *RankBuilder, s int32) {
			r.Op(Op{Kind: Join, Site: s, Label: -1}, Dep{Mode: DepEach, Back: 1})
		},
		"computed": func(_ *Builder, r *RankBuilder, s int32) {
			r.Op(Op{Kind: Join, Site: s, Label: -1, Size: r.Expr(same)})
		},
		"computed otherwise": func(_ *Builder, r *RankBuilder, s int32) {
			r.Op(Op{Kind: Join, Site: s, Label: -1, Size: r.Expr(rankTimes(1))})
		},
		"work": func(_ *Builder, r *RankBuilder, s int32) {
			r.Op(Op{Kind: Compute, Site: s, Label: -1, Arg: r.Work(Work{})})
		},
		"work model": func(_ *Builder, r *RankBuilder, s int32) {
			r.Op(Op{Kind: Compute, Site: s, Label: -1, Arg: r.Work(Work{Model: Traffic})})
		},
		"work contributions": func(_ *Builder, r *RankBuilder, s int32) {
			r.Op(Op{Kind: Compute, Site: s, Label: -1, Arg: r.Work(Work{ECM: &Contributions{TOL: units.Int(1)}})})
		},
		"call": func(_ *Builder, r *RankBuilder, s int32) {
			r.Op(Op{Kind: Collective, Site: s, Label: -1, Arg: r.Call(Call{Type: Barrier})})
		},
		"call type": func(_ *Builder, r *RankBuilder, s int32) {
			r.Op(Op{Kind: Collective, Site: s, Label: -1, Arg: r.Call(Call{Type: Gather})})
		},
		"chain": func(_ *Builder, r *RankBuilder, s int32) {
			r.Op(Op{Kind: Join, Site: s, Label: -1})
			r.Chain([]int32{0})
		},
	}
	b := NewBuilder("t", Blueprint, 2*len(variants))
	b.Label("x")
	s := site(b, 1, Join)
	rank := 0
	for _, write := range variants {
		for range 2 {
			r := b.Rank(rank, false)
			write(b, r, s)
			r.Done()
			rank++
		}
	}
	g := finish(t, b)
	// The one with a new expression each time does not share even with itself.
	if got, want := len(g.Programs), len(variants)+1; got != want {
		t.Errorf("%d programs, want %d", got, want)
	}
}

func TestGroups(t *testing.T) {
	b := NewBuilder("t", Blueprint, 4)
	if b.Group("all", []int32{0, 1, 2, 3}) != 0 {
		t.Error("the world under another name is not group 0")
	}
	odd := b.Group("odd", []int32{3, 1})
	if b.Group("again", []int32{3, 1}) != odd || b.Group("turned", []int32{1, 3}) == odd {
		t.Error("a group is not known by its ordered member list")
	}
	g := b.Graph().Groups
	for _, c := range []struct {
		group, rank, want int32
	}{{0, 2, 2}, {0, 4, -1}, {0, -1, -1}, {odd, 3, 0}, {odd, 1, 1}, {odd, 0, -1}} {
		if got := g[c.group].Pos(c.rank); got != c.want {
			t.Errorf("position of %d in %s: %d, want %d", c.rank, g[c.group].Name, got, c.want)
		}
	}
}

// TestLoops: what the index says about loops and operations.
func TestLoops(t *testing.T) {
	b := NewBuilder("t", Blueprint, 1)
	s := site(b, 1, Compute)
	r := b.Rank(0, false)
	outer := r.BeginLoop(s, r.Int(5))
	r.Op(Op{Kind: Compute, Site: s, Label: -1, Arg: r.Work(Work{Time: r.Expr(rankTimes(1))})})
	inner := r.BeginLoop(s, r.Int(5))
	send := r.Op(Op{Kind: Send, Site: s, Label: -1, Peer: r.Int(0)})
	r.EndLoop(s)
	r.EndLoop(s)
	r.BeginLoop(s, r.Int(5))
	r.Op(Op{Kind: Send, Site: s, Label: -1, Peer: r.Expr(rankTimes(1))})
	r.EndLoop(s)
	r.BeginLoop(s, r.Int(5))
	r.BeginLoop(s, r.Expr(rankTimes(1)))
	r.EndLoop(s)
	r.EndLoop(s)
	r.Done()
	p := finish(t, b).Programs[0]
	var loops, uniform, idle, varies []int32
	for i := range p.Ops {
		i := int32(i)
		if p.Ops[i].Kind == Loop {
			loops = append(loops, i)
		}
		if p.Uniform(i) {
			uniform = append(uniform, i)
		}
		if p.Idle(i) {
			idle = append(idle, i)
		}
		if p.Varies(i) {
			varies = append(varies, i)
		}
	}
	// Operations: 0 loop, 1 compute, 2 loop, 3 send, 4-5 end, 6 loop, 7 send, 8 end, 9-10 loop, 11-12 end.
	for _, c := range []struct {
		what      string
		got, want []int32
	}{{"loops", loops, []int32{0, 2, 6, 9, 10}}, {"uniform", uniform, []int32{0, 2, 10}}, {"idle", idle, []int32{9, 10}}, {"varies", varies, []int32{1, 7}}} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("%s: %v, want %v", c.what, c.got, c.want)
		}
	}
	if p.LoopAround(0) != -1 || p.LoopAround(1) != outer || p.LoopAround(send) != inner || p.LoopAround(4) != outer {
		t.Errorf("around: %d %d %d %d", p.LoopAround(0), p.LoopAround(1), p.LoopAround(send), p.LoopAround(4))
	}
}

func TestDependents(t *testing.T) {
	b := NewBuilder("t", Chakra, 1)
	s := site(b, 1, Join)
	r := b.Rank(0, true)
	r.Op(Op{Kind: Join, Site: s, Label: -1}, Dep{Target: 2})
	r.Op(Op{Kind: Join, Site: s, Label: -1}, Dep{Target: 0}, Dep{Target: 2})
	r.Op(Op{Kind: Join, Site: s, Label: -1})
	r.Done()
	p := finish(t, b).Programs[0]
	for op, want := range [][]int32{{1}, nil, {0, 1}} {
		if got := p.Dependents(int32(op)); !slices.Equal(got, want) {
			t.Errorf("dependents of %d: %v, want %v", op, got, want)
		}
	}
}

// TestValidate finds what a front end must not do.
func TestValidate(t *testing.T) {
	for name, write := range map[string]func(r *RankBuilder){
		"work":         func(r *RankBuilder) { r.Op(Op{Kind: Compute, Arg: 0, Label: -1}) },
		"call":         func(r *RankBuilder) { r.Op(Op{Kind: Collective, Arg: -1, Label: -1}) },
		"target":       func(r *RankBuilder) { r.Op(Op{Kind: Jump, Arg: 3, Label: -1}) },
		"site":         func(r *RankBuilder) { r.Op(Op{Kind: Join, Site: 1, Label: -1}) },
		"dependencies": func(r *RankBuilder) { r.Op(Op{Kind: Join, Label: -1}, Dep{Mode: DepOp}) },
	} {
		b := NewBuilder("t", Blueprint, 1)
		site(b, 1, Join)
		r := b.Rank(0, false)
		write(r)
		r.Done()
		if _, err := b.Finish(); err == nil || !strings.Contains(err.Error(), "a fault of the blueprint front end") {
			t.Errorf("%s: %v", name, err)
		}
	}
	b := NewBuilder("t", Chakra, 1)
	r := b.Rank(0, true)
	r.BeginLoop(site(b, 1, Loop), r.Int(1))
	r.EndLoop(0)
	r.Done()
	if _, err := b.Finish(); err == nil {
		t.Error("control flow in a flat program passes")
	}
}

// TestDuration: the largest term, rounded to the nearest picosecond, and what is
// injected.
func TestDuration(t *testing.T) {
	p := &Program{Consts: []int64{0, 100, 7}}
	v := func(i int) Value { return makeValue(valueConst, i) }
	extra := &injection{f: func(base int64) (int64, error) { return base / 2, nil }}
	fails := &injection{f: func(int64) (int64, error) { return 0, errors.New("bad") }}
	p.Works = []Work{{}, {}, {Injections: []Injection{extra, extra}}, {Injections: []Injection{&injection{f: func(int64) (int64, error) { return -1000, nil }}}}, {Injections: []Injection{fails}}}
	p.Costs = []Cost{
		{Terms: []Term{{v(1), 1, 1}}},
		{Terms: []Term{{v(1), 1, 8}, {v(2), 3, 2}}}, // 12.5 and 10.5
		{Terms: []Term{{v(1), 1, 1}}},
		{Terms: []Term{{v(1), 1, 1}}},
		{},
	}
	for work, want := range []int64{100, 13, 200, 0} {
		if got, err := p.Duration(int32(work), 0, &Env{}); got != want || err != nil {
			t.Errorf("work %d: %d %v, want %d", work, got, err, want)
		}
	}
	if _, err := p.Duration(4, 0, &Env{}); err == nil {
		t.Error("a failing injection passes")
	}
}

type injection struct {
	f func(base int64) (int64, error)
}

func (i *injection) Extra(_ *Env, base int64) (int64, error) { return i.f(base) }
func (i *injection) String() string                          { return "delay" }

type pricer func(w *Work) (Cost, error)

func (f pricer) Price(_ *Program, w *Work) (Cost, error) { return f(w) }

// TestPrice: every work is priced, and failures come with the first site of the work.
func TestPrice(t *testing.T) {
	b := NewBuilder("t", Blueprint, 1)
	r := b.Rank(0, false)
	good, bad := r.Work(Work{}), r.Work(Work{Label: "unknown"})
	first := site(b, 4, Compute)
	r.Op(Op{Kind: Compute, Site: first, Label: -1, Arg: bad})
	r.Op(Op{Kind: Compute, Site: site(b, 5, Compute), Label: -1, Arg: bad})
	r.Op(Op{Kind: Load, Site: site(b, 6, Load), Label: -1, Arg: good})
	r.Done()
	g := finish(t, b)
	var failed []int32
	Price(g, pricer(func(w *Work) (Cost, error) {
		if w.Label != "" {
			return Cost{}, errors.New("no such kernel")
		}
		return Cost{Memory: Term{Num: 1, Den: 1}}, nil
	}), func(site int32, _ error) { failed = append(failed, site) })
	if !slices.Equal(failed, []int32{first}) || g.Programs[0].Costs[good].Memory.Den != 1 {
		t.Errorf("failed at %v, costs %+v", failed, g.Programs[0].Costs)
	}
}

// TestScale: sizes and durations are truncated; those of traces to microseconds.
func TestScale(t *testing.T) {
	for _, c := range []struct {
		scale             units.Rat
		bytes, chakra, ps int64
	}{
		{units.Rat{}, 1001, 3_999_999, 3_999_999},
		{units.Int(1), 1001, 3_999_999, 3_999_999},
		{units.NewRat(1, 2), 500, 1_000_000, 1_999_999},
		{units.Int(0), 0, 0, 0},
		{units.NewRat(1, 3), 333, 1_000_000, 1_333_333},
	} {
		g := &Graph{Scale: c.scale, Origin: Chakra}
		if got := [2]int64{g.ScaleBytes(1001), g.ScaleTime(3_999_999)}; got != [2]int64{c.bytes, c.chakra} {
			t.Errorf("%s: %v", c.scale, got)
		}
		g.Origin = Blueprint
		if got := g.ScaleTime(3_999_999); got != c.ps {
			t.Errorf("%s: %d ps", c.scale, got)
		}
	}
	g := &Graph{Scale: units.NewRat(1<<62-1, 1<<62)}
	if got := g.ScaleBytes(math.MaxInt64); got != math.MaxInt64-2 {
		t.Errorf("%d", got) // (2^63-1)(1-2^-62) = 2^63 - 3 + 2^-62
	}
}

func TestNames(t *testing.T) {
	for typ := CollType(0); int(typ) < NumCollTypes; typ++ {
		if back, ok := CollTypeNamed(typ.String()); !ok || back != typ {
			t.Errorf("%s is read back as %s", typ, back)
		}
	}
	if _, ok := CollTypeNamed("allreducer"); ok {
		t.Error("allreducer is a collective")
	}
	for k := Kind(0); int(k) < NumKinds; k++ {
		if k.String() == "" || k.Timed() != (k <= Join) {
			t.Errorf("kind %d: %q, timed %t", k, k, k.Timed())
		}
	}
}
