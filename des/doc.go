// Package des is the packet engine: it times an operation graph on a network, packet by
// packet, exactly and in parallel. [Run] is the whole of it.
//
// A logical process is a switch, or a node with its ranks and its NIC; nodes whose ranks
// share a scale-up fabric (package scaleup) are one process, with the fabric, and so are
// processes that a link without look-ahead joins ([sim.Cluster]). Simulated time
// is cut into windows no longer than the shortest time between a packet's start on a
// link and its effect at the far end; in a window every process that is due runs by
// itself, and what it sends becomes visible to the others when the window ends. There
// is no central event queue (package sim), and on the way of a packet nothing is
// allocated and no table of flows is touched (package fabric).
//
// # Order
//
// The order of things at equal times is part of the model. With 400 Gbit/s and packets
// of a few sizes, exact ties are the rule rather than the exception, and another order
// would be another result.
//
//  1. Packets arrive at an output queue in the order of (time, incoming directed link).
//     A link carries one packet at a time, so the key is unique; packets of no size on
//     one link keep the order in which they were sent. Where links have no look-ahead
//     an instant has rounds: in each, every process of the cluster does all that it can,
//     without seeing what the others send in this round, and the key becomes (time,
//     round, incoming link).
//  2. At a node, or at the nodes of a scale-up group, at equal times: packets arrive
//     first, in the order of their incoming links; then the NICs decide what to send, in
//     the order of their nodes; then packets of the scale-up fabric are sent, arrive or
//     have been received, in the order of (receiver, sender); then operations end; and
//     when nothing else is left packets of the fabric start, so that the number of
//     queues that share a rank's bandwidth is that of the end of the instant.
//  3. Operations of a process that end at the same time do so in the order of (rank, issue
//     order within the rank); operations that share an accelerator come before the
//     other ones of their rank, in the order of their exact ends and then of their
//     starts. All that follows from an end at the same instant (dependents that start,
//     messages that are posted, receives that meet a message already there) happens
//     before the next end; what ends at that same instant takes its turn by this rule.
//  4. A NIC port sends acknowledgements before data, and data of its ready queue pairs
//     in turn, one packet each. A queue pair that becomes ready goes to the end of the
//     round, as does one that has sent a packet and has more; where packets are sprayed
//     over ports, of the round of its next packet's port.
//  5. A switch with a packet memory ([fabric.Buffered]) at equal times first lets go of
//     packets whose last bit has left, then takes frames in, pauses among them (and chooses
//     their ports, if these depend on queues), then repeats its own pauses, and then starts
//     transmissions; pause frames go before all.
//
// A rank whose whole progress is one compute or memory operation cannot be disturbed until
// that ends. The engine does such operations at once, however far beyond the window, and
// keeps what follows them for its time (see ahead.go); with a recorder, or a time to stop
// at, not beyond the window. Nothing of the order above changes.
//
// Invariants:
//
//  1. Results do not depend on the number of threads, the order in which processes are
//     visited, or the length of the window as long as it is at most the look-ahead. A
//     plain reference simulation in the tests agrees bit for bit.
//  2. Processes share nothing but records on links. Two things cross a link without a
//     record: the header of a message, which its receiver reads from the sender's NIC
//     when the last packet has arrived, and books that no event depends on.
//  3. Times are ticks of the run's clock; no rounding happens where the clock is exact.
//  4. Nothing is allocated per packet or per operation once buffers have grown to what
//     is in flight.
//  5. With the build tag invariants the engine checks itself: no record takes effect in
//     the window it was sent in, times on a link rise, queues are served in order, an
//     operation ends once and inside the window, and at the end all bytes that were sent
//     have been delivered and every message is acknowledged.
//  6. What a recorder is told after a window happened in it, and comes in the order of
//     (time, rank, issue, kind); the stream of a run is the same however it is run. The
//     counters at a mark hold what started, or arrived, before it, whatever has been
//     worked out ahead. A recorder changes nothing in a result but the number of windows.
//  7. Every run ends. One whose pauses have stopped each other in a circle, or that gets
//     nowhere, is ended with a verdict that names what stands still (circle.go, guard.go,
//     stall.go); a run that can go on never is.
package des
