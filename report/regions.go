package report

import "hybrid/graph/replay"

// Region sums the operations written in one named region. Slices are parallel to
// [Comparison.Runs].
type Region struct {
	// Name is the innermost region around the operations; "" holds what is outside of
	// all.
	Name string
	// Count is of operation instances, Counts of each run.
	Count  int64
	Counts []int64
	// PerRank is the time of all operations of the region in picoseconds, divided by the
	// number of ranks. Operations that overlap count each.
	PerRank []int64
	Errors  []Error
}

// joinRegions makes a row for every region in order of appearance; none if the
// workload names no region.
func (c *Comparison) joinRegions() {
	index := map[string]int{}
	var sums [][]replay.Sum
	named := false
	for i := range c.Operations {
		o := &c.Operations[i]
		name := c.graph.Sites[o.Site].Region
		named = named || name != ""
		at, ok := index[name]
		if !ok {
			at = len(c.Regions)
			index[name] = at
			c.Regions = append(c.Regions, Region{Name: name, Counts: make([]int64, len(c.Runs))})
			sums = append(sums, make([]replay.Sum, len(c.Runs)))
		}
		r := &c.Regions[at]
		r.Count += o.Count
		for run, result := range c.Runs {
			r.Counts[run] += o.Counts[run]
			if int(o.Site) < len(result.Sites) {
				sums[at][run].Merge(result.Sites[o.Site].Total)
			}
		}
	}
	if !named {
		c.Regions = nil
		return
	}
	for i := range c.Regions {
		c.finishRegion(&c.Regions[i], sums[i])
	}
}

func (c *Comparison) finishRegion(r *Region, sums []replay.Sum) {
	ranks := int64(max(1, c.graph.Ranks))
	var v []value
	for run, result := range c.Runs {
		r.PerRank = append(r.PerRank, result.Clock.PS(sums[run].Div(ranks)))
		x := meanOf(sums[run], ranks, result.Clock.PerPS)
		x.ok = r.Counts[run] > 0
		v = append(v, x)
	}
	r.Errors = c.errors(v)
}

func (c *Comparison) regionObject(r *Region) object {
	return object{{"name", r.Name}, {"count", r.Count}, {"per_rank_ps", byModel(c, r.PerRank)}, {"error", c.errorObject(r.Errors)}}
}

// regions prints where in the program the time goes.
func (p *page) regions() {
	c := p.c
	if len(c.Regions) == 0 {
		return
	}
	var times []int64
	var all float64
	for i := range c.Regions {
		times = append(times, p.shown(c.Regions[i].PerRank)...)
		all += float64(c.Regions[i].PerRank[p.main()])
	}
	s := scaleOf(times...)
	g := grid{}
	g.text("region")
	g.number("count")
	g.number("time %")
	p.timeColumns(&g)
	for i := range c.Regions {
		r := &c.Regions[i]
		name := r.Name
		if name == "" {
			name = "(outside)"
		}
		g.add(append([]string{name, countText(r.Count), share(float64(r.PerRank[p.main()]), all)},
			p.timeCells(s, r.Counts, r.PerRank, r.Errors)...)...)
	}
	p.section("BY REGION: time of all operations on a rank, mean, " + s.name)
	p.b.WriteString(g.String())
}
