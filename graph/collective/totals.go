package collective

// symmetric is implemented by schedules in which every rank sends alike, so that
// one rank speaks for all.
type symmetric interface{ symmetric() }

func (ring) symmetric()     {}
func (halving) symmetric()  {}
func (allToAll) symmetric() {}

// Totals returns the number of transfers of one instance over all ranks and their
// bytes. It takes time in proportion to the number of ranks.
func Totals(a *Algorithm, n int32, root int32, bytes int64) (transfers, total int64) {
	return ScaledTotals(a, n, root, bytes, func(b int64) int64 { return b })
}

// ScaledTotals is [Totals] with scale applied to the size of each transfer.
func ScaledTotals(a *Algorithm, n int32, root int32, bytes int64, scale func(int64) int64) (transfers, total int64) {
	ranks, each := n, int64(1)
	if _, ok := a.Schedule.(symmetric); ok && n > 1 {
		ranks, each = 1, int64(n)
	}
	for me := range ranks {
		c := Call{N: n, Me: me, Root: root, Bytes: bytes}
		for i := range a.Len(&c) {
			if s := a.At(&c, i); s.Send {
				transfers++
				total += scale(s.Bytes)
			}
		}
	}
	return transfers * each, total * each
}
