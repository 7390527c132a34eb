package report

import (
	"strings"
	"testing"
	"time"

	"hybrid/graph/replay"
)

// 3 million packet-hops in 2 s are 1.5 million a second, and 5 in each of 600,000 visits; 30 of 40 events are 75 %.
func TestStats(t *testing.T) {
	run := handMade("packet", 1e6, 1e3, 1e3, 1e3)
	run.Wall, run.PacketHops, run.Windows = 2*time.Second, 3_000_000, 1234
	c := New(inputs(), ringGraph(t), []*replay.Result{run}, nil, nil)
	if strings.Contains(text(t, c), "STATISTICS") {
		t.Error("statistics that nobody asked for")
	}
	c.Stats = &replay.Stats{Visits: 600_000, Threads: []int64{30, 10}, QueuePairs: 5, Estimate: 20 << 20, Allocated: 6 << 20, Allocations: 77, Peak: 30 << 20,
		Queues: []replay.QueueStat{{Link: "switch 1 to host 2", Bytes: 8388}, {Link: "switch 1 to host 3", Bytes: 4194}}}
	want := `
STATISTICS OF THE SIMULATION
  speed      3,000,000 packet-hops, 1.5 million a second
  windows    1,234, with 600,000 visits of processes, 5.0 packet-hops each
  threads    2, with 75 %, 25 % of the events
  memory     20MiB estimated, 6MiB allocated in 77 pieces; the process has held
             30MiB at most
  pairs      5 queue pairs
  longest queues      bytes
  switch 1 to host 2  8,388
  switch 1 to host 3  4,194
`
	if s := text(t, c); !strings.HasSuffix(s, want) {
		t.Errorf("%s\nwant at its end\n%s", s, want)
	}
	var b strings.Builder
	if err := c.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{`"packet_hops_per_s": 1500000`, `"visits": 600000`, `"thread_events": [
      30,
      10
    ]`, `"link": "switch 1 to host 2"`} {
		if !strings.Contains(b.String(), part) {
			t.Errorf("no %s in\n%s", part, b.String())
		}
	}
}
