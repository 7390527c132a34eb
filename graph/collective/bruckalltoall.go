package collective

// bruckAllToAll exchanges in ceil(log2 N) steps for any N (Bruck, Ho, Kipnis, Upfal,
// Weathersby, 1997, their index operation): the block for the rank j places on travels
// the powers of two of which j consists, in step k 2^k places on if j has bit k. A step
// sends all such blocks in one transfer. Rotating the blocks in memory takes no time.
type bruckAllToAll struct{}

// Len implements [Schedule].
func (bruckAllToAll) Len(c *Call) int32 { return 2 * ceilLog2(c.N) }

// Roots implements [Schedule].
func (bruckAllToAll) Roots(c *Call, k int) (lo, hi int32) { return firstExchange(k, ceilLog2(c.N)) }

// At implements [Schedule].
func (b bruckAllToAll) At(c *Call, i int32) (s Step) {
	s.exchange(i, ceilLog2(c.N))
	bit := int32(1) << s.Tag
	if s.Send {
		s.Peer = c.wrap(c.Me + bit)
	} else {
		s.Peer = c.wrap(c.Me - bit)
	}
	// Of the numbers below N, those with the bit: whole turns of 2*bit, and a rest.
	count := c.N/(2*bit)*bit + max(c.N%(2*bit)-bit, 0)
	s.Blocks = Blocks{b.block(c, &s, 0), 1, count}
	s.Bytes = c.Chunk() * int64(count)
	return s
}

// block implements [lister]: it returns the j-th of the blocks that a step carries,
// whose distances have the step's bit set.
func (bruckAllToAll) block(c *Call, s *Step, j int32) int32 {
	bit := int32(1) << s.Tag
	distance := j/bit*2*bit + bit + j%bit
	sender := c.Me
	if !s.Send {
		sender = s.Peer
	}
	src := c.wrap(sender - distance%bit) // it has made the smaller jumps already
	return src*c.N + c.wrap(src+distance)
}

// BlockCount implements [Schedule]: one block for every ordered pair.
func (bruckAllToAll) BlockCount(c *Call) int32 { return c.N * c.N }

// BlockBytes implements [Schedule].
func (bruckAllToAll) BlockBytes(c *Call) int64 { return c.Chunk() }
