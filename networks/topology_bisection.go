package networks

import (
	"math/big"

	"hybrid/internal/units"
)

// The bisection of a topology is what its lower half of hosts can send to the upper
// half at once, by number: hosts 0..H/2-1 to the others.

// share is a number of equal parts of a network, each with what its lower hosts can
// send and what its upper hosts can take, in bytes a picosecond.
type share struct {
	lower, upper *big.Rat
	n            int
}

// rateOf is n links' rate, bytes a picosecond.
func rateOf(perByte units.Rat, n int) *big.Rat {
	return times(new(big.Rat).SetFrac64(max(perByte.Den, 1), max(perByte.Num, 1)), n)
}

// clos sums up a folded Clos network from the hosts to the spines. Its up-links are
// alike, so that a part with an up-link to each of n switches is as good as one with a
// single up-link of n times the rate.
type clos struct {
	parts []share
	local *big.Rat // what has found its target below
}

// newClos begins with hosts of one rate each.
func newClos(hosts int, host *big.Rat) *clos {
	zero := new(big.Rat)
	return &clos{local: zero, parts: []share{{host, new(big.Rat), hosts / 2}, {new(big.Rat), host, hosts - hosts/2}}}
}

// join puts fan parts at a time below a switch, or below switches that are alike, with
// up-links of the given rate.
func (c *clos) join(fan int, up *big.Rat) {
	parts := c.parts
	c.parts = nil
	sum := share{new(big.Rat), new(big.Rat), 0}
	for _, p := range parts {
		for p.n > 0 {
			if sum.n == 0 && p.n >= fan {
				c.close(times(p.lower, fan), times(p.upper, fan), up, p.n/fan)
				p.n %= fan
				continue
			}
			take := min(p.n, fan-sum.n)
			sum.lower.Add(sum.lower, times(p.lower, take))
			sum.upper.Add(sum.upper, times(p.upper, take))
			sum.n += take
			p.n -= take
			if sum.n == fan {
				c.close(sum.lower, sum.upper, up, 1)
				sum = share{new(big.Rat), new(big.Rat), 0}
			}
		}
	}
	if sum.n > 0 {
		c.close(sum.lower, sum.upper, up, 1)
	}
}

func times(r *big.Rat, n int) *big.Rat { return new(big.Rat).Mul(r, big.NewRat(int64(n), 1)) }

// close lets a part's hosts send to each other as far as they can, and what is left
// through the up-links.
func (c *clos) close(lower, upper, up *big.Rat, n int) {
	met := least(lower, upper)
	c.local = new(big.Rat).Add(c.local, times(met, n))
	rest := func(r *big.Rat) *big.Rat { return least(new(big.Rat).Sub(r, met), up) }
	c.parts = append(c.parts, share{rest(lower), rest(upper), n})
}

func least(a, b *big.Rat) *big.Rat {
	if a.Cmp(b) < 0 {
		return a
	}
	return b
}

// perByte is the time of a byte across the middle once all parts have met; 0 if nothing
// does.
func (c *clos) perByte() units.Rat {
	lower, upper := new(big.Rat), new(big.Rat)
	for _, p := range c.parts {
		lower.Add(lower, times(p.lower, p.n))
		upper.Add(upper, times(p.upper, p.n))
	}
	return inverse(new(big.Rat).Add(c.local, least(lower, upper)))
}

func inverse(rate *big.Rat) units.Rat {
	if rate.Sign() <= 0 {
		return units.Int(0)
	}
	r, ok := units.FromBig(new(big.Rat).Inv(rate))
	if !ok {
		return units.Int(0)
	}
	return r
}

// cut is the bisection of a network of routers with perRouter hosts each, numbered in
// order: the rates of the links from the lower half of the routers to the upper, but
// no more than the lower hosts send. The router in the middle counts as upper.
func (w *wired) cut(perRouter int, host units.Rat) units.Rat {
	half := w.hosts / 2
	lower := func(node int32) bool {
		if n := int(node); n >= w.hosts {
			return (n-w.hosts+1)*perRouter <= half
		}
		return int(node) < half
	}
	var rates []units.Rat
	var counts []int
	for i := range w.links {
		l := &w.links[i]
		if !lower(l.From) || lower(l.To) {
			continue
		}
		at := 0
		for at < len(rates) && rates[at] != l.PerByte {
			at++
		}
		if at == len(rates) {
			rates, counts = append(rates, l.PerByte), append(counts, 0)
		}
		counts[at]++
	}
	sum := new(big.Rat)
	for i, r := range rates {
		sum.Add(sum, rateOf(r, counts[i]))
	}
	return inverse(least(sum, rateOf(host, half)))
}
