package collective

// gather sends S bytes from every other rank to the root at once.
type gather struct{}

// Len implements [Schedule].
func (gather) Len(c *Call) int32 { return fanOut{}.Len(c) }

// Roots implements [Schedule].
func (gather) Roots(c *Call, k int) (lo, hi int32) { return fanOut{}.Roots(c, k) }

// At implements [Schedule].
func (gather) At(c *Call, i int32) Step {
	s := fanOut{}.At(c, i)
	s.Send = !s.Send
	s.Blocks.First = c.Me
	if !s.Send {
		s.Blocks.First = s.Peer
	}
	return s
}

// BlockCount implements [Schedule].
func (gather) BlockCount(c *Call) int32 { return c.N }

// BlockBytes implements [Schedule].
func (gather) BlockBytes(c *Call) int64 { return c.Bytes }
