package des

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"hybrid/des/fabric"
	"hybrid/des/sim"
	"hybrid/internal/units"
	"hybrid/networks"
)

// openSource sends packets of one size to one host, back to back, and counts what comes: a
// host without a NIC's reaction.
type openSource struct {
	in       *sim.Inputs
	wire     fabric.Wire
	next     sim.Record
	left     int
	received int64
}

func (s *openSource) Step(w *sim.Worker) units.Time {
	later := units.Never
	busy := s.in.Busy()
	for slot := range s.in.Len() {
		if busy[slot>>6]>>(slot&63)&1 == 0 {
			continue
		}
		c := s.in.At(slot)
		for part := c.Take(w.End); len(part) > 0; part = c.Take(w.End) {
			s.received += int64(len(part))
		}
		later = min(later, s.in.Settle(slot))
	}
	for ; s.left > 0 && s.wire.Free < w.End; s.left-- {
		s.wire.Send(w, &s.next, max(s.wire.Free, w.Start))
		s.next.PSN++
	}
	if s.left > 0 {
		later = min(later, s.wire.Free)
	}
	return later
}

// openLoop lets every host of a network send packets to another, and runs until all have
// come.
func openLoop(t testing.TB, topo networks.Topology, packets int, size uint32, threads int) (hops int64) {
	links, hosts, nodes := topo.Links(), topo.Hosts(), topo.Hosts()+topo.Switches()
	clock := units.PicosecondClock()
	m := &fabric.Medium{Clock: clock, Hosts: int32(hosts)}
	process := processOrder(links, hosts, nodes)
	to := make([]int32, len(links))
	for id, l := range links {
		to[id] = process[l.To]
	}
	k := sim.NewKernel(nodes, to)
	wires, first := make([][]fabric.Wire, nodes), make([]int32, nodes)
	window := units.Never
	for id, l := range links {
		if wires[l.From] == nil {
			first[l.From] = int32(id)
		}
		wires[l.From] = append(wires[l.From], fabric.NewWire(m, l, k.Channel(id)))
		window = min(window, m.LookAhead(l)+clock.Span(l.PerByte, int64(size)))
	}
	procs := make([]sim.Process, nodes)
	perm := rand.New(rand.NewPCG(1, 2)).Perm(hosts)
	sources := make([]openSource, hosts)
	for i := range sources {
		sources[i] = openSource{in: k.Inputs(process[i]), wire: wires[i][0], left: packets,
			next: sim.Record{Dst: sim.Pack(int32(perm[i]), 0), Src: sim.Pack(int32(i), 0), Size: size}}
		procs[process[i]] = &sources[i]
		k.Due(process[i], 0)
	}
	for n := hosts; n < nodes; n++ {
		procs[process[n]] = fabric.NewSwitch(topo, int32(n), first[n], wires[n], k.Inputs(process[n]), 1)
	}
	if end := k.Run(context.Background(), sim.Config{Processes: procs, Window: window, Threads: threads, Stop: units.Never}); end != sim.Drained {
		t.Fatal(end, k.Err)
	}
	received := int64(0)
	for i := range sources {
		received += sources[i].received
	}
	if want := int64(hosts * packets); received != want {
		t.Fatalf("%d packets received, %d sent", received, want)
	}
	for _, w := range k.Workers() {
		hops += w.Hops
	}
	return hops
}

// BenchmarkOpenLoop is the permutation of 2 MB a host without acknowledgements, queue pairs
// and host processors: the speed of links and switches.
func BenchmarkOpenLoop(b *testing.B) {
	for _, c := range []struct{ k, threads int }{{8, 1}, {16, 1}, {16, 2}} {
		hosts := c.k * c.k * c.k / 4
		b.Run(fmt.Sprintf("hosts=%d/threads=%d", hosts, c.threads), func(b *testing.B) {
			n := network(b, fmt.Sprintf("{kind: fat-tree, k: %d}", c.k), "{rate: 400Gbps, delay: 1us}", "")
			topo := job(b, permutation(b, hosts, 1), n, 1).Topology
			var hops int64
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			cpu := cpuSeconds()
			for range b.N {
				hops += openLoop(b, topo, 489, 4178, c.threads)
			}
			cpu = cpuSeconds() - cpu
			runtime.ReadMemStats(&after)
			b.ReportMetric(float64(hops)/cpu/1e6, "Mhops/cpu-s")
			b.ReportMetric(float64(hops)/b.Elapsed().Seconds()/1e6, "Mhops/s")
			b.ReportMetric(float64(after.Mallocs-before.Mallocs)/float64(hops), "allocs/hop")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// In an open loop all packets come, however many threads there are.
func TestOpenLoop(t *testing.T) {
	topo := job(t, permutation(t, 16, 1), network(t, "{kind: fat-tree, k: 4}", "{rate: 400Gbps, delay: 1us}", ""), 1).Topology
	one, two := openLoop(t, topo, 20, 4178, 1), openLoop(t, topo, 20, 4178, 2)
	if one != two || one < 16*20 {
		t.Errorf("%d and %d packet-hops", one, two)
	}
}
