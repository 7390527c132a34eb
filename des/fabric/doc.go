// Package fabric is the network between the NICs: directed links, output queues and
// store-and-forward switches.
//
// Invariants:
//
//  1. An output port serves packets in the order of (arrival, incoming link): a packet
//     starts when it has arrived and the one before has left, and occupies the link for
//     its size times the time per byte.
//  2. Queues are unbounded; no packet is lost, marked or delayed for another reason.
//  3. A packet that cannot start in the window stays queued.
//  4. The packets of a queue pair take one path, chosen at each switch among equal-cost
//     links by a hash of origin, target, queue pair, switch and seed. Acknowledgements
//     are a flow of their own.
package fabric
