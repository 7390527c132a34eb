package analytic

import (
	"math/big"

	"hybrid/graph"
	"hybrid/internal/units"
)

// LowerBound returns a time in picoseconds that no algorithm of a collective can
// beat on a network in which a message of m bytes arrives no earlier than
// alpha + beta*m after its start and a rank moves a byte in beta in each direction
// (full duplex, one port). n is the group size, bytes the size as the collective
// table means it: what each rank contributes for allgather and gather, what all pairs
// together send for alltoallv, else the whole vector. ok is false for a type without a bound.
//
// The bandwidth terms are those of E. Chan, M. Heimlich, A. Purkayastha, R. van de
// Geijn, "Collective communication: theory, practice, and experience", Concurrency
// and Computation 19, 2007:
//
//	broadcast, reduce             alpha + beta S
//	allreduce                     alpha + 2 (N-1)/N beta S
//	reducescatter, scatter        alpha + (N-1)/N beta S
//	allgather, gather             alpha + (N-1) beta S
//	alltoall                      alpha + (N-1)/N beta S
//	alltoallv                     alpha + beta S/N (some rank sends the mean)
//	barrier                       alpha
//
// Their latency terms, ceil(log2 N) alpha, hold where a rank starts a message only
// after the one before has arrived. Here it may start many at once, so that one alpha
// is all that is certain.
func LowerBound(t graph.CollType, n int, bytes int64, alpha int64, beta units.Rat) (ps int64, ok bool) {
	if n < 1 || bytes < 0 || alpha < 0 || beta.Num < 0 || int(t) >= graph.NumCollTypes {
		return 0, false
	}
	if n == 1 {
		return 0, true
	}
	moved := new(big.Rat).Mul(portBytes(t, int64(n), bytes), bigOf(beta))
	// Truncated: the bound must not exceed a time that was rounded down.
	q := new(big.Int).Quo(moved.Num(), moved.Denom())
	q.Add(q, big.NewInt(alpha))
	if !q.IsInt64() {
		return 0, false
	}
	return q.Int64(), true
}

// portBytes returns the bytes that must pass through the port of some rank.
func portBytes(t graph.CollType, n, bytes int64) *big.Rat {
	s := new(big.Rat).SetInt64(bytes)
	share := big.NewRat(n-1, n)
	switch t {
	case graph.Broadcast, graph.Reduce:
		return s
	case graph.AllReduce:
		return s.Mul(s, share.Mul(share, big.NewRat(2, 1)))
	case graph.ReduceScatter, graph.ReduceScatterBlock, graph.Scatter, graph.AllToAll:
		return s.Mul(s, share)
	case graph.AllToAllV:
		return s.Mul(s, big.NewRat(1, n))
	case graph.AllGather, graph.Gather:
		return s.Mul(s, big.NewRat(n-1, 1))
	}
	return new(big.Rat)
}
