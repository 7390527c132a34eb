package analytic

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hybrid/graph"
	"hybrid/internal/units"
	"hybrid/networks"
)

// fabric places all ranks in one scale-up group of 800 Gbit/s (10 ps a byte), 100 ns a
// hop and 100 ns a cable, in the given subgroups, on a network of 100 us and 1 ns a byte.
func fabric(subgroup ...uint32) (*networks.Network, *networks.Placement) {
	net := parameters{100_000, 0, 0, 1, 0, 1}.network()
	net.ScaleUp = networks.ScaleUp{Header: 24, Payload: 4096}
	place, err := networks.NewPlacement(len(subgroup), networks.PlacementOptions{})
	if err != nil {
		panic(err)
	}
	place.ScaleUp = &networks.ScaleUpPlacement{Group: make([]int32, len(subgroup)), Subgroup: subgroup,
		Groups: []networks.ScaleUpGroup{{ID: 7, PerByte: units.Int(10), Hop: 100 * ns, Cable: 100 * ns}}}
	return net, place
}

// oneTransfer is a send from rank 0 to rank 1 with a receive posted at once.
func oneTransfer(t fataler, bytes int64, flags graph.Flags) *graph.Graph {
	b := newBuilder(2)
	p := b.rank(0, true)
	p.flags = flags
	p.send(bytes, 1, 0)
	p.Done()
	p = b.rank(1, true)
	p.recv(bytes, 0, 0)
	p.Done()
	return b.finish(t)
}

// packetTime sends and receives the packets of one transfer one by one, in ticks of 1/den
// picosecond where a byte takes num ticks.
func packetTime(bytes, header, payload, crossing, byteTime int64) (sent, received int64) {
	for first := true; first || bytes > 0; first = false {
		n := min(bytes, payload)
		sent += (n + header) * byteTime
		received = max(received, sent+crossing) + (n+header)*byteTime
		bytes -= n
	}
	return sent, received
}

// A packet of 4096 B takes (4096 + 24) B x 10 ps = 41.2 ns at either end; between them
// lie 1 hop and 2 cables of 100 ns in a subgroup, 3 and 4 between subgroups. A message of
// no bytes is one header of 0.24 ns. 8192 B are two packets: 3 x 41.2 ns and the crossing.
func TestScaleUpTransfer(t *testing.T) {
	for _, tt := range []struct {
		bytes int64
		other uint32
		want  int64 // ps
	}{
		{4096, 0, 382_400}, {4096, 1, 782_400}, {0, 0, 300_480}, {0, 1, 700_480},
		{1, 0, 300_500}, {8192, 0, 423_600}, {40960, 1, 700_000 + 11*41_200},
	} {
		for _, flags := range []graph.Flags{0, graph.Rendezvous} {
			for _, m := range Models() {
				net, place := fabric(0, tt.other)
				r := run(t, m.Name, Job{Graph: oneTransfer(t, tt.bytes, flags), Network: net, Placement: place})
				if got := r.Clock.PS(r.Makespan); got != tt.want {
					t.Errorf("%s: %d B, subgroups 0 and %d, flags %v: %d ps, want %d", m.Name, tt.bytes, tt.other, flags, got, tt.want)
				}
				if len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "scale-up group") {
					t.Errorf("%s: notes %q", m.Name, r.Notes)
				}
			}
		}
	}
}

// One transfer takes what its packets take one by one, exactly up to one packet and for
// whole packets; elsewhere it is early by less than the time of one header.
func TestScaleUpAgainstPackets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		net, place := fabric(0, rapid.Uint32Range(0, 1).Draw(t, "subgroup"))
		h, m := rapid.Int64Range(0, 100).Draw(t, "header"), rapid.Int64Range(1, 5000).Draw(t, "payload")
		net.ScaleUp = networks.ScaleUp{Header: h, Payload: m}
		g := &place.ScaleUp.Groups[0]
		g.PerByte = units.NewRat(rapid.Int64Range(1, 500).Draw(t, "ps"), rapid.Int64Range(1, 9).Draw(t, "bytes"))
		bytes := rapid.OneOf(rapid.Int64Range(0, m), rapid.Int64Range(0, 50*m), rapid.Map(rapid.Int64Range(1, 40), func(k int64) int64 { return k * m })).Draw(t, "size")
		b, den := g.PerByte.Num, g.PerByte.Den
		_, received := packetTime(bytes, h, m, place.ScaleUp.Crossing(0, 1)*den, b)
		for _, model := range Models() {
			r := run(t, model.Name, Job{Graph: oneTransfer(t, bytes, 0), Network: net, Placement: place})
			// Late by d/PerPS - received/den, compared over PerPS*den.
			late := r.Makespan*den - received*r.Clock.PerPS
			exact := bytes <= m || bytes%m == 0
			slack := int64(0)
			if !r.Clock.Exact {
				slack = 4 * den // four roundings by half a picosecond, and their sum's
			}
			if late > slack || exact && late < -slack || late <= -h*b*r.Clock.PerPS-slack && h > 0 {
				t.Fatalf("%s: %d B in packets of %d+%d: %d/%d ps, packets one by one %d/%d", model.Name, bytes, m, h, r.Makespan, r.Clock.PerPS, received, den)
			}
		}
	})
}

// Rank 0 sends 4096 B to rank 1 inside its group and 1000 B to rank 2 outside: the first
// takes the fabric, the second the network, and neither waits for the other. Over the
// network 100 us + 1000 x 1 ns for Hockney; LogGP has 999 ns.
func TestScaleUpBesideNetwork(t *testing.T) {
	for _, m := range Models() {
		net, place := fabric(0, 0, 0)
		place.ScaleUp.Group[2] = -1
		b := newBuilder(3)
		p := b.rank(0, true)
		p.flags = graph.Eager
		p.send(1000, 2, 0)
		p.send(4096, 1, 0)
		p.Done()
		for i, bytes := range []int64{4096, 1000} {
			p = b.rank(i+1, true)
			p.recv(bytes, 0, 0)
			p.Done()
		}
		r := run(t, m.Name, Job{Graph: b.finish(t), Network: net, Placement: place, Overheads: &Overheads{}})
		far := int64(101_000_000)
		if m.Name == "loggp" {
			far -= 1000
		}
		if near, got := r.Clock.PS(r.Ranks[1].Finish), r.Clock.PS(r.Ranks[2].Finish); near != 382_400 || got != far {
			t.Errorf("%s: inside %d ps, outside %d ps; want 382400 and %d", m.Name, near, got, far)
		}
	}
}

// Two transfers of 4096 B through one port leave after 41.2 and 82.4 ns in LogGP, which
// serves them in turn; the receiver of both takes them one after the other.
func TestScaleUpPortsAreShared(t *testing.T) {
	net, place := fabric(0, 0, 0)
	b := newBuilder(3)
	p := b.rank(0, true)
	p.send(4096, 1, 0)
	p.send(4096, 2, 0)
	p.Done()
	for i := range 2 {
		p = b.rank(i+1, true)
		p.recv(4096, 0, 0)
		p.Done()
	}
	r := run(t, "loggp", Job{Graph: b.finish(t), Network: net, Placement: place})
	for i, want := range []int64{82_400, 382_400, 423_600} {
		if got := r.Clock.PS(r.Ranks[i].Finish); got != want {
			t.Errorf("rank %d finishes at %d ps, want %d", i, got, want)
		}
	}
	b = newBuilder(3)
	for i := range 2 {
		p = b.rank(i+1, true)
		p.send(4096, 0, 0)
		p.Done()
	}
	p = b.rank(0, true)
	p.recv(4096, 1, 0)
	p.recv(4096, 2, 0)
	p.Done()
	r = run(t, "loggp", Job{Graph: b.finish(t), Network: net, Placement: place})
	if got := r.Clock.PS(r.Ranks[0].Finish); got != 423_600 {
		t.Errorf("two senders: %d ps, want 423600", got)
	}
}

// A ring over a fabric whose parameters are whole picoseconds is the closed form of the
// same parameters: N = 4, S = 16384, 6 steps of one packet of 382.4 ns.
func TestScaleUpRing(t *testing.T) {
	net, place := fabric(0, 0, 0, 0)
	for _, m := range Models() {
		g := collectiveGraph(t, graph.AllReduce, "ring", 4, 0, 16384)
		r := run(t, m.Name, Job{Graph: g, Network: net, Placement: place})
		if got := r.Clock.PS(r.Makespan); got != 6*382_400 {
			t.Errorf("%s: %d ps, want %d", m.Name, got, 6*382_400)
		}
	}
}

// Latencies and rates beyond all measure overflow the run; they do not wrap.
func TestScaleUpOverflow(t *testing.T) {
	for _, m := range Models() {
		net, place := fabric(0, 1)
		place.ScaleUp.Groups[0].Hop, place.ScaleUp.Groups[0].Cable = 1<<62, 1<<62
		r := runAny(t, m.Name, Job{Graph: oneTransfer(t, 1<<40, 0), Network: net, Placement: place})
		if r.Verdict.OK() {
			t.Errorf("%s: finished at %d", m.Name, r.Makespan)
		}
	}
}
