package main

import (
	"fmt"
	"math/big"
	"slices"
)

// plainRun follows a set of traces as the rules of workload execution have them, in the
// plainest way: every collective is replaced by nodes, and every node is looked at again
// and again. The size of a transfer takes no time, so that each is there after a
// latency, and acknowledged after another. It shares no code with what it is held against.
type plainRun struct {
	nodes       []*plainNode
	posted      map[string]*[2][]*plainNode // sends and receives by matching key
	ambiguous   bool                        // two of a key at one instant
	collectives []*plainCollective
	share       []plainShare
	half        bool // sizes are halved
	// crossing is the latency between two ranks of a scale-up group, 0 between others.
	crossing func(a, b int) int64
}

// latency is the time from the send to the receive.
func (r *plainRun) latency(a, b int) int64 {
	if a == b {
		return 0
	}
	if r.crossing != nil {
		if x := r.crossing(a, b); x > 0 {
			return x
		}
	}
	return 500 * ns
}

// acked is when a send is acknowledged.
func (r *plainRun) acked(n *plainNode) int64 { return n.start + 2*r.latency(n.rank, n.peer) }

func (r *plainRun) scaled(bytes int64) int64 {
	if r.half {
		return bytes / 2
	}
	return bytes
}

type plainKind int

const (
	nothing plainKind = iota
	waiting
	computing
	sending
	receiving
)

type plainNode struct {
	rank           int
	kind           plainKind
	work           int64
	peer           int
	key            string // of matching
	bytes          int64
	deps           []*plainNode
	started, known bool
	start, end     int64
	within         *plainCollective // of a transfer
	computes       bool             // counts as a computation
}

func (r *plainRun) add(rank int, kind plainKind, work int64, deps ...*plainNode) *plainNode {
	n := &plainNode{rank: rank, kind: kind, work: work, deps: deps}
	r.nodes = append(r.nodes, n)
	return n
}

// move adds a transfer: a send behind after, and a receive behind before.
func (r *plainRun) move(from, to int, bytes int64, after, before []*plainNode) (s, d *plainNode) {
	s, d = r.add(from, sending, 0, after...), r.add(to, receiving, 0, before...)
	s.peer, s.bytes, s.key = to, bytes, fmt.Sprint("transfer ", len(r.nodes))
	d.peer, d.bytes, d.key = from, bytes, s.key
	return s, d
}

// plainShare holds the work that is left of the computations of a rank, in exact
// fractions of a picosecond at an exact time.
type plainShare struct {
	at   *big.Rat
	left map[*plainNode]*big.Rat
}

func rat(n int64) *big.Rat { return new(big.Rat).SetInt64(n) }

// next is when the next computation has nothing left.
func (s *plainShare) next() (who []*plainNode, at *big.Rat) {
	for n, left := range s.left {
		end := new(big.Rat).Mul(left, rat(int64(len(s.left))))
		switch end.Add(end, s.at); {
		case at == nil || end.Cmp(at) < 0:
			who, at = []*plainNode{n}, end
		case end.Cmp(at) == 0:
			who = append(who, n)
		}
	}
	return who, at
}

// until lets time pass; what ends is over at the first picosecond that is not earlier.
func (s *plainShare) until(now int64) {
	for {
		who, at := s.next()
		if at == nil || at.Cmp(rat(now)) > 0 {
			break
		}
		s.pass(at)
		for _, n := range who {
			n.known, n.end = true, ceiling(at)
			delete(s.left, n)
		}
	}
	s.pass(rat(now))
}

func (s *plainShare) pass(to *big.Rat) {
	if len(s.left) > 0 {
		d := new(big.Rat).Sub(to, s.at)
		d.Quo(d, rat(int64(len(s.left))))
		for _, left := range s.left {
			left.Sub(left, d)
		}
	}
	s.at = to
}

func ceiling(x *big.Rat) int64 {
	q, m := new(big.Int).DivMod(x.Num(), x.Denom(), new(big.Int))
	if m.Sign() > 0 {
		q.Add(q, big.NewInt(1))
	}
	return q.Int64()
}

// run starts every node as soon as what it depends on has ended.
func (r *plainRun) run(ranks int) {
	r.share = make([]plainShare, ranks)
	for i := range r.share {
		r.share[i] = plainShare{rat(0), map[*plainNode]*big.Rat{}}
	}
	for now := int64(0); now >= 0; now = r.nextTime(now) {
		for i := range r.share {
			r.share[i].until(now)
		}
		for again := true; again; {
			again = false
			for _, n := range r.nodes {
				if !n.started && n.ready(now) {
					r.start(n, now)
					again = true
				}
			}
		}
	}
}

func (n *plainNode) over(now int64) bool { return n.known && n.end <= now }

func (n *plainNode) ready(now int64) bool {
	return !slices.ContainsFunc(n.deps, func(d *plainNode) bool { return !d.over(now) })
}

func (r *plainRun) start(n *plainNode, now int64) {
	n.started, n.start = true, now
	switch n.kind {
	case nothing, waiting:
		n.known, n.end = true, now+n.work
	case computing:
		if n.work == 0 {
			n.known, n.end = true, now
		} else {
			r.share[n.rank].left[n] = rat(n.work)
		}
	case sending:
		n.known, n.end = true, now
		r.post(n, 0)
	case receiving:
		r.post(n, 1)
	}
}

// post matches the k-th send of a key with its k-th receive, whose end is then known.
func (r *plainRun) post(n *plainNode, side int) {
	if r.posted == nil {
		r.posted = map[string]*[2][]*plainNode{}
	}
	q := r.posted[n.key]
	if q == nil {
		q = new([2][]*plainNode)
		r.posted[n.key] = q
	}
	k := len(q[side])
	if k > 0 && q[side][k-1].start == n.start {
		r.ambiguous = true
	}
	q[side] = append(q[side], n)
	if k < len(q[1-side]) {
		s, d := q[0][k], q[1][k]
		d.known, d.end, d.bytes = true, max(d.start, s.start+r.latency(s.rank, d.rank)), s.bytes
	}
}

// nextTime is when something ends next, or -1.
func (r *plainRun) nextTime(now int64) int64 {
	next := int64(-1)
	see := func(t int64) {
		if t > now && (next < 0 || t < next) {
			next = t
		}
	}
	for _, n := range r.nodes {
		if n.known {
			see(n.end)
		}
	}
	for i := range r.share {
		if _, at := r.share[i].next(); at != nil {
			see(ceiling(at))
		}
	}
	return next
}

// finish is when a rank has ended: its nodes, the acknowledgements of what it sent, and
// those of what it received through the network.
func (r *plainRun) finish(rank int) int64 {
	var end int64
	for _, n := range r.nodes {
		if n.rank == rank {
			end = max(end, n.end)
		}
	}
	for _, n := range r.nodes {
		scaleUp := r.crossing != nil && r.crossing(n.rank, n.peer) > 0
		if n.kind == sending && (n.rank == rank || n.peer == rank && !scaleUp) {
			end = max(end, r.acked(n))
		}
	}
	return end
}

// finished reports whether every node has ended.
func (r *plainRun) finished() bool {
	return !slices.ContainsFunc(r.nodes, func(n *plainNode) bool { return !n.known })
}

// plainCollective is an instance of a collective: its members in order, and what each
// waits for.
type plainCollective struct {
	r             *plainRun
	members       []int
	whole, part   int64 // S and C
	bytes         int64 // of the transfers to come
	root          int   // position
	barrier       bool  // of synchronization
	start, finish []*plainNode
}

// within puts the transfers that the function makes between a start and an end of each
// member.
func (r *plainRun) within(members []int, bytes int64, root int, before [][]*plainNode, transfers func(c *plainCollective)) *plainCollective {
	n := int64(len(members))
	c := &plainCollective{r: r, members: members, root: root, whole: bytes, part: (bytes + n - 1) / n}
	for i, m := range members {
		c.start = append(c.start, r.add(m, nothing, 0, before[i]...))
		c.finish = append(c.finish, r.add(m, nothing, 0, c.start[i]))
	}
	transfers(c)
	r.collectives = append(r.collectives, c)
	return c
}

// move is a transfer between positions, each end behind the member's start and more.
func (c *plainCollective) move(from, to int, after, before []*plainNode) (s, d *plainNode) {
	with := func(i int, more []*plainNode) []*plainNode { return append([]*plainNode{c.start[i]}, more...) }
	s, d = c.r.move(c.members[from], c.members[to], c.r.scaled(c.bytes), with(from, after), with(to, before))
	s.within, d.within = c, c
	c.finish[from].deps = append(c.finish[from].deps, s)
	c.finish[to].deps = append(c.finish[to].deps, d)
	return s, d
}

// ring makes steps in which every member sends to the next, after the receive before.
func (c *plainCollective) ring(steps int, bytes int64) {
	n := len(c.members)
	c.bytes = bytes
	got := make([][]*plainNode, n)
	for range steps {
		now := make([][]*plainNode, n)
		for i := range n {
			to := (i + 1) % n
			_, d := c.move(i, to, got[i], got[to])
			now[to] = []*plainNode{d}
		}
		got = now
	}
}

// exchange makes a step with the partner at each distance in turn: half of the data at
// distance 1, a quarter at 2, and so on.
func (c *plainCollective) exchange(distances ...int) {
	n := len(c.members)
	got := make([][]*plainNode, n)
	for _, d := range distances {
		now := make([][]*plainNode, n)
		c.bytes = c.part * int64(n) / 2 / int64(d)
		for i := range n {
			_, r := c.move(i, i^d, got[i], got[i^d])
			now[i^d] = []*plainNode{r}
		}
		got = now
	}
}

// tree reduces up a tree over the positions of a list, and back down if asked for. The
// first of the list is the root; the rest is a balanced binary search tree below it.
func (c *plainCollective) tree(list []int, bytes int64, down bool) {
	c.bytes = bytes
	parent := map[int]int{}
	var below func(top int, part []int)
	below = func(top int, part []int) {
		if len(part) == 0 {
			return
		}
		mid := len(part) / 2
		parent[part[mid]] = top
		below(part[mid], part[:mid])
		below(part[mid], part[mid+1:])
	}
	below(list[0], list[1:])
	var up func(i int) []*plainNode
	var spread func(i int, after []*plainNode)
	up = func(i int) (got []*plainNode) {
		for _, child := range list {
			if p, ok := parent[child]; ok && p == i {
				_, d := c.move(child, i, up(child), nil)
				got = append(got, d)
			}
		}
		return got
	}
	spread = func(i int, after []*plainNode) {
		for _, child := range list {
			if p, ok := parent[child]; ok && p == i {
				_, d := c.move(i, child, after, nil)
				spread(child, []*plainNode{d})
			}
		}
	}
	if got := up(list[0]); down {
		spread(list[0], got)
	}
}

// places are the positions, from one on and around.
func (c *plainCollective) places(first int) []int {
	var list []int
	for i := range c.members {
		list = append(list, (first+i)%len(c.members))
	}
	return list
}

// distances are 1, 2, 4, ... below n.
func distances(n int) (out []int) {
	for d := 1; d < n; d *= 2 {
		out = append(out, d)
	}
	return out
}
