package dsel

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"hybrid/graph"
	"hybrid/internal/diag"
)

// maxRanks bounds the number of ranks of a blueprint.
const maxRanks = 1 << 20

// maxFaults bounds how many findings are collected before the loader gives up.
const maxFaults = 500

// limits keep a small text from asking for an unbounded graph: the static
// operations of a rank, the steps of the whole lowering, and the list elements
// that expr's virtual machine visits meanwhile.
type limits struct {
	ops           int
	steps, visits int64
}

func defaultLimits() limits { return limits{ops: 1 << 18, steps: 400_000_000, visits: 20_000_000} }

// Override sets a parameter from outside, as -D name=value does.
type Override struct {
	Name, Value string
	// Pos is where the override was written, for messages.
	Pos diag.Pos
	// value is the place of the value, if it is known.
	value diag.Pos
}

// Options adjust how a blueprint is loaded.
type Options struct {
	// Params override the defaults of parameters, the last one of a name wins.
	Params []Override
	// ParamsFile is YAML text of the form name: value; Params win over it.
	ParamsFile string
	// ParamsName is the name of that file in messages.
	ParamsName string
	// Seed is the run's seed; injected noise derives from it.
	Seed uint64
	// ReadFile reads included files; nil makes include an error.
	ReadFile func(path string) ([]byte, error)
}

// Program is a loaded blueprint.
type Program struct {
	Graph *graph.Graph
	// Expects are its expect declarations, to be evaluated after a run.
	Expects []*Expect
	// Meta are its meta declarations in order.
	Meta []graph.Param
	// Mapping is the mapping file that the blueprint's target names, or "".
	Mapping string
}

// Load reads a blueprint and lowers it to the operation graph. Findings are added
// to list; the result is nil if one of them is an error.
func Load(file string, src []byte, opt Options, list *diag.List) *graph.Graph {
	if p := LoadProgram(file, src, opt, list); p != nil {
		return p.Graph
	}
	return nil
}

// LoadProgram is [Load] for callers that want the declarations that are not part
// of the graph, too.
func LoadProgram(file string, src []byte, opt Options, list *diag.List) *Program {
	own := &findings{}
	p := newLoader(file, opt, own).load(src)
	failed := own.HasErrors()
	list.Append(&own.List)
	if failed {
		return nil
	}
	return p
}

// loader holds what is known about a blueprint while it is loaded.
type loader struct {
	file     string
	opt      Options
	list     *findings
	root     *scope
	scopes   int
	ranks    int64
	poisoned map[string]bool

	name     string
	params   []*param
	lets     []*symbol
	grids    []*symbol
	groups   []*symbol
	requires []*requireDecl
	expects  []*requireDecl
	injects  []*inject
	targets  []*target
	meta     []graph.Param
	checked  map[string]bool // calls whose defs the dry walk has checked
	regions  map[string]bool // regions that the program enters
	named    map[string]bool // names of operations
	rankExpr *expression
	program  *decl
	defs     []*decl
	files    []string // being included
	read     []string // included already
	numbers  map[labelKey]int32
	limits   limits
	loaded   bool  // the graph is complete; what is evaluated now is the run's
	visited  int64 // list elements that were looked at
	// evaluated counts the terms that tables of rank-dependent values evaluate.
	evaluated int64
	args      map[planKey][]*code
	contexts  map[*stmt]int32 // the private matching contexts of statements
}

func newLoader(file string, opt Options, list *findings) *loader {
	return &loader{file: file, opt: opt, list: list, root: &scope{}, ranks: -1, poisoned: map[string]bool{}, numbers: map[labelKey]int32{}, contexts: map[*stmt]int32{}, args: map[planKey][]*code{}, limits: defaultLimits()}
}

func (l *loader) load(src []byte) *Program {
	l.declare(l.parse(l.file, src))
	if l.program == nil && !l.list.HasErrors() {
		l.list.Errorf("E206", diag.Pos{File: l.file, Line: 1, Col: 1}, "the blueprint has no program { ... } block")
	}
	l.resolveParams()
	if !l.resolveRanks() || l.list.full() {
		return nil
	}
	l.checkDeclarations()
	if l.program != nil {
		l.resolveLabels()
		l.checkProgram()
	}
	expects := l.compileExpects()
	if l.list.HasErrors() {
		return nil
	}
	l.unused()
	g := l.lower()
	l.loaded = true
	if g == nil {
		return nil
	}
	return &Program{Graph: g, Expects: expects, Meta: l.meta, Mapping: l.targetName("mapping")}
}

// parse reads the declarations of one file.
func (l *loader) parse(file string, src []byte) []*decl {
	p := newItemParser(scan(file, src, l.list), l.list)
	out := p.file()
	for n := range p.poisoned {
		l.poisoned[n] = true
	}
	return out
}

// include reads another file's declarations, relative to the one that names it.
func (l *loader) include(d *decl) {
	at := posOf(d.Include.Pos)
	at.Span = len(d.Include.Text)
	name, err := strconv.Unquote(d.Include.Text)
	if err != nil || name == "" {
		l.list.Errorf("E207", at, "include needs the name of a file")
		return
	}
	if l.opt.ReadFile == nil {
		l.list.Errorf("E207", at, "include is not possible here: there is no file system to read from")
		return
	}
	if !path.IsAbs(name) {
		name = path.Join(path.Dir(strings.ReplaceAll(d.Pos.Filename, "\\", "/")), name)
	}
	for _, f := range append(l.files, l.file) {
		if path.Clean(f) == name {
			l.list.Errorf("E207", at, "%s includes itself", name)
			return
		}
	}
	for _, f := range l.read {
		if f == name {
			return
		}
	}
	if len(l.files) >= 50 {
		l.list.Errorf("E207", at, "more than 50 files include one another")
		return
	}
	src, err := l.opt.ReadFile(name)
	if err != nil {
		l.list.Errorf("E207", at, "cannot read %s: %v", name, err)
		return
	}
	l.files = append(l.files, name)
	l.declare(l.parse(name, src))
	l.files = l.files[:len(l.files)-1]
	l.read = append(l.read, name)
}

// resolveRanks evaluates `ranks`, or takes the size of the first grid.
func (l *loader) resolveRanks() bool {
	at := diag.Pos{File: l.file, Line: 1, Col: 1}
	switch {
	case l.rankExpr != nil:
		at = l.rankExpr.pos()
		n, ok := l.constant(l.rankExpr, l.root, roleCount, "the number of ranks")
		if !ok {
			return false
		}
		l.ranks = n
	case len(l.grids) > 0:
		g := l.resolveGrid(l.grids[0])
		if g.bad {
			return false
		}
		at = l.grids[0].pos
		l.ranks = g.size
	default:
		if !l.list.HasErrors() {
			l.list.Errorf("E206", at, "the number of ranks is missing: declare it, such as ranks 8")
		}
		return false
	}
	if l.ranks < 1 || l.ranks > maxRanks {
		l.list.Errorf("E302", at, "%d ranks; the number of ranks must be in 1..%d", l.ranks, maxRanks)
		return false
	}
	return true
}

// constant evaluates an expression that must not depend on the rank or a loop.
func (l *loader) constant(e *expression, s *scope, r role, what string) (int64, bool) {
	o := l.operand(e, s, r)
	if o == nil {
		return 0, false
	}
	if o.code.dep != 0 {
		l.list.Errorf("E208", e.pos(), "%s must be the same on every rank and in every iteration", what)
		return 0, false
	}
	n, err := o.Eval(&graph.Env{})
	if err != nil {
		l.list.Add(err.(diag.Diagnostic))
		return 0, false
	}
	return n, true
}

// operand compiles an expression in a role; nil means that it was reported.
func (l *loader) operand(e *expression, s *scope, r role) *operand {
	return l.operandOf(l.compile(e, s), e, r)
}

func (l *loader) operandOf(c *code, e *expression, r role) *operand {
	if c.kind == kindBad {
		return nil
	}
	row := r.row()
	if !c.numeric() || c.dims != row.dims && !c.any {
		d := l.list.Errorf("E220", e.pos(), "a %s is expected here, not %s", row.noun(), c.typ)
		if c.numeric() && c.dims == plainDims() {
			d.Note("write the unit, such as %s", row.example())
		}
		return nil
	}
	if c.norank && r == roleRank && c.dep == 0 {
		l.list.Errorf("E301", e.pos(), "norank cannot stand here")
		return nil
	}
	return &operand{code: c, role: r, ranks: l.ranks, src: e, at: e.pos()}
}

// noun names what a role expects.
func (r roleRow) noun() string {
	switch r.dims {
	case byteDims():
		return "size in bytes"
	case timeDims():
		return "time"
	case flopDims():
		return "number of flop"
	}
	return "plain number (" + r.name + ")"
}

func (r roleRow) example() string {
	switch r.dims {
	case byteDims():
		return "64KiB"
	case timeDims():
		return "25us"
	}
	return "2Gflop"
}

func (l *loader) targetName(kind string) string {
	for _, t := range l.targets {
		if t.Kind == kind {
			s, _ := strconv.Unquote(t.Name)
			return s
		}
	}
	return ""
}

func unquote(s string) string {
	if u, err := strconv.Unquote(s); err == nil {
		return u
	}
	return strings.Trim(s, `"`)
}

func posOfWord(w *word) diag.Pos {
	p := posOf(w.Pos)
	p.Span = len(w.Text)
	return p
}

func plural(n int64, word string) string {
	if n == 1 {
		return fmt.Sprintf("1 %s", word)
	}
	return fmt.Sprintf("%d %ss", n, word)
}
