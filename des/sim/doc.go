// Package sim is the kernel of the packet engine: windows, logical processes, the links
// between them, worker threads, and the small event loop of a node.
//
// It follows the conservative synchronous scheme (Fujimoto, "Parallel and Distributed
// Simulation Systems", 2000, section 3.5): a window starts at the earliest pending time
// W and ends at W plus the look-ahead; nothing that happens in it can take effect in
// another process before its end.
//
// Invariants:
//
//  1. A [Process] touches only its own state, its incoming records and tables that
//     never change; a [Channel] has one writer and one reader.
//  2. What a process writes in a window becomes visible when the window has ended on all
//     workers. A process therefore sees the same records whoever runs first.
//  3. Idle processes are never visited and idle spans of time are skipped.
//  4. A record is 32 bytes without pointers and is copied, never shared.
//  5. Processes that a link without look-ahead joins are members of one [Cluster], which
//     is a process: inside it an instant has rounds, and a record is visible from the
//     round after the one it was sent in.
//  6. A mark ends a window: when the caller looks at one, all that is due before it, and
//     nothing else, has happened.
//  7. No simulated time exceeds [MaxTime]; a run that would stops and says so.
package sim
