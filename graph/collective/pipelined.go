package collective

// Segments of a pipelined broadcast: of at most 64 KiB, as long as there are no more
// than 256 of them; a larger message has 256 larger ones. 64 KiB is far above what a
// message costs on the way on the networks at hand, and small against the messages
// for which pipelining pays.
const (
	segmentBytes = 64 << 10
	maxSegments  = 256
)

// pipelinedTree broadcasts down the balanced binary tree of [tree], turned so that the
// root comes first, in equal segments. A rank sends a segment to its children at once,
// when it has received it and has sent them the one before; all receives are posted
// at the start. The steps of a segment are its receive (not at the root), then its
// sends.
type pipelinedTree struct{}

func (pipelinedTree) node(c *Call) *treeNode { return tree{rooted: true}.branch(c).treeNode }

func (pipelinedTree) segments(c *Call) int32 {
	return int32(min(max(ceilDiv(c.Bytes, segmentBytes), 1), maxSegments))
}

// width returns the number of receives and of all steps of a segment.
func (t *treeNode) width() (receives, all int32) {
	if t.parent >= 0 {
		receives = 1
	}
	return receives, receives + t.children
}

// Len implements [Schedule].
func (p pipelinedTree) Len(c *Call) int32 {
	_, w := p.node(c).width()
	return w * p.segments(c)
}

// Roots implements [Schedule].
func (p pipelinedTree) Roots(c *Call, k int) (lo, hi int32) {
	r, w := p.node(c).width()
	switch {
	case r == 0 && k == 0:
		return 0, w
	case r == 0 || k >= int(p.segments(c)):
		return 0, 0
	}
	return int32(k) * w, int32(k)*w + 1
}

// At implements [Schedule].
func (p pipelinedTree) At(c *Call, i int32) Step {
	t, n := p.node(c), p.segments(c)
	r, w := t.width()
	k, j := i/w, i%w
	s := Step{Send: j >= r, Tag: k, Bytes: p.BlockBytes(c), Blocks: Blocks{k, 1, 1}}
	first := k*w + r // the first send of the segment
	if !s.Send {
		s.Peer = c.wrap(t.parent + c.Root)
		if t.children > 0 {
			s.NextLo, s.NextHi = first, first+t.children
		}
		return s
	}
	s.Peer = c.wrap(t.child[j-r] + c.Root)
	if s.Hi = first; k > 0 {
		s.Lo = first - w
	}
	if k+1 < n {
		s.NextLo, s.NextHi = first+w, first+w+t.children
	}
	return s
}

// BlockCount implements [Schedule].
func (p pipelinedTree) BlockCount(c *Call) int32 { return p.segments(c) }

// BlockBytes implements [Schedule].
func (p pipelinedTree) BlockBytes(c *Call) int64 { return ceilDiv(c.Bytes, int64(p.segments(c))) }
