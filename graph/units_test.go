package graph

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSetUnits: units are in the order of their first members; a negative number is a
// unit of its own; units of two sizes are none.
func TestSetUnits(t *testing.T) {
	for _, c := range []struct {
		members, unitOf []int32
		want            *Units
	}{
		{[]int32{0, 1, 2, 3}, []int32{7, 5, 7, 5}, &Units{Size: 2, Order: []int32{0, 2, 1, 3}, Place: []int32{0, 2, 1, 3}}},
		{[]int32{3, 0, 2, 1}, []int32{7, 5, 7, 5}, &Units{Size: 2, Order: []int32{0, 3, 1, 2}, Place: []int32{0, 2, 3, 1}}},
		{[]int32{0, 1, 2}, []int32{-1, -1, -1}, &Units{Size: 1, Order: []int32{0, 1, 2}, Place: []int32{0, 1, 2}}},
		{[]int32{0, 1, 2}, []int32{4, 4, 4}, &Units{Size: 3, Order: []int32{0, 1, 2}, Place: []int32{0, 1, 2}}},
		{[]int32{0, 1, 2}, []int32{4, 4, -1}, nil},
	} {
		g := &Graph{Groups: []*Group{{Members: c.members}}}
		g.SetUnits(c.unitOf)
		if d := cmp.Diff(c.want, g.Groups[0].Units); d != "" {
			t.Errorf("members %v, units %v: %s", c.members, c.unitOf, d)
		}
	}
}
