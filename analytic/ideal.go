package analytic

import (
	"math/big"
	"math/bits"

	"hybrid/graph"
	"hybrid/graph/collective"
	"hybrid/internal/units"
)

// idealForm is one row of the table of ideal times: the bytes that a rank's link carries
// one after another, of N ranks and S bytes.
type idealForm struct {
	typ       graph.CollType
	algorithm string
	bytes     func(n, s int64) *big.Rat
}

// idealForms returns the table. N is the group size, S the size as written, C =
// ceil(S/N). Where every rank sends and receives one message at a time, these are the
// bytes of its messages; where one rank serves the others, those of its link. Trees move
// whole messages, so that a rank receives all its children's before it sends: S times
// the largest number of children at each level, added up ([treeRounds]).
func idealForms() []idealForm {
	return []idealForm{
		{graph.AllReduce, "ring", bothShares}, // 2 S (N-1)/N
		{graph.AllReduce, "tree", func(n, s int64) *big.Rat { return times(2*treeRounds(n), integer(s)) }},
		{graph.AllReduce, "double-tree", func(n, s int64) *big.Rat { return times(2*treeRounds(n), integer((s+1)/2)) }},
		{graph.AllReduce, "halving-doubling", bothShares},
		{graph.AllReduce, "halving-doubling-far", bothShares},
		{graph.AllReduce, "direct", bothShares},
		// With G units of M: twice (M-1) S/M inside, 2 (G-1)/G S/M between, which is the
		// ring's sum for every M.
		{graph.AllReduce, "hierarchical", bothShares},
		{graph.Reduce, "ring", toOthers}, // S (N-1): N-1 messages in turn
		{graph.Reduce, "tree", func(n, s int64) *big.Rat { return times(treeRounds(n), integer(s)) }},
		{graph.AllGather, "ring", toOthers},
		{graph.AllGather, "recursive-doubling", toOthers}, // S + 2S + ... + (N/2) S
		{graph.AllGather, "bruck", toOthers},              // the last step sends what is missing
		{graph.ReduceScatter, "ring", share},              // S (N-1)/N
		{graph.ReduceScatter, "halving", share},
		{graph.ReduceScatter, "halving-far", share},
		{graph.ReduceScatter, "direct", share},
		{graph.ReduceScatterBlock, "ring", share},
		{graph.ReduceScatterBlock, "halving", share},
		{graph.ReduceScatterBlock, "direct", share},
		{graph.Broadcast, "sequential", toOthers},
		{graph.Broadcast, "interleaved", toOthers},
		// In each round whoever has the message sends it once: ceil(log2 N) S.
		{graph.Broadcast, "binomial", func(n, s int64) *big.Rat { return times(int64(bits.Len64(uint64(n-1))), integer(s)) }},
		{graph.Broadcast, "pipelined-tree", pipelinedBytes},
		{graph.Gather, "direct", toOthers},
		{graph.Gather, "binomial", toOthers},      // the root receives all that is not its own
		{graph.Scatter, "direct", chunksToOthers}, // C (N-1)
		{graph.Scatter, "binomial", chunksToOthers},
		{graph.AllToAll, "sequential", chunksToOthers},
		{graph.AllToAll, "interleaved", chunksToOthers},
		{graph.AllToAll, "pairwise", chunksToOthers},
		{graph.AllToAll, "bruck", bruckBytes},
	}
}

// Ideal returns the time in picoseconds that a collective takes where nothing but the
// bandwidth of the ranks' links counts: the bytes that links have to carry one after
// another, at perByte picoseconds a byte in each direction, rounded once to the nearest
// picosecond. For allreduce by ring that is 2 S (N-1) / (N B), by which the collective
// records of a Chakra run divide its time; the other algorithms are measured alike.
// Transfers inside a scale-up group are taken to use the link too, so that a run may
// beat this time. n is the group size, bytes the size as the collective table means it.
// ok is false for barriers, which carry no bytes, for all-to-all of unequal sizes and
// for what is no algorithm.
func Ideal(t graph.CollType, algorithm string, n int, bytes int64, perByte units.Rat) (ps int64, ok bool) {
	if n < 1 || bytes < 0 || perByte.Num < 0 || perByte.Den <= 0 {
		return 0, false
	}
	for _, f := range idealForms() {
		if f.typ == t && f.algorithm == algorithm {
			carried := f.bytes(int64(n), bytes)
			return round(carried.Mul(carried, bigOf(perByte)))
		}
	}
	return 0, false
}

func share(n, s int64) *big.Rat { return new(big.Rat).Mul(integer(s), big.NewRat(n-1, n)) }

func bothShares(n, s int64) *big.Rat { return times(2, share(n, s)) }

func toOthers(n, s int64) *big.Rat { return times(n-1, integer(s)) }

func chunksToOthers(n, s int64) *big.Rat { return times(n-1, integer(ceilDiv(s, n))) }

// treeRounds adds up the largest numbers of children: 1 under the root; below it a
// subtree of L ranks has L/2 and (L-1)/2 ranks under its first, so that the largest
// subtrees of each level lie on one path.
func treeRounds(n int64) int64 {
	if n < 2 {
		return 0
	}
	rounds := int64(1)
	for l := n - 1; l >= 2; l /= 2 {
		rounds += min(l-1, 2)
	}
	return rounds
}

// pipelinedBytes is one segment down the tree and the others behind it, each as late as
// the rank with most children is with the one before.
func pipelinedBytes(n, s int64) *big.Rat {
	k := segments(s)
	return times(treeRounds(n)+(k-1)*min(n-1, min(max(n-2, 1), 2)), integer(ceilDiv(s, k)))
}

// bruckBytes adds up, for each bit, the blocks of C bytes whose distance 1..N-1 has it
// (J. Bruck et al., IEEE TPDS 8(11), 1997): every rank sends them in one message.
func bruckBytes(n, s int64) *big.Rat {
	blocks := int64(0)
	for b := int64(1); b < n; b *= 2 {
		blocks += bruckBlocks(n, b)
	}
	return times(blocks, integer(ceilDiv(s, n)))
}

// bruckBlocks returns how many of the numbers below n have a bit set.
func bruckBlocks(n, bit int64) int64 { return n/(2*bit)*bit + max(0, n%(2*bit)-bit) }

// segments returns into how many segments a pipelined broadcast cuts s bytes.
func segments(s int64) int64 {
	a := collective.NewTable().Find(graph.Broadcast, "pipelined-tree")
	return int64(a.BlockCount(&collective.Call{N: 2, Bytes: s}))
}

func ceilDiv(a, b int64) int64 { return (a + b - 1) / b }
