package analytic

import (
	"context"

	"hybrid/graph/replay"
	"hybrid/internal/units"
)

// hockney times every message as if it were alone (R. Hockney, Parallel Computing
// 20, 1994): of m bytes that start at t, the send completes at t + m*beta and they
// arrive at t + alpha + m*beta. An eager message starts when it is sent, a
// rendezvous message when its receive is posted too.
//
// Messages are matched in the order in which they are sent, so that a small message
// that arrives before its larger predecessor does not take its receive.
type hockney struct{ *walk }

func runHockney(ctx context.Context, job Job) (*replay.Result, error) {
	if err := job.check(); err != nil {
		return nil, err
	}
	return exactFirst(func(rounded bool) (*replay.Result, error) {
		net, err := newNetwork(&job, false, rounded)
		if err != nil {
			return nil, err
		}
		w := newWalk(&job, net)
		w.timing = &hockney{w}
		return w.run(ctx, "hockney"), nil
	})
}

func (w *hockney) send(r *rank, h int32, ready units.Time) {
	o := &r.ops[h]
	l := w.net.pair(r.id, o.peer)
	i := w.newMessage()
	m := &w.messages[i]
	*m = message{sent: ready, bytes: o.size, context: o.context, src: r.id, dst: o.peer, tag: o.tag,
		handle: h, site: o.site, late: o.rendezvous(l), inner: o.inner}
	if !m.late {
		w.transmit(m, l, ready)
	}
	if id, ok := w.ranks[o.peer].match.Arrive(o.context, r.id, o.tag, int64(i)); ok {
		w.meet(i, int32(id), ready)
	}
}

func (w *hockney) recv(r *rank, h int32, ready units.Time) {
	o := &r.ops[h]
	if id, ok := r.match.Post(o.context, o.peer, o.tag, int64(h)); ok {
		w.meet(int32(id), h, ready)
	}
}

// transmit moves the bytes from time at on.
func (w *hockney) transmit(m *message, l *level, at units.Time) {
	p := l.hockneyAt(m.bytes)
	span := p.beta.span(m.bytes)
	m.at = at + p.alpha + span
	w.push(at+span, w.freshSeq(), evDone, m.src, m.handle)
}

// meet completes the receive of a message, both being there at time at.
func (w *hockney) meet(i, recv int32, at units.Time) {
	m := &w.messages[i]
	if m.late {
		w.transmit(m, w.net.pair(m.src, m.dst), at)
	}
	w.push(max(at, m.at), w.freshSeq(), evDone, m.dst, recv)
	w.freeMessage(i)
}

func (w *hockney) compute(r *rank, h int32, ready units.Time) { w.beside(r, h, ready) }

// ended implements [timing]; nothing is kept about what runs.
func (w *hockney) ended(*rank) {}

// event implements [timing]; the model has no events of its own.
func (w *hockney) event(*rank, event) {}
