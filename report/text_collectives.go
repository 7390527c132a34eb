package report

import (
	"fmt"

	"hybrid/internal/units"
)

// collectiveTable is the table of collectives while it is being written.
type collectiveTable struct {
	*page
	grid  grid
	scale scale
	order []int
	// places: rows need their place to be told apart.
	places, bounds, sends, ideals bool
}

func (p *page) collectives() {
	c := p.c
	if len(c.Collectives) == 0 {
		return
	}
	t := collectiveTable{page: p, order: p.byTime(len(c.Collectives), func(i int) float64 {
		return float64(c.Collectives[i].Mean[p.main()]) * float64(c.Collectives[i].Count)
	})}
	t.choose()
	t.head()
	for _, i := range t.order {
		t.row(&c.Collectives[i])
	}
	title := "BY COLLECTIVE: mean time of one, " + t.scale.name
	if t.bounds {
		title += "; bound: the least time possible"
	}
	p.section(title)
	p.b.WriteString(t.grid.String())
	if t.ideals {
		p.b.WriteString("  x ideal: the " + t.idealRun() + " run's time over what the links' bandwidth alone takes\n")
	}
	p.more(len(c.Collectives)-len(t.order), "collective")
}

// choose decides on the columns and the unit. The number of sends gives way to the ratio
// to the ideal time where there are errors beside it.
func (t *collectiveTable) choose() {
	var times []int64
	for i := range t.c.Collectives {
		r := &t.c.Collectives[i]
		times = append(times, t.shown(r.Mean)...)
		if r.HasBound {
			t.bounds = true
			times = append(times, r.LowerBound)
		}
		t.ideals = t.ideals || r.ratio(t.main()).Defined
	}
	t.scale, t.places = scaleOf(times...), t.alike(t.order)
	t.sends = !t.ideals || len(t.c.Runs) < 3 || t.verbose && !t.places
}

func (t *collectiveTable) head() {
	if t.places {
		t.grid.text("at")
	}
	t.grid.text("collective")
	t.grid.number("N")
	t.grid.number("bytes")
	if t.sends {
		t.grid.number("sends")
	}
	t.timeColumns(&t.grid)
	if t.bounds {
		t.grid.number("bound")
	}
	if t.ideals {
		t.grid.number("x ideal")
	}
}

func (t *collectiveTable) row(r *Collective) {
	name := r.Type + " " + r.Algorithm + " x" + countText(r.Count)
	var cells []string
	if t.places {
		cells = append(cells, t.at(r.Site))
		name = t.distinguished(name, r)
	}
	cells = append(cells, name, countText(int64(r.GroupSize)), bytesText(r.Bytes))
	if t.sends {
		cells = append(cells, countText(r.Transfers))
	}
	cells = append(cells, t.timeCells(t.scale, r.Counts, r.Mean, r.Errors)...)
	if t.bounds {
		cells = append(cells, boundText(t.scale, r))
	}
	if t.ideals {
		cells = append(cells, ratioText(r.ratio(t.main())))
	}
	t.grid.add(cells...)
}

// idealRun names the run whose times are divided by the ideal ones.
func (t *collectiveTable) idealRun() string { return t.c.Runs[t.main()].Model }

// ratioText prints a ratio: 1.02, 15.3, 1,250, - where it is undefined.
func ratioText(r Ratio) string {
	switch {
	case !r.Defined:
		return none
	case r.Value < 0.005:
		return "<0.01"
	case r.Value < 9.995:
		return fmt.Sprintf("%.2f", r.Value)
	case r.Value < 99.95:
		return fmt.Sprintf("%.1f", r.Value)
	case r.Value < 1e15:
		return units.FormatCount(int64(r.Value + 0.5))
	}
	return fmt.Sprintf("%.1e", r.Value)
}

// distinguished adds what tells a collective from others of its form: its name, or the
// region that it is in.
func (p *page) distinguished(what string, r *Collective) string {
	s := &p.c.graph.Sites[r.Site]
	switch {
	case s.Name != "":
		return what + " " + s.Name
	case s.Region != "":
		return what + " in " + s.Region
	}
	return what
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
