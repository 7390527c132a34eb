package analytic

import (
	"math/big"
	"math/bits"
	"slices"

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
// root, H(m) = alpha + beta m. A hierarchy has units of M ranks, G = N/M of them.
func closedForms() []closedForm {
	return slices.Concat(exchangeForms(), fanForms(), treeForms())
}

// exchangeForms are those of algorithms in which every rank does the same.
func exchangeForms() []closedForm {
	ringS := func(c *coll) []int64 { return repeat(c.s, c.n-1) }
	ringC := func(c *coll) []int64 { return repeat(c.chunk(), c.n-1) }
	allReduceRing := func(c *coll) []int64 { return repeat(c.chunk(), 2*(c.n-1)) }
	halve := func(c *coll) []int64 { return halves(c, false) }
	halveDouble := func(c *coll) []int64 { return halves(c, true) }
	return []closedForm{
		{graph.AllReduce, "ring", awaited(allReduceRing), exchanges(allReduceRing)},
		{graph.AllReduce, "halving-doubling", awaited(halveDouble), exchanges(halveDouble)},
		{graph.AllReduce, "halving-doubling-far", awaited(halveDouble), exchanges(halveDouble)},
		{graph.AllReduce, "hierarchical", awaited(hierarchy), exchanges(hierarchy)},
		{graph.AllReduce, "direct", func(c *coll) *big.Rat { return times(2, c.whole(c.chunk())) }, nil},
		{graph.AllGather, "ring", awaited(ringS), exchanges(ringS)},
		{graph.AllGather, "recursive-doubling", awaited(doubles), exchanges(doubles)},
		{graph.AllGather, "bruck", awaited(doubles), exchanges(doubles)},
		{graph.ReduceScatter, "ring", awaited(ringC), exchanges(ringC)},
		{graph.ReduceScatter, "halving", awaited(halve), exchanges(halve)},
		{graph.ReduceScatter, "halving-far", awaited(halve), exchanges(halve)},
		{graph.ReduceScatter, "direct", atOnce((*coll).chunk), nil},
		{graph.ReduceScatterBlock, "ring", awaited(ringC), exchanges(ringC)},
		{graph.ReduceScatterBlock, "halving", awaited(halve), exchanges(halve)},
		{graph.ReduceScatterBlock, "direct", atOnce((*coll).chunk), nil},
		{graph.AllToAll, "sequential", inTurn((*coll).chunk), nil},
		{graph.AllToAll, "interleaved", atOnce((*coll).chunk), nil},
		{graph.AllToAll, "pairwise", awaited(ringC), exchanges(ringC)},
		{graph.AllToAll, "bruck", awaited(bruckSizes), exchanges(bruckSizes)},
		{graph.Barrier, "ring", awaited(allReduceRing), exchanges(allReduceRing)},
		{graph.Barrier, "halving-doubling", awaited(halveDouble), exchanges(halveDouble)},
	}
}

// fanForms are those of algorithms in which one rank serves all others, or a chain.
func fanForms() []closedForm {
	size := func(c *coll) int64 { return c.s }
	return []closedForm{
		{graph.Reduce, "ring", awaited(func(c *coll) []int64 { return repeat(c.s, c.n-1) }), chainTime},
		{graph.Broadcast, "sequential", inTurn(size), fanOutTime(size)},
		{graph.Broadcast, "interleaved", atOnce(size), fanOutTime(size)},
		{graph.Gather, "direct", atOnce(size), gatherTime},
		{graph.Scatter, "direct", atOnce((*coll).chunk), fanOutTime((*coll).chunk)},
	}
}

// treeForms are those of trees.
func treeForms() []closedForm {
	size := func(c *coll) int64 { return c.s }
	whole := func(c *coll, _ int64) int64 { return c.s }
	chunks := func(c *coll, ranks int64) int64 { return c.chunk() * ranks }
	return []closedForm{
		{graph.AllReduce, "tree", treeTime(2, size), treeBoth},
		{graph.AllReduce, "double-tree", treeTime(2, func(c *coll) int64 { return (c.s + 1) / 2 }), nil},
		{graph.Reduce, "tree", treeTime(1, size), treeUp},
		{graph.Broadcast, "binomial", binomialDown(whole, hockneySend), binomialDown(whole, loggpSend)},
		{graph.Broadcast, "pipelined-tree", pipelinedTime, treeDown},
		{graph.Scatter, "binomial", binomialDown(chunks, hockneySend), binomialDown(chunks, loggpSend)},
		{graph.Gather, "binomial", binomialUpHockney, binomialUpLogGP},
		{graph.Barrier, "tree", treeTime(2, size), treeBoth},
		{graph.Barrier, "double-tree", treeTime(2, size), nil},
	}
}

// ClosedForm returns the time in picoseconds of one collective over a group of n
// ranks that all enter it at once, with one level's parameters: what the walk of the
// same model gives. ok is false where no closed form is known: for all-to-all of unequal
// sizes (see [ClosedFormPairs]), and for LogGP the double tree, what sends to all at once (all-to-all sequential
// and interleaved, direct), the pipelined tree of more than one segment, balanced trees
// of other sizes than powers of two, messages beyond the eager limit, and parameters
// under which transfers of different phases get in each other's way. The hierarchical
// all-reduce is taken to have units of one rank; [ClosedFormUnits] takes others.
//
// Hockney: every message alone costs alpha + beta m, and a send ends when its bytes
// have left. LogGP: the rules of [Models]; the forms for broadcast, reduce, scatter
// and gather follow from Alexandrov et al., SPAA 1995.
func ClosedForm(model string, t graph.CollType, algorithm string, n int, bytes int64, level *networks.Level) (ps int64, ok bool) {
	return ClosedFormUnits(model, t, algorithm, n, 1, bytes, level)
}

// ClosedFormUnits is [ClosedForm] over n ranks in units of the given size, which must
// divide n and matters to hierarchical algorithms only.
func ClosedFormUnits(model string, t graph.CollType, algorithm string, n, unit int, bytes int64, level *networks.Level) (ps int64, ok bool) {
	if n < 1 || unit < 1 || n%unit != 0 || bytes < 0 || level == nil || len(level.Hockney) == 0 && model == "hockney" || len(level.LogGP) == 0 && model == "loggp" {
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
		c := &coll{n: int64(n), unit: int64(unit), s: bytes, l: level, exact: true}
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
	unit  int64 // members of a unit
	l     *networks.Level
	exact bool // no message met a condition that spoils the form
}

func (c *coll) chunk() int64 { return ceilDiv(c.s, c.n) }

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

// doubles returns S, 2S, 4S, ... and in the last step what is missing of N S.
func doubles(c *coll) []int64 {
	var all []int64
	for b := int64(1); b < c.n; b *= 2 {
		all = append(all, min(b, c.n-b)*c.s)
	}
	return all
}

// bruckSizes returns for each bit the blocks of C bytes whose distance 1..N-1 has it.
func bruckSizes(c *coll) []int64 {
	var all []int64
	for b := int64(1); b < c.n; b *= 2 {
		all = append(all, bruckBlocks(c.n, b)*c.chunk())
	}
	return all
}

// hierarchy returns M-1 times G C, 2(G-1) times C and M-1 times G C.
func hierarchy(c *coll) []int64 {
	units := c.n / c.unit
	inside := repeat(units*c.chunk(), c.unit-1)
	return slices.Concat(inside, repeat(c.chunk(), 2*(units-1)), inside)
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
