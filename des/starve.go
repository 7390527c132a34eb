package des

import (
	"fmt"

	"hybrid/des/fabric"
	"hybrid/internal/units"
)

// starvedFrames is the number of the largest frames that a link sends in the time after
// which a queue that is passed over counts as starved.
const starvedFrames = 1000

// starvationNote says where, under strict priority, a lower class waited longest because
// higher ones always went before it: the worst queue of all, if it waited longer than its
// link needs for a thousand of the largest frames. It ends nothing; when the higher classes
// have sent all, the lower one goes on.
func (r *run) starvationNote() []string {
	var worst fabric.Starved
	count, now := 0, units.Time(0) // what has not ended counts up to the stop time
	if stop := r.stop(); stop != units.Never {
		now = stop
	}
	for _, s := range r.buffered {
		s.Starved(now, func(q *fabric.Starved) {
			if q.For <= r.clock.Span(r.job.Topology.Links()[q.Link].PerByte, starvedFrames*r.largest()) {
				return
			}
			count++
			if q.For > worst.For || q.For == worst.For && q.Link < worst.Link {
				worst = *q
			}
		})
	}
	if count == 0 {
		return nil
	}
	note := fmt.Sprintf("strict priority: class %d waited %s on the way from %s, until %s, while higher classes went before it without a break", worst.Class,
		r.timeText(worst.For), r.linkName(worst.Link), r.timeText(r.clockAt(worst.Link, worst.At)))
	if count > 1 {
		note += fmt.Sprintf("; so did lower classes at %s other ports for more than the time of %s frames", units.FormatCount(int64(count-1)), units.FormatCount(starvedFrames))
	}
	return []string{note + "; schedule: weighted or round-robin gives each class its turn"}
}
