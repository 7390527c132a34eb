package records

import (
	"hybrid/graph/replay"
	"hybrid/internal/units"
)

// queues writes what has happened in each interval to each traffic class at each output,
// without those to which nothing has.
type queues struct {
	quiet
	ticker
	t       *table
	last    []replay.QueueCount // by link and class
	most    []int64             // likewise: since the last row
	classes int
	row     []cell
}

func newQueues(r *Recorder) listener {
	return &queues{ticker: ticker{r: r, flag: "--link-interval", every: r.opt.LinkInterval}}
}

func (q *queues) next() units.Time { return q.ticker.next() }

func (q *queues) begin() (err error) {
	q.rows = int64(len(q.r.platform.Links))
	q.t, err = q.r.open("queue-stats", queueColumns())
	return err
}

// look keeps the longest queues also at marks of other records, which begin a new count.
func (q *queues) look([]replay.PortCount) {
	now := q.r.queues
	if q.last == nil {
		q.last, q.most, q.classes = make([]replay.QueueCount, len(now)), make([]int64, len(now)), max(q.r.classes, 1)
		q.rows *= int64(q.classes)
	}
	for i := range now {
		q.most[i] = max(q.most[i], now[i].Most)
	}
}

func (q *queues) mark(_, _ []replay.PortCount) error {
	at := q.r.opt.StartTime + q.now()
	for i := range q.last {
		if err := q.queue(at, i, &q.r.queues[i]); err != nil {
			return err
		}
	}
	copy(q.last, q.r.queues)
	clear(q.most)
	return nil
}

func (q *queues) queue(at int64, i int, now *replay.QueueCount) error {
	before := &q.last[i]
	d := replay.QueueCount{TxPackets: now.TxPackets - before.TxPackets, TxBytes: now.TxBytes - before.TxBytes, Marks: now.Marks - before.Marks,
		Drops: now.Drops - before.Drops, Cuts: now.Cuts - before.Cuts, PauseFrames: now.PauseFrames - before.PauseFrames,
		Paused: q.r.clock.PS(now.Paused) - q.r.clock.PS(before.Paused), Most: q.most[i]}
	if d == (replay.QueueCount{}) {
		return nil
	}
	p, id := q.r.platform, i/q.classes
	k := &p.Links[id]
	q.row = append(q.row[:0], seconds(at), integer(id), text(p.Nodes[k.From].Name), text(p.Nodes[k.To].Name), integer(i%q.classes),
		integer(d.TxPackets), integer(d.TxBytes), integer(d.Most), integer(d.Marks), integer(d.Drops), integer(d.Cuts), integer(d.PauseFrames), micros(d.Paused))
	return q.t.row(q.row...)
}

func queueColumns() []Column {
	return []Column{
		{"sim_time_sec", Decimal, "end of the interval"},
		{"link_id", Integer, "number of the directed link in the topology"},
		{"from_name", Text, "server or switch that sends on it, whose queue it is"},
		{"to_name", Text, "the one that receives"},
		{"traffic_class", Integer, "traffic class; 0 where the network has none"},
		{"interval_packets", Integer, "packets of the class whose first bit has left in the interval"},
		{"interval_bytes", Integer, "their bytes, headers included"},
		{"max_queue_bytes", Integer, "at a switch with a packet memory the most bytes that the class had there for this output at any instant of the interval, with the packet that is being sent; at others as in link-stats; 0 at NICs"},
		{"interval_marks", Integer, "packets that the switch has marked (ECN)"},
		{"interval_drops", Integer, "packets that the switch dropped"},
		{"interval_cuts", Integer, "packets that the switch has cut to their header, under the class that they had before"},
		{"interval_pause_frames", Integer, "pause frames that have paused the class here, repetitions included"},
		{"paused_time_us", Decimal, "how long the class was paused here in the interval"},
	}
}
