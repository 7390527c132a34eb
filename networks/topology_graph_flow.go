package networks

import (
	"math"

	"hybrid/internal/units"
)

// maxFlowLinks bounds the graphs whose bisection is computed.
const maxFlowLinks = 1 << 18

// maximumFlow is the time of a byte over the bisection, by the maximum flow from the
// lower half of the hosts to the upper (E. Dinic, "Algorithm for Solution of a Problem of
// Maximum Flow in a Network with Power Estimation", Soviet Math. Doklady 11, 1970); of
// denominator 0 where that would take too long or rates have no common measure.
func (g *wiredGraph) maximumFlow() units.Rat {
	unit, ok := commonRate(g.links)
	if !ok || len(g.links) > maxFlowLinks {
		return units.Rat{}
	}
	f := &flowSearch{g: g, half: int32(g.hosts / 2), room: make([]int64, len(g.links)),
		level: make([]int32, g.hosts+g.switches), at: make([]int32, g.hosts+g.switches)}
	for i, l := range g.links {
		f.room[i] = unlimited
		if l.PerByte.Num > 0 {
			f.room[i] = l.PerByte.Den * (unit / l.PerByte.Num)
		}
	}
	total := int64(0)
	for f.levels() {
		for h := range f.half {
			total += f.push(h)
		}
		if total >= unlimited {
			return units.Int(0)
		}
	}
	if total == 0 {
		return units.Rat{}
	}
	return units.NewRat(unit, total)
}

// unlimited is the room of links that take no time; all others together have less.
const unlimited = 1 << 60

// commonRate returns the least common multiple of the numerators of all times of a byte.
func commonRate(links []Link) (unit int64, ok bool) {
	unit = 1
	seen := map[units.Rat]bool{}
	for _, l := range links {
		if l.PerByte.Num <= 0 || seen[l.PerByte] {
			continue
		}
		seen[l.PerByte] = true
		step := l.PerByte.Num / gcd(unit, l.PerByte.Num)
		if step > (1<<40)/unit {
			return 0, false
		}
		unit *= step
	}
	for r := range seen {
		if r.Den > (1<<40)/(unit/r.Num) {
			return 0, false
		}
	}
	return unit, true
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// flowSearch is the state of the search for a maximum flow. Links and those back take up
// each other's flow; hosts pass nothing on.
type flowSearch struct {
	g     *wiredGraph
	half  int32
	room  []int64
	level []int32 // by node: links from the lower hosts; -1 if there is no way
	at    []int32 // by node: the link to try next
	path  []int32
}

func (f *flowSearch) sink(node int32) bool { return node >= f.half && f.g.isHost(node) }

// levels counts the links from the lower hosts and reports whether an upper one is
// reached.
func (f *flowSearch) levels() bool {
	copy(f.at, f.g.base)
	var queue []int32
	for i := range f.level {
		f.level[i] = -1
		if int32(i) < f.half {
			f.level[i] = 0
			queue = append(queue, int32(i))
		}
	}
	found := false
	for ; len(queue) > 0; queue = queue[1:] {
		node := queue[0]
		if f.sink(node) {
			found = true
			continue
		}
		for id := f.g.base[node]; id < f.g.base[node+1]; id++ {
			if to := f.g.links[id].To; f.room[id] > 0 && f.level[to] < 0 {
				f.level[to] = f.level[node] + 1
				queue = append(queue, to)
			}
		}
	}
	return found
}

// push sends what it can from a host along rising levels.
func (f *flowSearch) push(host int32) (sent int64) {
	f.path = f.path[:0]
	for node := host; ; {
		if f.sink(node) {
			sent += f.augment()
			node, f.path = host, f.path[:0]
			if sent >= unlimited {
				return sent
			}
		}
		id := f.at[node]
		switch {
		case id < f.g.base[node+1]:
			if to := f.g.links[id].To; f.room[id] > 0 && f.level[to] == f.level[node]+1 {
				f.path = append(f.path, id)
				node = to
				continue
			}
			f.at[node]++
		case len(f.path) == 0:
			return sent
		default: // a dead end
			last := len(f.path) - 1
			node = f.g.links[f.path[last]].From
			f.path = f.path[:last]
			f.at[node]++
		}
	}
}

func (f *flowSearch) augment() int64 {
	least := int64(math.MaxInt64)
	for _, id := range f.path {
		least = min(least, f.room[id])
	}
	for _, id := range f.path {
		f.room[id] -= least
		f.room[f.g.back[id]] += least
	}
	return least
}
