package des

import (
	"hybrid/graph"
	"hybrid/internal/diag"
	"hybrid/internal/units"
)

// guard finds a run that goes on for ever and gets nowhere: packets that go round without
// arriving, or pauses that are only repeated.
//
// It looks at the run from time to time. A look costs a walk over ranks and NICs, so the
// time to the next one doubles whenever the run has come forward.
//
// It never ends a healthy run. It counts from a look at which nothing was left to do but in
// NICs and switches, and as long as no operation is issued and no NIC takes a packet or an
// acknowledgement. So whatever computes, uses the host processor, stays inside a node or
// goes through a scale-up fabric, and be it for hours, holds it off. What it counts are hops:
//
//   - More hops than there were frames on the way or sent since, times the links of the
//     longest way without a circle, were made: one of the frames has made more than that,
//     and has been at some switch twice. How long queues are does not matter.
//   - No hop was made for as long as it takes a frame that may go to leave. In a network
//     without a circle of pauses there is such a frame: start at a port that has some. If it
//     is paused, the switch behind it holds packets of it at ports of its own, or its pause
//     ends within onePatience; go on with one of these. Hosts pause nobody, so this comes to
//     an end.
//
// A message of a transport without packets may take as long as it likes on a link, so such
// runs are not guarded.
type guard struct {
	next, wait units.Time
	// At the look that it counts from: what had come forward, the hops, the frames taken by
	// NICs, and whether only the network had something to do.
	progress, hops, arrived int64
	quiet                   bool
	// notBefore is a time up to which changes are known to come that may let the network go
	// on, such as a link's repair.
	notBefore units.Time
}

// guardFloor is the least time between looks, in picoseconds: time for what may slow a
// network down that onePatience knows nothing of, such as pacing.
const guardFloor = 100_000_000_000

// setGuard sets up the guard.
func (r *run) setGuard() {
	r.guard = guard{next: units.Never}
	if f := r.faults; f != nil && len(f.epochs) > 0 {
		r.guard.notBefore = f.epochs[len(f.epochs)-1].From
	}
	if r.params.Packets {
		r.guard.wait = min(max(r.clock.Ticks(guardFloor), 1)+r.onePatience(), limitSpan)
		r.guard.next = r.guard.wait
	}
}

// onePatience returns how long it takes at most until a frame that may go has left: two
// pauses, frames and delays of the slowest link, and the latencies.
func (r *run) onePatience() units.Time {
	t, quanta := units.Time(0), int64(0)
	if r.buffering != nil {
		quanta = int64(r.buffering.Quanta) * 64
	}
	for _, l := range r.job.Topology.Links() {
		t = max(t, min(r.clock.Span(l.PerByte, quanta+2*r.largest()), limitSpan>>2)+min(r.clock.Ticks(l.Delay), limitSpan>>2))
	}
	return t + t + 4*min(r.medium.Latency, limitSpan>>4) + r.longestPace()
}

// progressing is a look of the guard: an error if the run gets nowhere.
func (r *run) progressing() error {
	g := &r.guard
	now := r.kernel.Reached
	progress, hops, quiet := r.doings(), r.hops(), r.quiet()
	if progress != g.progress || !quiet || !g.quiet || now < g.notBefore {
		if progress != g.progress {
			g.wait = min(2*g.wait, limitSpan)
		}
		_, g.arrived = r.frames()
		g.progress, g.hops, g.quiet = progress, hops, quiet
		g.next = later(now, g.wait)
		return nil
	}
	g.next = later(now, g.wait)
	way := int64(r.job.Topology.Switches()) + 1
	sent, _ := r.frames()
	switch made, frames := hops-g.hops, sent-g.arrived; {
	case made == 0:
		return nowhere("frames wait, and none is sent but pauses")
	case made/way > frames:
		return nowhere("frames go round without arriving")
	}
	return nil
}

func nowhere(what string) error {
	return diag.Diagnostic{Severity: diag.Error, Code: "E970",
		Message: "the network gets nowhere: no host takes a packet in and no operation begins any more; " + what,
		Notes:   []string{"the report lists queue pairs that wait, with where their packets are"}}
}

// doings counts what brings the run forward: operations issued, and frames taken by NICs.
func (r *run) doings() (n int64) {
	for _, c := range r.cursors {
		for k := graph.Compute; k <= graph.Collective; k++ {
			n += c.Issued[k]
		}
	}
	for _, c := range r.nics {
		n += c.Progress()
	}
	return n
}

func (r *run) hops() (n int64) {
	for _, w := range r.kernel.Workers() {
		n += w.Hops
	}
	return n
}

// frames returns how many frames NICs have sent and taken.
func (r *run) frames() (sent, taken int64) {
	for _, c := range r.nics {
		sent, taken = sent+c.Packets, taken+c.Taken+c.Cut
	}
	return sent, taken
}

// quiet says whether nothing is left to do but in NICs and switches.
func (r *run) quiet() bool {
	for _, d := range r.domains {
		if d.events.Len() > 0 || d.fabric != nil && d.fabric.Idle() != nil {
			return false
		}
	}
	return true
}
