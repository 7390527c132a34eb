package des

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hybrid/graph/replay"
	"hybrid/internal/units"
)

// Two hosts send 10,000 B each to a third over a star at 20 ps a byte and 500 ns: packets of
// 4194, 4178 and 1890 B, which are at the switch, that takes l, at 583880, 667440 and 705240
// + l. The output serves them in turn, and has in memory, with the packet that is being sent,
//
//	from      packet that starts  bytes   behind it
//	583880    1 of a              8388    4194
//	667440    -                   16744
//	667760    1 of b              12550   8356, marked
//	705240    -                   16330
//	751640    2 of a              12136   7958, marked
//	835200    2 of b              7958    3780
//	918760    3 of a              3780    1890
//	956560    3 of b              1890    0
//
// with a step of 5000 B at dequeue. An instant at which bytes leave still has them.
func TestCountersOfAQueue(t *testing.T) {
	const ecn = "ecn: {kmin: 5000B}"
	count := func(packets, bytes, marks, most int64) replay.QueueCount {
		return replay.QueueCount{TxPackets: packets, TxBytes: bytes, Marks: marks, Most: most}
	}
	for _, c := range []struct {
		keys  string
		times []units.Time
		want  []replay.QueueCount
	}{
		{ecn, []units.Time{583_880, 583_881, 667_761, 751_640, 751_641, 918_761}, []replay.QueueCount{
			{}, count(1, 4194, 0, 8388), count(2, 8388, 1, 16_744), count(2, 8388, 1, 16_330), count(3, 12_566, 2, 16_330), count(5, 18_634, 2, 12_136),
			count(6, 20_524, 2, 3780)}},
		// The second packet of b would be 16,744 B in a queue of 14,000 B. It is lost, or cut
		// to 64 B of another class, which leave before all others.
		{"queue: {limit: 14000B}", []units.Time{667_440, 667_441}, []replay.QueueCount{
			count(1, 4194, 0, 8388), {TxPackets: 1, TxBytes: 4194, Drops: 1, Most: 12_566}, {TxPackets: 5, TxBytes: 16_346, Drops: 1, Most: 12_566}}},
		{"queue: {limit: 14000B}, classes: [{}, {}], trim: {class: 1}", []units.Time{667_441, 667_761, 669_041}, []replay.QueueCount{
			{TxPackets: 1, TxBytes: 4194, Cuts: 1, Most: 12_566}, {TxPackets: 1, TxBytes: 4194, Cuts: 1, Most: 12_566}, {TxPackets: 2, TxBytes: 8388, Cuts: 1, Most: 8372},
			{TxPackets: 5, TxBytes: 16_346, Cuts: 1, Most: 12_152}}},
	} {
		for _, l := range []int64{0, 300_000} {
			n := network(t, "star", link400, fmt.Sprintf("  switch: {latency: %dps, %s}\n%s", l, c.keys, roce))
			for at := -1; at < len(c.times); at++ {
				p := &tape{}
				switch {
				case l > 0 && at >= 0: // each alone: the clock of the switch is behind by half of it
					p.times = []units.Time{c.times[at] + l}
				case l == 0 && at < 0:
					p.times = c.times
				default:
					continue
				}
				record(t, job(t, gather(t, 3, 10_000), n, 1), p)
				p.marks = append(p.marks, mark{Queues: p.queues, Links: p.last})
				for i, m := range p.marks {
					want := c.want[len(c.want)-1]
					if i < len(p.times) {
						want = c.want[max(at, i)]
					}
					classes := len(m.Queues) / len(m.Links)
					got := m.Queues[3*classes]
					if l > 0 { // since the start
						got.Most, want.Most = 0, 0
					}
					if d := cmp.Diff(want, got); d != "" {
						t.Errorf("%s, latency %d, mark %d: %s", c.keys, l, i, d)
					}
				}
			}
		}
	}
}

// The same with thresholds of 8000 and 3000 B: the second packets pause both links at 667440
// + l, the third go to the headroom. Of a the headroom is empty, and 1890 B are left, when
// its second packet has left at 835200 + l, of b at 918760 + l. A pause frame of 84 B takes
// 1680 ps and 500 ns: NICs are paused from 1169120 + l until 1336880 + l and 1420440 + l.
func TestCountersOfPauses(t *testing.T) {
	for _, l := range []units.Time{0, 300_000} {
		n := network(t, "star", link400, fmt.Sprintf("  switch: {latency: %dps, pfc: {xoff: 8000B, xon: 3000B}}\n%s", l, roce))
		for _, c := range []struct {
			at             units.Time
			pauses, frames int64
			a, b           units.Time
		}{
			{667_440, 0, 0, 0, 0},
			{667_441, 1, 0, 0, 0},
			{1_169_120, 1, 0, 0, 0},
			{1_169_121, 1, 1, 1, 1},
			{1_200_000, 1, 1, 30_880, 30_880},
			{1_336_881, 1, 1, 167_760, 167_761},
			{1_500_000, 1, 1, 167_760, 251_320},
		} {
			p := &tape{times: []units.Time{c.at + l}}
			j := job(t, gather(t, 3, 10_000), n, 1)
			record(t, j, p)
			if len(p.marks) != 1 {
				t.Fatalf("%d marks", len(p.marks))
			}
			m := p.marks[0]
			for link, paused := range map[int]units.Time{1: c.a, 2: c.b} {
				q := m.Queues[link]
				if got := m.Links[link]; got.Pauses != c.pauses || got.PauseFrames != c.frames || q.PauseFrames != c.frames || q.Paused != paused {
					t.Errorf("latency %d, at %d, link %d: %+v, its class %+v, want pauses %d, frames %d, a time of %d", l, c.at, link, got, q, c.pauses, c.frames, paused)
				}
			}
		}
	}
}
