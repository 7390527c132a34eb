package chakra

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// literal is a value of JSON or of Python's repr: the two notations in which
// process groups are declared.
type literal struct {
	kind   literalKind
	text   string // of a string or number
	items  []literal
	keys   []string // of a dict, parallel to items
	offset int
}

type literalKind uint8

const (
	litNull literalKind = iota
	litBool
	litNumber
	litString
	litList
	litDict
)

// maxLiteralDepth bounds the nesting of declarations.
const maxLiteralDepth = 32

// get returns the value of a key, and false if the literal is no dict or has no
// such key.
func (l *literal) get(key string) (*literal, bool) {
	for i := len(l.keys) - 1; i >= 0; i-- {
		if l.keys[i] == key {
			return &l.items[i], true
		}
	}
	return nil, false
}

// integer returns a whole number, also one in a string.
func (l *literal) integer() (int64, bool) {
	if l.kind != litNumber && l.kind != litString {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(l.text), 10, 64)
	return n, err == nil
}

// literalError is a syntax error at a byte offset.
type literalError struct {
	offset int
	reason string
}

func (e *literalError) Error() string { return fmt.Sprintf("%s at byte %d", e.reason, e.offset) }

// literalParser is a recursive descent parser with bounded depth.
type literalParser struct {
	s string
	i int
}

// parseLiteral parses one value that fills s.
func parseLiteral(s string) (l literal, err error) {
	p := &literalParser{s: s}
	if l, err = p.value(0); err != nil {
		return l, err
	}
	if p.space(); p.i < len(s) {
		return l, p.fail("expected the end of the text")
	}
	return l, nil
}

func (p *literalParser) fail(format string, args ...any) error {
	return &literalError{p.i, fmt.Sprintf(format, args...)}
}

func (p *literalParser) space() {
	for p.i < len(p.s) && strings.IndexByte(" \t\r\n", p.s[p.i]) >= 0 {
		p.i++
	}
}

func (p *literalParser) value(depth int) (literal, error) {
	if depth > maxLiteralDepth {
		return literal{}, p.fail("nested too deeply")
	}
	p.space()
	if p.i >= len(p.s) {
		return literal{}, p.fail("the text ends where a value is expected")
	}
	l := literal{offset: p.i}
	var err error
	switch c := p.s[p.i]; {
	case c == '[':
		l.kind = litList
		err = p.sequence(&l, ']', depth)
	case c == '(':
		l.kind = litList
		err = p.sequence(&l, ')', depth)
	case c == '{':
		l.kind = litDict
		err = p.sequence(&l, '}', depth)
	case c == '"' || c == '\'':
		l.kind = litString
		l.text, err = p.quoted(c)
	default:
		err = p.word(&l)
	}
	return l, err
}

// sequence parses the items of a list, tuple or dict; a trailing comma is allowed.
func (p *literalParser) sequence(l *literal, end byte, depth int) error {
	p.i++
	for {
		p.space()
		if p.i >= len(p.s) {
			return p.fail("the text ends inside brackets")
		}
		if p.s[p.i] == end {
			p.i++
			return nil
		}
		if err := p.item(l, depth); err != nil {
			return err
		}
		p.space()
		if p.i < len(p.s) && p.s[p.i] == ',' {
			p.i++
		} else if p.i >= len(p.s) || p.s[p.i] != end {
			return p.fail("expected , or %c", end)
		}
	}
}

func (p *literalParser) item(l *literal, depth int) error {
	v, err := p.value(depth + 1)
	if err != nil {
		return err
	}
	if l.kind == litDict {
		if v.kind != litString && v.kind != litNumber {
			return p.fail("expected a key")
		}
		if p.space(); p.i >= len(p.s) || p.s[p.i] != ':' {
			return p.fail("expected :")
		}
		p.i++
		l.keys = append(l.keys, v.text)
		if v, err = p.value(depth + 1); err != nil {
			return err
		}
	}
	l.items = append(l.items, v)
	return nil
}

// word parses a number, a truth value or nothing.
func (p *literalParser) word(l *literal) error {
	begin := p.i
	for p.i < len(p.s) && strings.IndexByte("+-.", p.s[p.i]) >= 0 || p.i < len(p.s) && isWordByte(p.s[p.i]) {
		p.i++
	}
	l.text = p.s[begin:p.i]
	switch l.text {
	case "null", "None":
		l.kind = litNull
	case "true", "True", "false", "False":
		l.kind = litBool
	default:
		if _, err := strconv.ParseFloat(l.text, 64); err != nil {
			p.i = begin
			return p.fail("expected a value")
		}
		l.kind = litNumber
	}
	return nil
}

func isWordByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
}

// quoted parses a string in either kind of quotes with the escapes of JSON and
// Python.
func (p *literalParser) quoted(quote byte) (string, error) {
	p.i++
	var b strings.Builder
	for p.i < len(p.s) {
		c := p.s[p.i]
		p.i++
		switch c {
		case quote:
			return b.String(), nil
		case '\\':
			if err := p.escape(&b); err != nil {
				return "", err
			}
		default:
			b.WriteByte(c)
		}
	}
	return "", p.fail("a string without its closing quote")
}

// escape parses what follows a backslash; an unknown escape stands for itself, as
// in Python.
func (p *literalParser) escape(b *strings.Builder) error {
	if p.i >= len(p.s) {
		return p.fail("a string without its closing quote")
	}
	c := p.s[p.i]
	p.i++
	if k := strings.IndexByte("nrtbf", c); k >= 0 {
		b.WriteByte("\n\r\t\b\f"[k])
		return nil
	}
	digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]
	if digits == 0 {
		if strings.IndexByte("\\/'\"", c) < 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(c)
		return nil
	}
	if len(p.s)-p.i < digits {
		return p.fail("a cut off escape")
	}
	n, err := strconv.ParseUint(p.s[p.i:p.i+digits], 16, 32)
	if err != nil {
		return p.fail("a malformed escape")
	}
	p.i += digits
	r := rune(n)
	if n > utf8.MaxRune {
		r = utf8.RuneError
	}
	b.WriteRune(r)
	return nil
}
