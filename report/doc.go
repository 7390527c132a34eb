// Package report lays the runs of one workload side by side: the packet
// simulation and the analytic models, by operation, by collective and by rank, with
// the error of each model against the simulation.
//
// Invariants:
//
//  1. The simulated value is the reference. An error is (model - simulated) /
//     simulated: negative means that the model is too fast. It is undefined where the
//     simulated value is 0, never infinite, and undefined values are counted.
//  2. Runs come in the order in which they were handed over: the simulation first,
//     then the models. Every list has a fixed order; equal runs give equal bytes.
//  3. Times stay integers, picoseconds in JSON and CSV; only ratios are floats.
//  4. Text is at most 80 columns wide, right-aligns numbers, has one unit a column and
//     says nothing by colour. Wall-clock times appear only where asked for.
//  5. A run that did not finish is reported as such, first, with what it waited for.
package report
