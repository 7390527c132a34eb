package collective

// fanOut sends from the root to every other rank: all at once, or with sequential
// each send after the one before it, in member order. A scatter sends each rank its
// own block of C bytes, a broadcast the whole S bytes.
type fanOut struct{ sequential, scatter bool }

// Len implements [Schedule].
func (fanOut) Len(c *Call) int32 {
	if c.Me == c.Root {
		return c.N - 1
	}
	return 1
}

// Roots implements [Schedule].
func (f fanOut) Roots(c *Call, k int) (lo, hi int32) {
	switch {
	case k > 0 || c.N < 2:
		return 0, 0
	case c.Me != c.Root || f.sequential:
		return 0, 1
	}
	return 0, c.N - 1
}

// At implements [Schedule].
func (f fanOut) At(c *Call, i int32) Step {
	s := Step{Peer: c.Root, Bytes: f.BlockBytes(c), Blocks: Blocks{0, 1, 1}}
	dst := c.Me
	if c.Me == c.Root {
		s.Send = true
		if s.Peer = i; i >= c.Root {
			s.Peer++
		}
		dst = s.Peer
		if f.sequential {
			s.Lo, s.Hi = max(i-1, 0), i
			if i+1 < c.N-1 {
				s.NextLo, s.NextHi = i+1, i+2
			}
		}
	}
	if f.scatter {
		s.Blocks.First = dst
	}
	return s
}

// BlockCount implements [Schedule].
func (f fanOut) BlockCount(c *Call) int32 {
	if f.scatter {
		return c.N
	}
	return 1
}

// BlockBytes implements [Schedule].
func (f fanOut) BlockBytes(c *Call) int64 {
	if f.scatter {
		return c.Chunk()
	}
	return c.Bytes
}
