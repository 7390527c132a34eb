package analytic

import "math/big"

// Hockney: H(m) = alpha + beta m for every message alone.

func (c *coll) beta(m int64) *big.Rat { return span(c.l.HockneyAt(m).PerByte, m) }

func (c *coll) whole(m int64) *big.Rat { return sum(integer(c.l.HockneyAt(m).Latency), c.beta(m)) }

// awaited is a chain of messages, each sent when the one before has arrived.
func awaited(sizes func(*coll) []int64) func(*coll) *big.Rat {
	return func(c *coll) *big.Rat {
		all := sizes(c)
		if all == nil {
			return nil
		}
		t := new(big.Rat)
		for _, m := range all {
			t.Add(t, c.whole(m))
		}
		return t
	}
}

// treeTime is a message down or up (or both: ways = 2) the h+1 edges of a path.
func treeTime(ways int64, size func(*coll) int64) func(*coll) *big.Rat {
	return func(c *coll) *big.Rat {
		h, _ := c.height()
		return times(ways*(h+1), c.whole(size(c)))
	}
}

// inTurn is N-1 messages, each sent when the bytes of the one before have left.
func inTurn(size func(*coll) int64) func(*coll) *big.Rat {
	return func(c *coll) *big.Rat {
		return sum(times(c.n-2, c.beta(size(c))), c.whole(size(c)))
	}
}

func atOnce(size func(*coll) int64) func(*coll) *big.Rat {
	return func(c *coll) *big.Rat { return c.whole(size(c)) }
}

// pipelinedTime is K segments down the h+1 edges of a path, beta m apart.
func pipelinedTime(c *coll) *big.Rat {
	h, _ := c.height()
	k := segments(c.s)
	m := ceilDiv(c.s, k)
	return sum(times(k-1, c.beta(m)), times(h+1, c.whole(m)))
}
