package records

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hybrid/graph"
	"hybrid/graph/replay"
	"hybrid/internal/units"
)

// oneSend is a send of 8 B with tag 5 from rank 0 to rank 1. On the test engine it
// leaves in 8 ns, arrives at 1.008 us and is acknowledged at 2.008 us, when both ranks
// end: rank 1 waits for the acknowledgement of what it received.
func oneSend(t testing.TB) *graph.Graph {
	return traces(t, 2, func(m *maker) {
		if m.rank == 0 {
			m.send(1, 8, 5)
		} else {
			m.recv(0, 8, 5)
		}
	})
}

// ringPair is an allreduce of 1000 B by two ranks, C = 500 B, behind the barrier. On
// the test engine, in us:
//
//	barrier  rank 1 sends at 0 (arrives 1, acknowledged 2), rank 0 answers at 1
//	         (arrives 2, acknowledged 3): rank 0 begins at 1, rank 1 at 2
//	step 1   rank 0 sends 1-1.5 (arrives 2.5, acknowledged 3.5), rank 1 2-2.5
//	         (arrives 3.5, acknowledged 4.5)
//	step 2   rank 1 sends 2.5-3 (arrives 4, acknowledged 5), rank 0 3.5-4 (arrives 5,
//	         acknowledged 6)
//
// Rank 0's part ends at 4, rank 1's at 5; all is acknowledged at 6, when both end.
func ringPair(t testing.TB) *graph.Graph {
	return traces(t, 2, func(m *maker) { m.collective(graph.AllReduce, "ring", 0, 1000, graph.Synchronize) })
}

func TestPerfOfASend(t *testing.T) {
	got := record(t, oneSend(t), Options{Interval: 1e6})
	want := "time_utc,metric_name,sim_time_sec,perf_metric_usec,metric_path,metric_aggregation_id,start_time_sec," +
		"is_added_synchronization_flow,comm_tag,group_size,flow_comm_size,sending_app_name,receiving_app_name\n" +
		"1970-01-01T00:00:00.000002008Z,ChakraFCT,0.000002008,2.008,ChakraFCT.Send.GroupSize0.CommSize8Bytes,-1,0,false,5,-1,8,ChakraApp-0,ChakraApp-1\n"
	if d := cmp.Diff(want, got["test-chakra-perf-0.csv"]); d != "" {
		t.Error(d)
	}
}

// The start time moves simulated times, not spans.
func TestStartTime(t *testing.T) {
	got := record(t, oneSend(t), Options{Interval: 1e6, StartTime: 1e9})
	want := "1970-01-01T00:00:00.001002008Z,ChakraFCT,0.001002008,2.008,ChakraFCT.Send.GroupSize0.CommSize8Bytes,-1,0.001,false,5,-1,8,ChakraApp-0,ChakraApp-1\n"
	if d := cmp.Diff(want, body(got["test-chakra-perf-0.csv"])); d != "" {
		t.Error(d)
	}
	if got, want := body(got["test-chakra-cdf-0.csv"]), "0.001001,1,1,0,0,1\n0.001002,1,1,1,0,1\n0.001003,1,1,1,1,1\n"; got != want {
		t.Errorf("cdf\n%swant\n%s", got, want)
	}
	if got := body(got["test-chakra-completion-stats-0.csv"]); !strings.HasPrefix(got, "ChakraGenerator.ChakraApp,0,2.008,") {
		t.Errorf("completion %s", got)
	}
}

// Both ranks end with the acknowledgement. A rank that computes nothing has all of it
// done from the beginning. The last rank ends at 2.008 us, the simulation at 3.008 us.
func TestCompletionAndCDFOfASend(t *testing.T) {
	got := record(t, oneSend(t), Options{Interval: 1e6})
	want := lines(
		"ChakraGenerator.ChakraApp,0,2.008,8,0,1,0,1,0,0,post-annotated/test.0.json",
		"ChakraGenerator.ChakraApp,1,2.008,0,8,0,1,0,0,0,post-annotated/test.1.json")
	if d := cmp.Diff(want, body(got["test-chakra-completion-stats-0.csv"])); d != "" {
		t.Error(d)
	}
	want = "sim_time_sec,CDF_send_bytes,CDF_chakra_sends_completed,CDF_chakra_receives_completed,CDF_chakra_sends_fully_acked,CDF_chakra_computations_completed\n" +
		"0.000001,1,1,0,0,1\n0.000002,1,1,1,0,1\n0.000003,1,1,1,1,1\n"
	if d := cmp.Diff(want, got["test-chakra-cdf-0.csv"]); d != "" {
		t.Error(d)
	}
}

// What happens at the time of a row belongs to the next: a computation of 1 us is not
// done in the row of 1 us. One of three is a third, cut behind nine digits. The last of
// them ends at 3 us, so that the row of 4 us is the last.
func TestCDFOfComputations(t *testing.T) {
	g := traces(t, 1, func(m *maker) {
		a := m.compute(1, 0)
		m.compute(1, 0, m.compute(1, 0, a))
	})
	got := recordWith(t, g, &Platform{Hosts: 1, HostOf: []int32{0}, Nodes: []Node{{"server-0", 3, 0}}}, Options{Interval: 1e6}, 1e6, units.Never, nil)
	want := "0.000001,1,1,1,1,0\n0.000002,1,1,1,1,0.333333333\n0.000003,1,1,1,1,0.666666666\n0.000004,1,1,1,1,1\n"
	if d := cmp.Diff(want, body(got["test-chakra-cdf-0.csv"])); d != "" {
		t.Error(d)
	}
}

// Computations count with the durations of the trace; neither a collective that could
// not be expanded nor an injected delay is one.
func TestComputationsOfARank(t *testing.T) {
	g := traces(t, 1, func(m *maker) {
		m.compute(10, 0)
		m.compute(7, graph.HostCPU)
		m.compute(3, graph.Skipped)
		m.compute(5, graph.Injected)
	})
	got := recordWith(t, g, &Platform{Hosts: 1, HostOf: []int32{0}, Nodes: []Node{{"server-0", 3, 0}}}, Options{Interval: 1e6}, 1e6, units.Never, nil)
	want := "ChakraGenerator.ChakraApp,0,10,0,0,0,0,0,2,17,post-annotated/test.0.json\n"
	if d := cmp.Diff(want, body(got["test-chakra-completion-stats-0.csv"])); d != "" {
		t.Error(d)
	}
}

func TestPerfOfACollective(t *testing.T) {
	got := body(record(t, ringPair(t), Options{Interval: 1e6})["test-chakra-perf-0.csv"])
	id := itoa(collectiveHash(0, 0))
	var want []string
	const ring, barrier = "ChakraFCT.ALL_REDUCE.GroupSize2.CommSize1000Bytes", "ChakraFCT.BARRIER.GroupSize2.CommSize0Bytes"
	for _, r := range []struct {
		end, span, path, start, sync, size string
		from, to                           string
	}{
		{"2", "2", barrier, "0", "true", "0", "1", "0"},
		{"3", "2", barrier, "0.000001", "true", "0", "0", "1"},
		{"3.5", "2.5", ring, "0.000001", "false", "500", "0", "1"},
		{"4.5", "2.5", ring, "0.000002", "false", "500", "1", "0"},
		{"5", "2.5", ring, "0.0000025", "false", "500", "1", "0"},
		{"6", "2.5", ring, "0.0000035", "false", "500", "0", "1"},
	} {
		whole, rest, _ := strings.Cut(r.end, ".")
		want = append(want, "1970-01-01T00:00:00.00000"+whole+(rest + "000")[:3]+"Z,ChakraFCT,0.00000"+whole+rest+","+r.span+","+r.path+","+id+","+r.start+","+r.sync+
			",TAG,2,"+r.size+",ChakraApp-"+r.from+",ChakraApp-"+r.to)
	}
	rows, tags := withoutTags(t, got)
	if d := cmp.Diff(lines(want...), rows); d != "" {
		t.Error(d)
	}
	// Each transfer has a tag of its own, which no trace can have.
	slices.Sort(tags)
	if len(slices.Compact(slices.Clone(tags))) != 6 {
		t.Errorf("tags %v", tags)
	}
	for _, tag := range tags {
		if len(tag) < 19 || tag < "9223372036854775808" && len(tag) == 19 {
			t.Errorf("tag %s has not the top bit of 64 set", tag)
		}
	}
}

// withoutTags cuts the tags out of the rows of chakra-perf.
func withoutTags(t *testing.T, rows string) (string, []string) {
	t.Helper()
	var out, tags []string
	for row := range strings.Lines(rows) {
		f := strings.Split(strings.TrimSuffix(row, "\n"), ",")
		tags = append(tags, f[8])
		f[8] = "TAG"
		out = append(out, strings.Join(f, ","))
	}
	return lines(out...), tags
}

// The latest participant starts at 2 us, the earliest at 1 us; the last acknowledgement
// comes at 6 us.
func TestCollectiveStats(t *testing.T) {
	id := itoa(collectiveHash(0, 0))
	for _, c := range []struct {
		earliest bool
		want     string
	}{{false, id + ",ALL_REDUCE,1000,world,2,2,6,true,1\n"}, {true, id + ",ALL_REDUCE,1000,world,2,1,6,false,1\n"}} {
		got := record(t, ringPair(t), Options{Interval: 1e6, EarliestStart: c.earliest})
		if d := cmp.Diff(c.want, body(got["test-chakra-comm-collective-stats-0.csv"])); d != "" {
			t.Error(d)
		}
	}
}

// The barrier before the collective counts nowhere: each rank sends 2 x 500 B.
func TestBarriersOfSynchronizationAreNotCounted(t *testing.T) {
	got := record(t, ringPair(t), Options{Interval: 2e6})
	want := lines(
		"ChakraGenerator.ChakraApp,0,6,1000,1000,2,2,2,0,0,post-annotated/test.0.json",
		"ChakraGenerator.ChakraApp,1,6,1000,1000,2,2,2,0,0,post-annotated/test.1.json")
	if d := cmp.Diff(want, body(got["test-chakra-completion-stats-0.csv"])); d != "" {
		t.Error(d)
	}
	// Before 2 us one of four sends has ended, at 1.5 us; before 4 us three, and one
	// receive at 2.5, one at 3.5, and one acknowledgement at 3.5; before 6 us all, but
	// for the acknowledgement at 6.
	want = "0.000002,0.25,0.25,0,0,1\n0.000004,0.75,0.75,0.5,0.25,1\n0.000006,1,1,1,0.75,1\n0.000008,1,1,1,1,1\n"
	if d := cmp.Diff(want, body(got["test-chakra-cdf-0.csv"])); d != "" {
		t.Error(d)
	}
}

// The run takes 4 us from the latest start; the ideal time is said to be 1.5 us, so that
// the ratio is 2.666667.
func TestPercentilesOfOne(t *testing.T) {
	ideal := func(typ graph.CollType, algorithm string, n int, bytes int64) (int64, bool) {
		return 1_500_000, typ == graph.AllReduce && algorithm == "ring" && n == 2 && bytes == 1000
	}
	got := record(t, ringPair(t), Options{Interval: 1e6, Ideal: ideal})
	want := "comm_type,expansion_algo,comm_size,pg_size,count,mean_run_time_us,p50_run_time_us,p99_run_time_us,p99_9_run_time_us,p100_run_time_us," +
		"mean_ideal_ratio,p50_ideal_ratio,p99_ideal_ratio,p99_9_ideal_ratio,p100_ideal_ratio\n" +
		"ALL_REDUCE,ring,1000,2,1,4,4,4,4,4,2.666667,2.666667,2.666667,2.666667,2.666667\n"
	if d := cmp.Diff(want, got["test-chakra-comm-collective-percentiles-stats-0.csv"]); d != "" {
		t.Error(d)
	}
}

// A barrier has no ideal time, whatever the callback says. Ring with two ranks and no
// bytes, no synchronization: sends at 0, received and sent again at 1, received at 2,
// acknowledged at 3.
func TestBarrierHasNoIdealRatio(t *testing.T) {
	g := traces(t, 2, func(m *maker) { m.collective(graph.Barrier, "ring", 0, 0, 0) })
	got := record(t, g, Options{Interval: 1e6, Ideal: func(graph.CollType, string, int, int64) (int64, bool) { return 1, true }})
	want := "BARRIER,ring,0,2,1,3,3,3,3,3,NA,NA,NA,NA,NA\n"
	if d := cmp.Diff(want, body(got["test-chakra-comm-collective-percentiles-stats-0.csv"])); d != "" {
		t.Error(d)
	}
}

// Nearest rank: of 1..1000, in any order, p50 is 500, p99 990, p99.9 999, p100 1000; of
// three values p50 is the second and p99 the third; of two p50 is the first.
func TestPercentilesByNearestRank(t *testing.T) {
	for _, c := range []struct {
		n    int64
		want [4]units.Time
	}{{1000, [4]units.Time{500, 990, 999, 1000}}, {1001, [4]units.Time{501, 991, 1000, 1001}}, {60, [4]units.Time{30, 60, 60, 60}}, {3, [4]units.Time{2, 3, 3, 3}}, {2, [4]units.Time{1, 2, 2, 2}}, {1, [4]units.Time{1, 1, 1, 1}}} {
		d := distribution{of: map[units.Time]int64{}}
		for i := range c.n {
			d.add(i*17%c.n + 1)
		}
		if c.n%17 == 0 {
			t.Fatal("17 must not divide the number of values")
		}
		if got := d.at(permilles()); got != c.want {
			t.Errorf("of 1..%d: %v, want %v", c.n, got, c.want)
		}
	}
}

// A group of one has nothing to transfer: its collective lasts no time.
func TestCollectiveOfOne(t *testing.T) {
	g := traces(t, 1, func(m *maker) { m.collective(graph.AllReduce, "ring", 0, 1000, graph.Synchronize, m.compute(2, 0)) })
	got := recordWith(t, g, &Platform{Hosts: 1, HostOf: []int32{0}, Nodes: []Node{{"server-0", 3, 0}}}, Options{Interval: 1e6}, 1e6, units.Never, nil)
	want := itoa(collectiveHash(0, 0)) + ",ALL_REDUCE,1000,world,1,2,2,true,1\n"
	if d := cmp.Diff(want, body(got["test-chakra-comm-collective-stats-0.csv"])); d != "" {
		t.Error(d)
	}
}

// Collectives appear in the order in which they become complete.
func TestCollectivesInOrder(t *testing.T) {
	g := traces(t, 2, func(m *maker) {
		a := m.collective(graph.AllReduce, "ring", 0, 8, 0)
		b := m.collective(graph.Broadcast, "interleaved", 1, 8, 0, a)
		m.collective(graph.Reduce, "ring", 2, 8, 0, b)
	})
	got := body(record(t, g, Options{Interval: 1e6})["test-chakra-comm-collective-stats-0.csv"])
	var types []string
	for row := range strings.Lines(got) {
		types = append(types, strings.Split(row, ",")[1])
	}
	if d := cmp.Diff([]string{"ALL_REDUCE", "BROADCAST", "REDUCE"}, types); d != "" {
		t.Error(d)
	}
}

// How the engine cuts time into windows leaves no trace in any table.
func TestWindowsDoNotMatter(t *testing.T) {
	g := traces(t, 4, func(m *maker) {
		last := m.compute(m.rank, 0)
		for k := range int64(5) {
			last = m.collective(graph.AllReduce, "ring", k, 100*k, graph.Synchronize, last)
		}
	})
	p := &Platform{Hosts: 4, HostOf: []int32{0, 1, 2, 3}, Nodes: []Node{{"a", 3, 0}, {"b", 3, 1}, {"c", 3, 2}, {"d", 3, 3}}}
	var first map[string]string
	for _, window := range []units.Time{1e3, 333_333, 1e6, 1e12} {
		got := recordWith(t, g, p, Options{Interval: 3e6, DeviceInterval: 5e6, ProfileInterval: 700_000}, window, units.Never, nil)
		for name := range got {
			if strings.HasPrefix(name, annotatedDir) {
				delete(got, name) // see TestAnnotated: its order follows windows
			}
		}
		if first == nil {
			first = got
		}
		if d := cmp.Diff(first, got); d != "" {
			t.Errorf("window %d ps: %s", window, d)
		}
	}
}

// A run that is stopped at 3 us: rank 0 has sent one part and received none, rank 1 has
// received it and sent both of its own. Each has a row with what it completed by then;
// nobody finished, so that the collective is not valid. Its end is the receive at 2.5.
func TestStoppedRun(t *testing.T) {
	got := recordWith(t, ringPair(t), pair(), Options{Interval: 1e6, StopAt: 3e6}, 1e6, 3e6, nil)
	want := lines(
		"ChakraGenerator.ChakraApp,0,3,500,0,1,0,0,0,0,post-annotated/test.0.json",
		"ChakraGenerator.ChakraApp,1,3,1000,500,2,1,0,0,0,post-annotated/test.1.json")
	if d := cmp.Diff(want, body(got["test-chakra-completion-stats-0.csv"])); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(itoa(collectiveHash(0, 0))+",ALL_REDUCE,1000,world,2,2,2.5,true,0\n", body(got["test-chakra-comm-collective-stats-0.csv"])); d != "" {
		t.Error(d)
	}
	if got := body(got["test-chakra-comm-collective-percentiles-stats-0.csv"]); got != "" {
		t.Errorf("an incomplete collective in the percentiles: %s", got)
	}
	// Fractions are those of what the run completed: 1500 B, three sends, one receive.
	if d := cmp.Diff("0.000001,0,0,0,1,1\n0.000002,0.333333333,0.333333333,0,1,1\n0.000003,0.666666666,0.666666666,1,1,1\n", body(got["test-chakra-cdf-0.csv"])); d != "" {
		t.Error(d)
	}
}

// Of a collective that one rank has finished, another not, the row is valid.
func TestPartlyFinishedCollectiveIsValid(t *testing.T) {
	got := recordWith(t, ringPair(t), pair(), Options{Interval: 1e6, StopAt: 4.5e6}, 1e6, 4.5e6, nil)
	if d := cmp.Diff(itoa(collectiveHash(0, 0))+",ALL_REDUCE,1000,world,2,2,4.5,true,1\n", body(got["test-chakra-comm-collective-stats-0.csv"])); d != "" {
		t.Error(d)
	}
}

// The barrier's nodes have the ids 1 and 2, the start 3, the transfers 4 to 7; the end
// is the collective itself, 0. At 2.2 us rank 0 waits for the acknowledgements of the
// barrier's answer (2) and of its first part (4), and for the first part of rank 1 (5).
func TestProfile(t *testing.T) {
	got := record(t, ringPair(t), Options{Interval: 1e6, ProfileInterval: 2_200_000})
	bar := strings.Repeat("=", 64) + "\n"
	want := "CHAKRA PROFILING\n" +
		bar + "sim_time_sec: 0.0000022\nsend_nodes:\n  S(2,1,0,[1],[])\n  S(4,1,500,[3],[])\nreceive_nodes:\n  R(5,1,500,[3],[])\ncomputation_nodes:\n" +
		// At 4.4 us only the acknowledgement of its second part (6) is missing.
		bar + "sim_time_sec: 0.0000044\nsend_nodes:\n  S(6,1,500,[5],[])\nreceive_nodes:\ncomputation_nodes:\n" +
		bar + "sim_time_sec: 0.0000066\nsend_nodes:\nreceive_nodes:\ncomputation_nodes:\n"
	if d := cmp.Diff(want, got["test-chakra-profiling-0-0.txt"]); d != "" {
		t.Error(d)
	}
	if _, ok := record(t, ringPair(t), Options{Interval: 1e6})["test-chakra-profiling-0-0.txt"]; ok {
		t.Error("a listing without an interval")
	}
}

// Compute, memory and unexpanded collectives are all listed as computations.
func TestProfileOfComputations(t *testing.T) {
	g := traces(t, 1, func(m *maker) {
		a := m.compute(5, 0)
		m.compute(5, graph.Skipped)
		m.join(a)
	})
	got := recordWith(t, g, &Platform{Hosts: 1, HostOf: []int32{0}, Nodes: []Node{{"server-0", 3, 0}}}, Options{Interval: 1e6, ProfileInterval: 4e6}, 1e6, units.Never, nil)
	want := "CHAKRA PROFILING\n" + strings.Repeat("=", 64) + "\nsim_time_sec: 0.000004\nsend_nodes:\nreceive_nodes:\ncomputation_nodes:\n  C(0,[],[])\n  C(1,[],[])\n"
	if d := cmp.Diff(want, got["test-chakra-profiling-0-0.txt"]); d != "" {
		t.Error(d)
	}
}

// The report says where records are incomplete.
func TestNotes(t *testing.T) {
	r, err := New(ringPair(t), pair(), Options{Dir: t.TempDir(), Interval: 1e6, StopAt: 3e6})
	if err != nil {
		t.Fatal(err)
	}
	res, err := run(ringPair(t), 3e6).deliver(r, 1e6, replay.Stopped, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Notes) != 1 || !strings.HasSuffix(res.Notes[0], "hold what was complete: the run is stopped") {
		t.Errorf("notes %q", res.Notes)
	}
}

// The wall clock shows in annotated traces alone.
func TestWallClock(t *testing.T) {
	tick := time.Duration(0)
	wall := func() time.Duration { tick += 1500 * time.Nanosecond; return tick }
	a := record(t, oneSend(t), Options{Interval: 1e6})
	b := record(t, oneSend(t), Options{Interval: 1e6, Wall: wall})
	for name := range a {
		if same := a[name] == b[name]; same == strings.HasPrefix(name, annotatedDir) {
			t.Errorf("%s: same %v", name, same)
		}
	}
}

// growing is 100 B times the number of the iteration, from 1.
type growing struct{ slot int32 }

func (g growing) Eval(env *graph.Env) (int64, error) { return 100 * (env.Loops[g.slot] + 1), nil }
func (growing) String() string                       { return "100 B * (i + 1)" }

// A size that a loop computes anew is that of the iteration, in every row.
func TestSizesOfIterations(t *testing.T) {
	g := build(t, graph.Blueprint, 2, false, func(m *maker) {
		site := m.Site(graph.Site{Kind: graph.Loop})
		slot := m.r.BeginLoop(site, m.r.Int(2))
		op := graph.Op{Kind: graph.Collective, Size: m.r.Expr(growing{slot}), Arg: m.r.Call(graph.Call{Type: graph.Reduce, Algorithm: "ring"})}
		m.add("coll", op)
		m.r.EndLoop(site)
	})
	got := record(t, g, Options{Interval: 1e6})
	var paths []string
	for row := range strings.Lines(body(got["test-chakra-perf-0.csv"])) {
		f := strings.Split(row, ",")
		paths = append(paths, f[4]+" "+f[10])
	}
	// One transfer each, to rank 0.
	want := []string{"ChakraFCT.REDUCE.GroupSize2.CommSize100Bytes 100", "ChakraFCT.REDUCE.GroupSize2.CommSize200Bytes 200"}
	if d := cmp.Diff(want, paths); d != "" {
		t.Error(d)
	}
	if got := body(got["test-chakra-comm-collective-stats-0.csv"]); strings.Count(got, ",REDUCE,100,world,2,")+strings.Count(got, ",REDUCE,200,world,2,") != 2 {
		t.Errorf("collectives %s", got)
	}
}

// Half the size and half the work: each transfer is floor(500/2) B, while the size of
// the collective stays as the trace has it.
func TestScaledSizes(t *testing.T) {
	g := traces(t, 2, func(m *maker) { m.collective(graph.AllReduce, "ring", 0, 1001, 0, m.compute(3, 0)) })
	g.Scale = units.NewRat(1, 2)
	got := record(t, g, Options{Interval: 1e6})
	for row := range strings.Lines(body(got["test-chakra-perf-0.csv"])) {
		if f := strings.Split(row, ","); f[4] != "ChakraFCT.ALL_REDUCE.GroupSize2.CommSize1001Bytes" || f[10] != "250" {
			t.Errorf("row %s", row)
		}
	}
	if got := body(got["test-chakra-comm-collective-stats-0.csv"]); !strings.Contains(got, ",ALL_REDUCE,1001,world,2,") {
		t.Errorf("collective %s", got)
	}
	// Two sends of 250 B, and 3 us that became 1 us: traces keep whole microseconds.
	if got := body(got["test-chakra-completion-stats-0.csv"]); !strings.Contains(got, ",500,500,2,2,2,1,1,post-annotated") {
		t.Errorf("completion %s", got)
	}
}

// Both ends of a transfer have the same tag, those of the two directions different ones.
func TestTagsOfBothEnds(t *testing.T) {
	at := func(rank, peer int32, kind graph.Kind) uint64 {
		return commTag(&replay.Event{Rank: rank, Peer: peer, OpKind: kind, Collective: true, Context: replay.CollectiveContext(0, 3), Tag: 1})
	}
	if a, b := at(0, 1, graph.Send), at(1, 0, graph.Recv); a != b {
		t.Errorf("the sender has %d, the receiver %d", a, b)
	}
	if a, b := at(0, 1, graph.Send), at(1, 0, graph.Send); a == b {
		t.Errorf("both directions have %d", a)
	}
}

// bySender is 100 B from rank 0 and 200 B from rank 1.
type bySender struct{}

func (bySender) Eval(env *graph.Env) (int64, error) { return 100 * (int64(env.Rank) + 1), nil }
func (bySender) Varies() bool                       { return false }
func (bySender) String() string                     { return "100 B * (rank + 1)" }

// An all-to-allv has no size of its own: its bytes are what all pairs have sent.
func TestSizeOfAllToAllV(t *testing.T) {
	g := traces(t, 2, func(m *maker) {
		op := graph.Op{Kind: graph.Collective, Size: m.r.Int(0), Index: m.r.Int(0), Arg: m.r.Call(graph.Call{Type: graph.AllToAllV, Sizes: bySender{}})}
		m.add("coll", op)
	})
	got := record(t, g, Options{Interval: 1e6})
	if text := body(got["test-chakra-comm-collective-stats-0.csv"]); !strings.Contains(text, ",ALL_TO_ALLV,300,world,2,") {
		t.Errorf("collectives %s", text)
	}
	if text := body(got["test-chakra-perf-0.csv"]); strings.Count(text, "ChakraFCT.ALL_TO_ALLV.GroupSize2.CommSizePairBytes") != 2 {
		t.Errorf("transfers %s", text)
	}
}
