package dsel

import (
	"cmp"
	"slices"

	"hybrid/graph"
)

// checkProgram walks the program once without writing anything, through both
// sides of every condition and into every def, so that faults are found wherever
// they stand.
func (l *loader) checkProgram() {
	w := &lowerer{ld: l, dry: true, plans: map[planKey]emitter{}, conds: map[planKey]*branchCond{}, faults: map[faultKey]int{}, tables: map[tableKey]*loopTable{}}
	w.block(l.program.Body, l.programScope(true))
	for _, d := range l.defs {
		sym := l.root.lookup(d.Def.Name.Text)
		if sym == nil || sym.def != d || l.isCalled(sym.name) {
			continue
		}
		w.block(d.Body, l.uncalledScope(d))
	}
	for _, d := range w.found {
		l.list.Add(d)
	}
	for _, s := range l.root.names {
		if s.what == isKernel && !*s.used {
			l.checkKernel(s)
		}
	}
}

func (l *loader) isCalled(name string) bool {
	sym := l.root.lookup(name)
	return sym != nil && *sym.used
}

// uncalledScope binds the parameters of a def that nothing calls to unknown numbers.
func (l *loader) uncalledScope(d *decl) *scope {
	return l.child(l.root, d, 0, func(k *scope) {
		k.calls = []*decl{d}
		k.labels = &labelScope{call: k.id}
		for _, p := range d.Def.Params {
			k.value(p.Text, "parameter", posOfWord(p), new(bool), unknownNumber())
		}
	})
}

// checkKernel compiles a kernel that nothing uses.
func (l *loader) checkKernel(sym *symbol) {
	d := sym.kernel.decl
	inner := &scope{parent: l.root}
	for _, p := range d.Kernel.Params {
		inner.value(p.Text, "parameter", posOfWord(p), new(bool), unknownNumber())
	}
	b := &kernelBuilder{l: l, scope: inner, d: d, arrays: map[string]*arrayUse{}, ok: true, work: &kernelWork{}}
	for _, it := range d.Items {
		b.item(it)
	}
}

func (l *loader) unusedLets(body []*stmt) {
	for _, s := range body {
		if s.Let != nil && !s.info.used {
			l.list.Warnf("W601", posOfWord(s.Let.Name), "let %s is never used", s.Let.Name.Text)
		}
		l.unusedLets(s.Body)
		l.unusedLets(s.Else)
	}
}

// nameSeen remembers the name of an operation, for suggestions.
func (l *loader) nameSeen(name string) {
	if l.named == nil {
		l.named = map[string]bool{}
	}
	l.named[name] = true
}

func (l *loader) regionSeen(name string) {
	if l.regions == nil {
		l.regions = map[string]bool{}
	}
	l.regions[name] = true
}

func sortedKeys(m map[string]bool) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

func sortByOrder(ds []*labelDecl) {
	slices.SortFunc(ds, func(a, b *labelDecl) int { return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(a.name, b.name)) })
}

func (l *loader) declareMeta(m *metaDecl) {
	l.meta = append(l.meta, graph.Param{Name: m.Name.Text, Value: unquote(m.Value)})
}
