package collective

// symmetric is implemented by schedules in which every rank sends alike, so that one
// rank speaks for all where the pairs have no sizes of their own.
type symmetric interface{ symmetric() }

func (ring) symmetric()          {}
func (halving) symmetric()       {}
func (doubling) symmetric()      {}
func (bruck) symmetric()         {}
func (direct) symmetric()        {}
func (hierarchical) symmetric()  {}
func (allToAll) symmetric()      {}
func (pairwise) symmetric()      {}
func (bruckAllToAll) symmetric() {}

// Totals returns the number of transfers of one instance over all ranks and their
// bytes. It takes time in proportion to the number of ranks.
func Totals(a *Algorithm, n int32, root int32, bytes int64) (transfers, total int64) {
	return CallTotals(a, Call{N: n, Root: root, Bytes: bytes}, func(b int64) int64 { return b })
}

// CallTotals is [Totals] of any call, with scale applied to the size of each transfer;
// whose view the call is does not matter.
func CallTotals(a *Algorithm, c Call, scale func(int64) int64) (transfers, total int64) {
	ranks, each := c.N, int64(1)
	if _, ok := a.Schedule.(symmetric); ok && c.N > 1 && c.Sizes == nil {
		ranks, each = 1, int64(c.N)
	}
	for c.Me = range ranks {
		for i := range a.Len(&c) {
			if s := a.At(&c, i); s.Send {
				transfers++
				total += scale(s.Bytes)
			}
		}
	}
	return transfers * each, total * each
}
