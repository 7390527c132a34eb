package collective

import "math/bits"

// halving exchanges with partners at distance 1, 2, 4, ...: in step k a rank keeps
// the blocks that agree with its position in the low k+1 bits and sends the
// partner's, so that block i ends complete on position i (Thakur, Rabenseifner,
// Gropp, 2005, with the nearest partner first). With gather the exchanges run
// backwards to collect all blocks. Step 2k is the k-th send, 2k+1 the k-th receive.
type halving struct{ gather bool }

func (h halving) rounds(c *Call) int32 {
	k := int32(bits.Len32(uint32(c.N)) - 1)
	if h.gather {
		return 2 * k
	}
	return k
}

// Len implements [Schedule].
func (h halving) Len(c *Call) int32 { return 2 * h.rounds(c) }

// Roots implements [Schedule].
func (h halving) Roots(c *Call, k int) (lo, hi int32) {
	if k > 0 || c.N < 2 {
		return 0, 0
	}
	return 0, 2
}

// At implements [Schedule].
func (h halving) At(c *Call, i int32) Step {
	k, lg := i/2, int32(bits.Len32(uint32(c.N))-1)
	level := k // distance 2^level
	scatter := k < lg
	if !scatter {
		level = 2*lg - 1 - k
	}
	s := Step{Send: i%2 == 0, Peer: c.Me ^ (1 << level), Tag: k}
	if k > 0 {
		s.Lo, s.Hi = 2*k-1, 2*k
	}
	if !s.Send && k+1 < h.rounds(c) {
		s.NextLo, s.NextHi = 2*k+2, 2*k+4
	}
	// Halving sends the receiver's blocks, doubling the sender's own.
	owner := c.Me
	if s.Send == scatter {
		owner = s.Peer
	}
	stride := int32(2) << level
	s.Reduce = scatter && !s.Send
	s.Blocks = Blocks{owner & (stride - 1), stride, c.N / stride}
	s.Bytes = c.Chunk() * int64(s.Blocks.Count)
	return s
}

// BlockCount implements [Schedule].
func (halving) BlockCount(c *Call) int32 { return c.N }

// BlockBytes implements [Schedule].
func (halving) BlockBytes(c *Call) int64 { return c.Chunk() }
