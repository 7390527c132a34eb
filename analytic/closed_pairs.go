package analytic

import (
	"math/big"

	"hybrid/networks"
)

// ClosedFormPairs is [ClosedForm] of Hockney's model for an all-to-all whose sizes
// differ by pair: size returns the bytes from one position of the group to another. With
// m the size of a message, T(i) the time at which rank i is through with what it has to
// wait for, and every rank entering at once:
//
//	interleaved  the longest alpha + beta m
//	sequential   the latest arrival, each send after the beta m of those before it
//	pairwise     in each exchange T(i) = max(T(i) + beta of what i sends,
//	             T(j) + alpha + beta of what j sends to i)
//
// ok is false for another algorithm, a negative size, and messages beyond the eager
// limit, which wait for their receivers.
func ClosedFormPairs(algorithm string, n int, size func(src, dst int) int64, level *networks.Level) (ps int64, ok bool) {
	if n < 1 || level == nil || len(level.Hockney) == 0 {
		return 0, false
	}
	p := &pairs{coll: coll{n: int64(n), l: level}, size: size, t: make([]*big.Rat, n)}
	for i := range p.t {
		p.t[i] = new(big.Rat)
		for j := range n {
			if m := size(i, j); i != j && (m < 0 || m > level.EagerLimit) {
				return 0, false
			}
		}
	}
	switch algorithm {
	case "interleaved":
		return round(p.sends(false))
	case "sequential":
		return round(p.sends(true))
	case "pairwise":
		return round(p.exchanges())
	}
	return 0, false
}

// pairs is an all-to-all of unequal sizes in progress.
type pairs struct {
	coll
	size func(src, dst int) int64
	t    []*big.Rat
}

// sends is the latest arrival where every rank sends to those s places after it, all at
// once or in turn.
func (p *pairs) sends(turns bool) *big.Rat {
	last := new(big.Rat)
	for i := range p.t {
		begin := new(big.Rat)
		for s := 1; s < len(p.t); s++ {
			m := p.size(i, (i+s)%len(p.t))
			last = latest(last, sum(begin, p.whole(m)))
			if turns {
				begin = sum(begin, p.beta(m))
			}
		}
	}
	return last
}

// exchanges follows the N-1 exchanges: with position XOR s where N is a power of two,
// else to the rank s places after and from the rank s places before.
func (p *pairs) exchanges() *big.Rat {
	n := len(p.t)
	for s := 1; s < n; s++ {
		next := make([]*big.Rat, n)
		for i := range next {
			to, from := (i+s)%n, (i-s+n)%n
			if p.powerOfTwo() {
				to, from = i^s, i^s
			}
			next[i] = latest(sum(p.t[i], p.beta(p.size(i, to))), sum(p.t[from], p.whole(p.size(from, i))))
		}
		p.t = next
	}
	return latest(p.t...)
}
