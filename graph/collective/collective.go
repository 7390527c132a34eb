package collective

import (
	"fmt"
	"math/bits"
	"strings"

	"hybrid/graph"
)

// Call is one rank's view of one instance.
type Call struct {
	// N is the group size, Me and Root are positions in it.
	N, Me, Root int32
	// Bytes is the size as written (comm_size); never negative.
	Bytes int64
	// place remembers where the rank stands in a tree, which takes log N steps to find.
	place place
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
	// NextLo and NextHi the later steps that wait for this one.
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

// Fits says why a process group cannot use the algorithm, or nil.
func (a *Algorithm) Fits(g *graph.Group) error { return a.Valid(g.Size()) }

// table returns every algorithm of every type; the first of a type is its default.
func table() []Algorithm {
	anySize := func(int) error { return nil }
	return []Algorithm{
		{graph.AllReduce, "ring", "N-1 reduce-scatter steps, then N-1 all-gather steps, of C bytes to the next rank.", anySize, ring{true, true}},
		{graph.AllReduce, "tree", "Reduction up a balanced binary tree under the first rank, then broadcast down it, S bytes an edge.", anySize, tree{up: true, down: true}},
		{graph.AllReduce, "double-tree", "Two trees, rooted at the first and the last rank, each with half the data.", anySize, doubleTree{}},
		{graph.AllReduce, "halving-doubling", "log2 N exchanges that halve the data, then log2 N that double them back.", powerOfTwo, halving{gather: true}},
		{graph.Reduce, "ring", "The data pass from rank to rank and end at the root, S bytes a step.", anySize, chain{}},
		{graph.Reduce, "tree", "The reduce phase of the tree: each rank sends S bytes to its parent.", anySize, tree{up: true, rooted: true}},
		{graph.AllGather, "ring", "N-1 steps of S bytes to the next rank.", anySize, ring{false, true}},
		{graph.Gather, "direct", "Each rank sends S bytes to the root, all at once.", anySize, gather{}},
		{graph.Scatter, "direct", "The root sends C bytes to each other rank, all at once.", anySize, fanOut{scatter: true}},
		{graph.Broadcast, "interleaved", "The root sends S bytes to every other rank at once.", anySize, fanOut{}},
		{graph.Broadcast, "sequential", "The root sends S bytes to each other rank, one after another.", anySize, fanOut{sequential: true}},
		{graph.AllToAll, "interleaved", "Every rank sends C bytes to every other rank, all at once.", anySize, allToAll{}},
		{graph.AllToAll, "sequential", "In step s every rank sends C bytes to the rank s places after it, one send after another.", anySize, allToAll{sequential: true}},
		{graph.ReduceScatter, "ring", "N-1 steps of C bytes to the next rank.", anySize, ring{true, false}},
		{graph.ReduceScatter, "halving", "log2 N exchanges, halving the data each step.", powerOfTwo, halving{}},
		{graph.ReduceScatterBlock, "ring", "As reducescatter ring.", anySize, ring{true, false}},
		{graph.Barrier, "ring", "The pattern of allreduce ring with zero bytes.", anySize, ring{true, true}},
		{graph.Barrier, "tree", "The pattern of allreduce tree with zero bytes.", anySize, tree{up: true, down: true}},
		{graph.Barrier, "double-tree", "The pattern of allreduce double-tree with zero bytes.", anySize, doubleTree{}},
		{graph.Barrier, "halving-doubling", "The pattern of allreduce halving-doubling with zero bytes.", powerOfTwo, halving{gather: true}},
	}
}

// All returns the table.
func All() []Algorithm { return table() }

// Table is the algorithms of one run, looked up by type and name without
// allocation.
type Table struct{ all []Algorithm }

// NewTable returns the table ready for look-ups.
func NewTable() *Table { return &Table{table()} }

// Find returns the algorithm of a type with the given name, or nil.
func (t *Table) Find(typ graph.CollType, name string) *Algorithm {
	for i := range t.all {
		if t.all[i].Type == typ && t.all[i].Name == name {
			return &t.all[i]
		}
	}
	return nil
}

// Default returns the algorithm that a type has where nothing else is said.
func (t *Table) Default(typ graph.CollType) *Algorithm {
	for i := range t.all {
		if t.all[i].Type == typ {
			return &t.all[i]
		}
	}
	return nil
}

// Names returns the algorithm names of a type.
func (t *Table) Names(typ graph.CollType) []string {
	var names []string
	for i := range t.all {
		if t.all[i].Type == typ {
			names = append(names, t.all[i].Name)
		}
	}
	return names
}

// SyncBarrier returns the barrier that collective synchronization puts before a
// collective: the tree, whatever the barrier algorithm of the run is.
func (t *Table) SyncBarrier() *Algorithm { return t.Find(graph.Barrier, "tree") }

func powerOfTwo(n int) error {
	if bits.OnesCount(uint(n)) == 1 {
		return nil
	}
	return fmt.Errorf("needs a group whose size is a power of two, not %d", n)
}

// Choices prints the names of a type for messages: ring, tree or double-tree.
func (t *Table) Choices(typ graph.CollType) string {
	n := t.Names(typ)
	if len(n) == 1 {
		return n[0]
	}
	return strings.Join(n[:len(n)-1], ", ") + " or " + n[len(n)-1]
}

func ceilDiv(a, b int64) int64 { return (a + b - 1) / b }
