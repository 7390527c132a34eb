// Package fabric is the network between the NICs: directed links, output queues and
// switches that store and forward, without and with a bounded packet memory, or cut through.
//
// Invariants:
//
//  1. The output port of a [Switch] serves packets in the order of (arrival, incoming
//     link): a packet starts when it has arrived and the one before has left, and occupies
//     the link for its size times the time per byte. Its queues are unbounded; but by faults
//     no packet is lost, marked or delayed for another reason.
//  2. A packet that cannot start in the window stays queued.
//  3. Unless a [Routing] says otherwise, the packets of a queue pair take one path, chosen
//     at each switch among equal-cost links by a hash of origin, target, queue pair, switch
//     and seed. Acknowledgements are a flow of their own. Whatever the routing, a choice
//     depends on the packet, the seed and, where queues decide, on what the switch holds
//     at the time of the arrival in the order of 5; random numbers have no state.
//  4. A [Buffered] switch keeps packets in a memory from their arrival until their last bit
//     has left, counted by incoming link and class. It pauses links, drops, cuts and marks
//     packets as [Class] says.
//  5. At one time, in a Buffered switch, first the packets leave whose last bit is sent, in
//     the order of ports; then frames arrive, in the order of incoming links, and of outputs
//     where frames of no size come together on a link: packets are stored, marked, cut or
//     dropped, and pauses take effect; then pauses are repeated, in
//     the order of (incoming link, class); then transmissions start. A transmission of no
//     size ends in the same instant, and the order begins anew.
//  6. Pause frames go before all others and are never paused. They are frames on the link:
//     they wait for the one that is being sent, are serialized, travel, and pass the
//     latency of a switch before they take effect.
//  7. Outputs of a Buffered switch have only the memory in common. In a window in which no
//     threshold of it can be reached each runs by itself, else all together in order of
//     time; the result is the same, and that of a Switch where the memory has no bounds.
//     A switch whose queues decide on ports runs them together always.
//  8. What a Buffered switch counts for a recorder, by traffic class, changes nothing that it
//     does; a switch of which nobody records keeps no such counters.
//  9. A mark's random number depends on seed, switch, port, class and how many were drawn
//     there before.
//  10. With [Medium].CutAfter a frame takes effect at a switch when its head is there. It goes
//     on at once if its output would stay idle otherwise, its class may send, and the link
//     out is no faster than the link in; else it joins its queue when its last bit is there,
//     its tail. Memory is taken at the head. At one time a link's tail comes before the next
//     head, and a start looks at queues before it looks at the heads of that time.
//  11. A packet of a class with a rate starts no sooner than the one before takes at that
//     rate, on the link; other classes go on.
//  12. [LinkFaults] act at the near end of a link, on the slow path of its [Wire]: a frame is
//     lost if the link is down at some time while it is being sent, or by a random number
//     that depends on seed, link and how many were sent before; one whose turn comes while
//     the link is down is dropped in no time. Where links fail a switch chooses among the
//     next hops of the [Epoch] of a packet's arrival, less its own ports that are down.
package fabric
