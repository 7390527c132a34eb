package des

import (
	"fmt"

	"hybrid/des/sim"
	"hybrid/graph"
	"hybrid/graph/replay"
	"hybrid/internal/units"
)

// result collects the result of a run from all its parts.
func (r *run) result(ending sim.Ending) *replay.Result {
	for i := range r.books {
		r.tally.Merge(r.books[i].tally)
	}
	if sim.Invariants && ending == sim.Drained {
		r.assertDrained()
	}
	res := &r.tally.Result
	res.Model, res.Clock, res.Windows = "packet", r.clock, r.kernel.Windows
	for _, w := range r.kernel.Workers() {
		res.Events += w.Events
		res.PacketHops += w.Hops
	}
	for _, n := range r.nics {
		res.Packets += n.Packets
	}
	for _, c := range r.cursors {
		for _, n := range c.Issued {
			res.Operations += n
		}
	}
	r.tally.Finish()
	r.rankTimes(res)
	res.Verdict = r.verdict(ending)
	r.lossVerdict(&res.Verdict)
	r.faultVerdict(&res.Verdict)
	if !res.Verdict.OK() {
		res.Verdict.Stall = r.stall()
	}
	res.Notes = append(append(r.notes, r.assumptions()...), r.scaleUpNote()...)
	res.Notes = append(res.Notes, r.faultNotes()...)
	r.statistics()
	return res
}

// assertDrained checks after a run in which nothing is left to do that nothing is left:
// every byte handed to a NIC was delivered, every message acknowledged, every link is
// empty.
func (r *run) assertDrained() {
	if l := r.losses(); l.drops+l.cuts > 0 || r.stuck() {
		return
	}
	var posted, delivered int64
	for _, n := range r.nics {
		posted, delivered = posted+n.Posted, delivered+n.Delivered
		if n.Discarded > 0 {
			panic(fmt.Sprintf("des: %d packets came out of order and none was dropped", n.Discarded))
		}
		if err := n.Idle(); err != nil {
			panic(fmt.Sprintf("des: the run has drained, but %v", err))
		}
	}
	for _, d := range r.domains {
		if d.fabric == nil || d.fabric.Idle() == nil && d.fabric.Posted == d.fabric.Delivered {
			continue
		}
		panic(fmt.Sprintf("des: the run has drained, but of %d B %d are received; %v", d.fabric.Posted, d.fabric.Delivered, d.fabric.Idle()))
	}
	if posted != delivered {
		panic(fmt.Sprintf("des: %d B were sent and %d B delivered", posted, delivered))
	}
	for _, s := range r.buffered {
		if n := s.Stored(); n != 0 {
			panic(fmt.Sprintf("des: the run has drained with %d B in a switch", n))
		}
	}
	if n := r.kernel.InFlight(); n != 0 {
		panic(fmt.Sprintf("des: the run has drained with %d records on links", n))
	}
}

// rankTimes fills the times of the ranks, the makespan and the digest.
func (r *run) rankTimes(res *replay.Result) {
	finish := make([]units.Time, len(r.cursors))
	for id := range finish {
		k := r.rankOf(id)
		finish[id] = k.end
		if r.job.EndWithAck {
			finish[id] = max(k.end, k.acked)
		}
		res.Digest = digest(res.Digest, k.digest)
	}
	if r.job.EndWithAck {
		for _, n := range r.nics {
			n.LastAcknowledged(func(src, dst int32, at units.Time) {
				finish[src] = max(finish[src], at)
				finish[dst] = max(finish[dst], at)
			})
		}
	}
	res.Ranks = make([]replay.RankTimes, len(finish))
	for id, t := range finish {
		res.Ranks[id] = r.rankOf(id).activity.Times(t)
		res.Makespan = max(res.Makespan, t)
	}
}

func (r *run) rankOf(id int) *rank {
	return &r.domains[r.placement.Node[id]].ranks[r.local[id]]
}

func (r *run) verdict(ending sim.Ending) replay.Verdict {
	blocked := 0
	for _, c := range r.cursors {
		if !c.Finished() {
			blocked++
		}
	}
	if ending == sim.Drained || ending == sim.AtStop && blocked == 0 && !r.job.EndWithAck {
		return replay.Diagnose(r.job.Graph, r.cursors, r.unreceived())
	}
	v := replay.Verdict{Blocked: blocked}
	switch ending {
	case sim.AtStop:
		v.Outcome = replay.Stopped
	case sim.Canceled:
		v.Outcome = replay.Interrupted
	case sim.OutOfRange:
		v.Outcome = replay.Failed
		v.Errors = []error{fmt.Errorf("simulated time exceeds its range of %s", units.FormatPS(r.clock.PS(sim.MaxTime)))}
	default:
		v.Outcome, v.Errors = replay.Failed, []error{r.kernel.Err}
	}
	return v
}

// unreceived lists the messages that wait at their receivers, each under its sender. One
// that has only been announced is none of them: its send waits and is pending.
func (r *run) unreceived() []replay.Pending {
	var out []replay.Pending
	for id := range r.cursors {
		d := r.domains[r.placement.Node[id]]
		r.rankOf(id).matcher.Waiting(func(int64) {}, func(m int64) {
			a := &d.arrived[m]
			if a.via == netEager || a.via == localEager || a.via == scaleUpEager {
				out = append(out, replay.Pending{Rank: a.src, Site: a.site, Kind: graph.Send, Peer: int32(id), Tag: a.tag, Bytes: a.bytes})
			}
		})
	}
	replay.SortPending(out)
	return out
}

// assumptions are what a reader of the result must know about the model.
func (r *run) assumptions() []string {
	if !r.params.Packets {
		return []string{"ideal transport: no headers, no packets, no acknowledgements, no switch latency; each hop stores and forwards the whole message"}
	}
	if r.buffering != nil {
		return r.bufferNotes()
	}
	note := "switch buffers are unlimited: no packet is lost, marked or paused"
	if r.faults != nil {
		note = "switch buffers are unlimited: no packet is lost for want of room, marked or paused"
	}
	if link, bytes := r.longestQueue(); bytes > 0 {
		note += fmt.Sprintf("; the longest queue held %s, on the way from %s", units.ReadableBytes(bytes), r.linkName(link))
	}
	return []string{note}
}

// linkName names a link by its ends.
func (r *run) linkName(id int32) string {
	l := r.job.Topology.Links()[id]
	return r.nodeName(l.From) + " to " + r.nodeName(l.To)
}
