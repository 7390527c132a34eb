package nic

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hybrid/des/fabric"
	"hybrid/des/sim"
	"hybrid/internal/units"
	"hybrid/networks"
)

func TestIndexIsAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var x index
		want := map[uint64]int32{}
		for range rapid.IntRange(0, 200).Draw(t, "n") {
			key := pair(rapid.Uint32Range(0, 30).Draw(t, "a"), rapid.Uint32Range(0, 5).Draw(t, "b"))
			at, ok := want[key]
			if !ok {
				at = -1
			}
			if got := x.find(key); got != at {
				t.Fatalf("find(%x) is %d, want %d", key, got, at)
			}
			if !ok {
				want[key] = int32(len(want))
				x.add(key, want[key])
			}
		}
	})
}

// recorder is the node around a NIC under test.
type recorder struct {
	sent, delivered []units.Time
	messages        []Message
	acked           []units.Time
	flows           []int32
}

func (r *recorder) Sent(_ *sim.Worker, _ *Message, at units.Time) { r.sent = append(r.sent, at) }
func (r *recorder) Delivered(_ *sim.Worker, m *Message, at units.Time) {
	r.delivered = append(r.delivered, at)
	r.messages = append(r.messages, *m)
}

func (r *recorder) Acked(_ *sim.Worker, m *Message, at units.Time) {
	r.acked = append(r.acked, at)
	r.flows = append(r.flows, m.Flow)
}

// bench is two nodes joined by two directed links of 1 tick a byte and 1000 ticks delay.
type bench struct {
	nics   [2]*NIC
	owners [2]*recorder
	outs   [2]*sim.Channel
	w      *sim.Worker
}

func newBench(p Params) *bench {
	links := []networks.Link{{From: 0, To: 1, PerByte: units.Int(1), Delay: 1000}, {From: 1, To: 0, PerByte: units.Int(1), Delay: 1000}}
	k := sim.NewKernel(2, []int32{1, 0})
	b := &bench{w: &sim.Worker{End: 1}}
	peers := make([]*NIC, 2)
	for i := range b.nics {
		b.owners[i] = &recorder{}
		b.outs[i] = k.Channel(i)
		m := &fabric.Medium{Clock: units.PicosecondClock(), Hosts: 2, Wide: !p.Packets}
		peers[i] = New(p, int32(i), b.owners[i], nil, int32(i), []fabric.Wire{fabric.NewWire(m, links[i], b.outs[i])}, 0, peers)
		b.nics[i] = peers[i]
	}
	return b
}

// frames lets a NIC send all it has and returns what it put on its link.
func (b *bench) frames(i int) []sim.Record {
	for b.nics[i].Next() < units.Never {
		b.nics[i].Transmit(b.w)
	}
	return b.outs[i].Unread()
}

func packets(mtu int64) Params {
	return Params{Packets: true, MTU: mtu, AckEvery: 4, Wire: networks.Wire{First: 98, Middle: 82, Last: 82, Only: 98, Ack: 86}}
}

// A message of 3 MTU + 1 and an empty one on the same queue pair, and one of another
// queue pair that takes turns with them.
func TestSegmentsAndTurns(t *testing.T) {
	b := newBench(packets(100))
	for _, m := range []Message{{Src: 0, Dst: 1, Bytes: 301}, {Src: 0, Dst: 1}, {Src: 2, Dst: 1, Bytes: 100}} {
		if err := b.nics[0].Post(0, m, 1); err != nil {
			t.Fatal(err)
		}
	}
	got := b.frames(0)
	want := []struct {
		qp, psn, size uint32
		last          bool
	}{{0, 0, 198, false}, {1, 0, 198, true}, {0, 1, 182, false}, {0, 2, 182, false}, {0, 3, 83, true}, {0, 4, 98, true}}
	at := units.Time(0)
	for i, w := range want {
		r := got[i]
		at += units.Time(w.size)
		if r.QP != w.qp || r.PSN != w.psn || r.Size != w.size || (r.Src>>24 == flagLast) != w.last || r.T != at+1000 {
			t.Errorf("frame %d: %+v, want %+v at %d", i, r, w, at+1000)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d frames, want %d", len(got), len(want))
	}
}

// The receiver acknowledges every fourth packet and the last of a message; the sender
// retires what an acknowledgement covers.
func TestAcknowledgements(t *testing.T) {
	b := newBench(packets(100))
	if err := b.nics[0].Post(0, Message{Src: 0, Dst: 1, Bytes: 1000, Tag: 5}, 1); err != nil {
		t.Fatal(err)
	}
	for _, r := range b.frames(0) {
		b.nics[1].Receive(b.w, &r)
	}
	var psns []uint32
	acks := b.frames(1)
	for _, r := range acks {
		if r.Kind() != frameAck || r.Size != 86 {
			t.Errorf("frame %+v", r)
		}
		psns = append(psns, r.PSN)
	}
	if len(psns) != 3 || psns[0] != 3 || psns[1] != 7 || psns[2] != 9 {
		t.Errorf("acknowledged %v, want 3, 7 and 9", psns)
	}
	if m := b.owners[1].messages; len(m) != 1 || m[0].Tag != 5 || m[0].Bytes != 1000 {
		t.Errorf("delivered %+v", m)
	}
	if err := b.nics[0].Idle(); err == nil {
		t.Error("the sender is idle before the acknowledgement")
	}
	for _, r := range acks {
		b.nics[0].Receive(b.w, &r)
	}
	if err := b.nics[0].Idle(); err != nil {
		t.Error(err)
	}
}

// The owner hears of the acknowledgement of every message that has a flow, also where one
// acknowledgement covers several. Of four messages of a packet each only the last
// acknowledgement comes: they leave from 1198 on, when the first packet of 198 B has
// arrived, one after the other, and travel for 1000.
func TestOwnerHearsOfAcknowledgements(t *testing.T) {
	b := newBench(packets(100))
	for _, flow := range []int32{0, 7, 0, 5} {
		if err := b.nics[0].Post(0, Message{Src: 0, Dst: 1, Bytes: 100, Flow: flow}, 1); err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range b.frames(0) {
		b.nics[1].Receive(b.w, &r)
	}
	acks := b.frames(1)
	r := acks[len(acks)-1]
	b.nics[0].Receive(b.w, &r)
	o := b.owners[0]
	if at := units.Time(1198 + 4*86 + 1000); !slices.Equal(o.flows, []int32{7, 5}) || !slices.Equal(o.acked, []units.Time{at, at}) {
		t.Errorf("flows %v at %v, want 7 and 5 at %d", o.flows, o.acked, at)
	}
}

// A sequence number out of order, and an acknowledgement of what was never sent, stop
// the run.
func TestSequenceFaults(t *testing.T) {
	b := newBench(packets(100))
	if err := b.nics[0].Post(0, Message{Src: 0, Dst: 1, Bytes: 300}, 1); err != nil {
		t.Fatal(err)
	}
	r := b.frames(0)
	b.nics[1].Receive(b.w, &r[1])
	if err := b.w.Failure(); err == nil || !strings.Contains(err.Error(), "packet 1") {
		t.Errorf("out of order: %v", err)
	}
	b = newBench(packets(100))
	if err := b.nics[0].Post(0, Message{Src: 0, Dst: 1, Bytes: 300}, 1); err != nil {
		t.Fatal(err)
	}
	b.frames(0)
	b.nics[0].Receive(b.w, &sim.Record{Dst: sim.Pack(0, frameAck), PSN: 7})
	if err := b.w.Failure(); err == nil || !strings.Contains(err.Error(), "not been sent") {
		t.Errorf("acknowledgement of nothing: %v", err)
	}
}

// Packet counts and bytes agree with the network's own formula for every size.
func TestBytesOnTheLink(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := packets(rapid.Int64Range(1, 64).Draw(t, "mtu"))
		p.Wire.MinFrame = rapid.Int64Range(0, 120).Draw(t, "least frame")
		size := rapid.Int64Range(0, 500).Draw(t, "bytes")
		b := newBench(p)
		if err := b.nics[0].Post(0, Message{Src: 0, Dst: 1, Bytes: size}, 1); err != nil {
			t.Fatal(err)
		}
		n, bytes := int64(0), int64(0)
		for _, r := range b.frames(0) {
			n, bytes = n+1, bytes+int64(r.Size)
		}
		if wantN, wantBytes := p.Wire.Message(size, p.MTU); n != wantN || bytes != wantBytes {
			t.Fatalf("%d packets of %d B, want %d of %d B", n, bytes, wantN, wantBytes)
		}
	})
}

func TestIdealMessageIsOneRecord(t *testing.T) {
	b := newBench(Ideal())
	const size = 5 << 32
	if err := b.nics[0].Post(0, Message{Src: 0, Dst: 1, Bytes: size, Tag: 3, Flow: 4}, 1); err != nil {
		t.Fatal(err)
	}
	r := b.frames(0)
	if len(r) != 1 || r[0].Wide() != size || r[0].T != size+1000 {
		t.Fatalf("frames %+v", r)
	}
	b.nics[1].Receive(b.w, &r[0])
	if len(b.owners[1].messages) != 1 || len(b.w.Notices) != 1 {
		t.Fatalf("delivered %+v, notices %+v", b.owners[1].messages, b.w.Notices)
	}
	b.nics[0].Retire(b.w, b.w.Notices[0].Ref, b.w.Notices[0].At)
	if o := b.owners[0]; !slices.Equal(o.acked, []units.Time{size + 1000}) || !slices.Equal(o.flows, []int32{4}) {
		t.Errorf("acknowledged at %v as %v", o.acked, o.flows)
	}
	if err := b.nics[0].Idle(); err != nil {
		t.Error(err)
	}
}
