package des

import (
	"fmt"

	"hybrid/des/fabric"
	"hybrid/graph/replay"
	"hybrid/internal/units"
)

// losses are the packets that switches dropped or cut, or that links lost.
type losses struct {
	drops, cuts int64
	faults      int64  // of drops, those for faults of links
	text        string // of the first drop
}

// losses adds up what the switches lost. The first drop is the earliest, and of several
// at one time that of the lowest link.
func (r *run) losses() (sum losses) {
	var first fabric.Drop
	r.faultLosses(&sum, &first)
	for _, s := range r.buffered {
		t := s.Tally
		t.First.At += r.medium.Lead
		sum.cuts += t.Cuts
		if t.Drops > 0 && (sum.drops == 0 || t.First.At < first.At || t.First.At == first.At && t.First.Link < first.Link) {
			first = t.First
		}
		sum.drops += t.Drops
	}
	if sum.drops > 0 {
		if first.Reason >= fabric.LinkDown {
			sum.text = r.describeLoss(&first)
			return sum
		}
		sum.text = fmt.Sprintf("at %s a switch dropped %s, on the way from %s: %s (class %d)",
			r.timeText(first.At), r.frameOf(&first.Packet), r.linkName(first.Link), first.Reason, first.Class)
	}
	return sum
}

// lossVerdict changes the verdict of a run that could not end because packets were lost:
// nothing sends them again.
func (r *run) lossVerdict(v *replay.Verdict) {
	l := r.losses()
	if l.drops+l.cuts == 0 || v.Outcome == replay.Finished && r.acknowledged() {
		return
	}
	switch v.Outcome {
	case replay.Stopped, replay.Interrupted, replay.Failed:
		return
	}
	text := l.text
	if l.drops == 0 {
		text = fmt.Sprintf("switches cut %s packets to their header", units.FormatCount(l.cuts))
	}
	*v = replay.Verdict{Outcome: replay.Failed, Blocked: v.Blocked, Errors: []error{fmt.Errorf("%s; the transport cannot send it again", text)}}
}

// acknowledged says whether nothing is left at the NICs.
func (r *run) acknowledged() bool {
	for _, n := range r.nics {
		if n.Idle() != nil {
			return false
		}
	}
	return true
}

// bufferNotes say for the result what the switches did.
func (r *run) bufferNotes() []string {
	var pauses, marks int64
	for _, s := range r.buffered {
		pauses, marks = pauses+s.Tally.Pauses, marks+s.Marks()
	}
	l := r.losses()
	note := fmt.Sprintf("switches with a packet memory: pauses %s, packets marked %s, cut %s, dropped %s",
		units.FormatCount(pauses), units.FormatCount(marks), units.FormatCount(l.cuts), units.FormatCount(l.drops-l.faults))
	if link, bytes := r.longestQueue(); bytes > 0 {
		note += fmt.Sprintf("; the longest queue held %s, on the way from %s", units.ReadableBytes(bytes), r.linkName(link))
	}
	if through := r.cutThrough(); r.medium.CutAfter > 0 {
		note += fmt.Sprintf("; %s frames went on before they were whole", units.FormatCount(through))
	}
	if marks > 0 {
		note += "; nothing slows down for a mark"
	}
	return append([]string{note}, r.starvationNote()...)
}

// standstill finds out that pauses have stopped everything: packets wait in switches, and
// none has been sent for longer than pauses take to end by themselves.
type standstill struct {
	hops     int64
	at       units.Time
	patience units.Time
	circle   []pausedQueue // that has ended the run
}

// moving returns an error if the network stands still for good.
func (r *run) moving() error {
	p := &r.still
	hops := int64(0)
	for _, w := range r.kernel.Workers() {
		hops += w.Hops
	}
	if hops != p.hops {
		p.hops, p.at = hops, r.kernel.Reached
		return nil
	}
	if r.kernel.Reached-p.at < p.patience || r.buffering.Quanta == 0 || r.working() {
		return nil
	}
	if way := r.circle(); way != nil {
		p.circle = way
		return r.circleError(way)
	}
	p.at = r.kernel.Reached
	return nil
}
