package collective

// doubling gathers by recursive doubling (Thakur, Rabenseifner, Gropp, 2005, section
// 4.1): in step k a rank exchanges the 2^k blocks it holds with the partner at distance
// 2^k.
type doubling struct{}

// Len implements [Schedule].
func (doubling) Len(c *Call) int32 { return 2 * log2(c.N) }

// Roots implements [Schedule].
func (doubling) Roots(c *Call, k int) (lo, hi int32) { return firstExchange(k, log2(c.N)) }

// At implements [Schedule].
func (doubling) At(c *Call, i int32) (s Step) {
	s.exchange(i, log2(c.N))
	count := int32(1) << (i / 2)
	s.Peer = c.Me ^ count
	from := c.Me
	if !s.Send {
		from = s.Peer
	}
	s.Blocks = Blocks{from &^ (count - 1), 1, count}
	s.Bytes = c.Bytes * int64(count)
	return s
}

// BlockCount implements [Schedule].
func (doubling) BlockCount(c *Call) int32 { return c.N }

// BlockBytes implements [Schedule].
func (doubling) BlockBytes(c *Call) int64 { return c.Bytes }
