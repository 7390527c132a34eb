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
	if n <= maxRanks || p.verbose {
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

func (p *page) rankSummary() {
	type line struct {
		model, measure string
		spread
	}
	var lines []line
	var times []int64
	for _, m := range rankMeasures() {
		for _, r := range p.c.Runs {
			if len(r.Ranks) == 0 {
				continue
			}
			s := spreadOf(r, m)
			lines = append(lines, line{r.Model, m.name, s})
			times = append(times, s.most)
		}
	}
	s := scaleOf(times...)
	g := grid{}
	g.text("time")
	g.text("model")
	for _, h := range []string{"least", "median", "most", "at rank"} {
		g.number(h)
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
		g.add(name, l.model, s.text(l.least), s.text(l.median), s.text(l.most), at)
	}
	p.section("BY RANK: " + s.name + "; exposed is communication while nothing computes")
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
	for _, m := range rankMeasures() {
		g.number(m.name)
	}
	for i, r := range p.c.Runs {
		if p.c.ref >= 0 && i != p.c.ref {
			g.number(r.Model + " %")
		}
	}
	for i := range main.Ranks {
		g.add(p.rankCells(i, s)...)
	}
	fmt.Fprintf(&p.b, "\n  each rank in the %s run, %s", main.Model, s.name)
	if len(p.c.Metrics) > 0 {
		p.b.WriteString("; errors are those of its finish")
	}
	p.b.WriteString("\n" + g.String())
}

func (p *page) rankCells(rank int, s scale) []string {
	main := p.c.Runs[p.main()]
	cells := []string{fmt.Sprint(rank)}
	for _, m := range rankMeasures() {
		cells = append(cells, s.text(main.Clock.PS(m.of(&main.Ranks[rank]))))
	}
	if p.c.ref < 0 {
		return cells
	}
	for i, r := range p.c.Runs {
		if i == p.c.ref {
			continue
		}
		e := Error{}
		if rank < len(r.Ranks) {
			e = relative(finishOf(r, rank), finishOf(main, rank))
		}
		cells = append(cells, percentText(e))
	}
	return cells
}

func finishOf(r *replay.Result, rank int) value {
	return value{float64(r.Ranks[rank].Finish) / float64(max(1, r.Clock.PerPS)), true}
}
