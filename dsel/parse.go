package dsel

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"

	"hybrid/internal/diag"
)

// parser reads items one by one so that a fault costs only the item it is in.
type itemParser struct {
	lex  *lexer.PeekingLexer
	list *findings
	// poisoned are names whose declaration could not be read; uses of them are not
	// reported again.
	poisoned map[string]bool
	defs     []string // names of defs, for suggestions
	depth    int
	verbs    map[string]bool
}

func newItemParser(tokens []lexer.Token, list *findings) *itemParser {
	lex, _ := lexer.Upgrade(&tokenList{tokens: tokens})
	p := &itemParser{lex: lex, list: list, poisoned: map[string]bool{}, verbs: setOf(verbs())}
	for i, t := range tokens[:len(tokens)-1] {
		if t.Type == tokIdent && t.Value == "def" && tokens[i+1].Type == tokIdent {
			p.defs = append(p.defs, tokens[i+1].Value)
		}
	}
	return p
}

func isOp(t *lexer.Token, s string) bool { return t.Type == tokOp && t.Value == s }

func isSeparator(t *lexer.Token) bool { return t.Type == tokNL || isOp(t, ";") }

func (p *itemParser) skipSeparators() {
	for isSeparator(p.lex.Peek()) {
		p.lex.Next()
	}
}

// file reads all declarations.
func (p *itemParser) file() []*decl {
	var out []*decl
	for {
		p.skipSeparators()
		t := p.lex.Peek()
		if t.EOF() || p.list.full() {
			return out
		}
		if d := p.declaration(); d != nil {
			out = append(out, d)
		}
	}
}

func (p *itemParser) declaration() *decl {
	t := *p.lex.Peek()
	if isOp(&t, "}") {
		p.list.Errorf("E201", posOfToken(t), "'}' closes no block")
		p.lex.Next()
		return nil
	}
	if t.Type != tokIdent || !slices.Contains(declWords(), t.Value) {
		p.notADeclaration(t)
		p.resync()
		return nil
	}
	d, ok := parseItem(p, grammar().decl)
	if !ok {
		return nil
	}
	switch {
	case d.Program || d.Def != nil:
		d.Body = p.block()
	case d.Kernel != nil:
		d.Items = p.kernelItems()
	}
	p.endOfItem()
	return d
}

func (p *itemParser) notADeclaration(t lexer.Token) {
	switch {
	case t.Type == tokLabel, t.Type == tokIdent && (slices.Contains(verbs(), t.Value) || slices.Contains(blockWords(), t.Value)):
		p.list.Errorf("E201", posOfToken(t), "%s stands outside of a program block", show(t)).Note("statements belong inside program { ... } or def name() { ... }")
	case t.Type == tokIdent:
		p.list.Errorf("E201", posOfToken(t), "unknown declaration %q%s", t.Value, diag.DidYouMean(t.Value, declWords()))
	default:
		p.list.Errorf("E201", posOfToken(t), "unexpected %s; a declaration starts with a word such as param, ranks or program", show(t))
	}
}

// parseItem runs a production at the current token; on an error it reports and
// skips the item.
func parseItem[T any](p *itemParser, g *participle.Parser[T]) (*T, bool) {
	start := p.lex.MakeCheckpoint()
	item, err := g.ParseFromLexer(p.lex, participle.AllowTrailing(true))
	if err == nil {
		return item, true
	}
	p.report(err)
	p.lex.LoadCheckpoint(start)
	p.poison()
	p.resync()
	return nil, false
}

// poison remembers the name that a broken declaration was about to declare.
func (p *itemParser) poison() {
	cp := p.lex.MakeCheckpoint()
	t := *p.lex.Next()
	if n := p.lex.Peek(); n.Type == tokIdent && slices.Contains([]string{"param", "let", "fn", "grid", "group", "stream", "kernel", "def", "for"}, t.Value) {
		p.poisoned[n.Value] = true
	}
	p.lex.LoadCheckpoint(cp)
}

// report words a participle error for users.
func (p *itemParser) report(err error) {
	var unexpected *participle.UnexpectedTokenError
	if !errors.As(err, &unexpected) {
		pos := diag.Pos{}
		if pe, ok := err.(participle.Error); ok {
			pos = posOf(pe.Position())
			p.list.Errorf("E201", pos, "%s", pe.Message())
			return
		}
		p.list.Errorf("E201", pos, "%s", err.Error())
		return
	}
	p.unexpected(unexpected.Unexpected, expectedWords(unexpected.Message()))
}

func (p *itemParser) unexpected(t lexer.Token, expected string) {
	if t.Type == tokBad {
		return // reported by the lexer
	}
	if isOp(&t, "=") && !strings.Contains(expected, "name") {
		p.list.Errorf("E201", posOfToken(t), "unexpected '=' in an expression; use '==' to compare")
		return
	}
	p.list.Errorf("E201", posOfToken(t), "unexpected %s%s", show(t), expected)
}

var grammarNoise = regexp.MustCompile(`[()?*+]`)

// production is how messages call what the grammar expects, by the start of its
// name there.
type production struct{ name, words string }

func productions() []production {
	return []production{
		{"Expression", "an expression"}, {"expression", "an expression"}, {"RepeatHead", "an expression"}, {"RequireDecl", "an expression"},
		{"Word", "a name"}, {"LetDecl", "a name"}, {"ForHead", "a name"},
		{"Text", "a string"}, {"SourceRef", "a string"}, {`"text"`, "a string"},
		{"Ref", "a label such as @x"}, {"WaitStmt", "a label such as @x"},
		{"GroupRef", "a group"}, {"Call", "a call such as k(n)"},
		{"EcmClause", "a kernel's label or (TOL=.., ..)"}, {"name | ", "a kernel's label or (TOL=.., ..)"},
	}
}

// expectedWords turns participle's expectation into words, if it is short enough
// to help.
func expectedWords(msg string) string {
	i := strings.Index(msg, "(expected ")
	if i < 0 {
		return ""
	}
	want := strings.TrimSuffix(msg[i+len("(expected "):], ")")
	for from, to := range map[string]string{"<ident>": "name", "<string>": "\"text\"", "<number>": "number", "<label>": "@label"} {
		want = strings.ReplaceAll(want, from, to)
	}
	first := want
	if f, _, found := strings.Cut(want, " "); found && strings.HasPrefix(f, `"`) {
		first = f
	}
	for _, p := range productions() {
		if strings.HasPrefix(first, p.name) {
			return "; " + p.words + " is expected"
		}
	}
	switch {
	case first != "" && first[0] >= 'A' && first[0] <= 'Z', len(first) > 24 || grammarNoise.MatchString(strings.Trim(first, `"()`)) || first == "":
		return ""
	}
	return "; expected " + strings.ReplaceAll(first, `"`, "'")
}

// resync skips to the end of the statement at the current nesting: a separator,
// or the brace that closes the block around it.
func (p *itemParser) resync() {
	depth := 0
	for {
		t := p.lex.Peek()
		switch {
		case t.EOF():
			return
		case depth == 0 && (isSeparator(t) || isOp(t, "}")):
			return
		case isOp(t, "{"):
			depth++
		case isOp(t, "}"):
			depth--
		}
		p.lex.Next()
	}
}

// endOfItem demands a separator, a closing brace or the end of the file.
func (p *itemParser) endOfItem() {
	t := *p.lex.Peek()
	if isSeparator(&t) || t.EOF() || isOp(&t, "}") {
		return
	}
	p.unexpected(t, p.trailing(t))
	p.resync()
}

func (p *itemParser) trailing(t lexer.Token) string {
	switch {
	case t.Type != tokIdent:
		return ""
	case startsStatement(t.Value):
		return statementEnds
	}
	return diag.DidYouMean(t.Value, clauseWords())
}

// block reads statements up to the closing brace; the opening one is consumed.
func (p *itemParser) block() []*stmt {
	var out []*stmt
	p.depth++
	defer func() { p.depth-- }()
	for {
		p.skipSeparators()
		t := *p.lex.Peek()
		if t.EOF() || p.list.full() {
			return out // the lexer has reported the open brace
		}
		if isOp(&t, "}") {
			p.lex.Next()
			return out
		}
		if p.depth > maxDepth {
			p.list.Errorf("E203", posOfToken(t), "blocks are nested more than %d deep", maxDepth)
			p.resync()
			continue
		}
		if s := p.statement(); s != nil {
			out = append(out, s)
		}
	}
}

func (p *itemParser) statement() *stmt {
	var s *stmt
	switch p.statementKind() {
	case aVerb:
		o, ok := parseItem(p, grammar().op)
		if !ok || !p.clausesRead(o) {
			return nil
		}
		s = &stmt{Pos: o.Pos, Op: o}
	case aCall:
		c, ok := parseItem(p, grammar().call)
		if !ok {
			return nil
		}
		s = &stmt{Pos: c.Name.Pos, Call: c}
	case aBlock:
		var ok bool
		if s, ok = parseItem(p, grammar().stmt); !ok {
			return nil
		}
	default:
		p.resync()
		return nil
	}
	if s.hasBody() {
		s.Body = p.block()
	}
	if s.If != nil {
		s.Else = p.elseBranch()
	}
	if !s.hasBody() { // a closing brace ends a statement by itself
		p.endOfItem()
	}
	return s
}

// clausesRead reports what is wrong with the clauses of an operation.
func (p *itemParser) clausesRead(o *op) bool {
	t := o.missing()
	switch {
	case t != nil:
		p.unexpected(*t, "; an expression is expected")
	case o.Clauses.err != nil:
		p.report(o.Clauses.err)
	default:
		return true
	}
	p.resync()
	return false
}

func (s *stmt) hasBody() bool {
	return s.If != nil || s.Repeat != nil || s.For != nil || s.On != nil || s.Par || s.Seq || s.Region != nil
}

func (p *itemParser) elseBranch() []*stmt {
	t := p.lex.Peek()
	if t.Type != tokIdent || t.Value != "else" {
		return nil
	}
	p.lex.Next()
	t = p.lex.Peek()
	switch {
	case isOp(t, "{"):
		p.lex.Next()
		return p.block()
	case t.Type == tokIdent && t.Value == "if":
		p.depth++
		defer func() { p.depth-- }()
		if p.depth > maxDepth {
			p.list.Errorf("E203", posOfToken(*t), "blocks are nested more than %d deep", maxDepth)
			p.resync()
			return nil
		}
		if s := p.statement(); s != nil {
			return []*stmt{s}
		}
		return nil
	}
	p.unexpected(*t, "; expected '{' or 'if'")
	p.resync()
	return nil
}

// statementKind is what a statement starts with.
type statementKind uint8

const (
	noStatement statementKind = iota
	aVerb
	aBlock
	aCall
)

// statementKind looks at the word that decides what kind of statement this is.
func (p *itemParser) statementKind() statementKind {
	cp := p.lex.MakeCheckpoint()
	defer p.lex.LoadCheckpoint(cp)
	first := *p.lex.Peek()
	if p.lex.Peek().Type == tokLabel {
		p.skipLabel()
	}
	if t := p.lex.Peek(); t.Type == tokIdent && t.Value == "async" {
		p.lex.Next()
	}
	t := *p.lex.Next()
	switch {
	case t.Type != tokIdent:
		p.unexpected(t, "; a statement starts with a word such as compute, send or repeat")
		return noStatement
	case p.verbs[t.Value]:
		return aVerb
	case slices.Contains(blockWords(), t.Value) && t.Pos == first.Pos:
		return aBlock
	case slices.Contains(blockWords(), t.Value), isOp(p.lex.Peek(), "(") && t.Pos != first.Pos:
		p.list.Errorf("E201", posOfToken(first), "%s goes with an operation, not with %s", show(first), show(t))
		return noStatement
	case t.Value == "else":
		p.list.Errorf("E201", posOfToken(t), "'else' must stand on the line of the brace that closes its if block")
		return noStatement
	case slices.Contains(declWords(), t.Value):
		p.list.Errorf("E201", posOfToken(t), "%s is a declaration: it cannot stand inside a block", show(t))
		return noStatement
	case isOp(p.lex.Peek(), "("):
		return aCall
	case stopWords()[t.Value]:
		p.list.Errorf("E201", posOfToken(t), "%s stands behind an operation, on the same line", show(t))
		return noStatement
	}
	p.list.Errorf("E201", posOfToken(t), "unknown statement %q%s", t.Value, diag.DidYouMean(t.Value, slices.Concat(verbs(), blockWords(), p.defs, clauseWords())))
	return noStatement
}

func (p *itemParser) skipLabel() {
	p.lex.Next()
	if !isOp(p.lex.Peek(), "[") {
		return
	}
	depth := 0
	for {
		t := p.lex.Peek()
		if t.EOF() || t.Type == tokNL {
			return
		}
		p.lex.Next()
		if isOp(t, "[") {
			depth++
		}
		if isOp(t, "]") {
			if depth--; depth == 0 {
				return
			}
		}
	}
}

func (p *itemParser) kernelItems() []*kernelItem {
	var out []*kernelItem
	kinds := []string{"array", "load", "store", "flops", "work", "ecm", "layout", "source"}
	for {
		p.skipSeparators()
		t := *p.lex.Peek()
		if t.EOF() || p.list.full() {
			return out
		}
		if isOp(&t, "}") {
			p.lex.Next()
			return out
		}
		if t.Type != tokIdent || !slices.Contains(kinds, t.Value) {
			p.list.Errorf("E201", posOfToken(t), "%s is no item of a kernel%s", show(t), diag.DidYouMean(t.Value, kinds))
			p.resync()
			continue
		}
		if it, ok := parseItem(p, grammar().item); ok {
			out = append(out, it)
			p.endOfItem()
		}
	}
}
