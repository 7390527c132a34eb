package des

import (
	"strings"
	"testing"
)

// Rates of queue pairs far below that of links, huge packets, repairs after a second, and
// the loss of all pause frames are no standstill, though the guard looks every 100 ms: at
// 1 Mbit/s a packet of 4 KiB starts 33 ms after the one before, one of 1 MiB 8.4 s.
func TestGuardWaits(t *testing.T) {
	for name, c := range map[string]struct {
		bytes        int64
		keys, faults string
	}{
		"slow queue pair":  {40_000, "  wire: rocev2\n  mtu: 4096B\nnic: {transport: roce, rate: 1Mbps}", "[]"},
		"huge packets":     {4 << 20, "  wire: rocev2\n  mtu: 1MiB\nnic: {transport: roce, rate: 1Mbps}", "[]"},
		"huge, with pfc":   {4 << 20, "  switch: {pfc: {xoff: 2MiB}}\n  wire: rocev2\n  mtu: 1MiB\nnic: {transport: roce, rate: 1Mbps}", "[]"},
		"cut-through":      {4 << 20, "  switch: {forwarding: cut-through}\n  wire: rocev2\n  mtu: 1MiB\nnic: {transport: roce, rate: 1Mbps}", "[]"},
		"repaired":         {400_000, roce, "[{link: [server-0, rack-0], at: 3us, until: 1s, direction: forward}]"},
		"all down, pfc":    {400_000, "  switch: {pfc: {xoff: 20KB}}\n" + roce, "[{link: [server-0, rack-0], at: 3us, until: 1s, direction: forward}, {link: [server-2, rack-0], at: 3us, until: 2s, direction: forward}]"},
		"lost pauses":      {400_000, "  switch: {pfc: {xoff: 20KB}}\n" + roce, "[{link: [rack-0, server-0], at: 1ns, direction: forward}]"},
		"slow class, pfc":  {40_000, "  switch: {classes: [{rate: 1Mbps}], pfc: {xoff: 20KB}}\n" + roce, "[]"},
		"slow class, huge": {4 << 20, "  switch: {classes: [{rate: 1Mbps}], pfc: {xoff: 2MiB}}\n  wire: rocev2\n  mtu: 1MiB\nnic: {transport: roce}", "[]"},
	} {
		j := job(t, gather(t, 3, c.bytes), network(t, "{kind: star, hosts: 3}", link400, c.keys+"\nfaults: "+strings.ReplaceAll(c.faults, "server-0", "server-1")), 1)
		j.EndWithAck = false
		for i, rank := range simulate(t, j).Ranks {
			if rank.Finish == 0 {
				t.Errorf("%s: rank %d has not finished: %+v", name, i, simulate(t, j).Verdict)
				break
			}
		}
	}
}

// Pauses stop each other in a circle on a torus, also where switches cut through or take the
// port with the shortest queue; the verdict names it.
func TestCirclesOfOtherSwitches(t *testing.T) {
	for name, c := range map[string]struct{ topology, keys string }{
		"stored":      {"{kind: torus, sizes: [8]}", "  switch: {pfc: {xoff: 40KB, xon: 20KB}}\n" + roce},
		"cut-through": {"{kind: torus, sizes: [8]}", "  switch: {forwarding: cut-through, pfc: {xoff: 40KB, xon: 20KB}}\n" + roce},
		"adaptive":    {"{kind: torus, sizes: [8]}", "  routing: {kind: adaptive}\n  switch: {pfc: {xoff: 40KB, xon: 20KB}}\n" + roceAccept},
		"paced":       {"{kind: torus, sizes: [8]}", "  switch: {classes: [{rate: 399Gbps}], pfc: {xoff: 40KB, xon: 20KB}}\n" + roce},
	} {
		b := newBuilder(t, 8)
		for i := range 8 {
			r := b.Rank(i, true)
			b.send(r, int64(i+2)%8, 0, 2_000_000, 0)
			b.recv(r, int64(i+6)%8, 0, 2_000_000)
			r.Done()
		}
		v := simulate(t, job(t, b.graph(), network(t, c.topology, link400, c.keys), 1)).Verdict
		if v.Stall == nil || len(v.Stall.Circle) != 8 || len(v.Errors) != 1 || !strings.Contains(v.Errors[0].Error(), "in a circle: rack-0") {
			t.Errorf("%s: %+v, stall %+v", name, v, v.Stall)
		}
	}
}
