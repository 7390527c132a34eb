package dsel

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/participle/v2/lexer"

	"hybrid/graph"
	"hybrid/internal/diag"
	"hybrid/internal/units"
)

// param is a parameter and what it was set to.
type param struct {
	sym   *symbol
	decl  *paramDecl
	typ   string
	expr  *expression // the default or the override
	from  diag.Pos
	value *code
}

// paramTypes are the types that a parameter may be declared with.
func paramTypes() []string {
	return []string{"int", "float", "bool", "string", "bytes", "time", "flops", "rate"}
}

func (l *loader) declareParam(d *decl) {
	s := l.newName(d.Param.Name, isValue, "param")
	if s == nil {
		l.poisoned[d.Param.Name.Text] = true
		return
	}
	s.expr = d.Param.Default
	p := &param{sym: s, decl: d.Param, expr: d.Param.Default, from: d.Param.Default.pos()}
	if t := d.Param.Type; t != nil {
		p.typ = t.Text
		if !slices.Contains(paramTypes(), t.Text) {
			l.list.Errorf("E230", posOfWord(t), "unknown type %q%s", t.Text, diag.DidYouMean(t.Text, paramTypes())).
				Note("types: %s", strings.Join(paramTypes(), ", "))
			p.typ = ""
		}
	}
	l.params = append(l.params, p)
}

// resolveParams applies overrides, then evaluates and checks every parameter.
func (l *loader) resolveParams() {
	for _, o := range append(l.fileParams(), l.opt.Params...) {
		l.override(o)
	}
	for _, p := range l.params {
		l.resolveParam(p)
	}
}

func (l *loader) override(o Override) {
	i := slices.IndexFunc(l.params, func(p *param) bool { return p.sym.name == o.Name })
	if i < 0 {
		var names []string
		for _, p := range l.params {
			names = append(names, p.sym.name)
		}
		if !l.poisoned[o.Name] {
			d := l.list.Errorf("E230", o.Pos, "the blueprint has no parameter %q%s", o.Name, diag.DidYouMean(o.Name, names))
			if len(names) > 0 {
				d.Note("parameters: %s", strings.Join(names, ", "))
			}
		}
		return
	}
	faults := &findings{}
	tokens := o.tokens(faults)
	e := &expression{}
	if !faults.HasErrors() {
		lex := newItemParser(tokens, faults).lex
		if err := e.Parse(lex); err != nil || !lex.Peek().EOF() {
			if !l.params[i].isString() {
				faults.Errorf("E230", o.Pos, "%q is no value for parameter %s", o.Value, o.Name)
			}
		}
	}
	if p := l.params[i]; p.isString() && (faults.HasErrors() || len(e.tokens) != 1 || e.tokens[0].Type != tokString) {
		// A bare word is the string itself: the shell has eaten the quotes.
		p.sym.expr, p.expr, p.from = nil, nil, o.Pos
		p.sym.value = constant(o.Value, typ{})
		return
	}
	if faults.HasErrors() {
		for _, d := range faults.All() {
			if o.Pos == (diag.Pos{}) {
				d.Message = "-D " + o.Name + "=" + o.Value + ": " + d.Message
				d.Pos = o.Pos
			}
			l.list.Add(d)
		}
		return
	}
	l.params[i].expr, l.params[i].from = e, o.Pos
	l.params[i].sym.expr = e
}

// tokens scans the value of an override at its place.
func (o *Override) tokens(faults *findings) []lexer.Token {
	p := lexer.Position{Filename: o.Pos.File, Line: max(1, o.value.Line), Column: max(1, o.value.Col)}
	if p.Filename == "" {
		p.Filename = "-D " + o.Name
	}
	return scanWith(&scanner{src: o.Value, pos: p, list: faults})
}

// isString reports whether the parameter is text, by its type or its default.
func (p *param) isString() bool {
	d := p.decl.Default.tokens
	return p.typ == "string" || p.decl.Type == nil && len(d) == 1 && d[0].Type == tokString
}

func (l *loader) resolveParam(p *param) {
	c := l.valueOf(p.sym)
	if c.kind == kindBad {
		return
	}
	at := p.from
	if at == (diag.Pos{}) && p.expr != nil {
		at = p.expr.pos()
	}
	if c.dep != 0 || c.konst == nil {
		if _, err := c.eval(&graph.Env{}); err != nil && c.dep == 0 {
			l.list.Add(placed(err, at).(diag.Diagnostic))
		} else {
			l.list.Errorf("E208", at, "param %s must be the same on every rank", p.sym.name)
		}
		p.sym.value = badCode()
		return
	}
	v, ok := l.typed(p, c, at)
	if !ok {
		p.sym.value = badCode()
		return
	}
	p.value, p.sym.value = v, v
	l.checkRange(p, at)
}

// typed demands the declared type; without one the default's type counts.
func (l *loader) typed(p *param, c *code, at diag.Pos) (*code, bool) {
	want := p.typ
	overridden := p.expr != p.decl.Default
	if want == "" && overridden {
		d := l.compile(p.decl.Default, l.root)
		if d.kind == kindBad {
			return nil, false
		}
		if d.kind == c.kind && d.dims == c.dims || d.numeric() && c.numeric() && (d.dims == c.dims || c.any) {
			return c, true
		}
		l.list.Errorf("E230", at, "param %s is %s but is set to %s", p.sym.name, d.typ, c.typ)
		return nil, false
	}
	row := map[string]typ{"": c.typ, "int": {kind: kindInt}, "float": {kind: kindFloat}, "bool": {kind: kindBool}, "string": {kind: kindString},
		"bytes": {kind: kindInt, dims: byteDims()}, "time": {kind: kindInt, dims: timeDims()}, "flops": {kind: kindFloat, dims: flopDims()},
		"rate": {kind: kindFloat, dims: rateDims()}}[want]
	mismatch := func() (*code, bool) {
		word := "its default is"
		if overridden {
			word = "is set to"
		}
		l.list.Errorf("E230", at, "param %s is declared %s but %s %s", p.sym.name, want, word, c.typ)
		return nil, false
	}
	if want == "" {
		return c, true
	}
	if row.kind == kindBool || row.kind == kindString {
		if c.kind != row.kind {
			return mismatch()
		}
		return c, true
	}
	if !c.numeric() || c.dims != row.dims && !c.any {
		return mismatch()
	}
	if row.kind == kindFloat {
		t := row
		return c.retyped(t), true
	}
	x, isFloat := c.konst.(float64)
	if isFloat && (math.Abs(x-math.Round(x)) > 1e-6 || math.Abs(x) >= 1<<63) {
		if want == "int" {
			l.list.Errorf("E230", at, "param %s is declared int but is %s", p.sym.name, numberText(x))
			return nil, false
		}
		l.list.Errorf("E221", at, "param %s is %s %s, not a whole number", p.sym.name, numberText(x), map[string]string{"bytes": "bytes", "time": "ps"}[want])
		return nil, false
	}
	if isFloat {
		return constant(int64(math.Round(x)), typ{dims: row.dims}), true
	}
	return constant(c.konst, typ{dims: row.dims}), true
}

// checkRange tests `range lo, hi` and `oneof list`.
func (l *loader) checkRange(p *param, at diag.Pos) {
	if p.decl.Lo != nil {
		lo, hi := l.compile(p.decl.Lo, l.root), l.compile(p.decl.Hi, l.root)
		if lo.kind == kindBad || hi.kind == kindBad {
			return
		}
		for _, end := range []*code{lo, hi} {
			if !p.value.numeric() || !end.numeric() || end.konst == nil || end.dims != p.value.dims && !end.any {
				l.list.Errorf("E230", p.decl.Lo.pos(), "the range of %s must be of its type, %s", p.sym.name, p.value.typ)
				return
			}
		}
		x, _ := floatOf(p.value.konst)
		a, _ := floatOf(lo.konst)
		b, _ := floatOf(hi.konst)
		if x < a || x > b {
			l.list.Errorf("E230", at, "param %s is %s, outside of %s .. %s", p.sym.name, p.text(), p.decl.Lo.text(), p.decl.Hi.text())
		}
	}
	if p.decl.OneOf != nil {
		k := l.compile(p.decl.OneOf, l.root)
		if k.kind == kindBad {
			return
		}
		list, err := listOf(k, &graph.Env{})
		if k.kind != kindList || err != nil {
			l.list.Errorf("E230", p.decl.OneOf.pos(), "oneof needs a list")
			return
		}
		if p.value.numeric() && k.dims != p.value.dims && !k.any || p.value.numeric() != (k.elem == kindInt || k.elem == kindFloat) {
			l.list.Errorf("E230", p.decl.OneOf.pos(), "the list of %s must be of its type, %s", p.sym.name, p.value.typ)
			return
		}
		if !slices.ContainsFunc(list, func(v any) bool { return equalValues(v, p.value.konst) }) {
			l.list.Errorf("E230", at, "param %s is %s, none of %s", p.sym.name, p.text(), p.decl.OneOf.text())
		}
	}
}

// text is the resolved value as a user would write it.
func (p *param) text() string {
	if p.expr != nil {
		if s, ok := p.expr.literal(); ok {
			return s
		}
	}
	switch v := p.value.konst.(type) {
	case int64:
		switch p.value.dims {
		case byteDims():
			return units.FormatBytes(v)
		case timeDims():
			return strconv.FormatInt(v, 10) + "ps"
		}
	case bool:
		return strconv.FormatBool(v)
	case string:
		return v
	}
	if p.value.kind == kindList && p.expr != nil {
		return p.expr.text()
	}
	return numberText(p.value.konst)
}
