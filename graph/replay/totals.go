package replay

import (
	"cmp"

	"hybrid/graph"
	"hybrid/graph/collective"
)

// transfers counts the transfers of one instance and the bytes that they carry.
func transfers(g *graph.Graph, e *CollectiveEnd, n int32) (count, bytes int64) {
	call := collective.Call{N: n, Root: e.Root, Bytes: e.Bytes, Units: g.Groups[e.Group].Units}
	return collective.CallTotals(e.Algorithm, call, g.ScaleBytes)
}

func compareCollectives(a, b CollectiveTimes) int {
	return cmp.Or(cmp.Compare(a.Site, b.Site), cmp.Compare(a.GroupSize, b.GroupSize), cmp.Compare(a.Bytes, b.Bytes),
		cmp.Compare(a.Algorithm, b.Algorithm))
}
