package analytic

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"hybrid/internal/diag"
	"hybrid/networks"
)

// What closed forms leave out is named once, in one order.
func TestIgnoredNotes(t *testing.T) {
	const head = "name: n\nsummary: n\nsource: s\nlevels:\n  inter_node:\n    eager_limit: 64KiB\n    hockney: {latency: 1us, bandwidth: 50GB/s}\ntopology: {kind: star, hosts: 2}\nfabric:\n  link: {rate: 400Gbps, delay: 1us}\n"
	for keys, want := range map[string][]string{
		"": nil,
		"  routing: {kind: spray}\n  switch: {forwarding: cut-through}\nfaults: [{link: [0, 2], loss: 0.1}]\n": {
			"closed forms have no links and no switches: of the network's file they leave out faults, fabric.routing, cut-through"},
		"faults: [{link: [0, 2], at: 1us}]\n": {"closed forms have no links and no switches: of the network's file they leave out faults"},
	} {
		var list diag.List
		n := networks.Parse("n.yml", []byte(head+keys), nil, &list)
		if n == nil {
			t.Fatalf("%q: %v", keys, list.Err())
		}
		if diff := cmp.Diff(want, ignoredNotes(n)); diff != "" {
			t.Errorf("%q: %s", keys, diff)
		}
	}
}
