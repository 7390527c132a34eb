package sim

import "hybrid/internal/units"

// Event is an entry of a process's own time-ordered loop.
type Event struct {
	T units.Time
	// Key orders events of one time.
	Key uint64
	// Kind and Arg are the owner's.
	Kind uint32
	Arg  int32
}

// Events is a 4-ary heap of events ordered by (T, Key, Kind). The zero value is empty.
type Events struct{ heap []Event }

// Len returns the number of events.
func (q *Events) Len() int { return len(q.heap) }

// Next returns the time of the earliest event, or [units.Never].
func (q *Events) Next() units.Time {
	if len(q.heap) == 0 {
		return units.Never
	}
	return q.heap[0].T
}

func (a *Event) before(b *Event) bool {
	if a.T != b.T {
		return a.T < b.T
	}
	if a.Key != b.Key {
		return a.Key < b.Key
	}
	return a.Kind < b.Kind
}

// Push adds an event.
func (q *Events) Push(e Event) {
	q.heap = append(q.heap, e)
	h := q.heap
	i := len(h) - 1
	for i > 0 {
		p := (i - 1) >> 2
		if !e.before(&h[p]) {
			break
		}
		h[i] = h[p]
		i = p
	}
	h[i] = e
}

// Pop removes and returns the earliest event; there must be one.
func (q *Events) Pop() Event {
	h := q.heap
	top := h[0]
	n := len(h) - 1
	e := h[n]
	q.heap = h[:n]
	h = q.heap
	i := 0
	for {
		c := 4*i + 1
		if c >= n {
			break
		}
		best := c
		for j := c + 1; j < min(c+4, n); j++ {
			if h[j].before(&h[best]) {
				best = j
			}
		}
		if !h[best].before(&e) {
			break
		}
		h[i] = h[best]
		i = best
	}
	if n > 0 {
		h[i] = e
	}
	return top
}
