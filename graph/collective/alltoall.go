package collective

// allToAll sends a block of C bytes, in an all-to-allv of the pair's size, to every
// other rank: to the rank s places after, from the rank s places before, s = 1..N-1.
// Steps 0..N-2 are the receives, which are not ordered, the rest the sends: at once, or
// with sequential one after another.
type allToAll struct{ sequential bool }

// Len implements [Schedule].
func (allToAll) Len(c *Call) int32 { return 2 * (c.N - 1) }

// Roots implements [Schedule].
func (a allToAll) Roots(c *Call, k int) (lo, hi int32) {
	switch {
	case k > 0 || c.N < 2:
		return 0, 0
	case a.sequential:
		return 0, c.N
	}
	return 0, 2 * (c.N - 1)
}

// At implements [Schedule].
func (a allToAll) At(c *Call, i int32) Step {
	n := c.N - 1
	s := Step{Blocks: Blocks{0, 1, 1}}
	if i < n {
		s.Peer = c.wrap(c.Me - i - 1)
		s.Blocks.First, s.Bytes = s.Peer*c.N+c.Me, c.pair(s.Peer, c.Me)
		return s
	}
	j := i - n
	s.Send, s.Peer = true, c.wrap(c.Me+j+1)
	s.Blocks.First, s.Bytes = c.Me*c.N+s.Peer, c.pair(c.Me, s.Peer)
	if a.sequential {
		if j > 0 {
			s.Lo, s.Hi = i-1, i
		}
		if j+1 < n {
			s.NextLo, s.NextHi = i+1, i+2
		}
	}
	return s
}

// BlockCount implements [Schedule]: one block for every ordered pair.
func (allToAll) BlockCount(c *Call) int32 { return c.N * c.N }

// BlockBytes implements [Schedule].
func (allToAll) BlockBytes(c *Call) int64 { return c.Chunk() }
