package analytic

import "math/big"

// LogGP: the terms of a message are its parts.

// parts are the terms of a message of m bytes: X one way, s and r the time until
// processor and adapter are free again at the sender and the receiver; away until it
// arrives, and recv from then until it is received, which make up X.
type parts struct{ X, s, r, away, recv *big.Rat }

func (c *coll) parts(m int64) parts {
	p := c.l.LogGPAt(m)
	if m > c.l.EagerLimit {
		c.exact = false
	}
	o, g, gap, per := integer(p.Overhead), integer(p.Gap), span(p.G, m-1), span(p.O, m-1)
	recv := sum(o, latest(gap, per))
	away := sum(o, integer(p.L))
	return parts{
		X: sum(away, recv), away: away, recv: recv,
		s: latest(sum(o, per), sum(g, gap)), r: latest(recv, sum(g, gap)),
	}
}

// exchanges is a chain in which every rank sends and receives in each step, and the
// next send waits for the receive: all ranks are alike, so one is followed.
func exchanges(sizes func(*coll) []int64) func(*coll) *big.Rat {
	return func(c *coll) *big.Rat {
		all := sizes(c)
		if all == nil {
			return nil
		}
		cpu, ns, nr := new(big.Rat), new(big.Rat), new(big.Rat)
		for _, m := range all {
			c.parts(m)
			p := c.l.LogGPAt(m)
			o, g, gap, per := integer(p.Overhead), integer(p.Gap), span(p.G, m-1), span(p.O, m-1)
			t := latest(cpu, ns)
			cpu, ns = sum(t, o, per), sum(t, g, gap)
			a := latest(sum(t, o, integer(p.L)), cpu, nr)
			cpu, nr = sum(a, o, latest(gap, per)), sum(a, g, gap)
		}
		return cpu
	}
}

// chainTime is (N-1) X.
func chainTime(c *coll) *big.Rat { return times(c.n-1, c.parts(c.s).X) }

// treeUp is X + h (X + r): at each inner node the second child waits for the first.
func treeUp(c *coll) *big.Rat {
	h, perfect := c.height()
	if !perfect {
		return nil
	}
	p := c.parts(c.s)
	return sum(p.X, times(h, sum(p.X, p.r)))
}

// treeBoth is 2X + h (2X + r + s), if an adapter is free again before the message has
// arrived, so that up and down do not meet.
func treeBoth(c *coll) *big.Rat {
	h, perfect := c.height()
	p := c.parts(c.s)
	if !perfect || p.s.Cmp(p.X) > 0 || p.r.Cmp(p.X) > 0 {
		return nil
	}
	return sum(times(2, p.X), times(h, sum(times(2, p.X), p.r, p.s)))
}

// treeDown is X + h (X + s) for a broadcast in one segment: at each inner node the second
// child waits for the first.
func treeDown(c *coll) *big.Rat {
	h, perfect := c.height()
	if !perfect || segments(c.s) > 1 {
		return nil
	}
	p := c.parts(c.s)
	return sum(p.X, times(h, sum(p.X, p.s)))
}

// fanOutTime is (N-2) s + X.
func fanOutTime(size func(*coll) int64) func(*coll) *big.Rat {
	return func(c *coll) *big.Rat {
		p := c.parts(size(c))
		return sum(times(c.n-2, p.s), p.X)
	}
}

// gatherTime is X + (N-2) r.
func gatherTime(c *coll) *big.Rat {
	p := c.parts(c.s)
	return sum(p.X, times(c.n-2, p.r))
}
