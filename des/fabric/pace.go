package fabric

import (
	"hybrid/des/sim"
	"hybrid/internal/units"
)

// opens returns when the first packet of a queue may start: no sooner than its pause ends
// and the rate of its class lets it.
func (q *queue) opens() units.Time { return max(q.until, q.paced) }

// pace takes a packet of so many bytes on the link, which starts now, off the rate of its
// class.
func (o *outlet) pace(p *Buffering, class uint8, size uint32, now units.Time) {
	o.queues[class].paced = now + min(p.Clock.Span(p.Classes[class].PerByte, int64(size)), sim.MaxTime>>2)
	o.blocked |= 1 << class
}
