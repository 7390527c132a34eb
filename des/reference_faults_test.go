package des

import (
	"math/big"

	"hybrid/des/fabric"
	"hybrid/internal/diag"
	"hybrid/internal/units"
	"hybrid/networks"
)

// The reference's faults: for each packet the whole network is searched for ways, times
// are looked up in the file's own list, and chances are exact fractions.
type refFaults struct {
	of    map[int]networks.LinkFaults // by link
	count map[int]uint64              // frames that have been sent, by link
	odds  map[[2]int64]*big.Int       // by link and size: of 2^64
	lost  map[string]int64            // packets, by reason
	noWay int64
}

func (f *reference) setFaults() {
	found := f.run.job.Network.FaultsOn(f.run.job.Topology, new(diag.List))
	if len(found) == 0 {
		return
	}
	f.faults = &refFaults{map[int]networks.LinkFaults{}, map[int]uint64{}, map[[2]int64]*big.Int{}, map[string]int64{}, 0}
	for _, x := range found {
		f.faults.of[int(x.Link)] = x
		for _, o := range x.Down {
			if until := f.run.clock.Ticks(o.Until); until < units.Never>>1 {
				f.calm = max(f.calm, until)
			}
		}
	}
}

// up returns when a link that is down at a time comes back; the time itself if it is not.
func (f *reference) up(link int, t int64) int64 {
	for _, o := range f.faults.of[link].Down {
		if f.run.clock.Ticks(o.From) <= t && t < f.run.clock.Ticks(o.Until) {
			return f.run.clock.Ticks(o.Until)
		}
	}
	return t
}

func (f *reference) dead(link int, t int64) bool { return f.up(link, t) != t }

// lost decides about a frame whose turn comes.
func (f *reference) lost(start int64, link int, p *refPacket) bool {
	x, span := f.faults.of[link], f.run.clock.Span(f.links[link].PerByte, p.size)
	why := ""
	switch {
	case f.dead(link, start):
		why = "down"
		if f.hops--; p.pause != nil {
			f.hops++
		}
	default:
		f.faults.count[link]++
		for _, o := range x.Down {
			if from := f.run.clock.Ticks(o.From); start < from && from < start+span {
				why = "cut"
			}
		}
		salt := fabric.FaultSalt(f.run.job.Seed, int32(link))
		if why == "" && f.run.params.Packets {
			if f.strikes(fabric.DrawWide(salt, f.faults.count[link]), x.Loss, 1) {
				why = "loss"
			} else if f.strikes(fabric.DrawWide(salt^1<<63, f.faults.count[link]), x.BitErrors, 8*p.size) {
				why = "bits"
			}
		}
		if why != "" {
			f.free[link] = start + span
		}
	}
	switch {
	case why != "" && p.pause != nil:
		f.faults.lost["pause"]++
	case why != "":
		f.faults.lost[why]++
	}
	return why != ""
}

// strikes says whether one of n trials goes wrong, each with chance p: where a number of 64
// bits is below 2^64 (1 - (1-p)^n), rounded down.
func (f *reference) strikes(draw uint64, p units.Rat, n int64) bool {
	if p.Num == 0 {
		return false
	}
	key := [2]int64{p.Num<<32 ^ p.Den, n}
	odds := f.faults.odds[key]
	if odds == nil {
		odds = exactChance(p, n)
		f.faults.odds[key] = odds
	}
	return new(big.Int).SetUint64(draw).Cmp(odds) < 0
}

// exactChance returns 2^64 (1 - (1-p)^n), rounded down.
func exactChance(p units.Rat, n int64) *big.Int {
	all := new(big.Int).Exp(big.NewInt(p.Den), big.NewInt(n), nil)
	well := new(big.Int).Exp(big.NewInt(p.Den-p.Num), big.NewInt(n), nil)
	odds := new(big.Int).Lsh(new(big.Int).Sub(all, well), 64)
	return odds.Quo(odds, all)
}

// waitForLink lets a host wait for a link that is down.
func (f *reference) waitForLink(t int64, host int32, link int) bool {
	up := f.up(link, t)
	if up > t && up < units.Never {
		f.push(up, 1, int64(link), 0, 0, func() { f.wake(up, host, link) })
	}
	return up > t
}

// detour chooses a packet's next link, or -1.
func (f *reference) detour(now int64, at int32, p *refPacket) int {
	alive := f.alive(now, at, p.to)
	if len(alive) == 0 {
		return -1
	}
	return alive[fabric.Choose(p.hash^fabric.Salt(f.run.job.Seed, at), int32(len(alive)))]
}

// alive returns the links on ways that are known to be open, where there are any those that
// are up themselves.
func (f *reference) alive(now int64, at, to int32) []int {
	topo := f.run.job.Topology
	first, n := topo.Next(at, to)
	var usual []int
	for i := range n {
		usual = append(usual, int(first+i))
	}
	list := usual
	known := max(now-f.run.clock.Ticks(f.run.job.Network.Fabric.Reroute), 0)
	down := map[int]bool{}
	for id := range f.links {
		down[id] = f.dead(id, known)
	}
	if some := f.anyOf(down); some {
		if list = f.shortest(at, to, down); len(list) == 0 {
			if int(at) >= topo.Hosts() {
				return nil
			}
			list = usual
		}
	}
	if len(list) == 0 {
		return nil
	}
	var alive []int
	for _, id := range list {
		if !f.dead(id, now) {
			alive = append(alive, id)
		}
	}
	if len(alive) == 0 {
		alive = list
	}
	return alive
}

func (f *reference) anyOf(down map[int]bool) bool {
	for _, is := range down {
		if is {
			return true
		}
	}
	return false
}

// shortest returns the links on shortest ways over links that are not down.
func (f *reference) shortest(at, to int32, down map[int]bool) []int {
	hosts := int32(f.run.job.Topology.Hosts())
	dist := map[int32]int{to: 0}
	for more := true; more; {
		more = false
		for id, l := range f.links {
			d, ok := dist[l.To]
			if !ok || down[id] || l.From < hosts && l.From != at {
				continue
			}
			if old, ok := dist[l.From]; !ok || d+1 < old {
				if l.From != to && (l.To == to || l.To >= hosts) {
					dist[l.From], more = d+1, true
				}
			}
		}
	}
	var out []int
	for id, l := range f.links {
		d, ok := dist[l.To]
		if ok && l.From == at && !down[id] && (l.To == to || l.To >= hosts) && d == dist[at]-1 {
			out = append(out, id)
		}
	}
	return out
}
