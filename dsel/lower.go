package dsel

import (
	"strconv"

	"hybrid/graph"
	"hybrid/internal/diag"
)

// lowerer walks the program once for each rank and writes its operations. In a
// dry walk, which is the static check, nothing is written and every branch is
// visited.
type lowerer struct {
	ld    *loader
	b     *graph.Builder
	r     *graph.RankBuilder
	dry   bool
	rank  int32
	env   graph.Env
	plans map[planKey]emitter
	conds map[planKey]*branchCond
	ops   int
	steps int64
	// pending holds the members of a composite until its last one is known.
	pending []pendingOp
	depth   int // composites that are open
	halt    bool
	// faults are merged by place: the same mistake on many ranks is one finding.
	faults map[faultKey]int
	found  []diag.Diagnostic
	tables map[tableKey]*loopTable
	slots  int32 // loop counters of the rank so far
}

type planKey struct {
	s     *stmt
	scope int
}

type faultKey struct {
	code string
	pos  diag.Pos
}

type pendingOp struct {
	op   graph.Op
	deps []graph.Dep
}

// emitter writes a planned statement for the current rank.
type emitter func(w *lowerer)

// lower writes the programs of all ranks.
func (l *loader) lower() *graph.Graph {
	name := l.name
	if name == "" {
		name = l.file
	}
	b := graph.NewBuilder(name, graph.Blueprint, int(l.ranks))
	w := &lowerer{ld: l, b: b, plans: map[planKey]emitter{}, conds: map[planKey]*branchCond{}, faults: map[faultKey]int{}, tables: map[tableKey]*loopTable{}}
	l.numbers = map[labelKey]int32{}
	for r := range int32(l.ranks) {
		w.rank, w.env, w.ops, w.slots = r, graph.Env{Rank: r}, 0, 0
		w.r = b.Rank(int(r), false)
		w.block(l.program.Body, l.programScope(false))
		if w.halt || len(w.found) >= maxFaults {
			break
		}
		w.r.Done()
	}
	for _, d := range w.found {
		l.list.Add(d)
	}
	l.untouched()
	if l.list.HasErrors() {
		return nil
	}
	return l.finish(b)
}

func (l *loader) finish(b *graph.Builder) *graph.Graph {
	g := b.Graph()
	g.Machine, g.Network = l.targetName("machine"), l.targetName("network")
	for _, p := range l.params {
		g.Params = append(g.Params, graph.Param{Name: p.sym.name, Value: p.text()})
	}
	g, err := b.Finish()
	if err != nil {
		l.list.Errorf("E299", diag.Pos{File: l.file}, "%v", err)
		return nil
	}
	return g
}

// programScope is the scope of the program block; the dry walk has its own.
func (l *loader) programScope(dry bool) *scope {
	return l.child(l.root, dry, 0, func(s *scope) { s.labels = &labelScope{call: s.id} })
}

// report adds a fault of the current rank, merged with those at the same place.
func (w *lowerer) report(err error, at diag.Pos) {
	w.reportOn(err, at, true)
}

// reportOn is report; without ranked the fault is that of every rank alike.
func (w *lowerer) reportOn(err error, at diag.Pos, ranked bool) {
	d := placed(err, at).(diag.Diagnostic)
	key := faultKey{d.Code, d.Pos}
	if i, ok := w.faults[key]; ok {
		if ranked {
			w.found[i].Count++
		}
		return
	}
	if ranked {
		d = noteRank(d, w.rank)
	}
	w.faults[key] = len(w.found)
	w.found = append(w.found, d)
}

// raw appends an operation unless the walk is dry.
func (w *lowerer) raw(op graph.Op, deps ...graph.Dep) {
	if w.dry || w.halt {
		return
	}
	w.charge(10)
	if w.ops++; w.ops > w.ld.limits.ops {
		w.halt = true
		w.report(fault("E204", posOf(w.ld.program.Pos), "rank %d would have more than %d operations", w.rank, w.ld.limits.ops), diag.Pos{})
		return
	}
	w.r.Op(op, deps...)
}

// emit appends an operation, or keeps it while a composite is open.
func (w *lowerer) emit(op graph.Op, deps ...graph.Dep) {
	if w.depth > 0 {
		w.pending = append(w.pending, pendingOp{op, deps})
		return
	}
	w.raw(op, deps...)
}

func (w *lowerer) begin() { w.depth++ }

// end closes a composite: all members but the last let the thread go on to the
// next one.
func (w *lowerer) end() {
	if w.depth--; w.depth > 0 {
		return
	}
	for i, p := range w.pending {
		if i < len(w.pending)-1 {
			p.op.Flags |= graph.More
		}
		w.raw(p.op, p.deps...)
	}
	w.pending = w.pending[:0]
}

// value turns an operand into a graph value: a number of this rank, or the
// operand itself where it changes from iteration to iteration.
func (w *lowerer) value(o *operand) graph.Value {
	if w.dry {
		return 0
	}
	if o == nil {
		return w.r.Int(0)
	}
	if o.loop() {
		return w.r.Expr(o)
	}
	return w.r.Int(w.int(o))
}

// int evaluates an operand that does not depend on loops. A fault is reported
// and counts as 0.
func (w *lowerer) int(o *operand) int64 {
	if w.dry {
		return 0
	}
	w.charge(o.code.size)
	n, err := o.Eval(&w.env)
	if err != nil {
		w.reportOn(err, o.at, o.code.dep != 0)
		return 0
	}
	return n
}

// charge counts work and stops the lowering when it is out of all proportion.
func (w *lowerer) charge(n int) {
	if w.steps += int64(n) + 1; w.steps > w.ld.limits.steps && !w.halt {
		w.halt = true
		w.report(fault("E204", posOf(w.ld.program.Pos), "lowering the program takes more than %d steps", w.ld.limits.steps), diag.Pos{})
	}
}

// block lowers statements in order inside a scope of their own.
func (w *lowerer) block(body []*stmt, s *scope) {
	for _, st := range body {
		if w.halt || w.dry && w.ld.list.full() {
			return
		}
		w.charge(1)
		s = w.statement(st, s)
	}
}

// statement lowers one statement and returns the scope for those that follow.
func (w *lowerer) statement(st *stmt, s *scope) *scope {
	switch {
	case st.Let != nil:
		return w.let(st, s)
	case st.If != nil:
		w.ifStatement(st, s)
	case st.Repeat != nil:
		w.repeat(st, s)
	case st.For != nil:
		w.forStatement(st, s)
	case st.On != nil:
		w.on(st, s)
	case st.Par:
		w.par(st, s)
	case st.Seq:
		w.block(st.Body, s)
	case st.Region != nil:
		w.region(st, s)
	case st.Wait != nil || st.WaitAll:
		w.plan(st, s, planWait)
	case st.Require != nil:
		w.require(st, s)
	case st.Op != nil:
		w.plan(st, s, planOp)
	case st.Call != nil:
		w.call(st, s)
	}
	return s
}

// plan compiles a statement once for its scope and writes it for the rank.
func (w *lowerer) plan(st *stmt, s *scope, make func(*lowerer, *stmt, *scope) emitter) {
	key := planKey{st, s.id}
	e, ok := w.plans[key]
	if !ok {
		e = make(w, st, s)
		w.plans[key] = e
	}
	if e != nil && !w.dry {
		e(w)
	}
}

func (w *lowerer) let(st *stmt, s *scope) *scope {
	l := w.ld
	return l.child(s, st, 0, func(k *scope) {
		name := st.Let.Name
		if reserved()[name.Text] {
			l.list.Errorf("E212", posOfWord(name), "%q is a word of the language and cannot name a let", name.Text)
		} else if o := s.lookup(name.Text); o != nil && w.dry {
			l.list.Warnf("W605", posOfWord(name), "let %s hides the %s of that name", name.Text, o.word).Note("the outer one is at %s", o.pos)
		}
		k.value(name.Text, "let", posOfWord(name), &st.info.used, l.remember(l.compile(st.Let.Value, s), st.Let.Value))
	})
}

func (w *lowerer) region(st *stmt, s *scope) {
	name := unquote(*st.Region)
	inner := w.ld.child(s, st, 0, func(k *scope) {
		k.regions = append(append([]string{}, s.regions...), name)
	})
	if w.dry {
		w.ld.regionSeen(name)
	}
	w.block(st.Body, inner)
}

func (w *lowerer) require(st *stmt, s *scope) {
	w.plan(st, s, func(w *lowerer, st *stmt, s *scope) emitter {
		c := w.ld.condition(st.Require.Cond, s)
		if c == nil {
			return nil
		}
		if c.dep&onLoop != 0 {
			w.ld.list.Errorf("E205", st.Require.Cond.pos(), "not supported yet: require on a loop variable")
			return nil
		}
		return func(w *lowerer) {
			ok, err := c.b(&w.env)
			switch {
			case err != nil:
				w.report(err, st.Require.Cond.pos())
			case !ok:
				w.report(requireFault(st.Require), diag.Pos{})
			}
		}
	})
}

func requireFault(r *requireDecl) error {
	msg := r.Cond.text() + " does not hold"
	if r.Message != nil {
		msg = unquote(*r.Message)
	}
	return fault("E231", r.Cond.pos(), "%s", msg)
}

// checkRequire tests a require declaration.
func (l *loader) checkRequire(r *requireDecl, s *scope) {
	c := l.condition(r.Cond, s)
	if c == nil || c.dep != 0 && !l.afford(c, r.Cond) {
		return
	}
	for rank := range int32(l.ranks) {
		ok, err := c.b(&graph.Env{Rank: rank})
		if err == nil && ok && c.dep == 0 {
			return
		}
		if err == nil && !ok {
			err = requireFault(r)
		}
		if err != nil {
			d := placed(err, r.Cond.pos()).(diag.Diagnostic)
			if c.dep != 0 {
				d.Note("with rank as %d", rank)
			}
			for _, p := range l.params {
				if r.Cond.mentions(p.sym.name) && p.value != nil {
					d.Note("with %s as %s", p.sym.name, p.text())
				}
			}
			l.list.Add(d)
			return
		}
	}
}

func (e *expression) mentions(name string) bool {
	for _, t := range e.tokens {
		if t.Type == tokIdent && t.Value == name {
			return true
		}
	}
	return false
}

// condition compiles an expression that must be true or false.
func (l *loader) condition(e *expression, s *scope) *code {
	c := l.compile(e, s)
	if c.kind == kindBad {
		return nil
	}
	if c.kind != kindBool {
		l.list.Errorf("E220", e.pos(), "a condition must be true or false, not %s", c.typ)
		return nil
	}
	return c
}

// call lowers a call of a def: its body in a scope with the parameters bound to
// the arguments.
func (w *lowerer) call(st *stmt, s *scope) {
	l := w.ld
	at := posOfWord(st.Call.Name)
	sym := s.lookup(st.Call.Name.Text)
	if sym == nil || sym.what != isDef {
		w.unknownCall(st, s, sym, at)
		return
	}
	*sym.used = true
	for _, d := range s.calls {
		if d == sym.def {
			l.list.Errorf("E211", at, "def %s calls itself", sym.name)
			return
		}
	}
	if len(st.Call.Args) != len(sym.def.Def.Params) {
		l.list.Errorf("E213", at, "def %s needs %d arguments, not %d", sym.name, len(sym.def.Def.Params), len(st.Call.Args))
		return
	}
	if w.dry && !l.firstCheck(sym, st, s) {
		return
	}
	inner := l.callScope(st, s, sym)
	site := int32(0)
	w.block(sym.def.Body, inner)
	if len(sym.def.block.ends) > 0 && !w.dry {
		site = w.b.Site(graph.Site{Pos: at, Kind: graph.ScopeEnd, Region: s.region(), Text: sym.name + "()"})
		w.endScope(sym.def.block, inner.labels.call, site)
	}
}

func (w *lowerer) unknownCall(st *stmt, s *scope, sym *symbol, at diag.Pos) {
	l := w.ld
	switch {
	case l.poisoned[st.Call.Name.Text]:
	case sym != nil && sym.what == isFn:
		*sym.used = true
		l.list.Errorf("E210", at, "fn %s is a value, not a statement", sym.name)
	case sym != nil:
		l.list.Errorf("E210", at, "%s is a %s and cannot be called", sym.name, sym.word)
	default:
		var names []string
		for _, n := range l.root.names {
			if n.what == isDef {
				names = append(names, n.name)
			}
		}
		l.list.Errorf("E210", at, "unknown def %q%s", st.Call.Name.Text, diag.DidYouMean(st.Call.Name.Text, append(names, verbs()...)))
	}
}

// callScope binds the parameters of a def: it lies in the root, not in the caller.
func (l *loader) callScope(st *stmt, s *scope, sym *symbol) *scope {
	return l.child(s, st, 0, func(k *scope) {
		k.parent = l.root
		k.calls = append(append([]*decl{}, s.calls...), sym.def)
		k.labels = &labelScope{call: k.id}
		k.caller = s
		args := l.arguments(st, s)
		for i, a := range st.Call.Args {
			p := sym.def.Def.Params[i]
			k.value(p.Text, "parameter", posOfWord(p), new(bool), l.remember(args[i], a))
		}
	})
}

// arguments compiles the arguments of a call once in each scope.
func (l *loader) arguments(st *stmt, s *scope) []*code {
	key := planKey{st, s.id}
	args, ok := l.args[key]
	if !ok {
		for _, a := range st.Call.Args {
			args = append(args, l.compile(a, s))
		}
		l.args[key] = args
	}
	return args
}

// signature tells calls apart whose bodies must be checked separately: by the
// types of their arguments.
func (l *loader) signature(st *stmt, s *scope) string {
	key := ""
	for _, c := range l.arguments(st, s) {
		key += strconv.Itoa(int(c.kind)) + c.dims.String() + strconv.FormatBool(c.any) + strconv.Itoa(int(c.dep)) + ";"
	}
	return key
}

// firstCheck reports whether the dry walk has not yet checked the def for a call
// of this kind. Without it, defs that call defs would be checked exponentially
// often.
func (l *loader) firstCheck(sym *symbol, st *stmt, s *scope) bool {
	key := sym.name + "(" + l.signature(st, s)
	for _, d := range s.calls {
		key += "<" + d.Def.Name.Text
	}
	if len(s.calls) > 20 {
		key = sym.name
	}
	for _, r := range s.regions {
		key += "/" + r
	}
	if l.checked[key] {
		return false
	}
	if l.checked == nil {
		l.checked = map[string]bool{}
	}
	l.checked[key] = true
	return true
}
