package des

import (
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hybrid/des/fabric"
	"hybrid/graph/replay"
	"hybrid/internal/diag"
)

// cases is a number of cases, fewer where little time is.
func cases(n uint64) uint64 {
	if testing.Short() {
		return n / 10
	}
	return n
}

// randomly makes a random job of a seed, and the text to tell of it.
type randomly func(t *testing.T, seed uint64) (Job, string)

// fits says whether a random job can be run. The headroom of long fast links may not fit into
// the buffer; other findings are a mistake of the test.
func fits(t *testing.T, j Job, text string) bool {
	t.Helper()
	var list diag.List
	if (&run{job: &j, placement: j.Placement}).check(&list); list.HasErrors() && list.All()[0].Code != "E956" {
		t.Fatalf("%s: %v", text, list.Err())
	}
	return !list.HasErrors()
}

// agreeing demands that the engine and the reference agree on random jobs, and counts in how
// many of them something happened.
func agreeing(t *testing.T, n uint64, random randomly) map[string]int {
	t.Helper()
	count := map[string]int{}
	for seed := range n {
		j, text := random(t, seed)
		diff, happened := agreement(t, j)
		// A pause that is lost may let the headroom overflow.
		if slices.Contains(happened, "drops: "+fabric.HeadroomFull.String()) && !strings.Contains(text, "headroom") && !strings.Contains(text, "faults") {
			diff += "the headroom that a link needs by itself does not suffice\n"
		}
		if diff != "" {
			t.Fatalf("case %d: %s\n%s", seed, diff, text)
		}
		slices.Sort(happened)
		for _, label := range slices.Compact(happened) {
			count[label]++
		}
	}
	t.Logf("what happened: %v", count)
	return count
}

// enough demands that something happened in so many cases.
func enough(t *testing.T, count map[string]int, least uint64, labels ...string) {
	t.Helper()
	for _, label := range labels {
		if count[label] < int(least) {
			t.Errorf("%d cases: %s", count[label], label)
		}
	}
}

// sameHoweverRun demands of random jobs that nothing depends on how they are run.
func sameHoweverRun(t *testing.T, n uint64, random randomly) {
	t.Helper()
	for seed := range n {
		j, text := random(t, seed)
		howeverRun(t, j, seed, text)
	}
}

// recordedSame demands that a recorder changes nothing in a run and is told the same however
// it is run; it returns what the recorder was told.
func recordedSame(t *testing.T, j Job, text string) (*tape, *replay.Result) {
	t.Helper()
	plain := simulate(t, j)
	want, again := &tape{every: 83_560}, &tape{every: 83_560}
	res := record(t, j, want)
	if res.Digest != plain.Digest || res.PacketHops != plain.PacketHops || res.Events != plain.Events || !cmp.Equal(res.Notes, plain.Notes) || !cmp.Equal(finishes(res), finishes(plain)) {
		t.Fatalf("the recorder changes the result: %s", text)
	}
	j.Threads, j.Window, j.ShuffleSeed = 2, 40_000, j.Seed|1
	record(t, j, again)
	again.same(t, text, want)
	return want, res
}

// sameInThreads demands that a large job ends like that on one thread.
func sameInThreads(t *testing.T, j Job, want *replay.Result, threads ...int) {
	t.Helper()
	for _, n := range threads {
		j.Threads, j.ShuffleSeed, j.Window = n, uint64(n), 1_000_000/int64(n)
		if got := finished(t, j); got.Digest != want.Digest || got.PacketHops != want.PacketHops || got.Makespan != want.Makespan || !cmp.Equal(got.Notes, want.Notes) {
			t.Errorf("%d threads: %x, %d packet-hops, %d, %v; one thread has %x, %d, %d, %v",
				n, got.Digest, got.PacketHops, got.Makespan, got.Notes, want.Digest, want.PacketHops, want.Makespan, want.Notes)
		}
	}
}

// packetHops runs a job again and again and reports the packet-hops per second of processor
// time, and what is allocated for a packet.
func packetHops(b *testing.B, j Job) {
	var packets, hops int64
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	cpu := cpuSeconds()
	for range b.N {
		res := finished(b, j)
		packets, hops = packets+res.Packets, hops+res.PacketHops
	}
	cpu = cpuSeconds() - cpu
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(hops)/cpu/1e6, "Mhops/cpu-s")
	b.ReportMetric(float64(after.Mallocs-before.Mallocs)/float64(packets), "allocs/packet")
	b.ReportMetric(0, "ns/op")
}
