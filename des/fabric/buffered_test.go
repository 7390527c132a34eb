package fabric

import (
	"context"
	"slices"
	"testing"

	"hybrid/des/sim"
	"hybrid/internal/units"
	"hybrid/networks"
)

// rig is a switch with incoming links, their way back, and one output. Node 0 receives;
// node 1 is the switch; node i+2 sends on link i.
type rig struct {
	s    *Buffered
	send [][]sim.Record // by incoming link
	got  []sim.Record   // at the receiver
	back [][]sim.Record // at the senders
	// eager, if not nil, takes the place of the sender on link 0.
	eager *eager
}

const rigDelay = 500_000

// run makes a switch whose output takes outPerByte a byte and lets it run, window by
// window, until nothing is left.
func (r *rig) run(t *testing.T, b *Buffering, headroom int64, outPerByte int64, window units.Time, pools ...int64) {
	t.Helper()
	n := len(r.send)
	// Links of the switch: 0..n-1 back to the senders, n to the receiver.
	to := make([]int32, 2*n+1)
	in := units.Int(20)
	m := &Medium{Clock: units.PicosecondClock(), Hosts: 1}
	for i := range n {
		to[i], to[n+1+i] = int32(2+i), 1
	}
	k := sim.NewKernel(2+n, to)
	var wires []Wire
	var inlets []Inlet
	for i := range n {
		wires = append(wires, NewWire(m, networks.Link{From: 1, To: int32(2 + i), PerByte: in, Delay: rigDelay}, k.Channel(i)))
		inlets = append(inlets, Inlet{Link: int32(100 + i), Back: int32(i), Headroom: headroom, Refresh: (int64(b.Quanta)*64*20 + rigDelay) / 2})
	}
	wires = append(wires, NewWire(m, networks.Link{From: 1, To: 0, PerByte: units.Int(outPerByte), Delay: rigDelay}, k.Channel(n)))
	procs := make([]sim.Process, 2+n)
	end := &sink{in: k.Inputs(0)}
	procs[0] = end
	r.s = NewBuffered(b, last{n}, 1, 0, wires, inlets, pools, k.Inputs(1))
	procs[1] = r.s
	defer func() {
		if r.eager != nil {
			r.back[0] = r.eager.sink.got
		}
	}()
	sinks := make([]*sink, n)
	for i := range n {
		sinks[i] = &sink{in: k.Inputs(int32(2 + i))}
		procs[2+i] = &both{&source{out: k.Channel(n + 1 + i), send: r.send[i]}, sinks[i]}
		if i == 0 && r.eager != nil {
			r.eager.out, r.eager.sink = k.Channel(n+1), sinks[0]
			procs[2] = r.eager
		}
		k.Due(int32(2+i), 0)
	}
	k.Run(context.Background(), sim.Config{Processes: procs, Window: window, Threads: 1, Stop: units.Never})
	r.got, r.back = end.got, nil
	for _, s := range sinks {
		r.back = append(r.back, s.got)
	}
	if r.s.Stored() != 0 {
		t.Fatalf("%d B are left", r.s.Stored())
	}
}

// last is a topology in which what is for host 0 goes out on one link.
type last struct{ port int }

func (last) Kind() string           { return "last" }
func (l last) Hosts() int           { return 1 + l.port }
func (last) Switches() int          { return 1 }
func (last) Links() []networks.Link { return nil }
func (last) Describe() string       { return "" }
func (l last) Next(_, dst int32) (first, n int32) {
	if dst > 0 { // back to a sender
		return dst - 1, 1
	}
	return int32(l.port), 1
}

// both sends once and receives.
type both struct {
	*source
	sink *sink
}

func (b *both) Step(w *sim.Worker) units.Time {
	if b.source != nil {
		b.source.Step(w)
		b.source = nil
	}
	return b.sink.Step(w)
}

// packets is a train of packets of one size, back to back at 20 ps a byte.
func packets(n int, size uint32, kind uint8) []sim.Record {
	var out []sim.Record
	for i := range n {
		out = append(out, sim.Record{T: rigDelay + int64(i+1)*int64(size)*20, Size: size, Dst: sim.Pack(0, kind), Src: sim.Pack(0, Capable), PSN: uint32(i)})
	}
	return out
}

func golden() *Buffering {
	return &Buffering{Frame: 84, Quanta: 65535, Classes: []Class{{Weight: 1, Lossless: true, Xoff: Threshold{Bytes: 700_000}, Xon: 300_000}}}
}

// The trace of TestMemoryPacketByPacket on the wire: 241 packets of 80 ns each into an
// output that takes 40 us for one, so that the first leaves after all have come. Packet i
// arrives at 500 + 80 i ns. The 176th pauses, the 241st is dropped; the pause is repeated
// every (65535 * 64 * 20 ps + 500 ns) / 2; the 165th packet has left at 580 ns + 165 * 40
// us. A pause frame of 84 B is 1.68 ns on the link and 500 ns under way.
func TestPauseTrace(t *testing.T) {
	for _, window := range []units.Time{100_000, 501_680} {
		r := &rig{send: [][]sim.Record{packets(241, 4000, 0), nil}}
		r.run(t, golden(), 256_000, 10_000, window, 200_908_800)
		if d := r.s.Tally; d.Drops != 1 || d.First.Packet.PSN != 240 || d.First.At != 500_000+241*80_000 || d.First.Reason != HeadroomFull {
			t.Errorf("drops %+v", d)
		}
		const fly = 84*20 + rigDelay
		var want []units.Time
		xon := units.Time(580_000 + 165*40_000_000)
		for at := units.Time(500_000 + 176*80_000); at < xon; at += (65535*64*20 + rigDelay) / 2 {
			want = append(want, at+fly)
		}
		want = append(want, xon+fly)
		var got []units.Time
		for i, f := range r.back[0] {
			got = append(got, f.T)
			if q := f.PSN; f.Kind() != Pause || f.QP != 100 || f.Msg != 0 || q != 65535 && i < len(want)-1 || q != 0 && i == len(want)-1 {
				t.Errorf("frame %d: %+v", i, f)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("pause frames at %v, want %v", got, want)
		}
		if len(r.back[1]) != 0 || len(r.got) != 240 || r.s.Tally.Pauses != 1 {
			t.Errorf("%d frames to the other port, %d packets received, %d pauses", len(r.back[1]), len(r.got), r.s.Tally.Pauses)
		}
	}
}

// order sends six packets of each of three classes, all there before the second can
// start, and returns the classes in the order in which they leave after the first.
func order(t *testing.T, b *Buffering) []uint8 {
	r := &rig{send: [][]sim.Record{packets(6, 100, 0), packets(6, 100, 1), packets(6, 100, 2)}}
	b.Kinds = [MaxKinds]uint8{0, 1, 2}
	r.run(t, b, 0, 1_000_000, rigDelay, 1<<40, 1<<40, 1<<40)
	var out []uint8
	for _, f := range r.got {
		out = append(out, f.Kind())
	}
	return out
}

// At 502,000 all first packets are there: strict priority and turns begin with the highest
// class. Turns go on with class 0 and upwards, with as many packets each as the weight.
func TestSchedules(t *testing.T) {
	for _, c := range []struct {
		turns   bool
		weights [3]int32
		want    []uint8
	}{
		{false, [3]int32{1, 1, 1}, []uint8{2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0}},
		{true, [3]int32{1, 1, 1}, []uint8{2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1}},
		{true, [3]int32{1, 3, 2}, []uint8{2, 2, 0, 1, 1, 1, 2, 2, 0, 1, 1, 1, 2, 2, 0, 0, 0, 0}},
	} {
		b := &Buffering{Turns: c.turns}
		for _, w := range c.weights {
			b.Classes = append(b.Classes, Class{Weight: w, Limit: Threshold{Bytes: Unlimited}})
		}
		if got := order(t, b); !slices.Equal(got, c.want) {
			t.Errorf("turns %v, weights %v: %v, want %v", c.turns, c.weights, got, c.want)
		}
	}
}

// A step at 250 B, packets of 100 B: by what they find on arrival the fourth and later
// ones are marked (they find 300 B and more, the one on the wire with it); by what they
// leave behind the first one, which left at once, nothing, and of those that left when all
// ten had come the second (which leaves 800 B) to the seventh (300 B).
func TestStepMarks(t *testing.T) {
	for _, c := range []struct {
		leaving bool
		want    []uint32
	}{{false, []uint32{3, 4, 5, 6, 7, 8, 9}}, {true, []uint32{1, 2, 3, 4, 5, 6}}} {
		b := &Buffering{Classes: []Class{{Weight: 1, Limit: Threshold{Bytes: Unlimited}, Mark: &Mark{Least: 250, Most: 250, Leaving: c.leaving}}}}
		r := &rig{send: [][]sim.Record{packets(10, 100, 0)}}
		r.run(t, b, 0, 1_000_000, rigDelay, 1<<40)
		var got []uint32
		for _, f := range r.got {
			if f.Src>>24&Marked != 0 {
				got = append(got, f.PSN)
			}
		}
		if !slices.Equal(got, c.want) || r.s.Marks() != int64(len(c.want)) {
			t.Errorf("leaving %v: %v are marked, want %v", c.leaving, got, c.want)
		}
	}
}

// A queue of at most 300 B takes three packets of 100 B, one of them on the wire. Of the
// ten the others lose their payload and go, 20 B each, ahead in a class of their own.
func TestCut(t *testing.T) {
	b := &Buffering{TrimTo: 20, Classes: []Class{{Weight: 1, Limit: Threshold{Bytes: 300}}, {Weight: 1, Limit: Threshold{Bytes: Unlimited}}}}
	b.Kinds[Cut] = 1
	r := &rig{send: [][]sim.Record{packets(10, 100, 0)}}
	r.run(t, b, 0, 1_000_000, rigDelay, 1<<40, 1<<40)
	var psn, size []uint32
	for _, f := range r.got {
		psn, size = append(psn, f.PSN), append(size, f.Size)
	}
	if !slices.Equal(psn, []uint32{0, 3, 4, 5, 6, 7, 8, 9, 1, 2}) || !slices.Equal(size, []uint32{100, 20, 20, 20, 20, 20, 20, 20, 100, 100}) || r.s.Tally.Cuts != 7 {
		t.Errorf("packets %v of %v B, %d cut", psn, size, r.s.Tally.Cuts)
	}
}

// A class that the far end has paused does not send until the pause ends, others do: a
// pause of one quantum for class 0 arrives at 500,001; it lasts 64 * 1000.
func TestObeysPause(t *testing.T) {
	b := &Buffering{Classes: []Class{{Weight: 1, Limit: Threshold{Bytes: Unlimited}}, {Weight: 1, Limit: Threshold{Bytes: Unlimited}}}, Kinds: [MaxKinds]uint8{0, 1}}
	pause := sim.Record{T: 500_001, Size: 84, Dst: sim.Pack(0, Pause), QP: 2, PSN: 1, Msg: 0}
	r := &rig{send: [][]sim.Record{{pause, {T: 500_100, Size: 10, Dst: sim.Pack(0, 0)}}, {{T: 500_200, Size: 10, Dst: sim.Pack(0, 1)}}}}
	r.run(t, b, 0, 1000, rigDelay, 1<<40, 1<<40)
	if len(r.got) != 2 || r.got[0].Kind() != 1 || r.got[0].T != 500_200+10_000+rigDelay || r.got[1].T != 500_001+64_000+10_000+rigDelay {
		t.Errorf("received %+v", r.got)
	}
}

// eager sends packets of one size back to back until it is paused.
type eager struct {
	out        *sim.Channel
	sink       *sink
	size, left int64
	next       units.Time
	paused     units.Time
}

func (e *eager) Step(w *sim.Worker) units.Time {
	seen := len(e.sink.got)
	later := e.sink.Step(w)
	for _, r := range e.sink.got[seen:] {
		if r.Kind() == Pause && e.paused == 0 {
			e.paused = r.T
		}
	}
	for e.left > 0 && e.next < w.End && (e.paused == 0 || e.next < e.paused) {
		e.next += e.size * 20
		*e.out.Slot() = sim.Record{T: e.next + rigDelay, Size: uint32(e.size), Dst: sim.Pack(0, 0)}
		e.out.Mark(w, e.next+rigDelay)
		e.left--
	}
	if e.left == 0 || e.paused > 0 {
		return later
	}
	return min(later, e.next)
}

// At 400 Gbit/s and 500 ns a link needs 2 d / b + 2 Lmax + Lpause = 50,000 + 2 * 4,178 + 84
// = 58,440 B of headroom. With a frame less a packet is dropped in the worst phase: the
// 11th packet of 83,560 ps makes the switch pause at 500,000 + 11 * 83,560, where a frame
// of 4,178 B has started on the way back a picosecond before; the pause arrives after
// 83,559 + 1,680 + 500,000 more, and until then 13 more packets, 54,314 B, have started.
func TestHeadroomIsNeeded(t *testing.T) {
	const trigger = 500_000 + 11*83_560
	for _, c := range []struct{ headroom, drops int64 }{{58_440, 0}, {54_314, 0}, {58_440 - 4178, 1}} {
		b := golden()
		b.Classes[0].Xoff, b.Classes[0].Xon = Threshold{Bytes: 10 * 4178}, 4178
		r := &rig{send: [][]sim.Record{nil, {{T: trigger - 1, Size: 4178, Dst: sim.Pack(1, 0)}}}, eager: &eager{size: 4178, left: 1000}}
		r.run(t, b, c.headroom, 10_000, 501_680, 1<<40)
		if at := r.eager.paused; at != trigger-1+83_560+1_680+500_000 || r.s.Tally.Drops != c.drops || int64(len(r.got)) != 11+13-c.drops {
			t.Errorf("headroom %d: paused at %d, %d dropped, %d received", c.headroom, at, r.s.Tally.Drops, len(r.got))
		}
	}
}
