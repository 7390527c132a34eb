package dsel

import (
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/alecthomas/participle/v2/lexer"

	"hybrid/internal/diag"
)

// Token types. EOF is participle's.
const (
	tokNL lexer.TokenType = iota + 1
	tokString
	tokNumber
	tokQuantity
	tokBad
	tokLabel
	tokIdent
	tokOp
	// The formatter alone sees the following.
	tokComment
	tokSoftNL // a newline inside brackets
	tokJoin   // a backslash and the newline behind it
)

const (
	maxSource = 16 << 20
	maxDepth  = 200
)

// lexicon is the lexer as participle sees it. Comments and blanks never become
// tokens; a newline is one only outside parentheses and brackets.
type lexicon struct{}

// Symbols names the token types for the grammar.
func (lexicon) Symbols() map[string]lexer.TokenType {
	return map[string]lexer.TokenType{"EOF": lexer.EOF, "NL": tokNL, "String": tokString, "Number": tokNumber, "Quantity": tokQuantity,
		"Bad": tokBad, "Label": tokLabel, "Ident": tokIdent, "Op": tokOp}
}

// Lex makes a lexer over the whole input.
func (lexicon) Lex(file string, r io.Reader) (lexer.Lexer, error) {
	src, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	return &tokenList{tokens: scan(file, src, &findings{})}, nil
}

// tokenList hands out tokens that were scanned before.
type tokenList struct {
	tokens []lexer.Token
	next   int
}

// Next returns the next token; the last one is EOF.
func (t *tokenList) Next() (lexer.Token, error) {
	tok := t.tokens[t.next]
	if t.next < len(t.tokens)-1 {
		t.next++
	}
	return tok, nil
}

// scanner turns text into tokens and reports what is none.
type scanner struct {
	src    string
	pos    lexer.Position
	list   *findings
	open   []opener // brackets that are open
	braces int      // how many of them are braces
	tokens []lexer.Token
	// all keeps comments and newlines that end no statement, for the formatter.
	all bool
}

// quiet is the type of a token that only the formatter sees.
func (s *scanner) quiet(t lexer.TokenType) lexer.TokenType {
	if s.all {
		return t
	}
	return 0
}

type opener struct {
	c   byte
	pos lexer.Position
}

// scan returns the tokens of a source, ending in EOF. Faults are added to list.
func scan(file string, src []byte, list *findings) []lexer.Token {
	return scanWith(&scanner{src: string(src), pos: lexer.Position{Filename: file, Line: 1, Column: 1}, list: list})
}

func scanWith(s *scanner) []lexer.Token {
	if len(s.src) > maxSource {
		s.list.Errorf("E109", diag.Pos{File: s.pos.Filename}, "the blueprint is %d bytes long; the limit is %d", len(s.src), maxSource)
		s.src = ""
	}
	s.src = strings.TrimPrefix(s.src, "\ufeff")
	s.tokens = make([]lexer.Token, 0, min(len(s.src)/5, 1<<18))
	for s.src != "" && !s.list.full() {
		s.step()
	}
	for _, o := range s.open {
		s.unclosed(o)
	}
	s.tokens = append(s.tokens, lexer.EOFToken(s.pos))
	return s.tokens
}

// take consumes n bytes; they become a token of the given type unless it is 0.
func (s *scanner) take(n int, t lexer.TokenType) {
	text := s.src[:n]
	if t != 0 {
		s.tokens = append(s.tokens, lexer.Token{Type: t, Value: text, Pos: s.pos})
	}
	s.src = s.src[n:]
	s.pos.Offset += n
	if i := strings.LastIndexByte(text, '\n'); i >= 0 {
		s.pos.Line += strings.Count(text, "\n")
		s.pos.Column = 1
		text = text[i+1:]
	}
	s.pos.Column += utf8.RuneCountInString(text)
}

func (s *scanner) fault(code string, runes int, format string, args ...any) *diag.Diagnostic {
	p := posOf(s.pos)
	p.Span = runes
	return s.list.Errorf(code, p, format, args...)
}

func (s *scanner) step() {
	c := s.src[0]
	switch {
	case c == '\n':
		s.newline()
	case c == ' ' || c == '\t' || c == '\r':
		s.take(1, 0)
	case strings.HasPrefix(s.src, "//"):
		n := strings.IndexByte(s.src, '\n')
		if n < 0 {
			n = len(s.src)
		}
		s.take(len(strings.TrimRight(s.src[:n], " \t\r")), s.quiet(tokComment))
	case strings.HasPrefix(s.src, "/*"):
		s.blockComment()
	case c == '\\':
		s.continuation()
	case c == '"':
		s.str()
	case c >= '0' && c <= '9':
		s.number()
	case c == '@':
		s.label()
	case identStart(c):
		s.take(identLen(s.src), tokIdent)
	default:
		s.operator()
	}
}

func (s *scanner) newline() {
	if n := len(s.open); n > 0 && s.open[n-1].c != '{' {
		s.take(1, s.quiet(tokSoftNL))
		return
	}
	if n := len(s.tokens); n > 0 && s.tokens[n-1].Type == tokNL && !s.all {
		s.take(1, 0) // empty lines end nothing
		return
	}
	s.take(1, tokNL)
}

func (s *scanner) blockComment() {
	n := strings.Index(s.src, "*/")
	if n < 0 {
		s.fault("E103", 2, "the comment opened here is not closed")
		s.take(len(s.src), 0)
		return
	}
	s.take(n+2, s.quiet(tokComment))
}

// continuation takes a backslash at the end of a line together with the newline.
func (s *scanner) continuation() {
	rest := strings.TrimLeft(s.src[1:], " \t\r")
	if rest == "" || rest[0] != '\n' {
		s.fault("E104", 1, `stray \: it joins lines only at the end of a line`)
		s.take(1, tokBad)
		return
	}
	s.take(len(s.src)-len(rest)+1, s.quiet(tokJoin))
}

func (s *scanner) str() {
	for i := 1; i < len(s.src); i++ {
		switch s.src[i] {
		case '"':
			s.checkString(s.src[:i+1])
			s.take(i+1, tokString)
			return
		case '\\':
			i++
		case '\n':
			s.openString(i)
			return
		}
	}
	s.openString(len(s.src))
}

// checkString reports what is wrong inside of a string that is closed.
func (s *scanner) checkString(text string) {
	if !utf8.ValidString(text) {
		s.fault("E105", utf8.RuneCountInString(text), "the string is not valid UTF-8")
	} else if _, err := strconv.Unquote(text); err != nil {
		s.fault("E107", utf8.RuneCountInString(text), "the string has an escape that means nothing").
			Note(`escapes: \" \\ \n \t; a backslash itself is written \\`)
	}
}

func (s *scanner) openString(n int) {
	s.fault("E102", utf8.RuneCountInString(s.src[:n]), "the string is not closed on its line")
	s.tokens = append(s.tokens, lexer.Token{Type: tokString, Value: `""`, Pos: s.pos})
	s.take(n, 0)
}

func (s *scanner) label() {
	n := identLen(s.src[1:])
	if n == 0 {
		s.fault("E104", 1, "stray '@': a label is written @name")
		s.take(1, tokBad)
		return
	}
	s.take(n+1, tokLabel)
}

// number takes a hexadecimal number, a plain number, or a quantity: a number and
// the longest unit that follows it directly.
func (s *scanner) number() {
	if strings.HasPrefix(s.src, "0x") || strings.HasPrefix(s.src, "0X") {
		n := 2
		for n < len(s.src) && (isHex(s.src[n]) || s.src[n] == '_') {
			n++
		}
		s.take(n, tokNumber)
		return
	}
	n := digitsLen(s.src)
	name := s.src[n : n+lettersLen(s.src[n:])]
	if name == "" {
		s.take(n, tokNumber)
		return
	}
	table := unitTable()
	if per := s.src[n+len(name):]; strings.HasPrefix(per, "/") {
		long := name + per[:1+lettersLen(per[1:])]
		if _, ok := table[long]; ok {
			s.take(n+len(long), tokQuantity)
			return
		}
	}
	if _, ok := table[name]; ok {
		s.take(n+len(name), tokQuantity)
		return
	}
	digits := s.src[:n]
	s.fault("E101", utf8.RuneCountInString(s.src[:n+len(name)]), "%s", badUnit(digits, name))
	s.take(n+len(name), tokBad)
}

func (s *scanner) operator() {
	for _, op := range twoCharOps() {
		if strings.HasPrefix(s.src, op) {
			s.take(len(op), tokOp)
			return
		}
	}
	c := s.src[0]
	switch c {
	case '(', '[', '{':
		s.open = append(s.open, opener{c, s.pos})
		if c == '{' {
			s.braces++
		}
		s.take(1, tokOp)
		return
	case ')', ']', '}':
		s.closeBracket(c)
		s.take(1, tokOp)
		return
	}
	if strings.IndexByte("+-*/%<>=!?:.,;#^|&", c) >= 0 {
		s.take(1, tokOp)
		return
	}
	s.stray()
}

// stray takes what no token starts with. A run of it is one finding.
func (s *scanner) stray() {
	r, n := utf8.DecodeRuneInString(s.src)
	if r == utf8.RuneError && n == 1 {
		s.fault("E105", 1, "the blueprint is not valid UTF-8 here (byte %#02x)", s.src[0])
	} else {
		s.fault("E104", 1, "stray character %q", r)
	}
	for n < len(s.src) && s.src[n] >= utf8.RuneSelf {
		n++
	}
	s.take(n, tokBad)
}

// closeBracket pops the matching opener. A brace closes whatever is open inside
// it, so that one forgotten parenthesis does not swallow the rest of the file.
func (s *scanner) closeBracket(c byte) {
	want := map[byte]byte{')': '(', ']': '[', '}': '{'}[c]
	if c == '}' {
		if s.braces == 0 {
			return
		}
		s.braces--
	}
	for i := len(s.open) - 1; i >= 0; i-- {
		if s.open[i].c == want {
			for _, o := range s.open[i+1:] {
				s.unclosed(o)
			}
			s.open = s.open[:i]
			return
		}
		if c != '}' {
			return
		}
	}
}

// unclosed reports an opener that nothing closes.
func (s *scanner) unclosed(o opener) {
	if o.c == '{' {
		s.list.Errorf("E202", posOf(o.pos), "the block opened here is not closed")
		return
	}
	s.list.Errorf("E202", posOf(o.pos), "'%c' is not closed", o.c)
}

func twoCharOps() []string {
	return []string{"==", "!=", "<=", ">=", "&&", "||", "**", "..", "??", "?.", "::"}
}

func identStart(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func identLen(s string) int {
	n := 0
	for n < len(s) && (identStart(s[n]) || n > 0 && s[n] >= '0' && s[n] <= '9') {
		n++
	}
	return n
}

// lettersLen counts the bytes of leading letters of any script, so that a unit
// with a Greek letter is one word.
func lettersLen(s string) int {
	for i, r := range s {
		if !unicode.IsLetter(r) && r != '_' {
			return i
		}
	}
	return len(s)
}

// digitsLen measures 1_000, 2.5 and 1e6, but not the dots of 0..7.
func digitsLen(s string) int {
	digits := func(i int) int {
		for i < len(s) && (s[i] >= '0' && s[i] <= '9' || s[i] == '_') {
			i++
		}
		return i
	}
	n := digits(0)
	if n+1 < len(s) && s[n] == '.' && s[n+1] >= '0' && s[n+1] <= '9' {
		n = digits(n + 1)
	}
	if n < len(s) && (s[n] == 'e' || s[n] == 'E') {
		i := n + 1
		if i < len(s) && (s[i] == '+' || s[i] == '-') {
			i++
		}
		if j := digits(i); j > i {
			n = j
		}
	}
	return n
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// posOf converts a lexer position.
func posOf(p lexer.Position) diag.Pos {
	return diag.Pos{File: p.Filename, Line: p.Line, Col: p.Column}
}

// posOfToken is the place of a whole token.
func posOfToken(t lexer.Token) diag.Pos {
	p := posOf(t.Pos)
	p.Span = max(1, utf8.RuneCountInString(t.Value))
	if t.Type == tokNL || t.EOF() {
		p.Span = 1
	}
	return p
}

// show names a token in messages.
func show(t lexer.Token) string {
	switch {
	case t.EOF():
		return "the end of the file"
	case t.Type == tokNL:
		return "the end of the line"
	}
	return "'" + clip(t.Value) + "'"
}

// clip shortens what somebody wrote for a message.
func clip(s string) string {
	const most = 60
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most]) + "..."
}
