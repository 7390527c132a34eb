package collective

import (
	"fmt"
	"math/rand/v2"

	"hybrid/graph"
)

// A block of data is the set of ranks whose contribution it holds, one bit a rank.
type contributions = uint64

// channel is what FIFO matching of one instance goes by.
type channel struct{ src, dst, tag int32 }

// prover executes one instance of a collective symbolically, in any order that its
// dependencies allow, and notes the first thing that is wrong.
type prover struct {
	alg   *Algorithm
	n     int32
	root  int32
	bytes int64
	calls []Call
	units *graph.Units
	sizes PairSizes
	data  [][]contributions // by rank and block
	left  [][]int32         // unmet dependencies by rank and step
	ready []stepOf
	late  map[channel]stepOf // receives that wait for their message
	wire  map[channel]message
	used  map[channel]int
	done  int
	err   error
	// rendezvous lets a send end only when its receive has begun, as large messages do.
	rendezvous bool
}

type stepOf struct{ rank, step int32 }

type message struct {
	sender stepOf // that waits for the receive; rank -1 if it does not
	blocks Blocks
	bytes  int64
	data   []contributions
}

func newProver(alg *Algorithm, call Call) *prover {
	p := &prover{
		alg: alg, n: call.N, root: call.Root, bytes: call.Bytes, units: call.Units, sizes: call.Sizes,
		late: map[channel]stepOf{}, wire: map[channel]message{}, used: map[channel]int{},
	}
	for call.Me = range p.n {
		p.calls = append(p.calls, call)
		p.data = append(p.data, p.initial(call.Me))
	}
	return p
}

func (p *prover) failf(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf("%s %s, %d ranks, root %d, %d B, units %v: %s", p.alg.Type, p.alg.Name, p.n, p.root, p.bytes, p.units, fmt.Sprintf(format, args...))
	}
}

// initial is what a rank holds before the collective starts.
func (p *prover) initial(me int32) []contributions {
	blocks := p.alg.BlockCount(&p.calls[me])
	held := make([]contributions, blocks)
	mine := contributions(1) << me
	for b := range blocks {
		own := false
		switch p.alg.Type {
		case graph.AllGather, graph.Gather:
			own = b == me
		case graph.Scatter, graph.Broadcast:
			own = me == p.root
		case graph.AllToAll, graph.AllToAllV:
			own = b/p.n == me
		default: // reductions: every rank contributes to every block
			own = true
		}
		if own {
			held[b] = mine
		}
	}
	return held
}

// wanted is what a rank must hold of a block at the end, and false where the
// collective promises nothing about it.
func (p *prover) wanted(me, b int32) (contributions, bool) {
	all := ^contributions(0) >> (64 - p.n)
	switch p.alg.Type {
	case graph.AllReduce, graph.Barrier:
		return all, true
	case graph.ReduceScatter, graph.ReduceScatterBlock:
		return all, b == me
	case graph.Reduce:
		return all, me == p.root
	case graph.AllGather:
		return 1 << b, true
	case graph.Gather:
		return 1 << b, me == p.root
	case graph.Scatter:
		return 1 << p.root, b == me
	case graph.Broadcast:
		return 1 << p.root, true
	case graph.AllToAll, graph.AllToAllV:
		return 1 << (b / p.n), b%p.n == me
	}
	p.failf("no rule for the type")
	return 0, false
}

// structure checks the promises of Schedule that do not depend on the order of
// execution, and fills the dependency counters.
func (p *prover) structure() {
	for me := range p.n {
		c := &p.calls[me]
		count := p.alg.Len(c)
		steps := make([]Step, count)
		p.left = append(p.left, make([]int32, count))
		for i := range count {
			steps[i] = p.alg.At(c, i)
			p.stepAlone(me, i, count, &steps[i])
		}
		p.inverse(me, steps)
		p.roots(me, steps)
	}
}

func (p *prover) stepAlone(me, i, count int32, s *Step) {
	p.left[me][i] = s.Hi - s.Lo
	switch {
	case s.Peer < 0 || s.Peer >= p.n || s.Peer == me:
		p.failf("rank %d step %d: peer %d", me, i, s.Peer)
	case s.Lo < 0 || s.Hi < s.Lo || s.Hi > i:
		p.failf("rank %d step %d waits for [%d,%d)", me, i, s.Lo, s.Hi)
	case s.NextHi < s.NextLo || s.NextHi > s.NextLo && (s.NextLo <= i || s.NextHi > count):
		p.failf("rank %d step %d releases [%d,%d)", me, i, s.NextLo, s.NextHi)
	case s.Bytes != p.blockBytes(me, s):
		p.failf("rank %d step %d: %d B in %v, which are %d B", me, i, s.Bytes, s.Blocks, p.blockBytes(me, s))
	case s.Send && s.Reduce:
		p.failf("rank %d step %d: a send cannot reduce", me, i)
	case s.Blocks.Count < 1 || s.Tag < 0 || s.Tag >= 1<<30:
		p.failf("rank %d step %d: %d blocks, tag %d", me, i, s.Blocks.Count, s.Tag)
	}
}

// blockBytes is the size of the blocks that a step carries.
func (p *prover) blockBytes(me int32, s *Step) int64 {
	if p.sizes == nil {
		return int64(s.Blocks.Count) * p.alg.BlockBytes(&p.calls[me])
	}
	total := int64(0)
	for i := range s.Blocks.Count {
		b := p.block(me, s, i)
		total += p.sizes.Bytes(b/p.n, b%p.n)
	}
	return total
}

// inverse checks that the steps which i releases are those that wait for i, and that
// they all wait for the same.
func (p *prover) inverse(me int32, steps []Step) {
	waits := map[[2]int32]bool{}
	for i, s := range steps {
		for d := s.Lo; d < s.Hi; d++ {
			waits[[2]int32{d, int32(i)}] = true
		}
	}
	for i, s := range steps {
		for next := s.NextLo; next < s.NextHi; next++ {
			k := [2]int32{int32(i), next}
			if !waits[k] {
				p.failf("rank %d step %d releases %d, which does not wait for it", me, i, next)
			}
			if a, b := &steps[next], &steps[s.NextLo]; a.Lo != b.Lo || a.Hi != b.Hi {
				p.failf("rank %d step %d releases %d and %d, which wait for different steps", me, i, s.NextLo, next)
			}
			delete(waits, k)
		}
	}
	for k := range waits {
		p.failf("rank %d step %d waits for %d, which does not release it", me, k[1], k[0])
	}
}

// roots checks that Roots names exactly the steps that wait for nothing, once each
// and in rising order.
func (p *prover) roots(me int32, steps []Step) {
	next := int32(0)
	for k := 0; ; k++ {
		lo, hi := p.alg.Roots(&p.calls[me], k)
		if lo >= hi {
			break
		}
		if lo < next || int(hi) > len(steps) {
			p.failf("rank %d: roots [%d,%d) of %d steps", me, lo, hi, len(steps))
			return
		}
		for ; next < hi; next++ {
			free := steps[next].Lo == steps[next].Hi
			if free != (next >= lo) {
				p.failf("rank %d step %d: waits for nothing %t, a root %t", me, next, free, next >= lo)
			}
		}
		for i := lo; i < hi; i++ {
			p.ready = append(p.ready, stepOf{me, i})
		}
	}
	for ; int(next) < len(steps); next++ {
		if steps[next].Lo == steps[next].Hi {
			p.failf("rank %d step %d waits for nothing but is no root", me, next)
		}
	}
}

// run executes all steps in an order drawn from rng.
func (p *prover) run(rng *rand.Rand) error {
	p.structure()
	for p.err == nil && len(p.ready) > 0 {
		i := rng.IntN(len(p.ready))
		at := p.ready[i]
		p.ready[i] = p.ready[len(p.ready)-1]
		p.ready = p.ready[:len(p.ready)-1]
		p.execute(at)
	}
	p.finish()
	return p.err
}

func (p *prover) execute(at stepOf) {
	s := p.alg.At(&p.calls[at.rank], at.step)
	if s.Send && p.send(at, &s) || !s.Send && p.receive(at, &s) {
		p.complete(at)
	}
}

// complete ends a step and starts those that waited for it alone.
func (p *prover) complete(at stepOf) {
	s := p.alg.At(&p.calls[at.rank], at.step)
	p.done++
	for next := s.NextLo; next < s.NextHi; next++ {
		if p.left[at.rank][next]--; p.left[at.rank][next] == 0 {
			p.ready = append(p.ready, stepOf{at.rank, next})
		}
	}
}

// lister is implemented by schedules whose steps carry blocks that do not lie evenly
// spaced: it names them one by one.
type lister interface {
	block(c *Call, s *Step, j int32) int32
}

func (p *prover) block(me int32, s *Step, i int32) int32 {
	if l, ok := p.alg.Schedule.(lister); ok {
		return l.block(&p.calls[me], s, i)
	}
	return (s.Blocks.First + i*s.Blocks.Stride) % p.alg.BlockCount(&p.calls[0])
}

// send reports whether the send is complete.
func (p *prover) send(at stepOf, s *Step) bool {
	ch := channel{at.rank, s.Peer, s.Tag}
	if p.used[ch]++; p.used[ch] > 1 {
		p.failf("tag %d from %d to %d is used twice", s.Tag, at.rank, s.Peer)
	}
	m := message{sender: stepOf{-1, 0}, blocks: s.Blocks, bytes: s.Bytes}
	for i := range s.Blocks.Count {
		b := p.block(at.rank, s, i)
		if p.data[at.rank][b] == 0 {
			p.failf("rank %d step %d sends block %d, which it does not have", at.rank, at.step, b)
		}
		m.data = append(m.data, p.data[at.rank][b])
	}
	r, posted := p.late[ch]
	if posted {
		delete(p.late, ch)
		p.ready = append(p.ready, r)
	}
	done := posted || !p.rendezvous
	if !done {
		m.sender = at
	}
	p.wire[ch] = m
	return done
}

// receive reports whether the message was there.
func (p *prover) receive(at stepOf, s *Step) bool {
	ch := channel{s.Peer, at.rank, s.Tag}
	m, ok := p.wire[ch]
	if !ok {
		p.late[ch] = at
		return false
	}
	delete(p.wire, ch)
	if m.blocks != s.Blocks || m.bytes != s.Bytes {
		p.failf("rank %d step %d expects %v of %d B, %d sent %v of %d B", at.rank, at.step, s.Blocks, s.Bytes, s.Peer, m.blocks, m.bytes)
	}
	for i := range min(s.Blocks.Count, int32(len(m.data))) {
		b := p.block(at.rank, s, i)
		have, got := p.data[at.rank][b], m.data[i]
		switch {
		case s.Reduce && have&got != 0:
			p.failf("rank %d step %d counts %b twice in block %d", at.rank, at.step, have&got, b)
		case s.Reduce:
			p.data[at.rank][b] = have | got
		case have&^got != 0:
			p.failf("rank %d step %d overwrites %b of block %d with %b", at.rank, at.step, have, b, got)
		default:
			p.data[at.rank][b] = got
		}
	}
	if m.sender.rank >= 0 {
		p.complete(m.sender)
	}
	return true
}

func (p *prover) finish() {
	total := 0
	for me := range p.n {
		total += len(p.left[me])
	}
	if p.done != total || len(p.wire) != 0 {
		p.failf("%d of %d steps ran, %d messages were not received", p.done, total, len(p.wire))
	}
	for me := range p.n {
		for b := range int32(len(p.data[me])) {
			if want, ok := p.wanted(me, b); ok && p.data[me][b] != want {
				p.failf("rank %d ends with %b in block %d, want %b", me, p.data[me][b], b, want)
			}
		}
	}
}
