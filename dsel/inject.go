package dsel

import (
	"fmt"
	"math"
	"slices"

	"github.com/expr-lang/expr/ast"

	"hybrid/graph"
	"hybrid/internal/diag"
	"hybrid/internal/units"
)

// inject is a declared disturbance.
type inject struct {
	decl    *injectDecl
	pos     diag.Pos
	index   int
	touched bool
	bad     bool // its fault is reported
	seen    bool // some operation is in scope of it, whether or not its condition ever holds
}

// injected is a disturbance in the scope of one operation. It adds to the
// operations of the ranks and iterations that it selects.
type injected struct {
	decl *inject
	// on selects ranks while lowering, nil: all. when selects instances, nil: all.
	on, when *code
	src      *expression
	at       diag.Pos
	text     string

	// A delay is a time or a factor of the operation's own duration.
	delay  *operand
	factor *code
	// Noise is drawn from a distribution of times.
	draw func(h hash, env *graph.Env) (float64, error)
	seed uint64
}

// injectionsFor compiles the disturbances that select the operation.
func (l *loader) injectionsFor(p *planner) []*injected {
	var out []*injected
	for _, in := range l.injects {
		if in.bad {
			continue
		}
		if of := in.decl.Of; of != nil {
			name := unquote(of.Text)
			if name != p.name && !slices.Contains(p.scope.regions, name) {
				continue
			}
		}
		before := l.list.Len()
		if x := l.injected(in, p.scope); x != nil {
			out = append(out, x)
		}
		in.bad = l.list.Len() > before
	}
	return out
}

// inScope compiles an expression that may name loop variables of the operation's
// surroundings; false where it names something that is not there.
func (l *loader) inScope(e *expression, s *scope) (*code, bool) {
	budget, elsewhere := 0, false
	c := &compiler{ld: l, scope: s.around(), e: e, budget: &budget, elsewhere: &elsewhere}
	k := c.whole()
	return k, !elsewhere && k.kind != kindBad
}

func (l *loader) injected(in *inject, s *scope) *injected {
	d := in.decl
	x := &injected{decl: in, src: d.Value, at: d.Value.pos(), text: "inject " + d.Kind + " " + d.Value.text()}
	if d.When != nil {
		c, ok := l.inScope(d.When, s)
		if !ok {
			return nil
		}
		if c.kind != kindBool {
			l.list.Errorf("E220", d.When.pos(), "a condition must be true or false, not %s", c.typ)
			return nil
		}
		x.when = c
		x.text += " when " + d.When.text()
	}
	if d.On != nil {
		c, ok := l.inScope(d.On, s)
		if !ok {
			return nil
		}
		if c.dep&onLoop != 0 {
			l.list.Errorf("E208", d.On.pos(), "the ranks of an injection must be the same in every iteration; use when")
			return nil
		}
		if x.on = l.rankSetOf(c, d.On); x.on == nil {
			return nil
		}
	}
	in.seen = true
	if d.Kind == "noise" {
		return l.noise(x, d, s)
	}
	return l.delay(x, d, s)
}

// delay reads `5ms` or `20x`.
func (l *loader) delay(x *injected, d *injectDecl, s *scope) *injected {
	if d.Seed != nil {
		l.list.Errorf("E240", d.Seed.pos(), "'seed' goes with inject noise")
		return nil
	}
	c, ok := l.inScope(d.Value, s)
	if !ok {
		return nil
	}
	factor := false
	for _, q := range d.Value.quantities {
		factor = factor || q.unit.per == "x"
	}
	switch {
	case c.numeric() && c.dims == plainDims() && factor:
		x.factor = c
		if v, ok := floatOf(c.konst); ok && v < 1 {
			l.list.Errorf("E222", d.Value.pos(), "a factor must be at least 1x, not %s", d.Value.text())
			return nil
		}
	case c.numeric() && (c.dims == timeDims() || c.any):
		x.delay = &operand{code: c, role: roleTime, ranks: l.ranks, src: d.Value, at: d.Value.pos()}
		if c.konst != nil {
			if _, err := x.delay.Eval(&graph.Env{}); err != nil {
				l.list.Add(err.(diag.Diagnostic))
				return nil
			}
		}
	default:
		l.list.Errorf("E220", d.Value.pos(), "a delay is a time such as 5ms or a factor such as 20x, not %s", c.typ)
		return nil
	}
	return x
}

// distributions are the shapes of noise and their parameters.
func distributions() map[string]int {
	return map[string]int{"uniform": 2, "normal": 2, "exponential": 1}
}

// noise reads uniform(a, b), normal(mean, deviation) or exponential(mean).
func (l *loader) noise(x *injected, d *injectDecl, s *scope) *injected {
	fault := func() *injected {
		l.list.Errorf("E220", d.Value.pos(), "noise is uniform(a, b), normal(mean, deviation) or exponential(mean), of times")
		return nil
	}
	call, ok := d.Value.tree(l.list).(*ast.CallNode)
	if !ok {
		if d.Value.bad {
			return nil
		}
		return fault()
	}
	name, ok := call.Callee.(*ast.IdentifierNode)
	if !ok || distributions()[name.Value] == 0 || len(call.Arguments) != distributions()[name.Value] {
		return fault()
	}
	elsewhere := false
	args := make([]floatFn, len(call.Arguments))
	var ends []float64 // as far as they are constant
	for i, a := range call.Arguments {
		budget := 0
		c := &compiler{ld: l, scope: s.around(), e: d.Value, budget: &budget, elsewhere: &elsewhere}
		k := c.compile(a)
		if elsewhere || k.kind == kindBad {
			return nil
		}
		if !k.numeric() || k.dims != timeDims() && !k.any {
			return fault()
		}
		if v, ok := floatOf(k.konst); ok {
			if v < 0 && (name.Value != "normal" || i == 1) {
				l.list.Errorf("E222", d.Value.pos(), "a time of %s(..) is negative", name.Value)
				return nil
			}
			ends = append(ends, v)
		}
		args[i] = k.asFloat()
	}
	if name.Value == "uniform" && len(ends) == 2 && ends[1] < ends[0] {
		l.list.Errorf("E222", d.Value.pos(), "the bounds of uniform(a, b) rise")
		return nil
	}
	x.draw = distribution(name.Value, args)
	x.seed = mix(l.opt.Seed, uint64(d.index(x)))
	if d.Seed != nil {
		n, ok := l.constant(d.Seed, l.root, roleIndex, "a seed")
		if !ok {
			return nil
		}
		x.seed = mix(l.opt.Seed, uint64(n))
	}
	return x
}

func (d *injectDecl) index(x *injected) int { return x.decl.index }

// distribution returns the function that turns random bits into picoseconds.
func distribution(name string, args []floatFn) func(h hash, env *graph.Env) (float64, error) {
	return func(h hash, env *graph.Env) (float64, error) {
		a, err := args[0](env)
		if err != nil {
			return 0, err
		}
		switch name {
		case "uniform":
			b, err := args[1](env)
			return a + (b-a)*h.uniform(0), err
		case "normal":
			b, err := args[1](env)
			return a + b*h.normal(), err
		}
		return -a * math.Log(1-h.uniform(0)), nil
	}
}

// Extra returns the picoseconds that the disturbance adds to one instance
// (graph.Injection). Noise below zero counts as zero.
func (x *injected) Extra(env *graph.Env, base int64) (int64, error) {
	if x.when != nil {
		ok, err := x.when.b(env)
		if err != nil || !ok {
			return 0, x.placed(err)
		}
	}
	switch {
	case x.delay != nil:
		return x.delay.Eval(env)
	case x.draw != nil:
		v, err := x.draw(newHash(x.seed, env), env)
		return x.whole(max(v, 0), err)
	}
	if k, ok := x.factor.konst.(int64); ok {
		return units.MulDiv(base, k-1, 1), nil
	}
	f, err := x.factor.asFloat()(env)
	if err == nil && f < 1 {
		return 0, fault("E222", x.at, "a factor must be at least 1x, not %vx", f)
	}
	return x.whole(float64(base)*(f-1), err)
}

func (x *injected) placed(err error) error {
	if err == nil {
		return nil
	}
	return placed(err, x.at)
}

func (x *injected) whole(v float64, err error) (int64, error) {
	if err != nil {
		return 0, x.placed(err)
	}
	if math.IsNaN(v) || math.Abs(v) >= 1<<62 {
		return 0, fault("E222", x.at, "the injected time is %v", v)
	}
	return int64(math.Round(v)), nil
}

// String is the injection as it was written.
func (x *injected) String() string { return x.text }

// selected keeps the disturbances of the rank. Where the condition does not
// depend on loops it is decided here.
func selected(w *lowerer, all []*injected) []graph.Injection {
	var out []graph.Injection
	for _, x := range all {
		keep := true
		for _, test := range []*code{x.on, x.when} {
			if !keep || test == nil || test.dep&onLoop != 0 {
				continue
			}
			ok, err := test.b(&w.env)
			if err != nil {
				w.report(err, x.at)
			}
			keep = keep && ok && err == nil
		}
		if keep {
			x.decl.touched = true
			out = append(out, x)
		}
	}
	return out
}

// untouched warns about disturbances that select nothing.
func (l *loader) untouched() {
	for _, in := range l.injects {
		if !in.touched {
			why := fmt.Sprintf("inject %s touches no operation", in.decl.Kind)
			d := l.list.Warnf("W602", in.pos, "%s", why)
			if of := in.decl.Of; of != nil && !l.regions[unquote(of.Text)] && !l.named[unquote(of.Text)] {
				d.Note("no region and no operation is named %s%s", of.Text, diag.DidYouMean(unquote(of.Text), append(sortedKeys(l.regions), sortedKeys(l.named)...)))
			} else if !in.seen {
				d.Note("its condition names something that is not in scope of any operation it selects")
			}
		}
	}
}
