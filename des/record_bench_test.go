package des

import (
	"fmt"
	"testing"

	"hybrid/graph/replay"
	"hybrid/internal/units"
	"hybrid/networks"
)

// counter is a recorder that keeps nothing.
type counter struct {
	every, next units.Time
	events      int64
	marks       int64
}

func (c *counter) Begin(units.Clock) error { c.next = c.every; return nil }
func (c *counter) Events(events []replay.Event) error {
	c.events += int64(len(events))
	return nil
}
func (c *counter) Parts([]replay.CollectiveEnd) error { return nil }
func (c *counter) NextMark() units.Time               { return c.next }
func (c *counter) Mark(units.Time, []replay.PortCount, []replay.PortCount) error {
	c.marks++
	c.next += c.every
	return nil
}
func (c *counter) End(*replay.Result, []replay.PortCount, []replay.PortCount) error { return nil }

// series is a counter that wants what regular series of links and queues need.
type series struct {
	counter
	rows int64
}

func (*series) Wants() replay.Wants { return replay.Wants{Queues: true} }

func (s *series) Queues(queues []replay.QueueCount, _ int) error {
	for i := range queues {
		if queues[i].TxPackets > 0 {
			s.rows++
		}
	}
	return nil
}

// BenchmarkRecording is what a recorder costs: programs of other benchmarks without one,
// with one that keeps nothing of all events, and with one that looks at the counters of
// links and queues at the default interval of series, 1 ms of simulated time, at a tenth
// of it, and at 10 us.
func BenchmarkRecording(b *testing.B) {
	tree := func(k int, keys string) *networks.Network {
		return network(b, fmt.Sprintf("{kind: fat-tree, k: %d}", k), "{rate: 400Gbps, delay: 1us}", "  switch: {"+keys+"}\n"+roce)
	}
	for _, c := range []struct {
		name string
		job  Job
	}{
		{"stencil", job(b, stencil(b, 9, 8, 200), network(b, "{kind: fat-tree, k: 8}", "{rate: 200Gbps, delay: 500ns}", roce), 8)},
		{"permutation/hosts=128/fifo", job(b, permutation(b, 128, 2_000_000), tree(8, ""), 1)},
		{"permutation/hosts=128/pfc", job(b, permutation(b, 128, 2_000_000), tree(8, shared), 1)},
		{"permutation/hosts=1024/fifo", job(b, permutation(b, 1024, 2_000_000), tree(16, ""), 1)},
		{"permutation/hosts=1024/pfc", job(b, permutation(b, 1024, 2_000_000), tree(16, shared), 1)},
	} {
		for _, mode := range []struct {
			name  string
			every units.Time
			all   bool
		}{{"off", 0, false}, {"events", units.Never, true}, {"series/every=1ms", 1_000_000_000, false}, {"series/every=100us", 100_000_000, false}, {"series/every=10us", 10_000_000, false}} {
			b.Run(c.name+"/"+mode.name, func(b *testing.B) {
				rec := &series{counter: counter{every: mode.every}}
				j := c.job
				switch {
				case mode.all:
					j.Recorder = &rec.counter
				case mode.every > 0:
					j.Recorder = rec
				}
				var hops int64
				cpu := cpuSeconds()
				for range b.N {
					hops += finished(b, j).PacketHops
				}
				cpu = cpuSeconds() - cpu
				b.ReportMetric(float64(hops)/cpu/1e6, "Mhops/cpu-s")
				b.ReportMetric(float64(rec.events)/float64(b.N), "events/run")
				b.ReportMetric(float64(rec.marks)/float64(b.N), "marks/run")
				b.ReportMetric(float64(rec.rows)/float64(b.N), "rows/run")
				b.ReportMetric(1e3*cpu/float64(b.N), "cpu-ms/run")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}
