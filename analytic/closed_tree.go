package analytic

import (
	"math/big"
	"math/bits"
	"slices"
)

// Binomial trees. A subtree of L ranks has, under its first, k = ceil(log2 L) children;
// child j, whose number is 2^j higher, has min(2^j, L - 2^j) ranks below and with it.

// subtrees returns the sizes of the children of a subtree, the largest number first.
func subtrees(l int64) []int64 {
	var all []int64
	for j := bits.Len64(uint64(l-1)) - 1; j >= 0; j-- {
		all = append(all, min(1<<j, l-1<<j))
	}
	return all
}

// memo keeps what a recurrence over subtrees has found.
type memo map[int64]*big.Rat

func (m memo) of(l int64, find func(l int64) *big.Rat) *big.Rat {
	t, ok := m[l]
	if !ok {
		t = new(big.Rat)
		if l > 1 {
			t = find(l)
		}
		m[l] = t
	}
	return t
}

// sendTerms returns how long after a send of m bytes the next may start, and how long
// after it the bytes have been received.
type sendTerms func(c *coll, m int64) (next, received *big.Rat)

func hockneySend(c *coll, m int64) (next, received *big.Rat) { return c.beta(m), c.whole(m) }

// loggpSend: a rank receives once and then only sends, so that nothing but its own sends
// holds it up.
func loggpSend(c *coll, m int64) (next, received *big.Rat) {
	p := c.parts(m)
	return p.s, p.X
}

// binomialDown is T(L) = the latest over the children of what the sends before take,
// the child's own message, and T of its subtree. For equal messages in Hockney's model
// it is k H(S) for powers of two, else (k-1) H(S) + beta S.
func binomialDown(size func(c *coll, ranks int64) int64, send sendTerms) func(*coll) *big.Rat {
	return func(c *coll) *big.Rat {
		known := memo{}
		var down func(l int64) *big.Rat
		down = func(l int64) *big.Rat {
			start, end := new(big.Rat), new(big.Rat)
			for _, child := range subtrees(l) {
				next, received := send(c, size(c, child))
				end = latest(end, sum(start, received, known.of(child, down)))
				start = sum(start, next)
			}
			return end
		}
		return known.of(c.n, down)
	}
}

// binomialUpHockney is T(L) = the latest over the children of T of the subtree and its
// message of S bytes a rank.
func binomialUpHockney(c *coll) *big.Rat {
	known := memo{}
	var up func(l int64) *big.Rat
	up = func(l int64) *big.Rat {
		end := new(big.Rat)
		for _, child := range subtrees(l) {
			end = latest(end, sum(known.of(child, up), c.whole(child*c.s)))
		}
		return end
	}
	return known.of(c.n, up)
}

// binomialUpLogGP takes the children's messages one after another in the order in which
// they are sent, which is that of the times of their subtrees.
func binomialUpLogGP(c *coll) *big.Rat {
	known := memo{}
	var up func(l int64) *big.Rat
	up = func(l int64) *big.Rat {
		all := subtrees(l)
		slices.Reverse(all) // the nearest rank has the smallest subtree
		slices.SortStableFunc(all, func(a, b int64) int { return known.of(a, up).Cmp(known.of(b, up)) })
		free, end := new(big.Rat), new(big.Rat)
		for _, child := range all {
			p := c.parts(child * c.s)
			begin := latest(free, sum(known.of(child, up), p.away))
			free, end = sum(begin, p.r), sum(begin, p.recv)
		}
		return end
	}
	return known.of(c.n, up)
}
