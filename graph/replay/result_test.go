package replay

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"hybrid/graph"
	"hybrid/graph/collective"
	"hybrid/internal/units"
)

// span is an activity of a rank for tests of the measures.
type span struct {
	start, end int64
	compute    bool
	known      bool // the end is given with the start
}

// measure counts the instants of [0, 200) at which an activity of the wanted kinds
// runs.
func measure(spans []span, want func(compute, comm bool) bool) int64 {
	n := int64(0)
	for t := range int64(200) {
		compute, comm := false, false
		for _, s := range spans {
			if s.start <= t && t < s.end {
				compute, comm = compute || s.compute, comm || !s.compute
			}
		}
		if want(compute, comm) {
			n++
		}
	}
	return n
}

// TestActivityAgainstCounting holds the three measures against counting instants.
func TestActivityAgainstCounting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var spans []span
		for range rapid.IntRange(0, 12).Draw(t, "activities") {
			start := rapid.Int64Range(0, 100).Draw(t, "start")
			compute := rapid.Bool().Draw(t, "compute")
			spans = append(spans, span{start, start + rapid.Int64Range(0, 60).Draw(t, "length"), compute, compute && rapid.Bool().Draw(t, "known")})
		}
		// What happens at an instant comes in any order, but time does not go back.
		type event struct {
			at    int64
			begin bool
			s     *span
		}
		var events []event
		for i := range spans {
			events = append(events, event{spans[i].start, true, &spans[i]})
			if !spans[i].known {
				events = append(events, event{spans[i].end, false, &spans[i]})
			}
		}
		slices.SortStableFunc(events, func(a, b event) int { return int(a.at - b.at) })
		var a Activity
		for _, e := range events {
			switch {
			case e.s.known:
				a.Compute(e.s.start, e.s.end)
			case e.s.compute && e.begin:
				a.ComputeBegin(e.at)
			case e.s.compute:
				a.ComputeEnd(e.at)
			case e.begin:
				a.TransferBegin(e.at)
			default:
				a.TransferEnd(e.at)
			}
		}
		want := RankTimes{
			Finish:        200,
			Compute:       measure(spans, func(compute, _ bool) bool { return compute }),
			Communication: measure(spans, func(_, comm bool) bool { return comm }),
			Exposed:       measure(spans, func(compute, comm bool) bool { return comm && !compute }),
		}
		if d := cmp.Diff(want, a.Times(200)); d != "" {
			t.Fatal(d)
		}
	})
}

// TestSumAgainstBig holds the 128-bit sum against arbitrary precision.
func TestSumAgainstBig(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var a, b Sum
		exact := new(big.Int)
		for i, n := range rapid.SliceOfN(rapid.Int64Range(0, math.MaxInt64), 0, 40).Draw(t, "times") {
			if i%2 == 0 {
				a.Add(n)
			} else {
				b.Add(n)
			}
			exact.Add(exact, big.NewInt(n))
		}
		a.Merge(b)
		n := rapid.Int64Range(1, math.MaxInt64).Draw(t, "divisor")
		want := new(big.Int).Quo(exact, big.NewInt(n))
		if !want.IsInt64() {
			want.SetInt64(units.Never)
		}
		if got := a.Div(n); got != want.Int64() {
			t.Fatalf("%v / %d = %d, want %s", exact, n, got, want)
		}
	})
}

func TestSumEdges(t *testing.T) {
	if got := (Sum{Lo: 10}).Div(0); got != 0 {
		t.Errorf("divided by zero: %d", got)
	}
	if got := (Sum{Hi: 1}).Div(1); got != units.Never {
		t.Errorf("2^64 = %d", got)
	}
	if got := (Sum{Lo: 90}).PS(units.Clock{PerPS: 9}); got != 10 {
		t.Errorf("90 ticks of 1/9 ps = %d ps", got)
	}
}

// TestTally: a collective lasts from the latest start to the last end and is
// complete when all parts are in; two tallies merged equal one.
func TestTally(t *testing.T) {
	g := makeGraph(t, graph.Blueprint, 3, false, func(m *maker) {
		m.compute("a", 1)
		m.collective("c", graph.AllReduce, "ring", 0, 1000)
	})
	ring := collective.NewTable().Find(graph.AllReduce, "ring")
	part := func(instance, start, end int64) *CollectiveEnd {
		return &CollectiveEnd{Site: 1, Instance: instance, Start: start, End: end, Type: graph.AllReduce, Algorithm: ring, Bytes: 1000}
	}
	first, second := NewTally(g), NewTally(g)
	first.Op(0, 10, 15)
	second.Op(0, 0, 7)
	first.Result.Messages, second.Result.Messages = 3, 4
	first.Part(part(0, 10, 50))
	first.Part(part(1, 60, 70)) // the next instance of a rank that is ahead
	first.Part(part(0, 20, 40))
	second.Op(1, 5, 55) // a part counted elsewhere, its collective forwarded
	first.Join(part(0, 5, 55))
	first.Merge(second)
	first.Finish()
	r := &first.Result
	wantSites := []SiteTimes{
		{Count: 2, Ranks: 3, Total: Sum{Lo: 12}, Max: 7},
		{Count: 4, Ranks: 3, Total: Sum{Lo: 40 + 10 + 20 + 50}, Max: 50},
	}
	// 2 * 2 steps of 3 transfers, C = ceil(1000/3) = 334; from 20 to 55.
	wantColl := []CollectiveTimes{{Site: 1, Type: graph.AllReduce, Algorithm: "ring", GroupSize: 3, Bytes: 1000, Transfers: 12, TransferBytes: 12 * 334, Count: 1, Total: Sum{Lo: 35}, Max: 35}}
	if d := cmp.Diff(wantSites, r.Sites); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(wantColl, r.Collectives); d != "" {
		t.Error(d)
	}
	if r.Messages != 7 {
		t.Errorf("%d messages", r.Messages)
	}
}

// TestTallyScales: what a scaled collective carries is truncated for each transfer.
func TestTallyScales(t *testing.T) {
	g := makeGraph(t, graph.Blueprint, 3, false, func(m *maker) { m.collective("c", graph.AllReduce, "ring", 0, 1000) })
	g.Scale = units.NewRat(1, 4)
	tally := NewTally(g)
	ring := collective.NewTable().Find(graph.AllReduce, "ring")
	for range 3 {
		tally.Part(&CollectiveEnd{End: 1, Type: graph.AllReduce, Algorithm: ring, Bytes: 1000})
	}
	tally.Finish()
	// floor(334/4) = 83.
	if c := tally.Result.Collectives[0]; c.Bytes != 1000 || c.TransferBytes != 12*83 {
		t.Errorf("%+v", c)
	}
}

func TestPendingText(t *testing.T) {
	for _, c := range []struct {
		p    Pending
		want string
	}{
		{Pending{Rank: 3, Kind: graph.Send, Peer: 0, Bytes: 8, Tag: 1}, "rank 3 waits in send of 8 B to 0 (tag 1)"},
		{Pending{Rank: 3, Kind: graph.Recv, Peer: graph.AnyRank, Bytes: 8, Tag: 1}, "rank 3 waits in recv of 8 B from any (tag 1)"},
		{Pending{Rank: 3, Kind: graph.Recv, Peer: 2, Bytes: 8, Collective: true}, "rank 3 waits in collective recv of 8 B from 2 (tag 0)"},
		{Pending{Rank: 3, Kind: graph.Join}, "rank 3 waits in join"},
		{Pending{Rank: 3, Kind: graph.Join, Never: true}, "rank 3 never reached join"},
	} {
		if got := c.p.String(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
