package main

import (
	"errors"

	"hybrid/graph"
	"hybrid/graph/replay"
	"hybrid/internal/diag"
	"hybrid/internal/units"
	"hybrid/report"
)

// expectations evaluates the blueprint's expect statements on every run that finished.
func (a *app) expectations(p *prepared, c *report.Comparison) error {
	var list diag.List
	for _, r := range c.Runs {
		p.expect(r, &list)
	}
	a.render(&list)
	if list.HasErrors() {
		return errReported
	}
	return nil
}

func (p *prepared) expect(r *replay.Result, list *diag.List) {
	region := func(name string) (int64, bool) { return regionTime(p.workload.graph, r, name) }
	for _, e := range p.workload.expects {
		ok, err := e.Holds(r.Clock.PS(r.Makespan), region)
		var d diag.Diagnostic
		switch {
		case errors.As(err, &d):
			list.Add(d)
		case err != nil:
			list.Errorf("E908", e.Pos, "%s: %v", e.Text, err)
		case !ok:
			f := list.Errorf("E908", e.Pos, "expected %s, but it does not hold in the %s run", e.Text, r.Model)
			if e.Message != "" {
				f.Note("%s", e.Message)
			}
			f.Note("makespan is %s", units.FormatPS(r.Clock.PS(r.Makespan)))
		}
	}
}

// regionTime sums the times of the operations written in a region, divided by the
// number of ranks.
func regionTime(g *graph.Graph, r *replay.Result, name string) (ps int64, ok bool) {
	var total replay.Sum
	for i := range g.Sites {
		if g.Sites[i].Region == name && i < len(r.Sites) {
			ok = true
			total.Merge(r.Sites[i].Total)
		}
	}
	return r.Clock.PS(total.Div(int64(max(1, g.Ranks)))), ok
}
