package des

import "slices"

// The reference's rates of queue pairs: those that may not send yet stand in a list.

// line puts a queue pair at the end of its link's round, or lets it wait for its time.
func (f *reference) line(now int64, host int32, q *refPair) {
	h := &f.hosts[host]
	if q.opens <= now {
		h.ready[q.link] = append(h.ready[q.link], q)
		return
	}
	at := q.opens
	f.calm = max(f.calm, at)
	h.waits[q.link] = append(h.waits[q.link], q)
	f.push(at, 1, int64(q.link), 0, 0, func() { f.wake(at, host, q.link) })
}

// ripen lets those whose time has come join the round: by time, then by number.
func (f *reference) ripen(now int64, h *refHost, link int) {
	for {
		first := -1
		for i, q := range h.waits[link] {
			if q.opens > now {
				continue
			}
			if first < 0 || q.opens < h.waits[link][first].opens || q.opens == h.waits[link][first].opens && q.id < h.waits[link][first].id {
				first = i
			}
		}
		if first < 0 {
			return
		}
		h.ready[link] = append(h.ready[link], h.waits[link][first])
		h.waits[link] = slices.Delete(h.waits[link], first, first+1)
	}
}
