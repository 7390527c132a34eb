package des

import (
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// A recorder changes nothing in a case, and sees the same however the case is run.
func TestRecordingOfCases(t *testing.T) {
	first, end, _ := casesToRun(7000, 7100, 30)
	for number := first; number < end; number++ {
		c, j := newCase(t, number)
		plain := plainResult(t, j)
		every := plain.Makespan/37 + 1 // ticks, of which some clocks have very many
		want := &tape{every: every}
		res := record(t, j, want)
		if res.Digest != plain.Digest || res.PacketHops != plain.PacketHops || !gocmp.Equal(finishes(res), finishes(plain)) {
			t.Fatalf("the recorder changes the result of %s", c)
		}
		for _, threads := range []int{1, 2, 4} {
			k, again := j, &tape{every: every}
			k.Threads, k.Window, k.ShuffleSeed = threads, 40_000*int64(threads), number+1
			record(t, k, again)
			again.same(t, c.String(), want)
		}
	}
}
