package yamldoc

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"hybrid/internal/diag"
)

// Bounds on what [Parse] accepts. The largest machine file known has 200 kB, 3,300
// lines, 5,000 values and 8 levels.
const (
	maxBytes = 1 << 20
	maxDepth = 64
	maxNodes = 200_000
	// The parser's time grows with the square of a mapping's keys and of the nesting
	// it sees; at these bounds it takes about a second.
	maxKeys  = 20_000
	maxMarks = 2_000
)

// Parse reads one YAML document. Findings go to list; the result is nil if the
// text is not YAML at all, and an empty mapping if it is empty. Aliases and merge
// keys are expanded, so that the tree has neither.
func Parse(file string, src []byte, list *diag.List) *Node {
	start := diag.Pos{File: file, Line: 1, Col: 1}
	if pos, why := tooMuch(file, src); why != "" {
		list.Errorf("E803", pos, "%s", why)
		return nil
	}
	doc, err := parseAST(src)
	if err != nil {
		pos, message := syntaxError(file, err)
		list.Errorf("E801", pos, "not valid YAML: %s", message)
		return nil
	}
	w := walker{file: file, list: list, anchors: map[string]*Node{}}
	body := w.document(doc)
	if body == nil {
		return &Node{Pos: start, Kind: Mapping}
	}
	n := w.node(body, 0)
	if w.stopped {
		return nil
	}
	return n
}

// parseAST turns a panic of the YAML library into an error: its input is a user's.
func parseAST(src []byte) (f *ast.File, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = errors.New("the text is malformed")
		}
	}()
	src = bytes.TrimPrefix(src, []byte("\xef\xbb\xbf"))
	return parser.ParseBytes(src, 0, parser.AllowDuplicateMapKey())
}

// tooMuch refuses text whose size or nesting would exhaust time, memory or stack in
// the parser, which has no bound of its own. Keys and nesting are over-estimated, as
// quotes and comments are not told apart; the tree is bounded exactly later.
func tooMuch(file string, src []byte) (diag.Pos, string) {
	if len(src) > maxBytes {
		return diag.Pos{File: file}, fmt.Sprintf("the file has %d bytes; at most %d are read", len(src), maxBytes)
	}
	if !utf8.Valid(src) {
		return diag.Pos{File: file}, "the file is not UTF-8 text"
	}
	open, braces, number, keys := 0, 0, 0, 0
	for line := range bytes.Lines(src) {
		number++
		opened, marks := nesting(line)
		open = max(0, open+opened)
		keys += 1 + bytes.Count(line, []byte(":"))
		starts := bytes.Count(line, []byte("{"))
		if braces+starts > 0 { // {a, b} has keys without colons
			keys += bytes.Count(line, []byte(","))
		}
		braces = max(0, braces+starts-bytes.Count(line, []byte("}")))
		at := diag.Pos{File: file, Line: number, Col: 1}
		if open > maxMarks || marks > maxMarks {
			return at, fmt.Sprintf("nested more than %d levels deep", maxDepth)
		}
		if keys > maxKeys {
			return at, fmt.Sprintf("more than %d lines and keys", maxKeys)
		}
	}
	return diag.Pos{}, ""
}

// nesting counts what can nest on a line: brackets opened less those closed, and
// block entries, explicit keys, anchors and tags ("- - - x", "? ? x", "&a &b x").
func nesting(line []byte) (opened, marks int) {
	for i, c := range line {
		switch {
		case c == '[' || c == '{':
			opened++
			marks++
		case c == ']' || c == '}':
			opened--
		case (c == '-' || c == '?') && blankAt(line, i+1), c == '&', c == '!':
			marks++
		}
	}
	return opened, marks
}

func blankAt(line []byte, i int) bool {
	return i >= len(line) || line[i] == ' ' || line[i] == '\t' || line[i] == '\n'
}

func syntaxError(file string, err error) (diag.Pos, string) {
	pos := diag.Pos{File: file}
	var ye yaml.Error
	if !errors.As(err, &ye) {
		first, _, _ := strings.Cut(err.Error(), "\n")
		return pos, first
	}
	if t := ye.GetToken(); t != nil && t.Position != nil {
		pos.Line, pos.Col = t.Position.Line, t.Position.Column
	}
	return pos, ye.GetMessage()
}

// walker turns the library's tree into ours.
type walker struct {
	file    string
	list    *diag.List
	anchors map[string]*Node
	nodes   int
	stopped bool // a bound was exceeded; said once
}

// document returns the body of the only document.
func (w *walker) document(f *ast.File) ast.Node {
	var body ast.Node
	for _, d := range f.Docs {
		if d.Body == nil || d.Body.Type() == ast.CommentType || d.Body.Type() == ast.DirectiveType {
			continue
		}
		if body != nil {
			w.list.Errorf("E801", w.node(d.Body, 0).Pos, "a second YAML document: one file describes one thing")
			break
		}
		body = d.Body
	}
	return body
}

func (w *walker) stop(pos diag.Pos, why string) *Node {
	if !w.stopped {
		w.stopped = true
		w.list.Errorf("E803", pos, "%s", why)
	}
	return &Node{Pos: pos}
}

func (w *walker) node(n ast.Node, depth int) *Node {
	if n == nil {
		return &Node{Pos: diag.Pos{File: w.file}}
	}
	pos := w.pos(n.GetToken())
	w.nodes++
	switch {
	case w.stopped:
		return &Node{Pos: pos}
	case depth > maxDepth:
		return w.stop(pos, fmt.Sprintf("nested more than %d levels deep", maxDepth))
	case w.nodes > maxNodes:
		return w.stop(pos, fmt.Sprintf("more than %d values", maxNodes))
	}
	switch n := n.(type) {
	case *ast.MappingNode:
		return w.mapping(pos, n.Values, depth)
	case *ast.MappingValueNode:
		return w.mapping(pos, []*ast.MappingValueNode{n}, depth)
	case *ast.SequenceNode:
		s := &Node{Pos: pos, Kind: Sequence}
		for _, v := range n.Values {
			s.Items = append(s.Items, w.node(v, depth+1))
		}
		return s
	case *ast.AnchorNode:
		v := w.node(n.Value, depth+1)
		w.anchors[n.Name.GetToken().Value] = v
		return v
	case *ast.AliasNode:
		return w.alias(pos, n)
	case *ast.TagNode:
		return w.tag(pos, n, depth)
	}
	return w.scalar(pos, n)
}

// tag reads through the tags of YAML's own types and refuses all others, which
// would promise a meaning that nobody gives them.
func (w *walker) tag(pos diag.Pos, n *ast.TagNode, depth int) *Node {
	if t := n.Start.Value; !strings.HasPrefix(t, "!!") {
		w.list.Errorf("E806", pos, "the tag %s means nothing here", t)
	}
	return w.node(n.Value, depth+1)
}

func (w *walker) scalar(pos diag.Pos, n ast.Node) *Node {
	switch n := n.(type) {
	case *ast.NullNode:
		return &Node{Pos: pos}
	case *ast.LiteralNode:
		return &Node{Pos: pos, Kind: Scalar, Text: n.Value.Value, Quoted: true}
	}
	t := n.GetToken()
	quoted := t.Type == token.DoubleQuoteType || t.Type == token.SingleQuoteType
	return &Node{Pos: pos, Kind: Scalar, Text: t.Value, Quoted: quoted}
}

func (w *walker) alias(pos diag.Pos, n *ast.AliasNode) *Node {
	name := ""
	if n.Value != nil && n.Value.GetToken() != nil {
		name = n.Value.GetToken().Value
	}
	target, ok := w.anchors[name]
	if !ok {
		w.list.Errorf("E801", pos, "*%s refers to an anchor that is not defined above", name)
		return &Node{Pos: pos}
	}
	return w.copy(pos, target)
}

// copy expands an alias. Every copied node counts, so that nested aliases cannot
// grow the tree without bound.
func (w *walker) copy(at diag.Pos, n *Node) *Node {
	if w.nodes++; w.nodes > maxNodes {
		return w.stop(at, fmt.Sprintf("more than %d values after aliases are expanded", maxNodes))
	}
	c := *n
	c.Items = nil
	for _, e := range n.Items {
		if w.stopped {
			break
		}
		c.Items = append(c.Items, w.copy(at, e))
	}
	return &c
}

func (w *walker) mapping(pos diag.Pos, values []*ast.MappingValueNode, depth int) *Node {
	m := &Node{Pos: pos, Kind: Mapping}
	index := map[string]int{}
	var merges []*Node
	for _, v := range values {
		key, keyPos, merge := w.key(v)
		value := w.node(v.Value, depth+1)
		if merge {
			merges = append(merges, value)
			continue
		}
		if old, ok := index[key]; ok {
			w.list.Errorf("E802", keyPos, "key %q stands twice in one mapping", key).
				Note("first at line %d", m.Items[old].KeyPos.Line)
			continue
		}
		index[key] = len(m.Items)
		value.Key, value.KeyPos = key, keyPos
		if value.Kind == Mapping || value.Kind == Sequence || value.Kind == Null {
			value.Pos = keyPos
		}
		m.Items = append(m.Items, value)
	}
	for _, source := range merges {
		w.merge(m, source)
	}
	if len(m.Items) > 0 {
		m.Pos = m.Items[0].KeyPos // the library gives the colon's place
	}
	return m
}

func (w *walker) key(v *ast.MappingValueNode) (key string, pos diag.Pos, merge bool) {
	if v.Key == nil || v.Key.GetToken() == nil {
		return "", diag.Pos{File: w.file}, false
	}
	if v.Key.IsMergeKey() {
		return "", w.pos(v.Key.GetToken()), true
	}
	t := v.Key.GetToken()
	if k, ok := v.Key.(*ast.MappingKeyNode); ok && k.Value != nil && k.Value.GetToken() != nil {
		t = k.Value.GetToken()
	}
	return t.Value, w.pos(t), false
}

// merge adds the entries of source that m lacks (YAML 1.1 merge keys).
func (w *walker) merge(m, source *Node) {
	switch source.Kind {
	case Sequence:
		for _, s := range source.Items {
			w.merge(m, s)
		}
	case Mapping:
		for _, e := range source.Items {
			if m.Get(e.Key) == nil {
				m.Items = append(m.Items, w.copy(source.Pos, e))
			}
		}
	default:
		w.list.Errorf("E806", source.Pos, "<<: merges a mapping, but this is %s", source.Kind)
	}
}

// pos converts a token's place. The library counts columns in runes from 1.
func (w *walker) pos(t *token.Token) diag.Pos {
	if t == nil || t.Position == nil {
		return diag.Pos{File: w.file}
	}
	span := utf8.RuneCountInString(t.Value)
	if t.Type == token.DoubleQuoteType || t.Type == token.SingleQuoteType {
		span += 2
	}
	if span > 1 && strings.Contains(t.Value, "\n") || t.Type == token.MappingValueType {
		span = 1
	}
	return diag.Pos{File: w.file, Line: t.Position.Line, Col: t.Position.Column, Span: span}
}
