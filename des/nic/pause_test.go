package nic

import (
	"slices"
	"testing"

	"hybrid/des/fabric"
	"hybrid/des/sim"
	"hybrid/internal/units"
)

// pauseFrame pauses a class of node 0's port from a time on for so many times 64 B, which
// here are 64 ticks.
func pauseFrame(at units.Time, class, quanta uint32) *sim.Record {
	return &sim.Record{T: at, Dst: sim.Pack(0, fabric.Pause), QP: 0, PSN: quanta, Msg: class, Size: 84}
}

// starts returns the kinds of frames on the link with the times at which they started.
func (b *bench) starts(i int) (kinds []uint8, at []units.Time) {
	for _, r := range b.frames(i) {
		kinds, at = append(kinds, r.Kind()), append(at, r.T-1000-int64(r.Size))
	}
	return kinds, at
}

// A port sends what is not paused and goes on when the pause has ended or was lifted. Data
// packets of 100 B have 198 B on the link, acknowledgements 86 B; a tick is a byte.
func TestPausedPort(t *testing.T) {
	p := packets(100)
	p.Classes, p.AckEvery = [2]uint8{0, 1}, 1
	data := Message{Src: 0, Dst: 1, Bytes: 100}
	ack := &sim.Record{T: 50, Dst: sim.Pack(0, frameData), Src: sim.Pack(1, 0)} // makes node 0 acknowledge
	for _, c := range []struct {
		name   string
		frames []*sim.Record
		kinds  []uint8
		at     []units.Time
	}{
		{"data are paused for 128 ticks from 10 on", []*sim.Record{pauseFrame(10, 0, 2)}, []uint8{frameAck, frameData}, []units.Time{50, 138}},
		{"and for 6,400 ticks, which ends at 300", []*sim.Record{pauseFrame(10, 0, 100), pauseFrame(300, 0, 0)}, []uint8{frameAck, frameData}, []units.Time{50, 300}},
		{"acknowledgements are paused, data are not", []*sim.Record{pauseFrame(10, 1, 100)}, []uint8{frameData, frameAck}, []units.Time{50, 6410}},
		{"both are", []*sim.Record{pauseFrame(10, 0, 100), pauseFrame(20, 1, 2)}, []uint8{frameAck, frameData}, []units.Time{148, 6410}},
		{"a third class", []*sim.Record{pauseFrame(10, 2, 100)}, []uint8{frameAck, frameData}, []units.Time{50, 136}},
		{"a pause is repeated before it ends", []*sim.Record{pauseFrame(10, 0, 2), pauseFrame(100, 0, 2)}, []uint8{frameAck, frameData}, []units.Time{50, 228}},
	} {
		b := newBench(p)
		events := append(slices.Clone(c.frames), ack)
		slices.SortStableFunc(events, func(x, y *sim.Record) int { return int(x.T - y.T) })
		for _, r := range events {
			for b.nics[0].Next() < r.T {
				b.nics[0].Transmit(b.w)
			}
			b.nics[0].Receive(b.w, r)
			if r == ack {
				if err := b.nics[0].Post(50, data, 1); err != nil {
					t.Fatal(err)
				}
			}
		}
		kinds, at := b.starts(0)
		if !slices.Equal(kinds, c.kinds) || !slices.Equal(at, c.at) {
			t.Errorf("%s: frames of kinds %v at %v, want %v at %v", c.name, kinds, at, c.kinds, c.at)
		}
		if err := b.nics[0].Idle(); len(b.nics[0].due) > 0 {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// Where packets may be lost, what follows a lost one is discarded.
func TestDiscardsBehindGap(t *testing.T) {
	p := packets(100)
	p.Lossy = true
	b := newBench(p)
	if err := b.nics[0].Post(0, Message{Src: 0, Dst: 1, Bytes: 300}, 1); err != nil {
		t.Fatal(err)
	}
	r := b.frames(0)
	b.nics[1].Receive(b.w, &r[0])
	b.nics[1].Receive(b.w, &r[2])
	if err := b.w.Failure(); err != nil || b.nics[1].Discarded != 1 || len(b.owners[1].messages) != 0 {
		t.Errorf("%v, %d discarded, delivered %v", err, b.nics[1].Discarded, b.owners[1].messages)
	}
	r[1].Dst = sim.Pack(1, fabric.Cut)
	if b.nics[1].Receive(b.w, &r[1]); b.nics[1].Cut != 1 {
		t.Errorf("%d packets without payload", b.nics[1].Cut)
	}
}
