package analytic

import (
	"fmt"
	"math/bits"
	"slices"

	"hybrid/internal/units"
	"hybrid/networks"
)

// horizon bounds every event time: the sum of three times below it cannot overflow.
const horizon units.Time = 1 << 61

// newClock returns the exact clock of the rates, or one that rounds to a picosecond
// where they have no common tick or where a run is too long for it.
func newClock(rates []units.Rat, rounded bool) units.Clock {
	if rounded {
		return units.Clock{PerPS: 1}
	}
	return units.NewClock(rates...)
}

// rate is a time per byte in ticks: whole where the clock is exact for it. Elsewhere
// the times of the sizes seen last are kept, since a program has few sizes and a
// division costs more than all else that is done for a message.
type rate struct {
	ticks int64
	whole bool
	clock units.Clock
	exact units.Rat
	memo  [8]sizeTime
}

type sizeTime struct {
	bytes int64
	time  units.Time
}

func newRate(c units.Clock, r units.Rat) rate {
	if r.Den == 0 || r.Num == 0 {
		return rate{whole: true}
	}
	if c.PerPS%r.Den == 0 {
		hi, lo := bits.Mul64(uint64(r.Num), uint64(c.PerPS/r.Den))
		if hi == 0 && lo < uint64(horizon) {
			return rate{ticks: int64(lo), whole: true}
		}
	}
	return rate{clock: c, exact: r}
}

// span returns the time of n bytes, at most the horizon; of none if n is negative.
func (r *rate) span(n int64) units.Time {
	if n <= 0 {
		return 0
	}
	if !r.whole {
		m := &r.memo[uint64(n)*0x9e3779b97f4a7c15>>61]
		if m.bytes != n {
			m.bytes, m.time = n, min(r.clock.Span(r.exact, n), horizon)
		}
		return m.time
	}
	hi, lo := bits.Mul64(uint64(n), uint64(r.ticks))
	if hi > 0 || lo > uint64(horizon) {
		return horizon
	}
	return int64(lo)
}

// hockneyPiece and loggpPiece are the pieces of a level in ticks.
type hockneyPiece struct {
	from, alpha units.Time
	beta        rate
}

type loggpPiece struct {
	from               int64
	L, oSend, oRecv, g units.Time
	G, O               rate
	// store is the time by which a byte makes the message arrive later: none where the
	// first byte is on its way before the last has come.
	store rate
}

// level is the parameters of one distance in ticks.
type level struct {
	eager   int64
	hockney []hockneyPiece
	loggp   []loggpPiece
	// adapter: the fabric carries transfers, so that they need no processor and none
	// waits for its receive.
	adapter bool
	// uneven says that a later, smaller message may be faster than its predecessor.
	uneven bool
}

func (l *level) hockneyAt(bytes int64) *hockneyPiece {
	i := len(l.hockney) - 1
	for i > 0 && bytes < l.hockney[i].from {
		i--
	}
	return &l.hockney[i]
}

func (l *level) loggpAt(bytes int64) *loggpPiece {
	i := len(l.loggp) - 1
	for i > 0 && bytes < l.loggp[i].from {
		i--
	}
	return &l.loggp[i]
}

// network is the levels of a job in ticks, and which of them the run has used.
type network struct {
	clock  units.Clock
	place  *networks.Placement
	levels [networks.Levels]*level
	from   [networks.Levels]networks.LevelID
	used   [networks.Levels]bool
	// self is for transfers of a rank to itself: the copy bandwidth of the node.
	self level
	// scaleUp is nil without a scale-up fabric.
	scaleUp *scaleUp
}

// newNetwork converts the levels of a job. The clock holds the per-byte times of the
// chosen model only; rounded gives up its exactness for range.
func newNetwork(job *Job, loggp, rounded bool) (*network, error) {
	place, err := job.place()
	if err != nil {
		return nil, err
	}
	all := append(rates(job.Network, distances(place), loggp), scaleUpRates(place, job.Network.ScaleUp)...)
	n := &network{place: place, clock: newClock(all, rounded)}
	if n.clock.PerPS > 1 && leastTime(job.Graph) > int64(horizon)/n.clock.PerPS {
		n.clock = newClock(nil, true)
	}
	for id := range n.levels {
		l, from, ok := job.Network.Level(networks.LevelID(id))
		if !ok || loggp && len(l.LogGP) == 0 || !loggp && len(l.Hockney) == 0 {
			return nil, fmt.Errorf("network %s has no closed-form parameters for %s", job.Network.Name, networks.LevelID(id))
		}
		n.levels[id], n.from[id] = n.convert(l, job.Overheads), from
	}
	n.self = n.selfLevel(job.Network.Node.CopyPerByte)
	n.scaleUp = n.convertScaleUp(job.Network.ScaleUp)
	return n, nil
}

// distances says which levels two different ranks can have.
func distances(p *networks.Placement) (has [networks.Levels]bool) {
	sockets, nodes := map[int32]int{}, map[int32]int32{}
	for r, node := range p.Node {
		socket := p.Socket[r]
		first, seen := nodes[node]
		if !seen {
			nodes[node] = socket
		}
		has[networks.InterChip] = has[networks.InterChip] || seen && first != socket
		sockets[socket]++
		has[networks.IntraChip] = has[networks.IntraChip] || sockets[socket] > 1
	}
	has[networks.InterNode] = len(nodes) > 1
	return has
}

// rates returns the per-byte times that the run can need.
func rates(net *networks.Network, has [networks.Levels]bool, loggp bool) []units.Rat {
	all := []units.Rat{net.Node.CopyPerByte}
	for id, used := range has {
		l, _, ok := net.Level(networks.LevelID(id))
		if !used || !ok {
			continue
		}
		for _, p := range l.Hockney {
			if !loggp {
				all = append(all, p.PerByte)
			}
		}
		for _, p := range l.LogGP {
			if loggp {
				all = append(all, p.G, p.O)
			}
		}
	}
	return slices.DeleteFunc(all, units.Rat.IsZero)
}

func (n *network) ticks(ps int64) units.Time { return min(n.clock.Ticks(ps), horizon) }

func (n *network) convert(l *networks.Level, o *Overheads) *level {
	v := &level{eager: l.EagerLimit}
	for _, p := range l.Hockney {
		v.hockney = append(v.hockney, hockneyPiece{p.From, n.ticks(p.Latency), newRate(n.clock, p.PerByte)})
	}
	for _, p := range l.LogGP {
		q := loggpPiece{from: p.From, L: n.ticks(p.L), oSend: n.ticks(p.Overhead), g: n.ticks(p.Gap),
			G: newRate(n.clock, p.G), O: newRate(n.clock, p.O), store: rate{whole: true}}
		q.oRecv = q.oSend
		if o != nil {
			q.oSend, q.oRecv = n.ticks(o.Send), n.ticks(o.Receive)
			if q.oSend == 0 && q.oRecv == 0 {
				q.O = rate{whole: true}
			}
		}
		v.loggp = append(v.loggp, q)
		v.uneven = v.uneven || q.L+q.oSend != v.loggp[0].L+v.loggp[0].oSend
	}
	return v
}

// selfLevel keeps the overheads and the eager limit of the nearest level and copies
// at the node's bandwidth without latency.
func (n *network) selfLevel(perByte units.Rat) level {
	near, beta := n.levels[networks.IntraChip], newRate(n.clock, perByte)
	v := level{eager: near.eager, hockney: []hockneyPiece{{beta: beta}}}
	for _, p := range near.loggp {
		p.L, p.g, p.G, p.O = 0, 0, beta, rate{whole: true}
		v.loggp = append(v.loggp, p)
	}
	return v
}

// pair returns the parameters for a message from src to dst.
func (n *network) pair(src, dst int32) *level {
	if src == dst {
		return &n.self
	}
	if s := n.scaleUp; s != nil && s.place.Shared(src, dst) {
		return s.level(src, dst)
	}
	id := n.place.Level(src, dst)
	n.used[id] = true
	return n.levels[id]
}

// all returns every level that a message can have.
func (n *network) all() []*level {
	all := append(n.levels[:], &n.self)
	if s := n.scaleUp; s != nil {
		for g := range s.near {
			all = append(all, &s.near[g], &s.far[g])
		}
	}
	return all
}

// notes tells which levels were missing and what the clock rounds.
func (n *network) notes(name string) []string {
	var notes []string
	for id, used := range n.used {
		if from := n.from[id]; used && from != networks.LevelID(id) {
			notes = append(notes, fmt.Sprintf("network %s has no %s parameters; those of %s stand in", name, networks.LevelID(id), from))
		}
	}
	if n.scaleUp != nil && n.scaleUp.used {
		notes = append(notes, "transfers inside a scale-up group have the times of its fabric: bandwidth and latencies of the mapping file, packets of scale_up")
	}
	if !n.clock.Exact {
		notes = append(notes, "the per-byte times have no common tick that fits a run of this length; the time of each message is rounded to a picosecond, by at most half of one")
	}
	return notes
}
