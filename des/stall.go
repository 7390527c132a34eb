package des

import (
	"cmp"
	"fmt"
	"slices"

	"hybrid/des/fabric"
	"hybrid/des/nic"
	"hybrid/des/sim"
	"hybrid/graph/replay"
	"hybrid/internal/units"
	"hybrid/networks"
)

// Of queue pairs that are not done, so many are looked at, and so many named.
const (
	examinedPairs = 4096
	namedPairs    = 16
)

// sighting is where the frame is that a queue pair waits for.
type sighting struct {
	nic.Waiting
	frame replay.Frame
	// At most one of these: waiting at a switch, or an acknowledgement at a NIC; on a link;
	// lost.
	queued *fabric.Place
	atNIC  bool // queued is at a NIC
	wire   int32
	lost   *fabric.Loss
	now    units.Time // of the clock of queued
}

// reason is a row of the table of what a queue pair may wait for.
type reason struct {
	name string
	// holds says whether it is this that the pair waits for, and describes it.
	holds func(r *run, s *sighting) (p replay.StalledPair, ok bool)
}

// reasons is the table; of several rows that hold the first counts. The first ones do not
// end by themselves. A transport whose queue pairs may wait for something of its own, such
// as credit or a window, adds its row.
func reasons() []reason {
	return []reason{
		{"lost", isLost},
		{"down", isCutOff},
		{"paused", isPaused},
		{"turn", isOvertaken},
		{"line", isInLine},
		{"link", isUnderWay},
		{"unsent", isUnsent},
		{"missing", isMissing},
	}
}

// stall finds out what stands still: the circle of pauses, and what queue pairs wait for.
// The run has ended.
func (r *run) stall() *replay.Stall {
	if !r.params.Packets {
		return nil
	}
	s := &replay.Stall{Circle: r.pausedPorts()}
	found := r.sight(&s.More)
	rank := map[string]int{}
	for i, row := range reasons() {
		rank[row.name] = i
	}
	for i := range found {
		for _, row := range reasons() {
			if p, ok := row.holds(r, &found[i]); ok {
				p.Src, p.Dst, p.Frame, p.Wait = found[i].Src, found[i].Dst, found[i].frame, row.name
				s.Pairs = append(s.Pairs, p)
				break
			}
		}
	}
	slices.SortStableFunc(s.Pairs, func(a, b replay.StalledPair) int { return cmp.Compare(rank[a.Wait], rank[b.Wait]) })
	if n := len(s.Pairs); n > namedPairs {
		s.Pairs, s.More = s.Pairs[:namedPairs], s.More+int64(n-namedPairs)
	}
	if len(s.Pairs) == 0 && len(s.Circle) == 0 {
		return nil
	}
	return s
}

// wanted identifies a frame by kind, host and number of its queue pair, and PSN; that of an
// acknowledgement is left out.
type wanted struct {
	host, qp int32
	psn      uint32
	ack      bool
}

func wantedOf(p *sim.Record) (w wanted, ok bool) {
	switch p.Kind() {
	case nic.DataKind:
		return wanted{p.From(), int32(p.QP), p.PSN, false}, true
	case nic.AckKind:
		return wanted{p.To(), int32(p.QP), 0, true}, true
	}
	return wanted{}, false
}

// sight looks for the frames that queue pairs wait for; more counts the pairs that are not
// looked at.
func (r *run) sight(more *int64) []sighting {
	var found []sighting
	at := map[wanted]int{}
	for _, n := range r.nics {
		n.Waiting(func(w *nic.Waiting) bool {
			if len(found) == examinedPairs {
				*more++
				return true
			}
			f := replay.Frame{Host: r.nodeName(w.Host), QP: w.QP, PSN: w.Due, Ack: w.Arrived}
			key := wanted{w.Host, w.QP, w.Due, w.Arrived}
			if w.Arrived {
				f.PSN, key.psn = w.Due-1, 0
			}
			at[key] = len(found)
			found = append(found, sighting{Waiting: *w, frame: f, wire: -1})
			return true
		})
	}
	if len(found) > 0 {
		r.search(func(p *sim.Record) *sighting {
			if w, ok := wantedOf(p); ok {
				if i, ok := at[w]; ok {
					return &found[i]
				}
			}
			return nil
		})
	}
	return found
}

// search goes through all that is in queues, on links, or lost, and notes what find knows.
func (r *run) search(find func(*sim.Record) *sighting) {
	in := func(now units.Time, atNIC bool) func(p *sim.Record, at *fabric.Place) {
		return func(p *sim.Record, at *fabric.Place) {
			if s := find(p); s != nil && s.queued == nil {
				place := *at
				s.queued, s.atNIC, s.now = &place, atNIC, now
			}
		}
	}
	for _, n := range r.nics {
		n.Acknowledgements(in(r.kernel.Reached, true))
	}
	for _, s := range r.switches {
		s.Queued(in(r.kernel.Reached, false))
	}
	for _, s := range r.buffered {
		s.Queued(in(r.kernel.Reached, false))
	}
	r.eachLoss(func(l *fabric.Loss) {
		if p := find(&l.Packet); p != nil && (p.lost == nil || r.lostAt(l) < r.lostAt(p.lost)) {
			loss := *l
			p.lost = &loss
		}
	})
	for id := range r.job.Topology.Links() {
		for _, p := range r.kernel.Channel(id).Unread() {
			if s := find(&p); s != nil {
				s.wire = int32(id)
			}
		}
	}
}

// nodeName is the name of a host or switch as hybrid show network prints it.
func (r *run) nodeName(node int32) string {
	if r.names == nil {
		r.names = networks.NodeNames(r.job.Topology)
	}
	return r.names[node]
}

// waitOn is a pair that waits on a link.
func (r *run) waitOn(link int32, class uint8, since units.Time, format string, args ...any) replay.StalledPair {
	p := replay.StalledPair{Link: link, Class: class, Since: since, Text: fmt.Sprintf(format, args...)}
	l := r.job.Topology.Links()[link]
	p.From, p.To = r.nodeName(l.From), r.nodeName(l.To)
	return p
}

// clockAt turns a time of the clock at a link's near end into simulated time.
func (r *run) clockAt(link int32, t units.Time) units.Time {
	if r.job.Topology.Links()[link].From >= r.medium.Hosts {
		return t + r.medium.Lead
	}
	return t
}

func (r *run) timeText(t units.Time) string { return units.FormatPS(r.clock.PS(t)) }

func isPaused(r *run, s *sighting) (p replay.StalledPair, ok bool) {
	far := func(link int32) string { return r.nodeName(r.job.Topology.Links()[link].To) }
	switch q := s.queued; {
	case q != nil && q.Until > s.now:
		since := r.clockAt(q.Link, q.Since)
		return r.waitOn(q.Link, q.Class, since, "%s waits on the way from %s, where %s has paused class %d since %s%s", s.frame.Short(), r.linkName(q.Link), far(q.Link), q.Class,
			r.timeText(since), r.behind(s)), true
	case q == nil && s.unsent() && s.Until > r.kernel.Reached:
		return r.waitOn(s.Link, r.params.Classes[0], s.Since, "%s has not been sent: %s has paused class %d since %s", s.frame.Short(), far(s.Link), r.params.Classes[0], r.timeText(s.Since)), true
	}
	return p, false
}

// behind says what the frame waits behind in its queue.
func (r *run) behind(s *sighting) string {
	q := s.queued
	if q.Ahead == 0 {
		return ""
	}
	return fmt.Sprintf(", behind %s from %s on", units.ReadableBytes(q.Ahead), r.frameOf(&q.Head))
}

// frameOf describes a record.
func (r *run) frameOf(p *sim.Record) replay.Frame {
	if p.Kind() == nic.AckKind {
		return replay.Frame{Host: r.nodeName(p.To()), QP: int32(p.QP), PSN: p.PSN, Ack: true}
	}
	return replay.Frame{Host: r.nodeName(p.From()), QP: int32(p.QP), PSN: p.PSN}
}

func isOvertaken(r *run, s *sighting) (p replay.StalledPair, ok bool) {
	q := s.queued
	if q == nil || !q.Passed {
		return p, false
	}
	since := r.clockAt(q.Link, q.Overtaken)
	return r.waitOn(q.Link, q.Class, since, "%s waits on the way from %s, where higher classes have gone before class %d since %s%s", s.frame.Short(), r.linkName(q.Link), q.Class,
		r.timeText(since), r.behind(s)), true
}

func isInLine(r *run, s *sighting) (p replay.StalledPair, ok bool) {
	q := s.queued
	if q == nil {
		return p, false
	}
	return r.waitOn(q.Link, q.Class, -1, "%s waits in line on the way from %s%s", s.frame.Short(), r.linkName(q.Link), r.behind(s)), true
}

func isUnderWay(r *run, s *sighting) (p replay.StalledPair, ok bool) {
	if s.wire < 0 {
		return p, false
	}
	return r.waitOn(s.wire, 0, -1, "%s is on the link from %s", s.frame.Short(), r.linkName(s.wire)), true
}

// unsent says whether the frame is a packet that its NIC has not sent yet.
func (s *sighting) unsent() bool { return !s.frame.Ack && int32(s.Due-s.Next) >= 0 }

func isUnsent(r *run, s *sighting) (p replay.StalledPair, ok bool) {
	if !s.unsent() {
		return p, false
	}
	return r.waitOn(s.Link, r.params.Classes[0], -1, "%s has not been sent: it waits for its turn at the port from %s", s.frame.Short(), r.linkName(s.Link)), true
}

// isMissing always holds. Of the losses in a place the first are kept only, and a message may
// have been sent with its acknowledgement to come.
func isMissing(_ *run, s *sighting) (p replay.StalledPair, ok bool) {
	text := fmt.Sprintf("%s has not arrived", s.frame.Short())
	if s.frame.Ack {
		text = fmt.Sprintf("%s has not come back", s.frame.Short())
	}
	return replay.StalledPair{Link: -1, Since: -1, Text: text}, true
}
