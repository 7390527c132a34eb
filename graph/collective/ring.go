package collective

// ring passes blocks to the next rank. With scatter, N-1 reduce-scatter steps come
// first and leave block i complete on position i; with gather, N-1 all-gather steps
// follow. Step 2k is the k-th send and 2k+1 the k-th receive; both wait for the
// receive before them.
type ring struct {
	scatter, gather bool
}

func (r ring) rounds(c *Call) int32 {
	n := int32(0)
	if r.scatter {
		n += c.N - 1
	}
	if r.gather {
		n += c.N - 1
	}
	return n
}

// Len implements [Schedule].
func (r ring) Len(c *Call) int32 { return 2 * r.rounds(c) }

// Roots implements [Schedule].
func (r ring) Roots(c *Call, k int) (lo, hi int32) {
	if k > 0 || c.N < 2 {
		return 0, 0
	}
	return 0, 2
}

// At implements [Schedule].
func (r ring) At(c *Call, i int32) Step {
	k := i / 2
	s := Step{Tag: k, Bytes: r.BlockBytes(c), Send: i%2 == 0}
	if k > 0 {
		s.Lo, s.Hi = 2*k-1, 2*k
	}
	from := c.Me // whose block numbers the step follows: the sender's
	if s.Send {
		s.Peer = c.wrap(c.Me + 1)
	} else {
		from = c.wrap(c.Me - 1)
		s.Peer = from
		if k+1 < r.rounds(c) {
			s.NextLo, s.NextHi = 2*k+2, 2*k+4
		}
	}
	if r.scatter && k < c.N-1 {
		s.Reduce = !s.Send
		s.Blocks = Blocks{c.wrap(from - k - 1), 1, 1}
	} else {
		if r.scatter {
			k -= c.N - 1
		}
		s.Blocks = Blocks{c.wrap(from - k), 1, 1}
	}
	return s
}

// BlockCount implements [Schedule].
func (r ring) BlockCount(c *Call) int32 { return c.N }

// BlockBytes implements [Schedule]: S for an all-gather alone, whose size is what
// each rank contributes, else C.
func (r ring) BlockBytes(c *Call) int64 {
	if !r.scatter {
		return c.Bytes
	}
	return c.Chunk()
}
