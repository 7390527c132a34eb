package replay

import "hybrid/graph"

// Progress is how far a run has come.
type Progress struct {
	// Model names the engine and model, as in [Result].
	Model string
	// Now is the simulated time in picoseconds.
	Now int64
	// Operations counts the instances that have begun, a collective part as one; Events
	// and PacketHops are as in [Result].
	Operations, Events, PacketHops int64
}

// Watch is asked by an engine every now and then, at points where the run is consistent,
// whether anyone wants to know how far it has come; state tells. The engine looks at no
// clock, and nothing that Watch does has an effect on the run.
type Watch func(state func() Progress)

// CountOperations returns how many operation instances the whole program has, as
// [Result].Operations counts them; known is false where trip counts or branches are
// decided while the program runs.
func CountOperations(g *graph.Graph) (n int64, known bool) {
	for _, p := range g.Programs {
		for slot := range p.Ranks {
			m, ok := countRank(p, int32(slot))
			if !ok || n+m < n {
				return 0, false
			}
			n += m
		}
	}
	return n, true
}

// mostOperations keeps products of trip counts in the range of 64 bits.
const mostOperations = 1 << 40

// countRank counts the operations of one rank: times is how often the loops around the
// present one run.
func countRank(p *graph.Program, slot int32) (n int64, known bool) {
	times, around := int64(1), []int64(nil)
	for i := range p.Ops {
		switch op := &p.Ops[i]; op.Kind {
		case graph.Loop:
			trips, ok := p.Known(op.Peer, slot)
			around = append(around, times)
			if trips = max(trips, 0); !ok || trips > 0 && times > mostOperations/trips {
				return 0, false
			}
			times *= trips
		case graph.End:
			times, around = around[len(around)-1], around[:len(around)-1]
		case graph.Branch, graph.Jump:
			return 0, false
		case graph.Join, graph.ScopeEnd:
		default:
			n += times
		}
		if n > mostOperations {
			return 0, false
		}
	}
	return n, true
}
