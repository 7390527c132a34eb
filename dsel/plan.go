package dsel

import (
	"slices"
	"strings"
	"sync"

	"hybrid/graph"
	"hybrid/internal/diag"
)

// verbRow describes one verb: the clauses that it takes besides those that every
// operation takes, and how it is planned.
type verbRow struct {
	name    string
	doc     string
	clauses []string
	plan    func(p *planner) emitter
}

// verbTable lists the operations of the language.
func verbTable() []verbRow {
	coll := []string{"over", "algo"}
	rooted := append(slices.Clone(coll), "root")
	return []verbRow{
		{"compute", "time, roofline, ECM or kernel work on the rank's processor", []string{"flops", "bytes", "precision", "ecm", "work", "cores", "per", "kernel", "source", "on"}, planCompute},
		{"delay", "injected time", []string{"on"}, planDelay},
		{"load", "a memory read of a size, or of a fixed time", []string{"for"}, planMemory},
		{"store", "a memory write of a size, or of a fixed time", []string{"for"}, planMemory},
		{"mark", "an iteration boundary for reports", nil, planMark},
		{"send", "a message to a rank", []string{"to", "tag", "proto"}, planSend},
		{"isend", "an asynchronous send", []string{"to", "tag", "proto"}, planSend},
		{"recv", "a message from a rank or from any", []string{"from", "tag"}, planRecv},
		{"irecv", "an asynchronous receive", []string{"from", "tag"}, planRecv},
		{"sendrecv", "a send and a receive at once", []string{"to", "from", "tag", "rsize", "rtag", "proto"}, planSendrecv},
		{"transfer", "a message from one rank to another, written once for both", []string{"from", "to", "tag", "proto"}, planTransfer},
		{"exchange", "messages to and from each of a list of ranks", []string{"with", "tag", "proto"}, planExchange},
		{"halo", "messages to both neighbours along the axes of a grid", []string{"proto"}, planHalo},
		{"barrier", "no rank goes on before all have come", coll, planCollective(graph.Barrier, false)},
		{"bcast", "the root's data to all", rooted, planCollective(graph.Broadcast, true)},
		{"reduce", "the combination of all data to the root", rooted, planCollective(graph.Reduce, true)},
		{"allreduce", "the combination of all data to all", coll, planCollective(graph.AllReduce, false)},
		{"gather", "all data to the root", rooted, planCollective(graph.Gather, true)},
		{"allgather", "all data to all", coll, planCollective(graph.AllGather, false)},
		{"scatter", "parts of the root's data to all", rooted, planCollective(graph.Scatter, true)},
		{"reducescatter", "parts of the combination to all", coll, planCollective(graph.ReduceScatter, false)},
		{"alltoall", "a part of everyone's data to everyone", append(slices.Clone(coll), "each"), planCollective(graph.AllToAll, false)},
		{"alltoallv", "an all-to-all with a size for each pair", coll, planAlltoallv},
	}
}

// verbIndex is the table by name.
var verbIndex = sync.OnceValue(func() map[string]verbRow {
	m := map[string]verbRow{}
	for _, v := range verbTable() {
		m[v.name] = v
	}
	return m
})

func findVerb(name string) verbRow { return verbIndex()[name] }

// planner compiles one operation in one scope.
type planner struct {
	w      *lowerer
	l      *loader
	st     *stmt
	op     *op
	scope  *scope
	row    verbRow
	at     diag.Pos
	clause map[string]*clause
	ok     bool

	flags  graph.Flags
	stream string
	name   string
	label  *labelDecl
	index  *operand
	after  []depPlan
}

// depPlan is a dependency on an asynchronous label.
type depPlan struct {
	mode  graph.DepMode
	decl  *labelDecl
	index *operand
	back  int32
}

// planOp compiles an operation; nil means that a fault was reported.
func planOp(w *lowerer, st *stmt, s *scope) emitter {
	p := &planner{w: w, l: w.ld, st: st, op: st.Op, scope: s, clause: map[string]*clause{}, ok: true, label: st.info.label}
	name := "halo"
	if st.Op.Halo != nil {
		p.at = posOf(st.Op.Halo.Pos)
	} else {
		name = st.Op.Verb.Name
		p.at = posOf(st.Op.Verb.Pos)
	}
	p.at.Span = len(name)
	p.row = findVerb(name)
	p.clauses()
	p.common()
	if !p.ok {
		return nil
	}
	e := p.row.plan(p)
	if !p.ok {
		return nil
	}
	return e
}

func (c *clause) key() string {
	switch {
	case c.After != nil:
		return "after"
	case c.Over != nil:
		return "over"
	case c.Name != nil:
		return "name"
	case c.Each:
		return "each"
	case c.Option != "":
		return c.Option
	case c.Kernel != nil:
		return "kernel"
	case c.Source != nil:
		return "source"
	case c.ECM != nil:
		return "ecm"
	}
	return c.Pair.Key
}

// clauses files the clauses by their word and checks that the verb takes them.
func (p *planner) clauses() {
	for _, c := range p.op.Clauses.list {
		key := c.key()
		at := posOf(c.Pos)
		at.Span = len(key)
		allowed := append([]string{"after", "name", "stream"}, p.row.clauses...)
		switch {
		case !slices.Contains(allowed, key):
			d := p.fail("E240", at, "%s does not take '%s'", p.row.name, key)
			d.Note("%s takes: %s", p.row.name, strings.Join(allowed, ", "))
			if key == "over" {
				d.Note("point-to-point partners are world ranks")
			}
		case p.clause[key] != nil && key != "after":
			p.fail("E240", at, "'%s' is given twice", key)
		case c.any() && key != "from" && key != "tag":
			p.fail("E240", at, "'%s' cannot be any", key)
		}
		p.clause[key] = c
		if key == "after" {
			p.deps(c.After)
		}
	}
}

func (p *planner) fail(code string, at diag.Pos, format string, args ...any) *diag.Diagnostic {
	p.ok = false
	return p.l.list.Errorf(code, at, format, args...)
}

// notA reports a name that stands for nothing, or for something else than is
// needed. Only names of that sort are suggested.
func (p *planner) notA(sort string, sym *symbol, w *word, kind what) *diag.Diagnostic {
	if sym != nil {
		return p.fail("E210", posOfWord(w), "%s is a %s, not a %s", w.Text, sym.word, sort)
	}
	var names []string
	for _, s := range p.l.root.names {
		if s.what == kind {
			names = append(names, s.name)
		}
	}
	return p.fail("E210", posOfWord(w), "unknown %s %q%s", sort, w.Text, diag.DidYouMean(w.Text, names))
}

// missing reports that the verb needs a clause or an operand.
func (p *planner) missing(what string) emitter {
	if !p.ok {
		return nil // it may be in what could not be read
	}
	p.fail("E240", p.at, "%s needs %s", p.row.name, what)
	return nil
}

// common takes what all operations share: label, name, async, stream.
func (p *planner) common() {
	if p.op.startsAsync() {
		p.flags |= graph.Async
	}
	if c := p.clause["name"]; c != nil {
		p.name = unquote(*c.Name)
		if p.w.dry {
			p.l.nameSeen(p.name)
		}
	} else if p.op.Label != nil {
		p.name = p.op.Label.Label[1:]
	}
	if c := p.clause["stream"]; c != nil {
		p.streamClause(c)
	}
	if r := p.op.Label; r != nil && r.Index != nil {
		p.index = p.l.operand(r.Index, p.scope, roleIndex)
		p.ok = p.ok && p.index != nil
	}
}

func (p *planner) streamClause(c *clause) {
	sym := p.scope.lookup(c.Word.Text)
	if sym == nil || sym.what != isStream {
		if sym == nil && p.l.poisoned[c.Word.Text] {
			p.ok = false
			return
		}
		if d := p.notA("stream", sym, c.Word, isStream); sym == nil {
			d.Note("declare it: stream %s", c.Word.Text)
		}
		return
	}
	*sym.used = true
	p.stream = sym.name
}

// deps plans the references of an after clause or a wait. Labels of blocking
// operations are complete by then and need nothing.
func (p *planner) deps(refs []*ref) {
	for _, r := range refs {
		d := depPlan{mode: graph.DepLabel, decl: r.decl}
		switch {
		case r.decl == nil:
			p.ok = false // reported by the label pass
			continue
		case r.Index != nil:
			d.mode = graph.DepIndex
			if d.index = p.l.operand(r.Index, p.scope, roleIndex); d.index == nil {
				p.ok = false
				continue
			}
		case r.All:
			d.mode = graph.DepEach
		}
		if r.Prev {
			d.mode, d.back = graph.DepPrev, 1
			if r.Back != nil {
				n, ok := p.l.constant(r.Back, p.scope, roleCount, "the number of iterations back")
				if !ok || n < 1 || n > 1<<20 {
					if ok {
						p.l.list.Errorf("E222", r.Back.pos(), "the number of iterations back must be in 1..%d", 1<<20)
					}
					p.ok = false
					continue
				}
				d.back = int32(n)
			}
			if r.Index != nil {
				p.fail("E205", posOf(r.Pos), "not supported yet: an indexed label of an earlier iteration")
				continue
			}
		}
		if r.decl.async {
			p.after = append(p.after, d)
		}
	}
}

func (p *planner) operand(e *expression, r role) *operand {
	o := p.l.operand(e, p.scope, r)
	p.ok = p.ok && o != nil
	return o
}

// value compiles a clause's expression; nil if the clause is not there.
func (p *planner) value(key string, r role) *operand {
	c := p.clause[key]
	if c == nil || c.any() {
		return nil
	}
	return p.operand(c.value(), r)
}

// size is the operand of a communication verb.
func (p *planner) size() *operand {
	if p.op.Operand == nil {
		p.missing("a size, such as " + p.row.name + " 64KiB")
		return nil
	}
	return p.operand(p.op.Operand, roleBytes)
}

// noOperand refuses an operand where none belongs.
func (p *planner) noOperand() {
	if p.op.Operand != nil {
		p.fail("E240", p.op.Operand.pos(), "%s takes no operand", p.row.name)
	}
}

// site makes the place of the operation in the graph.
func (p *planner) site(kind graph.Kind, text string) int32 {
	if p.w.dry {
		return 0
	}
	return p.w.b.Site(graph.Site{Pos: p.at, Kind: kind, Name: p.name, Region: p.scope.region(), Text: text})
}

// base is the operation without its operands.
func (p *planner) base(kind graph.Kind, site int32) graph.Op {
	op := graph.Op{Kind: kind, Flags: p.flags, Site: site, Label: -1}
	if p.stream != "" && !p.w.dry {
		op.Stream = p.w.b.Stream(p.stream)
	}
	return op
}

// labelled gives the operation its label where something can depend on it.
func (p *planner) labelled(w *lowerer, op *graph.Op) {
	if p.label != nil && p.label.async && p.label.used {
		op.Label = w.number(p.label, p.scope.labels.call)
		if p.index != nil {
			op.Index = w.value(p.index)
		}
	}
}

func (p *planner) graphDeps(w *lowerer) []graph.Dep {
	var out []graph.Dep
	for _, d := range p.after {
		dep := graph.Dep{Mode: d.mode, Target: w.number(d.decl, p.scope.labels.call), Back: d.back}
		if d.index != nil {
			dep.Index = w.value(d.index)
		}
		out = append(out, dep)
	}
	return out
}

// put writes a single operation with label and dependencies.
func (p *planner) put(w *lowerer, op graph.Op) {
	p.labelled(w, &op)
	w.emit(op, p.graphDeps(w)...)
}

// planWait makes the join of wait and waitall.
func planWait(w *lowerer, st *stmt, s *scope) emitter {
	p := &planner{w: w, l: w.ld, st: st, scope: s, ok: true, at: posOf(st.Pos)}
	op := graph.Op{Kind: graph.Join, Label: -1}
	text := "waitall"
	if st.Wait != nil {
		text = "wait"
		for _, r := range st.Wait.Refs {
			text += " " + r.text()
		}
		p.deps(st.Wait.Refs)
	} else {
		op.Flags |= graph.WaitAll
	}
	if !p.ok {
		return nil
	}
	p.at.Span = len(strings.Fields(text)[0])
	op.Site = p.site(graph.Join, text)
	return func(w *lowerer) { w.emit(op, p.graphDeps(w)...) }
}

// text is the reference as it was written.
func (r *ref) text() string {
	s := r.Label
	switch {
	case r.All:
		s += "[*]"
	case r.Index != nil:
		s += "[" + r.Index.text() + "]"
	}
	if r.Prev {
		s += ".prev"
		if r.Back != nil {
			s += "(" + r.Back.text() + ")"
		}
	}
	return s
}
