package pass

import (
	"slices"

	"hybrid/graph"
	"hybrid/graph/collective"
)

// untimed follows the flat programs of a graph without time, each collective as a whole:
// sends leave at once, a receive waits for its message, and a member's part of a
// collective for whom its algorithm makes it wait for. It takes time in proportion to
// the operations and the members of collectives.
type untimed struct {
	g      *graph.Graph
	orders []*order // by program: edges that are not in it yet; nil or nil entries: none
	table  *collective.Table
	// barriers lets every collective begin when all members are there.
	barriers bool
	ranks    []untimedRank
	ready    []place // from head on, in the order in which they became ready
	head     int
	calls    map[instance]*members
	spare    []*members
	messages map[message]*channel
	left     int // operations that are not done
}

// untimedRank is the state of one rank.
type untimedRank struct {
	p     *graph.Program
	slot  int32
	order *order
	wait  []int32 // by operation: what it waits for before it starts
	done  []bool
}

// place is an operation of a rank.
type place struct{ rank, op int32 }

// instance names a collective, message the key by which transfers match.
type instance struct {
	group int32
	k     int64
}

type message struct {
	src, dst, context int32
	tag               int64
}

// channel holds what has not met yet: messages sent, or receives that wait.
type channel struct {
	sent    int
	waiting []place
}

// members is the state of a collective, by position in its group.
type members struct {
	op      []int32 // of those that have come to it, else -1
	need    []int32 // transfers that a part still waits for
	done    []bool
	arrived int
	left    int
	rooted  bool
}

func newUntimed(g *graph.Graph, orders []*order, barriers bool) *untimed {
	u := &untimed{g: g, orders: orders, table: collective.NewTable(), barriers: barriers, ranks: make([]untimedRank, g.Ranks),
		calls: map[instance]*members{}, messages: map[message]*channel{}}
	for r := range u.ranks {
		k := &u.ranks[r]
		k.p, k.slot = g.Program(r)
		if orders != nil {
			k.order = orders[g.Of[r].Program]
		}
		k.wait, k.done = make([]int32, len(k.p.Ops)), make([]bool, len(k.p.Ops))
		for i := range k.p.Ops {
			k.wait[i] = k.p.Ops[i].DepHi - k.p.Ops[i].DepLo
			if k.order != nil {
				k.wait[i] += int32(len(k.order.before[int32(i)]))
			}
		}
		if u.left += len(k.p.Ops); !slices.Contains(k.wait, 0) {
			u.skip(k)
		}
	}
	return u
}

// skip ends a rank at once: nothing of it is ready at the start.
func (u *untimed) skip(k *untimedRank) {
	u.left -= len(k.done)
	for i := range k.done {
		k.done[i] = true
	}
}

// run goes as far as the programs go and reports whether all of them end.
func (u *untimed) run() bool {
	for r := range u.ranks {
		for i, n := range u.ranks[r].wait {
			if n == 0 {
				u.ready = append(u.ready, place{int32(r), int32(i)})
			}
		}
		u.follow()
	}
	return u.left == 0
}

// follow starts what is ready until nothing is. What became ready first starts first, as
// in a run: receives of one key are matched in the order of posting.
func (u *untimed) follow() {
	for u.head < len(u.ready) {
		at := u.next()
		k := &u.ranks[at.rank]
		switch op := &k.p.Ops[at.op]; op.Kind {
		case graph.Send:
			u.send(k.message(at.rank, op))
			u.finish(at)
		case graph.Recv:
			u.receive(k.message(at.rank, op), at)
		case graph.Collective:
			u.arrive(at)
		default:
			u.finish(at)
		}
	}
}

// next takes the first operation that is ready; there must be one.
func (u *untimed) next() place {
	at := u.ready[u.head]
	if u.head++; u.head > len(u.ready)/2 {
		u.ready = u.ready[:copy(u.ready, u.ready[u.head:])]
		u.head = 0
	}
	return at
}

func (k *untimedRank) value(v graph.Value) int64 {
	n, _ := k.p.Known(v, k.slot)
	return n
}

// message returns the key of a transfer of the rank.
func (k *untimedRank) message(rank int32, op *graph.Op) message {
	m := message{rank, int32(k.value(op.Peer)), op.Arg, k.value(op.Tag)}
	if op.Kind == graph.Recv {
		m.src, m.dst = m.dst, m.src
	}
	return m
}

// finish ends an operation and lets those that waited for it alone start.
func (u *untimed) finish(at place) {
	k := &u.ranks[at.rank]
	k.done[at.op] = true
	u.left--
	for _, d := range k.p.Dependents(at.op) {
		u.release(place{at.rank, d})
	}
	if k.order != nil {
		for _, d := range k.order.after[at.op] {
			u.release(place{at.rank, d})
		}
	}
}

func (u *untimed) release(at place) {
	k := &u.ranks[at.rank]
	if k.wait[at.op]--; k.wait[at.op] == 0 {
		u.ready = append(u.ready, at)
	}
}

func (u *untimed) channel(m message) *channel {
	c := u.messages[m]
	if c == nil {
		c = new(channel)
		u.messages[m] = c
	}
	return c
}

func (u *untimed) send(m message) {
	c := u.channel(m)
	if len(c.waiting) == 0 {
		c.sent++
		return
	}
	at := c.waiting[0]
	if c.waiting = c.waiting[1:]; len(c.waiting) == 0 {
		delete(u.messages, m)
	}
	u.finish(at)
}

func (u *untimed) receive(m message, at place) {
	c := u.channel(m)
	if c.sent == 0 {
		c.waiting = append(c.waiting, at)
		return
	}
	if c.sent--; c.sent == 0 {
		delete(u.messages, m)
	}
	u.finish(at)
}

// instance returns which collective an operation is, and its group.
func (k *untimedRank) instance(g *graph.Graph, op *graph.Op) (instance, *graph.Group) {
	id := int32(k.value(op.Tag))
	return instance{id, k.value(op.Index)}, g.Groups[id]
}

// isRooted reports whether only some members of a collective wait for others. In these
// types a member sends when it has received what it receives.
func isRooted(t graph.CollType) bool {
	switch t {
	case graph.Reduce, graph.Gather, graph.Scatter, graph.Broadcast:
		return true
	}
	return false
}

func (u *untimed) members(i instance, n int, rooted bool) *members {
	m := u.calls[i]
	if m != nil {
		return m
	}
	if s := len(u.spare); s > 0 {
		m, u.spare = u.spare[s-1], u.spare[:s-1]
	} else {
		m = new(members)
	}
	*m = members{op: append(m.op[:0], make([]int32, n)...), need: append(m.need[:0], make([]int32, n)...), done: append(m.done[:0], make([]bool, n)...), left: n, rooted: rooted}
	for i := range m.op {
		m.op[i] = -1
	}
	u.calls[i] = m
	return m
}

// arrive lets a rank come to a collective.
func (u *untimed) arrive(at place) {
	k := &u.ranks[at.rank]
	op := &k.p.Ops[at.op]
	i, group := k.instance(u.g, op)
	m := u.members(i, group.Size(), isRooted(k.p.Calls[op.Arg].Type) && !u.barriers)
	pos := group.Pos(at.rank)
	m.op[pos] = at.op
	m.arrived++
	switch {
	case m.rooted:
		u.steps(at, func(s *collective.Step) {
			if !s.Send {
				m.need[pos]++
			}
		})
		u.pass(m, group, pos)
	case m.arrived == len(m.op):
		for p, op := range m.op {
			m.left--
			u.finish(place{group.Members[p], op})
		}
	}
	if m.left == 0 {
		delete(u.calls, i)
		u.spare = append(u.spare, m)
	}
}

// pass ends the part of a member that has come and waits for nothing, and of those that
// waited for it.
func (u *untimed) pass(m *members, group *graph.Group, pos int32) {
	todo := []int32{pos}
	for len(todo) > 0 {
		pos, todo = todo[len(todo)-1], todo[:len(todo)-1]
		if m.op[pos] < 0 || m.need[pos] != 0 || m.done[pos] {
			continue
		}
		m.done[pos] = true
		m.left--
		at := place{group.Members[pos], m.op[pos]}
		u.steps(at, func(s *collective.Step) {
			if s.Send {
				if m.need[s.Peer]--; m.need[s.Peer] == 0 {
					todo = append(todo, s.Peer)
				}
			}
		})
		u.finish(at)
	}
}

// steps visits the transfers of a rank's part of a collective.
func (u *untimed) steps(at place, visit func(s *collective.Step)) {
	k := &u.ranks[at.rank]
	op := &k.p.Ops[at.op]
	_, group := k.instance(u.g, op)
	q := &k.p.Calls[op.Arg]
	alg := u.table.Find(q.Type, q.Algorithm)
	if alg == nil {
		alg = u.table.Default(q.Type)
	}
	c := collective.Call{N: int32(group.Size()), Me: group.Pos(at.rank), Root: int32(k.value(op.Peer)), Bytes: k.value(op.Size), Units: group.Units}
	for i := range alg.Len(&c) {
		s := alg.At(&c, i)
		visit(&s)
	}
}
