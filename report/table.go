package report

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// pageWidth is the widest line of a text report.
const pageWidth = 80

// column is one column of a grid. Text columns are left-aligned and wrapped, the widest
// first, where a row would be wider than the page; numbers never are.
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

// none stands in a column of numbers for a number that does not exist.
const none = "-"

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
	g.dropEmpty()
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

// dropEmpty removes the columns of numbers in which no row has one.
func (g *grid) dropEmpty() {
	for i := len(g.columns) - 1; i >= 0; i-- {
		if !g.columns[i].number || len(g.rows) == 0 || slices.ContainsFunc(g.rows, func(r []string) bool { return r[i] != none }) {
			continue
		}
		g.columns = slices.Delete(g.columns, i, i+1)
		for k := range g.rows {
			g.rows[k] = slices.Delete(g.rows[k], i, i+1)
		}
	}
}

// line writes one row: its numbers on the first line, wrapped texts on further ones.
func (g *grid) line(b *strings.Builder, widths []int, cells []string) {
	parts := make([][]string, len(cells))
	lines := 1
	texts, numbers := split(g.columns, cells)
	for i, cell := range cells {
		parts[i] = []string{cell}
		if !g.columns[i].number {
			parts[i] = fold(cell, widths[i])
		}
		lines = max(lines, len(parts[i]))
	}
	if lines > mostLines {
		b.WriteString(wrap(strings.Join(texts, ": "), strings.Repeat(" ", gutter), strings.Repeat(" ", 2*gutter)))
		g.physical(b, widths, numbers)
		return
	}
	for n := range lines {
		row := make([]string, len(cells))
		for i := range parts {
			if n < len(parts[i]) {
				row[i] = parts[i][n]
			}
		}
		g.physical(b, widths, row)
	}
}

// mostLines is up to how many lines a row is wrapped. What is longer gets lines of its
// own above its numbers.
const mostLines = 2

// split returns the texts of a row that are not empty, and the row without them.
func split(columns []column, cells []string) (texts, numbers []string) {
	numbers = slices.Clone(cells)
	for i, c := range columns {
		if !c.number {
			numbers[i] = ""
			if cells[i] != "" {
				texts = append(texts, cells[i])
			}
		}
	}
	return texts, numbers
}

// physical writes one line without trailing blanks.
func (g *grid) physical(b *strings.Builder, widths []int, cells []string) {
	var l strings.Builder
	for i, c := range g.columns {
		cell := cells[i]
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

// fold breaks a text into lines of at most the given width: at blanks, and inside a word
// that is longer than a line. Every line but the first is indented.
func fold(s string, most int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(s) {
		switch {
		case line == "":
			line = word
		case width(line)+1+width(word) <= most:
			line += " " + word
		default:
			lines = append(lines, line)
			line = hanging + word
		}
		for width(line) > most {
			r := []rune(line)
			lines = append(lines, string(r[:most]))
			line = hanging + string(r[most:])
		}
	}
	return append(lines, line)
}

// hanging is the indent of the further lines of a cell.
const hanging = " "

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
