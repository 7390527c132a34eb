package scaleup

import (
	"slices"

	"hybrid/internal/units"
)

// post is a transfer of a test: at a time, or when another one has been sent or received.
type post struct {
	at       units.Time
	src, dst int32
	bytes    int64
	after    int // index of a post, or -1
	received bool
}

// outcome is when the transfers of a test were sent and received, and in which order
// receptions were reported.
type outcome struct {
	Sent, Received []units.Time
	Order          []int32
	Counts         []Count
}

// driver is the process around a fabric: at each instant packet events, then follow-ups in
// the order of the posts, then service.
type driver struct {
	posts []post
	done  outcome
	ready []int
}

func (d *driver) Sent(ref int32, at units.Time) {
	d.done.Sent[ref] = at
	d.follow(ref, false)
}

func (d *driver) Received(ref int32, at units.Time) {
	d.done.Received[ref] = at
	d.done.Order = append(d.done.Order, ref)
	d.follow(ref, true)
}

func (d *driver) follow(ref int32, received bool) {
	for i, p := range d.posts {
		if p.after == int(ref) && p.received == received {
			d.ready = append(d.ready, i)
		}
	}
}

func newOutcome(posts int) outcome {
	o := outcome{Sent: make([]units.Time, posts), Received: make([]units.Time, posts)}
	for i := range o.Sent {
		o.Sent[i], o.Received[i] = -1, -1
	}
	return o
}

// drive runs a fabric until nothing is left.
func drive(cfg Config, posts []post) (outcome, *Fabric) {
	d := &driver{posts: posts, done: newOutcome(len(posts))}
	f := New(cfg, d)
	pending := func(now units.Time) units.Time {
		next := units.Never
		for _, p := range posts {
			if p.after < 0 && p.at > now {
				next = min(next, p.at)
			}
		}
		return next
	}
	for now := pending(-1); now < units.Never; now = min(f.Next(), pending(now)) {
		for i, p := range posts {
			if p.after < 0 && p.at == now {
				d.ready = append(d.ready, i)
			}
		}
		for {
			switch {
			case f.Next() == now:
				f.Step()
			case len(d.ready) > 0:
				slices.Sort(d.ready)
				i := d.ready[0]
				d.ready = d.ready[1:]
				f.Post(now, posts[i].src, posts[i].dst, posts[i].bytes, int32(i))
			case f.Due() == now:
				f.Serve()
			default:
				goto over
			}
		}
	over:
	}
	for r := range cfg.Group {
		d.done.Counts = append(d.done.Counts, f.Count(int32(r)))
	}
	return d.done, f
}

// plain is the rule once more, without events or counters that are kept: at every instant
// all packets are looked at.
type plain struct {
	cfg   Config
	posts []post
	done  outcome
	queue [][]int
	ready []int
	// By pair src*n+dst.
	tx, rx   []*plainPacket
	left     []int64
	crossing [][]*plainPacket
}

type plainPacket struct {
	post       int
	data       int64
	last       bool
	end        units.Time // of the present stage
	atReceiver bool
}

func (s *plain) pairs(do func(i int, src, dst int32)) {
	n := int32(len(s.cfg.Group))
	for dst := range n {
		for src := range n {
			do(int(src*n+dst), src, dst)
		}
	}
}

func refer(cfg Config, posts []post) outcome {
	n := len(cfg.Group)
	s := &plain{cfg: cfg, posts: posts, done: newOutcome(len(posts)), queue: make([][]int, n*n), tx: make([]*plainPacket, n*n),
		rx: make([]*plainPacket, n*n), left: make([]int64, n*n), crossing: make([][]*plainPacket, n*n)}
	s.done.Counts = make([]Count, n)
	for now := s.next(-1); now < units.Never; now = s.next(now) {
		for i, p := range posts {
			if p.after < 0 && p.at == now {
				s.ready = append(s.ready, i)
			}
		}
		for again := true; again; {
			for s.finish(now) || s.post() {
			}
			again = s.start(now)
		}
	}
	return s.done
}

func (s *plain) next(now units.Time) units.Time {
	next := units.Never
	for _, p := range s.posts {
		if p.after < 0 && p.at > now {
			next = min(next, p.at)
		}
	}
	s.pairs(func(i int, _, _ int32) {
		for _, p := range append(slices.Clone(s.crossing[i]), s.tx[i], s.rx[i]) {
			if p != nil && p.end > now {
				next = min(next, p.end)
			}
		}
	})
	return next
}

// finish ends every packet stage that ends now.
func (s *plain) finish(now units.Time) (any bool) {
	s.pairs(func(i int, src, dst int32) {
		if p := s.rx[i]; p != nil && p.end == now {
			any, s.rx[i] = true, nil
			s.done.Counts[dst].RxPackets++
			s.done.Counts[dst].RxBytes += p.data + s.cfg.Header
			if p.last {
				s.done.Received[p.post] = now
				s.done.Order = append(s.done.Order, int32(p.post))
				s.follow(p.post, true)
			}
		}
		if p := s.tx[i]; p != nil && p.end == now {
			any, s.tx[i] = true, nil
			g := s.cfg.Groups[s.cfg.Group[src]]
			p.end = now + g.Far
			if s.cfg.Subgroup[src] == s.cfg.Subgroup[dst] {
				p.end = now + g.Near
			}
			s.crossing[i] = append(s.crossing[i], p)
			if p.last {
				s.queue[i] = s.queue[i][1:]
				if len(s.queue[i]) > 0 {
					s.left[i] = s.posts[s.queue[i][0]].bytes
				}
				s.done.Sent[p.post] = now
				s.follow(p.post, false)
			}
		}
		for _, p := range s.crossing[i] {
			if p.end == now && !p.atReceiver {
				p.atReceiver, any = true, true
			}
		}
	})
	return any
}

func (s *plain) follow(ref int, received bool) {
	for i, p := range s.posts {
		if p.after == ref && p.received == received {
			s.ready = append(s.ready, i)
		}
	}
}

func (s *plain) post() bool {
	if len(s.ready) == 0 {
		return false
	}
	slices.Sort(s.ready)
	i := s.ready[0]
	s.ready = s.ready[1:]
	at := int(s.posts[i].src)*len(s.cfg.Group) + int(s.posts[i].dst)
	if s.queue[at] = append(s.queue[at], i); len(s.queue[at]) == 1 {
		s.left[at] = s.posts[i].bytes
	}
	return true
}

// start begins the service of every packet that can start now.
func (s *plain) start(now units.Time) (any bool) {
	n := len(s.cfg.Group)
	to, from := make([]int64, n), make([]int64, n)
	s.pairs(func(i int, src, dst int32) {
		if len(s.queue[i]) > 0 {
			to[src]++
		}
		if s.rx[i] != nil || len(s.crossing[i]) > 0 && s.crossing[i][0].atReceiver {
			from[dst]++
		}
	})
	s.pairs(func(i int, src, dst int32) {
		if len(s.queue[i]) > 0 && s.tx[i] == nil {
			data := min(s.left[i], s.cfg.Payload)
			s.left[i] -= data
			s.tx[i] = &plainPacket{post: s.queue[i][0], data: data, last: s.left[i] == 0, end: now + s.span(src, data, to[src])}
			s.done.Counts[src].TxPackets++
			s.done.Counts[src].TxBytes += data + s.cfg.Header
			any = true
		}
		if s.rx[i] == nil && len(s.crossing[i]) > 0 && s.crossing[i][0].atReceiver {
			p := s.crossing[i][0]
			s.crossing[i] = s.crossing[i][1:]
			p.end = now + s.span(dst, p.data, from[dst])
			s.rx[i], any = p, true
		}
	})
	return any
}

func (s *plain) span(rank int32, data, share int64) units.Time {
	return s.cfg.Clock.Span(s.cfg.Groups[s.cfg.Group[rank]].PerByte, (data+s.cfg.Header)*share)
}
