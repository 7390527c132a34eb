package des

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"hybrid/graph/replay"
)

// Sorting by digits and sorting by comparison are the same, for few and for many events,
// near and far times, and equal times and ranks.
func TestRecordingSorts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SampledFrom([]int{0, 1, fewEvents - 1, fewEvents, 700}).Draw(t, "events")
		span := rapid.SampledFrom([]int64{1, 3, 1000, 1 << 40, math.MaxInt64}).Draw(t, "span")
		ranks := rapid.SampledFrom([]int32{1, 2, 300, 1 << 20}).Draw(t, "ranks")
		first := rapid.Int64Range(0, math.MaxInt64-span).Draw(t, "first")
		state := rapid.Uint64().Draw(t, "state")
		draw := func(below int64) int64 {
			state = digest(state+1, 7)
			return int64(state>>1) % below
		}
		var rec recording
		for range n {
			e := replay.Event{T: first + draw(span), Rank: int32(draw(int64(ranks))), Seq: uint64(draw(4)), Kind: replay.EventKind(draw(3))}
			if draw(50) == 0 {
				e.Seq, e.Kind = math.MaxUint64, replay.RankEnded
			}
			rec.events = append(rec.events, e)
		}
		want := slices.Clone(rec.events)
		key := func(e replay.Event) eventKey { return eventKey{t: e.T, seq: e.Seq, rank: e.Rank, kind: e.Kind} }
		slices.SortFunc(want, func(a, b replay.Event) int { return key(a).compare(key(b)) })
		for range 2 { // buffers used again
			if rec.sort(); !slices.Equal(rec.ordered, want) {
				t.Fatalf("%d events over %d of %d ranks: out of order", n, span, ranks)
			}
		}
	})
}
