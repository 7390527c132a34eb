package pass

import (
	"hybrid/graph"
	"hybrid/internal/diag"
)

// serialize lets each collective of a group wait for the one that the rank issued
// before it. In flat programs this takes a dependency for each pair of neighbours in
// a recorded chain; one that would close a cycle, on its rank or across ranks, is left
// out. In thread programs the cursor does it as the thread reaches the collectives.
func serialize(g *graph.Graph, opt *Options, list *diag.List) {
	if !opt.Serialize {
		return
	}
	g.Serialize = true
	orders := make([]*order, len(g.Programs))
	added := false
	for i, p := range g.Programs {
		if !p.Flat || len(p.Chains) == 0 {
			continue
		}
		if orders[i] = newOrder(p); orders[i] != nil { // else cyclic already: the run will say where
			serializeProgram(g, orders[i], list)
			added = added || len(orders[i].before) > 0
		}
	}
	if !added {
		return
	}
	keepProgress(g, orders, opt.Synchronize, list)
	for _, o := range orders {
		if o != nil {
			o.store()
		}
	}
}

// serializeProgram puts each chain into one order that the dependencies allow: each
// element, in issue order, behind the last of those before it that does not depend on
// it.
func serializeProgram(g *graph.Graph, o *order, list *diag.List) {
	for _, chain := range o.p.Chains {
		done := make([]int32, 0, len(chain))
		for _, op := range chain {
			at := len(done)
			if at > 0 && !o.add(done[at-1], op) {
				warnLeftOut(g, o.p, op, "which depends on it", list)
				if at = o.split(op, done); at > 0 {
					o.add(done[at-1], op)
				}
			}
			done = append(done, 0)
			copy(done[at+1:], done[at:])
			done[at] = op
		}
	}
}

func warnLeftOut(g *graph.Graph, p *graph.Program, op int32, why string, list *diag.List) {
	s := &g.Sites[p.Ops[op].Site]
	list.Warnf("W405", s.Pos, "%s cannot wait for the collective issued before it in its process group, %s; that order is left out", s.Text, why)
}
