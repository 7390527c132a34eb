package report

import (
	"strings"
	"unicode/utf8"
)

// pageWidth is the widest line of a text report.
const pageWidth = 80

// column is one column of a grid. Text columns are left-aligned and give way, from
// the widest, where a row would be wider than the page; numbers never do.
type column struct {
	head   string
	number bool
}

// grid is a table of texts.
type grid struct {
	columns []column
	rows    [][]string
}

func (g *grid) text(head string)   { g.columns = append(g.columns, column{head, false}) }
func (g *grid) number(head string) { g.columns = append(g.columns, column{head, true}) }

func (g *grid) add(cells ...string) { g.rows = append(g.rows, cells) }

const gutter = 2

// widths returns the width of each column after text columns gave way.
func (g *grid) widths() []int {
	w := make([]int, len(g.columns))
	total := gutter * len(w)
	for i, c := range g.columns {
		w[i] = width(c.head)
		for _, r := range g.rows {
			w[i] = max(w[i], width(r[i]))
		}
		total += w[i]
	}
	for total > pageWidth {
		widest := -1
		for i, c := range g.columns {
			if !c.number && (widest < 0 || w[i] > w[widest]) {
				widest = i
			}
		}
		if widest < 0 || w[widest] <= 8 {
			break
		}
		w[widest]--
		total--
	}
	return w
}

// String renders the grid, indented by two, with a line end after each row.
func (g *grid) String() string {
	var b strings.Builder
	widths := g.widths()
	head := make([]string, len(g.columns))
	for i, c := range g.columns {
		head[i] = c.head
	}
	g.line(&b, widths, head)
	for _, r := range g.rows {
		g.line(&b, widths, r)
	}
	return b.String()
}

// line writes one row without trailing blanks.
func (g *grid) line(b *strings.Builder, widths []int, cells []string) {
	var l strings.Builder
	for i, c := range g.columns {
		cell := elide(cells[i], widths[i])
		fill := strings.Repeat(" ", max(0, widths[i]-width(cell)))
		if c.number {
			cell = fill + cell
		} else {
			cell += fill
		}
		l.WriteString(strings.Repeat(" ", gutter) + cell)
	}
	b.WriteString(strings.TrimRight(l.String(), " ") + "\n")
}

// width counts runes: what reports print is one column a rune.
func width(s string) int { return utf8.RuneCountInString(s) }

// elide shortens a text in its middle, where places and descriptions say least.
func elide(s string, most int) string {
	if width(s) <= most {
		return s
	}
	r := []rune(s)
	const dots = ".."
	keep := max(most-len(dots), 0)
	tail := keep / 3
	return string(r[:keep-tail]) + dots + string(r[len(r)-tail:])
}

// wrap breaks text at blanks so that no line is wider than the page; every line
// begins with indent, the first with first instead.
func wrap(s, first, indent string) string {
	var b strings.Builder
	line := first
	empty := true
	for _, word := range words(s) {
		if !empty && width(line)+1+width(word) > pageWidth {
			b.WriteString(strings.TrimRight(line, " ") + "\n")
			line, empty = indent, true
		}
		if !empty {
			line += " "
		}
		line += word
		empty = false
	}
	b.WriteString(strings.TrimRight(line, " ") + "\n")
	return b.String()
}

// words splits at blanks, but not between a number and its percent sign.
func words(s string) []string {
	var out []string
	for _, w := range strings.Fields(s) {
		if n := len(out); n > 0 && strings.HasPrefix(w, "%") {
			out[n-1] += " " + w
			continue
		}
		out = append(out, w)
	}
	return out
}
