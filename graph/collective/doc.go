// Package collective holds the collective algorithms: for each, the point-to-point
// transfers of one rank, computed one at a time when a cursor needs them.
//
// A rank's part of a collective is a sequence of steps numbered from 0. A step is a
// send or a receive; it may start when the steps [Lo, Hi) before it are done, and
// when it is done it may release the steps [NextLo, NextHi). Nothing is stored, so a
// ring over a hundred thousand ranks costs a few bytes a rank.
//
// Invariants:
//
//  1. N is the group size, positions 0..N-1 are in member order, S the size as
//     written, C = ceil(S/N). A group of one has no steps.
//  2. Every send of a pair has exactly one receive with the same tag, and tags are
//     unique for a pair within one instance.
//  3. Steps say which blocks of the data they carry and whether the receiver
//     reduces, so that a test can prove for every algorithm that the right data end
//     on the right ranks, every contribution counted once; Bytes is the number of
//     blocks times the size of a block, in an all-to-allv the size of the pair.
//  4. The steps that one step releases all wait for the same steps, so that a cursor
//     counts them down together.
//  5. No schedule deadlocks, whether a send ends at once or waits for its receive.
//  6. Adding an algorithm is one file and one line of the table.
//
// Sources that several algorithms share: R. Thakur, R. Rabenseifner, W. Gropp,
// "Optimization of collective communication operations in MPICH", International
// Journal of High Performance Computing Applications 19, 2005; J. Bruck, C.-T. Ho,
// S. Kipnis, E. Upfal, D. Weathersby, "Efficient algorithms for all-to-all
// communications in multiport message-passing systems", IEEE Transactions on Parallel
// and Distributed Systems 8, 1997.
package collective
