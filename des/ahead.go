package des

import (
	"hybrid/des/sim"
	"hybrid/graph"
	"hybrid/internal/units"
)

// A rank all of whose progress is one compute or memory operation cannot be disturbed
// until that ends: it has posted no receive and no send, so that whatever reaches it
// waits. Such operations are done at once, also beyond the end of the window, without an
// event and without the processor's books. What follows them is kept until its time.

// maxAhead bounds how many operations a rank does in one go, so that a run can be
// interrupted.
const maxAhead = 1 << 13

// alone says whether what a rank is about to start is all that it does.
func (d *domain) alone(r *rank) bool {
	if len(d.issues) != 1 || !r.cursor.Alone() {
		return false
	}
	k := d.issues[0].Kind
	return k != graph.Send && k != graph.Recv
}

// ahead does the operation of a rank that is alone, and all such operations behind it.
func (d *domain) ahead(now units.Time, at int32) {
	r := &d.ranks[at]
	limit := d.limit()
	for range maxAhead {
		end := later(now, d.run.clock.Ticks(d.issues[0].Duration))
		if end >= limit {
			break
		}
		d.whole(now, end, r)
		now = end
		d.issues = r.cursor.Done(d.issues[0].Handle, now, d.issues[:0])
		d.note(now, r)
		if !d.alone(r) {
			d.keep(now, at)
			return
		}
	}
	d.start(now, at, &d.issues[0])
}

// limit is the end of the time in which operations may be done ahead. A recorder hears
// between windows of what happened in them, and a run may have to stop.
func (d *domain) limit() units.Time {
	if d.records || d.run.job.StopAt > 0 {
		return d.w.End
	}
	return sim.MaxTime + 1
}

// whole is the whole of an operation from now to end of a rank that is alone.
func (d *domain) whole(now, end units.Time, r *rank) {
	d.w.Events++
	is := &d.issues[0]
	r.issued++
	r.activity.Compute(now, end)
	if !is.InCollective {
		d.books.tally.Op(is.Site, now, end)
	}
	if d.records {
		d.tellEnd(end, d.tellStart(now, r, is))
	}
	r.end = end
	r.digest = digest(digest(r.digest, uint64(is.Op)), uint64(end))
}

// keep holds what a rank starts next until the time now.
func (d *domain) keep(now units.Time, at int32) {
	if len(d.issues) == 0 {
		return
	}
	d.w.Events-- // the event stands for the end of the operation before
	r := &d.ranks[at]
	r.kept, d.issues = d.issues, r.kept
	d.events.Push(sim.Event{T: now, Key: key(at, 0), Kind: eventResume, Arg: at})
}

// resume starts what was kept.
func (d *domain) resume(now units.Time, at int32) {
	r := &d.ranks[at]
	d.issues, r.kept = r.kept, d.issues
	for i := range d.issues {
		d.start(now, at, &d.issues[i])
	}
}
