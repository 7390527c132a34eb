package sim

// Room returns places for the next records of a writer, at least one, side by side. Sent
// must follow, or nothing is written.
func (c *Channel) Room() []Record {
	if int(c.tail-c.seen) == len(c.buf) {
		c.grow()
	}
	lo := c.tail & uint32(len(c.buf)-1)
	return c.buf[lo:min(lo+uint32(len(c.buf))-(c.tail-c.seen), uint32(len(c.buf)))]
}

// Sent appends the first n records of the places that Room returned, and returns them.
func (c *Channel) Sent(w *Worker, n int) []Record {
	lo := c.tail & uint32(len(c.buf)-1)
	part := c.buf[lo : lo+uint32(n)]
	c.tail += uint32(n)
	c.Mark(w, part[0].T)
	w.Hops += int64(n)
	return part
}

// Ring returns the ring for its writer, and the place of the next record.
func (c *Channel) Ring() (ring []Record, tail uint32) { return c.buf, c.tail }

// Borrow returns room for n records for a visit. What is in it is of no significance.
func (w *Worker) Borrow(n int) []Record {
	if len(w.lent) < n {
		w.lent = make([]Record, n)
	}
	return w.lent
}
