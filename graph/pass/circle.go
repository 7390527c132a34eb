package pass

import (
	"slices"

	"hybrid/graph"
	"hybrid/graph/collective"
	"hybrid/internal/diag"
)

// keepProgress takes out edges of the issue order that close a circle across ranks:
// without the order the program ends, with it ranks would wait for each other for ever.
// A program that does not end without the order either is left as it is. With barriers
// before collectives the circles that these close together with the order count too,
// unless the barriers alone close one.
func keepProgress(g *graph.Graph, orders []*order, synchronize bool, list *diag.List) {
	barriers := []bool{false}
	if synchronize {
		barriers = []bool{true, false}
	}
	for _, b := range barriers {
		u := newUntimed(g, orders, b)
		if u.run() {
			return
		}
		if newUntimed(g, nil, b).run() {
			(&untangler{untimed: u, list: list}).run()
			return
		}
	}
}

// untangler takes edges out of the circles in which a walk ended.
type untangler struct {
	*untimed
	list *diag.List
	// senders are the sends of each key, ops of each rank its collectives; both are made
	// when they are needed.
	senders map[message][]place
	ops     map[int32]map[instance]int32
	// first is the first operation that is not done.
	first place
	// taken are edges that must not come back.
	taken map[edge]bool
	// fuel bounds the steps in search of circles.
	fuel int
}

// edge is an edge of the issue order in a program.
type edge struct{ program, from, to int32 }

// searchSteps bounds the search for circles, in steps for each operation.
const searchSteps = 64

func (u *untangler) run() {
	u.taken = map[edge]bool{}
	u.fuel = searchSteps * (u.left + 1000)
	for u.left > 0 {
		from, to, found := u.orderEdge(u.circle())
		if !found {
			u.takeAll()
			return
		}
		u.take(edge{u.g.Of[to.rank].Program, from.op, to.op})
		u.untimed.follow()
	}
}

// circle walks from one blocked operation to the next until it comes to one again, and
// returns the way round, the first operation once more at its end.
func (u *untangler) circle() []place {
	at, ok := u.blocked()
	path, seen := []place{}, map[place]int{}
	for ; ok && u.fuel > 0; u.fuel-- {
		if i, again := seen[at]; again {
			return append(path[i:], at)
		}
		seen[at] = len(path)
		path = append(path, at)
		at, ok = u.waitsFor(at)
	}
	return nil
}

// orderEdge returns the first edge of the issue order on a way along which each
// operation waits for the next.
func (u *untangler) orderEdge(way []place) (from, to place, found bool) {
	for i := 1; i < len(way); i++ {
		if to, from = way[i-1], way[i]; to.rank == from.rank && u.ordered(from, to) {
			return from, to, true
		}
	}
	return place{}, place{}, false
}

// ordered reports whether nothing but the issue order lets to wait for from.
func (u *untangler) ordered(from, to place) bool {
	k := &u.ranks[to.rank]
	if k.wait[to.op] == 0 || k.order == nil {
		return false
	}
	for _, d := range k.p.OpDeps(to.op) {
		if d.Target == from.op {
			return false
		}
	}
	return slices.Contains(k.order.before[to.op], from.op)
}

// blocked returns the first operation that is not done, of the lowest rank.
func (u *untangler) blocked() (place, bool) {
	for ; int(u.first.rank) < len(u.ranks); u.first = (place{u.first.rank + 1, 0}) {
		for done := u.ranks[u.first.rank].done; int(u.first.op) < len(done); u.first.op++ {
			if !done[u.first.op] {
				return u.first, true
			}
		}
	}
	return place{}, false
}

// waitsFor returns an operation that keeps one that is not done from ending: what it
// depends on, else what comes before it in issue order, else the other end of a message
// or a member of its collective.
func (u *untangler) waitsFor(at place) (place, bool) {
	k := &u.ranks[at.rank]
	if k.wait[at.op] > 0 {
		for _, d := range k.p.OpDeps(at.op) {
			if !k.done[d.Target] {
				return place{at.rank, d.Target}, true
			}
		}
		if k.order != nil {
			for _, b := range k.order.before[at.op] {
				if !k.done[b] {
					return place{at.rank, b}, true
				}
			}
		}
		return place{}, false
	}
	switch op := &k.p.Ops[at.op]; op.Kind {
	case graph.Recv:
		return u.sender(k.message(at.rank, op))
	case graph.Collective:
		return u.member(at)
	}
	return place{}, false
}

// sender returns the first send of a key that has not been made.
func (u *untangler) sender(m message) (place, bool) {
	if u.senders == nil {
		u.senders = map[message][]place{}
		for r := range u.ranks {
			k := &u.ranks[r]
			for i := range k.p.Ops {
				if op := &k.p.Ops[i]; op.Kind == graph.Send {
					key := k.message(int32(r), op)
					u.senders[key] = append(u.senders[key], place{int32(r), int32(i)})
				}
			}
		}
	}
	for _, at := range u.senders[m] {
		if !u.ranks[at.rank].done[at.op] {
			return at, true
		}
	}
	return place{}, false
}

// member returns the part of another member that a part in progress waits for.
func (u *untangler) member(at place) (place, bool) {
	k := &u.ranks[at.rank]
	i, group := k.instance(u.g, &k.p.Ops[at.op])
	m := u.calls[i]
	if m == nil {
		return place{}, false
	}
	pos := int32(-1)
	if m.rooted {
		u.steps(at, func(s *collective.Step) {
			if !s.Send && !m.done[s.Peer] {
				pos = s.Peer
			}
		})
	} else {
		pos = int32(slices.Index(m.op, -1))
	}
	if pos < 0 {
		return place{}, false
	}
	rank := group.Members[pos]
	op, ok := u.call(rank, i)
	return place{rank, op}, ok
}

// call returns the operation with which a rank takes part in a collective.
func (u *untangler) call(rank int32, i instance) (int32, bool) {
	of := u.ops[rank]
	if of == nil {
		of = map[instance]int32{}
		k := &u.ranks[rank]
		for o := range k.p.Ops {
			if op := &k.p.Ops[o]; op.Kind == graph.Collective {
				in, _ := k.instance(u.g, op)
				of[in] = int32(o)
			}
		}
		if u.ops == nil {
			u.ops = map[int32]map[instance]int32{}
		}
		u.ops[rank] = of
	}
	op, ok := of[i]
	return op, ok
}

// take removes an edge of the issue order. What stood before and behind its ends is
// joined, so that the rest of the order stays.
func (u *untangler) take(e edge) {
	o := u.orders[e.program]
	warnLeftOut(u.g, o.p, e.to, "which waits for it across ranks", u.list)
	u.taken[e] = true
	for _, b := range o.before[e.from] {
		u.join(edge{e.program, b, e.to})
	}
	for _, a := range o.after[e.to] {
		u.join(edge{e.program, e.from, a})
	}
	o.remove(e.from, e.to)
	for _, r := range o.p.Ranks {
		if !u.ranks[r].done[e.from] {
			u.release(place{r, e.to})
		}
	}
}

// join adds an edge unless it was taken out before or closes a cycle.
func (u *untangler) join(e edge) {
	o := u.orders[e.program]
	n := len(o.before[e.to])
	if u.taken[e] || u.fuel <= 0 || !o.add(e.from, e.to) || len(o.before[e.to]) == n {
		return
	}
	for _, r := range o.p.Ranks {
		if k := &u.ranks[r]; !k.done[e.from] {
			k.wait[e.to]++
		}
	}
}

// takeAll removes every edge that keeps a rank waiting: circles were too many to take
// apart one by one.
func (u *untangler) takeAll() {
	for _, o := range u.orders {
		if o == nil {
			continue
		}
		for to := range o.p.Ops {
			for i := len(o.before[int32(to)]) - 1; i >= 0; i-- {
				from := o.before[int32(to)][i]
				if u.holds(o.p, from) {
					o.remove(from, int32(to))
					warnLeftOut(u.g, o.p, int32(to), "which waits for it across ranks", u.list)
				}
			}
		}
	}
}

// holds reports whether an operation is not done on some rank.
func (u *untangler) holds(p *graph.Program, op int32) bool {
	for _, r := range p.Ranks {
		if !u.ranks[r].done[op] {
			return true
		}
	}
	return false
}
