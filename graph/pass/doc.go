// Package pass prepares an operation graph for a run: a table of passes, run in
// order, each of which checks or changes the graph.
//
// Invariants:
//
//  1. Passes run in the order of the table; a pass may rely on those before it. A
//     pass that finds errors ends the sequence, so that what follows sees a sound
//     graph.
//  2. A pass looks at programs, not at ranks, wherever ranks share one. Where ranks wait
//     for each other it follows the operations of traces, a collective as one: its time is
//     in proportion to what was written, never to what will run.
//  3. No pass depends on a machine, a network or an engine: both engines time the
//     same prepared graph.
//  4. Values that are computed at the cursor are checked there, by the same rules.
//  5. Serialization never keeps a trace set from ending that ends without it.
package pass
