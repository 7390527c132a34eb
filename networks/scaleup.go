package networks

import "hybrid/internal/units"

// ScaleUpGroup is one scale-up fabric: the switches and cables that join the
// accelerators of a group of ranks beside the cluster's network.
type ScaleUpGroup struct {
	// ID is the group's number in the mapping file.
	ID uint32
	// PerByte is the time of a byte at a rank's bandwidth, in picoseconds.
	PerByte units.Rat
	// Hop is the latency of one switch hop, Cable that of one cable segment, in
	// picoseconds.
	Hop, Cable int64
}

// ScaleUpPlacement says which ranks share a scale-up fabric. A nil *ScaleUpPlacement
// means that there is none.
type ScaleUpPlacement struct {
	// Group is by rank an index in Groups, or -1; Subgroup by rank the number of the
	// subgroup, which means something within a group only.
	Group    []int32
	Subgroup []uint32
	Groups   []ScaleUpGroup
}

// Shared reports whether transfers between two different ranks take the scale-up
// fabric.
func (s *ScaleUpPlacement) Shared(a, b int32) bool {
	return s != nil && a != b && s.Group[a] >= 0 && s.Group[a] == s.Group[b]
}

// Crossing returns the picoseconds that a packet needs from a rank's port to that of
// another rank of its group: one switch hop and two cable segments within a subgroup,
// three hops and four segments between subgroups.
func (s *ScaleUpPlacement) Crossing(a, b int32) int64 {
	g := &s.Groups[s.Group[a]]
	if s.Subgroup[a] == s.Subgroup[b] {
		return g.Hop + 2*g.Cable
	}
	return 3*g.Hop + 4*g.Cable
}
