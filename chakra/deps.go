package chakra

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// idIndex finds the position of a node by its id.
type idIndex struct {
	base  uint64
	dense []int32 // position + 1, if ids are dense
	byID  []int32 // else positions in order of ids
	nodes []node
}

// newIDIndex indexes the nodes; twice is a position whose id occurs before, or -1.
func newIDIndex(nodes []node) (x idIndex, twice int32) {
	x.nodes = nodes
	if len(nodes) == 0 {
		return x, -1
	}
	lo, hi := nodes[0].id, nodes[0].id
	for i := range nodes {
		lo, hi = min(lo, nodes[i].id), max(hi, nodes[i].id)
	}
	if hi-lo < 4*uint64(len(nodes))+1024 {
		return x, x.fillDense(lo, hi)
	}
	x.byID = make([]int32, len(nodes))
	for i := range x.byID {
		x.byID[i] = int32(i)
	}
	slices.SortStableFunc(x.byID, func(a, b int32) int { return cmp.Compare(nodes[a].id, nodes[b].id) })
	for i := 1; i < len(x.byID); i++ {
		if nodes[x.byID[i]].id == nodes[x.byID[i-1]].id {
			return x, x.byID[i]
		}
	}
	return x, -1
}

func (x *idIndex) fillDense(lo, hi uint64) (twice int32) {
	x.base, x.dense = lo, make([]int32, hi-lo+1)
	twice = -1
	for i := range x.nodes {
		p := &x.dense[x.nodes[i].id-lo]
		if *p != 0 && twice < 0 {
			twice = int32(i)
		}
		*p = int32(i) + 1
	}
	return twice
}

// at returns the position of an id, or -1.
func (x *idIndex) at(id uint64) int32 {
	if x.dense != nil {
		if id < x.base || id-x.base >= uint64(len(x.dense)) {
			return -1
		}
		return x.dense[id-x.base] - 1
	}
	i, ok := slices.BinarySearchFunc(x.byID, id, func(p int32, id uint64) int { return cmp.Compare(x.nodes[p].id, id) })
	if !ok {
		return -1
	}
	return x.byID[i]
}

// edges are the resolved dependencies: node i waits for to[start[i]:start[i+1]].
type edges struct {
	start, to []int32
	// missing counts the dependencies on ids that no node has.
	missing int
}

func (e *edges) of(i int32) []int32 { return e.to[e.start[i]:e.start[i+1]] }

// resolve turns the chosen dependency lists into positions. Duplicates count once.
func (t *trace) resolve(x *idIndex, ctrl, data bool) edges {
	e := edges{start: make([]int32, len(t.nodes)+1), to: make([]int32, 0, len(t.ctrl)+len(t.data))}
	stamp := make([]int32, len(t.nodes))
	for i := range t.nodes {
		n := &t.nodes[i]
		add := func(ids []uint64) {
			for _, id := range ids {
				p := x.at(id)
				if p < 0 {
					e.missing++
				} else if stamp[p] != int32(i)+1 {
					stamp[p] = int32(i) + 1
					e.to = append(e.to, p)
				}
			}
		}
		if data {
			add(t.data[n.dataLo:n.dataHi])
		}
		if ctrl {
			add(t.ctrl[n.ctrlLo:n.ctrlHi])
		}
		e.start[i+1] = int32(len(e.to))
	}
	return e
}

// blocked reports whether every node waits for another one.
func (e *edges) blocked() bool {
	for i := range len(e.start) - 1 {
		if e.start[i] == e.start[i+1] {
			return false
		}
	}
	return true
}

// selfDependency returns the first node that waits for itself, or -1.
func (e *edges) selfDependency() int32 {
	for i := int32(0); int(i)+1 < len(e.start); i++ {
		if slices.Contains(e.of(i), i) {
			return i
		}
	}
	return -1
}

// cycle returns the nodes of one dependency cycle, each waiting for the next, or
// nil. It removes nodes without open dependencies until none is left (Kahn, 1962);
// no recursion, so that chains may be of any length.
func (e *edges) cycle() []int32 {
	n := len(e.start) - 1
	open := make([]int32, n)
	first := make([]int32, n+1)
	for _, d := range e.to {
		first[d+1]++
	}
	for i := range n {
		first[i+1] += first[i]
	}
	dependents := make([]int32, len(e.to))
	fill := slices.Clone(first[:n])
	for i := range int32(n) {
		open[i] = e.start[i+1] - e.start[i]
		for _, d := range e.of(i) {
			dependents[fill[d]] = i
			fill[d]++
		}
	}
	ready := make([]int32, 0, n)
	for i := range int32(n) {
		if open[i] == 0 {
			ready = append(ready, i)
		}
	}
	for k := 0; k < len(ready); k++ {
		for _, d := range dependents[first[ready[k]]:first[ready[k]+1]] {
			if open[d]--; open[d] == 0 {
				ready = append(ready, d)
			}
		}
	}
	if len(ready) == n {
		return nil
	}
	return e.walkCycle(open)
}

// walkCycle follows unfinished dependencies until a node comes up again.
func (e *edges) walkCycle(open []int32) []int32 {
	at := int32(slices.IndexFunc(open, func(n int32) bool { return n > 0 }))
	seen := map[int32]int{}
	var path []int32
	for {
		if k, ok := seen[at]; ok {
			return path[k:]
		}
		seen[at] = len(path)
		path = append(path, at)
		deps := e.of(at)
		at = deps[slices.IndexFunc(deps, func(d int32) bool { return open[d] > 0 })]
	}
}

// cycleText lists a cycle, shortened in the middle.
func (t *trace) cycleText(cycle []int32) string {
	const shown = 8
	var parts []string
	for i, p := range cycle {
		if i == shown {
			parts = append(parts, fmt.Sprintf("... %d more nodes", len(cycle)-shown))
			break
		}
		parts = append(parts, t.nodeText(&t.nodes[p]))
	}
	parts = append(parts, t.nodeText(&t.nodes[cycle[0]]))
	return strings.Join(parts, " waits for ")
}

// dependencies checks and returns the dependencies of a rank by the chosen mode.
func (l *rankLoader) dependencies() (edges, bool) {
	x, twice := newIDIndex(l.t.nodes)
	if twice >= 0 {
		n := &l.t.nodes[twice]
		l.f.errorf("E706", l.file, l.at(n), "the id %d stands for two nodes of this file", n.id)
		return edges{}, false
	}
	mode := l.opt.Dependencies
	e := l.t.resolve(&x, mode != "data", mode != "ctrl")
	cycle := e.cycle()
	if cycle == nil {
		l.reportMissing(&x, &e, mode != "data", mode != "ctrl")
		return e, true
	}
	n := &l.t.nodes[cycle[0]]
	if mode == "auto" && len(l.t.data) > 0 {
		data := l.t.resolve(&x, false, true)
		if data.cycle() == nil {
			l.f.warnf("W704", "", l.at(n), "control and data dependencies together are cyclic, so only the data dependencies count: %s", l.t.cycleText(cycle))
			l.reportMissing(&x, &data, false, true)
			return data, true
		}
	}
	if e.blocked() {
		l.f.warnf("W711", "", l.at(n), "no node of rank %d is ready at the start, so the rank ends at once: %s", l.rank, l.t.cycleText(cycle))
		l.reportMissing(&x, &e, mode != "data", mode != "ctrl")
		return e, true
	}
	if i := e.selfDependency(); i >= 0 {
		l.f.errorf("E707", l.file, l.at(&l.t.nodes[i]), "waits for itself")
		return e, false
	}
	l.f.errorf("E708", l.file, l.at(n), "the dependencies are cyclic: %s", l.t.cycleText(cycle))
	return e, false
}

// reportMissing names the dependencies that were dropped.
func (l *rankLoader) reportMissing(x *idIndex, e *edges, ctrl, data bool) {
	if e.missing == 0 {
		return
	}
	report := func(n *node, ids []uint64) {
		for _, id := range ids {
			if x.at(id) < 0 {
				l.f.warnf("W703", "", l.at(n), "waits for node %d, which is not in the file; the dependency is dropped", id)
			}
		}
	}
	for i := range l.t.nodes {
		n := &l.t.nodes[i]
		if data {
			report(n, l.t.data[n.dataLo:n.dataHi])
		}
		if ctrl {
			report(n, l.t.ctrl[n.ctrlLo:n.ctrlHi])
		}
	}
}
