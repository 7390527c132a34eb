package des

import (
	"hybrid/des/fabric"
	"hybrid/des/nic"
	"hybrid/des/sim"
	"hybrid/graph/replay"
	"hybrid/internal/units"
)

// counters are what a recorder sees at marks.
type counters struct {
	wires   []fabric.Wire // by link
	sent    []fabric.Count
	links   []replay.PortCount
	queues  []replay.QueueCount // by link and class; nil where nobody wants them
	classes int
	ups     []replay.PortCount // by rank

	// The clocks of switches run behind by a lead, so that a mark is two: due less the lead
	// for what switches count, and due for all else.
	due units.Time
	// ready says that the switches' part for due has been taken.
	ready bool
}

// newCounters lets everything on the way of packets count.
func (r *run) newCounters(wires []fabric.Wire) counters {
	c := counters{wires: wires, sent: make([]fabric.Count, len(wires)), links: make([]replay.PortCount, len(wires)), classes: 1}
	for i := range wires {
		wires[i].Count(&c.sent[i])
	}
	if r.buffering != nil {
		c.classes = len(r.buffering.Classes)
	}
	return c
}

// watchQueues finds out whether the recorder wants to be told of queues.
func (rec *recording) watchQueues() {
	if _, ok := rec.to.(replay.QueueRecorder); ok && rec.wants.Queues {
		rec.queues = make([]replay.QueueCount, len(rec.links)*rec.classes)
	}
}

// schedule returns when the kernel is to stop for the recorder's next mark, after a time.
func (r *run) schedule(now, mark units.Time) units.Time {
	rec := r.rec
	if stop := r.stop(); mark > stop {
		mark = stop + 1 // the counters at the end
	}
	rec.due, rec.ready = mark, false
	switch early := mark - r.medium.Lead; {
	case mark == units.Never:
	case early > now:
		return early
	case early <= 0: // no switch has done anything by then
		rec.ready = true
	}
	return mark
}

// passed shows the counters to the recorder.
func (r *run) passed(at units.Time) (next units.Time, err error) {
	rec := r.rec
	if at != rec.due {
		r.countSwitches()
		rec.ready = true
		return rec.due, nil
	}
	if !rec.ready {
		r.countSwitches()
	}
	r.countLinks(at)
	if err := r.tellQueues(); err != nil {
		return units.Never, err
	}
	if err := r.told(rec.to.Mark(at, rec.links, r.countScaleUp())); err != nil {
		return units.Never, err
	}
	for i := range rec.links {
		rec.links[i].Queue = 0
	}
	for i := range rec.queues {
		rec.queues[i].Most = 0
	}
	return r.schedule(at, rec.to.NextMark()), nil
}

// tellQueues shows the counters of queues to a recorder that wants them.
func (r *run) tellQueues() error {
	rec := r.rec
	if rec.queues == nil {
		return nil
	}
	return r.told(rec.to.(replay.QueueRecorder).Queues(rec.queues, rec.classes))
}

// countLinks sets the counters that do not belong to switches to what has happened before
// a time.
func (r *run) countLinks(at units.Time) {
	rec := r.rec
	for _, s := range r.buffered {
		s.Sent(func(link int32, c fabric.Count) { rec.sent[link] = c })
	}
	for id, l := range r.job.Topology.Links() {
		c := &rec.links[id]
		sent, received := rec.wires[id].Passed(r.medium, l, at)
		c.TxPackets, c.TxBytes, c.RxPackets, c.RxBytes = sent.Packets, sent.Bytes, received.Packets, received.Bytes
	}
	r.countArriving(at)
	if r.buffering != nil {
		for _, n := range r.nics {
			n.Look(at, r.countPort)
		}
		return
	}
	for i := range rec.queues {
		c := &rec.links[i]
		rec.queues[i].TxPackets, rec.queues[i].TxBytes, rec.queues[i].Most = c.TxPackets, c.TxBytes, c.Queue
	}
}

// countPort sets the counters of a NIC's port.
func (r *run) countPort(link int32, data, acks nic.Stopped) {
	rec, class := r.rec, r.params.Classes
	c := &rec.links[link]
	if c.PauseFrames = data.Frames; class[0] != class[1] {
		c.PauseFrames += acks.Frames
	}
	if rec.queues == nil {
		return
	}
	own := rec.queues[int(link)*rec.classes:]
	a := &own[class[1]]
	a.TxPackets, a.TxBytes, a.PauseFrames, a.Paused = acks.Acks.Packets, acks.Acks.Bytes, acks.Frames, acks.Time
	d := &own[class[0]]
	d.TxPackets, d.TxBytes, d.PauseFrames, d.Paused = c.TxPackets-acks.Acks.Packets, c.TxBytes-acks.Acks.Bytes, data.Frames, data.Time
	if class[0] == class[1] {
		d.TxPackets, d.TxBytes = c.TxPackets, c.TxBytes
	}
}

// countSwitches sets the counters of switches to what they have done so far.
func (r *run) countSwitches() {
	rec := r.rec
	for i := range rec.links {
		c := &rec.links[i]
		c.TxMarks, c.TxDrops, c.TxCuts, c.PauseFrames = 0, 0, 0, 0
	}
	for _, s := range r.buffered {
		s.Look(func(link int32, class int, q fabric.Queue) {
			c := &rec.links[link]
			c.TxMarks += q.Marks
			c.TxDrops += q.Drops
			c.TxCuts += q.Cuts
			c.PauseFrames += q.Stops.Frames
			if rec.queues != nil {
				own := &rec.queues[int(link)*rec.classes+class]
				*own = replay.QueueCount{TxPackets: q.Sent.Packets, TxBytes: q.Sent.Bytes, Marks: q.Marks, Drops: q.Drops, Cuts: q.Cuts,
					PauseFrames: q.Stops.Frames, Paused: q.Stops.Before(rec.due - r.medium.Lead), Most: max(own.Most, q.Most)}
			}
		})
		s.Begun(func(link int32, n int64) { rec.links[link].Pauses = n })
	}
	r.faultDrops(rec.links)
	r.takeQueues(rec.links)
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
	if rec := r.rec; rec.ready && rec.due == at {
		r.takeQueues(nil)
	} else {
		rec.due = at
		r.countSwitches()
	}
	r.countLinks(at)
}
