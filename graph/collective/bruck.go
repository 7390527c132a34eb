package collective

// bruck gathers in ceil(log2 N) steps for any N (Bruck, Ho, Kipnis, Upfal,
// Weathersby, 1997, their concatenation): in step k a rank holds the blocks of the 2^k
// positions from its own on; it sends the first min(2^k, N-2^k) of them to the position
// 2^k before it and receives as many from the position 2^k after it.
type bruck struct{}

// Len implements [Schedule].
func (bruck) Len(c *Call) int32 { return 2 * ceilLog2(c.N) }

// Roots implements [Schedule].
func (bruck) Roots(c *Call, k int) (lo, hi int32) { return firstExchange(k, ceilLog2(c.N)) }

// At implements [Schedule].
func (bruck) At(c *Call, i int32) (s Step) {
	s.exchange(i, ceilLog2(c.N))
	distance := int32(1) << (i / 2)
	count := min(distance, c.N-distance)
	from := c.Me
	if s.Send {
		s.Peer = c.wrap(c.Me - distance)
	} else {
		s.Peer = c.wrap(c.Me + distance)
		from = s.Peer
	}
	s.Blocks = Blocks{from, 1, count}
	s.Bytes = c.Bytes * int64(count)
	return s
}

// BlockCount implements [Schedule].
func (bruck) BlockCount(c *Call) int32 { return c.N }

// BlockBytes implements [Schedule].
func (bruck) BlockBytes(c *Call) int64 { return c.Bytes }
