// Package records writes the record files of a simulation while it goes on: a table
// for each subject, as CSV or Parquet, a listing of what runs at regular times, and
// the traces with the times of their nodes. [Records] lists them; docs/records.md
// describes every column.
//
// Invariants:
//
//  1. Numbers are computed in whole picoseconds and bytes and written as exact
//     decimals. What cannot be exact (a fraction, a rate) is rounded once.
//  2. The same run writes the same bytes, for any number of threads: nothing depends on
//     the clock except the member r of annotated traces, which holds wall-clock time.
//  3. Memory follows what is in flight, and the number of distinct run times for the
//     percentiles; rows leave for the disk as soon as they are known.
//  4. A file is written under a temporary name beside its place and renamed when the
//     run has ended. A run that did not finish leaves what it got to as complete files
//     whose last rows say so.
//  5. The barriers of collective synchronization appear in chakra-perf and in the
//     annotated traces, marked as such, and are counted nowhere.
package records
