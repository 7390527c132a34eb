package des

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"hybrid/des/fabric"
	"hybrid/des/sim"
	"hybrid/internal/units"
	"hybrid/networks"
)

// pump is a host without a NIC: it sends packets back to back and forgets what arrives.
type pump struct {
	in       *sim.Inputs
	wire     fabric.Wire
	packet   sim.Record
	left     int
	received int
}

// Step implements [sim.Process].
func (p *pump) Step(w *sim.Worker) units.Time {
	got, later := p.in.Gather(w)
	p.received += len(got)
	for ; p.left > 0 && p.wire.Free < w.End; p.left-- {
		p.wire.Send(w, &p.packet, p.wire.Free)
		p.packet.PSN++
	}
	if p.left > 0 {
		later = min(later, p.wire.Free)
	}
	return later
}

// openLoop wires pumps to the switches of a topology: each host sends packets of 4,166 B
// to another.
func openLoop(topo networks.Topology, packets int) (*sim.Kernel, sim.Config, []*pump) {
	links, hosts, nodes := topo.Links(), topo.Hosts(), topo.Hosts()+topo.Switches()
	process := processOrder(links, hosts, nodes)
	to := make([]int32, len(links))
	for id, l := range links {
		to[id] = process[l.To]
	}
	k := sim.NewKernel(nodes, to)
	m := &fabric.Medium{Clock: units.NewClock(links[0].PerByte), Hosts: int32(hosts)}
	wires, first := make([][]fabric.Wire, nodes), make([]int32, nodes)
	for id, l := range links {
		if wires[l.From] == nil {
			first[l.From] = int32(id)
		}
		wires[l.From] = append(wires[l.From], fabric.NewWire(m, l, k.Channel(id)))
	}
	target := rand.New(rand.NewPCG(1, 2)).Perm(hosts)
	procs, pumps := make([]sim.Process, nodes), make([]*pump, hosts)
	for i := range nodes {
		in := k.Inputs(process[i])
		if i >= hosts {
			procs[process[i]] = fabric.NewSwitch(topo, int32(i), first[i], wires[i], in, 1)
			continue
		}
		r := sim.Record{Dst: sim.Pack(int32(target[i]), 0), Src: sim.Pack(int32(i), 0), Size: 4166}
		pumps[i] = &pump{in: in, wire: wires[i][0], packet: r, left: packets}
		procs[process[i]] = pumps[i]
		k.Due(process[i], 0)
	}
	return k, sim.Config{Processes: procs, Window: m.LookAhead(links[0]), Threads: 1, Stop: units.Never}, pumps
}

// BenchmarkOpenLoop is the permutation without NICs: packets of first-in-first-out
// switches only, 489 from each host, without acknowledgements.
func BenchmarkOpenLoop(b *testing.B) {
	for _, c := range []struct{ k, threads int }{{8, 1}, {16, 1}, {16, 2}} {
		hosts := c.k * c.k * c.k / 4
		b.Run(fmt.Sprintf("hosts=%d/threads=%d", hosts, c.threads), func(b *testing.B) {
			n := network(b, fmt.Sprintf("{kind: fat-tree, k: %d}", c.k), "{rate: 400Gbps, delay: 1us}", roce)
			topo := job(b, permutation(b, hosts, 64), n, 1).Topology
			const packets = 489
			var hops int64
			var cpu float64
			b.ResetTimer()
			for range b.N {
				b.StopTimer()
				k, cfg, pumps := openLoop(topo, packets)
				cfg.Threads = c.threads
				b.StartTimer()
				before := cpuSeconds()
				k.Run(context.Background(), cfg)
				cpu += cpuSeconds() - before
				for _, w := range k.Workers() {
					hops += w.Hops
				}
				for i, p := range pumps {
					if p.received != packets {
						b.Fatalf("host %d has received %d packets", i, p.received)
					}
				}
			}
			b.StopTimer()
			b.ReportMetric(float64(hops)/cpu/1e6, "Mhops/cpu-s")
			b.ReportMetric(float64(hops)/b.Elapsed().Seconds()/1e6, "Mhops/s")
			b.ReportMetric(0, "ns/op")
		})
	}
}
