package des

import (
	"testing"

	"hybrid/graph/replay"
	"hybrid/internal/units"
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

// BenchmarkRecording is what a recorder costs: the programs of BenchmarkStencil and
// BenchmarkPermutation, without one and with one that keeps nothing, and marks 10 us of
// simulated time apart.
func BenchmarkRecording(b *testing.B) {
	for _, c := range []struct {
		name string
		job  Job
	}{
		{"stencil", job(b, stencil(b, 9, 8, 200), network(b, "{kind: fat-tree, k: 8}", "{rate: 200Gbps, delay: 500ns}", roce), 8)},
		{"permutation", job(b, permutation(b, 128, 2_000_000), network(b, "{kind: fat-tree, k: 8}", "{rate: 400Gbps, delay: 1us}", roce), 1)},
	} {
		for _, mode := range []string{"off", "events", "marks"} {
			b.Run(c.name+"/recorder="+mode, func(b *testing.B) {
				rec := &counter{every: units.Never}
				j := c.job
				if mode != "off" {
					j.Recorder = rec
				}
				if mode == "marks" {
					rec.every = 10_000_000
				}
				var hops int64
				cpu := cpuSeconds()
				for range b.N {
					hops += finished(b, j).PacketHops
				}
				cpu = cpuSeconds() - cpu
				b.ReportMetric(float64(hops)/cpu/1e6, "Mhops/cpu-s")
				b.ReportMetric(float64(rec.events)/cpu/1e6, "Mevents/cpu-s")
				b.ReportMetric(float64(rec.marks)/float64(b.N), "marks")
				b.ReportMetric(1e3*cpu/float64(b.N), "cpu-ms/run")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}
