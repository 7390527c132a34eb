package nic

import (
	"math/rand/v2"
	"slices"
	"testing"

	"hybrid/des/sim"
	"hybrid/internal/units"
)

// Packets in any order: messages are complete in the order of posting, each when all before
// it are there; the acknowledgement covers what has come without a gap.
func TestAcceptsAnyOrder(t *testing.T) {
	p := packets(100)
	p.Accept, p.AckEvery = true, 3
	b := newBench(p)
	for tag := range int32(2) { // packets 0 to 2, and 3 and 4
		if err := b.nics[0].Post(0, Message{Src: 0, Dst: 1, Bytes: 300 - 100*int64(tag), Tag: tag}, 1); err != nil {
			t.Fatal(err)
		}
	}
	r := b.frames(0)
	for _, step := range []struct {
		psn       int
		delivered int
		acks      []uint32 // since the beginning
	}{
		{4, 0, nil}, {3, 0, nil},
		{1, 0, []uint32{^uint32(0)}}, // the third packet; nothing is covered yet
		{0, 0, []uint32{^uint32(0)}},
		{2, 2, []uint32{^uint32(0), 4}},
	} {
		frame := r[step.psn]
		frame.T = 10_000 + units.Time(len(step.acks))
		b.nics[1].Receive(b.w, &frame)
		var acks []uint32
		for _, a := range b.nics[1].ports[0].acks {
			acks = append(acks, a.PSN)
		}
		if len(b.owners[1].messages) != step.delivered || !slices.Equal(acks, step.acks) {
			t.Errorf("packet %d: %d messages, acknowledgements %v, want %d and %v", step.psn, len(b.owners[1].messages), acks, step.delivered, step.acks)
		}
	}
	if m := b.owners[1].messages; len(m) != 2 || m[0].Tag != 0 || m[1].Tag != 1 {
		t.Errorf("delivered %+v", m)
	}
	if b.nics[1].Receive(b.w, &r[3]); b.nics[1].Discarded != 1 {
		t.Error("a packet is accepted twice")
	}
}

// A window is a set of numbers, whatever overtakes what and wherever numbers wrap.
func TestWindow(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var f window
	expect := ^uint32(0) - 1000
	ahead := map[uint32]bool{}
	for range 200_000 {
		psn := expect + uint32(r.IntN(1+r.IntN(700)))
		if psn == expect {
			for expect++; ahead[expect]; expect++ {
				delete(ahead, expect)
			}
			if got := f.advance(psn + 1); got != expect {
				t.Fatalf("the next is %d, want %d", got, expect)
			}
		} else if got := f.put(expect, psn); got == ahead[psn] {
			t.Fatalf("%d behind %d: new %v", psn, expect, got)
		} else {
			ahead[psn] = true
		}
		if f.ahead != len(ahead) {
			t.Fatalf("%d packets, want %d", f.ahead, len(ahead))
		}
	}
	if len(f.bits) != 1024/64 {
		t.Errorf("%d words", len(f.bits))
	}
}

func TestWindowAllocatesNothing(t *testing.T) {
	p := packets(100)
	p.Accept = true
	b := newBench(p)
	n := b.nics[1]
	psn := uint32(0)
	receive := func() {
		for _, i := range []uint32{3, 1, 2, 0, 7, 6, 5, 4} {
			n.Receive(b.w, &sim.Record{T: 1, Dst: sim.Pack(1, frameData), Src: sim.Pack(0, 0), PSN: psn + i})
		}
		psn += 8
		n.ports[0].acks, n.ports[0].ackHead = n.ports[0].acks[:0], 0
	}
	receive()
	if a := testing.AllocsPerRun(100, receive); a != 0 {
		t.Errorf("%v allocations", a)
	}
}
