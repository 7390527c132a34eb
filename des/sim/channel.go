package sim

import (
	"fmt"
	"sort"

	"hybrid/internal/units"
)

// Channel is the wire of one directed link: a first-in-first-out ring with one
// writing and one reading process. What is written in a window becomes visible to
// the reader at its end, so that the two never wait for each other.
type Channel struct {
	// The writer's side.
	buf   []Record
	tail  uint32
	seen  uint32     // the reader's head at the end of the last window with a record
	first units.Time // of the oldest unpublished record
	last  units.Time // of the newest record, where invariants are checked
	to    int32      // the reading process
	slot  int32      // the link's place among its inputs
	check uint32     // the first record whose invariants are unchecked
	dirty bool
	grown bool
	// inside says that the link joins members of a cluster.
	inside bool

	// The reader's side; limit and ring change between windows only.
	ring  []Record
	limit uint32
	head  uint32
	_     [32]byte // keeps neighbours on separate cache lines
}

const firstRing = 32

// Slot appends a record and returns its place, which the caller fills. The record's
// time must not be before the previous one's. Mark must follow.
func (c *Channel) Slot() *Record {
	if int(c.tail-c.seen) == len(c.buf) {
		c.grow()
	}
	r := &c.buf[c.tail&uint32(len(c.buf)-1)]
	c.tail++
	return r
}

// Mark says that records were appended in this visit, the first for time first.
func (c *Channel) Mark(w *Worker, first units.Time) {
	if !c.dirty {
		c.dirty, c.first = true, first
		w.dirty = append(w.dirty, c)
	}
	if Invariants {
		c.assert(w)
	}
}

// assert checks the records since the last call: none takes effect in the window it
// was sent in, unless the link is inside a cluster, and none before the one ahead of it.
// Two may at once where they occupy the link for no time.
func (c *Channel) assert(w *Worker) {
	for ; c.check != c.tail; c.check++ {
		r := &c.buf[c.check&uint32(len(c.buf)-1)]
		if r.T < w.End && !c.inside || r.T < w.Start {
			panic(fmt.Sprintf("sim: a record for time %d leaves a window that ends at %d", r.T, w.End))
		}
		if r.T < c.last {
			panic(fmt.Sprintf("sim: a link delivers at %d after %d", r.T, c.last))
		}
		c.last = r.T
	}
}

// grow doubles the ring. The old one stays as it is for the reader.
//
//go:noinline
func (c *Channel) grow() {
	buf := make([]Record, max(firstRing, 2*len(c.buf)))
	for i := c.seen; i != c.tail; i++ {
		buf[i&uint32(len(buf)-1)] = c.buf[i&uint32(len(c.buf)-1)]
	}
	c.buf, c.grown = buf, true
}

// publish shows the reader what was written. It runs between windows.
func (c *Channel) publish() {
	c.dirty = false
	c.limit, c.seen = c.tail, c.head
	if c.grown {
		c.ring, c.grown = c.buf, false
	}
}

// Take removes and returns visible records before end that lie side by side in the
// ring; it returns none when there are no more. They stay valid until the link is
// settled (see [Inputs.Settle]).
func (c *Channel) Take(end units.Time) []Record {
	if c.head == c.limit {
		return nil
	}
	mask := uint32(len(c.ring) - 1)
	lo := c.head & mask
	hi := min(lo+(c.limit-c.head), uint32(len(c.ring)))
	part := c.ring[lo:hi]
	n := len(part)
	if n > 64 { // a long link: most of what is on it is not due for a while
		n = sort.Search(n, func(i int) bool { return part[i].T >= end })
	}
	for n > 0 && part[n-1].T >= end {
		n--
	}
	c.head += uint32(n)
	return part[:n]
}

// Newest calls visit for the records that take effect at time t or later, from the last
// one back. It runs between windows.
func (c *Channel) Newest(t units.Time, visit func(*Record)) {
	for i := c.tail; i != c.head; i-- {
		r := &c.buf[(i-1)&uint32(len(c.buf)-1)]
		if r.T < t {
			return
		}
		visit(r)
	}
}

// Unread copies all records on the link, visible or not, for tests of a single process.
func (c *Channel) Unread() []Record {
	var out []Record
	for i := c.head; i != c.tail; i++ {
		out = append(out, c.buf[i&uint32(len(c.buf)-1)])
	}
	return out
}
