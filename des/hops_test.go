package des

import (
	"fmt"
	"strings"
	"testing"

	"hybrid/des/fabric"
)

// The packets of all classes at all ports are the packet-hops of the result, and the drops of
// ports those of switches and links that are down, whatever routes, cut-through, rates and
// faults do.
func TestQueuesAddUpToHops(t *testing.T) {
	for name, random := range map[string]func(uint64) (Job, string){
		"routes":      func(seed uint64) (Job, string) { return randomRoutedJob(t, seed) },
		"cut-through": func(seed uint64) (Job, string) { return randomCutJob(t, seed) },
		"faults":      func(seed uint64) (Job, string) { return randomFaultJob(t, seed) },
		"ecmp":        func(seed uint64) (Job, string) { return randomSwitchJob(t, seed) },
	} {
		dropped := int64(0)
		for seed := range cases(24) {
			j, keys := random(seed)
			if strings.Contains(keys, "{transport: ideal}") {
				continue
			}
			p := &tape{every: 83_560}
			j.Recorder = p
			r, res := runSwitches(t, j)
			var hops, told, want int64
			for i := range p.queues {
				hops += p.queues[i].TxPackets
			}
			for i := range p.last {
				told += p.last[i].TxDrops
			}
			for _, s := range r.buffered {
				want += s.Tally.Drops
			}
			if r.faults != nil {
				for _, f := range r.faults.list {
					want += f.Lost[fabric.LinkDown]
				}
			}
			dropped += told
			if hops != res.PacketHops && len(p.last) > 0 || told != want {
				t.Fatalf("%s: %d packets at queues, %d hops; %d drops of ports, want %d", fmt.Sprintf("%s, case %d\n%s", name, seed, keys), hops, res.PacketHops, told, want)
			}
		}
		if dropped == 0 && name == "faults" && !testing.Short() {
			t.Errorf("%s: nothing is dropped", name)
		}
	}
}
