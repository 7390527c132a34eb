package collective

// chain reduces along the ring: it starts at the member after the root and ends at
// the root, each rank sending on what it received, N-1 transfers of S bytes.
type chain struct{}

// Len implements [Schedule].
func (chain) Len(c *Call) int32 {
	switch {
	case c.N < 2:
		return 0
	case c.Me == c.Root || c.Me == c.wrap(c.Root+1):
		return 1
	}
	return 2
}

// Roots implements [Schedule].
func (chain) Roots(c *Call, k int) (lo, hi int32) {
	if k > 0 || c.N < 2 {
		return 0, 0
	}
	return 0, 1
}

// At implements [Schedule].
func (h chain) At(c *Call, i int32) Step {
	s := Step{Bytes: c.Bytes, Blocks: Blocks{0, 1, 1}}
	first := c.Me == c.wrap(c.Root+1)
	if i == 0 && !first {
		s.Peer, s.Reduce = c.wrap(c.Me-1), true
		if c.Me != c.Root {
			s.NextLo, s.NextHi = 1, 2
		}
		return s
	}
	s.Send, s.Peer = true, c.wrap(c.Me+1)
	if !first {
		s.Lo, s.Hi = 0, 1
	}
	return s
}

// BlockCount implements [Schedule].
func (chain) BlockCount(*Call) int32 { return 1 }

// BlockBytes implements [Schedule].
func (chain) BlockBytes(c *Call) int64 { return c.Bytes }
