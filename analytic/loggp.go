package analytic

import (
	"context"

	"hybrid/graph/replay"
	"hybrid/internal/units"
)

// loggp is the LogGOPS model (T. Hoefler, T. Schneider, A. Lumsdaine, "LogGOPSim:
// Simulating Large-Scale Applications in the LogGOPS Model", HPDC/LSAP 2010), with
// (m-1) clamped at 0. A rank has a processor and an adapter; cpu, ns and nr are the
// times at which the processor, the sending and the receiving side are free.
//
//	send     needs cpu and ns; from t on: cpu = t + o + (m-1)O, ns = t + g + (m-1)G;
//	         the first byte arrives at t + o + L. An eager send is done with its
//	         processor time, a rendezvous send when its message is matched.
//	message  needs cpu and nr; from t on: cpu = t + o + max((m-1)O, (m-1)G),
//	         nr = t + g + (m-1)G; the receive, if posted, is done with the processor
//	         time.
//	receive  is posted when the processor is free; one that finds its message is done
//	         at once.
//
// What waits for a resource is served in the order of its sequence number, which is
// what LogGOPSim's queue amounts to, but each waits in line once instead of being
// tried again whenever the resource becomes free.
//
// Beside the processor that handles messages a rank has one that computes, unless
// the job asks for LogGOPSim's single one.
//
// The port of a rank to its scale-up fabric is a second adapter, which sends and receives
// without the processor: transfers through it wait for each other only, and a send is done
// when the port is free again.
type loggp struct {
	*walk
	oneCPU bool
	// alone: the adapter carries transfers, so that handling one does not occupy the
	// processor.
	alone bool
	// free: something may complete after cpu, the time at which the processor is free.
	free bool
	// uneven says that the parameters would let a message overtake one of the same pair
	// of ranks; soonest is the least time from the start of a send to its arrival.
	uneven  bool
	soonest units.Time
}

// What waits for a rank's resources.
const (
	sends      = iota // for cpu and ns
	messages          // for cpu and nr
	calcs             // for cpu
	upSends           // for upSend
	upMessages        // for upRecv
	numLines
)

// port is the state of a rank's processor and adapter.
type port struct {
	cpu, ns, nr    units.Time
	upSend, upRecv units.Time
	lines          [numLines]line
	// armed is the event that serves the first in any line; 0 means none. It never comes
	// too late; too early it only arms another one.
	armed turn
	// early counts what may complete before cpu: computations, rendezvous sends,
	// completions that are queued.
	early int32
	sent  flights
}

// turn is when a waiter is served: at a time, in the order of numbers.
type turn struct {
	at  units.Time
	seq uint64
}

func (t turn) before(u turn) bool { return t.at < u.at || t.at == u.at && t.seq < u.seq }

func runLogGP(ctx context.Context, job Job) (*replay.Result, error) {
	return exactFirst(func(rounded bool) (*replay.Result, error) {
		w, err := newLogGP(&job, rounded)
		if err != nil {
			return nil, err
		}
		return w.run(ctx, "loggp"), nil
	})
}

func newLogGP(job *Job, rounded bool) (*loggp, error) {
	if err := job.check(); err != nil {
		return nil, err
	}
	net, err := newNetwork(job, true, rounded)
	if err != nil {
		return nil, err
	}
	w := newWalk(job, net)
	m := &loggp{walk: w, oneCPU: job.LogGOPSim}
	m.alone = job.Overheads != nil && *job.Overheads == Overheads{}
	m.free = m.alone || net.scaleUp != nil && !m.oneCPU
	m.soonest = horizon
	for _, l := range net.all() {
		m.uneven = m.uneven || l.uneven
		for _, p := range l.loggp {
			m.soonest = min(m.soonest, p.oSend+p.L)
		}
	}
	w.timing = m
	return m, nil
}

func (w *loggp) send(r *rank, h int32, _ units.Time) {
	line := sends
	if w.net.scaleUp != nil && w.takesPort(w.net.pair(r.id, r.ops[h].peer)) {
		line = upSends
	}
	w.enqueue(r, line, h)
}

// takesPort says that messages of a level use the port to the scale-up fabric. A single
// processor has a part in everything.
func (w *loggp) takesPort(l *level) bool { return l.adapter && !w.oneCPU }

func (w *loggp) compute(r *rank, h int32, ready units.Time) {
	if w.oneCPU {
		w.enqueue(r, calcs, h)
		return
	}
	r.port.early++
	w.beside(r, h, ready)
}

func (w *loggp) ended(r *rank) { r.port.early-- }

// recv posts a receive when the processor is free. No message can be handled before
// that, so that where the processor computes too the receive is an event of its own,
// which has a place among those of the same time; else it is posted at once.
func (w *loggp) recv(r *rank, h int32, ready units.Time) {
	at := max(ready, r.port.cpu)
	if w.oneCPU {
		w.push(at, w.nextSeq(), evRecv, r.id, h)
		return
	}
	w.post(r, h, at)
}

// next returns the line whose first waiter has the next turn, from now on; -1 if
// nothing waits.
func (p *port) next(now units.Time) (best int, t turn) {
	best = -1
	if l := p.lines[sends]; len(l) > 0 {
		best, t = sends, turn{max(now, p.cpu, p.ns), l[0].seq}
	}
	if l := p.lines[messages]; len(l) > 0 {
		if u := (turn{max(now, p.cpu, p.nr), l[0].seq}); best < 0 || u.before(t) {
			best, t = messages, u
		}
	}
	if l := p.lines[calcs]; len(l) > 0 {
		if u := (turn{max(now, p.cpu), l[0].seq}); best < 0 || u.before(t) {
			best, t = calcs, u
		}
	}
	if len(p.lines[upSends])+len(p.lines[upMessages]) > 0 {
		best, t = p.nextUp(best, t, now)
	}
	return best, t
}

// nextUp is next for what waits for the scale-up port, if that comes before t.
func (p *port) nextUp(best int, t turn, now units.Time) (int, turn) {
	if l := p.lines[upSends]; len(l) > 0 {
		if u := (turn{max(now, p.upSend), l[0].seq}); best < 0 || u.before(t) {
			best, t = upSends, u
		}
	}
	if l := p.lines[upMessages]; len(l) > 0 {
		if u := (turn{max(now, p.upRecv), l[0].seq}); best < 0 || u.before(t) {
			best, t = upMessages, u
		}
	}
	return best, t
}

// enqueue puts an operation in line. It is ready now, or when the processor is free.
func (w *loggp) enqueue(r *rank, k int, id int32) {
	r.port.lines[k].push(waiter{w.nextSeq(), id})
	w.arm(r)
}

// arm queues the event that serves the next turn, unless one comes as early.
func (w *loggp) arm(r *rank) {
	p := &r.port
	k, t := p.next(w.now)
	if k < 0 || p.armed.seq != 0 && !t.before(p.armed) {
		return
	}
	p.armed = t
	w.push(t.at, t.seq, evServe, r.id, 0)
}

// event implements [timing].
func (w *loggp) event(r *rank, e event) {
	p := &r.port
	switch e.kind() {
	case evRecv:
		w.post(r, e.index(), e.at)
	case evArrive:
		line, free := messages, max(p.cpu, p.nr)
		if w.messages[e.index()].up {
			line, free = upMessages, p.upRecv
		}
		if free <= e.at {
			w.handleMessage(r, e.index())
			return
		}
		p.lines[line].push(waiter{e.seq, e.index()})
		w.arm(r)
	case evServe:
		if (p.armed != turn{e.at, e.seq}) {
			return // another event has come before
		}
		p.armed = turn{}
		if k, t := p.next(e.at); k >= 0 && t == (turn{e.at, e.seq}) {
			w.serve(r, k, p.lines[k].pop().id)
		}
		w.arm(r)
	}
}

func (w *loggp) serve(r *rank, k int, id int32) {
	switch k {
	case sends, upSends:
		w.transmit(r, id)
	case messages, upMessages:
		w.handleMessage(r, id)
	case calcs:
		o := &r.ops[id]
		o.start = w.now
		r.port.cpu = w.now + o.size
		r.act.ComputeBegin(w.now)
		w.complete(r, id, r.port.cpu)
	}
}

// transmit starts a send now.
func (w *loggp) transmit(r *rank, h int32) {
	o := &r.ops[h]
	l := w.net.pair(r.id, o.peer)
	q, p := l.loggpAt(o.size), &r.port
	sent, free := w.now+q.oSend+q.O.span(o.size-1), w.now+q.g+q.G.span(o.size-1)
	i := w.newMessage()
	late, up := o.rendezvous(l), w.takesPort(l)
	if up {
		sent, p.upSend = free, free
	} else {
		p.cpu, p.ns = sent, free
	}
	m := &w.messages[i]
	m.up, m.sent, m.bytes, m.context, m.src, m.dst, m.tag = up, sent, o.size, o.context, r.id, o.peer, o.tag
	m.handle, m.site, m.late, m.inner = h, o.site, late, o.inner
	at := w.now + q.oSend + q.L + q.store.span(o.size)
	if w.uneven {
		at = p.sent.arrival(o.peer, at, w.now+w.soonest)
	}
	w.push(at, w.nextSeq(), evArrive, o.peer, i)
	if late {
		p.early++
		return
	}
	w.complete(r, h, sent)
}

// handleMessage occupies the receiver with a message from now on.
func (w *loggp) handleMessage(r *rank, i int32) {
	m, p := &w.messages[i], &r.port
	q := w.net.pair(m.src, m.dst).loggpAt(m.bytes)
	gap := q.G.span(m.bytes - 1)
	m.at = w.now + q.oRecv + max(q.O.span(m.bytes-1), gap)
	free := w.now + q.g + gap
	switch {
	case m.up:
		p.upRecv = free
	case w.alone:
		p.nr = free
	default:
		p.cpu, p.nr = m.at, free
	}
	if m.at >= horizon || free >= horizon {
		w.err = errOverflow
		return
	}
	if id, ok := r.match.Arrive(m.context, m.src, m.tag, int64(i)); ok {
		met := *m
		w.freeMessage(i)
		w.meet(r, &met, int32(id), met.at)
	}
}

// post offers a receive at a time that, with a processor for messages alone, may lie
// ahead. It is called while operations are being started, so that what completes has
// to be queued.
func (w *loggp) post(r *rank, h int32, at units.Time) {
	o := &r.ops[h]
	id, ok := r.match.Post(o.context, o.peer, o.tag, int64(h))
	if !ok {
		return
	}
	m := w.messages[id]
	w.freeMessage(int32(id))
	if w.oneCPU {
		w.meet(r, &m, h, at)
		return
	}
	w.later(r, h, max(at, m.at))
	if m.late {
		w.ranks[m.src].port.early--
		w.later(&w.ranks[m.src], m.handle, max(at, m.sent))
	}
}

// meet completes a receive at finish and, if it waited for that, the send: the
// acknowledgement takes no time. The lower rank goes first.
func (w *loggp) meet(r *rank, m *message, recv int32, finish units.Time) {
	if !m.late {
		w.complete(r, recv, finish)
		return
	}
	s := &w.ranks[m.src]
	s.port.early--
	if s.id < r.id {
		w.complete(s, m.handle, max(w.now, m.sent))
		w.complete(r, recv, finish)
		return
	}
	w.complete(r, recv, finish)
	w.complete(s, m.handle, max(w.now, m.sent))
}

// complete ends an operation at finish, which is not after cpu unless free is set: now, if nothing else
// of the rank can end before, so that what depends on it gets its place in line at
// once, else when the time has come. With one processor the dependents wait for that
// anyway.
func (w *loggp) complete(r *rank, h int32, finish units.Time) {
	switch {
	case finish >= horizon:
		w.err = errOverflow
	case w.oneCPU:
		w.done(r, h, max(finish, r.port.cpu))
	case finish <= w.now || r.port.early == 0 && !w.free:
		w.done(r, h, finish)
	default:
		w.later(r, h, finish)
	}
}

// later queues a completion.
func (w *loggp) later(r *rank, h int32, finish units.Time) {
	r.port.early++
	w.push(finish, w.freshSeq(), evDone, r.id, h)
}
