// Package networks reads the YAML files that describe an interconnect, and builds
// the topologies they name.
//
// One file holds both views of one interconnect: closed-form parameters for each
// distance level (Hockney, LogGP) and the fabric a packet engine builds (links,
// switches, wire format, NIC).
//
// Invariants:
//
//  1. Times are whole picoseconds, sizes whole bytes, rates exact picoseconds a
//     byte ([units.Rat]); nothing is rounded on the way in.
//  2. [Load] returns a network only if the file has no error; every finding carries
//     the place it was written at, and all of them are reported at once.
//  3. A [Topology] numbers hosts 0..H-1, then switches. Its links are directed,
//     sorted by the node they leave, and the equal-cost candidates towards a host
//     are one contiguous run of them, found by formula: no table of all pairs. Only a
//     wiring from a file has a table, by switch and set of switches that hosts hang on.
//  4. Sections owned by others (nic, and each topology's own keys) stay positioned
//     nodes until their owner decodes them; an unknown key is always an error.
//  5. [Faults] hold for one topology: names become links when its size is known, and rates
//     of faults are those of the topology's links from then on. The ways of a [Degraded]
//     network are all shortest ones over the links that are up.
//  6. Listings are ordered; nothing that is printed depends on map iteration.
package networks
