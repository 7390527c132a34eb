package des

import (
	"math/bits"
	"slices"

	"hybrid/internal/units"
)

// placed is an event's time and rank in one number, and its index.
type placed struct {
	key uint64
	at  int32
}

// fewEvents is the length below which comparing is faster.
const fewEvents = 128

// sort puts the events in order: of the digits of time and rank first, since a window has
// many events of few times, then each group of one time and rank by comparison.
func (rec *recording) sort() {
	rec.order = rec.order[:0]
	for i := range rec.events {
		e := &rec.events[i]
		rec.order = append(rec.order, eventKey{t: e.T, seq: e.Seq, rank: e.Rank, at: int32(i), kind: e.Kind})
	}
	if len(rec.order) < fewEvents || !rec.radix() {
		slices.SortFunc(rec.order, eventKey.compare)
		rec.ordered = rec.ordered[:0]
		for i := range rec.order {
			rec.ordered = append(rec.ordered, rec.events[rec.order[i].at])
		}
	}
}

// radix is sort for many events. It returns false where time and rank do not fit one
// number.
func (rec *recording) radix() bool {
	first, last, ranks := units.Never, units.Time(0), int32(0)
	for i := range rec.order {
		k := &rec.order[i]
		first, last, ranks = min(first, k.t), max(last, k.t), max(ranks, k.rank)
	}
	low := bits.Len32(uint32(ranks))
	width := low + bits.Len64(uint64(last-first))
	if width > 64 {
		return false
	}
	a, b := rec.placed[:0], slices.Grow(rec.spare[:0], len(rec.order))[:len(rec.order)]
	for i := range rec.order {
		k := &rec.order[i]
		a = append(a, placed{uint64(k.t-first)<<low | uint64(k.rank), int32(i)})
	}
	for shift := 0; shift < width; shift += 8 {
		a, b = pass(a, b, shift), a
	}
	rec.placed, rec.spare = a, b
	rec.ordered = rec.ordered[:0]
	for i := 0; i < len(a); {
		j := i + 1
		for j < len(a) && a[j].key == a[i].key {
			j++
		}
		rec.group(a[i:j])
		i = j
	}
	return true
}

// pass moves a to b in the order of eight bits of the keys, and returns b.
func pass(a, b []placed, shift int) []placed {
	var from [257]int32
	for i := range a {
		from[a[i].key>>shift&255+1]++
	}
	for d := range 256 {
		from[d+1] += from[d]
	}
	for i := range a {
		d := a[i].key >> shift & 255
		b[from[d]] = a[i]
		from[d]++
	}
	return b
}

// group appends events of one time and rank in order.
func (rec *recording) group(g []placed) {
	if len(g) > 1 {
		slices.SortFunc(g, func(a, b placed) int { return rec.order[a.at].compare(rec.order[b.at]) })
	}
	for i := range g {
		rec.ordered = append(rec.ordered, rec.events[g[i].at])
	}
}
