package nic

import (
	"hybrid/des/fabric"
	"hybrid/des/sim"
	"hybrid/internal/units"
)

// faults is what a NIC knows of links that fail.
type faults struct {
	epochs []fabric.Epoch
	ports  []*fabric.LinkFaults // nil for those without
	all    []int32              // scratch
	alive  []int32              // scratch
}

// Detour tells a NIC of the faults of its links, nil for those without, and of the epochs
// of the run. A port whose link is down waits for it; queue pairs opened meanwhile, and
// acknowledgements, take the others.
func (n *NIC) Detour(epochs []fabric.Epoch, ports []*fabric.LinkFaults) {
	n.faults = &faults{epochs: epochs, ports: ports}
	for i := range n.ports {
		n.ports[i].stopped = n.ports[i].wire.Faulty()
	}
}

// around is output where links fail.
func (n *NIC) around(r *sim.Record) int32 {
	list := n.live(r)
	if len(list) == 1 {
		return list[0]
	}
	return list[fabric.Choose(fabric.FlowHash(r)^n.salt, int32(len(list)))]
}

// live returns the ports on shortest ways whose links are up at time r.T, or all of them if
// none is. They are valid until the next call.
func (n *NIC) live(r *sim.Record) []int32 {
	f := n.faults
	f.all = f.all[:0]
	if i := fabric.EpochAt(f.epochs, r.T); i >= 0 && f.epochs[i].Ways != nil {
		f.all = f.epochs[i].Ways.FromHost(n.node, r.To(), f.all)
	}
	if len(f.all) == 0 { // no way is known: what the topology says
		first, count := n.topo.Next(n.node, r.To())
		for i := range count {
			f.all = append(f.all, first-n.first+i)
		}
	}
	f.alive = f.alive[:0]
	for _, p := range f.all {
		if x := f.ports[p]; x == nil || !x.Dead(r.T) {
			f.alive = append(f.alive, p)
		}
	}
	if len(f.alive) == 0 {
		return f.all
	}
	return f.alive
}

// Disconnected visits the links that are down for good and have frames that wait for them.
func (n *NIC) Disconnected(visit func(link int32)) {
	for _, d := range n.due {
		if d.at == units.Never {
			visit(n.first + d.port)
		}
	}
}
