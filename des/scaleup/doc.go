// Package scaleup is the scale-up fabric of the ranks of one logical process: the
// switches and cables that join accelerators beside the cluster's network.
//
// A transfer is cut into packets of at most the payload, each with a header; one of no
// bytes is a header alone. A rank keeps a queue for each receiver and serves all that hold
// something side by side: a packet takes the time of its size at the group's bandwidth,
// times the number of receivers that the rank is sending to. It then crosses the fabric in
// a time that depends on the pair of ranks only, and joins the receiver's queue for its
// sender, which are served in the same way. The rule is that of the Chakra workload
// semantics (docs/execution.md).
//
// Invariants:
//
//  1. The number of queues that share a rank's bandwidth is counted when a packet starts,
//     after everything else at that instant, and holds for the whole packet: packets that
//     start at one instant at one rank all see the same number, whatever their order.
//  2. Transfers of a pair of ranks are sent and received in the order of posting, and so
//     are their packets, without gaps between one transfer and the next.
//  3. Transfers that are received at one instant are reported in the order of (receiver,
//     sender). Nothing depends on the order of other things at one instant.
//  4. Nothing is allocated per packet or per transfer once buffers have grown to what is
//     in flight: a packet between two ranks is the time of its arrival.
package scaleup
