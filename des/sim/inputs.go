package sim

import (
	"math/bits"

	"hybrid/internal/units"
)

// Inputs are the incoming links of a process in the order of their IDs.
type Inputs struct {
	chans []*Channel
	busy  []uint64 // links with visible records, one bit each
}

// Len returns the number of incoming links.
func (in *Inputs) Len() int { return len(in.chans) }

// Busy returns the set of links with visible records, one bit each; the slice is the
// process's own and changes as links are settled.
func (in *Inputs) Busy() []uint64 { return in.busy }

// At returns the channel of an incoming link.
func (in *Inputs) At(slot int) *Channel { return in.chans[slot] }

// Settle ends the visit of a link and returns the time of its next record, or
// [units.Never].
func (in *Inputs) Settle(slot int) units.Time {
	c := in.chans[slot]
	if c.head == c.limit {
		in.busy[slot>>6] &^= 1 << (slot & 63)
		return units.Never
	}
	return c.ring[c.head&uint32(len(c.ring)-1)].T
}

// Gather returns every record of the window, ordered by (time, incoming link), and the
// time of the earliest record that remains. The records are the worker's, valid for
// this visit.
func (in *Inputs) Gather(w *Worker) ([]Record, units.Time) {
	out := w.inbox[:0]
	next := units.Never
	links := 0
	for word := range in.busy {
		for set := in.busy[word]; set != 0; set &= set - 1 {
			slot := word<<6 + bits.TrailingZeros64(set)
			links++
			c := in.chans[slot]
			for part := c.Take(w.End); len(part) > 0; part = c.Take(w.End) {
				out = append(out, part...)
			}
			next = min(next, in.Settle(slot))
		}
	}
	if links > 1 {
		Sort(out, &w.Scratch)
	}
	w.inbox = out
	return out, next
}
