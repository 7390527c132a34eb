package dsel

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"

	"hybrid/internal/diag"
)

// expression is expr text: tokens up to a delimiter outside brackets. The tree is
// parsed when it is first needed.
type expression struct {
	tokens []lexer.Token

	parsed bool
	node   ast.Node
	// quantities are the literals with units by their generated names.
	quantities map[string]quantity
	// starts holds, for each token, its rune offset in the text given to expr.
	starts []int
	bad    bool // already reported
}

// maxTokens bounds an expression, and with it the recursion of expr's parser.
const maxTokens = 4000

type quantity struct {
	text string
	unit unit
	code *code
}

// Parse collects the tokens of an expression (participle.Parseable).
func (e *expression) Parse(lex *lexer.PeekingLexer) error {
	var open []byte
	ternaries := 0 // question marks outside brackets that wait for their colon
	stops := stopWords()
	afterDot := false
	for {
		t := lex.Peek()
		depth := len(open)
		if depth > 0 && (t.EOF() || t.Type == tokOp && t.Value == "}" && !slices.Contains(open, '{')) {
			e.bad = true // the lexer has reported the bracket that is not closed
			break
		}
		if t.EOF() || t.Type == tokNL || t.Type == tokLabel && depth == 0 {
			break
		}
		if depth == 0 {
			if t.Type == tokIdent && stops[t.Value] && !afterDot {
				break
			}
			if t.Type == tokOp && strings.Contains(";{},)]=", t.Value) && t.Value != "." {
				break
			}
			if t.Type == tokIdent && t.Value == "periodic" && !afterDot {
				break
			}
			if t.Type == tokOp && t.Value == ":" && ternaries == 0 {
				break
			}
		}
		if t.Type == tokOp {
			switch t.Value {
			case "(", "[", "{":
				open = append(open, t.Value[0])
			case ")", "]", "}":
				open = open[:depth-1]
			case "?":
				if depth == 0 {
					ternaries++
				}
			case ":":
				if depth == 0 {
					ternaries--
				}
			}
		}
		afterDot = t.Type == tokOp && (t.Value == "." || t.Value == "?.")
		if t.Type == tokBad {
			e.bad = true
		}
		e.tokens = append(e.tokens, *t)
		lex.Next()
	}
	if len(e.tokens) == 0 {
		return participle.NextMatch
	}
	return nil
}

// pos is the place of the whole expression.
func (e *expression) pos() diag.Pos {
	return spanOf(e.tokens)
}

// spanOf covers tokens as far as they stand on the first one's line.
func spanOf(tokens []lexer.Token) diag.Pos {
	first := tokens[0]
	p := posOfToken(first)
	for _, t := range tokens[1:] {
		if t.Pos.Line != first.Pos.Line {
			break
		}
		p.Span = t.Pos.Column + utf8.RuneCountInString(t.Value) - first.Pos.Column
	}
	return p
}

// text is the expression as it was written, on one line.
func (e *expression) text() string {
	var b strings.Builder
	for i, t := range e.tokens {
		if i > 0 {
			prev := e.tokens[i-1]
			if t.Pos.Line != prev.Pos.Line || t.Pos.Offset > prev.Pos.Offset+len(prev.Value) {
				b.WriteByte(' ')
			}
		}
		b.WriteString(t.Value)
	}
	return b.String()
}

// literal returns the single quantity or number that the expression consists of.
func (e *expression) literal() (string, bool) {
	if len(e.tokens) == 1 && (e.tokens[0].Type == tokQuantity || e.tokens[0].Type == tokNumber) {
		return e.tokens[0].Value, true
	}
	return "", false
}

// tree parses the expression once and reports what expr finds wrong with it.
func (e *expression) tree(list *findings) ast.Node {
	if e.parsed || e.bad {
		return e.node
	}
	e.parsed = true
	src, ok := e.rebuild(list)
	if !ok {
		e.bad = true
		return nil
	}
	tree, err := parser.Parse(src)
	if err != nil {
		e.bad = true
		e.syntaxError(err, list)
		return nil
	}
	if depthOf(tree.Node) > maxDepth {
		e.bad = true
		list.Errorf("E203", e.pos(), "the expression is nested more than %d deep", maxDepth)
		return nil
	}
	e.node = tree.Node
	return e.node
}

// quantityName stands for the quantity at a token in the text for expr. A name of
// the language has no dollar sign.
func quantityName(token int) string { return "q$" + strconv.Itoa(token) }

// rebuild writes the text for expr, quantities replaced by generated names.
func (e *expression) rebuild(list *findings) (string, bool) {
	var b strings.Builder
	runes, ok := 0, true
	if len(e.tokens) > maxTokens {
		list.Errorf("E203", e.pos(), "the expression has more than %d tokens", maxTokens)
		return "", false
	}
	e.quantities = map[string]quantity{}
	e.starts = make([]int, len(e.tokens))
	depth := 0
	for i, t := range e.tokens {
		if t.Type == tokOp {
			switch {
			case strings.Contains("([{", t.Value):
				depth++
			case strings.Contains(")]}", t.Value):
				depth--
			case t.Value == "|" || t.Value == "^" || t.Value == "&":
				list.Errorf("E201", posOfToken(t), "unexpected '%s' in an expression", t.Value).
					Note("power is written **, logical operators and, or, && and ||")
				return "", false
			}
			if depth > maxDepth {
				list.Errorf("E203", posOfToken(t), "the expression is nested more than %d deep", maxDepth)
				return "", false
			}
		}
		s := t.Value
		switch t.Type {
		case tokQuantity:
			s = quantityName(i)
			q, err := parseQuantity(t.Value)
			if err != "" {
				list.Errorf("E106", posOfToken(t), "%s", err)
				ok = false
			}
			e.quantities[s] = q
		case tokNumber:
			if !validNumber(s) {
				list.Errorf("E106", posOfToken(t), "number %s does not fit in 64 bits", clip(s))
				ok = false
			}
		case tokLabel:
			list.Errorf("E201", posOfToken(t), "a label cannot stand in an expression")
			ok = false
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
			runes++
		}
		e.starts[i] = runes
		b.WriteString(s)
		runes += utf8.RuneCountInString(s)
	}
	return b.String(), ok
}

func validNumber(s string) bool {
	s = strings.ReplaceAll(s, "_", "")
	if _, err := strconv.ParseInt(s, 0, 64); err == nil {
		return true
	}
	if strings.HasPrefix(s, "0x") || strings.HasPrefix(s, "0X") {
		return false
	}
	if _, err := strconv.ParseFloat(s, 64); err != nil {
		return false
	}
	return strings.ContainsAny(s, ".eE")
}

// syntaxError reports a parse error of expr at its token.
func (e *expression) syntaxError(err error, list *findings) {
	msg, pos := err.Error(), e.pos()
	if fe, ok := err.(*file.Error); ok {
		msg = fe.Message
		t := e.tokens[e.tokenAt(fe.From)]
		pos = posOfToken(t)
		if t.Type == tokIdent && startsStatement(t.Value) {
			list.Errorf("E201", pos, "unexpected %s%s", show(t), statementEnds)
			return
		}
		if t.Type == tokIdent {
			if s := diag.Suggest(t.Value, clauseWords()); s != "" {
				list.Errorf("E201", pos, "unexpected %s; did you mean %q?", show(t), s)
				return
			}
		}
	}
	msg = exprToken.ReplaceAllString(e.plain(msg), "'$1'")
	if msg == "unexpected token EOF" {
		msg = "the expression is not complete"
	}
	list.Errorf("E201", pos, "%s", msg)
}

// exprToken is how expr's messages show a token: Number("2").
var exprToken = regexp.MustCompile(`(?:token )?[A-Z][a-z]+\("([^"]*)"\)`)

// plain replaces generated names by what was written.
func (e *expression) plain(msg string) string {
	for i, t := range e.tokens {
		if t.Type == tokQuantity {
			msg = strings.ReplaceAll(msg, "\""+quantityName(i)+"\"", "\""+t.Value+"\"")
		}
	}
	msg, _, _ = strings.Cut(msg, "\n")
	return msg
}

// at maps a rune offset in the rebuilt text to the token that holds it.
func (e *expression) at(offset int) diag.Pos {
	return posOfToken(e.tokens[e.tokenAt(offset)])
}

func (e *expression) tokenAt(offset int) int {
	lo, hi := 0, len(e.starts)-1
	for lo < hi {
		mid := (lo + hi + 1) / 2
		if e.starts[mid] <= offset {
			lo = mid
		} else {
			hi = mid - 1
		}
	}
	return lo
}

// depthOf measures an expression tree with a stack of its own, stopping beyond
// the limit.
func depthOf(n ast.Node) int {
	v := &depthVisitor{}
	v.measure(n, 1)
	return v.max
}

type depthVisitor struct{ max int }

func (v *depthVisitor) measure(n ast.Node, d int) {
	v.max = max(v.max, d)
	if d > maxDepth {
		return
	}
	for _, c := range children(n) {
		v.measure(c, d+1)
	}
}
