package des

import (
	"cmp"
	"slices"

	"hybrid/graph"
	"hybrid/graph/replay"
	"hybrid/internal/units"
)

// watchWindows is after how many windows the watch is asked.
const watchWindows = 16

// watch asks whether anyone wants to know how far the run has come.
func (r *run) watch() {
	if r.job.Watch != nil && r.kernel.Windows%watchWindows == 0 {
		r.job.Watch(r.state)
	}
}

// progress adds up what workers and cursors have counted so far.
func (r *run) progress() replay.Progress {
	p := replay.Progress{Model: "packet"}
	for _, w := range r.kernel.Workers() {
		p.Now = r.clock.PS(w.Start)
		p.Events += w.Events
		p.PacketHops += w.Hops
	}
	for _, c := range r.cursors {
		for k := graph.Compute; k <= graph.Collective; k++ {
			p.Operations += c.Issued[k]
		}
	}
	return p
}

// takeQueues notes the longest queues since the last call, also in the counters of a
// recorder unless they are nil.
func (r *run) takeQueues(links []replay.PortCount) {
	all := r.job.Topology.Links()
	r.takeMemories(links)
	for _, s := range r.switches {
		s.TakeWaits(func(link int32, wait units.Time) {
			rate := all[link].PerByte
			n := units.MulDiv(wait, rate.Den, rate.Num*r.clock.PerPS)
			r.queues[link] = max(r.queues[link], n)
			if links != nil {
				links[link].Queue = n
			}
		})
	}
}

// takeMemories is takeQueues for switches with a packet memory.
func (r *run) takeMemories(links []replay.PortCount) {
	for _, s := range r.buffered {
		s.TakeDeepest(func(link int32, n int64) {
			r.queues[link] = max(r.queues[link], n)
			if links != nil {
				links[link].Queue = n
			}
		})
	}
}

// longestQueue returns the most bytes that an arriving packet found at an output of a
// switch, and the first link behind which it did.
func (r *run) longestQueue() (link int32, bytes int64) {
	for id, n := range r.queues {
		if n > bytes {
			link, bytes = int32(id), n
		}
	}
	return link, bytes
}

// listedQueues is how many queues statistics name.
const listedQueues = 10

// statistics fills Job.Stats.
func (r *run) statistics() {
	st := r.job.Stats
	if st == nil {
		return
	}
	st.Visits = r.kernel.Visits
	for _, w := range r.kernel.Workers() {
		st.Threads = append(st.Threads, w.Events)
	}
	for _, n := range r.nics {
		st.QueuePairs += int64(n.QueuePairs())
	}
	var order []int32
	for id, n := range r.queues {
		if n > 0 {
			order = append(order, int32(id))
		}
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(r.queues[b], r.queues[a]) })
	for _, id := range order[:min(len(order), listedQueues)] {
		st.Queues = append(st.Queues, replay.QueueStat{Link: r.linkName(id), Bytes: r.queues[id]})
	}
}
