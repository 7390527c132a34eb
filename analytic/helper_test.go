package analytic

import (
	"context"

	"hybrid/graph"
	"hybrid/graph/replay"
	"hybrid/internal/units"
	"hybrid/networks"
)

// parameters are LogGP parameters in nanoseconds (and nanoseconds a byte), and an
// eager limit.
type parameters struct{ L, o, g, G, O, S int64 }

// The three parameter sets of the reference values.
var (
	setA = parameters{2500, 1500, 1000, 6, 0, 65535}
	setB = parameters{1300, 400, 600, 1, 1, 16384}
	setC = parameters{3000, 500, 5000, 2, 0, 1e9}
)

const ns = 1000 // picoseconds

// network has the parameters at every distance. Hockney's are 2o + L and G.
func (p parameters) network() *networks.Network {
	l := &networks.Level{EagerLimit: p.S,
		Hockney: []networks.HockneyPiece{{Latency: (2*p.o + p.L) * ns, PerByte: units.Int(p.G * ns)}},
		LogGP:   []networks.LogGPPiece{{L: p.L * ns, Overhead: p.o * ns, Gap: p.g * ns, G: units.Int(p.G * ns), O: units.Int(p.O * ns)}}}
	return oneLevel(l)
}

func oneLevel(l *networks.Level) *networks.Network {
	n := &networks.Network{Name: "test"}
	n.Levels[networks.InterNode] = l
	return n
}

// fixedPricer prices work of a fixed time.
type fixedPricer struct{}

func (fixedPricer) Price(_ *graph.Program, w *graph.Work) (graph.Cost, error) {
	return graph.Cost{Terms: []graph.Term{{V: w.Time, Num: 1, Den: 1}}}, nil
}

// fataler is what the helpers need of a test, also of a property test.
type fataler interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// builder writes test graphs whose operations all stand at one site.
type builder struct {
	*graph.Builder
	site int32
}

func newBuilder(ranks int) *builder {
	b := &builder{Builder: graph.NewBuilder("test", graph.GOAL, ranks)}
	b.site = b.Site(graph.Site{Name: "test"})
	return b
}

func (b *builder) finish(t fataler) *graph.Graph {
	t.Helper()
	g, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	graph.Price(g, fixedPricer{}, func(_ int32, err error) { t.Fatal(err) })
	return g
}

// program writes one rank.
type program struct {
	*graph.RankBuilder
	site  int32
	flags graph.Flags // of everything that follows
}

func (b *builder) rank(i int, flat bool) *program {
	return &program{RankBuilder: b.Rank(i, flat), site: b.site}
}

// deps turns operation indices of a flat program into dependencies; negative ones
// are left out.
func deps(ops []int32) []graph.Dep {
	var d []graph.Dep
	for _, o := range ops {
		if o >= 0 {
			d = append(d, graph.Dep{Mode: graph.DepOp, Target: o})
		}
	}
	return d
}

func (p *program) send(bytes int64, to, tag int, after ...int32) int32 {
	return p.Op(graph.Op{Kind: graph.Send, Site: p.site, Flags: p.flags, Peer: p.Int(int64(to)), Tag: p.Int(int64(tag)), Size: p.Int(bytes), Label: -1}, deps(after)...)
}

func (p *program) recv(bytes int64, from, tag int, after ...int32) int32 {
	return p.Op(graph.Op{Kind: graph.Recv, Site: p.site, Flags: p.flags, Peer: p.Int(int64(from)), Tag: p.Int(int64(tag)), Size: p.Int(bytes), Label: -1}, deps(after)...)
}

func (p *program) calc(ps int64, after ...int32) int32 {
	w := p.Work(graph.Work{Time: p.Int(ps)})
	return p.Op(graph.Op{Kind: graph.Compute, Site: p.site, Flags: p.flags, Arg: w, Label: -1}, deps(after)...)
}

func (p *program) collective(t graph.CollType, algorithm string, root int, bytes int64) int32 {
	c := p.Call(graph.Call{Type: t, Algorithm: algorithm})
	return p.Op(graph.Op{Kind: graph.Collective, Site: p.site, Flags: p.flags, Arg: c, Peer: p.Int(int64(root)), Size: p.Int(bytes), Label: -1})
}

// collectiveGraph is one collective over all ranks, each a unit of its own.
func collectiveGraph(t fataler, typ graph.CollType, algorithm string, n, root int, bytes int64) *graph.Graph {
	t.Helper()
	return unitGraph(t, typ, algorithm, n, root, 1, bytes)
}

// unitGraph is one collective over all ranks in units of the given size, to which ranks
// are dealt out in turn.
func unitGraph(t fataler, typ graph.CollType, algorithm string, n, root, unit int, bytes int64) *graph.Graph {
	b := newBuilder(n)
	for r := range n {
		p := b.rank(r, false)
		p.collective(typ, algorithm, root, bytes)
		p.Done()
	}
	g := b.finish(t)
	unitOf := make([]int32, n)
	for r := range unitOf {
		unitOf[r] = int32(r % (n / unit))
	}
	g.SetUnits(unitOf)
	return g
}

// run walks a job that must finish.
func run(t fataler, model string, job Job) *replay.Result {
	t.Helper()
	r := runAny(t, model, job)
	if !r.Verdict.OK() {
		t.Fatalf("%s: %v: %+v", model, r.Verdict.Outcome, r.Verdict)
	}
	return r
}

func runAny(t fataler, model string, job Job) *replay.Result {
	t.Helper()
	m, ok := Find(model)
	if !ok {
		t.Fatalf("no model %q", model)
	}
	r, err := m.Run(context.Background(), job)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// nanoseconds returns the finish times of the ranks in nanoseconds; the test fails
// where one is not whole.
func nanoseconds(t fataler, r *replay.Result) []int64 {
	t.Helper()
	out := make([]int64, len(r.Ranks))
	for i := range r.Ranks {
		ps := r.Clock.PS(r.Ranks[i].Finish)
		if ps%ns != 0 {
			t.Fatalf("rank %d finishes at %d ps, not a whole nanosecond", i, ps)
		}
		out[i] = ps / ns
	}
	return out
}
