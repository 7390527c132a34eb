package dsel

import (
	"slices"

	"hybrid/graph"
	"hybrid/internal/diag"
)

// Labels are lexical. A label belongs to the innermost loop body (or def, or the
// program) in which its operation stands. A reference finds a label of its own loop body,
// else one declared further in if only one body there declares it, else one
// further out. The label lives until the end of the outermost body that refers to
// it: `@ar[b]` written in a loop over b and waited for behind it lives as long as
// the body that holds both.

// loopBlock is a body to which labels belong.
type loopBlock struct {
	parent *loopBlock
	kids   []*loopBlock
	labels map[string]*labelDecl
	// ends are the labels that die at the end of this body.
	ends []*labelDecl
}

type labelDecl struct {
	name  string
	block *loopBlock
	// home is the body at whose end the label dies; nil: with the rank.
	home  *loopBlock
	first int // textual order of its first operation
	last  int
	// async: an operation with this label may still run when the next statement
	// starts. Labels of blocking operations are always complete and need no graph label.
	async   bool
	indexed bool
	used    bool
	pos     diag.Pos
	// pars are the par statements in which its operations stand. together: an
	// operation of the same par refers to it, so that it need not be complete there.
	pars     []*stmt
	together bool
}

type labelKey struct {
	decl *labelDecl
	call int
}

// labelScope is kept for scopes: the call around, by which labels of one def
// differ from call to call.
type labelScope struct{ call int }

// stmtInfo is what the label pass finds out about a statement.
type stmtInfo struct {
	block *loopBlock // the body of a loop, or of the program or def
	label *labelDecl
	used  bool // a let that something refers to
}

// resolver walks a program or def twice: declarations, then references.
type resolver struct {
	l     *loader
	order int
	par   *stmt // the outermost par around
	names map[*loopBlock][]string
}

// resolveLabels binds every label reference of the program and the defs.
func (l *loader) resolveLabels() {
	for _, d := range append([]*decl{l.program}, l.defs...) {
		root := &loopBlock{labels: map[string]*labelDecl{}}
		d.block = root
		r := &resolver{l: l, names: map[*loopBlock][]string{}}
		r.declare(d.Body, root)
		r.order = 0
		r.refer(d.Body, root)
		finish(root, d == l.program)
	}
}

func (r *resolver) declare(body []*stmt, b *loopBlock) {
	for _, s := range body {
		r.order++
		inner := b
		if s.Repeat != nil || s.For != nil {
			inner = &loopBlock{parent: b, labels: map[string]*labelDecl{}}
			b.kids = append(b.kids, inner)
		}
		s.info.block = inner
		if s.Op != nil && s.Op.Label != nil {
			r.declareLabel(s, b)
		}
		leave := r.enter(s)
		r.declare(s.Body, inner)
		r.declare(s.Else, inner)
		leave()
	}
}

// enter notes a par; the result leaves it.
func (r *resolver) enter(s *stmt) (leave func()) {
	before := r.par
	if s.Par && before == nil {
		r.par = s
	}
	return func() { r.par = before }
}

func (r *resolver) declareLabel(s *stmt, b *loopBlock) {
	ref := s.Op.Label
	name := ref.Label[1:]
	if ref.All || ref.Prev {
		r.l.list.Errorf("E214", posOf(ref.Pos), "a label is given as @%s or @%s[index]", name, name)
	}
	d := b.labels[name]
	if d == nil {
		d = &labelDecl{name: name, block: b, home: b, first: r.order, pos: posOf(ref.Pos), indexed: ref.Index != nil}
		d.pos.Span = len(ref.Label)
		b.labels[name] = d
	}
	d.last = r.order
	d.async = d.async || s.Op.startsAsync()
	if r.par != nil {
		d.pars = append(d.pars, r.par)
	}
	s.info.label = d
}

// startsAsync reports whether the thread goes on while the operation runs.
func (o *op) startsAsync() bool {
	if o.Async || o.Verb != nil && (o.Verb.Name == "isend" || o.Verb.Name == "irecv") {
		return true
	}
	for _, c := range o.Clauses.list {
		if c.Option == "stream" {
			return true
		}
	}
	return false
}

func (r *resolver) refer(body []*stmt, b *loopBlock) {
	for _, s := range body {
		if r.l.list.full() {
			return
		}
		r.order++
		if s.Wait != nil {
			for _, ref := range s.Wait.Refs {
				r.bind(ref, b)
			}
		}
		if s.Op != nil {
			for _, c := range s.Op.Clauses.list {
				for _, ref := range c.After {
					r.bind(ref, b)
				}
			}
		}
		leave := r.enter(s)
		r.refer(s.Body, s.info.block)
		r.refer(s.Else, s.info.block)
		leave()
	}
}

func (r *resolver) bind(ref *ref, b *loopBlock) {
	name := ref.Label[1:]
	at := posOf(ref.Pos)
	at.Span = len(ref.Label)
	d, ambiguous := find(b, name, r.order, ref.Prev)
	if ambiguous {
		r.l.list.Errorf("E214", at, "label @%s is declared in more than one loop here; it is not clear which one is meant", name)
		return
	}
	if d == nil {
		if later, _ := find(b, name, r.order, true); later != nil {
			r.l.list.Errorf("E214", at, "label @%s is used before the operation that it names", name).
				Note("the instance of the previous iteration is @%s.prev", name)
			return
		}
		r.l.list.Errorf("E210", at, "unknown label @%s%s", name, diag.DidYouMean(name, r.known(b)))
		return
	}
	d.used = true
	if r.par != nil && slices.Contains(d.pars, r.par) {
		d.async, d.together = true, true
	}
	if (ref.Index != nil || ref.All) && !d.indexed && ref.Index != nil {
		r.l.list.Errorf("E214", at, "label @%s has no index", name)
		return
	}
	ref.decl = d
	common := ancestor(b, d.block)
	if ref.Prev {
		if common.parent == nil {
			r.l.list.Errorf("E214", at, "@%s.prev stands in no loop of this block together with @%s", name, name)
			return
		}
		common = common.parent
	}
	if common == nil || d.home != nil && inside(d.home, common) {
		d.home = common
	}
}

// known lists labels for suggestions, those of the body first.
func (r *resolver) known(b *loopBlock) []string {
	if names, ok := r.names[b]; ok {
		return names
	}
	var names []string
	for x := b; x != nil && len(names) < maxNames; x = x.parent {
		names = append(names, labelsIn(x)...)
	}
	names = names[:min(len(names), maxNames)]
	r.names[b] = names
	return names
}

// find looks a label up from a body outwards. forward allows labels that stand
// further down.
func find(b *loopBlock, name string, order int, forward bool) (d *labelDecl, ambiguous bool) {
	for ; b != nil; b = b.parent {
		if d := b.labels[name]; d != nil && (forward || d.first < order) {
			return d, false
		}
		var found []*labelDecl
		for _, k := range b.kids {
			collect(k, name, order, forward, &found)
		}
		if len(found) > 0 {
			return found[0], len(found) > 1
		}
	}
	return nil, false
}

func collect(b *loopBlock, name string, order int, forward bool, out *[]*labelDecl) {
	if d := b.labels[name]; d != nil && (forward || d.first < order) {
		*out = append(*out, d)
	}
	for _, k := range b.kids {
		collect(k, name, order, forward, out)
	}
}

func ancestor(a, b *loopBlock) *loopBlock {
	for x := a; x != nil; x = x.parent {
		if inside(b, x) {
			return x
		}
	}
	return nil
}

// inside reports whether b is outer or lies in it.
func inside(b, outer *loopBlock) bool {
	for ; b != nil; b = b.parent {
		if b == outer {
			return true
		}
	}
	return false
}

func labelsIn(b *loopBlock) []string {
	var out []string
	for _, d := range sortedLabels(b) {
		out = append(out, d.name)
	}
	for _, k := range b.kids {
		out = append(out, labelsIn(k)...)
	}
	return out
}

// sortedLabels lists a body's labels in textual order.
func sortedLabels(b *loopBlock) []*labelDecl {
	out := make([]*labelDecl, 0, len(b.labels))
	for _, d := range b.labels {
		out = append(out, d)
	}
	sortByOrder(out)
	return out
}

// finish files every asynchronous label under the body at whose end it dies. At
// the end of the program nothing needs to be forgotten.
func finish(b *loopBlock, program bool) {
	for _, d := range sortedLabels(b) {
		if d.async && d.home != nil && (d.home.parent != nil || !program) {
			d.home.ends = append(d.home.ends, d)
		}
	}
	for _, k := range b.kids {
		finish(k, program)
	}
}

func (l *loader) unusedLabels(b *loopBlock) {
	for _, d := range sortedLabels(b) {
		if !d.used {
			l.list.Warnf("W601", d.pos, "label @%s is never used", d.name)
		}
	}
	for _, k := range b.kids {
		l.unusedLabels(k)
	}
}

// number returns the graph's label for a label in the current call.
func (w *lowerer) number(d *labelDecl, call int) int32 {
	key := labelKey{d, call}
	n, ok := w.ld.numbers[key]
	if !ok {
		n = w.b.Label(d.name)
		w.ld.numbers[key] = n
	}
	return n
}

// endScope forgets the labels that die at the end of a body.
func (w *lowerer) endScope(b *loopBlock, call int, site int32) {
	for _, d := range b.ends {
		w.raw(graph.Op{Kind: graph.ScopeEnd, Site: site, Arg: w.number(d, call), Label: 1})
	}
}
