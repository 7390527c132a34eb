package pass_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hybrid/graph"
	"hybrid/graph/collective"
	"hybrid/graph/pass"
	"hybrid/internal/diag"
	"hybrid/internal/units"
)

// TestOrder holds the table against what the passes rely on.
func TestOrder(t *testing.T) {
	names := pass.Names()
	for _, c := range []struct{ first, then, why string }{
		{"check", "algorithms", "group ids are used as indices"},
		{"algorithms", "expand", "transfers are those of the algorithm"},
		{"synchronize", "annotate", "the barrier's transfers are nodes that others wait for"},
		{"check", "serialize", "chains and dependencies are followed"},
		{"algorithms", "synchronize", "the barrier's algorithm is fixed, whatever was chosen for barriers"},
		{"scale", "serialize", "a refused factor ends the preparation before the graph changes"},
		{"serialize", "synchronize", "a collective's barrier starts when the order is met"},
	} {
		if a, b := slices.Index(names, c.first), slices.Index(names, c.then); a < 0 || b < 0 || a >= b {
			t.Errorf("%s must come before %s: %s", c.first, c.then, c.why)
		}
	}
	for _, p := range pass.All() {
		if p.Doc == "" || !strings.HasSuffix(p.Doc, ".") || p.Run == nil {
			t.Errorf("%s: doc %q", p.Name, p.Doc)
		}
	}
}

func run(t *testing.T, g *graph.Graph, opt pass.Options, after string) string {
	t.Helper()
	var list diag.List
	err := pass.Run(g, opt, after, &list)
	if (err != nil) != list.HasErrors() {
		t.Errorf("error %v with %d errors", err, list.CountOf(diag.Error))
	}
	return findings(&list, nil)
}

func TestUnknownPass(t *testing.T) {
	var list diag.List
	err := pass.Run(heat(t), pass.Options{}, "serialise", &list)
	want := `no pass "serialise"; did you mean "serialize"?; passes are check, algorithms, expand, scale, serialize, synchronize, annotate`
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// Passes behind the one named do not run.
func TestAfter(t *testing.T) {
	g := heat(t)
	opt := pass.Options{Serialize: true, Synchronize: true, Scale: half()}
	run(t, g, opt, "algorithms")
	if g.Scaled() || g.Serialize || g.Synchronize || g.Programs[0].Calls[0].Algorithm != "ring" {
		t.Errorf("scaled %t, serialized %t, synchronized %t, %+v", g.Scaled(), g.Serialize, g.Synchronize, g.Programs[0].Calls)
	}
	run(t, g, opt, "")
	if !g.Scaled() || !g.Serialize || !g.Synchronize {
		t.Errorf("scaled %t, serialized %t, synchronized %t", g.Scaled(), g.Serialize, g.Synchronize)
	}
}

// TestChoice: a flag wins over the call, the call over the network file, that over
// the default.
func TestChoice(t *testing.T) {
	for _, c := range []struct{ flag, call, network, want string }{
		{"", "", "", "ring"},
		{"", "", "tree", "tree"},
		{"", "double_tree", "tree", "double-tree"},
		{"halving-doubling", "double-tree", "tree", "halving-doubling"},
		{"halving_doubling", "", "", "halving-doubling"},
	} {
		w := newWorld(graph.Blueprint, 4)
		site := w.at(graph.Collective, "allreduce")
		for rank := range 4 {
			r := w.Rank(rank, false)
			r.Op(graph.Op{Kind: graph.Collective, Site: site, Label: -1, Arg: r.Call(graph.Call{Type: graph.AllReduce, Algorithm: c.call})})
			r.Done()
		}
		g := w.finish(t)
		opt := pass.Options{}
		if c.flag != "" {
			opt.Algorithms = map[string]string{"allreduce": c.flag}
		}
		if c.network != "" {
			opt.NetworkAlgorithms = map[string]string{"allreduce": c.network}
		}
		if f := run(t, g, opt, ""); f != "" {
			t.Error(f)
		}
		if got := g.Programs[0].Calls[0].Algorithm; got != c.want {
			t.Errorf("flag %q, call %q, network %q: %s, want %s", c.flag, c.call, c.network, got, c.want)
		}
	}
}

func TestFindings(t *testing.T) {
	send := func(peer, tag, size int64) func(w *world, r *graph.RankBuilder, rank int64) {
		return func(w *world, r *graph.RankBuilder, rank int64) {
			r.Op(graph.Op{Kind: graph.Send, Site: w.at(graph.Send, "send"), Label: -1, Peer: r.Int(peer + rank), Tag: r.Int(tag), Size: r.Int(size)})
		}
	}
	call := func(call graph.Call, group, root, size int64) func(w *world, r *graph.RankBuilder, rank int64) {
		return func(w *world, r *graph.RankBuilder, _ int64) {
			w.Group("pair", []int32{2, 1})
			r.Op(graph.Op{Kind: graph.Collective, Site: w.at(graph.Collective, "call"), Label: -1, Peer: r.Int(root), Tag: r.Int(group), Size: r.Int(size), Arg: r.Call(call)})
		}
	}
	ring := graph.Call{Type: graph.Reduce}
	for _, c := range []struct {
		name  string
		write func(w *world, r *graph.RankBuilder, rank int64)
		opt   pass.Options
		want  string
	}{
		{"rank", send(1, 0, 8), pass.Options{}, "test.hbp:1: error: rank 3 computed on rank 2 is outside 0..2 [E301]\n  note: for a grid edge use shift, which gives norank; for a ring use mod(rank - 1, ranks)\n"},
		{"several ranks", send(3, 0, 8), pass.Options{}, "test.hbp:1: error: rank 3 computed on rank 0 is outside 0..2 [E301]\n  note: for a grid edge use shift, which gives norank; for a ring use mod(rank - 1, ranks)\n  note: and 2 more of the same here\n"},
		{"send to any", send(-1, 0, 8), pass.Options{}, "test.hbp:1: error: rank -1 computed on rank 0 is outside 0..2 [E301]\n  note: for a grid edge use shift, which gives norank; for a ring use mod(rank - 1, ranks)\n"},
		{"tag", send(0, -1, 8), pass.Options{}, "test.hbp:1: error: tag -1 computed on rank 0 is outside 0..2147483647 [E404]\n"},
		{"large tag", send(0, 1<<31, 8), pass.Options{}, "test.hbp:1: error: tag 2147483648 computed on rank 0 is outside 0..2147483647 [E404]\n"},
		{"size", send(0, 0, -8), pass.Options{}, "test.hbp:1: error: negative size -8 B on rank 0 [E222]\n"},
		{"time", func(w *world, r *graph.RankBuilder, _ int64) {
			r.Op(graph.Op{Kind: graph.Compute, Site: w.at(graph.Compute, "compute"), Label: -1, Arg: r.Work(graph.Work{Time: r.Int(-5)})})
		}, pass.Options{}, "test.hbp:1: error: the time of -5 ps of rank 0 is negative [E222]\n"},
		{"wildcards", func(w *world, r *graph.RankBuilder, _ int64) {
			r.Op(graph.Op{Kind: graph.Recv, Site: w.at(graph.Recv, "recv"), Label: -1, Peer: r.Int(-1), Tag: r.Int(-1)})
		}, pass.Options{}, "test.hbp:1: warning: the receive takes any message that fits: the result may depend on the order of arrival [W604]\n  note: and 1 more of the same here\n"},
		{"group", call(ring, 7, 0, 8), pass.Options{}, "test.hbp:1: error: reduce over process group 7 on rank 0; there are 2 groups [E405]\n"},
		{"member", call(ring, 1, 0, 8), pass.Options{}, "test.hbp:1: error: rank 0 calls reduce over pair, of which it is no member [E405]\n"},
		{"root", call(ring, 0, 3, 8), pass.Options{}, "test.hbp:1: error: root 3 of reduce is outside world, which has 3 members [E405]\n  note: and 2 more of the same here\n"},
		{"collective size", call(ring, 0, 0, -1), pass.Options{}, "test.hbp:1: error: negative size -1 B on rank 0 [E222]\n"},
		{"fit", call(graph.Call{Type: graph.AllReduce, Algorithm: "halving-doubling"}, 0, 0, 8), pass.Options{},
			"test.hbp:1: error: allreduce halving-doubling over world needs a group whose size is a power of two, not 3 [E303]\n  note: the algorithm is as written; allreduce has ring, tree, double-tree, halving-doubling, halving-doubling-far, direct or hierarchical\n"},
		{"fit of a flag", call(graph.Call{Type: graph.AllReduce}, 0, 0, 8), pass.Options{Algorithms: map[string]string{"allreduce": "halving-doubling"}},
			"test.hbp:1: error: allreduce halving-doubling over world needs a group whose size is a power of two, not 3 [E303]\n  note: the algorithm is chosen by --algorithm; allreduce has ring, tree, double-tree, halving-doubling, halving-doubling-far, direct or hierarchical\n"},
		{"algorithm", call(graph.Call{Type: graph.AllReduce, Algorithm: "rign"}, 0, 0, 8), pass.Options{}, "test.hbp:1: error: no algorithm \"rign\" for allreduce; did you mean \"ring\"? [E406]\n"},
		{"algorithm of another type", call(graph.Call{Type: graph.AllGather, Algorithm: "tree"}, 0, 0, 8), pass.Options{}, "test.hbp:1: error: no algorithm \"tree\" for allgather; it has ring, recursive-doubling or bruck [E406]\n"},
		{"flag", send(0, 0, 0), pass.Options{Algorithms: map[string]string{"allreduc": "ring", "gather": "ring", "barrier": "tree"}},
			"error: --algorithm: no collective \"allreduc\"; did you mean \"allreduce\"? [E406]\nerror: --algorithm: no algorithm \"ring\" for gather; it has direct or binomial [E406]\n"},
		{"network", send(0, 0, 0), pass.Options{NetworkAlgorithms: map[string]string{"broadcast": "fast"}},
			"error: the network file: no algorithm \"fast\" for broadcast; it has interleaved, sequential, binomial or pipelined-tree [E406]\n"},
		{"scale", send(0, 0, 0), pass.Options{Scale: &units.Rat{Num: 3, Den: 2}}, "error: the scaling factor 1.5 is outside 0 to 1 [E408]\n"},
		{"negative scale", send(0, 0, 0), pass.Options{Scale: &units.Rat{Num: -1, Den: 2}}, "error: the scaling factor -0.5 is outside 0 to 1 [E408]\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(graph.Blueprint, 3)
			for rank := range int64(3) {
				w.lines = 0
				r := w.Rank(int(rank), false)
				c.write(w, r, rank)
				r.Done()
			}
			if d := cmp.Diff(c.want, run(t, w.finish(t), c.opt, "")); d != "" {
				t.Error(d)
			}
		})
	}
}

// member writes the collectives of one rank of a trace: type, number, size, root.
type member [][4]int64

// TestAgreement: the k-th collective of a group must be the same on all its
// members.
func TestAgreement(t *testing.T) {
	for _, c := range []struct {
		name  string
		ranks []member
		want  string
	}{
		{"same in another order", []member{{{0, 0, 8, 0}, {5, 1, 9, 1}}, {{5, 1, 9, 1}, {0, 0, 8, 0}}}, ""},
		{"type", []member{{{0, 0, 8, 0}}, {{2, 0, 8, 0}}}, "test.hbp:1: error: collective 0 of world is allgather of 8 B with root 0 on rank 1 and allreduce of 8 B with root 0 on rank 0 [E403]\n"},
		{"size", []member{{{0, 0, 8, 0}}, {{0, 0, 9, 0}}}, "test.hbp:1: error: collective 0 of world is allreduce of 9 B with root 0 on rank 1 and allreduce of 8 B with root 0 on rank 0 [E403]\n"},
		{"root", []member{{{5, 0, 8, 0}}, {{5, 0, 8, 1}}}, "test.hbp:1: error: collective 0 of world is broadcast of 8 B with root 1 on rank 1 and broadcast of 8 B with root 0 on rank 0 [E403]\n"},
		{"count", []member{{{0, 0, 8, 0}, {0, 1, 8, 0}}, {{0, 0, 8, 0}}}, "test.hbp:2: error: collective 1 of world, allreduce of 8 B with root 0, is called by 1 of 2 members; not by 1 [E403]\n"},
		{"number", []member{{{0, 9, 8, 0}}, {}}, "test.hbp:1: error: collective number 9 of world on rank 0; the rank has 1 operations [E403]\n"},
		{"twice", []member{{{0, 0, 8, 0}, {0, 0, 8, 0}}, {{0, 0, 8, 0}}}, "test.hbp:1: error: collective 0 of world, allreduce of 8 B with root 0, is called by 3 of 2 members; some call it twice [E403]\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(graph.GOAL, len(c.ranks))
			for rank, calls := range c.ranks {
				w.lines = 0
				r := w.Rank(rank, true)
				for _, k := range calls {
					r.Op(graph.Op{Kind: graph.Collective, Site: w.at(graph.Collective, "call"), Label: -1, Index: r.Int(k[1]), Size: r.Int(k[2]),
						Peer: r.Int(k[3]), Arg: r.Call(graph.Call{Type: graph.CollType(k[0])})})
				}
				r.Done()
			}
			if d := cmp.Diff(c.want, run(t, w.finish(t), pass.Options{}, "check")); d != "" {
				t.Error(d)
			}
		})
	}
}

// Every algorithm of the table can be chosen by a flag and by a network file.
func TestEveryAlgorithmCanBeChosen(t *testing.T) {
	for _, a := range collective.All() {
		choice := map[string]string{a.Type.String(): a.Name}
		for _, opt := range []pass.Options{{Algorithms: choice}, {NetworkAlgorithms: choice}} {
			g := heat(t)
			g.SetUnits([]int32{0, 0, 1, 1})
			if f := run(t, g, opt, ""); f != "" {
				t.Errorf("%v: %s", choice, f)
			}
		}
	}
}
