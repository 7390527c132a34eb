package collective

import "math/bits"

// binomialNode is a rank's place in the binomial tree of the root: numbering members
// from the root on, a member's parent is its number without the lowest set bit, and
// its children add smaller powers of two.
type binomialNode struct {
	number   int32 // 0 at the root
	children int32
}

func (c *Call) binomial() binomialNode {
	v := c.wrap(c.Me - c.Root)
	n := int32(bits.Len32(uint32(c.N - 1 - v))) // powers of two that stay below N
	if v != 0 {
		n = min(n, int32(bits.TrailingZeros32(uint32(v))))
	}
	return binomialNode{v, n}
}

// parent returns the number of the parent; not for the root.
func (b *binomialNode) parent() int32 { return b.number & (b.number - 1) }

// binomialSize returns the number of members in the subtree of the member with number v.
func (c *Call) binomialSize(v int32) int32 {
	if v == 0 {
		return c.N
	}
	return min(v&-v, c.N-v)
}

// binomial moves data down the tree: the whole S bytes, or with scatter each subtree's
// blocks of C bytes. A rank receives from its parent, then sends to its children one
// after another, the one with the largest subtree first (Thakur, Rabenseifner, Gropp,
// 2005, section 4.2).
type binomial struct{ scatter bool }

// Len implements [Schedule].
func (binomial) Len(c *Call) int32 {
	b := c.binomial()
	if b.number != 0 {
		return b.children + 1
	}
	return b.children
}

// Roots implements [Schedule].
func (binomial) Roots(c *Call, k int) (lo, hi int32) {
	if k > 0 || c.N < 2 {
		return 0, 0
	}
	return 0, 1
}

// At implements [Schedule].
func (t binomial) At(c *Call, i int32) Step {
	b := c.binomial()
	n, j := b.children, i
	if b.number != 0 {
		n, j = n+1, i-1
	}
	s := Step{Send: j >= 0}
	if i > 0 {
		s.Lo, s.Hi = i-1, i
	}
	if i+1 < n {
		s.NextLo, s.NextHi = i+1, i+2
	}
	top, peer := b.number, b.parent() // top of the subtree whose data travel
	if s.Send {
		top = b.number + 1<<(b.children-1-j)
		peer = top
	}
	s.Peer = c.wrap(peer + c.Root)
	s.Bytes, s.Blocks = c.Bytes, Blocks{0, 1, 1}
	if t.scatter {
		s.Blocks = Blocks{c.wrap(top + c.Root), 1, c.binomialSize(top)}
		s.Bytes = c.Chunk() * int64(s.Blocks.Count)
	}
	return s
}

// BlockCount implements [Schedule].
func (t binomial) BlockCount(c *Call) int32 { return fanOut{scatter: t.scatter}.BlockCount(c) }

// BlockBytes implements [Schedule].
func (t binomial) BlockBytes(c *Call) int64 { return fanOut{scatter: t.scatter}.BlockBytes(c) }

// binomialGather moves blocks of S bytes up the tree: a rank sends its subtree's
// blocks to its parent after it has received those of all its children, which come at
// once.
type binomialGather struct{}

// Len implements [Schedule].
func (binomialGather) Len(c *Call) int32 { return binomial{}.Len(c) }

// Roots implements [Schedule].
func (binomialGather) Roots(c *Call, k int) (lo, hi int32) {
	if k > 0 || c.N < 2 {
		return 0, 0
	}
	return 0, max(c.binomial().children, 1) // a leaf sends at once
}

// At implements [Schedule].
func (binomialGather) At(c *Call, i int32) Step {
	b := c.binomial()
	s := Step{Send: i == b.children}
	top, peer := b.number, b.parent()
	switch {
	case s.Send:
		s.Hi = b.children
	default:
		top = b.number + 1<<i
		peer = top
		if b.number != 0 {
			s.NextLo, s.NextHi = b.children, b.children+1
		}
	}
	s.Peer = c.wrap(peer + c.Root)
	s.Blocks = Blocks{c.wrap(top + c.Root), 1, c.binomialSize(top)}
	s.Bytes = c.Bytes * int64(s.Blocks.Count)
	return s
}

// BlockCount implements [Schedule].
func (binomialGather) BlockCount(c *Call) int32 { return c.N }

// BlockBytes implements [Schedule].
func (binomialGather) BlockBytes(c *Call) int64 { return c.Bytes }
