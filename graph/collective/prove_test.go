package collective

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

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
	data  [][]contributions // by rank and block
	left  [][]int32         // unmet dependencies by rank and step
	ready []stepOf
	late  map[channel]stepOf // receives that wait for their message
	wire  map[channel]message
	used  map[channel]int
	done  int
	err   error
}

type stepOf struct{ rank, step int32 }

type message struct {
	blocks Blocks
	bytes  int64
	data   []contributions
}

func newProver(alg *Algorithm, n, root int32, bytes int64) *prover {
	p := &prover{
		alg: alg, n: n, root: root, bytes: bytes,
		late: map[channel]stepOf{}, wire: map[channel]message{}, used: map[channel]int{},
	}
	for me := range n {
		p.calls = append(p.calls, Call{N: n, Me: me, Root: root, Bytes: bytes})
		p.data = append(p.data, p.initial(me))
	}
	return p
}

func (p *prover) failf(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf("%s %s, %d ranks, root %d, %d B: %s", p.alg.Type, p.alg.Name, p.n, p.root, p.bytes, fmt.Sprintf(format, args...))
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
		case graph.AllToAll:
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
	case graph.AllToAll:
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
	case s.Bytes != int64(s.Blocks.Count)*p.alg.BlockBytes(&p.calls[me]):
		p.failf("rank %d step %d: %d B for %d blocks of %d B", me, i, s.Bytes, s.Blocks.Count, p.alg.BlockBytes(&p.calls[me]))
	case s.Send && s.Reduce:
		p.failf("rank %d step %d: a send cannot reduce", me, i)
	case s.Blocks.Count < 1 || s.Tag < 0 || s.Tag >= 1<<30:
		p.failf("rank %d step %d: %d blocks, tag %d", me, i, s.Blocks.Count, s.Tag)
	}
}

// inverse checks that the steps which i releases are those that wait for i.
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
	if s.Send {
		p.send(at, &s)
	} else if !p.receive(at, &s) {
		return
	}
	p.done++
	for next := s.NextLo; next < s.NextHi; next++ {
		if p.left[at.rank][next]--; p.left[at.rank][next] == 0 {
			p.ready = append(p.ready, stepOf{at.rank, next})
		}
	}
}

func (p *prover) block(s *Blocks, i int32) int32 {
	return (s.First + i*s.Stride) % p.alg.BlockCount(&p.calls[0])
}

func (p *prover) send(at stepOf, s *Step) {
	ch := channel{at.rank, s.Peer, s.Tag}
	if p.used[ch]++; p.used[ch] > 1 {
		p.failf("tag %d from %d to %d is used twice", s.Tag, at.rank, s.Peer)
	}
	m := message{blocks: s.Blocks, bytes: s.Bytes}
	for i := range s.Blocks.Count {
		b := p.block(&s.Blocks, i)
		if p.data[at.rank][b] == 0 {
			p.failf("rank %d step %d sends block %d, which it does not have", at.rank, at.step, b)
		}
		m.data = append(m.data, p.data[at.rank][b])
	}
	p.wire[ch] = m
	if r, ok := p.late[ch]; ok {
		delete(p.late, ch)
		p.ready = append(p.ready, r)
	}
}

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
		b := p.block(&s.Blocks, i)
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

// rooted lists the types whose outcome depends on the root.
func rooted(t graph.CollType) bool {
	return t == graph.Reduce || t == graph.Gather || t == graph.Scatter || t == graph.Broadcast
}

// TestDataEndWhereTheyBelong proves every algorithm for every group size up to 33,
// 47 and 64, and for every root where there is one.
func TestDataEndWhereTheyBelong(t *testing.T) {
	sizes := []int32{47, 64}
	for n := int32(1); n <= 33; n++ {
		sizes = append(sizes, n)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for _, alg := range All() {
		t.Run(alg.Type.String()+"/"+alg.Name, func(t *testing.T) {
			for _, n := range sizes {
				if alg.Valid(int(n)) != nil {
					continue
				}
				roots := int32(1)
				if rooted(alg.Type) {
					roots = n
				}
				for root := range roots {
					if err := newProver(&alg, n, root, 1000).run(rng); err != nil {
						t.Fatal(err)
					}
				}
			}
		})
	}
}

// TestAnyOrderOfSteps lets rapid look for an order, a size and a root that break an
// algorithm.
func TestAnyOrderOfSteps(t *testing.T) {
	all := All()
	rapid.Check(t, func(t *rapid.T) {
		alg := all[rapid.IntRange(0, len(all)-1).Draw(t, "algorithm")]
		n := rapid.Int32Range(1, 64).Draw(t, "ranks")
		if alg.Valid(int(n)) != nil {
			n = 1 << rapid.IntRange(0, 6).Draw(t, "log2 ranks")
		}
		root := int32(0)
		if rooted(alg.Type) {
			root = rapid.Int32Range(0, n-1).Draw(t, "root")
		}
		bytes := rapid.Int64Range(0, 1<<40).Draw(t, "bytes")
		seed := rapid.Uint64().Draw(t, "order")
		if err := newProver(&alg, n, root, bytes).run(rand.New(rand.NewPCG(seed, 0))); err != nil {
			t.Fatal(err)
		}
	})
}

// TestProverFindsFaults makes sure that the proof can fail.
func TestProverFindsFaults(t *testing.T) {
	ringTable := NewTable().Find(graph.AllReduce, "ring")
	for name, change := range map[string]func(c *Call, i int32, s *Step){
		"wrong peer":            func(c *Call, _ int32, s *Step) { s.Peer = c.wrap(s.Peer + 1) },
		"wrong block":           func(c *Call, i int32, s *Step) { s.Blocks.First = c.wrap(s.Blocks.First + i/4) },
		"reduce twice":          func(_ *Call, _ int32, s *Step) { s.Reduce = !s.Send },
		"never reduce":          func(_ *Call, _ int32, s *Step) { s.Reduce = false },
		"one tag for all":       func(_ *Call, _ int32, s *Step) { s.Tag = 0 },
		"no dependencies":       func(_ *Call, _ int32, s *Step) { s.Lo, s.Hi = 0, 0 },
		"nothing released":      func(_ *Call, _ int32, s *Step) { s.NextLo, s.NextHi = 0, 0 },
		"one byte more":         func(_ *Call, _ int32, s *Step) { s.Bytes++ },
		"send without its data": func(_ *Call, i int32, s *Step) { s.Send = i%2 == 1 },
	} {
		broken := Algorithm{graph.AllReduce, name, "", ringTable.Valid, altered{ringTable.Schedule, change}}
		if err := newProver(&broken, 5, 0, 1000).run(rand.New(rand.NewPCG(3, 4))); err == nil {
			t.Errorf("%s: not found", name)
		}
	}
}

type altered struct {
	Schedule
	change func(c *Call, i int32, s *Step)
}

func (a altered) At(c *Call, i int32) Step {
	s := a.Schedule.At(c, i)
	a.change(c, i, &s)
	return s
}
