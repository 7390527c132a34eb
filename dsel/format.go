package dsel

import (
	"bytes"
	"strings"

	"github.com/alecthomas/participle/v2/lexer"
)

// Format returns a blueprint in its canonical form. It changes blanks only: two
// blanks of indentation for each open block and four more for the continuation of
// a line, one blank between words, at most one empty line, two blanks before a
// comment at the end of a line. Operators are written with blanks on both sides
// unless they had none on either. Text with lexical errors is not formatted; the
// error is a *diag.ListError.
func Format(src []byte) ([]byte, error) {
	list := &findings{}
	s := &scanner{src: string(src), pos: lexer.Position{Line: 1, Column: 1}, list: list, all: true}
	tokens := scanWith(s)
	if err := list.Err(); err != nil {
		return nil, err
	}
	f := &formatter{}
	var line []lexer.Token
	for _, t := range tokens {
		if t.EOF() || t.Type == tokNL || t.Type == tokSoftNL || t.Type == tokJoin {
			f.line(line, t)
			line = line[:0]
			continue
		}
		line = append(line, t)
	}
	return f.out.Bytes(), nil
}

// formatter writes line after line.
type formatter struct {
	out bytes.Buffer
	// open holds the brackets that are open.
	open []byte
	// blank: an empty line is due before the next one that has text.
	blank bool
	// joined: the line before ended in a backslash.
	joined bool
}

func (f *formatter) line(tokens []lexer.Token, end lexer.Token) {
	if len(tokens) == 0 {
		f.blank = f.out.Len() > 0 && !f.joined && !end.EOF()
		if end.Type == tokJoin {
			f.out.WriteString(strings.Repeat(" ", f.indent(nil)) + "\\\n")
			f.joined = true
		} else if f.joined {
			f.joined = false
			f.out.WriteByte('\n')
		}
		return
	}
	if f.blank && !isOp(&tokens[0], "}") && !f.opened() {
		f.out.WriteByte('\n')
	}
	f.blank = false
	f.out.WriteString(strings.Repeat(" ", f.indent(tokens)))
	for i, t := range tokens {
		if i > 0 {
			f.out.WriteString(f.gap(tokens, i))
		}
		f.out.WriteString(t.Value)
		f.track(t)
	}
	f.joined = end.Type == tokJoin
	if f.joined {
		f.out.WriteString(" \\")
	}
	f.out.WriteByte('\n')
}

// opened reports whether the last line ended in an opening brace.
func (f *formatter) opened() bool { return bytes.HasSuffix(f.out.Bytes(), []byte("{\n")) }

func (f *formatter) track(t lexer.Token) {
	if t.Type != tokOp {
		return
	}
	switch t.Value {
	case "(", "[", "{":
		f.open = append(f.open, t.Value[0])
	case ")", "]", "}":
		if len(f.open) > 0 {
			f.open = f.open[:len(f.open)-1]
		}
	}
}

// indent counts open braces, less those that the line closes at its start, and
// indents what continues a line.
func (f *formatter) indent(tokens []lexer.Token) int {
	open := f.open
	for i := range tokens {
		if tokens[i].Type != tokOp || !strings.Contains(")]}", tokens[i].Value) || len(open) == 0 {
			break
		}
		open = open[:len(open)-1]
	}
	n := 0
	continued := f.joined
	for _, c := range open {
		if c == '{' {
			n += 2
		} else {
			continued = true
		}
	}
	if continued {
		n += 4
	}
	return n
}

// gap is what stands between a token and the one before it.
func (f *formatter) gap(tokens []lexer.Token, i int) string {
	a, b := tokens[i-1], tokens[i]
	had := b.Pos.Offset > a.Pos.Offset+len(a.Value)
	switch {
	case b.Type == tokComment && strings.HasPrefix(b.Value, "//"):
		return "  "
	case a.Type == tokComment || b.Type == tokComment:
		return " "
	case isOp(&a, "(") || isOp(&a, "["), isOp(&b, ")") || isOp(&b, "]"), isOp(&b, ",") || isOp(&b, ";"):
		return ""
	case isOp(&a, ",") || isOp(&a, ";"):
		return " "
	case isOp(&a, "{") || isOp(&b, "}"), isOp(&b, "{"), isOp(&a, "}"):
		if f.inBrackets() && !had {
			return ""
		}
		return " "
	case isBinary(tokens, i):
		return f.around(tokens, i)
	case i > 1 && isBinary(tokens, i-1):
		return f.around(tokens, i-1)
	case had:
		return " "
	}
	return ""
}

// inBrackets reports whether the place is inside parentheses, where a brace is
// part of an expression.
func (f *formatter) inBrackets() bool {
	return bytes.IndexByte(f.open, '(') >= 0 || bytes.IndexByte(f.open, '[') >= 0
}

// isBinary reports whether the token is an operator with operands on both sides.
func isBinary(tokens []lexer.Token, i int) bool {
	t := tokens[i]
	if t.Type != tokOp || i == 0 || i == len(tokens)-1 {
		return false
	}
	switch t.Value {
	case "+", "-", "*", "/", "%", "**", "==", "!=", "<", "<=", ">", ">=", "&&", "||", "?", "=":
	default:
		return false
	}
	if next := tokens[i+1]; next.Type == tokOp && !strings.Contains("([-+!#.", next.Value) {
		return false
	}
	before := tokens[i-1]
	if before.Type == tokIdent {
		// A sign stands behind a word that starts an expression.
		return t.Value != "-" && t.Value != "+" || !stopWords()[before.Value] && !isKeyword(before.Value)
	}
	return before.Type != tokOp || strings.Contains(")]", before.Value)
}

func isKeyword(s string) bool {
	switch s {
	case "and", "or", "not", "in", "if", "repeat", "ranks", "require", "expect":
		return true
	}
	_, isVerb := setOf(verbs())[s]
	return isVerb
}

// around keeps an operator tight if it had no blank on either side.
func (f *formatter) around(tokens []lexer.Token, i int) string {
	tight := func(k int) bool {
		if tokens[k].Type == tokComment || tokens[k-1].Type == tokComment {
			return false
		}
		return tokens[k].Pos.Offset == tokens[k-1].Pos.Offset+len(tokens[k-1].Value)
	}
	if tight(i) && tight(i+1) {
		return ""
	}
	return " "
}
