//go:build invariants

package sim

// Invariants turns on the internal assertions. The build tag invariants sets it;
// without the tag the compiler removes them.
const Invariants = true
