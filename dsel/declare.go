package dsel

import (
	"slices"

	"hybrid/internal/diag"
)

// declare enters the names of declarations into the root scope. Values are
// resolved when they are needed, so that the order of declarations is free.
func (l *loader) declare(decls []*decl) {
	for _, d := range decls {
		if l.list.full() {
			return
		}
		l.declareOne(d)
	}
}

func (l *loader) declareOne(d *decl) {
	switch {
	case d.Header != nil:
		l.header(d)
	case d.Include != nil:
		l.include(d)
	case d.Param != nil:
		l.declareParam(d)
	case d.Let != nil:
		if s := l.newName(d.Let.Name, isValue, "let"); s != nil {
			s.expr = d.Let.Value
			l.lets = append(l.lets, s)
		}
	case d.Fn != nil:
		if s := l.newName(d.Fn.Name, isFn, "fn"); s != nil {
			s.fn = d.Fn
			l.parameters(d.Fn.Params)
		}
	case d.Ranks != nil:
		if l.rankExpr != nil {
			l.list.Errorf("E212", posOf(d.Pos), "the number of ranks is declared twice")
			return
		}
		l.rankExpr = d.Ranks
	case d.Require != nil:
		l.requires = append(l.requires, d.Require)
	case d.Expect != nil:
		l.expects = append(l.expects, d.Expect)
	case d.Program:
		if l.program != nil {
			l.list.Errorf("E212", posOf(d.Pos), "there are two program blocks").Note("the first is at %s", posOf(l.program.Pos))
			return
		}
		if len(l.files) > 0 {
			l.list.Errorf("E207", posOf(d.Pos), "an included file holds declarations only, no program")
			return
		}
		l.program = d
	default:
		l.declareThing(d)
	}
}

func (l *loader) declareThing(d *decl) {
	switch {
	case d.Grid != nil:
		if s := l.newName(d.Grid.Name, isGrid, "grid"); s != nil {
			s.grid = &grid{decl: d.Grid}
			l.grids = append(l.grids, s)
		}
	case d.Group != nil:
		if s := l.newName(d.Group.Name, isGroup, "group"); s != nil {
			s.group = &group{decl: d.Group}
			l.groups = append(l.groups, s)
		}
	case d.Stream != nil:
		l.declareStream(d.Stream)
	case d.Def != nil:
		if s := l.newName(d.Def.Name, isDef, "def"); s != nil {
			s.def = d
			l.parameters(d.Def.Params)
			l.defs = append(l.defs, d)
		}
	case d.Kernel != nil:
		if s := l.newName(d.Kernel.Name, isKernel, "kernel"); s != nil {
			s.kernel = &kernel{decl: d}
			l.parameters(d.Kernel.Params)
		}
	case d.Inject != nil:
		l.injects = append(l.injects, &inject{decl: d.Inject, pos: posOf(d.Pos), index: len(l.injects)})
	case d.Target != nil:
		l.declareTargets(d.Target)
	case d.Meta != nil:
		l.declareMeta(d.Meta)
	}
}

func (l *loader) header(d *decl) {
	if len(l.files) > 0 {
		return
	}
	if l.name != "" {
		l.list.Errorf("E212", posOf(d.Pos), "the blueprint has two headers")
		return
	}
	l.name = unquote(d.Header.Name)
	if v := d.Header.Version; v != "" && v != "1" {
		l.list.Errorf("E209", posOf(d.Pos), "language version %s is not known; this program reads version 1", v)
	}
}

// newName enters a name, unless it is reserved or taken.
func (l *loader) newName(w *word, kind what, wordFor string) *symbol {
	if reserved()[w.Text] {
		l.list.Errorf("E212", posOfWord(w), "%q is a word of the language and cannot name a %s", w.Text, wordFor)
		return nil
	}
	if o := l.root.lookup(w.Text); o != nil {
		l.list.Errorf("E212", posOfWord(w), "%s is declared twice", w.Text).Note("the first declaration is at %s", o.pos)
		return nil
	}
	s := &symbol{name: w.Text, what: kind, word: wordFor, pos: posOfWord(w), used: new(bool), scope: l.root}
	l.root.add(s)
	return s
}

// parameters checks the parameter names of a fn, def or kernel.
func (l *loader) parameters(words []*word) {
	for i, w := range words {
		if reserved()[w.Text] {
			l.list.Errorf("E212", posOfWord(w), "%q is a word of the language and cannot name a parameter", w.Text)
		}
		for _, o := range words[:i] {
			if o.Text == w.Text {
				l.list.Errorf("E212", posOfWord(w), "parameter %s is named twice", w.Text)
			}
		}
	}
}

func (l *loader) declareStream(d *streamDecl) {
	s := l.newName(d.Name, isStream, "stream")
	on := []string{"cpu", "npu", "nic"}
	if s != nil && d.On != nil && !slices.Contains(on, d.On.Text) {
		l.list.Errorf("E210", posOfWord(d.On), "a stream is on cpu, npu or nic, not %s%s", d.On.Text, diag.DidYouMean(d.On.Text, on))
	}
}

func (l *loader) declareTargets(ts []*target) {
	for _, t := range ts {
		if l.targetName(t.Kind) != "" {
			l.list.Errorf("E212", posOf(t.Pos), "the target's %s is named twice", t.Kind)
			continue
		}
		if unquote(t.Name) == "" {
			l.list.Errorf("E240", posOf(t.Pos), "the target's %s has an empty name", t.Kind)
			continue
		}
		l.targets = append(l.targets, t)
	}
}

// checkDeclarations resolves what no statement may have used, so that its faults
// are found all the same.
func (l *loader) checkDeclarations() {
	for _, s := range l.lets {
		if l.valueOf(s).kind == kindBad {
			continue
		}
	}
	for _, s := range l.grids {
		if g := l.resolveGrid(s); !g.bad && g.size != l.ranks {
			l.list.Errorf("E302", s.pos, "grid %s has %s but the program has %s", s.name, plural(g.size, "place"), plural(l.ranks, "rank"))
		}
	}
	for _, s := range l.groups {
		l.resolveGroup(s)
	}
	for _, r := range l.requires {
		l.checkRequire(r, l.root)
	}
	l.checkFunctions()
}

// checkFunctions compiles bodies of functions that nothing calls, with parameters
// of unknown value.
func (l *loader) checkFunctions() {
	for _, s := range l.root.names {
		if l.list.full() {
			return
		}
		if s.what != isFn || *s.used {
			continue
		}
		inner := &scope{parent: l.root}
		for _, p := range s.fn.Params {
			inner.value(p.Text, "parameter", posOfWord(p), new(bool), unknownNumber())
		}
		budget := 0
		c := &compiler{ld: l, scope: inner, e: s.fn.Body, fns: []*fnDecl{s.fn}, budget: &budget}
		c.whole()
	}
}

// unknownNumber stands for a parameter while a body is checked that nobody calls.
func unknownNumber() *code {
	k := plainInt(1)
	k.any, k.konst, k.dep = true, nil, onLoop
	return k
}

// unused warns about names that nothing refers to.
func (l *loader) unused() {
	for _, s := range l.root.names {
		if !*s.used && s.pos.File == l.file {
			l.list.Warnf("W601", s.pos, "%s %s is never used", s.word, s.name)
		}
	}
	for _, d := range append([]*decl{l.program}, l.defs...) {
		l.unusedLets(d.Body)
		l.unusedLabels(d.block)
	}
}
