package des

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"hybrid/graph"
)

// peakMB returns the most memory that the process has had resident, in MB, or 0 where
// the system does not say. It is that of all benchmarks so far: run one at a time.
func peakMB() float64 {
	f, err := os.Open("/proc/self/status")
	if err != nil {
		return 0
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if kb, ok := strings.CutPrefix(s.Text(), "VmHWM:"); ok {
			n, _ := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(kb), " kB"), 64)
			return n * 1024 / 1e6
		}
	}
	return 0
}

// forgetPeak starts the count of [peakMB] anew, where the system allows it.
func forgetPeak() {
	debug.FreeOSMemory()
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0o600)
}

// measure runs a job b.N times and reports packet-hops per second of elapsed and of
// processor time, windows, allocations per packet and the peak of memory.
func measure(b *testing.B, j Job) {
	forgetPeak()
	var hops, packets, windows int64
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	b.ResetTimer()
	cpu := cpuSeconds()
	for range b.N {
		r, res, err := simulateRun(b.Context(), &j)
		if err != nil || !res.Verdict.OK() {
			b.Fatal(err, res)
		}
		hops, packets, windows = hops+res.PacketHops, packets+res.Packets, windows+r.kernel.Windows
	}
	b.StopTimer()
	cpu = cpuSeconds() - cpu
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(hops)/cpu/1e6, "Mhops/cpu-s")
	b.ReportMetric(float64(hops)/b.Elapsed().Seconds()/1e6, "Mhops/s")
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s/run")
	b.ReportMetric(float64(after.Mallocs-before.Mallocs)/float64(packets), "allocs/packet")
	b.ReportMetric(float64(windows)/float64(b.N), "windows")
	b.ReportMetric(peakMB(), "MB-peak")
	b.ReportMetric(0, "ns/op")
}

func fatTree(b *testing.B, g *graph.Graph, k, threads int) Job {
	j := job(b, g, network(b, fmt.Sprintf("{kind: fat-tree, k: %d}", k), "{rate: 400Gbps, delay: 1us}", roce), 1)
	j.Threads = threads
	return j
}

// BenchmarkSetUp is everything before the first window for 8,192 hosts, with the topology
// and the placement, and the run of one message across.
func BenchmarkSetUp(b *testing.B) {
	b.Run("hosts=8192", func(b *testing.B) {
		g := permutation(b, 8192, 64)
		n := network(b, "{kind: fat-tree, k: 32}", "{rate: 400Gbps, delay: 1us}", roce)
		forgetPeak()
		b.ResetTimer()
		for range b.N {
			j := job(b, g, n, 1)
			j.StopAt = 1 // the first window
			simulate(b, j)
		}
		b.StopTimer()
		b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s/run")
		b.ReportMetric(peakMB(), "MB-peak")
		b.ReportMetric(0, "ns/op")
	})
}

// BenchmarkScale holds the largest runs: a permutation of 2 MB messages on 8,192 hosts,
// and 1,047,552 messages of 8 KiB between 1,024 hosts, one after another and all at once.
func BenchmarkScale(b *testing.B) {
	for _, c := range []struct {
		name  string
		k     int
		graph func() *graph.Graph
	}{
		{"permutation/hosts=8192", 32, func() *graph.Graph { return permutation(b, 8192, 2_000_000) }},
		{"all-to-all/hosts=1024/sequential", 16, func() *graph.Graph {
			return everyone(b, 1024, graph.AllToAll, "sequential", 1024*8192)
		}},
		{"all-to-all/hosts=1024/interleaved", 16, func() *graph.Graph {
			return everyone(b, 1024, graph.AllToAll, "interleaved", 1024*8192)
		}},
	} {
		for threads := 1; threads <= 2; threads++ {
			b.Run(fmt.Sprintf("%s/threads=%d", c.name, threads), func(b *testing.B) {
				measure(b, fatTree(b, c.graph(), c.k, threads))
			})
		}
	}
}

// BenchmarkAgainstReference is the engine on a small permutation as a multiple of the
// plain reference simulation of the tests, which a machine's speed hardly changes.
func BenchmarkAgainstReference(b *testing.B) {
	for _, c := range []struct{ name, keys string }{{"fifo", ""}, {"pfc", shared}} {
		b.Run("hosts=16/"+c.name, func(b *testing.B) {
			j := job(b, permutation(b, 16, 2_000_000), network(b, "{kind: fat-tree, k: 4}", "{rate: 400Gbps, delay: 1us}", "  switch: {"+c.keys+"}\n"+roce), 1)
			var hops [2]int64
			var cpu [2]float64
			for range b.N {
				before := cpuSeconds()
				hops[0] += finished(b, j).PacketHops
				middle := cpuSeconds()
				_, _, n := refer(j)
				hops[1] += n
				cpu[0], cpu[1] = cpu[0]+middle-before, cpu[1]+cpuSeconds()-middle
			}
			if hops[0] != hops[1] {
				b.Fatalf("%d packet-hops, the reference has %d", hops[0], hops[1])
			}
			b.ReportMetric(float64(hops[0])/cpu[0]/1e6, "Mhops/cpu-s")
			b.ReportMetric(cpu[1]/cpu[0], "x-reference")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// steadyJobs are permutations whose queues do not grow with the length of the messages.
func steadyJobs(t testing.TB) map[string]func(bytes int64) Job {
	jobs := map[string]func(int64) Job{}
	for _, c := range []struct{ name, topology, keys string }{
		{"fifo", "star", ""},
		{"memory", "star", shared},
		{"pauses", "{kind: fat-tree, k: 4}", tight},
	} {
		jobs[c.name] = func(bytes int64) Job {
			return job(t, permutation(t, 16, bytes), network(t, c.topology, "{rate: 400Gbps, delay: 1us}", "  switch: {"+c.keys+"}\n"+roce), 1)
		}
	}
	return jobs
}

// Once buffers have grown to what is in flight nothing is allocated for packets: messages
// eight times as long hardly allocate more often. (Queues of random tides still double now
// and then.)
func TestNoAllocationPerPacket(t *testing.T) {
	if testing.Short() {
		t.Skip("runs of 8,000 packets a host in -short")
	}
	for name, of := range steadyJobs(t) {
		short, long := of(4_000_000), of(32_000_000)
		few := testing.AllocsPerRun(2, func() { finished(t, short) })
		many := testing.AllocsPerRun(2, func() { finished(t, long) })
		// 28 MB more from each of 16 hosts are 109,376 packets more, without their
		// acknowledgements.
		if more := many - few; more > 50 {
			t.Errorf("%s: %v allocations for 4 MB, %v for 32 MB", name, few, many)
		}
	}
}
