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

// gather sends S bytes from every other rank to the root at once.
type gather struct{}

// Len implements [Schedule].
func (gather) Len(c *Call) int32 { return fanOut{}.Len(c) }

// Roots implements [Schedule].
func (gather) Roots(c *Call, k int) (lo, hi int32) { return fanOut{}.Roots(c, k) }

// At implements [Schedule].
func (gather) At(c *Call, i int32) Step {
	s := fanOut{}.At(c, i)
	s.Send = !s.Send
	s.Blocks.First = c.Me
	if !s.Send {
		s.Blocks.First = s.Peer
	}
	return s
}

// BlockCount implements [Schedule].
func (gather) BlockCount(c *Call) int32 { return c.N }

// BlockBytes implements [Schedule].
func (gather) BlockBytes(c *Call) int64 { return c.Bytes }

// allToAll sends a block of C bytes to every other rank: to the rank s places
// after, from the rank s places before, s = 1..N-1. Steps 0..N-2 are the receives,
// which are not ordered, the rest the sends: at once, or with sequential one after
// another.
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
	s := Step{Bytes: c.Chunk(), Blocks: Blocks{0, 1, 1}}
	if i < n {
		s.Peer = c.wrap(c.Me - i - 1)
		s.Blocks.First = s.Peer*c.N + c.Me
		return s
	}
	j := i - n
	s.Send, s.Peer = true, c.wrap(c.Me+j+1)
	s.Blocks.First = c.Me*c.N + s.Peer
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
