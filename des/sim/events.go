package sim

import (
	"math/bits"

	"hybrid/internal/units"
)

// Event is an entry of a process's own time-ordered loop.
type Event struct {
	T units.Time
	// Key orders events of one time.
	Key uint64
	// Kind and Arg are the owner's.
	Kind uint32
	Arg  int32
}

// Events is a queue of events ordered by (T, Key, Kind). The zero value is empty.
//
// Processes that go on in step push events in a few sequences, each in order. So there
// are some rows to which an event is added if it comes after the last one (patience
// sorting), and a 4-ary heap for the others.
type Events struct {
	least Event // the earliest event,
	from  int   // and its row; rows means the heap
	n     int
	rows  [rows]row
	heap  []Event
}

const rows = 3

// row is a sequence of events in order.
type row struct {
	events []Event
	head   int
}

// Len returns the number of events.
func (q *Events) Len() int { return q.n }

// Next returns the time of the earliest event, or [units.Never].
func (q *Events) Next() units.Time {
	if q.n == 0 {
		return units.Never
	}
	return q.least.T
}

// before returns 1 if a comes before b, else 0. Heaps ask it of events in no order that a
// processor could foresee, so it takes the borrow of a subtraction instead of branches.
func (a *Event) before(b *Event) uint64 {
	if uint64(a.T^b.T)|(a.Key^b.Key) == 0 {
		_, less := bits.Sub64(uint64(a.Kind), uint64(b.Kind), 0)
		return less
	}
	_, less := bits.Sub64(a.Key, b.Key, 0)
	_, less = bits.Sub64(uint64(a.T), uint64(b.T), less)
	return less
}

// Push adds an event.
func (q *Events) Push(e Event) {
	at := 0
	for at < rows && !q.rows[at].add(&e) {
		at++
	}
	if at == rows {
		q.heap = append(q.heap, e)
		q.up(len(q.heap)-1, &e)
	}
	if q.n++; q.n == 1 || e.before(&q.least) != 0 {
		q.least, q.from = e, at
	}
}

// add appends an event that does not come before the last one.
func (r *row) add(e *Event) bool {
	n := len(r.events)
	switch {
	case r.head == n:
		r.events, r.head = r.events[:0], 0
	case e.before(&r.events[n-1]) != 0:
		return false
	case n == cap(r.events) && 2*r.head >= n:
		r.events, r.head = r.events[:copy(r.events, r.events[r.head:])], 0
	}
	r.events = append(r.events, *e)
	return true
}

// Pop removes and returns the earliest event; there must be one.
func (q *Events) Pop() Event {
	top := q.least
	if q.from == rows {
		q.popHeap()
	} else {
		q.rows[q.from].head++
	}
	if q.n--; q.n > 0 {
		q.find()
	}
	return top
}

// find looks for the earliest event.
func (q *Events) find() {
	var least *Event
	for i := range q.rows {
		r := &q.rows[i]
		if r.head == len(r.events) {
			continue
		}
		if e := &r.events[r.head]; least == nil || e.before(least) != 0 {
			least, q.from = e, i
		}
	}
	if len(q.heap) > 0 && (least == nil || q.heap[0].before(least) != 0) {
		least, q.from = &q.heap[0], rows
	}
	q.least = *least
}

// up puts e where i is, or above.
func (q *Events) up(i int, e *Event) {
	h := q.heap
	for i > 0 {
		p := (i - 1) >> 2
		if e.before(&h[p]) == 0 {
			break
		}
		h[i] = h[p]
		i = p
	}
	h[i] = *e
}

// popHeap removes the first event of the heap. The gap goes down to the last level before
// the last event fills it (Wegener, 1993): that one mostly belongs there, and is compared
// with hardly any other.
func (q *Events) popHeap() {
	n := len(q.heap) - 1
	e := q.heap[n]
	q.heap = q.heap[:n]
	if n == 0 {
		return
	}
	h := q.heap
	i := 0
	for c := 1; c < n; c = 4*i + 1 {
		best := c
		if c+4 <= n { // two and two at once
			at := h[c : c+4 : c+4]
			low := int(at[1].before(&at[0]))
			high := 2 + int(at[3].before(&at[2]))
			best += low + (high-low)*int(at[high&3].before(&at[low&3]))
		} else {
			for j := c + 1; j < n; j++ {
				best += (j - best) * int(h[j].before(&h[best]))
			}
		}
		h[i] = h[best]
		i = best
	}
	q.up(i, &e)
}

// Peek returns the earliest event; there must be one.
func (q *Events) Peek() Event { return q.least }
