package records

import (
	"hybrid/graph/replay"
	"hybrid/internal/units"
)

// links writes what each link has carried in each interval, without the links that were
// not in use.
type links struct {
	quiet
	ticker
	t     *table
	last  []replay.PortCount
	queue []int64 // by link: since the last row
	row   []cell
}

func newLinks(r *Recorder) listener {
	return &links{ticker: ticker{r: r, flag: "--link-interval", every: r.opt.LinkInterval}}
}

func (l *links) next() units.Time { return l.ticker.next() }

func (l *links) begin() (err error) {
	n := len(l.r.platform.Links)
	l.last, l.queue, l.rows = make([]replay.PortCount, n), make([]int64, n), int64(n)
	l.t, err = l.r.open("link-stats", linkColumns())
	return err
}

// look keeps the longest queues also at marks of other records, which begin a new count.
func (l *links) look(counts []replay.PortCount) {
	for i := range min(len(counts), len(l.queue)) {
		l.queue[i] = max(l.queue[i], counts[i].Queue)
	}
}

func (l *links) mark(counts, _ []replay.PortCount) error {
	at := l.r.opt.StartTime + l.now()
	for i := range l.last {
		if err := l.link(at, int32(i), of(counts, int32(i))); err != nil {
			return err
		}
	}
	copy(l.last, counts)
	clear(l.queue)
	return nil
}

func (l *links) link(at int64, id int32, now replay.PortCount) error {
	before := l.last[id]
	d := replay.PortCount{TxPackets: now.TxPackets - before.TxPackets, TxBytes: now.TxBytes - before.TxBytes, Queue: l.queue[id],
		TxMarks: now.TxMarks - before.TxMarks, TxDrops: now.TxDrops - before.TxDrops, TxCuts: now.TxCuts - before.TxCuts,
		Pauses: now.Pauses - before.Pauses, PauseFrames: now.PauseFrames - before.PauseFrames}
	if d == (replay.PortCount{}) {
		return nil
	}
	p := l.r.platform
	k := &p.Links[id]
	busy := int64(0)
	if k.PerByte.Num > 0 {
		busy = units.MulDiv(d.TxBytes, k.PerByte.Num, k.PerByte.Den)
	}
	l.row = append(l.row[:0], seconds(at), integer(id), text(p.Nodes[k.From].Name), text(p.Nodes[k.To].Name),
		integer(d.TxPackets), integer(d.TxBytes), micros(busy), utilization(d.TxBytes, k.PerByte, l.every), integer(d.Queue),
		integer(d.TxMarks), integer(d.TxDrops), integer(d.TxCuts), integer(d.Pauses), integer(d.PauseFrames))
	return l.t.row(l.row...)
}
