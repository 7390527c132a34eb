package collective

import "math/bits"

// pairwise exchanges with one partner at a time in N-1 steps (Thakur, Rabenseifner,
// Gropp, 2005, section 4.3): in step s = 1..N-1 with position XOR s where N is a power
// of two, else it sends s places on and receives from s places before. A step starts
// when the send and the receive of the one before it are done. Step 2s-2 is the s-th
// send, 2s-1 the s-th receive.
type pairwise struct{}

// Len implements [Schedule].
func (pairwise) Len(c *Call) int32 { return 2 * (c.N - 1) }

// Roots implements [Schedule].
func (pairwise) Roots(c *Call, k int) (lo, hi int32) { return firstExchange(k, c.N-1) }

// At implements [Schedule].
func (pairwise) At(c *Call, i int32) Step {
	k := i / 2
	s := Step{Send: i%2 == 0}
	switch {
	case bits.OnesCount32(uint32(c.N)) == 1:
		s.Peer = c.Me ^ (k + 1)
	case s.Send:
		s.Peer = c.wrap(c.Me + k + 1)
	default:
		s.Peer = c.wrap(c.Me - k - 1)
	}
	if k > 0 {
		s.Lo, s.Hi = 2*k-2, 2*k
	}
	if k+2 < c.N {
		s.NextLo, s.NextHi = 2*k+2, 2*k+4
	}
	src, dst := c.Me, s.Peer
	if !s.Send {
		src, dst = dst, src
	}
	s.Blocks, s.Bytes = Blocks{src*c.N + dst, 1, 1}, c.pair(src, dst)
	return s
}

// BlockCount implements [Schedule]: one block for every ordered pair.
func (pairwise) BlockCount(c *Call) int32 { return c.N * c.N }

// BlockBytes implements [Schedule].
func (pairwise) BlockBytes(c *Call) int64 { return c.Chunk() }
