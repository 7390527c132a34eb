package dsel

import (
	"slices"
	"sync"

	"hybrid/graph"
	"hybrid/internal/diag"
)

// what says what a name stands for.
type what uint8

const (
	isValue what = iota
	isFn
	isGrid
	isGroup
	isDef
	isKernel
	isStream
)

// symbol is a declared name.
type symbol struct {
	name string
	what what
	word string // param, let, fn, ...: for messages
	pos  diag.Pos
	used *bool

	// A value is compiled when it is first used.
	value *code
	expr  *expression
	scope *scope
	busy  bool

	fn     *fnDecl
	grid   *grid
	group  *group
	def    *decl
	kernel *kernel
}

// scope is a set of names inside another. Scopes of statements are interned by
// what opens them, so that the same statement in the same context meets the same
// scope on every rank.
type scope struct {
	id     int
	parent *scope
	names  []*symbol
	index  map[string]*symbol // of names, once there are many
	kids   map[scopeKey]*scope
	caller *scope // of a def's body: where the call stands
	all    *scope // see around
	// labels is the scope that labels declared here belong to: the innermost loop
	// body, call or program around.
	labels *labelScope
	// loops is the number of loops around, calls the defs being called.
	loops int
	calls []*decl
	// regions are the names of the regions around, innermost last.
	regions []string
}

func (s *scope) region() string {
	if n := len(s.regions); n > 0 {
		return s.regions[n-1]
	}
	return ""
}

type scopeKey struct {
	opener any
	slot   int32
}

func (s *scope) lookup(name string) *symbol {
	for ; s != nil; s = s.parent {
		if sym := s.own(name); sym != nil {
			return sym
		}
	}
	return nil
}

func (s *scope) own(name string) *symbol {
	if s.index != nil {
		return s.index[name]
	}
	for _, n := range s.names {
		if n.name == name {
			return n
		}
	}
	return nil
}

func (s *scope) add(sym *symbol) {
	s.names = append(s.names, sym)
	switch {
	case s.index != nil:
		s.index[sym.name] = sym
	case len(s.names) > 16:
		s.index = make(map[string]*symbol, 64)
		for _, n := range s.names {
			s.index[n.name] = n
		}
	}
}

// around returns the scope with the names that an injection may use: those of
// loops around an operation, be they around the calls through which it is reached.
func (s *scope) around() *scope {
	if s.all != nil {
		return s.all
	}
	all := &scope{}
	for x := s; x != nil; {
		if x.parent == nil {
			all.parent = x
			break
		}
		all.names = append(all.names, x.names...)
		if x.caller != nil {
			x = x.caller
		} else {
			x = x.parent
		}
	}
	s.all = all
	return all
}

// maxNames bounds the names among which the nearest spelling is sought.
const maxNames = 1000

// visible lists all names for suggestions, innermost first.
func (s *scope) visible() []string {
	var out []string
	for ; s != nil; s = s.parent {
		for _, n := range s.names {
			if len(out) < maxNames && !slices.Contains(out, n.name) {
				out = append(out, n.name)
			}
		}
	}
	return out
}

// child interns the scope that opener opens inside s. fill sets up a new one.
func (l *loader) child(s *scope, opener any, slot int32, fill func(*scope)) *scope {
	key := scopeKey{opener, slot}
	if k, ok := s.kids[key]; ok {
		return k
	}
	l.scopes++
	k := &scope{id: l.scopes, parent: s, labels: s.labels, loops: s.loops, calls: s.calls, regions: s.regions}
	if s.kids == nil {
		s.kids = map[scopeKey]*scope{}
	}
	s.kids[key] = k
	if fill != nil {
		fill(k)
	}
	return k
}

func (s *scope) value(name, word string, pos diag.Pos, used *bool, c *code) {
	s.add(&symbol{name: name, what: isValue, word: word, pos: pos, used: used, value: c})
}

// valueOf compiles a symbol's expression once.
func (l *loader) valueOf(sym *symbol) *code {
	if sym.value != nil {
		return sym.value
	}
	if sym.busy {
		l.list.Errorf("E211", sym.pos, "%s is defined by itself", sym.name)
		sym.value = badCode()
		return sym.value
	}
	sym.busy = true
	c := l.compile(sym.expr, sym.scope)
	sym.busy = false
	if sym.value == nil {
		sym.value = l.remember(c, sym.expr)
	}
	return sym.value
}

// remember gives a value that differs between ranks a table, so that it is
// computed once for each rank however often it is used.
func (l *loader) remember(c *code, e *expression) *code {
	if c.dep != onRank || c.rng != nil {
		return c
	}
	if !l.afford(c, e) {
		return badCode()
	}
	k := *c
	k.size = 1
	switch {
	case c.i != nil:
		k.i = tabulate(l, c.i)
	case c.f != nil:
		k.f = tabulate(l, c.f)
	case c.b != nil:
		k.b = tabulate(l, c.b)
	case c.v != nil:
		k.v = tabulate(l, c.v)
	}
	return &k
}

// afford reports whether evaluating the expression on every rank stays within the
// limits of a blueprint.
func (l *loader) afford(c *code, e *expression) bool {
	if l.evaluated += int64(c.size) * max(l.ranks, 0); l.evaluated <= l.limits.steps {
		return true
	}
	l.list.Errorf("E204", e.pos(), "evaluating this and what stands before it on all %d ranks takes more than %d steps", l.ranks, l.limits.steps)
	return false
}

// tabulate evaluates fn for all ranks when it is first called.
func tabulate[T any](l *loader, fn func(*graph.Env) (T, error)) func(*graph.Env) (T, error) {
	var once sync.Once
	var values []T
	var failed map[int32]error
	fill := func() {
		values = make([]T, max(l.ranks, 0))
		for r := range values {
			v, err := fn(&graph.Env{Rank: int32(r)})
			if err != nil {
				if failed == nil {
					failed = map[int32]error{}
				}
				failed[int32(r)] = err
			}
			values[r] = v
		}
	}
	return func(env *graph.Env) (T, error) {
		once.Do(fill)
		if int(env.Rank) >= len(values) {
			return fn(env)
		}
		if failed != nil {
			if err := failed[env.Rank]; err != nil {
				return values[env.Rank], err
			}
		}
		return values[env.Rank], nil
	}
}
