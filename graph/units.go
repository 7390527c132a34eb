package graph

import "slices"

// Units divide the members of a process group into equal sets that are close to each
// other: the ranks of one scale-up group, or of one node. Hierarchical algorithms work
// inside the units first, then between them.
type Units struct {
	// Size is the number of members in a unit.
	Size int32
	// Order lists positions in the group: unit u holds Order[u*Size : (u+1)*Size], in
	// the order of the member list. Units are in the order of their first members.
	Order []int32
	// Place is the inverse: the place of each position in Order.
	Place []int32
}

// SetUnits divides every group of the graph. unitOf gives each rank's unit; a negative
// number stands for a unit of its own.
func (g *Graph) SetUnits(unitOf []int32) {
	for _, group := range g.Groups {
		group.Units = divide(group.Members, unitOf)
	}
}

// divide returns nil where the units are not of one size.
func divide(members, unitOf []int32) *Units {
	index := map[int32]int{}
	var sets [][]int32
	for pos, rank := range members {
		unit := unitOf[rank]
		at, ok := index[unit]
		if !ok || unit < 0 {
			at = len(sets)
			index[unit] = at
			sets = append(sets, nil)
		}
		sets[at] = append(sets[at], int32(pos))
	}
	if slices.ContainsFunc(sets, func(s []int32) bool { return len(s) != len(sets[0]) }) {
		return nil
	}
	u := &Units{Size: int32(len(sets[0])), Order: slices.Concat(sets...), Place: make([]int32, len(members))}
	for place, pos := range u.Order {
		u.Place[pos] = int32(place)
	}
	return u
}
