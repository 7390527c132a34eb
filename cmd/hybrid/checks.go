package main

import (
	"slices"

	"hybrid/graph"
	"hybrid/graph/collective"
	"hybrid/internal/diag"
	"hybrid/networks"
)

// checkCollectives holds the default algorithms of a network file against the table.
func checkCollectives(n *networks.Network, list *diag.List) {
	table := collective.NewTable()
	var types []string
	for t := range n.Collectives {
		types = append(types, t)
	}
	slices.Sort(types)
	for _, name := range types {
		pos := diag.Pos{File: n.File}
		if node := n.Doc.At("collectives", name); node != nil {
			pos = node.Pos
		}
		t, ok := graph.CollTypeNamed(name)
		if !ok {
			list.Errorf("E406", pos, "no collective is called %q%s", name, diag.DidYouMean(name, collTypes()))
			continue
		}
		if algorithm := n.Collectives[name]; table.Find(t, algorithm) == nil {
			list.Errorf("E406", pos, "%s has no algorithm %q%s", name, algorithm, diag.DidYouMean(algorithm, table.Names(t))).
				Note("its algorithms: %s", table.Choices(t))
		}
	}
}
