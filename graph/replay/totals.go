package replay

import (
	"cmp"

	"hybrid/graph/collective"
)

// transfers counts the transfers of one instance and their bytes.
func transfers(e *CollectiveEnd, n int32) (count, bytes int64) {
	return collective.Totals(e.Algorithm, n, e.Root, e.Bytes)
}

func compareCollectives(a, b CollectiveTimes) int {
	return cmp.Or(cmp.Compare(a.Site, b.Site), cmp.Compare(a.GroupSize, b.GroupSize), cmp.Compare(a.Bytes, b.Bytes),
		cmp.Compare(a.Algorithm, b.Algorithm))
}
