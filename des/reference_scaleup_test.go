package des

import (
	"math/rand/v2"

	"hybrid/des/nic"
	"hybrid/internal/units"
	"hybrid/networks"
)

// The scale-up fabric of the reference: a lane for each pair of ranks, all of which are
// looked at whenever a packet may start.

type refLane struct {
	src, dst          int32
	queue             []*refTransfer // not completely sent
	there             []refPacketUp  // arrived and not completely received
	sending, receives bool
	sent              int64 // packets: those that arrive at one time keep their order
}

type refTransfer struct {
	m    nic.Message
	op   *refOp
	left int64
}

type refPacketUp struct {
	bytes int64
	last  *refTransfer // nil for any packet but the last
}

func (f *reference) postScaleUp(now int64, o *refOp, m nic.Message) {
	var lane *refLane
	for _, l := range f.lanes {
		if l.src == m.Src && l.dst == m.Dst {
			lane = l
		}
	}
	if lane == nil {
		lane = &refLane{src: m.Src, dst: m.Dst}
		f.lanes = append(f.lanes, lane)
	}
	lane.queue = append(lane.queue, &refTransfer{m, o, m.Bytes})
	f.serveScaleUp(now)
}

// serveScaleUp starts, when all else of this time is over, every packet that can start.
func (f *reference) serveScaleUp(now int64) {
	s := f.run.placement.ScaleUp
	f.push(now, 4, 0, 0, 0, func() {
		to, from := map[int32]int64{}, map[int32]int64{}
		for _, l := range f.lanes {
			if len(l.queue) > 0 {
				to[l.src]++
			}
			if len(l.there) > 0 {
				from[l.dst]++
			}
		}
		for _, l := range f.lanes {
			perByte := s.Groups[s.Group[l.src]].PerByte
			if len(l.queue) > 0 && !l.sending {
				l.sending = true
				size := min(l.queue[0].left, f.run.job.Network.ScaleUp.Payload) + f.run.job.Network.ScaleUp.Header
				t := now + f.run.clock.Span(perByte, size*to[l.src])
				f.push(t, 2, int64(l.dst), int64(l.src), 0, func() { f.sentScaleUp(t, l, size) })
			}
			if len(l.there) > 0 && !l.receives {
				l.receives = true
				t := now + f.run.clock.Span(perByte, l.there[0].bytes*from[l.dst])
				f.push(t, 2, int64(l.dst), int64(l.src), 0, func() { f.receivedScaleUp(t, l) })
			}
		}
	})
}

func (f *reference) sentScaleUp(now int64, l *refLane, size int64) {
	crossing := f.run.clock.Ticks(f.run.placement.ScaleUp.Crossing(l.src, l.dst))
	t := l.queue[0]
	p := refPacketUp{bytes: size}
	l.sending = false
	if t.left -= min(t.left, f.run.job.Network.ScaleUp.Payload); t.left == 0 {
		p.last, l.queue = t, l.queue[1:]
		f.endAt(now, t.op)
		f.localAck(t.op, now+2*crossing)
	}
	at := now + crossing
	l.sent++
	f.push(at, 2, int64(l.dst), int64(l.src), l.sent, func() {
		l.there = append(l.there, p)
		f.serveScaleUp(at)
	})
	f.serveScaleUp(now)
}

func (f *reference) receivedScaleUp(now int64, l *refLane) {
	p := l.there[0]
	l.there, l.receives = l.there[1:], false
	if p.last != nil {
		f.offer(now, l.dst, &refArrival{Message: p.last.m, scaleUp: true})
	}
	f.serveScaleUp(now)
}

// randomScaleUp puts ranks into groups whose times invite ties, also with the network.
func randomScaleUp(r *rand.Rand, j *Job) {
	s := &networks.ScaleUpPlacement{}
	for id := range 1 + r.IntN(3) {
		s.Groups = append(s.Groups, networks.ScaleUpGroup{ID: uint32(id), PerByte: pick(r, units.Int(10), units.Int(20), units.NewRat(80, 9)),
			Hop: pick[int64](r, 100_000, 0, 1, 83_560), Cable: pick[int64](r, 100_000, 0, 50_000)})
	}
	for range j.Graph.Ranks {
		s.Group, s.Subgroup = append(s.Group, int32(r.IntN(len(s.Groups)+1)-1)), append(s.Subgroup, uint32(r.IntN(2)))
	}
	j.Placement.ScaleUp = s
	j.Network.ScaleUp = networks.ScaleUp{Header: pick[int64](r, 24, 0, 98), Payload: pick[int64](r, 4096, 1000, 65536)}
}
