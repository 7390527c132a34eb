package records

import (
	"testing"

	"hybrid/graph"
	"hybrid/graph/replay"
	"hybrid/internal/units"
)

// BenchmarkRecord reports the events a second that become records: 64 ranks, ring
// allreduces of 64 transfers a rank, all tables and annotated traces.
func BenchmarkRecord(b *testing.B) {
	const ranks = 64
	g := traces(b, ranks, func(m *maker) {
		var after []int32
		for k := range int64(2) {
			after = []int32{m.collective(graph.AllReduce, "ring", k, 1<<20, graph.Synchronize, after...)}
		}
	})
	e := run(g, units.Never)
	p := &Platform{Hosts: ranks, HostOf: make([]int32, ranks)}
	for i := range ranks {
		p.HostOf[i] = int32(i)
		p.Nodes = append(p.Nodes, Node{"server-" + itoa(int64(i)), 3, int32(i)})
	}
	for _, c := range []struct {
		name string
		opt  Options
	}{
		{"form=csv", Options{}}, {"form=parquet", Options{Format: Parquet}},
		{"form=csv/only=chakra-perf", Options{Only: []string{"chakra-perf"}}},
		{"form=csv/only=collectives", Options{Only: []string{"chakra-comm-collective-stats", "chakra-comm-collective-percentiles-stats"}}},
		{"form=json/only=annotated-traces", Options{Only: []string{annotatedRecord}}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				opt := c.opt
				opt.Dir, opt.Interval, opt.DeviceInterval = b.TempDir(), 1e9, 1e9
				r, err := New(g, p, opt)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := e.deliver(r, 1e6, replay.Finished, nil); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)*float64(len(e.events))/b.Elapsed().Seconds(), "events/s")
		})
	}
}
