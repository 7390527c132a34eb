package diag

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Renderer prints findings for people: the line that editors parse, the source
// line, a caret under the place, then notes.
type Renderer struct {
	// Source returns the text of a file, or "" if it is not to be had.
	Source func(file string) string
	// Color turns ANSI colours on.
	Color bool
	// Max bounds how many findings are printed; 0 means all.
	Max int
}

// Render writes the list in order.
func (r Renderer) Render(w io.Writer, l *List) {
	all := l.All()
	shown := all
	if r.Max > 0 && len(all) > r.Max {
		shown = all[:r.Max]
	}
	for i := range shown {
		r.one(w, &shown[i])
	}
	if n := len(all) - len(shown); n > 0 {
		fmt.Fprintf(w, "and %d more findings; --max-errors %d shows them\n", n, len(all))
	}
}

func (r Renderer) one(w io.Writer, d *Diagnostic) {
	head := d.headline()
	if r.Color {
		head = r.paint(d, head)
	}
	fmt.Fprintln(w, head)
	if line := r.sourceLine(d.Pos); line != "" {
		fmt.Fprintf(w, "%5d | %s\n", d.Pos.Line, line)
		fmt.Fprintf(w, "      | %s%s\n", caretIndent(line, d.Pos.Col), strings.Repeat("^", max(1, d.Pos.Span)))
	}
	if d.Count > 0 {
		fmt.Fprintf(w, "      = and %d more like it\n", d.Count)
	}
	for _, n := range d.Notes {
		fmt.Fprintf(w, "      = %s\n", n)
	}
}

func (r Renderer) paint(d *Diagnostic, head string) string {
	color := [...]string{"\x1b[36m", "\x1b[33m", "\x1b[31m"}[d.Severity]
	word := d.Severity.String() + ":"
	return strings.Replace(head, word, color+"\x1b[1m"+word+"\x1b[0m", 1)
}

func (r Renderer) sourceLine(p Pos) string {
	if r.Source == nil || p.Line <= 0 || p.Col <= 0 {
		return ""
	}
	text := r.Source(p.File)
	for n := 1; n < p.Line; n++ {
		i := strings.IndexByte(text, '\n')
		if i < 0 {
			return ""
		}
		text = text[i+1:]
	}
	line, _, _ := strings.Cut(text, "\n")
	line = strings.TrimRight(line, "\r")
	if utf8.RuneCountInString(line) > 300 {
		return ""
	}
	return line
}

// caretIndent keeps tabs so that the caret stands under its rune however wide
// the terminal makes them.
func caretIndent(line string, col int) string {
	var b strings.Builder
	n := 1
	for _, c := range line {
		if n >= col {
			break
		}
		if c == '\t' {
			b.WriteByte('\t')
		} else {
			b.WriteByte(' ')
		}
		n++
	}
	for ; n < col; n++ {
		b.WriteByte(' ')
	}
	return b.String()
}
