package networks

import (
	"math"

	"hybrid/internal/units"
)

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

// Near returns the picoseconds that a packet needs from port to port within a subgroup:
// one switch hop and two cable segments.
func (g *ScaleUpGroup) Near() int64 { return g.crossing(1, 2) }

// Far returns the picoseconds between subgroups: three switch hops and four cable
// segments.
func (g *ScaleUpGroup) Far() int64 { return g.crossing(3, 4) }

// crossing saturates, for latencies that no mapping file may have.
func (g *ScaleUpGroup) crossing(hops, cables int64) int64 {
	if max(g.Hop, g.Cable) > math.MaxInt64/(hops+cables) {
		return math.MaxInt64
	}
	return hops*g.Hop + cables*g.Cable
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
// another rank of its group.
func (s *ScaleUpPlacement) Crossing(a, b int32) int64 {
	g := &s.Groups[s.Group[a]]
	if s.Subgroup[a] == s.Subgroup[b] {
		return g.Near()
	}
	return g.Far()
}
