package collective

import (
	"fmt"
	"math/bits"
	"strings"

	"hybrid/graph"
)

// table returns every algorithm of every type; the first of a type is its default.
func table() []Algorithm {
	anySize := func(int) error { return nil }
	return []Algorithm{
		{graph.AllReduce, "ring", "N-1 reduce-scatter steps, then N-1 all-gather steps, of C bytes to the next rank.", anySize, ring{true, true}},
		{graph.AllReduce, "tree", "Reduction up a balanced binary tree under the first rank, then broadcast down it, S bytes an edge.", anySize, tree{up: true, down: true}},
		{graph.AllReduce, "double-tree", "Two trees, rooted at the first and the last rank, each with half the data.", anySize, doubleTree{}},
		{graph.AllReduce, "halving-doubling", "log2 N exchanges that halve the data, then log2 N that double them back.", powerOfTwo, halving{gather: true}},
		{graph.AllReduce, "halving-doubling-far", "As halving-doubling, with the farthest partner first.", powerOfTwo, halving{gather: true, far: true}},
		{graph.AllReduce, "direct", "The direct reduce-scatter, then C bytes of result from every rank to every other, all at once.", anySize, direct{gather: true}},
		{graph.AllReduce, "hierarchical", "Rings: reduce-scatter inside each unit of the placement (scale-up group or node), all-reduce of each shard between units, all-gather inside.", anySize, hierarchical{}},
		{graph.Reduce, "ring", "The data pass from rank to rank and end at the root, S bytes a step.", anySize, chain{}},
		{graph.Reduce, "tree", "The reduce phase of the tree: each rank sends S bytes to its parent.", anySize, tree{up: true, rooted: true}},
		{graph.AllGather, "ring", "N-1 steps of S bytes to the next rank.", anySize, ring{false, true}},
		{graph.AllGather, "recursive-doubling", "log2 N exchanges of S, 2S, 4S, ... bytes with the partner at that distance.", powerOfTwo, doubling{}},
		{graph.AllGather, "bruck", "ceil(log2 N) steps of S, 2S, 4S, ... bytes and a rest, for any N.", anySize, bruck{}},
		{graph.Gather, "direct", "Each rank sends S bytes to the root, all at once.", anySize, gather{}},
		{graph.Gather, "binomial", "Up a binomial tree: each rank sends its subtree's S bytes a rank to its parent.", anySize, binomialGather{}},
		{graph.Scatter, "direct", "The root sends C bytes to each other rank, all at once.", anySize, fanOut{scatter: true}},
		{graph.Scatter, "binomial", "Down a binomial tree: each rank passes on its subtrees' C bytes a rank, the largest subtree first.", anySize, binomial{scatter: true}},
		{graph.Broadcast, "interleaved", "The root sends S bytes to every other rank at once.", anySize, fanOut{}},
		{graph.Broadcast, "sequential", "The root sends S bytes to each other rank, one after another.", anySize, fanOut{sequential: true}},
		{graph.Broadcast, "binomial", "Down a binomial tree, S bytes an edge, the child with the largest subtree first.", anySize, binomial{}},
		{graph.Broadcast, "pipelined-tree", "Down a balanced binary tree under the root in segments of 64 KiB, at most 256.", anySize, pipelinedTree{}},
		{graph.AllToAll, "interleaved", "Every rank sends C bytes to every other rank, all at once.", anySize, allToAll{}},
		{graph.AllToAll, "sequential", "In step s every rank sends C bytes to the rank s places after it, one send after another.", anySize, allToAll{sequential: true}},
		{graph.AllToAll, "pairwise", "N-1 exchanges of C bytes, one partner after another.", anySize, pairwise{}},
		{graph.AllToAll, "bruck", "ceil(log2 N) steps, in each of which about half of the blocks travel together.", anySize, bruckAllToAll{}},
		{graph.ReduceScatter, "ring", "N-1 steps of C bytes to the next rank.", anySize, ring{true, false}},
		{graph.ReduceScatter, "halving", "log2 N exchanges, halving the data each step.", powerOfTwo, halving{}},
		{graph.ReduceScatter, "halving-far", "As halving, with the farthest partner first.", powerOfTwo, halving{far: true}},
		{graph.ReduceScatter, "direct", "Every rank sends C bytes to every other rank, all at once.", anySize, direct{}},
		{graph.ReduceScatterBlock, "ring", "As reducescatter ring.", anySize, ring{true, false}},
		{graph.ReduceScatterBlock, "halving", "As reducescatter halving.", powerOfTwo, halving{}},
		{graph.ReduceScatterBlock, "direct", "As reducescatter direct.", anySize, direct{}},
		{graph.Barrier, "ring", "The pattern of allreduce ring with zero bytes.", anySize, ring{true, true}},
		{graph.Barrier, "tree", "The pattern of allreduce tree with zero bytes.", anySize, tree{up: true, down: true}},
		{graph.Barrier, "double-tree", "The pattern of allreduce double-tree with zero bytes.", anySize, doubleTree{}},
		{graph.Barrier, "halving-doubling", "The pattern of allreduce halving-doubling with zero bytes.", powerOfTwo, halving{gather: true}},
		{graph.AllToAllV, "interleaved", "Every rank sends each other rank its own number of bytes, all at once.", anySize, allToAll{}},
		{graph.AllToAllV, "sequential", "The same in the order of alltoall sequential, one send after another.", anySize, allToAll{sequential: true}},
		{graph.AllToAllV, "pairwise", "The same in exchanges with one partner after another.", anySize, pairwise{}},
	}
}

// All returns the table.
func All() []Algorithm { return table() }

// Table is the algorithms of one run, looked up by type and name without
// allocation.
type Table struct {
	all  []Algorithm
	sync *Algorithm // of collective synchronization
}

// NewTable returns the table ready for look-ups.
func NewTable() *Table {
	t := &Table{all: table()}
	t.sync = t.Find(graph.Barrier, "tree")
	return t
}

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
func (t *Table) SyncBarrier() *Algorithm { return t.sync }

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
