package dsel

import (
	"hybrid/graph"
	"hybrid/internal/diag"
)

// planAlltoallv: every member sends its own size to every other one; a member's own
// share stays where it is. The size is the sender's, evaluated when its transfer
// starts with the loop counters of the statement, so that nothing is stored for a
// pair.
func planAlltoallv(p *planner) emitter {
	size := p.pairOperand()
	c := &collective{p: p, call: graph.Call{Type: graph.AllToAllV, Algorithm: p.algorithm()}, group: p.over(), scaled: map[int64]*operand{}}
	if c.call.Algorithm == "direct" {
		c.call.Algorithm = "interleaved" // by its other name
	}
	if !p.ok {
		return nil
	}
	c.call.Sizes = size
	c.site = p.site(graph.Collective, p.row.name+" "+shortSize(size)+" over "+c.group.text)
	return func(w *lowerer) {
		c.emit(w)
		if part := c.group.of(w.rank); part != nil {
			p.checkPairs(w, part, size)
		}
	}
}

// maxPairs bounds the pairs of members of one alltoallv over all its groups whose
// sizes are looked at before the run.
const maxPairs = 1 << 22

// checkPairs finds faults in the sizes that a rank sends, where they are not too many
// and hang on no loop; others show when their transfer starts.
func (p *planner) checkPairs(w *lowerer, part *part, size *operand) {
	n := part.size(w.ld.ranks)
	if size.loop() || n*w.ld.ranks > maxPairs && n > 64 {
		return
	}
	me := part.pos(w.rank)
	for to := range n {
		if w.halt || to == me {
			continue
		}
		w.charge(size.code.size)
		if _, err := size.Eval(&graph.Env{Rank: w.rank, Peer: to}); err != nil {
			w.report(err, diag.Pos{})
		}
		if size.code.dep&onPeer == 0 {
			return
		}
	}
}

// Varies implements [graph.PairSizes].
func (o *operand) Varies() bool { return o.loop() }
