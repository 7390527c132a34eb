package collective

import "math/bits"

// log2 returns the exponent of a power of two.
func log2(n int32) int32 { return int32(bits.Len32(uint32(n)) - 1) }

// ceilLog2 returns the number of doublings that take 1 to n or beyond, 0 for n = 1.
func ceilLog2(n int32) int32 { return int32(bits.Len32(uint32(n - 1))) }

// exchange makes s step i of a sequence of exchanges, of which step 2k is the k-th
// send and 2k+1 the k-th receive; both wait for the receive before them. Peers, sizes
// and blocks are left to the caller.
func (s *Step) exchange(i, rounds int32) {
	k := i / 2
	s.Send, s.Tag = i%2 == 0, k
	if k > 0 {
		s.Lo, s.Hi = 2*k-1, 2*k
	}
	if !s.Send && k+1 < rounds {
		s.NextLo, s.NextHi = 2*k+2, 2*k+4
	}
}

// firstExchange returns the roots of such a sequence.
func firstExchange(k int, rounds int32) (lo, hi int32) {
	if k > 0 || rounds == 0 {
		return 0, 0
	}
	return 0, 2
}
