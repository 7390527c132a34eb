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

// BenchmarkSeries reports what a row of link-stats and queue-stats costs where every link
// carries something in every interval.
func BenchmarkSeries(b *testing.B) {
	const links = 1000
	p := &Platform{Hosts: 2, HostOf: []int32{0, 1}, Nodes: []Node{{"server-0", 3, 0}, {"server-1", 3, 1}}}
	for range links {
		p.Links = append(p.Links, Link{0, 1, units.NewRat(20, 1), 500_000})
	}
	ports, queues := make([]replay.PortCount, links), make([]replay.QueueCount, links)
	r, err := New(oneSend(b), p, Options{Dir: b.TempDir(), Name: "x", Interval: 1e6, LinkInterval: 1e6, Only: []string{"link-stats", "queue-stats"}})
	if err != nil {
		b.Fatal(err)
	}
	if err := r.Begin(units.PicosecondClock()); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for n := range b.N {
		for i := range links {
			ports[i].TxPackets, ports[i].TxBytes = ports[i].TxPackets+12, ports[i].TxBytes+50_000
			queues[i].TxPackets, queues[i].TxBytes, queues[i].Most = queues[i].TxPackets+12, queues[i].TxBytes+50_000, int64(i)*1000
		}
		if err := r.Queues(queues, 1); err != nil {
			b.Fatal(err)
		}
		if err := r.Mark(units.Time(n+1)*1e6, ports, nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(2*links), "ns/row")
}
