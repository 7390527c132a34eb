package analytic

import (
	"math/bits"

	"hybrid/internal/units"
)

// event is something that happens at a rank. Events are ordered by time and, at
// equal times, by sequence number. It holds no pointer and is moved by value.
type event struct {
	at  units.Time
	seq uint64
	ref uint64 // kind, rank, index
}

const (
	indexBits = 32
	rankBits  = 28
	maxRanks  = 1 << rankBits
)

type eventKind uint8

func makeEvent(at units.Time, seq uint64, k eventKind, rank, index int32) event {
	return event{at, seq, uint64(k)<<(indexBits+rankBits) | uint64(rank)<<indexBits | uint64(uint32(index))}
}

func (e event) kind() eventKind { return eventKind(e.ref >> (indexBits + rankBits)) }
func (e event) rank() int32     { return int32(e.ref>>indexBits) & (maxRanks - 1) }
func (e event) index() int32    { return int32(uint32(e.ref)) }

// before compares (at, seq) as one 128-bit number: the borrow of the subtraction,
// which the processor need not predict. Times are never negative.
func (e *event) before(o *event) uint64 {
	_, borrow := bits.Sub64(e.seq, o.seq, 0)
	_, borrow = bits.Sub64(uint64(e.at), uint64(o.at), borrow)
	return borrow
}

// spareLanes are for events of evServe, whose delays are as many as there are sizes of
// messages.
const spareLanes = 4

// queue holds the pending events. Most events of one kind are queued in the order in
// which they fall due, since they lie one fixed delay behind events that come in order:
// each kind has a lane for those, and only what falls due before the end of its lane
// goes to the heap.
type queue struct {
	lanes [numLanes]lane
	heads [numLanes]event // the first event of each lane that has any
	busy  uint            // lanes with events, one bit each
	heap  heap
	size  int
}

const numLanes = int(numEventKinds) + spareLanes

func (q *queue) len() int { return q.size }

func (q *queue) push(e event) {
	q.size++
	k := int(e.kind())
	if q.append(k, e) {
		return
	}
	if k == int(evServe) {
		for k = int(numEventKinds); k < numLanes; k++ {
			if q.append(k, e) {
				return
			}
		}
	}
	q.heap.push(e)
}

// append puts an event at the end of a lane unless it falls due before the last one.
func (q *queue) append(k int, e event) bool {
	l := &q.lanes[k]
	if q.busy&(1<<k) == 0 {
		q.busy |= 1 << k
		q.heads[k], l.last = e, e
		return true
	}
	if e.before(&l.last) != 0 {
		return false
	}
	l.last = e
	l.push(e)
	return true
}

// pop removes the first event of a queue that is not empty.
func (q *queue) pop() event {
	q.size--
	best := -1
	var first event
	if q.heap.any() {
		first = *q.heap.top()
	} else {
		first.at = units.Never
	}
	for set := q.busy; set != 0; set &= set - 1 {
		k := bits.TrailingZeros(set)
		if e := &q.heads[k]; e.before(&first) != 0 {
			first, best = *e, k
		}
	}
	if best < 0 {
		return q.heap.pop()
	}
	if l := &q.lanes[best]; l.head == l.tail {
		q.busy &^= 1 << best
	} else {
		q.heads[best] = l.ring[l.head&uint32(len(l.ring)-1)]
		l.head++
	}
	return first
}

// lane is a ring of events in order, behind the one that the queue keeps as its head.
type lane struct {
	ring       []event // a power of two
	head, tail uint32
	last       event
}

func (l *lane) push(e event) {
	if int(l.tail-l.head) == len(l.ring) {
		l.grow()
	}
	l.ring[l.tail&uint32(len(l.ring)-1)] = e
	l.tail++
}

func (l *lane) grow() {
	ring := make([]event, max(16, 2*len(l.ring)))
	for i := l.head; i != l.tail; i++ {
		ring[i&uint32(len(ring)-1)] = l.ring[i&uint32(len(l.ring)-1)]
	}
	l.ring = ring
}

// heap is a 4-ary heap: half the levels of a binary one, and the four children of a
// node share two cache lines. A pop leaves the top empty until the next push or look.
type heap struct {
	events []event
	hole   bool // events[0] has been popped
}

func (h *heap) any() bool { return len(h.events) > 1 || len(h.events) == 1 && !h.hole }

func (h *heap) push(e event) {
	if h.hole {
		h.hole = false
		sink(h.events, e)
		return
	}
	h.events = append(h.events, e)
	v := h.events
	i := len(v) - 1
	for i > 0 {
		p := (i - 1) / 4
		if e.before(&v[p]) == 0 {
			break
		}
		v[i] = v[p]
		i = p
	}
	v[i] = e
}

// top returns the first event of a heap that is not empty.
func (h *heap) top() *event {
	if h.hole {
		h.hole = false
		last := len(h.events) - 1
		e := h.events[last]
		h.events = h.events[:last]
		sink(h.events, e)
	}
	return &h.events[0]
}

func (h *heap) pop() event {
	e := *h.top()
	h.hole = true
	return e
}

// sink puts e into the hole at the top.
func sink(h []event, e event) {
	i := 0
	for {
		c := 4*i + 1
		if c+4 > len(h) {
			sinkLast(h, e, i)
			return
		}
		// The least of four in two independent comparisons and a third.
		a, b := c+int(h[c+1].before(&h[c])), c+2+int(h[c+3].before(&h[c+2]))
		if h[b].before(&h[a]) != 0 {
			a = b
		}
		if h[a].before(&e) == 0 {
			break
		}
		h[i] = h[a]
		i = a
	}
	h[i] = e
}

// sinkLast ends sink at a node i with fewer than four children.
func sinkLast(h []event, e event, i int) {
	least := 4*i + 1
	for j := least + 1; j < len(h); j++ {
		if h[j].before(&h[least]) != 0 {
			least = j
		}
	}
	if least < len(h) && h[least].before(&e) != 0 {
		h[i] = h[least]
		i = least
	}
	h[i] = e
}

// waiter is an operation or a message that waits for a resource of its rank.
type waiter struct {
	seq uint64
	id  int32
}

// line is the waiters for one resource, served in order of their sequence numbers,
// whatever the order in which they came: a binary heap that costs nothing to fill in
// order.
type line []waiter

func (l *line) push(w waiter) {
	*l = append(*l, w)
	h := *l
	i := len(h) - 1
	for i > 0 {
		p := (i - 1) / 2
		if h[p].seq < w.seq {
			break
		}
		h[i] = h[p]
		i = p
	}
	h[i] = w
}

func (l *line) pop() waiter {
	h := *l
	top := h[0]
	last := len(h) - 1
	w := h[last]
	h = h[:last]
	*l = h
	i := 0
	for {
		c := 2*i + 1
		if c >= last {
			break
		}
		if c+1 < last && h[c+1].seq < h[c].seq {
			c++
		}
		if w.seq < h[c].seq {
			break
		}
		h[i] = h[c]
		i = c
	}
	if last > 0 {
		h[i] = w
	}
	return top
}
