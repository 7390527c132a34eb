// Package graph is the operation graph: what a distributed program does, written
// once by a front end (blueprint, Chakra trace, GOAL) and timed by both engines.
//
// A [Graph] has ranks, process groups and programs. A [Program] is what one rank
// does: operations in issue order with loops and branches, or a flat directed
// acyclic graph of operations for traces, which have no control flow. Ranks whose
// programs have the same shape share one Program; what differs between them sits
// in columns, one number a rank.
//
// Invariants:
//
//  1. A Graph is immutable once built, but for the preparation passes
//     (graph/pass), which run before an engine sees it.
//  2. Its size grows with what was written: a loop of a hundred thousand
//     iterations is one operation and a trip count. Group member lists are shared.
//  3. Every [Value] is a constant, a column entry of the rank, or an expression
//     evaluated when a rank's cursor reaches the operation. Only the last kind can
//     see loop counters.
//  4. Durations are whole picoseconds, sizes whole bytes. Compute operations keep
//     the work they do ([Work]); what that costs on a machine ([Cost]) is put
//     beside it by pricing and is the same for both engines.
//  5. In a thread program a rank issues operations in order and stops at a blocking
//     one until it completes; that is MPI's program order. In a flat program an
//     operation starts when its dependencies have finished; operations that become
//     ready together start in the order in which they stand.
//  6. Messages match by (context, source, destination, tag), first in first out in
//     posting order. Context 0 is the application's point-to-point traffic; a
//     collective has a private context for each instance.
package graph
