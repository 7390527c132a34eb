package collective

// doubleTree runs two trees side by side, each with half the data: the tree, and
// the same construction over the reversed member list (Sanders, Speck, Traff, 2009,
// use two trees for the same purpose).
type doubleTree struct{}

func (doubleTree) branches(c *Call) (first, second branch) {
	if k := (placeKey{inPair, c.N, c.Me, 0}); c.place.placeKey != k {
		c.place = place{k, [2]treeNode{locate(c.N, c.Me), locate(c.N, c.N-1-c.Me)}}
	}
	return branch{&c.place.nodes[0], true}, branch{&c.place.nodes[1], true}
}

// Len implements [Schedule].
func (d doubleTree) Len(c *Call) int32 {
	a, b := d.branches(c)
	return a.len() + b.len()
}

// Roots implements [Schedule].
func (d doubleTree) Roots(c *Call, k int) (lo, hi int32) {
	a, b := d.branches(c)
	for j := 0; ; j++ {
		lo, hi = a.roots(j)
		if lo == hi {
			k -= j
			break
		}
		if j == k {
			return lo, hi
		}
	}
	if lo, hi = b.roots(k); lo == hi {
		return 0, 0
	}
	return lo + a.len(), hi + a.len()
}

// At implements [Schedule].
func (d doubleTree) At(c *Call, i int32) Step {
	a, b := d.branches(c)
	n := a.len()
	if i < n {
		s := a.at(i)
		s.Bytes, s.Blocks = d.BlockBytes(c), Blocks{0, 1, 1}
		return s
	}
	s := b.at(i - n)
	s.Peer = c.N - 1 - s.Peer
	s.Tag += tagsPerTree
	if s.Hi > s.Lo {
		s.Lo, s.Hi = s.Lo+n, s.Hi+n
	}
	if s.NextHi > s.NextLo {
		s.NextLo, s.NextHi = s.NextLo+n, s.NextHi+n
	}
	s.Bytes, s.Blocks = d.BlockBytes(c), Blocks{1, 1, 1}
	return s
}

// BlockCount implements [Schedule].
func (doubleTree) BlockCount(*Call) int32 { return 2 }

// BlockBytes implements [Schedule].
func (doubleTree) BlockBytes(c *Call) int64 { return ceilDiv(c.Bytes, 2) }
