// Package node is the inside of a rank as the packet engine sees it: the accelerator
// whose capacity the operations that run at once share equally, the memory and host
// operations that run unhindered, and the host processor's time for messages.
//
// Invariants:
//
//  1. Computing and communicating do not slow each other: messages occupy only the host
//     processor, one at a time and first come first served.
//  2. Equal sharing is exact (see replay.Share); an operation of no duration ends where
//     it starts and disturbs nobody.
package node
