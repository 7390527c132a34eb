package scaleup

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"hybrid/internal/units"
)

// example is a group of ranks at 800 Gbit/s, 10 ps a byte, with hops and cables of 100 ns:
// packets of 4096 B cross in 100 + 2*100 = 300 ns, between subgroups in 3*100 + 4*100 =
// 700 ns. The last rank is a subgroup of its own.
func example(ranks int) Config {
	c := Config{Clock: units.PicosecondClock(), Header: 24, Payload: 4096,
		Groups: []Group{{PerByte: units.Int(10), Near: 300_000, Far: 700_000}}, Group: make([]int32, ranks), Subgroup: make([]uint32, ranks)}
	c.Subgroup[ranks-1] = 1
	return c
}

func TestTransferTimes(t *testing.T) {
	none := -1
	for _, c := range []struct {
		name           string
		header         int64
		posts          []post
		sent, received []units.Time
	}{
		{"one packet: 4120 B * 10 ps, 300 ns across, 41.2 ns in", 24,
			[]post{{0, 0, 1, 4096, none, false}}, []units.Time{41_200}, []units.Time{382_400}},
		{"the other subgroup: 700 ns across", 24,
			[]post{{0, 0, 3, 4096, none, false}}, []units.Time{41_200}, []units.Time{782_400}},
		{"no bytes: a header of 24 B, 240 ps out and in", 24,
			[]post{{0, 0, 1, 0, none, false}}, []units.Time{240}, []units.Time{300_480}},
		{"no bytes, no header", 0,
			[]post{{0, 0, 1, 0, none, false}}, []units.Time{0}, []units.Time{300_000}},
		{"no header", 0,
			[]post{{0, 0, 1, 4096, none, false}}, []units.Time{40_960}, []units.Time{381_920}},
		// 10,000 B are packets of 4096, 4096 and 1808 B: 41,200 + 41,200 + 18,320 = 100,720
		// to send. The last arrives at 400,720, when the receiver is at the second until
		// 300,000 + 3 * 41,200 = 423,600; 18,320 more.
		{"a short last packet", 24,
			[]post{{0, 0, 1, 10_000, none, false}}, []units.Time{100_720}, []units.Time{441_920}},
		{"two receivers at once: 82.4 ns a packet", 24,
			[]post{{0, 0, 1, 4096, none, false}, {0, 0, 2, 4096, none, false}}, []units.Time{82_400, 82_400}, []units.Time{423_600, 423_600}},
		// The second packet of the first transfer starts at 82,400, when the other queue
		// is empty: 41,200.
		{"the other receiver's queue ends", 24,
			[]post{{0, 0, 1, 8192, none, false}, {0, 0, 2, 4096, none, false}}, []units.Time{123_600, 82_400}, []units.Time{464_800, 423_600}},
		// The first packet has begun alone and keeps its 41,200; from 20,000 on there are
		// two queues: the other packet takes 82,400 until 102,400, the second of the first
		// transfer from 41,200 to 123,600.
		{"another receiver in the middle of a packet", 24,
			[]post{{0, 0, 1, 8192, none, false}, {20_000, 0, 2, 4096, none, false}}, []units.Time{123_600, 102_400}, []units.Time{464_800, 443_600}},
		// Both packets arrive at 341,200 and share the receiver.
		{"two senders at once", 24,
			[]post{{0, 0, 2, 4096, none, false}, {0, 1, 2, 4096, none, false}}, []units.Time{41_200, 41_200}, []units.Time{423_600, 423_600}},
		// The first arrives at 341,200 and is received alone until 382,400; the other
		// arrives at 361,200, and takes twice its time because the first is in service.
		{"another sender in the middle of a packet", 24,
			[]post{{0, 0, 2, 4096, none, false}, {20_000, 1, 2, 4096, none, false}}, []units.Time{41_200, 61_200}, []units.Time{382_400, 443_600}},
		{"transfers of a pair follow each other", 24,
			[]post{{0, 0, 1, 4096, none, false}, {0, 0, 1, 0, none, false}, {0, 0, 1, 4096, none, false}},
			[]units.Time{41_200, 41_440, 82_640}, []units.Time{382_400, 382_640, 423_840}},
		{"a follow-up at the end of a send finds the queue empty and starts at once", 24,
			[]post{{0, 0, 1, 4096, none, false}, {0, 0, 1, 4096, 0, false}}, []units.Time{41_200, 82_400}, []units.Time{382_400, 423_600}},
		{"an answer", 24,
			[]post{{0, 0, 1, 4096, none, false}, {0, 1, 0, 4096, 0, true}}, []units.Time{41_200, 423_600}, []units.Time{382_400, 764_800}},
	} {
		cfg := example(4)
		cfg.Header = c.header
		got, f := drive(cfg, c.posts)
		want := outcome{Sent: c.sent, Received: c.received, Order: got.Order, Counts: got.Counts}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
		if err := f.Idle(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// Seven packets posted at one instant all take 7 * 41.2 = 288.4 ns, to send at one rank and
// to receive at another, whoever comes first.
func TestSharesAreCountedAtTheEndOfTheInstant(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		peers := rapid.Permutation([]int32{1, 2, 3, 4, 5, 6, 7}).Draw(t, "peers")
		var out, in []post
		for _, p := range peers {
			out = append(out, post{0, 0, p, 4096, -1, false})
			in = append(in, post{0, p, 0, 4096, -1, false})
		}
		cfg := example(9)
		got, _ := drive(cfg, out)
		for i := range peers {
			if got.Sent[i] != 288_400 || got.Received[i] != 288_400+300_000+41_200 {
				t.Fatalf("transfer %d was sent at %d and received at %d", i, got.Sent[i], got.Received[i])
			}
		}
		got, _ = drive(cfg, in)
		for i := range peers {
			if got.Sent[i] != 41_200 || got.Received[i] != 341_200+288_400 {
				t.Fatalf("transfer %d was sent at %d and received at %d", i, got.Sent[i], got.Received[i])
			}
			if got.Order[i] != int32(indexOf(peers, int32(i+1))) {
				t.Fatalf("received in the order %v from %v", got.Order, peers)
			}
		}
	})
}

func indexOf(list []int32, v int32) int {
	for i, x := range list {
		if x == v {
			return i
		}
	}
	return -1
}

// A packet of 4096 and one of 904 B, with headers of 24 B.
func TestCountsPacketsWithHeaders(t *testing.T) {
	d := &driver{done: newOutcome(1)}
	f := New(example(2), d)
	f.Post(0, 0, 1, 5000, 0)
	want := []Count{{}, {1, 4120, 0, 0}, {2, 4120 + 928, 0, 0}}
	for i, w := range want {
		if got := f.Count(0); got != w {
			t.Errorf("after %d services: %+v, want %+v", i, got, w)
		}
		if i < 2 {
			f.Serve()
			f.Step()
		}
	}
	for f.Next() < units.Never || f.Due() < units.Never {
		if f.Due() < units.Never {
			f.Serve()
		} else {
			f.Step()
		}
	}
	if got, want := f.Count(1), (Count{0, 0, 2, 5048}); got != want {
		t.Errorf("the receiver counts %+v, want %+v", got, want)
	}
}

func randomConfig(t *rapid.T) Config {
	ranks := rapid.IntRange(2, 7).Draw(t, "ranks")
	c := Config{Header: rapid.SampledFrom([]int64{24, 0, 1}).Draw(t, "header"), Payload: rapid.SampledFrom([]int64{4096, 1000, 1}).Draw(t, "payload"),
		Group: make([]int32, ranks), Subgroup: make([]uint32, ranks)}
	var rates []units.Rat
	for range rapid.IntRange(1, 2).Draw(t, "groups") {
		rates = append(rates, rapid.SampledFrom([]units.Rat{units.Int(10), units.Int(20), units.NewRat(10, 9), units.Int(0), units.NewRat(1, 1<<21)}).Draw(t, "rate"))
	}
	c.Clock = units.NewClock(rates...)
	for _, r := range rates {
		near := rapid.SampledFrom([]units.Time{0, 1, 300_000, 41_200}).Draw(t, "crossing")
		c.Groups = append(c.Groups, Group{r, near, 2 * near})
	}
	for i := range ranks {
		c.Group[i] = rapid.Int32Range(0, int32(len(rates))-1).Draw(t, "group")
		c.Subgroup[i] = rapid.Uint32Range(0, 1).Draw(t, "subgroup")
	}
	return c
}

func randomPosts(t *rapid.T, c Config) []post {
	var posts []post
	for range rapid.IntRange(1, 25).Draw(t, "transfers") {
		p := post{after: -1, src: rapid.Int32Range(0, int32(len(c.Group))-1).Draw(t, "src"), dst: rapid.Int32Range(0, int32(len(c.Group))-1).Draw(t, "dst")}
		if p.src == p.dst || c.Group[p.src] != c.Group[p.dst] {
			continue
		}
		p.bytes = rapid.SampledFrom([]int64{0, 1, c.Payload, c.Payload + 1, 3 * c.Payload, 5*c.Payload - 1}).Draw(t, "bytes")
		if len(posts) > 0 && rapid.Bool().Draw(t, "follows") {
			p.after, p.received = rapid.IntRange(0, len(posts)-1).Draw(t, "after"), rapid.Bool().Draw(t, "received")
		} else {
			p.at = rapid.SampledFrom([]units.Time{0, 0, 0, 41_200, 20_000, 341_200, 82_400}).Draw(t, "at")
		}
		posts = append(posts, p)
	}
	return posts
}

// The fabric and the plain rule agree on every transfer's times, on the order of
// receptions and on the counters.
func TestAgreesWithThePlainRule(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := randomConfig(t)
		posts := randomPosts(t, cfg)
		got, f := drive(cfg, posts)
		if diff := cmp.Diff(refer(cfg, posts), got); diff != "" {
			t.Fatalf("%v (-plain +fabric):\n%s", posts, diff)
		}
		if err := f.Idle(); err != nil {
			t.Fatal(err)
		}
		if f.Posted != f.Delivered {
			t.Fatalf("%d B posted, %d delivered", f.Posted, f.Delivered)
		}
	})
}

// A time beyond the range of time is one tick beyond it, where the kernel ends the run.
func TestTimesSaturate(t *testing.T) {
	cfg := example(2)
	cfg.Groups[0].PerByte = units.Int(1 << 62)
	d := &driver{done: newOutcome(1)}
	f := New(cfg, d)
	f.Post(0, 0, 1, 4096, 0)
	f.Serve()
	if got, want := f.Next(), units.Time(1<<62+1); got != want {
		t.Errorf("the packet ends at %d, want %d", got, want)
	}
}

// silent is an owner that keeps the fabric supplied.
type silent struct {
	f       *Fabric
	posting [][2]int32
	rounds  int
}

func (s *silent) Sent(int32, units.Time) {}
func (s *silent) Received(ref int32, at units.Time) {
	if s.rounds > 0 {
		s.rounds--
		s.f.Post(at, s.posting[ref][0], s.posting[ref][1], 1<<20, ref)
	}
}

// BenchmarkFabric is every rank of a group to every other, or to the next one, 1 MiB at a
// time.
func BenchmarkFabric(b *testing.B) {
	for _, all := range []bool{false, true} {
		b.Run(fmt.Sprintf("ranks=8/all=%v", all), func(b *testing.B) {
			s := &silent{rounds: 200 * b.N}
			for src := range int32(8) {
				for dst := range int32(8) {
					if src != dst && (all || dst == (src+1)%8) {
						s.posting = append(s.posting, [2]int32{src, dst})
					}
				}
			}
			s.f = New(example(8), s)
			for i, p := range s.posting {
				s.f.Post(0, p[0], p[1], 1<<20, int32(i))
			}
			b.ReportAllocs()
			b.ResetTimer()
			for s.f.Next() < units.Never || s.f.Due() < units.Never {
				if s.f.Due() < s.f.Next() {
					s.f.Serve()
				} else {
					s.f.Step()
				}
			}
			b.ReportMetric(float64(s.f.Packets)/b.Elapsed().Seconds()/1e6, "Mpackets/s")
			b.ReportMetric(0, "ns/op")
		})
	}
}
