package analytic

import (
	"math"
	"math/bits"

	"hybrid/graph"
	"hybrid/internal/units"
)

// leastTime returns picoseconds that the job takes at least: the longest sum over a
// program of the computations that its thread waits for one by one, as far as they are
// known without running it. It costs one pass over what is written.
func leastTime(g *graph.Graph) int64 {
	least := int64(0)
	for _, p := range g.Programs {
		if !p.Flat && len(p.Ranks) > 0 && !g.Scaled() {
			least = max(least, programTime(p))
		}
	}
	return least
}

// programTime adds up the blocking computations of the program's first rank.
func programTime(p *graph.Program) int64 {
	sum := int64(0)
	trips := []int64{1} // how often the operations of each open loop run
	for i := range p.Ops {
		op := &p.Ops[i]
		switch op.Kind {
		case graph.Branch, graph.Jump:
			return sum // what follows may be left out
		case graph.Loop:
			n, known := p.Known(op.Peer, 0)
			if !known {
				n = 0
			}
			trips = append(trips, saturatingMul(trips[len(trips)-1], n))
		case graph.End:
			trips = trips[:len(trips)-1]
		case graph.Compute:
			if op.Flags&(graph.Async|graph.More) == 0 {
				d := saturatingMul(knownTime(p, op.Arg), trips[len(trips)-1])
				sum += min(d, math.MaxInt64-sum)
			}
		}
	}
	return sum
}

// knownTime returns a work's duration without injections, or 0 where an operand is
// computed at the cursor.
func knownTime(p *graph.Program, work int32) int64 {
	d := int64(0)
	for _, t := range p.Costs[work].Terms {
		if n, ok := p.Known(t.V, 0); ok {
			d = max(d, units.MulDiv(n, t.Num, t.Den))
		}
	}
	return d
}

func saturatingMul(a, b int64) int64 {
	hi, lo := bits.Mul64(uint64(max(a, 0)), uint64(max(b, 0)))
	if hi > 0 || lo > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(lo)
}
