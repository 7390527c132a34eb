package networks

import (
	"slices"
	"testing"

	"hybrid/internal/diag"
)

// TestSetKind: with another kind of topology, or another transport, the file's keys of
// the one before go, and those of other overrides stay, whatever their order.
func TestSetKind(t *testing.T) {
	const text = `
levels: {inter_node: {eager_limit: 64KiB, hockney: {latency: 1us, bandwidth: 12GB/s}}}
fabric: {link: {rate: 100Gbps, delay: 500ns}}
nic: {transport: roce, ack_every: 8}
topology: {kind: leaf-spine, hosts_per_leaf: 2, spines: 1}
`
	for _, c := range []struct {
		name     string
		sets     []string
		topology string // of 4 hosts
		keys     int    // left of the nic section
	}{
		{"nothing", nil, "leaf-spine leaves=2 spines=1 hosts_per_leaf=2: 4 hosts, 3 switches, bisection 100Gbps, diameter 4 links", 1},
		{"the same kind", []string{"topology.kind=leaf-spine", "nic.transport=roce"},
			"leaf-spine leaves=2 spines=1 hosts_per_leaf=2: 4 hosts, 3 switches, bisection 100Gbps, diameter 4 links", 1},
		{"another kind", []string{"topology.kind=star"}, "star: 4 hosts, 1 switch, bisection 200Gbps, diameter 2 links", 1},
		{"with its keys", []string{"topology.kind=fat-tree", "topology.k=4"},
			"fat-tree k=4: 16 hosts, 20 switches, bisection 800Gbps, diameter 6 links", 1},
		{"keys first", []string{"topology.k=4", "topology.kind=fat-tree"},
			"fat-tree k=4: 16 hosts, 20 switches, bisection 800Gbps, diameter 6 links", 1},
		{"another transport", []string{"nic.transport=ideal"},
			"leaf-spine leaves=2 spines=1 hosts_per_leaf=2: 4 hosts, 3 switches, bisection 100Gbps, diameter 4 links", 0},
	} {
		var list diag.List
		n := Parse("", []byte(text), c.sets, &list)
		if n == nil {
			t.Errorf("%s: %v", c.name, list.All())
			continue
		}
		topo := n.Topology(4, &list)
		if list.HasErrors() || topo.Describe() != c.topology {
			t.Errorf("%s: topology %q, findings %v", c.name, topo.Describe(), list.All())
		}
		if got := len(n.NIC.Section.Items); got != c.keys {
			t.Errorf("%s: %d keys of the nic section, want %d", c.name, got, c.keys)
		}
	}
}

// TestSuggestsKeysBeside: a mistyped kind is recognised although another reader than
// that of the kind's own keys wants it.
func TestSuggestsKeysBeside(t *testing.T) {
	var list diag.List
	Parse("", []byte("levels: {inter_node: {eager_limit: 64KiB, hockney: {latency: 1us, bandwidth: 12GB/s}}}\n"+
		"fabric: {link: {rate: 100Gbps, delay: 500ns}}\ntopology: {kind: star, knd: star}\n"), nil, &list)
	all := slices.DeleteFunc(list.All(), func(d diag.Diagnostic) bool { return d.Severity != diag.Error })
	if len(all) != 1 || all[0].Message != `unknown key "knd" in topology; did you mean "kind"?` {
		t.Errorf("findings %v", all)
	}
}
