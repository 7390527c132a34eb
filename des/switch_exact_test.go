package des

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"hybrid/graph"
	"hybrid/graph/replay"
	"hybrid/internal/diag"
	"hybrid/networks"
)

func switched(t testing.TB, topology, link, keys string) *networks.Network {
	return network(t, topology, link, "  switch: {"+keys+"}\n"+roce)
}

// Of 256 MB, 128 ports take 128 * 256 KB = 32.768 MB of headroom; of the other 223.232 MB
// nine tenths are 200,908,800 B.
func TestMemoryIsShared(t *testing.T) {
	n := switched(t, "star", link400, "buffer: 256MB, headroom: 256KB, classes: [{share: 9}, {share: 1}], pfc: {xoff: 700KB, xon: 300KB}")
	j := job(t, one(t, 128, 1), n, 1)
	r, _ := runSwitches(t, j)
	if got, want := r.pools(128), []int64{200_908_800, 22_323_200}; r.headroom(128) != 32_768_000 || !slices.Equal(got, want) {
		t.Errorf("headroom %d, pools %d, want %d", r.headroom(128), got, want)
	}
}

// gather lets ranks 1 to n-1 each send a message to rank 0.
func gather(t testing.TB, ranks int, bytes int64) *graph.Graph {
	b := newBuilder(t, ranks)
	r := b.Rank(0, true)
	for i := 1; i < ranks; i++ {
		b.recv(r, int64(i), 0, bytes)
	}
	r.Done()
	for i := 1; i < ranks; i++ {
		r := b.Rank(i, true)
		b.send(r, 0, 0, bytes, 0)
		r.Done()
	}
	return b.graph()
}

// Pauses are invisible where the bottleneck never idles. Eight messages of 1 MiB, 1,069,584
// B with headers, at 80 ps a byte and 1 us: the first packet of 4,194 B takes 335.52 ns
// and 1 us to the switch, then the bottleneck is busy for 8 * 1,069,584 * 80 ps, and the
// last bit is under way for 1 us: 686,869.28 ns. The ports are paused at thresholds from
// one packet to a few hundred.
func TestPausesAreInvisible(t *testing.T) {
	const want = 335_520 + 2*1_000_000 + 8*1_069_584*80
	for _, keys := range []string{"", "pfc: {xoff: 60KB, xon: 30KB}", "pfc: {xoff: 30KB, xon: 29KB}", "pfc: {alpha: 0.125}, buffer: 2MB", "pfc: {xoff: 1MB, alpha: 0.01}, buffer: 64MB, classes: [{}, {}]"} {
		j := job(t, gather(t, 9, 1<<20), switched(t, "star", "{rate: 100Gbps, delay: 1us}", keys), 1)
		j.EndWithAck = false
		r, res := runSwitches(t, j)
		if got := res.Ranks[0].Finish; !res.Verdict.OK() || got != want {
			t.Errorf("%s: %v, the last is received at %d, want %d", keys, res.Verdict, got, want)
		}
		if keys != "" && r.buffered[0].Tally.Pauses < 8 {
			t.Errorf("%s: %d pauses", keys, r.buffered[0].Tally.Pauses)
		}
	}
}

// The headroom that a link needs is 2 d / b + 2 Lmax + Lpause, a packet more where the pool
// may be full, and a byte for rounding: 50,000 + 3 * 4,194 + 84 + 1 B at 400 Gbit/s and
// 500 ns. With it nothing is ever dropped,
// here with both directions busy and various starts; that a frame less does not suffice
// shows TestHeadroomIsNeeded of package fabric.
func TestHeadroomSuffices(t *testing.T) {
	const need = 50_000 + 3*4194 + 84 + 1
	for i := range int64(20) {
		b := newBuilder(t, 4)
		for id := range 4 {
			r := b.Rank(id, true)
			c := b.compute(r, int64(id)*(10_000+i*1_234), 0)
			for at := range 4 {
				if at != id && min(at, id) == 0 {
					b.send(r, int64(at), 0, 200_000+i*997, 0, c)
					b.recv(r, int64(at), 0, 200_000+i*997)
				}
			}
			r.Done()
		}
		r, res := runSwitches(t, job(t, b.graph(), switched(t, "star", link400, "buffer: 10MB, pfc: {xoff: 20KB, xon: 10KB}"), 1))
		if r.headroomOf(0) != need || r.buffered[0].Tally.Pauses == 0 || !res.Verdict.OK() {
			t.Errorf("case %d: headroom %d B, want %d; %d pauses; %v", i, r.headroomOf(0), need, r.buffered[0].Tally.Pauses, res.Verdict.Errors)
		}
	}
}

// What is lost ends the run: the message says where, and why.
func TestLossEndsRun(t *testing.T) {
	for keys, want := range map[string]string{
		"queue: {limit: 20KB}": "the output queue has reached its limit",
		"buffer: 20KB":         "the class's part of the buffer is full",
		"buffer: 100KB, headroom: 5KB, pfc: {xoff: 10KB}":           "the port's headroom is full",
		"queue: {limit: 20KB}, classes: [{}, {}], trim: {class: 1}": "packets to their header",
	} {
		j := job(t, gather(t, 5, 100_000), switched(t, "star", link400, keys), 1)
		res := simulate(t, j)
		if res.Verdict.Outcome != replay.Failed || len(res.Verdict.Errors) != 1 {
			t.Fatalf("%s: verdict %+v", keys, res.Verdict)
		}
		text := res.Verdict.Errors[0].Error()
		if !strings.Contains(text, want) || !strings.Contains(text, "the transport cannot send it again") || want != "packets to their header" && !strings.Contains(text, "rack-0 to server-0") {
			t.Errorf("%s: %s", keys, text)
		}
	}
}

// circleTopology is a ring of switches with a host each; everything goes round one way.
type circleTopology struct{ n int32 }

func (circleTopology) Kind() string     { return "circle" }
func (c circleTopology) Hosts() int     { return int(c.n) }
func (c circleTopology) Switches() int  { return int(c.n) }
func (circleTopology) Describe() string { return "" }

// Links are host i to its switch, then of switch i: to its host, onwards, back.
func (c circleTopology) Links() (out []networks.Link) {
	l := networks.LinkSpec{}
	l.PerByte.Num, l.PerByte.Den, l.Delay = 20, 1, 500_000
	for i := range c.n {
		out = append(out, networks.Link{From: i, To: c.n + i, PerByte: l.PerByte, Delay: l.Delay})
	}
	for i := range c.n {
		for _, to := range []int32{i, c.n + (i+1)%c.n, c.n + (i+c.n-1)%c.n} {
			out = append(out, networks.Link{From: c.n + i, To: to, PerByte: l.PerByte, Delay: l.Delay})
		}
	}
	return out
}

func (c circleTopology) Next(at, dst int32) (first, n int32) {
	switch {
	case at == dst:
		return 0, 0
	case at < c.n:
		return at, 1
	case at-c.n == dst:
		return c.n + 3*dst, 1
	}
	return c.n + 3*(at-c.n) + 1, 1
}

// circleJob is four switches in a ring, each host sends two switches further: every link of
// the ring carries two messages, pauses the one before it and waits for the one behind.
func circleJob(t *testing.T) Job {
	b := newBuilder(t, 4)
	for i := range 4 {
		r := b.Rank(i, true)
		b.send(r, int64(i+2)%4, 0, 2_000_000, 0)
		b.recv(r, int64(i+2)%4, 0, 2_000_000)
		r.Done()
	}
	j := job(t, b.graph(), switched(t, "star", link400, "pfc: {xoff: 40KB, xon: 20KB}"), 1)
	j.Topology = circleTopology{4}
	return j
}

// A run whose pauses stop each other ends and says which switches.
func TestPausesInCircle(t *testing.T) {
	j := circleJob(t)
	for _, threads := range []int{1, 2} {
		j.Threads = threads
		res := simulate(t, j)
		if res.Verdict.Outcome != replay.Failed || len(res.Verdict.Errors) != 1 {
			t.Fatalf("verdict %+v", res.Verdict)
		}
		if got := res.Verdict.Errors[0].Error(); !strings.Contains(got, "in a circle: rack-0 -> rack-1 -> rack-2 -> rack-3 -> rack-0") {
			t.Error(got)
		}
	}
	// With room for everything there is no circle.
	j.Network = switched(t, "star", link400, "pfc: {xoff: 100MB}")
	finished(t, j)
}

// What does not fit together is reported where it stands.
func TestSwitchSections(t *testing.T) {
	for _, c := range []struct{ keys, code, text string }{
		{"bufer: 1MB", "E804", "buffer"},
		{"pfc: {}", "E956", "xoff or alpha"},
		{"pfc: {xoff: 1KB, xon: 2KB}", "E956", "xon is more"},
		{"pfc: {xoff: 1KB, classes: [1]}", "E956", "class 1"},
		{"ecn: {kmin: 2KB, kmax: 1KB}", "E956", "kmax is less"},
		{"ecn: {kmax: 1KB}", "E805", "kmin"},
		{"trim: {class: 3}", "E956", "class 3"},
		{"schedule: fair", "E809", "strict"},
		{"classes: [{}, {}, {}, {}, {}, {}, {}, {}, {}]", "E956", "at most 8"},
		{"buffer: 500KB, headroom: 256KB, pfc: {xoff: 1KB}", "E956", "500KiB"},
		{"pfc: {xoff: 1MB, quanta: 64}", "E956", "repetition"},
		{"forwarding: cut-through, cut_after: 0B", "E808", "cut_after"},
		{"classes: [{rate: 1bps}]", "E808", "rate"},
	} {
		var list diag.List
		r := &run{job: new(Job)}
		*r.job = job(t, one(t, 2, 1), switched(t, "star", link400, c.keys), 1)
		r.placement = r.job.Placement
		r.check(&list)
		if all := list.All(); len(all) == 0 || all[0].Code != c.code || !strings.Contains(fmt.Sprint(list.Err()), c.text) || all[0].Pos.Line == 0 {
			t.Errorf("%s: %v", c.keys, list.Err())
		}
	}
}

// The note of a result counts what the switches did.
func TestSwitchNotes(t *testing.T) {
	j := job(t, gather(t, 3, 100_000), switched(t, "star", link400, "pfc: {xoff: 20KB, xon: 10KB}, ecn: {kmin: 30KB}"), 1)
	r, res := runSwitches(t, j)
	want := fmt.Sprintf("pauses %d, packets marked %d, cut 0, dropped 0; the longest queue held", r.buffered[0].Tally.Pauses, r.buffered[0].Marks())
	if len(res.Notes) != 1 || !strings.Contains(res.Notes[0], want) || r.buffered[0].Marks() == 0 {
		t.Errorf("notes %v, want %q", res.Notes, want)
	}
	j.Ideal = true
	if r, res = runSwitches(t, j); len(r.buffered) != 0 || !strings.Contains(res.Notes[0], "ideal") {
		t.Errorf("ideal: %v", res.Notes)
	}
}
