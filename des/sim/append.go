package sim

// Open returns the ring for a writer that appends many records: the place of the next
// one, and the number from which on there is no room. Records go to the places tail,
// tail+1, ... modulo the length of the ring. Close must follow.
func (c *Channel) Open() (ring []Record, tail, full uint32) {
	return c.buf, c.tail, c.seen + uint32(len(c.buf))
}

// More makes room after Open, where tail has reached full.
//
//go:noinline
func (c *Channel) More(tail uint32) (ring []Record, full uint32) {
	c.tail = tail
	c.grow()
	return c.buf, c.seen + uint32(len(c.buf))
}

// Close ends what Open began, with the place behind the last record.
func (c *Channel) Close(tail uint32) { c.tail = tail }
