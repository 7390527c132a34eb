package scaleup

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"hybrid/internal/units"
)

// What is taken at a time is what was added for it, whatever lists it was put into.
func TestBatches(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type event struct {
			kind uint32
			pair int32
		}
		var b batches
		var next [eventKinds][100]int32
		want := map[units.Time][]event{}
		now := units.Time(0)
		for pair := range int32(rapid.IntRange(1, 100).Draw(t, "events")) {
			at, kind := now+rapid.Int64Range(0, 3).Draw(t, "in"), rapid.Uint32Range(0, eventKinds-1).Draw(t, "kind")
			next[kind][pair] = b.add(at, kind, pair)
			want[at] = append(want[at], event{kind, pair})
			if rapid.IntRange(0, 3).Draw(t, "take") > 0 {
				continue
			}
			now = b.next()
			var got []event
			for b.next() == now {
				kind, p := b.take()
				for ; p >= 0; p = next[kind][p] {
					got = append(got, event{kind, p})
				}
			}
			order := func(a, b event) int { return int(a.pair - b.pair) }
			slices.SortFunc(got, order)
			if !slices.Equal(got, want[now]) {
				t.Fatalf("at %d: %v, want %v", now, got, want[now])
			}
			delete(want, now)
		}
		for at := range want {
			if at < b.next() {
				t.Fatalf("events for %d are lost", at)
			}
		}
	})
}
