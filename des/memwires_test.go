package des

import "testing"

// Memory is foreseen for packet memories wherever a run has them.
func TestMemoriesAreForeseen(t *testing.T) {
	for keys, want := range map[string]bool{
		"": false, "  routing: {kind: ecmp}\n": false, "  switch: {latency: 300ns}\n": false,
		"  routing: {kind: adaptive}\n": true, "  routing: {kind: flowlet}\n": true, "  switch: {forwarding: cut-through}\n": true,
		"  switch: {buffer: 1MB}\n": true, "  switch: {ecn: {kmin: 1MB}}\n": true,
	} {
		j := job(t, one(t, 2, 10_000), network(t, "star", link400, keys+roceAccept), 1)
		r, _ := runSwitches(t, j)
		if got := EstimateMemory(&j).Memories > 0; got != want || len(r.buffered) > 0 != want {
			t.Errorf("%q: foreseen %t, switches %d, want %t", keys, got, len(r.buffered), want)
		}
	}
}

const roceAccept = "  wire: rocev2\n  mtu: 4096B\nnic: {transport: roce, out_of_order: accept}"
