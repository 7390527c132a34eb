package sim

import (
	"math/bits"

	"hybrid/internal/units"
)

// nearWindows is how many windows ahead a process may be due and still be kept in the
// set that is scanned every window; later ones wait in a heap.
const nearWindows = 16

// agenda knows when each process is due next. Processes that are due soon are bits of
// a set; the others sit in a heap, whose outdated entries are skipped.
type agenda struct {
	due  []units.Time
	near []uint64
	far  Events
}

func newAgenda(n int) agenda {
	a := agenda{due: make([]units.Time, n), near: make([]uint64, (n+63)/64)}
	for i := range a.due {
		a.due[i] = units.Never
	}
	return a
}

// set records that process p is due at t.
func (a *agenda) set(p int32, t, horizon units.Time) {
	a.due[p] = t
	word, bit := p>>6, uint64(1)<<(p&63)
	switch {
	case t < horizon:
		a.near[word] |= bit
	case t < units.Never:
		a.near[word] &^= bit
		a.far.Push(Event{T: t, Arg: p})
	default:
		a.near[word] &^= bit
	}
}

// sooner moves process p forward to t if it was due later.
func (a *agenda) sooner(p int32, t, horizon units.Time) {
	if t < a.due[p] {
		a.set(p, t, horizon)
	}
}

// earliest returns when the first process is due.
func (a *agenda) earliest() units.Time {
	t := units.Never
	for word, set := range a.near {
		for ; set != 0; set &= set - 1 {
			t = min(t, a.due[word<<6+bits.TrailingZeros64(set)])
		}
	}
	for a.far.Len() > 0 {
		e := &a.far.least
		if a.due[e.Arg] == e.T && a.near[e.Arg>>6]&(1<<(e.Arg&63)) == 0 {
			return min(t, e.T)
		}
		a.far.Pop()
	}
	return t
}

// take appends the processes that are due before end, in order of their numbers.
func (a *agenda) take(end units.Time, run []int32) []int32 {
	for a.far.Next() < end {
		e := a.far.Pop()
		if a.due[e.Arg] == e.T {
			a.near[e.Arg>>6] |= 1 << (e.Arg & 63)
		}
	}
	for word, set := range a.near {
		for ; set != 0; set &= set - 1 {
			p := word<<6 + bits.TrailingZeros64(set)
			if a.due[p] < end {
				run = append(run, int32(p))
			}
		}
	}
	return run
}
