package analytic

import (
	"math/big"
	"math/bits"

	"hybrid/graph"
	"hybrid/internal/units"
	"hybrid/networks"
)

// closedForm is one row of the table: the time of a collective that every rank
// enters at once. Either column may be missing.
type closedForm struct {
	typ       graph.CollType
	algorithm string
	hockney   func(c *coll) *big.Rat
	loggp     func(c *coll) *big.Rat
}

// closedForms returns the table. N is the group size, S the size as written,
// C = ceil(S/N), k = log2 N, h = floor(log2(N-1)) the height of the tree below the
// root, H(m) = alpha + beta m.
func closedForms() []closedForm {
	ringS := func(c *coll) []int64 { return repeat(c.s, c.n-1) }
	ringC := func(c *coll) []int64 { return repeat(c.chunk(), c.n-1) }
	allReduceRing := func(c *coll) []int64 { return repeat(c.chunk(), 2*(c.n-1)) }
	halve := func(c *coll) []int64 { return halves(c, false) }
	halveDouble := func(c *coll) []int64 { return halves(c, true) }
	size := func(c *coll) int64 { return c.s }
	return []closedForm{
		{graph.AllReduce, "ring", awaited(allReduceRing), exchanges(allReduceRing)},
		{graph.AllReduce, "tree", treeTime(2, size), treeBoth},
		{graph.AllReduce, "double-tree", treeTime(2, func(c *coll) int64 { return (c.s + 1) / 2 }), nil},
		{graph.AllReduce, "halving-doubling", awaited(halveDouble), exchanges(halveDouble)},
		{graph.Reduce, "ring", awaited(ringS), chainTime},
		{graph.Reduce, "tree", treeTime(1, size), treeUp},
		{graph.AllGather, "ring", awaited(ringS), exchanges(ringS)},
		{graph.ReduceScatter, "ring", awaited(ringC), exchanges(ringC)},
		{graph.ReduceScatter, "halving", awaited(halve), exchanges(halve)},
		{graph.ReduceScatterBlock, "ring", awaited(ringC), exchanges(ringC)},
		{graph.Broadcast, "sequential", inTurn(size), fanOutTime(size)},
		{graph.Broadcast, "interleaved", atOnce(size), fanOutTime(size)},
		{graph.Gather, "direct", atOnce(size), gatherTime},
		{graph.Scatter, "direct", atOnce((*coll).chunk), fanOutTime((*coll).chunk)},
		{graph.AllToAll, "sequential", inTurn((*coll).chunk), nil},
		{graph.AllToAll, "interleaved", atOnce((*coll).chunk), nil},
		{graph.Barrier, "ring", awaited(allReduceRing), exchanges(allReduceRing)},
		{graph.Barrier, "tree", treeTime(2, size), treeBoth},
		{graph.Barrier, "double-tree", treeTime(2, size), nil},
		{graph.Barrier, "halving-doubling", awaited(halveDouble), exchanges(halveDouble)},
	}
}

// ClosedForm returns the time in picoseconds of one collective over a group of n
// ranks that all enter it at once, with one level's parameters: what the walk of the
// same model gives. ok is false where no closed form is known: for LogGP the double
// tree and all-to-all, trees of other sizes than powers of two, messages beyond the
// eager limit, and parameters under which transfers of different phases get in each
// other's way.
//
// Hockney: every message alone costs alpha + beta m, and a send ends when its bytes
// have left. LogGP: the rules of [Models]; the forms for broadcast, reduce, scatter
// and gather follow from Alexandrov et al., SPAA 1995.
func ClosedForm(model string, t graph.CollType, algorithm string, n int, bytes int64, level *networks.Level) (ps int64, ok bool) {
	if n < 1 || bytes < 0 || level == nil || len(level.Hockney) == 0 && model == "hockney" || len(level.LogGP) == 0 && model == "loggp" {
		return 0, false
	}
	for _, f := range closedForms() {
		if f.typ != t || f.algorithm != algorithm {
			continue
		}
		form := f.hockney
		if model == "loggp" {
			form = f.loggp
		}
		if form == nil || model != "hockney" && model != "loggp" {
			return 0, false
		}
		c := &coll{n: int64(n), s: bytes, l: level, exact: true}
		if t == graph.Barrier {
			c.s = 0
		}
		if n == 1 {
			return 0, true
		}
		r := form(c)
		if r == nil || !c.exact {
			return 0, false
		}
		return round(r)
	}
	return 0, false
}

// round returns the nearest integer, halves up.
func round(r *big.Rat) (int64, bool) {
	n := new(big.Int).Lsh(r.Num(), 1)
	n.Add(n, r.Denom())
	n.Div(n, new(big.Int).Lsh(r.Denom(), 1))
	return n.Int64(), n.IsInt64()
}

// coll is one collective.
type coll struct {
	n, s  int64
	l     *networks.Level
	exact bool // no message met a condition that spoils the form
}

func (c *coll) chunk() int64 { return (c.s + c.n - 1) / c.n }

// height returns h, and whether the tree is perfect.
func (c *coll) height() (h int64, perfect bool) {
	return int64(bits.Len64(uint64(c.n-1))) - 1, c.powerOfTwo()
}

func (c *coll) powerOfTwo() bool { return c.n&(c.n-1) == 0 }

func repeat(m, times int64) []int64 {
	all := make([]int64, times)
	for i := range all {
		all[i] = m
	}
	return all
}

// halves returns C N/2, C N/4, ... C, and with double the same backwards; nil where N
// is not a power of two.
func halves(c *coll, double bool) []int64 {
	if !c.powerOfTwo() {
		return nil
	}
	var all []int64
	for b := c.n / 2; b >= 1; b /= 2 {
		all = append(all, b*c.chunk())
	}
	if double {
		for i := len(all) - 1; i >= 0; i-- {
			all = append(all, all[i])
		}
	}
	return all
}

func integer(n int64) *big.Rat { return new(big.Rat).SetInt64(n) }

func sum(terms ...*big.Rat) *big.Rat {
	s := new(big.Rat)
	for _, t := range terms {
		s.Add(s, t)
	}
	return s
}

func times(n int64, t *big.Rat) *big.Rat { return new(big.Rat).Mul(integer(n), t) }

func latest(terms ...*big.Rat) *big.Rat {
	m := terms[0]
	for _, t := range terms[1:] {
		if t.Cmp(m) > 0 {
			m = t
		}
	}
	return m
}

func span(perByte units.Rat, n int64) *big.Rat { return times(max(n, 0), bigOf(perByte)) }

// Hockney.

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

// LogGP.

// parts are the terms of a message of m bytes: X one way, s and r the time until
// processor and adapter are free again at the sender and the receiver.
type parts struct{ X, s, r, o, g *big.Rat }

func (c *coll) parts(m int64) parts {
	p := c.l.LogGPAt(m)
	if m > c.l.EagerLimit {
		c.exact = false
	}
	o, g, gap, per := integer(p.Overhead), integer(p.Gap), span(p.G, m-1), span(p.O, m-1)
	recv := sum(o, latest(gap, per))
	return parts{
		X: sum(o, integer(p.L), recv), o: o, g: g,
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
