package records

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"hybrid/graph/replay"
	"hybrid/internal/units"
)

// Two classes at both ends of a link, at marks of this record, 100 ns apart, and of another
// one at 30 ns, which begins a new count of the longest queue. Ticks are a third of a
// picosecond: pauses of 100 and 200 ticks are 33 and 67 ps since the start. What nothing
// happened to has no row.
func TestQueues(t *testing.T) {
	dir := t.TempDir()
	r, err := New(oneSend(t), pair(), Options{Dir: dir, Name: "test", Interval: 1e6, LinkInterval: 100_000, StartTime: 1e6, Only: []string{"queue-stats"}})
	if err != nil {
		t.Fatal(err)
	}
	if w := r.Wants(); w != (replay.Wants{Queues: true}) {
		t.Errorf("wants %+v", w)
	}
	if err := r.Begin(units.Clock{PerPS: 3}); err != nil {
		t.Fatal(err)
	}
	var none replay.QueueCount
	a := replay.QueueCount{TxPackets: 2, TxBytes: 8000, Marks: 1, Most: 900}
	b := replay.QueueCount{TxPackets: 3, TxBytes: 9000, Marks: 1, Drops: 4, Cuts: 5, PauseFrames: 1, Paused: 100, Most: 50}
	c := b
	c.Most, c.Paused = 0, 200
	links := make([]replay.PortCount, 2)
	for _, m := range []struct {
		at     units.Time
		queues []replay.QueueCount
	}{
		{90_000, []replay.QueueCount{none, a, none, none}},
		{300_000, []replay.QueueCount{none, b, none, none}},
		{600_000, []replay.QueueCount{none, b, none, none}}, // the most is that of the interval
	} {
		if err := r.Queues(m.queues, 2); err != nil {
			t.Fatal(err)
		}
		if err := r.Mark(m.at, links, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Queues([]replay.QueueCount{none, c, none, {Most: 7}}, 2); err != nil {
		t.Fatal(err)
	}
	if err := r.End(&replay.Result{Verdict: replay.Verdict{Outcome: replay.Finished}, Makespan: 700_000}, links, nil); err != nil {
		t.Fatal(err)
	}
	want := lines(
		"sim_time_sec,link_id,from_name,to_name,traffic_class,interval_packets,interval_bytes,max_queue_bytes,interval_marks,interval_drops,interval_cuts,interval_pause_frames,paused_time_us",
		"0.0000011,0,server-0,server-1,1,3,9000,900,1,4,5,1,0.000033",
		"0.0000012,0,server-0,server-1,1,0,0,50,0,0,0,0,0",
		"0.0000013,0,server-0,server-1,1,0,0,0,0,0,0,0,0.000034",
		"0.0000013,1,server-1,server-0,1,0,0,7,0,0,0,0,0",
	)
	if d := cmp.Diff(want, files(t, dir)["test-queue-stats-0.csv"]); d != "" {
		t.Error(d)
	}
}

// Events are for those records alone that tell of operations.
func TestWants(t *testing.T) {
	for _, c := range []struct {
		only   []string
		events bool
		queues bool
	}{
		{nil, true, true},
		{[]string{"nd-stats", "link-stats", "topology-report", "chakra-mapping", "chakra-apps", "chakra-capable-hosts"}, false, false},
		{[]string{"link-stats", "queue-stats"}, false, true},
		{[]string{"chakra-perf"}, true, false},
		{[]string{"chakra-cdf", "link-stats"}, true, false},
		{[]string{"chakra-completion-stats"}, true, false},
		{[]string{"chakra-comm-collective-stats"}, true, false},
		{[]string{annotatedRecord}, true, false},
	} {
		r, err := New(oneSend(t), pair(), Options{Dir: t.TempDir(), Name: "test", Interval: 1e6, DeviceInterval: 1e6, Only: c.only})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := r.Wants(), (replay.Wants{Events: c.events, Parts: c.events, Queues: c.queues}); got != want {
			t.Errorf("%v: wants %+v, want %+v", c.only, got, want)
		}
	}
}
