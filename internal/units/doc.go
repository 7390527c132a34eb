// Package units holds the quantities that every part of hybrid speaks in:
// sizes in whole bytes, durations in whole picoseconds, rates as exact
// rationals, and the tick in which an engine counts simulated time.
//
// Invariants:
//
//  1. No float carries a time, a size or a rate. Text is read into exact
//     rationals, and what is not representable is an error, never a rounding.
//  2. A [Clock] makes every serialization time of a run a whole number of ticks;
//     where that is impossible it says so (Clock.Exact) and states the bound.
//  3. Text never guesses: an unknown unit is an error that names the units that
//     were possible.
package units
