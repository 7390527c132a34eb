package report

import (
	"fmt"
	"slices"

	"hybrid/graph/replay"
	"hybrid/internal/units"
)

// maxRanks is up to how many ranks a report lists each.
const maxRanks = 16

// rankMeasure is one of the times of a rank.
type rankMeasure struct {
	name string
	of   func(*replay.RankTimes) units.Time
}

func rankMeasures() []rankMeasure {
	return []rankMeasure{
		{"finish", func(t *replay.RankTimes) units.Time { return t.Finish }},
		{"compute", func(t *replay.RankTimes) units.Time { return t.Compute }},
		{"communication", func(t *replay.RankTimes) units.Time { return t.Communication }},
		{"exposed", func(t *replay.RankTimes) units.Time { return t.Exposed }},
	}
}

func (p *page) ranks() {
	n := 0
	for _, r := range p.c.Runs {
		n = max(n, len(r.Ranks))
	}
	if n == 0 {
		return
	}
	p.rankSummary()
	if n > 1 && !p.ranksAlike() && (n <= maxRanks || p.verbose) {
		p.rankList(n)
	}
}

// spread is the least, middle and largest of a measure over the ranks of a run, in
// picoseconds, and the rank that has the largest.
type spread struct {
	least, median, most int64
	rank                int
}

func spreadOf(r *replay.Result, m rankMeasure) spread {
	all := make([]int64, len(r.Ranks))
	s := spread{rank: -1}
	for i := range r.Ranks {
		all[i] = r.Clock.PS(m.of(&r.Ranks[i]))
		if s.rank < 0 || all[i] > s.most {
			s.most, s.rank = all[i], i
		}
	}
	slices.Sort(all)
	s.least, s.median = all[0], all[(len(all)-1)/2]
	return s
}

// rankLine is a row of the summary: the spread of a measure over the ranks of a run.
type rankLine struct {
	measure, model string
	spread
	// error is that of the median rank.
	error Error
}

// rankLines has the summary's rows. Runs that agree on a measure share a row.
func (p *page) rankLines() []rankLine {
	var out []rankLine
	for _, m := range p.measures() {
		var rows []rankLine
		same := true
		for _, r := range p.c.Runs {
			if len(r.Ranks) > 0 {
				rows = append(rows, rankLine{measure: m.name, model: r.Model, spread: spreadOf(r, m)})
				same = same && rows[len(rows)-1].spread == rows[0].spread
			}
		}
		if same && len(rows) > 1 {
			rows = rows[:1]
			rows[0].model = "all runs"
		}
		out = append(out, p.rankErrors(rows)...)
	}
	return out
}

// rankErrors fills in the errors of the medians against the simulated run.
func (p *page) rankErrors(rows []rankLine) []rankLine {
	ref := p.reference()
	if ref < 0 || !p.c.Runs[ref].Verdict.OK() {
		return rows
	}
	i := slices.IndexFunc(rows, func(l rankLine) bool { return l.model == p.c.Runs[ref].Model })
	for j := range rows {
		if i >= 0 && j != i {
			rows[j].error = relative(value{float64(rows[j].median), true}, value{float64(rows[i].median), true})
		}
	}
	return rows
}

// measures leaves out the exposed time where all communication is exposed.
func (p *page) measures() []rankMeasure {
	all := rankMeasures()
	if p.allExposed() {
		return all[:len(all)-1]
	}
	return all
}

func (p *page) allExposed() bool {
	for _, r := range p.c.Runs {
		if slices.ContainsFunc(r.Ranks, func(t replay.RankTimes) bool { return t.Exposed != t.Communication }) {
			return false
		}
	}
	return true
}

// ranksAlike reports whether in every run all ranks have the same times.
func (p *page) ranksAlike() bool {
	return !slices.ContainsFunc(p.rankLines(), func(l rankLine) bool { return l.least != l.most })
}

func (p *page) rankSummary() {
	lines := p.rankLines()
	var times []int64
	for _, l := range lines {
		times = append(times, l.most)
	}
	if len(times) > 0 && slices.Max(times) == 0 {
		return
	}
	s := scaleOf(times...)
	g := grid{}
	g.text("time")
	g.text("model")
	for _, h := range []string{"least", "median", "most", "at rank"} {
		g.number(h)
	}
	compared := p.reference() >= 0 && len(p.c.Runs) > 1
	if compared {
		g.number("median %")
	}
	last := ""
	for _, l := range lines {
		name := l.measure
		if name == last {
			name = ""
		}
		last = l.measure
		at := "all"
		if l.least != l.most {
			at = fmt.Sprint(l.rank)
		}
		cells := []string{name, l.model, s.text(l.least), s.text(l.median), s.text(l.most), at}
		if compared {
			cells = append(cells, errorCell(l.error))
		}
		g.add(cells...)
	}
	title := "exposed is communication while nothing computes"
	if p.allExposed() {
		title = "no communication is hidden behind computing"
	}
	p.section("BY RANK: " + s.name + "; " + title)
	p.b.WriteString(g.String())
}

// rankList prints each rank: its times in the main run and the errors of its finish.
func (p *page) rankList(n int) {
	main := p.c.Runs[p.main()]
	if len(main.Ranks) != n {
		return
	}
	var times []int64
	for i := range main.Ranks {
		times = append(times, main.Clock.PS(main.Ranks[i].Finish))
	}
	s := scaleOf(times...)
	g := grid{}
	g.number("rank")
	for _, m := range p.measures() {
		g.number(m.name)
	}
	for i, r := range p.c.Runs {
		if ref := p.reference(); ref >= 0 && i != ref {
			g.number(r.Model + " %")
		}
	}
	for i := range main.Ranks {
		g.add(p.rankCells(i, s)...)
	}
	fmt.Fprintf(&p.b, "\n  each rank in the %s run, %s", main.Model, s.name)
	if p.reference() >= 0 && len(p.c.Metrics) > 0 {
		p.b.WriteString("; errors are those of its finish")
	}
	p.b.WriteString("\n" + g.String())
}

func (p *page) rankCells(rank int, s scale) []string {
	main := p.c.Runs[p.main()]
	cells := []string{fmt.Sprint(rank)}
	for _, m := range p.measures() {
		cells = append(cells, s.text(main.Clock.PS(m.of(&main.Ranks[rank]))))
	}
	ref := p.reference()
	if ref < 0 {
		return cells
	}
	for i, r := range p.c.Runs {
		if i == ref {
			continue
		}
		e := Error{}
		if rank < len(r.Ranks) && r.Verdict.OK() {
			e = relative(finishOf(r, rank), finishOf(main, rank))
		}
		cells = append(cells, percentText(e))
	}
	return cells
}

func finishOf(r *replay.Result, rank int) value {
	return value{float64(r.Ranks[rank].Finish) / float64(max(1, r.Clock.PerPS)), true}
}

// errorCell leaves the cell of the simulated run itself empty.
func errorCell(e Error) string {
	if !e.Defined {
		return ""
	}
	return percentText(e)
}
