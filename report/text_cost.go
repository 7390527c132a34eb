package report

import (
	"fmt"
	"time"
)

// cost prints what each run took: counts, which are the same on every machine, and
// wall-clock times where the report is verbose.
func (p *page) cost() {
	g := grid{}
	g.text("model")
	heads := []string{"operations", "messages", "events"}
	if p.c.ref >= 0 {
		heads = append(heads, "packets", "packet-hops")
	}
	for _, h := range heads {
		g.number(h)
	}
	if p.verbose {
		g.number("wall")
	}
	for _, r := range p.c.Runs {
		cells := []string{r.Model, countText(r.Operations), countText(r.Messages), countText(r.Events)}
		if p.c.ref >= 0 {
			cells = append(cells, countOrNone(r.Packets), countOrNone(r.PacketHops))
		}
		if p.verbose {
			cells = append(cells, r.Wall.Round(10*time.Microsecond).String())
		}
		g.add(cells...)
	}
	p.section("COST")
	p.b.WriteString(g.String())
	if ref := p.c.Reference(); p.verbose && ref != nil && ref.Wall > 0 && ref.PacketHops > 0 {
		fmt.Fprintf(&p.b, "  %.1f million packet-hops a second\n", float64(ref.PacketHops)/ref.Wall.Seconds()/1e6)
	}
}

// countOrNone prints - for what a run does not have at all.
func countOrNone(n int64) string {
	if n == 0 {
		return "-"
	}
	return countText(n)
}
