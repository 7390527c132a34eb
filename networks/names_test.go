package networks

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"hybrid/internal/diag"
)

// Nodes are named by tier and number; a file's own names go before that.
func TestNodeNames(t *testing.T) {
	for _, c := range []struct {
		set   string
		hosts int
		want  []string
	}{
		{"topology={kind: star}", 3, []string{"server-0", "server-1", "server-2", "rack-0"}},
		{"topology={kind: direct}", 2, []string{"server-0", "server-1"}},
		{"topology={kind: leaf-spine, leaves: 2, spines: 1, hosts_per_leaf: 1}", 2, []string{"server-0", "server-1", "rack-0", "rack-1", "spine-0"}},
		{"topology={kind: fat-tree, k: 2}", 2, []string{"server-0", "server-1", "rack-0", "rack-1", "fabric-0", "fabric-1", "spine-0"}},
	} {
		var list diag.List
		n := Load("roce-leaf-spine-400g", []string{c.set}, &list)
		if n == nil {
			t.Fatal(list.Err())
		}
		topo := n.Topology(c.hosts, &list)
		if topo == nil {
			t.Fatal(list.Err())
		}
		if diff := cmp.Diff(c.want, NodeNames(topo)); diff != "" {
			t.Errorf("%s: %s", c.set, diff)
		}
		half := namedTopology{topo}
		c.want[1] = "mine"
		if diff := cmp.Diff(c.want, NodeNames(half)); diff != "" {
			t.Errorf("%s with a name: %s", c.set, diff)
		}
	}
}

// namedTopology gives node 1 a name.
type namedTopology struct{ Topology }

func (namedTopology) Name(node int32) string {
	if node == 1 {
		return "mine"
	}
	return ""
}

// Nodes are found by name, by number among all, and by number among hosts or switches.
func TestNamesFind(t *testing.T) {
	topo, found := build(t, "{kind: leaf-spine, leaves: 2, spines: 1, hosts_per_leaf: 2}", 4)
	if topo == nil {
		t.Fatal(found)
	}
	names := NewNames(topo)
	for text, want := range map[string]int32{"server-3": 3, "3": 3, "host 3": 3, "rack-1": 5, "4": 4, "switch 2": 6, "spine-0": 6,
		"host 4": -1, "switch 3": -1, "7": -1, "-1": -1, "host": -1, "host ": -1, "switch -1": -1, "rack": -1, "": -1, "host host 1": -1} {
		node, ok := names.Find(text)
		if !ok {
			node = -1
		}
		if node != want {
			t.Errorf("%q is %d, want %d", text, node, want)
		}
	}
}
