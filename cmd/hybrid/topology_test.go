package main

import (
	"testing"

	"hybrid/internal/diag"
	"hybrid/networks"
)

// Faults, printed topologies and records name nodes alike.
func TestNodeNames(t *testing.T) {
	for _, topology := range []string{"direct", "star", "leaf-spine", "{kind: fat-tree, k: 4}", "{kind: torus, dimensions: 2}", "dragonfly", "{kind: multi-plane, plane: rail}"} {
		var list diag.List
		n := networks.Parse("t.yml", []byte("fabric: {link: {rate: 400Gbps, delay: 500ns}}\ntopology: "+topology+"\n"), nil, &list)
		topo := n.Topology(16, &list)
		if topo == nil {
			t.Fatal(list.Err())
		}
		names := networks.NodeNames(topo)
		for i, node := range recordNodes(topo) {
			if node.Name != names[i] {
				t.Errorf("%s: node %d is %s in records, %s elsewhere", topology, i, node.Name, names[i])
			}
		}
	}
}
