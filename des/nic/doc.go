// Package nic is the network interface of a node: queue pairs, segmentation,
// acknowledgements and the table of transports.
//
// A queue pair joins a source rank and a destination rank and is made when it is first
// used. Its messages are sent in posting order, cut into packets of the MTU with
// consecutive sequence numbers (InfiniBand Architecture Specification vol. 1, section
// 9; RoCEv2, annex A17). The receiver acknowledges the last packet of a message at once
// and any ack_every-th packet before it; an acknowledgement covers everything up to its
// sequence number.
//
// Invariants:
//
//  1. A port sends one frame at a time: an acknowledgement if one waits, else one packet
//     of the queue pair at the head of its round. Only ready queue pairs are in the
//     round; nothing ever looks at the others.
//  2. Where the fabric does not reorder packets of a flow and loses none, a sequence number
//     out of order ends the run with an error; where it may lose some, packets behind a gap
//     are discarded, and nothing sends them again. A receiver that accepts any order keeps
//     them, and hands messages over in the order of posting.
//  3. A message stays at the NIC that sends it until it is acknowledged, at an address
//     that does not change; its receiver reads it once, when the last packet is there.
//  4. A port that is paused for the class of its data, or of its acknowledgements, sends
//     the other; a pause that arrives at the time of a transmission comes before it.
//  5. A queue pair with a rate is in no round before its last packet is over at that rate:
//     it waits in a queue by (time, number), which is looked at before anything joins the
//     round, and before a port decides.
//  6. The ideal transport has no packets and no acknowledgements: a message is one
//     record, and counts as acknowledged when it has arrived.
//  7. Where packets of a queue pair have ports of their own, the queue pair is in one round
//     at a time: that of the port of its next packet, chosen when it joins it.
package nic
