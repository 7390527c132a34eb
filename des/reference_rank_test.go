package des

import (
	"hybrid/des/nic"
	"hybrid/des/node"
	"hybrid/graph"
	"hybrid/graph/replay"
	"hybrid/internal/units"
)

// The ranks' half of the reference: operations, matching and protocols.

type refRank struct {
	id, at  int32
	cursor  *replay.Cursor
	matcher replay.Matcher
	cpu     node.Processor
	issued  int64
	end     int64
	digest  uint64
	ops     []*refOp
	arrived []*refArrival
}

type refOp struct {
	replay.Issue
	rank  *refRank
	seq   int64
	id    int32
	start int64
}

type refArrival struct {
	nic.Message
	sender     *refOp // inside a node
	at         int64
	path       localPath
	rendezvous bool
	scaleUp    bool
}

func (f *reference) delivered(now int64, m nic.Message) {
	switch m.Kind {
	case nic.Eager, nic.RequestToSend:
		f.offer(now, m.Dst, &refArrival{Message: m})
	case nic.ClearToSend:
		o := f.ranks[m.Dst].ops[m.Sender]
		f.post(now, nic.Message{Kind: nic.Data, Bytes: o.Bytes, Src: m.Dst, Dst: m.Src, Sender: m.Sender, Receiver: m.Receiver})
	case nic.Data:
		f.received(now, f.ranks[m.Dst].ops[m.Receiver])
	}
}

func (f *reference) offer(now int64, dst int32, a *refArrival) {
	k := &f.ranks[dst]
	k.arrived = append(k.arrived, a)
	if o, ok := k.matcher.Arrive(a.Context, a.Src, a.Tag, int64(len(k.arrived)-1)); ok {
		f.meet(now, k.ops[o], a)
	}
}

func (f *reference) meet(now int64, o *refOp, a *refArrival) {
	switch {
	case a.sender != nil && a.rendezvous:
		begin := max(now, a.at) + a.path.announce
		f.endAt(begin+a.path.span, a.sender)
		f.endAt(begin+a.path.span+a.path.latency, o)
		f.localAck(a.sender, begin+a.path.span+a.path.latency)
	case a.sender != nil:
		f.endAt(max(now, a.at), o)
	case a.scaleUp:
		f.endAt(now, o)
	case a.Kind == nic.RequestToSend:
		f.post(now, nic.Message{Kind: nic.ClearToSend, Src: o.rank.id, Dst: a.Src, Sender: a.Sender, Receiver: o.id})
	default:
		f.received(now, o)
	}
}

func (f *reference) received(now int64, o *refOp) {
	f.endAt(o.rank.cpu.Message(now, f.run.receiveOverhead), o)
}

func (f *reference) localAck(o *refOp, at int64) {
	if f.run.job.EndWithAck {
		o.rank.end = max(o.rank.end, at)
	}
}

func (f *reference) endAt(t int64, o *refOp) {
	f.push(t, 3, int64(o.rank.id), o.seq, eventEnd, func() { f.end(t, o) })
}

func (f *reference) end(now int64, o *refOp) {
	k := o.rank
	k.end = max(k.end, now)
	k.digest = digest(digest(k.digest, uint64(o.Op)), uint64(now))
	f.follow(now, k, k.cursor.Done(o.Handle, now, nil))
}

func (f *reference) follow(now int64, k *refRank, issues []replay.Issue) {
	for _, is := range issues {
		k.issued++
		o := &refOp{Issue: is, rank: k, seq: k.issued, id: int32(len(k.ops)), start: now}
		k.ops = append(k.ops, o)
		switch {
		case is.Kind == graph.Send:
			f.send(now, o)
		case is.Kind == graph.Recv:
			if i, ok := k.matcher.Post(is.Context, is.Peer, is.Tag, int64(o.id)); ok {
				f.meet(now, o, k.arrived[i])
			}
		case k.cpu.Shares(is.Kind, is.Flags, is.Duration):
			t, version := k.cpu.Begin(now, o.id, f.run.clock.Ticks(is.Duration))
			f.share(k, t, version)
		default:
			f.endAt(now+f.run.clock.Ticks(is.Duration), o)
		}
	}
}

func (f *reference) share(k *refRank, t int64, version uint32) {
	if t == units.Never {
		return
	}
	f.push(t, 3, int64(k.id), 0, int64(eventShare+eventKinds*version), func() {
		ended := k.cpu.End(t, version, nil)
		for _, id := range ended {
			f.end(t, k.ops[id])
		}
		if len(ended) > 0 {
			next, version := k.cpu.Next()
			f.share(k, next, version)
		}
	})
}

func (f *reference) send(now int64, o *refOp) {
	m := nic.Message{Context: o.Context, Bytes: o.Bytes, Src: o.rank.id, Dst: o.Peer, Tag: o.Tag, Sender: o.id}
	limit := f.run.eagerLimit
	local := f.run.placement.Node[o.Peer] == o.rank.at
	path := localPath{}
	if local {
		path = f.run.localPath(m.Src, m.Dst, m.Bytes)
		limit = path.eagerLimit
	}
	large := !o.Flags.Has(graph.Eager) && (o.Flags.Has(graph.Rendezvous) || o.Bytes > limit)
	switch {
	case f.run.placement.ScaleUp.Shared(m.Src, m.Dst):
		f.postScaleUp(now, o, m)
	case local && large:
		f.offer(now, o.Peer, &refArrival{Message: m, sender: o, at: now + path.announce, path: path, rendezvous: true})
	case local:
		f.endAt(now+path.span, o)
		f.localAck(o, now+path.span+path.latency)
		f.offer(now, o.Peer, &refArrival{Message: m, sender: o, at: now + path.span + path.latency})
	default:
		if large {
			m.Kind, m.Bytes = nic.RequestToSend, 0
		}
		if t := o.rank.cpu.Message(now, f.run.sendOverhead); t > now {
			f.push(t, 3, int64(o.rank.id), o.seq, eventPost, func() { f.post(t, m) })
		} else {
			f.post(now, m)
		}
	}
}
