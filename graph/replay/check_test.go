package replay

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"hybrid/graph"
	"hybrid/graph/collective"
	"hybrid/internal/diag"
)

func limit(n int64) func(src, dst int32) int64 { return func(_, _ int32) int64 { return n } }

// findingsOf runs a check and prints what it reports, a line each.
func findingsOf(g *graph.Graph, opt CheckOptions) string {
	var list diag.List
	ReportCheck(g, Check(g, opt), &list)
	var b strings.Builder
	for _, d := range list.All() {
		fmt.Fprintln(&b, d.Error())
		for _, n := range d.Notes {
			fmt.Fprintln(&b, "  "+n)
		}
	}
	return b.String()
}

func lines(s ...string) string {
	if len(s) == 0 {
		return ""
	}
	return strings.Join(s, "\n") + "\n"
}

// ring: every rank sends to the next one, then receives.
func ringProgram(t testing.TB, n int64, steps, bytes int64) *graph.Graph {
	return makeGraph(t, graph.Blueprint, int(n), false, func(m *maker) {
		m.loop(steps, func(int32) {
			m.send("send", (m.rank+1)%n, bytes)
			m.recv("recv", (m.rank+n-1)%n, bytes)
		})
	})
}

func TestReports(t *testing.T) {
	type options = CheckOptions
	for _, c := range []struct {
		name  string
		ranks int
		opt   options
		write func(m *maker)
		want  string
	}{
		{"no communication", 2, options{}, func(m *maker) { m.compute("a", 1) }, ""},
		{"ring above the eager limit", 4, options{EagerLimit: limit(65535)}, func(m *maker) {
			m.send("s", (m.rank+1)%4, 65536)
			m.recv("r", (m.rank+3)%4, 65536)
		}, lines("t:1: error: deadlock at 65536 B (eager limit 65535 B): 0 waits in send to 1, 1 in send to 2, 2 in send to 3, 3 in send to 0 [E501]",
			"  each rank sends before it receives; use sendrecv, or async send + wait")},
		{"ring below the eager limit", 4, options{EagerLimit: limit(65535)}, func(m *maker) {
			m.send("s", (m.rank+1)%4, 65535)
			m.recv("r", (m.rank+3)%4, 65535)
		}, lines("t:1: warning: the program finishes only because short messages leave before they are received: without that, deadlock at 65535 B: "+
			"0 waits in send to 1, 1 in send to 2, 2 in send to 3, 3 in send to 0 [W502]",
			"  the MPI standard calls such a program unsafe; a longer message or another network makes it a deadlock")},
		{"ring with sendrecv", 4, options{EagerLimit: limit(0)}, func(m *maker) {
			m.recv("r", (m.rank+3)%4, 65536, flag(graph.More))
			m.send("s", (m.rank+1)%4, 65536)
		}, ""},
		{"everybody receives first", 3, options{}, func(m *maker) {
			m.recv("r", (m.rank+2)%3, 8)
			m.send("s", (m.rank+1)%3, 8)
		}, lines("t:1: error: deadlock: 0 waits in recv from 2, 2 in recv from 1, 1 in recv from 0 [E501]",
			"  each rank waits for a message that the next one would send only later")},
		{"explicit protocols", 2, options{EagerLimit: limit(10)}, func(m *maker) {
			m.send("s", 1-m.rank, 1000, flag(graph.Eager))
			m.recv("r", 1-m.rank, 1000)
			m.recv("r", 1-m.rank, 1, flag(graph.More))
			m.send("s", 1-m.rank, 1, flag(graph.Rendezvous))
		}, ""},
		{"self message", 1, options{EagerLimit: limit(10)}, func(m *maker) {
			m.send("s", 0, 11)
			m.recv("r", 0, 11)
		}, lines("t:1: error: deadlock at 11 B (eager limit 10 B): 0 waits in send to 0 [E501]",
			"  each rank sends before it receives; use sendrecv, or async send + wait")},
		{"different tags", 5, options{}, func(m *maker) {
			if m.rank < 4 {
				m.send("s", m.rank+1, 8, m.tag(1))
			} else {
				m.line++
			}
			if m.rank > 0 {
				m.recv("r", m.rank-1, 8, m.tag(2), async)
			}
		}, lines("t:1: error: rank r -> r+1 (4 pairs), tag 1: 1 send but no receive [E401]",
			"  t:2 receives tag 2 between the same ranks",
			"t:2: error: rank r-1 -> r (4 pairs), tag 2: 1 receive but no send [E401]",
			"  t:1 sends tag 1 between the same ranks")},
		{"receive from a rank that has finished", 3, options{}, func(m *maker) {
			if m.rank < 2 {
				m.recv("r", m.rank+1, 8)
				m.recv("r", m.rank+1, 8)
			}
		}, lines("t:1: error: rank 2 -> 1, tag 0: 1 receive but no send [E401]")},
		{"receive from any rank", 3, options{}, func(m *maker) {
			if m.rank == 0 {
				m.recv("r", graph.AnyRank, 8, m.tag(graph.AnyTag))
			}
		}, lines("t:1: error: rank 0 (1 rank in all), any tag: 1 receive from any rank but no send [E401]")},
		{"two messages, one receive", 2, options{}, func(m *maker) {
			if m.rank == 0 {
				m.send("s", 1, 8)
				m.send("s", 1, 8)
			} else {
				m.recv("r", 0, 8)
			}
		}, lines("t:2: error: rank 0 -> 1, tag 0: 1 send but no receive [E401]")},
		{"a send that waits for no receive", 2, options{EagerLimit: limit(7)}, func(m *maker) {
			if m.rank == 0 {
				m.send("s", 1, 8)
			}
		}, lines("t:1: error: rank 0 -> 1, tag 0: 1 send but no receive [E401]")},
		{"truncation", 2, options{}, func(m *maker) {
			for range 3 {
				m.line = 0
				if m.rank == 0 {
					m.send("s", 1, 16)
				} else {
					m.recv("r", 0, 8)
				}
			}
			m.line = 1
			if m.rank == 0 {
				m.send("s", 1, 8)
			} else {
				m.recv("r", 0, 16)
			}
		}, lines("t:1: error: message of 16 B from 0 (t:1) is longer than its receive of 8 B on 1 (3 times) [E402]",
			"t:2: warning: message of 8 B from 0 (t:2) is shorter than its receive of 16 B on 1; the size sent counts [W402]")},
		{"collective that some never reach", 4, options{}, func(m *maker) {
			if m.rank == 0 {
				m.collective("c", graph.AllReduce, "ring", 0, 8)
			}
		}, lines("t:1: error: allreduce over world: ranks 1, 2, 3 never reach it, rank 0 does [E403]")},
		{"different collectives", 2, options{}, func(m *maker) {
			if m.rank == 0 {
				m.collective("c", graph.AllReduce, "ring", 0, 8)
			} else {
				m.line++
				m.collective("c", graph.Barrier, "ring", 0, 8)
			}
		}, lines("t:2: error: collective 0 of world is barrier on rank 1 but allreduce on rank 0 [E403]",
			"  rank 0 calls it at t:1")},
		{"different sizes", 3, options{}, func(m *maker) {
			m.collective("c", graph.AllReduce, "ring", 0, 8+m.rank/2)
		}, lines("t:1: error: collective 0 of world is allreduce of 9 B on rank 2 but allreduce of 8 B on rank 0 [E403]")},
		{"groups in different order", 2, options{}, func(m *maker) {
			other := m.Group("other", []int32{1, 0})
			groups := []int32{0, other}
			m.collective("c", graph.AllReduce, "ring", groups[m.rank], 8)
			m.collective("c", graph.AllReduce, "ring", groups[1-m.rank], 8)
		}, lines("t:1: error: deadlock: 0 waits in a collective's recv from 1, 1 in a collective's recv from 0 [E501]",
			"  collectives of overlapping groups must come in the same order on all their ranks")},
		{"collectives in all protocols", 8, options{AllRendezvous: true}, func(m *maker) {
			m.collective("c", graph.AllReduce, "halving-doubling", 0, 800, flag(graph.Synchronize))
			m.collective("c", graph.AllToAll, "sequential", 0, 800)
			m.collective("c", graph.AllReduce, "double-tree", 0, 800)
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := makeGraph(t, graph.Blueprint, c.ranks, false, c.write)
			if d := cmp.Diff(c.want, findingsOf(g, c.opt)); d != "" {
				t.Error(d)
			}
		})
	}
}

// In traces the two sides of a transfer may have been recorded differently: the size
// sent counts.
func TestSizesOfTraces(t *testing.T) {
	g := makeGraph(t, graph.Chakra, 2, true, func(m *maker) {
		if m.rank == 0 {
			m.send("s", 1, 16)
		} else {
			m.recv("r", 0, 8)
		}
	})
	want := lines("t:1: warning: message of 16 B from 0 (t:1) is longer than its receive of 8 B on 1; the size sent counts [W402]")
	if d := cmp.Diff(want, findingsOf(g, CheckOptions{})); d != "" {
		t.Error(d)
	}
}

// A deadlock names at most eight links and counts the ranks behind them.
func TestLongCycle(t *testing.T) {
	got := findingsOf(ringProgram(t, 100, 1, 10), CheckOptions{EagerLimit: limit(1)})
	want := lines("t:2: error: deadlock at 10 B (eager limit 1 B): 0 waits in send to 1, 1 in send to 2, 2 in send to 3, 3 in send to 4, "+
		"4 in send to 5, 5 in send to 6, 6 in send to 7, 7 in send to 8 and 92 more [E501]",
		"  each rank sends before it receives; use sendrecv, or async send + wait")
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// Loops are followed in full where that is short, by a few iterations where they
// communicate alike, and the result says which.
func TestCoverage(t *testing.T) {
	for _, c := range []struct {
		name                     string
		g                        *graph.Graph
		opt                      CheckOptions
		complete, representative bool
		outcome                  Outcome
	}{
		{"short loop", ringProgram(t, 4, 100, 8), CheckOptions{}, true, false, Finished},
		{"long loop", ringProgram(t, 4, 1_000_000_000, 8), CheckOptions{MaxOps: 10_000}, false, true, Finished},
		{"deadlock at once in a long loop", ringProgram(t, 4, 1_000_000_000, 8), CheckOptions{EagerLimit: limit(7), MaxOps: 10_000}, true, false, Deadlock},
		{"too long without loops", makeGraph(t, graph.Blueprint, 1, false, func(m *maker) {
			for range 100 {
				m.compute("a", 1)
			}
		}), CheckOptions{MaxOps: 10}, false, false, Finished},
		{"too many transfers at once", makeGraph(t, graph.Blueprint, 3000, false, func(m *maker) {
			m.collective("c", graph.AllToAll, "interleaved", 0, 8)
		}), CheckOptions{MaxOps: 10_000}, false, false, Finished},
		// The receive from any rank may take the message of 1 or that of 2; only if it
		// takes that of 2 is the receive from 1 met.
		{"a wildcard that decides", makeGraph(t, graph.Blueprint, 3, false, func(m *maker) {
			switch m.rank {
			case 0:
				m.recv("any", graph.AnyRank, 8)
				m.recv("one", 1, 8)
			default:
				m.send("s", 0, 8)
			}
		}), CheckOptions{}, false, false, Finished},
		// Cut to three iterations each, these would not fit: 3 sends, 6 receives.
		{"loops of different lengths", makeGraph(t, graph.Blueprint, 2, false, func(m *maker) {
			if m.rank == 0 {
				m.loop(10, func(int32) { m.send("s", 1, 8) })
			} else {
				m.loop(5, func(int32) { m.recv("r", 0, 8); m.recv("r", 0, 8) })
			}
		}), CheckOptions{}, true, false, Finished},
		{"loops of different lengths, too long", makeGraph(t, graph.Blueprint, 2, false, func(m *maker) {
			if m.rank == 0 {
				m.loop(10000, func(int32) { m.send("s", 1, 8) })
			} else {
				m.loop(5000, func(int32) { m.recv("r", 0, 8); m.recv("r", 0, 8) })
			}
		}), CheckOptions{MaxOps: 100}, false, false, Finished},
		{"loop of joins", makeGraph(t, graph.Blueprint, 1, false, func(m *maker) {
			m.loop(1<<60, func(int32) { m.join("j") })
		}), CheckOptions{MaxOps: 1000}, false, true, Finished},
		{"one message too few at the end", makeGraph(t, graph.Blueprint, 2, false, func(m *maker) {
			if m.rank == 0 {
				m.loop(50, func(int32) { m.send("s", 1, 8) })
			} else {
				m.loop(51, func(int32) { m.recv("r", 0, 8) })
			}
		}), CheckOptions{}, true, false, Unmatched},
	} {
		r := Check(c.g, c.opt)
		if r.Complete != c.complete || r.Representative != c.representative || r.Verdict.Outcome != c.outcome {
			t.Errorf("%s: complete %t, representative %t, %s; want %t, %t, %s", c.name, r.Complete, r.Representative, r.Verdict.Outcome,
				c.complete, c.representative, c.outcome)
		}
		if (r.Coverage() == "") != c.complete {
			t.Errorf("%s: coverage %q", c.name, r.Coverage())
		}
		if !r.Complete && !r.Representative && !r.OK() {
			t.Errorf("%s: a verdict without having followed the program", c.name)
		}
	}
}

// TestVerdictsAgreeWithConstruction: a program made by drawing matched pairs and
// issuing both sides asynchronously always finishes, whatever the protocol; without
// one of its receives it never does.
func TestVerdictsAgreeWithConstruction(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(rt, "ranks")
		type pair struct{ src, dst, tag, bytes int64 }
		pairs := make([]pair, rapid.IntRange(1, 30).Draw(rt, "messages"))
		rank := rapid.Int64Range(0, int64(n-1))
		for i := range pairs {
			pairs[i] = pair{rank.Draw(rt, "src"), rank.Draw(rt, "dst"), rapid.Int64Range(0, 2).Draw(rt, "tag"), 64}
		}
		drop := rapid.IntRange(-1, len(pairs)-1).Draw(rt, "drop")
		g := makeGraph(t, graph.Blueprint, n, false, func(m *maker) {
			for i, p := range pairs {
				if p.src == m.rank {
					m.send("s", p.dst, p.bytes, m.tag(p.tag), async)
				}
				if p.dst == m.rank && i != drop {
					m.recv("r", p.src, p.bytes, m.tag(p.tag), async)
				}
			}
		})
		for _, opt := range []CheckOptions{{AllEager: true}, {AllRendezvous: true}, {EagerLimit: limit(63)}} {
			if r := Check(g, opt); r.OK() != (drop < 0) || !r.Complete {
				rt.Fatalf("%+v: %+v", opt, r.Verdict)
			}
		}
	})
}

// Verdicts of engines are reported like those of a check.
func TestReportVerdict(t *testing.T) {
	g := makeGraph(t, graph.Blueprint, 2, false, func(m *maker) { m.compute("a", 1) })
	placed := diag.Diagnostic{Severity: diag.Error, Code: "E222", Pos: diag.Pos{File: "t", Line: 7}, Message: "negative"}
	for _, c := range []struct {
		v    Verdict
		want string
	}{
		{Verdict{}, ""},
		{Verdict{Outcome: Stopped, Blocked: 3}, lines("error: the stop time came before 3 ranks had finished [E503]")},
		{Verdict{Outcome: Interrupted, Blocked: 2}, lines("error: interrupted before 2 ranks had finished [E504]")},
		{Verdict{Outcome: Failed, Errors: []error{placed, fmt.Errorf("odd")}}, lines("error: the run failed: odd [E502]", "t:7: error: negative [E222]")},
		{Verdict{Outcome: Deadlock, Cycle: []int32{0, 1}, Blocked: 5, Pending: []Pending{
			{Rank: 0, Kind: graph.Send, Peer: 1, Bytes: 9}, {Rank: 1, Kind: graph.Recv, Peer: 0},
		}}, lines("t:1: error: deadlock: 0 waits in send of 9 B to 1, 1 in recv from 0 [E501]", "  3 more ranks wait for these or for each other")},
		{Verdict{Outcome: Deadlock, Cycle: []int32{0, 1}, Blocked: 2, Pending: []Pending{
			{Rank: 0, Kind: graph.Send, Peer: 1, Bytes: 9, Tag: 1}, {Rank: 1, Kind: graph.Recv, Peer: 0, Tag: 2},
		}}, lines("t:1: error: deadlock: 0 waits in send of 9 B to 1, 1 in recv from 0 [E501]", "  rank 0 sends to 1 with tag 1, but rank 1 receives from 0 with tag 2")},
	} {
		var list diag.List
		ReportVerdict(g, &c.v, &list)
		var b strings.Builder
		for _, d := range list.All() {
			fmt.Fprintln(&b, d.Error())
			for _, n := range d.Notes {
				fmt.Fprintln(&b, "  "+n)
			}
		}
		if d := cmp.Diff(c.want, b.String()); d != "" {
			t.Error(d)
		}
	}
}

// TestFindCycle against small wait-for graphs.
func TestFindCycle(t *testing.T) {
	for _, c := range []struct {
		waits map[int32][]int32
		want  []int32
	}{
		{nil, nil},
		{map[int32][]int32{0: {1}, 1: {2}}, nil},
		{map[int32][]int32{3: {3}}, []int32{3}},
		{map[int32][]int32{5: {4}, 4: {3, 3, 9}, 3: {5}}, []int32{3, 5, 4}},
		{map[int32][]int32{0: {5}, 5: {3}, 3: {5}}, []int32{3, 5}},
		{map[int32][]int32{0: {1, 2}, 1: {}, 2: {7}, 7: {2}}, []int32{2, 7}},
	} {
		if d := cmp.Diff(c.want, findCycle(c.waits)); d != "" {
			t.Errorf("%v: %s", c.waits, d)
		}
	}
}

// pairs puts two ranks each into a unit, or with an odd number all into one.
func pairs(n int) []int32 {
	units := make([]int32, n)
	for r := range units {
		if n%2 == 0 {
			units[r] = int32(r / 2)
		}
	}
	return units
}

// TestEveryCollectiveRuns: cursors and matchers carry every algorithm to its end for
// all group sizes up to 17, with and without the barrier in front, whatever the
// protocol, and follow exactly its transfers: two ends each, 2(N-1) more transfers
// for the barrier.
func TestEveryCollectiveRuns(t *testing.T) {
	for _, a := range collective.All() {
		for n := range 18 {
			if n == 0 || a.Valid(n) != nil {
				continue
			}
			for _, flags := range []graph.Flags{0, graph.Synchronize} {
				g := makeGraph(t, graph.Blueprint, n, n%2 == 0, func(m *maker) {
					m.collective("c", a.Type, a.Name, 0, 1000, flag(flags))
				})
				g.SetUnits(pairs(n))
				call := collective.Call{N: int32(n), Bytes: 1000, Units: g.Groups[0].Units}
				transfers, _ := collective.CallTotals(&a, call, g.ScaleBytes)
				if flags != 0 {
					transfers += 2 * int64(n-1)
				}
				for _, opt := range []CheckOptions{{AllEager: true}, {AllRendezvous: true}} {
					if r := Check(g, opt); !r.OK() || !r.Complete || r.Ops != 2*transfers {
						t.Errorf("%s %s of %d ranks: %s, %d transfer ends, want %d", a.Type, a.Name, n, r.Verdict.Outcome, r.Ops, 2*transfers)
					}
				}
			}
		}
	}
}
