package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"hybrid/graph"
)

// timeColumns adds the columns of times and errors: the simulated time and each
// model's error, or all times where nothing was simulated.
func (p *page) timeColumns(g *grid) {
	if p.c.ref >= 0 {
		g.number(p.c.Runs[p.c.ref].Model)
	}
	for i, r := range p.c.Runs {
		switch {
		case i == p.c.ref:
		case p.c.ref >= 0:
			g.number(r.Model + " %")
		default:
			g.number(r.Model)
		}
	}
}

// timeCells returns the cells of timeColumns; a run that never got there has no time.
func (p *page) timeCells(s scale, counts, mean []int64, errors []Error) []string {
	time := func(run int) string {
		if counts[run] == 0 {
			return "-"
		}
		return s.text(mean[run])
	}
	var out []string
	if p.c.ref >= 0 {
		out = append(out, time(p.c.ref))
	}
	for i := range p.c.Runs {
		switch {
		case i == p.c.ref:
		case p.c.ref >= 0:
			out = append(out, percentText(errors[i]))
		default:
			out = append(out, time(i))
		}
	}
	return out
}

// shown returns the times that timeCells prints in the table's unit.
func (p *page) shown(mean []int64) []int64 {
	if p.c.ref >= 0 {
		return mean[p.c.ref : p.c.ref+1]
	}
	return mean
}

// main is the index of the run by which rows are ordered.
func (p *page) main() int { return max(p.c.ref, 0) }

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
	if all == 0 {
		return "-"
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

func (p *page) collectives() {
	c := p.c
	if len(c.Collectives) == 0 {
		return
	}
	order := p.byTime(len(c.Collectives), func(i int) float64 {
		return float64(c.Collectives[i].Mean[p.main()]) * float64(c.Collectives[i].Count)
	})
	bounds := false
	var times []int64
	for i := range c.Collectives {
		r := &c.Collectives[i]
		times = append(times, p.shown(r.Mean)...)
		if r.HasBound {
			bounds = true
			times = append(times, r.LowerBound)
		}
	}
	s := scaleOf(times...)
	places := p.alike(order)
	g := grid{}
	if places {
		g.text("at")
	}
	g.text("collective")
	for _, h := range []string{"N", "bytes", "sends"} {
		g.number(h)
	}
	p.timeColumns(&g)
	if bounds {
		g.number("bound")
	}
	for _, i := range order {
		r := &c.Collectives[i]
		name := r.Type + " " + r.Algorithm + " x" + countText(r.Count)
		var cells []string
		if places {
			cells = append(cells, p.at(r.Site))
		}
		cells = append(cells, name, countText(int64(r.GroupSize)), bytesText(r.Bytes), countText(r.Transfers))
		cells = append(cells, p.timeCells(s, r.Counts, r.Mean, r.Errors)...)
		if bounds {
			cells = append(cells, boundText(s, r))
		}
		g.add(cells...)
	}
	p.section("BY COLLECTIVE: mean time of one, " + s.name)
	p.b.WriteString(g.String())
	p.more(len(c.Collectives)-len(order), "collective")
}

// alike reports whether two of the collectives differ in nothing but their place.
func (p *page) alike(order []int) bool {
	seen := map[string]bool{}
	for _, i := range order {
		label := p.c.Collectives[i].label()
		if seen[label] {
			return true
		}
		seen[label] = true
	}
	return false
}

func boundText(s scale, r *Collective) string {
	if !r.HasBound {
		return "-"
	}
	return s.text(r.LowerBound)
}

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
	p.section("BY OPERATION: mean time of one, " + s.name)
	p.b.WriteString(g.String())
	p.more(len(c.Operations)-len(order), "operation")
}

// at prints a place without the file's name where all places are in one file.
func (p *page) at(site int32) string {
	pos := p.c.graph.Sites[site].Pos
	for i := range p.c.graph.Sites {
		if p.c.graph.Sites[i].Pos.File != pos.File {
			return pos.String()
		}
	}
	switch {
	case pos.Node != "":
		return pos.Node
	case pos.Line > 0 && pos.Col > 0:
		return fmt.Sprintf("%d:%d", pos.Line, pos.Col)
	}
	return pos.String()
}
