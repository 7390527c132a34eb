package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"hybrid/graph"
	"hybrid/graph/replay"
	"hybrid/internal/diag"
	"hybrid/internal/units"
)

// ringGraph has four places: a computation, a send, a receive and an all-reduce.
func ringGraph(t testing.TB) *graph.Graph {
	t.Helper()
	b := graph.NewBuilder("ring.hbp", graph.Blueprint, 4)
	site := func(line int, kind graph.Kind, name, text string) int32 {
		return b.Site(graph.Site{Pos: diag.Pos{File: "ring.hbp", Line: line, Col: 3}, Kind: kind, Name: name, Text: text})
	}
	site(4, graph.Compute, "step", "compute 100us")
	site(5, graph.Send, "", "send 8B")
	site(5, graph.Recv, "", "recv 8B")
	site(9, graph.Collective, "", "allreduce 1kB over world")
	g, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func sum(total int64) replay.Sum { return replay.Sum{Lo: uint64(total)} }

// handMade is a run of ringGraph: 4 ranks x 2 iterations, so 8 instances at each of
// the first three places, and one all-reduce with a part on each rank.
func handMade(model string, compute, send, recv, coll int64) *replay.Result {
	r := &replay.Result{
		Model: model, Clock: units.PicosecondClock(), Makespan: 2*compute + 2*recv + coll,
		Operations: 28, Messages: 8 + 24, MessageBytes: 64 + 24*250,
		Sites: []replay.SiteTimes{
			{Count: 8, Ranks: 4, Total: sum(8 * compute), Max: compute},
			{Count: 8, Ranks: 4, Total: sum(8 * send), Max: send},
			{Count: 8, Ranks: 4, Total: sum(8 * recv), Max: recv},
			{Count: 4, Ranks: 4, Total: sum(4 * coll), Max: coll},
		},
		Collectives: []replay.CollectiveTimes{{Site: 3, Type: graph.AllReduce, Algorithm: "ring", GroupSize: 4, Bytes: 1000,
			Transfers: 24, TransferBytes: 6000, Count: 1, Total: sum(coll), Max: coll}},
		Events: 100,
	}
	for i := range int64(4) {
		r.Ranks = append(r.Ranks, replay.RankTimes{Finish: r.Makespan - i*1000, Compute: 2 * compute, Communication: 2*recv + coll, Exposed: 2*recv + coll})
	}
	return r
}

// threeRuns are a simulation and two models with errors that are easy to check:
//
//	                    packet      loggp             hockney
//	compute       100,000,000  100,000,000      0   100,000,000      0
//	send              500,000      400,000  -20 %       500,000      0
//	recv            2,000,000    3,000,000  +50 %     1,000,000  -50 %
//	all-reduce     10,000,000   11,000,000  +10 %    10,000,000      0
//	makespan      214,000,000  217,000,000          212,000,000
//
// so that loggp has error 3/214, bias (0-20+50+10)/4 = +10 %, MAPE 80/4 = 20 % and,
// with the weights 8, 8, 8, 1, wMAPE (8*0.1 + 8*1 + 1) / (8*102.5 + 10) = 9.8/830.
func threeRuns() []*replay.Result {
	packet := handMade("packet", 100e6, 500e3, 2e6, 10e6)
	packet.Packets, packet.PacketHops, packet.Windows = 32, 128, 40
	packet.Notes = []string{"buffers are unlimited: nothing is lost"}
	return []*replay.Result{packet, handMade("loggp", 100e6, 400e3, 3e6, 11e6), handMade("hockney", 100e6, 500e3, 1e6, 10e6)}
}

func bound(*replay.CollectiveTimes) (int64, bool) { return 9e6, true }

func inputs() Inputs {
	return Inputs{Command: "compare", Version: "test", Workload: "ring.hbp", Format: "blueprint", Network: "ideal", NetworkFrom: "default",
		Machine: "node.yml", MachineFrom: "flag", Topology: "direct: 4 hosts", Placement: "4 ranks on 4 nodes, block, 1 a node", Seed: 1,
		Parameters: []Parameter{{"steps", "2"}, {"msg", "8B"}}}
}

func comparison(t testing.TB, runs []*replay.Result) *Comparison {
	t.Helper()
	var list diag.List
	list.Warnf("W401", diag.Pos{File: "ring.hbp", Line: 5, Col: 3}, "a <test> warning")
	c := New(inputs(), ringGraph(t), runs, bound, &list)
	c.AddIdeals(ideal)
	return c
}

// ideal is 8 us, so that the runs of threeRuns take 10/8, 11/8 and 10/8 of it.
func ideal(*replay.CollectiveTimes) (int64, bool) { return 8e6, true }

func TestMetrics(t *testing.T) {
	c := comparison(t, threeRuns())
	if len(c.Metrics) != 2 {
		t.Fatalf("%d metrics, want those of 2 models", len(c.Metrics))
	}
	for _, test := range []struct {
		model                         string
		err, bias, mape, wmape, worst float64
		operation                     string
	}{
		{"loggp", 3.0 / 214, 0.10, 0.20, 9.8 / 830, 0.5, "ring.hbp:5:3: recv 8B"},
		{"hockney", -2.0 / 214, -0.5 / 4, 0.5 / 4, 8.0 / 830, -0.5, "ring.hbp:5:3: recv 8B"},
	} {
		m := c.Metrics[0]
		if test.model == "hockney" {
			m = c.Metrics[1]
		}
		got := []float64{m.Error.Value, m.Bias.Value, m.MAPE.Value, m.WMAPE.Value, m.Max.Value}
		want := []float64{test.err, test.bias, test.mape, test.wmape, test.worst}
		for i := range got {
			if math.Abs(got[i]-want[i]) > 1e-12 {
				t.Errorf("%s: metric %d is %v, want %v", test.model, i, got[i], want[i])
			}
		}
		if m.Operation != test.operation || m.Items != 4 || m.Undefined != 0 {
			t.Errorf("%s: worst %q of %d items, %d undefined", test.model, m.Operation, m.Items, m.Undefined)
		}
	}
}

func TestCounts(t *testing.T) {
	c := comparison(t, threeRuns())
	want := Counts{Ranks: 4, Operations: 28, Messages: 32, MessageBytes: 6064, Collectives: 1}
	if diff := cmp.Diff(want, c.Counts); diff != "" {
		t.Error(diff)
	}
}

// An operation that takes no simulated time has no relative error.
func TestUndefinedError(t *testing.T) {
	runs := threeRuns()
	runs[0].Sites[1].Total = sum(0)
	c := comparison(t, runs)
	if e := c.Operations[1].Errors[1]; e.Defined {
		t.Errorf("the error of an operation without simulated time is %v", e.Value)
	}
	if m := c.Metrics[0]; m.Undefined != 1 || m.Items != 3 {
		t.Errorf("%d undefined, %d defined; want 1 and 3", m.Undefined, m.Items)
	}
}

// Runs that agree have no error anywhere, whatever their times.
func TestEqualRunsHaveNoError(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		time := rapid.Int64Range(1, 1e15)
		a, b, c, d := time.Draw(rt, "compute"), time.Draw(rt, "send"), time.Draw(rt, "recv"), time.Draw(rt, "collective")
		cmp := comparison(t, []*replay.Result{handMade("packet", a, b, c, d), handMade("loggp", a, b, c, d)})
		m := cmp.Metrics[0]
		for _, e := range []Error{m.Error, m.Bias, m.MAPE, m.WMAPE, m.Max} {
			if !e.Defined || e.Value != 0 {
				rt.Fatalf("equal runs have the error %+v in %+v", e, m)
			}
		}
	})
}

// The same run counted in finer ticks is the same run.
func TestClockDoesNotMatter(t *testing.T) {
	fine := func(r *replay.Result, n int64) *replay.Result {
		r.Clock.PerPS = n
		r.Makespan *= n
		for i := range r.Sites {
			r.Sites[i].Total = sum(int64(r.Sites[i].Total.Lo) * n)
		}
		for i := range r.Collectives {
			r.Collectives[i].Total = sum(int64(r.Collectives[i].Total.Lo) * n)
		}
		for i := range r.Ranks {
			t := &r.Ranks[i]
			t.Finish, t.Compute, t.Communication, t.Exposed = t.Finish*n, t.Compute*n, t.Communication*n, t.Exposed*n
		}
		return r
	}
	plain, other := threeRuns(), threeRuns()
	fine(other[0], 9)
	if diff := cmp.Diff(text(t, comparison(t, plain)), text(t, comparison(t, other))); diff != "" {
		t.Error(diff)
	}
}

// A model that is slower than the simulation has a positive error, in every place
// where one is printed.
func TestSigns(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		y := rapid.Int64Range(1000, 1e12).Draw(rt, "simulated")
		x := y + rapid.Int64Range(-999, 999).Filter(func(n int64) bool { return n != 0 }).Draw(rt, "difference")
		c := comparison(t, []*replay.Result{handMade("packet", y, y, y, y), handMade("loggp", x, x, x, x)})
		m := c.Metrics[0]
		for _, e := range []Error{m.Error, m.Bias, m.Max, c.Operations[0].Errors[1], c.Collectives[0].Errors[1]} {
			if (e.Value > 0) != (x > y) {
				rt.Fatalf("x=%d y=%d: error %v", x, y, e.Value)
			}
		}
		if m.MAPE.Value <= 0 || m.WMAPE.Value <= 0 {
			rt.Fatalf("magnitudes %v and %v are not positive", m.MAPE, m.WMAPE)
		}
		want := "too slow."
		if x < y {
			want = "too fast."
		}
		if s := c.Sentence(1); !strings.HasSuffix(s, want) {
			rt.Fatalf("x=%d y=%d: %q", x, y, s)
		}
	})
}

func text(t testing.TB, c *Comparison) string {
	t.Helper()
	var b bytes.Buffer
	if err := c.WriteText(&b, TextOptions{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// golden compares with testdata; HYBRID_UPDATE=1 rewrites it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if os.Getenv("HYBRID_UPDATE") != "" {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (HYBRID_UPDATE=1 rewrites it):\n%s", path, diff)
	}
}

func TestGoldenText(t *testing.T) {
	golden(t, "compare.txt", text(t, comparison(t, threeRuns())))
	predict := inputs()
	predict.Command = "predict"
	golden(t, "predict.txt", text(t, New(predict, ringGraph(t), threeRuns()[1:], nil, nil)))
	simulate := inputs()
	simulate.Command = "simulate"
	alone := New(simulate, ringGraph(t), threeRuns()[:1], nil, nil)
	alone.AddIdeals(ideal)
	golden(t, "simulate.txt", text(t, alone))
}

func TestGoldenJSONAndCSV(t *testing.T) {
	c := comparison(t, threeRuns())
	var j, s bytes.Buffer
	if err := errors.Join(c.WriteJSON(&j), c.WriteCSV(&s)); err != nil {
		t.Fatal(err)
	}
	golden(t, "compare.json", j.String())
	golden(t, "compare.csv", s.String())
}

// deadlocked is a run in which every rank waits in a send to the next.
func deadlocked(ranks int32) *replay.Result {
	r := &replay.Result{Model: "packet", Clock: units.PicosecondClock()}
	r.Verdict = replay.Verdict{Outcome: replay.Deadlock, Blocked: int(ranks)}
	for i := range ranks {
		r.Verdict.Cycle = append(r.Verdict.Cycle, i)
		r.Verdict.Pending = append(r.Verdict.Pending, replay.Pending{Rank: i, Site: 1, Kind: graph.Send, Peer: (i + 1) % ranks, Bytes: 65536})
	}
	return r
}

func TestGoldenDeadlock(t *testing.T) {
	c := New(inputs(), ringGraph(t), []*replay.Result{deadlocked(4), handMade("loggp", 1e6, 1e3, 1e3, 1e4)}, nil, nil)
	if c.OK() {
		t.Error("a deadlock counts as finished")
	}
	golden(t, "deadlock.txt", text(t, c))
}

// The regions of a program add up to the operations written in them: here the send and
// the receive, 8 instances of each on 4 ranks, so 2 (500 ns + 2 us) = 5 us a rank.
func TestRegions(t *testing.T) {
	g := ringGraph(t)
	g.Sites[1].Region, g.Sites[2].Region = "shift", "shift"
	c := New(inputs(), g, threeRuns(), nil, nil)
	if len(c.Regions) != 2 || c.Regions[0].Name != "" || c.Regions[1].Name != "shift" {
		t.Fatalf("regions %+v", c.Regions)
	}
	r := c.Regions[1]
	if r.Count != 16 || r.PerRank[0] != 5e6 || r.PerRank[1] != 2*(4e5+3e6) {
		t.Errorf("shift has %d operations, %v ps a rank", r.Count, r.PerRank)
	}
	if e := r.Errors[1]; math.Abs(e.Value-(6.8-5)/5) > 1e-12 {
		t.Errorf("error %v, want 0.36", e.Value)
	}
	if s := text(t, c); !strings.Contains(s, "(outside)") || !strings.Contains(s, "BY REGION") {
		t.Errorf("no regions in\n%s", s)
	}
}

// A message without a receive is named with its sender first.
func TestUnreceived(t *testing.T) {
	r := handMade("packet", 1e6, 1e3, 1e3, 1e4)
	r.Verdict = replay.Verdict{Outcome: replay.Unmatched, Unreceived: []replay.Pending{{Rank: 2, Site: 1, Kind: graph.Send, Peer: 3, Tag: 7, Bytes: 8}}}
	s := text(t, New(inputs(), ringGraph(t), []*replay.Result{r, handMade("loggp", 1e6, 1e3, 1e3, 1e4)}, nil, nil))
	for _, want := range []string{
		"packet: transfers without a partner, 1 message never received",
		"ring.hbp:5:3: 8B from 2 to 3 (tag 7) was never received",
	} {
		if !strings.Contains(s, want) {
			t.Errorf("the report lacks %q:\n%s", want, s)
		}
	}
	if strings.Contains(s, "error %") {
		t.Errorf("errors against a run that did not finish:\n%s", s)
	}
}

// A message whose send still waits is named once, as the operation that waits.
func TestAnnouncedMessageIsNamedOnce(t *testing.T) {
	r := deadlocked(4)
	r.Verdict.Unreceived = slices.Clone(r.Verdict.Pending)
	s := text(t, New(inputs(), ringGraph(t), []*replay.Result{r}, nil, nil))
	if strings.Contains(s, "never received") {
		t.Errorf("sends that wait are listed as messages too:\n%s", s)
	}
}

func TestLongCycleIsCut(t *testing.T) {
	c := New(inputs(), ringGraph(t), []*replay.Result{deadlocked(100)}, nil, nil)
	s := text(t, c)
	for _, want := range []string{"0 waits in send to 1", "and 92 more", "and 99 more"} {
		if !strings.Contains(strings.Join(strings.Fields(s), " "), want) {
			t.Errorf("the report of a deadlock of 100 ranks lacks %q:\n%s", want, s)
		}
	}
}

func TestJSONVerdict(t *testing.T) {
	var b bytes.Buffer
	if err := New(inputs(), ringGraph(t), []*replay.Result{deadlocked(3)}, nil, nil).WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Verdict string
		Runs    []struct {
			Verdict struct {
				Outcome string
				Cycle   []int
				Pending []struct {
					Where string
					Peer  int
				}
			}
		}
	}
	if err := json.Unmarshal(b.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	v := doc.Runs[0].Verdict
	if doc.Verdict != "deadlock" || v.Outcome != "deadlock" || len(v.Cycle) != 3 || len(v.Pending) != 3 || v.Pending[2].Where != "ring.hbp:5:3" {
		t.Errorf("verdict %+v", doc)
	}
}

// Every line of the text fits the page, has no trailing blank, and the last one ends.
func TestPage(t *testing.T) {
	in := inputs()
	in.Topology = strings.Repeat("a long description ", 12)
	c := New(in, ringGraph(t), threeRuns(), bound, nil)
	c.Operations[0].Text = strings.Repeat("x", 120)
	for _, verbose := range []bool{false, true} {
		var b bytes.Buffer
		if err := c.WriteText(&b, TextOptions{Verbose: verbose}); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			if !strings.HasSuffix(line, "\n") || strings.HasSuffix(line, " \n") || width(line) > pageWidth+1 {
				t.Errorf("bad line %q", line)
			}
		}
	}
}

func TestManyRowsAreCut(t *testing.T) {
	b := graph.NewBuilder("many.hbp", graph.Blueprint, 1)
	r := &replay.Result{Model: "packet", Clock: units.PicosecondClock()}
	for i := range 30 {
		b.Site(graph.Site{Pos: diag.Pos{File: "many.hbp", Line: i + 1, Col: 1}, Kind: graph.Compute})
		r.Sites = append(r.Sites, replay.SiteTimes{Count: 1, Total: sum(int64(i + 1))})
	}
	g, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	s := text(t, New(Inputs{}, g, []*replay.Result{r}, nil, nil))
	if !strings.Contains(s, "and 10 more operations that take less time; -v shows all") {
		t.Errorf("no line says how many operations are left out:\n%s", s)
	}
	if strings.Contains(s, "\n  10:1 ") || !strings.Contains(s, "\n  11:1 ") {
		t.Errorf("not the operations that take longest are shown:\n%s", s)
	}
}

func TestConditions(t *testing.T) {
	c := comparison(t, threeRuns())
	for _, test := range []struct {
		list string
		want []string
	}{
		{"max>50", nil}, // largest errors are exactly 50 %
		{"max>49.9", []string{"loggp: max is +50.0 %, above 49.9 %", "hockney: max is -50.0 %, above 49.9 %"}},
		{"mape>15, bias > 11%", []string{"loggp: mape is +20.0 %, above 15 %", "hockney: bias is -12.5 %, above 11 %"}},
		{"error>1.4", []string{"loggp: error is +1.40 %, above 1.4 %"}}, // 3/214 = 1.4019 %
	} {
		conditions, err := ParseConditions(test.list)
		if err != nil {
			t.Fatalf("%s: %v", test.list, err)
		}
		if diff := cmp.Diff(test.want, c.Violations(conditions)); diff != "" {
			t.Errorf("%s: %s", test.list, diff)
		}
	}
	for _, bad := range []string{"", "mape", "mape<3", "mappe>3", "mape>x", "mape>-1", "mape>NaN", "mape>3,"} {
		if _, err := ParseConditions(bad); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
	if _, err := ParseConditions("mpae>3"); err == nil || !strings.Contains(err.Error(), `did you mean "mape"?`) {
		t.Errorf("no suggestion in %v", err)
	}
}

func TestTimeText(t *testing.T) {
	for _, test := range []struct {
		ps   int64
		want string
	}{
		{0, "0 ps"}, {999, "999 ps"}, {1000, "1.000 ns"}, {103000700, "103.001 us"}, {11087e6, "11.087 ms"},
		{1e12, "1.000 s"}, {5e15, "5,000.000 s"}, {1499, "1.499 ns"},
	} {
		s := scaleOf(test.ps)
		if got := s.text(test.ps) + " " + s.name; got != test.want {
			t.Errorf("%d ps prints as %q, want %q", test.ps, got, test.want)
		}
	}
	// One unit for a table: microseconds hold both 5 ms and 3 us, milliseconds do not.
	if s := scaleOf(5e9, 3e6); s.name != "us" {
		t.Errorf("5 ms and 3 us are printed in %s", s.name)
	}
	// Where two makespans would look alike, a finer unit tells them apart.
	if s := apartOf(1_000_000_000, 1_000_040_000); s.name != "us" || s.text(1_000_040_000) != "1,000.040" {
		t.Errorf("1 ms and 1.00004 ms are printed in %s", s.name)
	}
	if s := scaleOf(5e12, 1); s.text(1) != "<0.001" {
		t.Errorf("1 ps beside 5 s prints as %q", s.text(1))
	}
}

func TestPercentText(t *testing.T) {
	for _, test := range []struct {
		e    Error
		want string
	}{
		{Error{}, "-"}, {Error{0, true}, "0"}, {Error{0.1, true}, "+10.0"}, {Error{-0.0345, true}, "-3.45"}, {Error{12.5, true}, "+1,250"},
		{Error{-0.9996, true}, "-100.0"}, {Error{1e-9, true}, "~0"}, {Error{-4e-5, true}, "-0.004"},
		{Error{9e-5, true}, "+0.01"},
	} {
		if got := percentText(test.e); got != test.want {
			t.Errorf("%+v prints as %q, want %q", test.e, got, test.want)
		}
	}
}
