package chakra

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"hybrid/internal/diag"
)

// findings merges the findings of many nodes: those of one class become the first
// of them with a count, so that a million nodes with one fault give one line.
type findings struct {
	list    *diag.List
	byClass map[string]int
	entries []finding
}

type finding struct {
	diag.Diagnostic
	lastFile string
	files    int
}

func newFindings(list *diag.List) *findings {
	return &findings{list: list, byClass: map[string]int{}}
}

// place is where a finding was made.
type place struct {
	file string
	t    *trace
	node *node
}

func (p place) pos() diag.Pos {
	pos := diag.Pos{File: p.file}
	if p.node != nil {
		pos.Node = p.t.nodeText(p.node)
	}
	return pos
}

// nodeText names a node in messages and sites.
func (t *trace) nodeText(n *node) string {
	name := t.text(n.name)
	if len(name) == 0 {
		return fmt.Sprintf("node %d", n.id)
	}
	return fmt.Sprintf("node %d %q", n.id, shorten(string(name), 80))
}

// shorten cuts a text after at most n bytes at a rune's border.
func shorten(s string, n int) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "..."
}

func (f *findings) errorf(code, class string, p place, format string, args ...any) {
	f.add(diag.Error, code, class, p, format, args)
}

func (f *findings) warnf(code, class string, p place, format string, args ...any) {
	f.add(diag.Warning, code, class, p, format, args)
}

func (f *findings) add(s diag.Severity, code, class string, p place, format string, args []any) {
	key := code + "\x00" + class
	i, ok := f.byClass[key]
	if !ok {
		f.byClass[key] = len(f.entries)
		f.entries = append(f.entries, finding{files: 1, lastFile: p.file, Diagnostic: diag.Diagnostic{
			Severity: s, Code: code, Pos: p.pos(), Message: fmt.Sprintf(format, args...)}})
		return
	}
	e := &f.entries[i]
	e.Count++
	if e.lastFile != p.file {
		e.lastFile = p.file
		e.files++
	}
}

// note adds a line to the first finding of a class.
func (f *findings) note(code, class, format string, args ...any) {
	if i, ok := f.byClass[code+"\x00"+class]; ok {
		f.entries[i].Note(format, args...)
	}
}

// flush hands the merged findings to the list.
func (f *findings) flush() {
	for _, e := range f.entries {
		if e.files > 1 {
			e.Note("in %d files", e.files)
		}
		f.list.Add(e.Diagnostic)
	}
	f.entries, f.byClass = nil, map[string]int{}
}

// failed reports whether an error was found so far.
func (f *findings) failed() bool {
	for i := range f.entries {
		if f.entries[i].Severity == diag.Error {
			return true
		}
	}
	return f.list.HasErrors()
}
