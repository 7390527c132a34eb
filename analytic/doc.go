// Package analytic times an operation graph with closed-form models: it walks the
// graph in the order of its dependencies and gives every message the time that
// Hockney's or the LogGP family's formula says, without simulating a network. It
// also prices compute operations on a machine (Roofline, ECM), for both engines.
//
// Invariants:
//
//  1. Times are whole ticks of a [units.Clock] in which every per-byte time of the
//     run is a whole number; no float carries a time.
//  2. A walk is a deterministic function of its [Job]: events are ordered by (time,
//     sequence number), and ranks touched by one event are served in rank order.
//  3. Memory follows what is in flight; nothing is allocated per operation once the
//     buffers have grown.
//  4. An operation starts no earlier than everything it depends on has finished, on
//     whatever resource of the rank that ran.
//  5. A walk ends with a verdict. Only a job that cannot be walked at all (no
//     parameters, no prices) is an error.
//  6. The closed forms ([ClosedForm]), bounds ([LowerBound]) and ideal times ([Ideal])
//     are independent of the walks and are tests of them.
//  7. A transfer inside a scale-up group takes the fabric of the group: parameters that
//     follow from its bandwidth, its latencies and its packets, a port of its own in
//     LogGP, and no rendezvous in any model.
//  8. The packet engine is unknown here: two independent answers.
package analytic
