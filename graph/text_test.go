package graph

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hybrid/internal/units"
)

func TestRanksText(t *testing.T) {
	for _, c := range []struct {
		ranks []int32
		want  string
	}{
		{nil, "none"},
		{[]int32{4}, "4"},
		{[]int32{4, 5}, "4, 5"},
		{[]int32{4, 5, 6}, "4..6"},
		{[]int32{0, 1, 2, 7, 8, 9, 10, 12}, "0..2, 7..10, 12"},
		{[]int32{0, 8, 16, 24}, "0..24 step 8"},
		{[]int32{3, 2, 1, 0}, "3..0 step -1"},
		{[]int32{5, 5, 5}, "5..5 step 0"},
		{[]int32{0, 2, 3, 4}, "0, 2..4"},
	} {
		if got := RanksText(c.ranks); got != c.want {
			t.Errorf("%v: %q, want %q", c.ranks, got, c.want)
		}
	}
}

// TestText shows every kind of operation, operand and dependency once.
func TestText(t *testing.T) {
	b := NewBuilder("all", Blueprint, 12)
	g := b.Graph()
	g.Machine, g.Network, g.Params = "icelake", "hdr", []Param{{"n", "4"}}
	row, stream := b.Group("row", []int32{0, 2, 4}), b.Stream("comm")
	x, y := b.Label("x"), b.Label("y")
	at := func(line int) int32 {
		s := site(b, line, Compute)
		g.Sites[s].Name, g.Sites[s].Region = "stencil", "step"
		return s
	}
	named, plain := at(1), b.Site(Site{})
	once, twice, eight, noise := rankTimes(1), rankTimes(2), rankTimes(8), &injection{}
	for rank := range 12 {
		r := b.Rank(rank, false)
		op := func(o Op, deps ...Dep) int32 { o.Site = plain; return r.Op(o, deps...) }
		work := func(w Work) int32 { return r.Work(w) }
		r.BeginLoop(plain, r.Expr(twice))
		r.Op(Op{Kind: Compute, Site: named, Label: x, Index: r.Int(3), Flags: Async | HostCPU | Injected, Arg: work(Work{Time: r.Int(25_000_000)})})
		branch := r.Branch(plain, r.Expr(once))
		op(Op{Kind: Compute, Label: -1, Arg: work(Work{Model: Roofline, Flops: r.Int(1000), Bytes: r.Expr(eight), Precision: "sp"})})
		jump := r.Jump(plain)
		r.Patch(branch)
		op(Op{Kind: Compute, Label: -1, Arg: work(Work{Model: ECM, Label: "copy", Units: r.Int(10), Cores: r.Int(2)})})
		op(Op{Kind: Compute, Label: -1, Arg: work(Work{Model: ECM, ECM: &Contributions{units.Int(2), units.NewRat(1, 2), units.Int(3), units.Int(6), units.NewRat(71, 5)}, Units: r.Int(10), Per: "it", Injections: []Injection{noise}})})
		r.Patch(jump)
		op(Op{Kind: Load, Label: -1, Arg: work(Work{Model: Traffic, Bytes: r.Int(64)})})
		op(Op{Kind: Store, Label: -1, Arg: work(Work{Time: r.Int(int64(rank))})})
		r.EndLoop(plain)
		op(Op{Kind: Recv, Label: -1, Flags: More, Peer: r.Int(AnyRank), Tag: r.Int(AnyTag), Size: r.Int(8)})
		op(Op{Kind: Send, Label: -1, Flags: Eager, Peer: r.Int(int64(rank)), Tag: r.Int(7), Size: r.Int(8), Arg: 3, Stream: stream})
		op(Op{Kind: Collective, Label: y, Flags: Synchronize, Peer: r.Int(1), Tag: r.Int(int64(row)), Size: r.Int(8), Arg: r.Call(Call{Type: Broadcast, Algorithm: "sequential"})},
			Dep{Mode: DepLabel, Target: x}, Dep{Mode: DepIndex, Target: x, Index: r.Int(3)}, Dep{Mode: DepEach, Target: x}, Dep{Mode: DepPrev, Target: y, Back: 2})
		op(Op{Kind: Join, Label: -1, Flags: WaitAll})
		op(Op{Kind: ScopeEnd, Arg: x, Label: 2})
		if rank < 11 {
			r.Done()
		}
	}
	var out strings.Builder
	if err := WriteText(&out, finish(t, b)); err != nil {
		t.Fatal(err)
	}
	want := `graph all: blueprint, 12 ranks, 2 programs
machine icelake
network hdr
param n = 4
group 0 world: 0..11
group 1 row: 0..4 step 2

program 0: ranks 0..10, thread
   0 loop (rank * n) counter 0
   1   compute 25us async on cpu injected label @x[3]  ; t.hbp:1:3 in "step" "stencil"
   2   if (rank * n) else 5
   3   compute flops 1000 bytes (rank * n) precision sp
   4   jump 7
   5   compute ecm copy work 10 cores 2
   6   compute ecm TOL=2 TnOL=0.5 TL1L2=3 TL2L3=6 TL3Mem=14.2 work 10 per it with delay
   7   load 64B
   8   store {0 1 2 3 4 5 6 7 ...3 more}ps
   9 end
  10 recv 8B from any tag any more
  11 send 8B to {0 1 2 3 4 5 6 7 ...3 more} tag 7 context 3 eager stream comm
  12 collective broadcast sequential 8B root 1 over row barrier first label @y after @x @x[3] @x[*] @y.prev(2)
  13 join all
  14 forget labels @x @y

program 1: ranks 11
  nothing
`
	if d := cmp.Diff(want, out.String()); d != "" {
		t.Error(d)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestTextReportsWriteErrors(t *testing.T) {
	if err := WriteText(full{}, finish(t, NewBuilder("t", Blueprint, 1))); err == nil {
		t.Error("no error")
	}
}

func TestDOT(t *testing.T) {
	b := NewBuilder("t", Chakra, 3)
	s, x := site(b, 1, Join), b.Label("x")
	for rank := range 2 {
		r := b.Rank(rank, rank == 0)
		if rank == 0 {
			r.Op(Op{Kind: Join, Site: s, Label: -1})
			r.Op(Op{Kind: Join, Site: s, Label: -1}, Dep{Target: 0})
		} else {
			r.Op(Op{Kind: Join, Site: s, Label: x})
			branch := r.Branch(s, r.Int(1))
			r.BeginLoop(s, r.Int(2))
			r.Op(Op{Kind: Join, Site: s, Label: -1}, Dep{Mode: DepLabel, Target: x})
			r.EndLoop(s)
			r.Patch(branch)
		}
		r.Done()
	}
	var out strings.Builder
	if err := WriteDOT(&out, finish(t, b)); err != nil {
		t.Fatal(err)
	}
	want := `digraph "t" {
  node [shape=box, fontname=monospace];
  subgraph cluster_0 {
    label="program 0: ranks 0";
    p0_0 [label="join\nt.hbp:1:3"];
    p0_1 [label="join\nt.hbp:1:3"];
    p0_0 -> p0_1;
  }
  subgraph cluster_1 {
    label="program 1: ranks 1";
    p1_0 [label="join label @x\nt.hbp:1:3"];
    p1_1 [label="if 1 else 5"];
    p1_2 [label="loop 2 counter 0"];
    p1_3 [label="join\nt.hbp:1:3"];
    p1_4 [label="end"];
    p1_0 -> p1_1 [style=dashed];
    p1_1 -> p1_2 [style=dashed];
    p1_2 -> p1_3 [style=dashed];
    p1_0 -> p1_3;
    p1_3 -> p1_4 [style=dashed];
    p1_4 -> p1_3 [style=dashed];
  }
}
`
	if d := cmp.Diff(want, out.String()); d != "" {
		t.Error(d)
	}
}
