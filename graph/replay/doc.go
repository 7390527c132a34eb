// Package replay walks an operation graph as a run unfolds: the [Cursor] of a rank
// says which operation instances are ready, unrolling loops and collectives as it
// goes, and the [Matcher] of a rank pairs messages with receives. Both engines use
// them, so that a difference between the engines is never one of meaning.
//
// Invariants:
//
//  1. A cursor belongs to one rank and touches nothing that another rank's cursor
//     writes; engines may drive different ranks from different threads.
//  2. Memory follows what is in flight: an operation instance exists from the moment
//     it is issued until it is complete.
//  3. Nothing is allocated per instance in the steady state; instances, dependencies
//     and collective parts are pooled.
//  4. The order of what [Cursor.Start] and [Cursor.Done] return is the rank's issue
//     order; engines keep it for operations that start at the same time.
//  5. An engine calls Done exactly once for every issue, at the simulated time at
//     which the operation's dependents may start.
package replay
