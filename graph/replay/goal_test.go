package replay

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"hybrid/graph"
	"hybrid/internal/diag"
)

// goalOp is an operation of a GOAL file, goalRank a rank's operations by label.
type goalOp struct {
	verb                  string
	n, peer, tag          int64
	requires, posted      []string
	finished, outstanding bool
}

type goalRank struct {
	ops   map[string]*goalOp
	order []string
}

// parseGOAL reads the subset of GOAL that we write.
func parseGOAL(text string) ([]goalRank, error) {
	op := regexp.MustCompile(`^(l\d+): (send|recv|calc) (\d+)b?(?: (?:to|from) (-?\d+))?(?: tag (-?\d+))?$`)
	dep := regexp.MustCompile(`^(l\d+) (i?requires) (l\d+)$`)
	var ranks []goalRank
	count := 0
	for i, line := range strings.Split(text, "\n") {
		var rank *goalRank
		if len(ranks) > 0 {
			rank = &ranks[len(ranks)-1]
		}
		switch m, d := op.FindStringSubmatch(line), dep.FindStringSubmatch(line); {
		case line == "" || line == "}":
		case strings.HasPrefix(line, "num_ranks "):
			count, _ = strconv.Atoi(line[len("num_ranks "):])
		case line == fmt.Sprintf("rank %d {", len(ranks)):
			ranks = append(ranks, goalRank{ops: map[string]*goalOp{}})
		case m != nil && rank.ops[m[1]] == nil:
			n, _ := strconv.ParseInt(m[3], 10, 64)
			peer, _ := strconv.ParseInt(m[4], 10, 64)
			tag, _ := strconv.ParseInt(m[5], 10, 64)
			rank.ops[m[1]] = &goalOp{verb: m[2], n: n, peer: peer, tag: tag}
			rank.order = append(rank.order, m[1])
		case d != nil && rank.ops[d[1]] != nil && rank.ops[d[3]] != nil:
			o := rank.ops[d[1]]
			if d[2] == "requires" {
				o.requires = append(o.requires, d[3])
			} else {
				o.posted = append(o.posted, d[3])
			}
		default:
			return nil, fmt.Errorf("line %d: %q", i+1, line)
		}
	}
	if count != len(ranks) {
		return nil, fmt.Errorf("%d ranks, %d announced", len(ranks), count)
	}
	return ranks, nil
}

// replayGOAL runs a file without time and reports whether every operation ends.
func replayGOAL(ranks []goalRank) error {
	type wire struct {
		src, dst int
		tag      int64
	}
	sent, waiting := map[wire][]int64{}, map[wire][]*goalOp{}
	for again := true; again; {
		again = false
		for r := range ranks {
			for _, l := range ranks[r].order {
				o := ranks[r].ops[l]
				if o.finished || o.outstanding || !ranks[r].ready(o) {
					continue
				}
				again = true
				switch o.verb {
				case "calc":
					o.finished = true
				case "send":
					o.finished = true
					k := wire{r, int(o.peer), o.tag}
					sent[k] = append(sent[k], o.n)
				case "recv":
					o.outstanding = true
					k := wire{int(o.peer), r, o.tag}
					waiting[k] = append(waiting[k], o)
				}
			}
		}
		for k, list := range waiting {
			for len(list) > 0 && len(sent[k]) > 0 {
				if sent[k][0] != list[0].n {
					return fmt.Errorf("%v: %d B meet a receive of %d B", k, sent[k][0], list[0].n)
				}
				list[0].finished, again = true, true
				sent[k], list = sent[k][1:], list[1:]
			}
			waiting[k] = list
		}
	}
	for r := range ranks {
		for _, l := range ranks[r].order {
			if !ranks[r].ops[l].finished {
				return fmt.Errorf("rank %d: %s never ends", r, l)
			}
		}
	}
	return nil
}

func (r *goalRank) ready(o *goalOp) bool {
	for _, d := range o.requires {
		if !r.ops[d].finished {
			return false
		}
	}
	for _, d := range o.posted {
		if p := r.ops[d]; !p.finished && !p.outstanding {
			return false
		}
	}
	return true
}

func writeGOAL(t testing.TB, g *graph.Graph, opt GOALOptions) string {
	t.Helper()
	var b strings.Builder
	if err := WriteGOAL(&b, g, opt); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func pingPong(t testing.TB, reps int64) *graph.Graph {
	return makeGraph(t, graph.Blueprint, 2, false, func(m *maker) {
		m.loop(reps, func(int32) {
			if m.rank == 0 {
				m.compute("think", 3_000_000)
				m.send("ping", 1, 8, m.tag(1))
				m.recv("pong", 1, 8, m.tag(2))
			} else {
				m.recv("ping", 0, 8, m.tag(1))
				m.send("pong", 0, 8, m.tag(2))
			}
		})
	})
}

// TestGOALGolden: HYBRID_UPDATE=1 rewrites the file.
func TestGOALGolden(t *testing.T) {
	for name, g := range map[string]*graph.Graph{
		"pingpong": pingPong(t, 2),
		"composite": makeGraph(t, graph.Blueprint, 2, false, func(m *maker) {
			x := m.Label("x")
			m.compute("a", 1_500, async, label(x))
			m.recv("r", 1-m.rank, 8, flag(graph.More))
			m.recv("r", 1-m.rank, 8, flag(graph.More))
			m.send("s", 1-m.rank, 8, flag(graph.More))
			m.send("s", 1-m.rank, 8)
			m.collective("c", graph.Reduce, "ring", 0, 100, after(latest(x)))
			m.compute("b", 2_000)
		}),
	} {
		got := writeGOAL(t, g, GOALOptions{})
		path := filepath.Join("..", "..", "testdata", "graph", name+".goal")
		if os.Getenv("HYBRID_UPDATE") != "" {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(string(want), got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// TestGOALCounts reads files back: the transfers of a collective are all there with
// tags from 100000 up, and everything ends when the file is run.
func TestGOALCounts(t *testing.T) {
	sizes := &sizesOf{}
	for _, c := range []struct {
		name                string
		write               func(m *maker)
		flat                bool
		sends, calcs, bytes int64
	}{
		// 112 transfers of 125 B; each rank joins its ring of 14 steps: the last receive
		// and all 14 sends have no successor but the sends' receivers.
		{"ring", func(m *maker) { m.collective("c", graph.AllReduce, "ring", 0, 1000) }, false, 112, 8, 14000},
		// The barrier adds 14 sends of nothing; it ends with a join on all ranks but its
		// root, whose one send comes last.
		{"reduce behind a barrier", func(m *maker) { m.collective("c", graph.Reduce, "ring", 0, 10, flag(graph.Synchronize)) }, false, 14 + 7, 7, 70},
		{"flat", func(m *maker) {
			a := m.compute("a", 1000)
			b := m.collective("c", graph.AllReduce, "halving-doubling", 0, 1000, on(a))
			m.compute("b", 1000, on(a, b))
		}, true, 48, 8 * 3, 14000},
		{"streams", func(m *maker) {
			s := m.Stream("s")
			m.loop(3, func(int32) {
				m.collective("c", graph.AllToAll, "sequential", 0, 80, async, stream(s))
				m.compute("a", 1000)
			})
			m.join("w", flag(graph.WaitAll))
			m.compute("b", 1000)
		}, false, 3 * 56, -1, 3 * 56 * 10},
		{"two phases", func(m *maker) { m.collective("c", graph.AllReduce, "direct", 0, 1000) }, false, 112, -1, 14000},
		{"segments", func(m *maker) { m.collective("c", graph.Broadcast, "pipelined-tree", 0, 3<<16) }, false, 3 * 7, -1, 7 * 3 << 16},
		// The sum of 100 r + 10 p over senders r and receivers p != r: 7 * 28 * 110.
		{"sizes by pair", func(m *maker) { m.alltoallv("c", "pairwise", sizes, 0) }, false, 56, -1, 21560},
	} {
		text := writeGOAL(t, makeGraph(t, graph.Blueprint, 8, c.flat, c.write), GOALOptions{})
		ranks, err := parseGOAL(text)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		var sends, recvs, calcs, bytes int64
		for _, r := range ranks {
			for _, o := range r.ops {
				switch o.verb {
				case "send":
					sends++
					bytes += o.n
				case "recv":
					recvs++
				case "calc":
					calcs++
				}
				if o.verb != "calc" && o.tag < firstGOALTag {
					t.Errorf("%s: tag %d", c.name, o.tag)
				}
			}
		}
		if sends != c.sends || recvs != sends || bytes != c.bytes || c.calcs >= 0 && calcs != c.calcs {
			t.Errorf("%s: %d sends of %d B in all, %d receives, %d calcs; want %d of %d B, %d calcs\n%s", c.name, sends, bytes, recvs, calcs, c.sends, c.bytes, c.calcs, text)
		}
		if err := replayGOAL(ranks); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestGOALKeepsOrder draws programs with labels, streams and waits: whenever an
// operation could not start in the graph before another had ended, the file says so
// too. The other's end is found by driving the cursor with that one operation held
// back.
func TestGOALKeepsOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(rt, "operations")
		kinds := rapid.SliceOfN(rapid.IntRange(0, 7), n, n).Draw(rt, "kinds")
		waits := rapid.SliceOfN(rapid.IntRange(0, 2), n, n).Draw(rt, "labels")
		g := makeGraph(rt2(t), graph.Blueprint, 1, false, func(m *maker) {
			s := m.Stream("s")
			x := []int32{m.Label("x"), m.Label("y"), m.Label("z")}
			for i, k := range kinds {
				name, ns := fmt.Sprint(i), int64(i+1)*1000
				l := x[waits[i]]
				switch k {
				case 0:
					m.compute(name, ns)
				case 1:
					m.compute(name, ns, async, label(l))
				case 2:
					m.compute(name, ns, async, stream(s))
				case 3:
					m.compute(name, ns, async, label(l), after(latest(l)))
				case 4:
					m.join(name, after(latest(l)))
				case 5:
					m.compute(name, ns, flag(graph.More))
				case 6:
					m.join(name, flag(graph.WaitAll))
				case 7:
					m.compute(name, ns, stream(s), after(graph.Dep{Mode: graph.DepEach, Target: l}))
				}
			}
			m.compute("end", 1_000_000)
		})
		ranks, err := parseGOAL(writeGOAL(t, g, GOALOptions{}))
		if err != nil {
			rt.Fatal(err)
		}
		// Calcs carry their operation's number as their time.
		byTime := map[int64]string{}
		for l, o := range ranks[0].ops {
			byTime[o.n] = l
		}
		for held, label := range byTime {
			if held == 0 {
				continue
			}
			blocked := blockedBy(g, held*1000)
			for other, l := range byTime {
				if other != 0 && other != held && blocked[other*1000] != ranks[0].reaches(l, label) {
					rt.Fatalf("%d waits for %d: %t in the graph", other, held, blocked[other*1000])
				}
			}
		}
	})
}

// TestGOALComposite: what follows a composite requires all its members, also where
// something else starts in between, and no member requires another one, joins
// included.
func TestGOALComposite(t *testing.T) {
	g := makeGraph(t, graph.Blueprint, 2, false, func(m *maker) {
		p, q := m.Label("p"), m.Label("q")
		m.compute("p", 1_000, async, label(p))
		m.compute("q", 2_000, async, label(q))
		m.collective("c", graph.AllReduce, "ring", 0, 8, async, after(latest(p)))
		m.compute("a", 3_000, flag(graph.More))
		m.join("w", flag(graph.More), after(latest(q)))
		m.compute("b", 4_000, after(latest(p)))
		m.compute("end", 5_000)
	})
	ranks, err := parseGOAL(writeGOAL(t, g, GOALOptions{}))
	if err != nil {
		t.Fatal(err)
	}
	at := map[int64]string{}
	for l, o := range ranks[0].ops {
		if o.verb == "calc" {
			at[o.n] = l
		}
	}
	for n, want := range map[int64][]string{1: nil, 2: nil, 3: nil, 4: {at[1]}, 5: {at[2], at[3], at[4]}} {
		got := slices.Sorted(slices.Values(ranks[0].ops[at[n]].requires))
		if d := cmp.Diff(slices.Sorted(slices.Values(want)), got); d != "" {
			t.Errorf("calc %d: %s", n, d)
		}
	}
}

// rt2 hands a test to helpers inside rapid.
func rt2(t *testing.T) testing.TB { return t }

func (r *goalRank) reaches(from, to string) bool {
	for _, d := range r.ops[from].requires {
		if d == to || r.reaches(d, to) {
			return true
		}
	}
	return false
}

// blockedBy returns the durations of the operations that do not start while the one
// of the given duration runs.
func blockedBy(g *graph.Graph, held int64) map[int64]bool {
	blocked := map[int64]bool{}
	for _, w := range g.Programs[0].Works {
		n, _ := g.Programs[0].Const(w.Time)
		blocked[n] = true
	}
	c := NewCursor(Config{Graph: g}, nil, 0)
	queue := c.Start(0, nil)
	for i := 0; i < len(queue); i++ {
		blocked[queue[i].Duration] = false
		if queue[i].Duration != held {
			queue = c.Done(queue[i].Handle, 0, queue)
		}
	}
	delete(blocked, held)
	return blocked
}

func TestGOALRounding(t *testing.T) {
	g := makeGraph(t, graph.Blueprint, 1, false, func(m *maker) {
		m.compute("a", 1_499)
		m.compute("b", 1_500)
		m.compute("c", 2_000)
	})
	var list diag.List
	text := writeGOAL(t, g, GOALOptions{Findings: &list})
	if !strings.Contains(text, "calc 1\n") || strings.Count(text, "calc 2\n") != 2 {
		t.Error(text)
	}
	if all := list.All(); len(all) != 1 || all[0].Message != "2 durations are not whole nanoseconds and were rounded" {
		t.Errorf("%v", all)
	}
}

func TestGOALRefuses(t *testing.T) {
	unpriced := pingPong(t, 1)
	for _, p := range unpriced.Programs {
		p.Costs = nil
	}
	cyclic := makeGraph(t, graph.Chakra, 1, true, func(m *maker) {
		m.compute("a", 1, on(1))
		m.compute("b", 1, on(0))
		m.compute("c", 1) // without an operation that is ready the rank would end at once
	})
	for _, c := range []struct {
		g    *graph.Graph
		want string
	}{
		{pingPong(t, 1_000_000_000), "graph test has more than 1000 operations when its loops are unrolled: too many for GOAL"},
		{makeGraph(t, graph.Blueprint, 1, false, func(m *maker) { m.loop(1<<60, func(int32) { m.join("j") }) }), "graph test has more than 1000 operations when its loops are unrolled: too many for GOAL"},
		{unpriced, "graph test: compute operations have no duration yet"},
		{cyclic, "graph test: rank 0 does not come to its end: its dependencies form a cycle"},
	} {
		err := WriteGOAL(&strings.Builder{}, c.g, GOALOptions{MaxOps: 1000})
		if err == nil || err.Error() != c.want {
			t.Errorf("error %v, want %s", err, c.want)
		}
	}
}

// TestLoopEqualsUnrolled: a loop means its body written out, whatever the body, down
// to the byte of the export.
func TestLoopEqualsUnrolled(t *testing.T) {
	types := []graph.CollType{graph.AllReduce, graph.Broadcast, graph.AllToAll, graph.Barrier}
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 8).Draw(rt, "operations")
		kinds := rapid.SliceOfN(rapid.IntRange(0, 8), n, n).Draw(rt, "kinds")
		labels := rapid.SliceOfN(rapid.IntRange(0, 1), n, n).Draw(rt, "labels")
		trips := rapid.Int64Range(0, 4).Draw(rt, "trips")
		body := func(m *maker, x []int32, s uint16) {
			for i, k := range kinds {
				l := x[labels[i]]
				peer := func(d int64) int64 { return (m.rank + d) % 3 }
				switch k {
				case 0:
					m.compute("a", int64(i)*1000)
				case 1:
					m.compute("a", int64(i)*1000, async, label(l))
				case 2:
					m.compute("a", int64(i)*1000, async, stream(s), after(graph.Dep{Mode: graph.DepEach, Target: l}))
				case 3:
					m.recv("r", peer(1), 8, flag(graph.More))
					m.send("s", peer(2), 8)
				case 4:
					m.recv("r", peer(2), 8, m.tag(3), async, label(l))
					m.send("s", peer(1), 8, m.tag(3), async)
				case 5:
					m.collective("c", types[i%len(types)], "", 0, 30, flag(graph.Synchronize))
				case 6:
					m.collective("c", types[i%len(types)], "", 0, 30, async, stream(s), label(l))
				case 7:
					m.join("w", after(latest(l)))
				case 8:
					m.join("w", flag(graph.WaitAll))
				}
			}
		}
		build := func(loop bool) string {
			g := makeGraph(rt2(t), graph.Blueprint, 3, false, func(m *maker) {
				x, s := []int32{m.Label("x"), m.Label("y")}, m.Stream("s")
				if loop {
					m.loop(trips, func(int32) { body(m, x, s) })
				} else {
					for range trips {
						body(m, x, s)
					}
				}
				m.compute("end", 1000)
			})
			if r := Check(g, CheckOptions{EagerLimit: limit(8)}); !r.OK() {
				rt.Fatalf("loop %t: %+v", loop, r.Verdict)
			}
			return writeGOAL(t, g, GOALOptions{})
		}
		looped, unrolled := build(true), build(false)
		if looped != unrolled {
			rt.Fatal(cmp.Diff(unrolled, looped))
		}
		ranks, err := parseGOAL(looped)
		if err != nil {
			rt.Fatal(err)
		}
		if err := replayGOAL(ranks); err != nil {
			rt.Fatal(err)
		}
	})
}
