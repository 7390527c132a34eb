package collective

// The tree: the first position is the root and has one child, the root of a
// height-balanced binary search tree over the other positions, in which a subtree's
// root is its element len/2. For 2, 3, 4, 7 and 8 ranks it equals NCCL's tree.

// place is a rank's neighbours in one tree or in both trees of a pair, and what they
// were found for.
type place struct {
	placeKey
	nodes [2]treeNode
}

type placeKey struct {
	of          placeKind
	n, me, root int32
}

type placeKind uint8

const (
	nowhere placeKind = iota
	inTree
	inPair
)

// treeNode is a rank's neighbours in the tree.
type treeNode struct {
	parent   int32 // -1 at the root
	children int32
	child    [2]int32
}

// locate finds a position's neighbours in a tree over n positions.
func locate(n, me int32) treeNode {
	if n < 2 {
		return treeNode{parent: -1}
	}
	if me == 0 {
		return treeNode{parent: -1, children: 1, child: [2]int32{middle(1, n), 0}}
	}
	lo, hi, parent := int32(1), n, int32(0)
	for {
		mid := middle(lo, hi)
		switch {
		case me < mid:
			hi, parent = mid, mid
		case me > mid:
			lo, parent = mid+1, mid
		default:
			t := treeNode{parent: parent}
			if lo < mid {
				t.child[t.children] = middle(lo, mid)
				t.children++
			}
			if mid+1 < hi {
				t.child[t.children] = middle(mid+1, hi)
				t.children++
			}
			return t
		}
	}
}

func middle(lo, hi int32) int32 { return lo + (hi-lo)/2 }

// Tags of the tree's transfers.
const (
	tagUp = iota
	tagDown
	tagsPerTree
)

// branch computes the steps of one tree of n positions at position me. Steps: the
// receives from the children, then (not at the root) the send to the parent and the
// receive from it, then the sends to the children. A reduction alone has no way
// down.
type branch struct {
	*treeNode
	down bool
}

func (b *branch) len() int32 {
	n := b.children
	if b.parent >= 0 {
		n++
	}
	if b.down {
		n += b.children
		if b.parent >= 0 {
			n++
		}
	}
	return n
}

func (b *branch) roots(k int) (lo, hi int32) {
	c := b.children
	switch {
	case b.parent < 0: // the root waits for its child, then sends
		if k == 0 {
			return 0, c
		}
	case c == 0: // a leaf sends and receives at once
		if k == 0 {
			return 0, b.len()
		}
	case k == 0:
		return 0, c
	case k == 1 && b.down:
		return c + 1, c + 2
	}
	return 0, 0
}

// at returns step i with Peer as a tree position.
func (b *branch) at(i int32) Step {
	c := b.children
	toParent, fromParent, toChildren := c, c+1, c+2
	if b.parent < 0 {
		toParent, fromParent, toChildren = -1, -1, c
	}
	switch {
	case i < c:
		s := Step{Peer: b.child[i], Tag: tagUp, Reduce: true}
		if b.parent >= 0 {
			s.NextLo, s.NextHi = toParent, toParent+1
		} else if b.down {
			s.NextLo, s.NextHi = toChildren, toChildren+c
		}
		return s
	case i == toParent:
		return Step{Send: true, Peer: b.parent, Tag: tagUp, Lo: 0, Hi: c}
	case i == fromParent:
		s := Step{Peer: b.parent, Tag: tagDown}
		if c > 0 {
			s.NextLo, s.NextHi = toChildren, toChildren+c
		}
		return s
	}
	s := Step{Send: true, Peer: b.child[i-toChildren], Tag: tagDown, Lo: 0, Hi: c}
	if b.parent >= 0 {
		s.Lo, s.Hi = fromParent, fromParent+1
	}
	return s
}

// tree reduces up, and with down broadcasts back. A rooted tree is turned so that
// the call's root comes first.
type tree struct{ up, down, rooted bool }

func (t tree) branch(c *Call) branch {
	root := int32(0)
	if t.rooted {
		root = c.Root
	}
	if k := (placeKey{inTree, c.N, c.Me, root}); c.place.placeKey != k {
		c.place.placeKey, c.place.nodes[0] = k, locate(c.N, c.wrap(c.Me-root))
	}
	return branch{&c.place.nodes[0], t.down}
}

// Len implements [Schedule].
func (t tree) Len(c *Call) int32 {
	b := t.branch(c)
	return b.len()
}

// Roots implements [Schedule].
func (t tree) Roots(c *Call, k int) (lo, hi int32) {
	b := t.branch(c)
	return b.roots(k)
}

// At implements [Schedule].
func (t tree) At(c *Call, i int32) Step {
	b := t.branch(c)
	s := b.at(i)
	if t.rooted {
		s.Peer = c.wrap(s.Peer + c.Root)
	}
	s.Bytes, s.Blocks = c.Bytes, Blocks{0, 1, 1}
	return s
}

// BlockCount implements [Schedule].
func (tree) BlockCount(*Call) int32 { return 1 }

// BlockBytes implements [Schedule].
func (tree) BlockBytes(c *Call) int64 { return c.Bytes }
