package collective

import "hybrid/graph"

// Call is one rank's view of one instance.
type Call struct {
	// N is the group size, Me and Root are positions in it.
	N, Me, Root int32
	// Bytes is the size as written (comm_size); never negative.
	Bytes int64
	// Units divide the group into scale-up groups or nodes; nil where they are not of
	// one size. Only hierarchical algorithms look at them.
	Units *graph.Units
	// Sizes are the sizes of an all-to-allv; nil means C for every pair.
	Sizes PairSizes
	// place remembers where the rank stands in a tree, which takes log N steps to find.
	place place
}

// PairSizes gives the bytes that the member at position src sends to the one at dst.
type PairSizes interface{ Bytes(src, dst int32) int64 }

// pair returns the bytes that one member has for another.
func (c *Call) pair(src, dst int32) int64 {
	if c.Sizes != nil {
		return c.Sizes.Bytes(src, dst)
	}
	return c.Chunk()
}

// Chunk returns C = ceil(S/N).
func (c *Call) Chunk() int64 { return ceilDiv(c.Bytes, int64(c.N)) }

// wrap returns the position i places after position 0, modulo N. Nearly all calls
// are within one turn, which needs no division.
func (c *Call) wrap(i int32) int32 {
	switch n := c.N; {
	case i >= n:
		if i -= n; i >= n {
			i %= n
		}
	case i < 0:
		if i += n; i < 0 {
			if i %= n; i < 0 {
				i += n
			}
		}
	}
	return i
}

// Step is one transfer end of one rank.
type Step struct {
	// Send is true for a send, false for a receive.
	Send bool
	// Reduce is true on a receive whose data are combined with what is there.
	Reduce bool
	// Peer is the partner's position in the group, Tag unique for the pair within
	// the instance, Bytes the size of the transfer.
	Peer, Tag int32
	Bytes     int64
	// Lo and Hi bound the earlier steps that must be done before this one starts,
	// NextLo and NextHi the later steps that wait for this one, all of which have the
	// same Lo and Hi.
	Lo, Hi, NextLo, NextHi int32
	// Blocks says which blocks of the data travel.
	Blocks Blocks
}

// Blocks is the set {First + i*Stride : 0 <= i < Count} of block numbers, modulo the
// schedule's number of blocks.
type Blocks struct{ First, Stride, Count int32 }

// Schedule computes the steps of a rank.
type Schedule interface {
	// Len returns the number of steps.
	Len(c *Call) int32
	// At returns step i, 0 <= i < Len.
	At(c *Call, i int32) Step
	// Roots returns the k-th range [lo, hi) of steps that wait for nothing, and an
	// empty range behind the last one.
	Roots(c *Call, k int) (lo, hi int32)
	// BlockCount returns into how many blocks the data are cut, and BlockBytes the
	// size of one.
	BlockCount(c *Call) int32
	BlockBytes(c *Call) int64
}

// Algorithm is one entry of the table.
type Algorithm struct {
	Type graph.CollType
	// Name is the name that files and flags use, Doc one sentence.
	Name, Doc string
	// Valid says why a group size does not fit, or nil.
	Valid func(n int) error
	Schedule
}

// fitter is implemented by schedules that ask more of a group than its size.
type fitter interface{ fits(g *graph.Group) error }

// Fits says why a process group cannot use the algorithm, or nil.
func (a *Algorithm) Fits(g *graph.Group) error {
	if err := a.Valid(g.Size()); err != nil {
		return err
	}
	if f, ok := a.Schedule.(fitter); ok {
		return f.fits(g)
	}
	return nil
}

func ceilDiv(a, b int64) int64 { return (a + b - 1) / b }
