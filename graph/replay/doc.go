// Package replay walks an operation graph as a run unfolds: the [Cursor] of a rank
// says which operation instances are ready, unrolling loops and collectives as it
// goes, and the [Matcher] of a rank pairs messages with receives. Both engines use
// them, so that a difference between the engines is never one of meaning.
//
// [Check] follows a program without time and finds what can never finish;
// [ReportCheck] and [ReportVerdict] put that, and how a run ended, into words.
// [WriteGOAL] exports the unrolled graph, and [Expansion] numbers the nodes of a trace
// whose collectives are expanded.
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
//  6. What an instance does is fixed when the thread reaches it, also where it starts
//     later: its operands, and its place among the collectives of its group.
//  7. A check claims a fault only where it followed the program itself, never where
//     it cut a loop short.
package replay
