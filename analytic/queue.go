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

// queue is a 4-ary heap: half the levels of a binary one, and the four children of a
// node share two cache lines. A pop leaves the top empty for the next push, since
// most events cause another one soon after them.
type queue struct {
	heap []event
	hole bool // heap[0] has been popped
}

func (q *queue) len() int {
	if q.hole {
		return len(q.heap) - 1
	}
	return len(q.heap)
}

func (q *queue) push(e event) {
	if q.hole {
		q.hole = false
		sink(q.heap, e)
		return
	}
	q.heap = append(q.heap, e)
	h := q.heap
	i := len(h) - 1
	for i > 0 {
		p := (i - 1) / 4
		if e.before(&h[p]) == 0 {
			break
		}
		h[i] = h[p]
		i = p
	}
	h[i] = e
}

// pop removes the first event of a queue that is not empty.
func (q *queue) pop() event {
	if q.hole {
		last := len(q.heap) - 1
		e := q.heap[last]
		q.heap = q.heap[:last]
		sink(q.heap, e)
	}
	q.hole = true
	return q.heap[0]
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
