package dsel

import (
	"math"
	"slices"

	"hybrid/graph"
	"hybrid/internal/diag"
)

// branchCond is a condition that is evaluated at the cursor.
type branchCond struct {
	test func(*graph.Env) (bool, error)
	text string
	at   diag.Pos
	// resolved: the condition does not depend on loops and is evaluated while lowering.
	resolved bool
}

// Eval returns 1 where the condition holds.
func (c *branchCond) Eval(env *graph.Env) (int64, error) {
	ok, err := c.test(env)
	if err != nil {
		return 0, placed(err, c.at)
	}
	if ok {
		return 1, nil
	}
	return 0, nil
}

// String is the condition as it was written.
func (c *branchCond) String() string { return c.text }

func (w *lowerer) controlSite(at diag.Pos, kind graph.Kind, s *scope, text string) int32 {
	return w.b.Site(graph.Site{Pos: at, Kind: kind, Region: s.region(), Text: text})
}

// ifStatement takes a branch while lowering where the condition does not depend
// on a loop, else writes both with a branch and a jump.
func (w *lowerer) ifStatement(st *stmt, s *scope) {
	c := w.choice(st, s, func() *code { return w.ld.condition(st.If, s) }, st.If)
	yes := w.ld.child(s, st, 0, nil)
	no := w.ld.child(s, st, 1, nil)
	w.choose(st, s, c, st.If, func() { w.block(st.Body, yes) }, func() { w.block(st.Else, no) }, len(st.Else) > 0)
}

func (w *lowerer) choice(st *stmt, s *scope, compile func() *code, e *expression) *branchCond {
	key := planKey{st, s.id}
	c, ok := w.conds[key]
	if !ok {
		if k := compile(); k != nil {
			c = &branchCond{test: k.b, text: e.text(), at: e.pos()}
			if k.dep&onLoop == 0 {
				c.resolved = true
			}
		}
		w.conds[key] = c
	}
	return c
}

func (w *lowerer) choose(st *stmt, s *scope, c *branchCond, e *expression, yes, no func(), hasElse bool) {
	if w.dry || c == nil {
		if w.dry {
			yes()
			no()
		}
		return
	}
	if c.resolved {
		w.charge(1)
		ok, err := c.test(&w.env)
		switch {
		case err != nil:
			w.report(err, e.pos())
		case ok:
			yes()
		default:
			no()
		}
		return
	}
	if w.depth > 0 {
		w.report(fault("E205", e.pos(), "not supported yet: a condition on a loop variable inside par"), diag.Pos{})
		return
	}
	site := w.controlSite(posOf(st.Pos), graph.Branch, s, "if "+c.text)
	br := w.r.Branch(site, w.r.Expr(c))
	yes()
	if !hasElse {
		w.r.Patch(br)
		return
	}
	jump := w.r.Jump(site)
	w.r.Patch(br)
	no()
	w.r.Patch(jump)
}

// on runs its block on some ranks: a rank, a list of ranks, or a condition.
func (w *lowerer) on(st *stmt, s *scope) {
	c := w.choice(st, s, func() *code { return w.ld.rankSet(st.On, s) }, st.On)
	inner := w.ld.child(s, st, 0, nil)
	w.choose(st, s, c, st.On, func() { w.block(st.Body, inner) }, func() {}, false)
}

// rankSet compiles 3, [0, 2], 0..3 or a condition to a test of the rank.
func (l *loader) rankSet(e *expression, s *scope) *code {
	return l.rankSetOf(l.compile(e, s), e)
}

func (l *loader) rankSetOf(c *code, e *expression) *code {
	switch {
	case c.kind == kindBad:
		return nil
	case c.kind == kindBool:
		return c
	case c.numeric():
		o := l.operandOf(c, e, roleRank)
		if o == nil {
			return nil
		}
		return &code{typ: typ{kind: kindBool}, dep: c.dep | onRank, b: func(env *graph.Env) (bool, error) {
			n, err := o.Eval(env)
			return n == int64(env.Rank), err
		}}
	case c.kind == kindList && c.rng != nil:
		r := c.rng
		return &code{typ: typ{kind: kindBool}, dep: c.dep | onRank, b: func(env *graph.Env) (bool, error) {
			lo, err := r.lo.i(env)
			if err != nil {
				return false, err
			}
			hi, err := r.hi.i(env)
			if err == nil && lo <= hi && (lo < 0 || hi >= l.ranks) {
				err = fault("E301", e.pos(), "ranks %d..%d reach outside of 0..%d", lo, hi, l.ranks-1)
			}
			return lo <= int64(env.Rank) && int64(env.Rank) <= hi, err
		}}
	case c.kind == kindList && (c.elem == kindInt || c.elem == kindFloat):
		return l.listSet(c, e)
	}
	l.list.Errorf("E220", e.pos(), "a set of ranks is a rank, a list, a range or a condition, not %s", c.typ)
	return nil
}

func (l *loader) listSet(c *code, e *expression) *code {
	test := func(list []any, env *graph.Env) (bool, error) {
		found := false
		for _, v := range list {
			x, _ := floatOf(v)
			if x < 0 || x >= float64(l.ranks) || x != math.Trunc(x) {
				return false, fault("E301", e.pos(), "rank %v is outside of 0..%d", v, l.ranks-1)
			}
			found = found || x == float64(env.Rank)
		}
		return found, nil
	}
	if set := numberSet(c); set != nil {
		_, err := test(c.konst.([]any), &graph.Env{})
		return &code{typ: typ{kind: kindBool}, dep: onRank, size: 1, b: func(env *graph.Env) (bool, error) { return set[float64(env.Rank)], err }}
	}
	return &code{typ: typ{kind: kindBool}, dep: c.dep | onRank, size: c.size, b: func(env *graph.Env) (bool, error) {
		list, err := listOf(c, env)
		if err == nil {
			err = l.visit(int64(len(list)), e.pos())
		}
		if err != nil {
			return false, err
		}
		return test(list, env)
	}}
}

// par starts its statements together and joins them at the end. Only statements
// that are single operations can be members.
func (w *lowerer) par(st *stmt, s *scope) {
	inner := w.ld.child(s, st, 0, nil)
	if w.dry {
		w.parMembers(st.Body)
		w.block(st.Body, inner)
		return
	}
	w.begin()
	w.block(st.Body, inner)
	w.end()
}

// word is the verb.
func (o *op) word() string {
	if o.Halo != nil {
		return "halo"
	}
	return o.Verb.Name
}

// isComposite reports whether the operation is made of several messages.
func (o *op) isComposite() bool {
	return o.Halo != nil || slices.Contains([]string{"sendrecv", "exchange"}, o.Verb.Name)
}

func (w *lowerer) parMembers(body []*stmt) {
	for _, m := range body {
		switch {
		case m.Op != nil && m.Op.isComposite() && m.info.label != nil && m.info.label.together:
			w.ld.list.Errorf("E205", posOf(m.Pos), "not supported yet: a label of %s that is waited for inside the same par", m.Op.word())
		case m.Op != nil && !(m.Op.isComposite() && m.Op.startsAsync()), m.Let != nil, m.Require != nil:
		case (m.Region != nil || m.Seq) && len(m.Body) <= 1, m.If != nil && len(m.Body) <= 1 && len(m.Else) <= 1, m.On != nil && len(m.Body) <= 1, m.Par:
			w.parMembers(m.Body)
			w.parMembers(m.Else)
		default:
			w.ld.list.Errorf("E205", posOf(m.Pos), "not supported yet: a statement inside par that is more than one operation").
				Note("use async and wait for sequences that overlap")
		}
	}
}

// loopTable is what a loop runs over.
type loopTable struct {
	trips *operand
	value *code // the loop variable, by its counter
}

func (w *lowerer) repeat(st *stmt, s *scope) {
	name := (*word)(nil)
	if st.Repeat.As != nil {
		name = st.Repeat.As
	}
	w.loop(st, s, name, "repeat "+st.Repeat.Count.text(), func(slot int32) *loopTable {
		o := w.ld.operand(st.Repeat.Count, s, roleCount)
		if o == nil {
			return nil
		}
		if n, ok := o.code.constInt(); ok && n == 0 && w.dry && len(st.Repeat.Count.tokens) == 1 && st.Repeat.Count.tokens[0].Type == tokNumber {
			w.ld.list.Warnf("W602", st.Repeat.Count.pos(), "the block is repeated 0 times")
		}
		return &loopTable{trips: o, value: counter(slot)}
	})
}

// counter is the value of a loop's counter.
func counter(slot int32) *code {
	return &code{typ: typ{kind: kindInt}, dep: onLoop, size: 1, i: func(e *graph.Env) (int64, error) { return e.Loops[slot], nil }}
}

func (w *lowerer) forStatement(st *stmt, s *scope) {
	w.loop(st, s, st.For.Var, "for "+st.For.Var.Text+" in "+st.For.List.text(), func(slot int32) *loopTable {
		c := w.ld.compile(st.For.List, s)
		if c.kind == kindBad {
			return nil
		}
		if c.kind != kindList {
			w.ld.list.Errorf("E220", st.For.List.pos(), "a loop runs over a list such as 0..n-1, not %s", c.typ)
			return nil
		}
		if c.rng != nil {
			return w.rangeLoop(c, st.For.List, slot)
		}
		return w.listLoop(c, st.For.List, slot)
	})
}

func (w *lowerer) rangeLoop(c *code, e *expression, slot int32) *loopTable {
	r := c.rng
	trips := &code{typ: typ{kind: kindInt}, dep: c.dep, size: c.size, i: func(env *graph.Env) (int64, error) {
		_, _, n, err := r.bounds(env)
		return n, err
	}}
	t := &loopTable{trips: &operand{code: trips.fold(), role: roleCount, ranks: w.ld.ranks, src: e, at: e.pos()}}
	v := &code{typ: typ{kind: kindInt}, dep: c.dep | onLoop, size: c.size + 1}
	lo, isConst := r.lo.constInt()
	switch {
	case !r.reverse && isConst && lo == 0:
		v = counter(slot)
	case !r.reverse:
		first := r.lo.i
		if isConst {
			v.i = func(env *graph.Env) (int64, error) { return lo + env.Loops[slot], nil }
		} else {
			v.i = func(env *graph.Env) (int64, error) { n, err := first(env); return n + env.Loops[slot], err }
		}
	default:
		last := r.hi.i
		v.i = func(env *graph.Env) (int64, error) { n, err := last(env); return n - env.Loops[slot], err }
	}
	t.value = v
	return t
}

func (w *lowerer) listLoop(c *code, e *expression, slot int32) *loopTable {
	c = w.ld.remember(c, e) // or every iteration would make the list again
	trips := &code{typ: typ{kind: kindInt}, dep: c.dep, size: c.size, i: func(env *graph.Env) (int64, error) {
		list, err := listOf(c, env)
		return int64(len(list)), err
	}}
	t := &loopTable{trips: &operand{code: trips.fold(), role: roleCount, ranks: w.ld.ranks, src: e, at: e.pos()}}
	k := &compiler{ld: w.ld, e: e}
	t.value = k.element(c, c.dep|onLoop, c.size+1, func(env *graph.Env) (any, error) {
		list, err := listOf(c, env)
		if i := env.Loops[slot]; err == nil && i < int64(len(list)) {
			return list[i], nil
		}
		return nil, err
	})
	return t
}

// loop writes a loop around the body of a statement.
func (w *lowerer) loop(st *stmt, s *scope, name *word, text string, table func(slot int32) *loopTable) {
	if w.dry {
		if s.loops >= maxDepth {
			return
		}
		if t := table(-1); t != nil {
			w.block(st.Body, w.loopScope(st, s, name, -1, t))
		}
		return
	}
	if w.depth > 0 {
		w.report(fault("E205", posOf(st.Pos), "not supported yet: a loop inside par"), diag.Pos{})
		return
	}
	// The slot is that of the next BeginLoop; a loop that never runs takes none.
	slot := w.slots
	t, known := w.tables[tableKey{st, s.id, slot}]
	if !known {
		t = table(slot)
		w.tables[tableKey{st, s.id, slot}] = t
	}
	if t == nil {
		return
	}
	trips := graph.Value(0)
	if t.trips.loop() {
		trips = w.r.Expr(t.trips)
	} else {
		n := w.int(t.trips)
		if n == 0 {
			return
		}
		trips = w.r.Int(n)
	}
	site := w.controlSite(posOf(st.Pos), graph.Loop, s, text)
	w.ops++
	w.slots++
	w.r.BeginLoop(site, trips)
	w.block(st.Body, w.loopScope(st, s, name, slot, t))
	w.endScope(st.info.block, s.labels.call, site)
	w.r.EndLoop(site)
}

type tableKey struct {
	s     *stmt
	scope int
	slot  int32
}

func (w *lowerer) loopScope(st *stmt, s *scope, name *word, slot int32, t *loopTable) *scope {
	return w.ld.child(s, st, slot, func(k *scope) {
		k.loops = s.loops + 1
		if name == nil {
			return
		}
		if reserved()[name.Text] {
			w.ld.list.Errorf("E212", posOfWord(name), "%q is a word of the language and cannot name a loop variable", name.Text)
		} else if o := s.lookup(name.Text); o != nil && w.dry {
			w.ld.list.Warnf("W605", posOfWord(name), "loop variable %s hides the %s of that name", name.Text, o.word).Note("the outer one is at %s", o.pos)
		}
		k.value(name.Text, "loop variable", posOfWord(name), new(bool), t.value)
	})
}
