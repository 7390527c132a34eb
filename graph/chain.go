package graph

import "slices"

// Chain records that the operations of one process group were issued in this
// order, see [Program.Chains]. It adds no dependency by itself.
func (r *RankBuilder) Chain(ops []int32) {
	r.p.Chains = append(r.p.Chains, ops)
	r.b.g.IssueOrder = true
}

// Grow makes room for that many more operations, dependencies, works and operands,
// for a front end that knows them before it writes.
func (r *RankBuilder) Grow(ops, deps, works, operands int) {
	r.p.Ops = slices.Grow(r.p.Ops, ops)
	r.p.Deps = slices.Grow(r.p.Deps, deps)
	r.p.Works = slices.Grow(r.p.Works, works)
	r.slots = slices.Grow(r.slots, operands)
}
