package collective

// direct lets every member send to every other one at once. With scatter, each sends
// block i to position i, which combines the N blocks; with gather, each then sends its
// block to all, after the N-1 receives of the first phase. Member s places on comes in
// s-th place, s = 1..N-1. A phase has its receives first, then its sends.
type direct struct{ gather bool }

// Len implements [Schedule].
func (d direct) Len(c *Call) int32 {
	if d.gather {
		return 4 * (c.N - 1)
	}
	return 2 * (c.N - 1)
}

// Roots implements [Schedule].
func (d direct) Roots(c *Call, k int) (lo, hi int32) {
	switch {
	case k > 0 || c.N < 2:
		return 0, 0
	case d.gather:
		return 0, 3 * (c.N - 1)
	}
	return 0, 2 * (c.N - 1)
}

// At implements [Schedule].
func (d direct) At(c *Call, i int32) Step {
	n := c.N - 1
	part, j := i/n, i%n+1
	s := Step{Bytes: c.Chunk(), Send: part%2 == 1, Tag: part / 2}
	if s.Send {
		s.Peer = c.wrap(c.Me + j)
	} else {
		s.Peer = c.wrap(c.Me - j)
	}
	// The first phase carries the receiver's block, the second the sender's.
	owner := c.Me
	if s.Send == (s.Tag == 0) {
		owner = s.Peer
	}
	s.Blocks = Blocks{owner, 1, 1}
	switch part {
	case 0:
		s.Reduce = true
		if d.gather {
			s.NextLo, s.NextHi = 3*n, 4*n
		}
	case 3:
		s.Lo, s.Hi = 0, n
	}
	return s
}

// BlockCount implements [Schedule].
func (direct) BlockCount(c *Call) int32 { return c.N }

// BlockBytes implements [Schedule].
func (direct) BlockBytes(c *Call) int64 { return c.Chunk() }
