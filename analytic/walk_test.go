package analytic

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"hybrid/graph"
	"hybrid/graph/replay"
	"hybrid/internal/units"
	"hybrid/networks"
)

const us, ms = 1_000_000, 1_000_000_000 // picoseconds

// mpi is L 2 us, o 0.5 us, G = O = g = 0 but for the given G in ps a byte.
func mpi(G int64) *networks.Network {
	return oneLevel(&networks.Level{EagerLimit: 65535,
		LogGP:   []networks.LogGPPiece{{L: 2 * us, Overhead: us / 2, G: units.Int(G)}},
		Hockney: []networks.HockneyPiece{{Latency: 3 * us, PerByte: units.Int(G)}}})
}

// free makes communication cost nothing.
func free() *networks.Network {
	return oneLevel(&networks.Level{EagerLimit: 1 << 40, LogGP: []networks.LogGPPiece{{}}, Hockney: []networks.HockneyPiece{{}}})
}

func ring(t fataler, n int, steps, bytes int64) *graph.Graph {
	b := newBuilder(n)
	for r := range n {
		p := b.rank(r, false)
		p.BeginLoop(p.site, p.Int(steps))
		p.calc(100 * us)
		p.send(bytes, (r+1)%n, 0)
		p.recv(bytes, (r-1+n)%n, 0)
		p.EndLoop(p.site)
		p.Done()
	}
	return b.finish(t)
}

// A step of the ring takes 100 us + o + L + o + 7 G = 103.0007 us, a ping-pong of 8 B
// 3.0007 us one way.
func TestRing(t *testing.T) {
	for steps, want := range map[int64]int64{1: 103_000_700, 3: 309_002_100} {
		r := run(t, "loggp", Job{Graph: ring(t, 4, steps, 8), Network: mpi(100)})
		if got := r.Clock.PS(r.Makespan); got != want {
			t.Errorf("%d steps: %d ps, want %d", steps, got, want)
		}
		if r.Messages != 4*steps || r.MessageBytes != 32*steps || r.Operations != 12*steps {
			t.Errorf("%d steps: %d messages of %d B, %d operations", steps, r.Messages, r.MessageBytes, r.Operations)
		}
		for i, rank := range r.Ranks {
			if want := (replay.RankTimes{Finish: want, Compute: steps * 100 * us, Communication: steps * 3_000_700, Exposed: steps * 3_000_700}); rank != want {
				t.Errorf("rank %d: %+v, want %+v", i, rank, want)
			}
		}
	}
	r := run(t, "loggp", Job{Graph: pingPong(t, 1000, 8), Network: mpi(100)})
	if got := r.Clock.PS(r.Makespan); got != 6_001_400_000 {
		t.Errorf("ping-pong: %d ps", got)
	}
	// Hockney: 3 us + 8 * 0.1 ns.
	r = run(t, "hockney", Job{Graph: ring(t, 4, 3, 8), Network: mpi(100)})
	if got := r.Clock.PS(r.Makespan); got != 3*103_000_800 {
		t.Errorf("hockney: %d ps", got)
	}
}

// Above the eager limit every rank of the ring waits in its send.
func TestRingDeadlock(t *testing.T) {
	for _, m := range Models() {
		r := runAny(t, m.Name, Job{Graph: ring(t, 4, 1, 65536), Network: mpi(100)})
		v := &r.Verdict
		if v.Outcome != replay.Deadlock || !slices.Equal(v.Cycle, []int32{0, 1, 2, 3}) || v.Blocked != 4 || len(v.Unreceived) != 0 {
			t.Errorf("%s: %v, cycle %v, %d blocked, unreceived %v", m.Name, v.Outcome, v.Cycle, v.Blocked, v.Unreceived)
		}
		for _, p := range v.Pending {
			if p.Kind != graph.Send || p.Bytes != 65536 {
				t.Errorf("%s: pending %v", m.Name, p)
			}
		}
		run(t, m.Name, Job{Graph: ring(t, 4, 1, 65535), Network: mpi(100)})
	}
}

// The protocol that an operation asks for beats the eager limit.
func TestProtocolFlags(t *testing.T) {
	for _, tt := range []struct {
		flag  graph.Flags
		bytes int64
		want  replay.Outcome
	}{{graph.Eager, 1 << 20, replay.Finished}, {graph.Rendezvous, 8, replay.Deadlock}} {
		b := newBuilder(2)
		for r := range 2 {
			p := b.rank(r, false)
			p.flags = tt.flag
			p.send(tt.bytes, 1-r, 0)
			p.recv(tt.bytes, 1-r, 0)
			p.Done()
		}
		g := b.finish(t)
		for _, m := range Models() {
			if r := runAny(t, m.Name, Job{Graph: g, Network: mpi(0)}); r.Verdict.Outcome != tt.want {
				t.Errorf("%s: %v, want %v", m.Name, r.Verdict.Outcome, tt.want)
			}
		}
	}
}

// Ten steps of 100 us and four halos without an all-reduce, L 2 us, o 0.4 us, G 0.
// Hockney's halos overlap: 102.8 us a step. In LogGP the processor sends at 0, 0.4,
// 0.8, 1.2 us; the messages arrive at 2.4, 2.8, 3.2, 3.6 us and take 0.4 us each: the
// last is done at 4.0 us.
func TestHalo(t *testing.T) {
	net := oneLevel(&networks.Level{EagerLimit: 1 << 40, LogGP: []networks.LogGPPiece{{L: 2 * us, Overhead: 400 * ns}},
		Hockney: []networks.HockneyPiece{{Latency: 2800 * ns}}})
	g := heat2d(t, 10, 100*us)
	dropCollectives(g)
	for model, want := range map[string]int64{"hockney": 1028 * us, "loggp": 1040 * us} {
		r := run(t, model, Job{Graph: g, Network: net})
		if got := r.Clock.PS(r.Makespan); got != want {
			t.Errorf("%s: %d ps, want %d", model, got, want)
		}
	}
}

func dropCollectives(g *graph.Graph) {
	for _, p := range g.Programs {
		for i := range p.Ops {
			if op := &p.Ops[i]; op.Kind == graph.Collective {
				*op = graph.Op{Kind: graph.Join, Site: op.Site, Label: -1}
			}
		}
	}
}

// A wavefront over 4 x 4 ranks from two corners, ten blocks of 1 ms, no communication
// cost: 2 * (4 + 4 - 2 + 10) ms.
func TestWavefront(t *testing.T) {
	const n, blocks = 4, 10
	b := newBuilder(n * n)
	for r := range n * n {
		p := b.rank(r, false)
		for _, d := range []int{1, -1} {
			for range blocks {
				x, y := r%n, r/n
				in := func(v int) bool { return v >= 0 && v < n }
				if in(x - d) {
					p.recv(8, r-d, 1)
				}
				if in(y - d) {
					p.recv(8, r-d*n, 2)
				}
				p.calc(ms)
				if in(x + d) {
					p.send(8, r+d, 1)
				}
				if in(y + d) {
					p.send(8, r+d*n, 2)
				}
			}
		}
		p.Done()
	}
	g := b.finish(t)
	for _, m := range Models() {
		if r := run(t, m.Name, Job{Graph: g, Network: free()}); r.Clock.PS(r.Makespan) != 32*ms {
			t.Errorf("%s: %d ps", m.Name, r.Clock.PS(r.Makespan))
		}
	}
}

// A data-parallel step: 24 layers of 1.2 ms forward and 2.4 ms backward, an
// all-reduce of each four layers on a stream of its own, 3 ms optimizer. All-reduces
// of 5 ms hide but for the last: 28.8 + 57.6 + 5 + 3 ms. Those of 12 ms do not: the
// first starts at 38.4 ms, 38.4 + 6 * 12 + 3 ms.
func TestOverlap(t *testing.T) {
	b := newBuilder(2)
	label, stream := b.Label("ar"), b.Stream("comm")
	for r := range 2 {
		p := b.rank(r, false)
		for range 24 {
			p.calc(1200 * us)
		}
		for range 6 {
			for range 4 {
				p.calc(2400 * us)
			}
			c := p.Call(graph.Call{Type: graph.AllReduce, Algorithm: "ring"})
			p.Op(graph.Op{Kind: graph.Collective, Flags: graph.Async, Stream: stream, Site: p.site, Arg: c, Size: p.Int(8), Label: label})
		}
		p.Op(graph.Op{Kind: graph.Join, Site: p.site, Label: -1}, graph.Dep{Mode: graph.DepEach, Target: label})
		p.calc(3 * ms)
		p.Done()
	}
	g := b.finish(t)
	// On two ranks a ring all-reduce is two messages.
	for half, want := range map[int64][2]int64{2500 * us: {94_400 * us, 5 * ms}, 6 * ms: {113_400 * us, 24 * ms}} {
		net := oneLevel(&networks.Level{EagerLimit: 1 << 40, LogGP: []networks.LogGPPiece{{L: half}}, Hockney: []networks.HockneyPiece{{Latency: half}}})
		for _, m := range Models() {
			r := run(t, m.Name, Job{Graph: g, Network: net})
			if got := [2]int64{r.Makespan, r.Ranks[1].Exposed}; got != want {
				t.Errorf("%s: makespan and exposed communication %v, want %v", m.Name, got, want)
			}
			if c := r.Collectives; len(c) != 1 || c[0].Count != 6 || c[0].Transfers != 4 || c[0].Max != 2*half {
				t.Errorf("%s: collectives %+v", m.Name, c)
			}
		}
	}
}

// Two computations of 10 us that run at once share the processor unless the traces
// were collected; those of the host do not.
func TestSharing(t *testing.T) {
	two := func(kind graph.Kind, flags graph.Flags) *graph.Graph {
		b := newBuilder(1)
		p := b.rank(0, true)
		for range 2 {
			w := p.Work(graph.Work{Time: p.Int(10 * us)})
			p.Op(graph.Op{Kind: kind, Site: p.site, Flags: flags, Arg: w, Label: -1})
		}
		p.Done()
		return b.finish(t)
	}
	for _, tt := range []struct {
		family string
		kind   graph.Kind
		flags  graph.Flags
		want   int64
	}{
		{"synthesized", graph.Compute, 0, 20 * us}, {"compiled", graph.Compute, 0, 20 * us}, {"collected", graph.Compute, 0, 10 * us},
		{"synthesized", graph.Compute, graph.HostCPU, 10 * us}, {"synthesized", graph.Compute, graph.Skipped, 10 * us},
		{"synthesized", graph.Load, 0, 10 * us}, {"synthesized", graph.Store, 0, 10 * us},
	} {
		for _, m := range Models() {
			r := run(t, m.Name, Job{Graph: two(tt.kind, tt.flags), Network: free(), Family: tt.family})
			if r.Makespan != tt.want || r.Sites[0].Max != tt.want || r.Ranks[0].Compute != tt.want {
				t.Errorf("%s, %s %s, flags %x: %d ps, each %d", m.Name, tt.family, tt.kind, tt.flags, r.Makespan, r.Sites[0].Max)
			}
		}
	}
	r := run(t, "loggp", Job{Graph: two(graph.Compute, 0), Network: free(), LogGOPSim: true})
	if r.Makespan != 20*us || r.Sites[0].Total.Lo != 20*us { // one after the other, 10 us each
		t.Errorf("one processor: %d ps, %d in all", r.Makespan, r.Sites[0].Total.Lo)
	}
}

// An operation waits for the latest of its predecessors on whatever resource: the
// send occupies the message processor until 4 us, the computation ends at 1 us, and
// what waits for both starts at 4 us, not at the end of the one released last.
func TestFinishTimesAcrossResources(t *testing.T) {
	b := newBuilder(2)
	p := b.rank(0, true)
	s := p.send(5, 1, 0)
	c := p.calc(us)
	p.calc(10*us, s, c)
	p.Done()
	p = b.rank(1, true)
	p.recv(5, 0, 0)
	p.Done()
	// o = 2 us and O = 0.5 us/B: o + 4 O = 4 us.
	net := oneLevel(&networks.Level{EagerLimit: 100, LogGP: []networks.LogGPPiece{{Overhead: 2 * us, O: units.Int(us / 2)}}})
	r := run(t, "loggp", Job{Graph: b.finish(t), Network: net})
	if got := r.Ranks[0].Finish; got != 14*us {
		t.Errorf("%d ps, want 14 us", got)
	}
}

// With a transport that leaves the processor alone a rank sends while it receives:
// an exchange at once with 7 partners of C bytes each takes L + 7 (C-1) G; a
// processor that takes part needs twice as long.
func TestAdapterAlone(t *testing.T) {
	const n, c = 8, 1_000_000
	net := oneLevel(&networks.Level{EagerLimit: 1 << 40, LogGP: []networks.LogGPPiece{{L: us, Overhead: us, G: units.Int(20)}}})
	g := collectiveGraph(t, graph.AllToAll, "interleaved", n, 0, n*c)
	r := run(t, "loggp", Job{Graph: g, Network: net, Overheads: &Overheads{}})
	if want := int64(us + 7*(c-1)*20); r.Makespan != want {
		t.Errorf("%d ps, want %d", r.Makespan, want)
	}
	// Replaced overheads, single message: 3 us + 1 us + 2 us + (c-1) * 20 ps.
	g = collectiveGraph(t, graph.Broadcast, "interleaved", 2, 0, c)
	r = run(t, "loggp", Job{Graph: g, Network: net, Overheads: &Overheads{Send: 3 * us, Receive: 2 * us}})
	if want := int64(6*us + (c-1)*20); r.Makespan != want {
		t.Errorf("replaced overheads: %d ps, want %d", r.Makespan, want)
	}
	// A receive that is posted while its message comes in, from 1 us to 20.99998 us,
	// ends with the message.
	b := newBuilder(2)
	p := b.rank(0, true)
	p.send(c, 1, 0)
	p.Done()
	p = b.rank(1, true)
	p.recv(c, 0, 0, p.calc(5*us))
	p.Done()
	r = run(t, "loggp", Job{Graph: b.finish(t), Network: net, Overheads: &Overheads{}})
	if want := int64(us + (c-1)*20); r.Makespan != want {
		t.Errorf("receive during the transfer: %d ps, want %d", r.Makespan, want)
	}
}

// Hockney's messages: an eager one leaves at once, a rendezvous one when its receive
// is posted; alpha 3 us, beta 1 ns a byte. A computation of 1 us follows on both sides.
func TestHockneyProtocols(t *testing.T) {
	for _, tt := range []struct {
		name        string
		flag        graph.Flags
		early, late int64 // computation before the send, before the receive
		want        [2]int64
	}{
		{"eager, receive waits", graph.Eager, 10 * us, 0, [2]int64{12 * us, 15 * us}},
		{"eager, message waits", graph.Eager, 0, 10 * us, [2]int64{2 * us, 11 * us}},
		{"rendezvous, receive waits", graph.Rendezvous, 10 * us, 0, [2]int64{12 * us, 15 * us}},
		{"rendezvous, send waits", graph.Rendezvous, 0, 10 * us, [2]int64{12 * us, 15 * us}},
	} {
		b := newBuilder(2)
		for r, before := range []int64{tt.early, tt.late} {
			p := b.rank(r, false)
			p.calc(before)
			p.flags = tt.flag
			if r == 0 {
				p.send(1000, 1, 0)
			} else {
				p.recv(1000, 0, 0)
			}
			p.calc(us)
			p.Done()
		}
		r := run(t, "hockney", Job{Graph: b.finish(t), Network: mpi(1000)})
		if got := [2]int64{r.Ranks[0].Finish, r.Ranks[1].Finish}; got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// A small message sent after a large one, under the same tag, does not take the large
// one's receive, though its parameters would let it arrive first.
func TestNonOvertaking(t *testing.T) {
	net := oneLevel(&networks.Level{EagerLimit: 1 << 40,
		LogGP:   []networks.LogGPPiece{{L: us, Overhead: 10}, {From: 1000, L: 50 * us, Overhead: 10}},
		Hockney: []networks.HockneyPiece{{Latency: us}, {From: 1000, Latency: 50 * us}}})
	for _, m := range Models() {
		b := newBuilder(2)
		p := b.rank(0, true)
		p.send(1000, 1, 0)
		p.send(8, 1, 0)
		p.Done()
		p = b.rank(1, true)
		large := p.recv(1000, 0, 0)
		p.calc(100*us, large)
		p.recv(8, 0, 0)
		p.Done()
		r := run(t, m.Name, Job{Graph: b.finish(t), Network: net})
		if got := r.Ranks[1].Finish; got < 150*us || got > 150*us+100 {
			t.Errorf("%s: %d ps, want 150 us and some overheads", m.Name, got)
		}
	}
}

// flights agrees with a plain record of the latest arrival by destination.
func TestFlights(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var f flights
		latest := map[int32]units.Time{}
		now, soonest := units.Time(0), rapid.Int64Range(0, 5).Draw(t, "soonest")
		for range rapid.IntRange(1, 100).Draw(t, "messages") {
			now += rapid.Int64Range(0, 4).Draw(t, "step")
			dst, at := rapid.Int32Range(0, 2).Draw(t, "destination"), now+soonest+rapid.Int64Range(0, 30).Draw(t, "more")
			latest[dst] = max(latest[dst], at)
			if got := f.arrival(dst, at, now+soonest); got != latest[dst] {
				t.Fatalf("arrival %d, want %d", got, latest[dst])
			}
		}
		if n := len(f.all) - f.oldest; n > 100 || len(f.all) > 2*n+16 {
			t.Fatalf("%d kept of which %d count", len(f.all), n)
		}
	})
}

// Messages of a rank to itself are copied at the node's bandwidth.
func TestSelf(t *testing.T) {
	b := newBuilder(1)
	p := b.rank(0, true)
	p.send(1001, 0, 0)
	p.recv(1001, 0, 0)
	p.Done()
	net := mpi(100)
	net.Node.CopyPerByte = units.Int(50)
	g := b.finish(t)
	for model, want := range map[string]int64{
		"hockney": 1001 * 50,
		"loggp":   us/2 + us/2 + 1000*50,
	} {
		if r := run(t, model, Job{Graph: g, Network: net}); r.Makespan != want {
			t.Errorf("%s: %d ps, want %d", model, r.Makespan, want)
		}
	}
}

// Which level a pair has follows from the placement; a missing level is replaced by
// the next wider one, and the result says so.
func TestLevels(t *testing.T) {
	net := mpi(0)
	near := &networks.Level{EagerLimit: 100, LogGP: []networks.LogGPPiece{{L: 7}}, Hockney: []networks.HockneyPiece{{Latency: 7}}}
	net.Levels[networks.IntraChip] = near
	place, err := networks.NewPlacement(8, networks.PlacementOptions{RanksPerNode: 4, SocketsPerNode: 2, CoresPerDomain: 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		peer  int
		want  int64
		notes int
	}{{1, 7, 0}, {2, 3 * us, 1}, {4, 3 * us, 0}} {
		b := newBuilder(8)
		p := b.rank(0, true)
		p.send(0, tt.peer, 0)
		p.Done()
		p = b.rank(tt.peer, true)
		p.recv(0, 0, 0)
		p.Done()
		g := b.finish(t)
		for _, m := range Models() {
			r := run(t, m.Name, Job{Graph: g, Network: net, Placement: place})
			if r.Makespan != tt.want || len(r.Notes) != tt.notes {
				t.Errorf("%s, to rank %d: %d ps, want %d; notes %v", m.Name, tt.peer, r.Makespan, tt.want, r.Notes)
			}
		}
	}
}

// What a walk tells of its progress grows up to what its result counts, and changes
// nothing.
func TestWatch(t *testing.T) {
	for _, model := range []string{"loggp", "hockney"} {
		job := Job{Graph: ring(t, 4, 5000, 8), Network: mpi(100)}
		want := run(t, model, job)
		var last replay.Progress
		times := int64(0)
		job.Watch = func(state func() replay.Progress) {
			p := state()
			if p.Now < last.Now || p.Operations <= last.Operations || p.Events <= last.Events || p.Model != model {
				t.Errorf("%s: %+v after %+v", model, p, last)
			}
			last, times = p, times+1
		}
		got := run(t, model, job)
		if got.Makespan != want.Makespan || got.Operations != want.Operations || got.Events != want.Events {
			t.Errorf("%s: the watch changes the result", model)
		}
		if times != want.Events/4096 || last.Operations > want.Operations || last.Now > want.Clock.PS(want.Makespan) {
			t.Errorf("%s: asked %d times in %d events, at last %+v", model, times, want.Events, last)
		}
	}
}
