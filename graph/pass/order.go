package pass

import (
	"slices"

	"hybrid/graph"
)

// order keeps a topological order of a program's operations while edges are added
// (Pearce and Kelly, A dynamic topological sort algorithm for directed acyclic
// graphs, 2006): an edge that fits costs nothing, one that does not reorders only
// what lies between its ends.
type order struct {
	p            *graph.Program
	pos          []int32 // place of each operation in the order
	after        map[int32][]int32
	before       map[int32][]int32
	mark         []bool
	ahead, trail []int32
}

// newOrder returns nil for a program with a cycle.
func newOrder(p *graph.Program) *order {
	n := len(p.Ops)
	o := &order{p: p, pos: make([]int32, n), mark: make([]bool, n), after: map[int32][]int32{}, before: map[int32][]int32{}}
	left := make([]int32, n)
	queue := make([]int32, 0, n)
	for i := range p.Ops {
		if left[i] = p.Ops[i].DepHi - p.Ops[i].DepLo; left[i] == 0 {
			queue = append(queue, int32(i))
		}
	}
	for i := 0; i < len(queue); i++ {
		o.pos[queue[i]] = int32(i)
		for _, d := range p.Dependents(queue[i]) {
			if left[d]--; left[d] == 0 {
				queue = append(queue, d)
			}
		}
	}
	if len(queue) < n {
		return nil
	}
	return o
}

// add lets to wait for from and reports false if from already waits for to.
func (o *order) add(from, to int32) bool {
	if from == to {
		return false
	}
	for _, d := range o.p.OpDeps(to) {
		if d.Target == from {
			return true
		}
	}
	if o.pos[from] > o.pos[to] {
		o.ahead, o.trail = o.ahead[:0], o.trail[:0]
		if o.forward(to, from) {
			o.unmark()
			return false
		}
		o.backward(from, o.pos[to])
		o.reorder()
		o.unmark()
	}
	o.after[from] = append(o.after[from], to)
	o.before[to] = append(o.before[to], from)
	return true
}

// split returns how many operations of the list, each of which leads to the next, do
// not depend on op.
func (o *order) split(op int32, list []int32) int {
	lo, hi := 0, len(list)
	for lo < hi {
		mid := (lo + hi) / 2
		if o.leads(op, list[mid]) {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}

// leads reports whether there is a way from one operation to another.
func (o *order) leads(from, to int32) bool {
	if o.pos[from] >= o.pos[to] {
		return from == to
	}
	o.ahead, o.trail = o.ahead[:0], o.trail[:0]
	found := o.forward(from, to)
	o.unmark()
	return found
}

// remove takes an added edge away and reports whether it was there. The order of the
// operations stays valid.
func (o *order) remove(from, to int32) bool {
	i := slices.Index(o.before[to], from)
	if i < 0 {
		return false
	}
	j := slices.Index(o.after[from], to)
	o.before[to] = slices.Delete(o.before[to], i, i+1)
	o.after[from] = slices.Delete(o.after[from], j, j+1)
	return true
}

// forward collects what lies behind at and not behind goal in the order, and
// reports whether it meets goal.
func (o *order) forward(at, goal int32) bool {
	o.mark[at] = true
	o.ahead = append(o.ahead, at)
	for i := 0; i < len(o.ahead); i++ {
		n := o.ahead[i]
		for _, list := range [][]int32{o.p.Dependents(n), o.after[n]} {
			for _, d := range list {
				if d == goal {
					return true
				}
				if !o.mark[d] && o.pos[d] < o.pos[goal] {
					o.mark[d] = true
					o.ahead = append(o.ahead, d)
				}
			}
		}
	}
	return false
}

// backward collects what at depends on, down to place low.
func (o *order) backward(at, low int32) {
	o.mark[at] = true
	o.trail = append(o.trail, at)
	visit := func(d int32) {
		if !o.mark[d] && o.pos[d] > low {
			o.mark[d] = true
			o.trail = append(o.trail, d)
		}
	}
	for i := 0; i < len(o.trail); i++ {
		for _, d := range o.p.OpDeps(o.trail[i]) {
			visit(d.Target)
		}
		for _, d := range o.before[o.trail[i]] {
			visit(d)
		}
	}
}

// reorder puts the trail before what is ahead, in the places that both had.
func (o *order) reorder() {
	byPlace := func(a, b int32) int { return int(o.pos[a] - o.pos[b]) }
	slices.SortFunc(o.trail, byPlace)
	slices.SortFunc(o.ahead, byPlace)
	all := slices.Concat(o.trail, o.ahead)
	places := make([]int32, len(all))
	for i, n := range all {
		places[i] = o.pos[n]
	}
	slices.Sort(places)
	for i, n := range all {
		o.pos[n] = places[i]
	}
}

func (o *order) unmark() {
	for _, n := range o.ahead {
		o.mark[n] = false
	}
	for _, n := range o.trail {
		o.mark[n] = false
	}
}

// store writes the added edges into the program.
func (o *order) store() {
	if len(o.before) == 0 {
		return
	}
	p := o.p
	deps := make([]graph.Dep, 0, len(p.Deps)+len(o.before))
	for i := range p.Ops {
		lo := int32(len(deps))
		deps = append(deps, p.OpDeps(int32(i))...)
		for _, b := range o.before[int32(i)] {
			deps = append(deps, graph.Dep{Mode: graph.DepOp, Target: b})
		}
		p.Ops[i].DepLo, p.Ops[i].DepHi = lo, int32(len(deps))
	}
	p.Deps = deps
	p.Index()
}
