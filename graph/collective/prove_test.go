package collective

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"hybrid/graph"
)

// rooted lists the types whose outcome depends on the root.
func rooted(t graph.CollType) bool {
	return t == graph.Reduce || t == graph.Gather || t == graph.Scatter || t == graph.Broadcast
}

// units divides n positions into units of m: of neighbours, or interleaved so that the
// first has positions 0, n/m, 2n/m and so on; rng shuffles either if it is given.
func units(n, m int32, interleaved bool, rng *rand.Rand) *graph.Units {
	u := &graph.Units{Size: m, Order: make([]int32, n), Place: make([]int32, n)}
	for at := range n {
		u.Order[at] = at
		if interleaved {
			u.Order[at] = at%m*(n/m) + at/m
		}
	}
	if rng != nil {
		rng.Shuffle(int(n), func(i, j int) { u.Order[i], u.Order[j] = u.Order[j], u.Order[i] })
	}
	for at, pos := range u.Order {
		u.Place[pos] = int32(at)
	}
	return u
}

// matrix is the sizes of an all-to-allv.
type matrix struct {
	n     int32
	bytes []int64
}

func (m *matrix) Bytes(src, dst int32) int64 { return m.bytes[src*m.n+dst] }

func randomSizes(n int32, rng *rand.Rand) *matrix {
	m := &matrix{n, make([]int64, n*n)}
	for i := range m.bytes {
		m.bytes[i] = rng.Int64N(1<<20) * rng.Int64N(2) // half of the pairs have nothing
	}
	return m
}

// variants are the calls of one size that a proof must cover: every root, every size
// of units, interleaved and in any order, or sizes by pair.
func variants(alg *Algorithm, n int32, bytes int64, rng *rand.Rand) []Call {
	call := Call{N: n, Bytes: bytes}
	var out []Call
	switch {
	case rooted(alg.Type):
		for call.Root = range n {
			out = append(out, call)
		}
	case alg.Schedule == hierarchical{}:
		for m := int32(1); m <= n; m++ {
			if n%m == 0 {
				call.Units = units(n, m, false, rng)
				out = append(out, call)
				call.Units = units(n, m, true, nil)
				out = append(out, call)
			}
		}
	case alg.Type == graph.AllToAllV:
		call.Sizes = randomSizes(n, rng)
		out = append(out, call)
	default:
		out = append(out, call)
	}
	return out
}

// TestDataEndWhereTheyBelong proves every algorithm for every group size up to 33,
// 47 and 64, for every root where there is one, for every size of units and for sizes
// by pair; broadcasts in segments with one and three of them. Sends end at once, or
// only when their receive has begun: no schedule deadlocks either way.
func TestDataEndWhereTheyBelong(t *testing.T) {
	sizes := []int32{47, 64}
	for n := int32(1); n <= 33; n++ {
		sizes = append(sizes, n)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for _, alg := range All() {
		t.Run(alg.Type.String()+"/"+alg.Name, func(t *testing.T) {
			amounts := []int64{1000}
			if (alg.Schedule == pipelinedTree{}) {
				amounts = []int64{segmentBytes, 3 * segmentBytes}
			}
			for _, n := range sizes {
				if alg.Valid(int(n)) != nil {
					continue
				}
				for _, bytes := range amounts {
					for _, c := range variants(&alg, n, bytes, rng) {
						for _, rendezvous := range []bool{false, true} {
							p := newProver(&alg, c)
							p.rendezvous = rendezvous
							if err := p.run(rng); err != nil {
								t.Fatal(err)
							}
						}
					}
				}
			}
		})
	}
}

// TestAnyOrderOfSteps lets rapid look for an order, a size, a root, units and sizes
// that break an algorithm.
func TestAnyOrderOfSteps(t *testing.T) {
	all := All()
	rapid.Check(t, func(t *rapid.T) {
		alg := all[rapid.IntRange(0, len(all)-1).Draw(t, "algorithm")]
		n := rapid.Int32Range(1, 64).Draw(t, "ranks")
		if alg.Valid(int(n)) != nil {
			n = 1 << rapid.IntRange(0, 6).Draw(t, "log2 ranks")
		}
		c := Call{N: n, Bytes: rapid.Int64Range(0, 1<<40).Draw(t, "bytes")}
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "order"), 0))
		if rooted(alg.Type) {
			c.Root = rapid.Int32Range(0, n-1).Draw(t, "root")
		}
		if (alg.Schedule == pipelinedTree{}) {
			c.Bytes >>= 16 // up to all 256 segments
		}
		if m := rapid.Int32Range(1, n).Draw(t, "unit"); n%m == 0 {
			c.Units = units(n, m, false, rng)
		}
		if alg.Type == graph.AllToAllV {
			c.Sizes = randomSizes(n, rng)
		}
		p := newProver(&alg, c)
		p.rendezvous = rapid.Bool().Draw(t, "rendezvous")
		if err := p.run(rng); err != nil {
			t.Fatal(err)
		}
	})
}

// TestProverFindsFaults makes sure that the proof can fail.
func TestProverFindsFaults(t *testing.T) {
	ringTable := NewTable().Find(graph.AllReduce, "ring")
	for name, change := range map[string]func(c *Call, i int32, s *Step){
		"wrong peer":       func(c *Call, _ int32, s *Step) { s.Peer = c.wrap(s.Peer + 1) },
		"wrong block":      func(c *Call, i int32, s *Step) { s.Blocks.First = c.wrap(s.Blocks.First + i/4) },
		"reduce twice":     func(_ *Call, _ int32, s *Step) { s.Reduce = !s.Send },
		"never reduce":     func(_ *Call, _ int32, s *Step) { s.Reduce = false },
		"one tag for all":  func(_ *Call, _ int32, s *Step) { s.Tag = 0 },
		"no dependencies":  func(_ *Call, _ int32, s *Step) { s.Lo, s.Hi = 0, 0 },
		"nothing released": func(_ *Call, _ int32, s *Step) { s.NextLo, s.NextHi = 0, 0 },
		"one byte more":    func(_ *Call, _ int32, s *Step) { s.Bytes++ },
		"released together, waiting apart": func(_ *Call, i int32, s *Step) {
			if i == 0 {
				s.NextLo, s.NextHi = 3, 4
			} else if i == 3 {
				s.Lo = 0
			}
		},
		"send without its data": func(_ *Call, i int32, s *Step) { s.Send = i%2 == 1 },
	} {
		broken := Algorithm{graph.AllReduce, name, "", ringTable.Valid, altered{ringTable.Schedule, change}}
		if err := newProver(&broken, Call{N: 5, Bytes: 1000}).run(rand.New(rand.NewPCG(3, 4))); err == nil {
			t.Errorf("%s: not found", name)
		}
	}
}

// headToHead lets two ranks send before they receive.
type headToHead struct{ ring }

func (headToHead) Len(*Call) int32 { return 2 }

func (headToHead) Roots(_ *Call, k int) (lo, hi int32) { return 0, int32(1 - min(k, 1)) }

func (headToHead) At(c *Call, i int32) Step {
	s := Step{Send: i == 0, Peer: 1 - c.Me, Bytes: c.Chunk(), Blocks: Blocks{i ^ c.Me ^ 1, 1, 1}, Reduce: i == 1}
	if i == 0 {
		s.NextLo, s.NextHi = 1, 2
	} else {
		s.Hi = 1
	}
	return s
}

// TestProverFindsDeadlocks that come only where sends wait for their receives.
func TestProverFindsDeadlocks(t *testing.T) {
	alg := Algorithm{graph.ReduceScatter, "head to head", "", nil, headToHead{ring{scatter: true}}}
	for _, rendezvous := range []bool{false, true} {
		p := newProver(&alg, Call{N: 2, Bytes: 10})
		p.rendezvous = rendezvous
		if err := p.run(rand.New(rand.NewPCG(5, 6))); (err != nil) != rendezvous {
			t.Errorf("rendezvous %t: %v", rendezvous, err)
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
