package records

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"hybrid/graph/replay"
	"hybrid/internal/units"
)

// Two packets of 4000 B leave in the first interval of 100 ns, at 20 ps a byte 160 ns of
// the link's time, and one of 2000 B in the second, 40 ns. What a mark of another record
// showed of the queue, at multiples of 30 ns, counts in the interval it belongs to; links
// that are not in use, and intervals without anything, have no row. What switches did stands in
// the interval in which they did it.
func TestLinks(t *testing.T) {
	count := func(at units.Time) (links, scaleUp []replay.PortCount) {
		var out, back replay.PortCount
		if out = (replay.PortCount{TxPackets: 2, TxBytes: 8000}); at > 100_000 {
			out = replay.PortCount{TxPackets: 3, TxBytes: 10_000}
		}
		switch at {
		case 30_000:
			out.Queue = 700
		case 60_000:
			out.Queue = 900
		case 100_000, 180_000:
			out.Queue = 50
		case 300_000: // the packet that found it was counted before
			back.Queue = 64
		}
		if at > 100_000 {
			out.TxMarks, out.TxDrops, out.TxCuts, out.Pauses, out.PauseFrames = 1, 2, 3, 4, 5
		}
		if at > 200_000 {
			out.TxDrops, back.Pauses = 3, 1
		}
		return []replay.PortCount{out, back}, nil
	}
	got := recordWith(t, oneSend(t), pair(), Options{Interval: 1e6, DeviceInterval: 100_000, ProfileInterval: 30_000, StartTime: 1e6,
		Only: []string{"link-stats", profileRecord}}, 1e6, units.Never, count)
	want := lines(
		"sim_time_sec,link_id,from_name,to_name,interval_packets,interval_bytes,busy_time_us,utilization,max_queue_bytes,interval_marks,interval_drops,interval_cuts,interval_pauses,interval_pause_frames",
		"0.0000011,0,server-0,server-1,2,8000,0.16,160,900,0,0,0,0,0",
		"0.0000012,0,server-0,server-1,1,2000,0.04,40,50,1,2,3,4,5",
		"0.0000013,0,server-0,server-1,0,0,0,0,0,0,1,0,0,0",
		"0.0000013,1,server-1,server-0,0,0,0,0,64,0,0,0,1,0",
	)
	if d := cmp.Diff(want, got["test-link-stats-0.csv"]); d != "" {
		t.Error(d)
	}
}
