package nic

import (
	"slices"
	"testing"

	"hybrid/internal/units"
)

// Two queue pairs at two ticks a byte on a link of one tick a byte. The first has packets of
// 198, 182 and 182 B, the second two of 198 B, one a message:
//
//	first   0 .. 198, not again before 396, then 396 + 2 * 182 = 760, when the link is busy
//	second  198 .. 396, not again before 594
//
// and an acknowledgement that comes at 500 waits until the first one's second packet, 396 to
// 578, has been sent, and is held to no rate.
func TestRateOfQueuePair(t *testing.T) {
	p := packets(100)
	p.PerByte, p.Clock, p.AckEvery = units.Int(2), units.PicosecondClock(), 1
	b := newBench(p)
	n := b.nics[0]
	for _, m := range []Message{{Src: 0, Dst: 1, Bytes: 300}, {Src: 2, Dst: 1, Bytes: 100}, {Src: 2, Dst: 1, Bytes: 100}} {
		if err := n.Post(0, m, 1); err != nil {
			t.Fatal(err)
		}
	}
	for n.Next() < 500 {
		n.Transmit(b.w)
	}
	in := b.frames(1)
	if err := b.nics[1].Post(0, Message{Src: 1, Dst: 0, Bytes: 100}, 0); err != nil || len(in) != 0 {
		t.Fatal(err)
	}
	in = b.frames(1)
	in[0].T = 500
	n.Receive(b.w, &in[0])
	var at []units.Time
	var of []uint32
	for _, r := range b.frames(0) {
		at, of = append(at, r.T-1000-int64(r.Size)), append(of, uint32(r.Kind())<<4|r.QP)
	}
	if want := []units.Time{0, 198, 396, 578, 664, 862}; !slices.Equal(at, want) || !slices.Equal(of, []uint32{0, 1, 0, 1 << 4, 1, 0}) {
		t.Errorf("frames of %x at %v, want %v", of, at, want)
	}
	if len(n.due) != 0 {
		t.Errorf("%d ports have something to send", len(n.due))
	}
}

// A queue pair that has nothing to send keeps its time: the next message starts no sooner.
// One that is posted meanwhile on another queue pair does not wait for it.
func TestRateAcrossMessages(t *testing.T) {
	p := packets(100)
	p.PerByte, p.Clock = units.Int(10), units.PicosecondClock()
	b := newBench(p)
	n := b.nics[0]
	post := func(now units.Time, src int32) {
		t.Helper()
		if err := n.Post(now, Message{Src: src, Dst: 1, Bytes: 100}, 1); err != nil {
			t.Fatal(err)
		}
	}
	post(0, 0)
	n.Transmit(b.w)
	post(300, 0)
	post(1200, 2)
	_, at := b.starts(0)
	if want := []units.Time{0, 1200, 1980}; !slices.Equal(at, want) {
		t.Errorf("packets start at %v, want %v", at, want)
	}
}
