package fabric

import (
	"hybrid/des/sim"
	"hybrid/internal/units"
)

// opens returns when the first packet of a queue may start: no sooner than its pause ends
// and the rate of its class lets it.
func (q *queue) opens() units.Time { return max(q.until, q.paced) }

// sendPaced is send where switches cut through or classes have rates: the packet is taken
// off the rate of its class.
func (o *outlet) sendPaced(w *sim.Worker, p *Buffering, r *sim.Record, size uint32, class uint8, now units.Time) {
	if c := &p.Classes[class]; c.PerByte.Num != 0 {
		o.queues[class].paced = now + min(p.Clock.Span(c.PerByte, int64(size)), sim.MaxTime>>2)
		o.blocked |= 1 << class
	}
	if o.counts(now) {
		o.log[class].Sent.Add(size)
	}
	r.Size = size
	o.wire.Send(w, r, now)
}
