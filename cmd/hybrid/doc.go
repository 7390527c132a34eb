// Command hybrid times a distributed program twice, with closed-form models and with
// a packet-level simulation of its network, and says how far the two are apart.
//
// This package holds the command line alone: flags, streams, exit status and the
// pipeline that joins front ends, passes, engines and report.
//
// Invariants:
//
//  1. Standard output carries the result alone; findings and messages go to standard
//     error. A file named by --out is complete or absent.
//  2. One function turns errors into the exit status: 0 done, 1 the input or the run
//     failed, 2 wrong usage, 3 a finding, 130 interrupted. No command exits by itself.
//  3. Status 0 means that every operation finished and every transfer was matched.
//  4. The order of precedence is flag, workload, network file, built-in default; the
//     report names what was chosen by whom.
package main
