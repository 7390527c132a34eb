// Package diag holds what the program says about its input: findings with a
// position, a stable code, notes and a suggestion, collected so that all of them
// are reported at once.
//
// Invariants:
//
//  1. A finding names the place, what is wrong and what was expected. Its code is
//     stable and has an entry in the code table that `hybrid explain` prints.
//  2. A [List] is ordered by file, line and column when it is printed, whatever the
//     order in which checks ran; equal findings are merged and counted.
//  3. Rendering never fails: without the source text the snippet is left out.
package diag
