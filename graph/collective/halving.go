package collective

// halving exchanges with partners at distance 1, 2, 4, ..., with far at distance N/2,
// N/4, ..., 1. In each step a rank keeps the half of its blocks that agrees with its
// position in the bit of the distance and sends the partner's half, so that block i
// ends complete on position i (Thakur, Rabenseifner, Gropp, 2005, section 4.4, whose
// order is far). With gather the exchanges run backwards to collect all blocks. Step
// 2k is the k-th send, 2k+1 the k-th receive.
type halving struct{ gather, far bool }

func (h halving) rounds(c *Call) int32 {
	if h.gather {
		return 2 * log2(c.N)
	}
	return log2(c.N)
}

// Len implements [Schedule].
func (h halving) Len(c *Call) int32 { return 2 * h.rounds(c) }

// Roots implements [Schedule].
func (h halving) Roots(c *Call, k int) (lo, hi int32) { return firstExchange(k, h.rounds(c)) }

// At implements [Schedule].
func (h halving) At(c *Call, i int32) (s Step) {
	s.exchange(i, h.rounds(c))
	lg, level := log2(c.N), i/2
	scatter := level < lg
	if !scatter {
		level = 2*lg - 1 - level
	}
	// Halving sends the receiver's blocks, doubling the sender's own.
	count := c.N >> (level + 1)
	distance := int32(1) << level
	if h.far {
		distance = count
	}
	s.Peer = c.Me ^ distance
	owner := c.Me
	if s.Send == scatter {
		owner = s.Peer
	}
	s.Reduce = scatter && !s.Send
	if s.Blocks = (Blocks{owner & (2*distance - 1), 2 * distance, count}); h.far {
		s.Blocks = Blocks{owner &^ (count - 1), 1, count}
	}
	s.Bytes = c.Chunk() * int64(count)
	return s
}

// BlockCount implements [Schedule].
func (halving) BlockCount(c *Call) int32 { return c.N }

// BlockBytes implements [Schedule].
func (halving) BlockBytes(c *Call) int64 { return c.Chunk() }
