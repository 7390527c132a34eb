// Package machines reads the YAML files that describe a compute node: kerncraft's
// machine files as they are, and in a section of their own what kerncraft has no
// place for (recorded ECM contributions, accelerators).
//
// Invariants:
//
//  1. Figures are exact: hertz, bytes and flop/s as rationals ([units.Rat]), never
//     floats.
//  2. kerncraft's vocabulary is known key by key; a key outside it is an error with
//     a suggestion, wherever it stands.
//  3. [Load] returns a machine only if the file has no error; all findings are
//     reported at once, each with its place.
//  4. Listings are ordered.
package machines
