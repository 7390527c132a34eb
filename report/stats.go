package report

import (
	"fmt"
	"strconv"

	"hybrid/graph/replay"
	"hybrid/internal/units"
)

// statsObject is what the simulation cost in more detail.
func (c *Comparison) statsObject() object {
	st, r := c.Stats, c.Reference()
	return object{
		{"windows", r.Windows}, {"visits", st.Visits}, {"packet_hops", r.PacketHops}, {"queue_pairs", st.QueuePairs},
		{"packet_hops_per_s", int64(hopsPerSecond(r))},
		{"thread_events", append([]int64{}, st.Threads...)},
		{"estimated_bytes", st.Estimate}, {"peak_bytes", st.Peak}, {"allocated_bytes", st.Allocated}, {"allocations", st.Allocations},
		{"queues", each(st.Queues, func(q *replay.QueueStat) object { return object{{"link", q.Link}, {"max_bytes", q.Bytes}} })},
	}
}

// hopsPerSecond is 0 where nothing was timed.
func hopsPerSecond(r *replay.Result) float64 {
	if r.Wall <= 0 {
		return 0
	}
	return float64(r.PacketHops) / r.Wall.Seconds()
}

// stats prints the same for people.
func (p *page) stats() {
	st, r := p.c.Stats, p.c.Reference()
	if st == nil || r == nil {
		return
	}
	p.section("STATISTICS OF THE SIMULATION")
	p.field("speed", fmt.Sprintf("%s packet-hops, %.1f million a second", countText(r.PacketHops), hopsPerSecond(r)/1e6))
	p.field("windows", fmt.Sprintf("%s, with %s visits of processes, %s", countText(r.Windows), countText(st.Visits), perVisit(r.PacketHops, st.Visits)))
	p.field("threads", p.threadText())
	memory := fmt.Sprintf("%s estimated, %s allocated in %s pieces", units.ReadableBytes(st.Estimate), units.ReadableBytes(st.Allocated), countText(st.Allocations))
	if st.Peak > 0 {
		memory += fmt.Sprintf("; the process has held %s at most", units.ReadableBytes(st.Peak))
	}
	p.field("memory", memory)
	p.field("pairs", countText(st.QueuePairs)+" queue pairs")
	if len(st.Queues) == 0 {
		return
	}
	g := grid{}
	g.text("longest queues")
	g.number("bytes")
	for _, q := range st.Queues {
		g.add(q.Link, countText(q.Bytes))
	}
	p.b.WriteString(g.String())
}

// perVisit says how many packets a visit has sent in the mean, which is what a visit's cost
// is spread over.
func perVisit(hops, visits int64) string {
	return fmt.Sprintf("%.1f packet-hops each", float64(hops)/float64(max(visits, 1)))
}

// threadText says how the events were divided.
func (p *page) threadText() string {
	all := int64(0)
	for _, n := range p.c.Stats.Threads {
		all += n
	}
	s := strconv.Itoa(len(p.c.Stats.Threads)) + ", with"
	for i, n := range p.c.Stats.Threads {
		if i > 0 {
			s += ","
		}
		s += fmt.Sprintf(" %.0f %%", float64(n)*100/float64(max(all, 1)))
	}
	return s + " of the events"
}
