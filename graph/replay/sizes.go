package replay

import (
	"fmt"

	"hybrid/graph"
	"hybrid/internal/diag"
)

// pairSizes are the sizes of one all-to-allv as a rank sees them, with the loop
// counters of the moment at which its thread reached the operation.
type pairSizes struct {
	sizes graph.PairSizes
	group *graph.Group
	pos   diag.Pos
	env   graph.Env
	err   error
}

// begin takes the sizes of the call at op and the counters with which it was reached.
func (s *pairSizes) begin(sizes graph.PairSizes, group *graph.Group, pos diag.Pos, op int32, loops []int64) {
	s.sizes, s.group, s.pos, s.err = sizes, group, pos, nil
	s.env.Op, s.env.Loops = op, append(s.env.Loops[:0], loops...)
}

// Bytes implements [collective.PairSizes]. It keeps the first error and goes on with
// nothing.
func (s *pairSizes) Bytes(src, dst int32) int64 {
	from := s.group.Members[src]
	s.env.Rank, s.env.Peer = from, int64(dst)
	n, err := s.sizes.Eval(&s.env)
	if err == nil && n < 0 {
		err = diag.Diagnostic{Severity: diag.Error, Code: "E222", Pos: s.pos,
			Message: fmt.Sprintf("negative size %d B from rank %d to rank %d", n, from, s.group.Members[dst])}
	}
	if err == nil {
		return n
	}
	if s.err == nil {
		s.err = err
	}
	return 0
}
