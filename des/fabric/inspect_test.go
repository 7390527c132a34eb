package fabric

import (
	"testing"

	"hybrid/des/sim"
	"hybrid/internal/units"
)

// A lower class counts as passed over from the first time that a higher one goes before it
// until it goes itself; the longest such time stays.
func TestOvertaken(t *testing.T) {
	o := &outlet{link: 5, queues: make([]queue, 3)}
	step := func(open uint8, class int, now units.Time) { o.overtake(open, class, now) }
	step(0b111, 2, 10) // 0 and 1 wait from 10
	step(0b111, 2, 20)
	step(0b011, 1, 30) // 1 has waited 20
	if want := (Starved{5, 1, 20, 30}); o.starved != want || o.passed != 1 {
		t.Errorf("%+v, passed %b", o.starved, o.passed)
	}
	step(0b010, 1, 35)
	step(0b001, 0, 50) // 0 has waited 40
	if want := (Starved{5, 0, 40, 50}); o.starved != want || o.passed != 0 {
		t.Errorf("%+v, passed %b", o.starved, o.passed)
	}
	step(0b101, 2, 60)
	o.wire.perByte = 1
	o.stop(&sim.Record{T: 70, Msg: 0, PSN: 100}) // paused: not passed over
	step(0b100, 2, 100)
	s := &Buffered{outlets: []outlet{*o}}
	s.Starved(1000, func(q *Starved) {
		if want := (Starved{5, 0, 40, 50}); *q != want {
			t.Errorf("%+v", q)
		}
	})
	s.outlets[0].overtake(0b101, 2, 2000)
	s.Starved(2100, func(q *Starved) {
		if want := (Starved{5, 0, 100, 2100}); *q != want {
			t.Errorf("%+v, want %+v", q, want)
		}
	})
}

// An output keeps the first loss of each of eight flows; sizes are without the incoming
// link.
func TestLossesAreBounded(t *testing.T) {
	o := &outlet{link: 7}
	for i := range uint32(30) {
		o.lose(&sim.Record{T: units.Time(i), QP: i / 2, PSN: i, Size: 3<<sizeBits | 100}, 1, QueueFull, i == 2)
	}
	s := &Buffered{outlets: []outlet{*o}}
	n := uint32(0)
	s.Losses(func(l *Loss) {
		if l.Packet.QP != n || l.Packet.PSN != 2*n || l.Packet.Size != 100 || l.Cut != (n == 1) || l.Link != 7 || l.Class != 1 {
			t.Errorf("loss %d: %+v", n, l)
		}
		n++
	})
	if n != keptLosses {
		t.Errorf("%d losses are kept", n)
	}
}

// The pause of a queue has begun with the first of the frames that make it last.
func TestPauseBegan(t *testing.T) {
	o := &outlet{queues: make([]queue, 1)}
	o.wire.perByte = 1
	for _, c := range []struct {
		at    units.Time
		psn   uint32
		since units.Time
	}{{10, 1, 10}, {50, 1, 10}, {60, 0, 10}, {70, 2, 70}, {198, 1, 198}} {
		o.stop(&sim.Record{T: c.at, PSN: c.psn})
		if got := o.queues[0].since; got != c.since {
			t.Errorf("after the frame at %d: since %d, want %d", c.at, got, c.since)
		}
	}
	o.queues[0].push(&sim.Record{Size: 5})
	s := &Buffered{outlets: []outlet{*o}}
	if at := s.At(0, 0); at.Since != 198 || at.Queue != 5 || at.Head.Size != 5 {
		t.Errorf("%+v", at)
	}
}
