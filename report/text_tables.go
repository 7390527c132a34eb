package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"hybrid/graph"
)

// timeColumns adds the columns of times and errors: the simulated time and each
// model's error, or all times where no simulation finished.
func (p *page) timeColumns(g *grid) {
	ref := p.reference()
	if ref >= 0 {
		g.number(p.c.Runs[ref].Model)
	}
	for i, r := range p.c.Runs {
		switch {
		case i == ref:
		case ref >= 0:
			g.number(r.Model + " %")
		default:
			g.number(r.Model)
		}
	}
}

// reference is the index of the run that errors refer to, or -1.
func (p *page) reference() int {
	if r := p.c.Reference(); r != nil && r.Verdict.OK() {
		return p.c.ref
	}
	return -1
}

// timeCells returns the cells of timeColumns; a run that never got there has no time.
func (p *page) timeCells(s scale, counts, mean []int64, errors []Error) []string {
	time := func(run int) string {
		if counts[run] == 0 {
			return none
		}
		return s.text(mean[run])
	}
	ref := p.reference()
	var out []string
	if ref >= 0 {
		out = append(out, time(ref))
	}
	for i := range p.c.Runs {
		switch {
		case i == ref:
		case ref >= 0:
			out = append(out, percentText(errors[i]))
		default:
			out = append(out, time(i))
		}
	}
	return out
}

// shown returns the times that timeCells prints in the table's unit.
func (p *page) shown(mean []int64) []int64 {
	if ref := p.reference(); ref >= 0 {
		return mean[ref : ref+1]
	}
	return mean
}

// main is the index of the run by which rows are ordered: the simulation, or the first
// run that finished if it did not.
func (p *page) main() int {
	main := max(p.c.ref, 0)
	for i, r := range p.c.Runs {
		if !p.c.Runs[main].Verdict.OK() && r.Verdict.OK() {
			main = i
		}
	}
	return main
}

// kinds sums the operations by kind.
func (p *page) kinds() {
	if len(p.c.Operations) == 0 {
		return
	}
	rows := p.c.byKind()
	var times []int64
	var all float64
	for _, r := range rows {
		times = append(times, p.shown(r.mean)...)
		all += float64(r.total[p.main()])
	}
	s := scaleOf(times...)
	g := grid{}
	g.text("kind")
	g.number("places")
	g.number("count")
	g.number("time %")
	p.timeColumns(&g)
	for _, r := range rows {
		g.add(append([]string{r.kind.String(), countText(r.places), countText(r.count), share(float64(r.total[p.main()]), all)},
			p.timeCells(s, r.counts, r.mean, r.errors)...)...)
	}
	p.section("BY OPERATION KIND: mean time of one, " + s.name)
	p.b.WriteString(g.String())
}

func share(part, all float64) string {
	switch {
	case all == 0:
		return none
	case part > 0 && part/all < 0.0005:
		return "<0.1"
	}
	return fmt.Sprintf("%.1f", 100*part/all)
}

// kindRow sums the operations of a kind; slices are parallel to the runs.
type kindRow struct {
	kind          graph.Kind
	places, count int64
	total         []int64
	counts, mean  []int64
	errors        []Error
}

func (c *Comparison) byKind() []kindRow {
	rows := make([]kindRow, graph.NumKinds)
	for i := range c.Operations {
		o := &c.Operations[i]
		r := &rows[o.Kind]
		if r.total == nil {
			r.kind, r.total, r.counts = o.Kind, make([]int64, len(c.Runs)), make([]int64, len(c.Runs))
		}
		r.places++
		r.count += o.Count
		for run := range c.Runs {
			r.total[run] = addSaturating(r.total[run], o.Total[run])
			r.counts[run] += o.Counts[run]
		}
	}
	rows = slices.DeleteFunc(rows, func(r kindRow) bool { return r.count == 0 })
	for i := range rows {
		r := &rows[i]
		var v []value
		for run, t := range r.total {
			n := max(1, r.counts[run])
			r.mean = append(r.mean, t/n)
			v = append(v, value{float64(t) / float64(n), r.counts[run] > 0})
		}
		r.errors = c.errors(v)
	}
	return rows
}

func addSaturating(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// maxRows bounds the tables of a report that is not verbose.
const maxRows = 20

// byTime orders rows by falling time, equal ones as they were written, and cuts the
// list unless the report is verbose.
func (p *page) byTime(n int, time func(int) float64) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(time(b), time(a)) })
	if !p.verbose && n > maxRows {
		order = order[:maxRows]
	}
	return order
}

func (p *page) more(n int, noun string) {
	if n > 0 {
		fmt.Fprintf(&p.b, "  and %s that take less time; -v shows all\n", plural(int64(n), "more "+noun))
	}
}

func (p *page) operations() {
	c := p.c
	if len(c.Operations) == 0 {
		return
	}
	time := func(i int) float64 { return float64(c.Operations[i].Total[p.main()]) }
	order := p.byTime(len(c.Operations), time)
	var times []int64
	var all float64
	for i := range c.Operations {
		all += time(i)
	}
	for _, i := range order {
		times = append(times, p.shown(c.Operations[i].Mean)...)
	}
	s := scaleOf(times...)
	g := grid{}
	g.text("at")
	g.text("operation")
	g.number("count")
	g.number("time %")
	p.timeColumns(&g)
	for _, i := range order {
		o := &c.Operations[i]
		g.add(append([]string{p.at(o.Site), o.Label, countText(o.Count), share(time(i), all)}, p.timeCells(s, o.Counts, o.Mean, o.Errors)...)...)
	}
	p.section("BY OPERATION: mean time of one, " + s.name + "; time %: share of all operations")
	p.b.WriteString(g.String())
	if slices.ContainsFunc(order, func(i int) bool { return c.Operations[i].Kind == graph.Collective }) {
		p.b.WriteString("  a collective's row is the part of each rank, with its wait for the others\n")
	}
	p.more(len(c.Operations)-len(order), "operation")
}

// at prints a place without the file's name where all places are in one file, and a
// trace's node without its name, which stands in another column.
func (p *page) at(site int32) string {
	pos := p.c.graph.Sites[site].Pos
	text := ""
	switch {
	case pos.Node != "":
		text, _, _ = strings.Cut(pos.Node, ` "`)
	case pos.Line > 0 && pos.Col > 0:
		text = fmt.Sprintf("%d:%d", pos.Line, pos.Col)
	}
	switch {
	case text == "":
		return pos.String()
	case p.oneFile || pos.File == "":
		return text
	case pos.Node != "":
		return pos.File + " " + text
	}
	return pos.File + ":" + text
}

// oneFile reports whether everything was written in one file.
func (c *Comparison) oneFile() bool {
	sites := c.graph.Sites
	return !slices.ContainsFunc(sites, func(s graph.Site) bool { return s.Pos.File != sites[0].Pos.File })
}
