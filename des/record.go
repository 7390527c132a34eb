package des

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"hybrid/des/fabric"
	"hybrid/des/nic"
	"hybrid/des/sim"
	"hybrid/graph"
	"hybrid/graph/replay"
	"hybrid/internal/units"
)

// recording is what a run with a [replay.Recorder] keeps. Workers write events and
// parts into their books; between windows they are put in order and handed over. All
// that a window delivers has happened in it, so the whole stream is in order.
type recording struct {
	to replay.Recorder

	events, ordered []replay.Event
	order           []eventKey
	placed, spare   []placed
	parts           []replay.CollectiveEnd
	ranks           []rankRecord
	ended           []replay.Event // of the window
	touched         []int32        // ranks that may have ended now
	now             units.Time

	wires  []fabric.Wire // by link
	counts []fabric.Count
	links  []replay.PortCount
	ups    []replay.PortCount // by rank
	failed bool
}

// rankRecord says what a rank waits for before it ends.
type rankRecord struct {
	open        int64 // transfers that are not acknowledged
	done, ended bool  // it has nothing left to do, or to wait for
}

// eventKey orders an event without moving it.
type eventKey struct {
	t    units.Time
	seq  uint64
	rank int32
	at   int32 // index
	kind replay.EventKind
}

func (a eventKey) compare(b eventKey) int {
	if a.t != b.t {
		return cmp.Compare(a.t, b.t)
	}
	if a.rank != b.rank {
		return cmp.Compare(a.rank, b.rank)
	}
	if a.seq != b.seq {
		return cmp.Compare(a.seq, b.seq)
	}
	return cmp.Compare(a.kind, b.kind)
}

// record prepares the recording, if there is one.
func (r *run) record(wires []fabric.Wire) {
	if r.job.Recorder == nil {
		return
	}
	rec := &recording{to: r.job.Recorder, wires: wires, counts: make([]fabric.Count, len(wires)),
		links: make([]replay.PortCount, len(wires)), ranks: make([]rankRecord, r.job.Graph.Ranks)}
	for i := range wires {
		wires[i].Count(&rec.counts[i])
	}
	r.rec = rec
}

// begin starts the recording and returns the first mark.
func (r *run) begin() (mark units.Time, err error) {
	if err := r.told(r.rec.to.Begin(r.clock)); err != nil {
		return 0, err
	}
	return r.rec.to.NextMark(), nil
}

// told notes an error of the recorder, which is not called again then.
func (r *run) told(err error) error {
	r.rec.failed = r.rec.failed || err != nil
	return err
}

// passed shows the counters to the recorder.
func (r *run) passed(at units.Time) (next units.Time, err error) {
	r.countLinks(at)
	if err := r.told(r.rec.to.Mark(at, r.rec.links, r.countScaleUp())); err != nil {
		return units.Never, err
	}
	return r.rec.to.NextMark(), nil
}

// countLinks sets the counters to what has happened before a time.
func (r *run) countLinks(at units.Time) {
	for id, l := range r.job.Topology.Links() {
		sent, received := r.rec.wires[id].Passed(r.medium, l, at)
		r.rec.links[id] = replay.PortCount{TxPackets: sent.Packets, TxBytes: sent.Bytes, RxPackets: received.Packets, RxBytes: received.Bytes}
	}
	for _, s := range r.buffered {
		s.Dropped(func(link int32, n int64) { r.rec.links[link].TxDrops = n })
	}
	r.faultDrops(r.rec.links)
	r.takeQueues(r.rec.links)
}

// countEnd sets the counters, and the longest queues, to those of the end of the run.
func (r *run) countEnd(ending sim.Ending) {
	if r.rec == nil {
		r.takeQueues(nil)
		return
	}
	at := r.kernel.Reached
	switch ending {
	case sim.Drained:
		at = units.Never
	case sim.AtStop:
		at = r.stop() + 1
	}
	r.countLinks(at)
}

// finishRecording hands over the result, which an error of the recorder changes.
func (r *run) finishRecording(res *replay.Result) {
	if r.rec == nil || r.rec.failed {
		return
	}
	if err := r.told(r.rec.to.End(res, r.rec.links, r.countScaleUp())); err != nil {
		res.Verdict.Outcome, res.Verdict.Errors = replay.Failed, append(res.Verdict.Errors, err)
	}
}

// deliver hands over what has happened in a window.
func (r *run) deliver(workers []*sim.Worker) error {
	rec := r.rec
	rec.events, rec.parts = rec.events[:0], rec.parts[:0]
	for _, w := range workers {
		b := &r.books[w.ID]
		if sim.Invariants {
			b.assert(w.Start, w.End)
		}
		rec.events, rec.parts = append(rec.events, b.events...), append(rec.parts, b.ended...)
		b.events = b.events[:0]
	}
	if rec.failed {
		return nil
	}
	if events := r.orderEvents(); len(events) > 0 {
		if err := r.told(rec.to.Events(events)); err != nil {
			return err
		}
	}
	if len(rec.parts) == 0 {
		return nil
	}
	slices.SortFunc(rec.parts, func(a, b replay.CollectiveEnd) int {
		return cmp.Or(cmp.Compare(a.End, b.End), cmp.Compare(a.Group, b.Group), cmp.Compare(a.Instance, b.Instance), cmp.Compare(a.Rank, b.Rank))
	})
	return r.told(rec.to.Parts(rec.parts))
}

// assert checks that what a worker wrote down happened in the window.
func (b *books) assert(start, end units.Time) {
	for i := range b.events {
		if e := &b.events[i]; e.T < start || e.T >= end {
			panic(fmt.Sprintf("des: %+v is told in the window from %d to %d", *e, start, end))
		}
	}
	for i := range b.ended {
		if e := &b.ended[i]; e.End < start || e.End >= end {
			panic(fmt.Sprintf("des: %+v is told in the window from %d to %d", *e, start, end))
		}
	}
}

// orderEvents returns the window's events in order, with the ends of ranks where they
// belong.
func (r *run) orderEvents() []replay.Event {
	rec := r.rec
	rec.sort()
	if r.job.EndWithAck && r.endRanks() {
		rec.events, rec.ordered = rec.ordered, rec.events
		rec.sort()
	}
	return rec.ordered
}

// endRanks moves the end of each rank to when the last acknowledgement that it waits
// for has arrived, and reports whether any rank ended. A rank waits for what it sent, and
// for what has left a NIC towards it; all that it received is among the latter. The
// events of one time count together.
func (r *run) endRanks() bool {
	rec := r.rec
	kept := rec.ordered[:0]
	for i := range rec.ordered {
		e := &rec.ordered[i]
		if rec.now != e.T {
			rec.settle()
			rec.now = e.T
		}
		if e.Kind == replay.RankEnded {
			rec.ranks[e.Rank].done = true
			rec.touched = append(rec.touched, e.Rank)
			continue
		}
		if e.OpKind == graph.Send {
			r.countOpen(e)
		}
		kept = append(kept, *e)
	}
	rec.settle()
	ended := len(rec.ended) > 0
	rec.ordered = append(kept, rec.ended...)
	rec.ended = rec.ended[:0]
	return ended
}

// countOpen counts what the ranks at both ends of a send wait for.
func (r *run) countOpen(e *replay.Event) {
	rec, net := r.rec, r.throughNIC(e.Rank, e.Peer)
	switch {
	case e.Kind == replay.OpStarted:
		rec.ranks[e.Rank].open++
	case e.Kind == replay.OpEnded && net:
		rec.ranks[e.Peer].open++
	case e.Kind == replay.Acked:
		rec.ranks[e.Rank].open--
		rec.touched = append(rec.touched, e.Rank)
		if net {
			rec.ranks[e.Peer].open--
			rec.touched = append(rec.touched, e.Peer)
		}
	}
}

// settle ends the ranks that wait for nothing more.
func (rec *recording) settle() {
	for _, id := range rec.touched {
		if at := &rec.ranks[id]; at.done && !at.ended && at.open == 0 {
			at.ended = true
			rec.ended = append(rec.ended, rankEnded(id, rec.now))
		}
	}
	rec.touched = rec.touched[:0]
}

// rankEnded is the end of a rank, which comes after all else of the rank at that time.
func rankEnded(rank int32, now units.Time) replay.Event {
	return replay.Event{T: now, Kind: replay.RankEnded, Rank: rank, Seq: math.MaxUint64}
}

// throughNIC says whether transfers between two ranks go over the network.
func (r *run) throughNIC(src, dst int32) bool {
	return r.placement.Node[src] != r.placement.Node[dst] && !r.placement.ScaleUp.Shared(src, dst)
}

// tellStart records the start of an operation and returns a reference, not 0, to what
// was recorded.
func (d *domain) tellStart(now units.Time, r *rank, is *replay.Issue) int32 {
	e := replay.Event{T: now, Start: now, Rank: r.id, Kind: replay.OpStarted, OpKind: is.Kind, Flags: is.Flags, Collective: is.InCollective, Sync: is.Sync,
		Op: is.Op, Step: is.Step, Peer: is.Peer, Seq: r.issued, Tag: is.Tag, Context: is.Context, Bytes: is.Bytes, Work: is.Duration,
		Written: r.cursor.Written(is.Handle)}
	d.books.events = append(d.books.events, e)
	if n := len(d.freeTold); n > 0 {
		at := d.freeTold[n-1]
		d.freeTold = d.freeTold[:n-1]
		d.told[at] = e
		return at
	}
	if len(d.told) == 0 {
		d.told = append(d.told, replay.Event{}) // 0 means none
	}
	d.told = append(d.told, e)
	return int32(len(d.told) - 1)
}

// tellEnd records the end of an operation. A send is kept until it is acknowledged.
func (d *domain) tellEnd(now units.Time, at int32) {
	e := d.told[at]
	e.T, e.Kind = now, replay.OpEnded
	d.books.events = append(d.books.events, e)
	if e.OpKind != graph.Send {
		d.freeTold = append(d.freeTold, at)
	}
}

// Acked implements [nic.Owner].
func (d *domain) Acked(w *sim.Worker, m *nic.Message, at units.Time) {
	d.tellAcked(&d.run.books[w.ID], m.Flow, at)
}

// tellAcked records that a send is acknowledged.
func (d *domain) tellAcked(b *books, at int32, now units.Time) {
	e := d.told[at]
	e.T, e.Kind = now, replay.Acked
	b.events = append(b.events, e)
	d.freeTold = append(d.freeTold, at)
}
