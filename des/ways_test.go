package des

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// An output of a switch with a packet memory runs through a window in one of three ways:
// alone and simple, alone, or together with others. Which of those that are right is taken,
// drawn anew for each output in each window, changes nothing that can be seen: ends of
// operations, hops, marks, drops, pauses, the longest queue.
func TestWaysThroughAWindow(t *testing.T) {
	cases := uint64(120)
	if testing.Short() {
		cases = 20
	}
	for seed := range cases {
		j, keys := randomSwitchJob(t, 5000+seed)
		plain, want := runSwitches(t, j)
		for draw := range uint64(3) {
			j.ShuffleSeed = 7*seed + draw + 1
			mixed, got := runSwitches(t, j)
			if got.Digest != want.Digest || got.PacketHops != want.PacketHops || !cmp.Equal(got.Notes, want.Notes) || !cmp.Equal(finishes(got), finishes(want)) {
				t.Fatalf("case %d, %s: %x, %d packet-hops, %v; without drawing %x, %d, %v", seed, keys, got.Digest, got.PacketHops, got.Notes, want.Digest, want.PacketHops, want.Notes)
			}
			for i, s := range plain.buffered {
				if m := mixed.buffered[i]; m.Tally != s.Tally || m.Marks() != s.Marks() || m.Stored() != s.Stored() {
					t.Fatalf("case %d, %s, switch %d: %+v, %d marks, %d B; without drawing %+v, %d, %d", seed, keys, i, m.Tally, m.Marks(), m.Stored(), s.Tally, s.Marks(), s.Stored())
				}
			}
		}
	}
}
