package fabric

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"hybrid/internal/units"
)

func testMemory(b *Buffering, links int, headroom int64, pools ...int64) *memory {
	n := newMemory(b, links)
	m := &n
	for i := range m.inlets {
		m.inlets[i].Headroom = headroom
	}
	copy(m.free[:], pools)
	return m
}

// The trace of a switch with 256 KB of headroom a port, XOFF at 700,000 B and XON at
// 300,000 B, into which one port sends packets of 4,000 B that do not leave: 176 * 4,000 =
// 704,000 is the first sum beyond XOFF and is stored; 64 * 4,000 = 256,000 fill the
// headroom. Then they leave: 64 empty the headroom, and after 165 there are 75 * 4,000 =
// 300,000 B left.
func TestMemoryPacketByPacket(t *testing.T) {
	m := testMemory(&Buffering{Classes: []Class{{Lossless: true, Xoff: Threshold{Bytes: 700_000}, Xon: 300_000}}}, 128, 256_000, 200_908_800)
	h := m.of(3, 0)
	for i := int64(1); i <= 242; i++ {
		why, pause := m.admit(3, 0, 4000, 0)
		h.paused = h.paused || pause
		want, pool, spare := stored, min(i, 176)*4000, min(max(i-176, 0), 64)*4000
		if i > 240 {
			want = HeadroomFull
		}
		if why != want || pause != (i == 176) || h.pool != pool || h.spare != spare || m.free[0] != 200_908_800-pool {
			t.Fatalf("packet %d: %s, pause %v, %d B in the pool and %d B of headroom, %d B free", i, why, pause, h.pool, h.spare, m.free[0])
		}
	}
	for i := int64(1); i <= 240; i++ {
		resume := m.release(3, 0, 4000)
		pool, spare := min(240-i, 176)*4000, max(64-i, 0)*4000
		if resume != (i == 165) || h.pool != pool || h.spare != spare {
			t.Fatalf("departure %d: resume %v, %d B in the pool and %d B of headroom", i, resume, h.pool, h.spare)
		}
		h.paused = h.paused && !resume
	}
	if m.free[0] != 200_908_800 {
		t.Errorf("%d B are free in the end", m.free[0])
	}
}

// Of n ports that fill a pool of B bytes byte by byte, none leaving, each is paused at
// alpha * B / (1 + alpha * n), where the threshold has come down to what it holds.
func TestDynamicThreshold(t *testing.T) {
	for _, c := range []struct {
		n, num, den int64
	}{{1, 1, 8}, {2, 1, 8}, {3, 1, 2}, {7, 1, 1}, {4, 4, 1}} {
		b := (c.den + c.num*c.n) * 1000
		m := testMemory(&Buffering{Classes: []Class{{Lossless: true, Xoff: Threshold{Bytes: Unlimited, Alpha: units.NewRat(c.num, c.den)}}}}, int(c.n), 0, b)
		want := c.num * 1000
		for i := range int64(10_000_000) {
			slot := uint32(i % c.n)
			if _, pause := m.admit(slot, 0, 1, 0); pause {
				// The byte that does not fit any more is stored.
				if got := m.of(uint32(slot), 0).pool; got != want+1 {
					t.Errorf("%d ports, alpha %d/%d: paused at %d B, want %d", c.n, c.num, c.den, got, want+1)
				}
				break
			}
		}
	}
}

// One busy queue of a class without pauses levels off at alpha / (1 + alpha) of the pool.
func TestQueueLimit(t *testing.T) {
	for _, c := range []struct {
		limit Threshold
		want  int64
		why   Reason
	}{
		{Threshold{Bytes: Unlimited, Alpha: units.Int(1)}, 5000, QueueFull},
		{Threshold{Bytes: Unlimited, Alpha: units.NewRat(1, 4)}, 2000, QueueFull},
		{Threshold{Bytes: 1500, Alpha: units.Int(1)}, 1500, QueueFull},
		{Threshold{Bytes: Unlimited}, 10_000, PoolFull},
	} {
		m := testMemory(&Buffering{Classes: []Class{{Limit: c.limit}}}, 1, 0, 10_000)
		queue := int64(0)
		why, _ := m.admit(0, 0, 1, queue)
		for ; why == stored; why, _ = m.admit(0, 0, 1, queue) {
			queue++
		}
		if queue != c.want || why != c.why {
			t.Errorf("%+v: %d B are queued, then %s; want %d", c.limit, queue, why, c.want)
		}
	}
}

// Nothing gets lost in the books: what is stored less what has left is what is held, for
// any order, and a paused port is released at the latest when it holds nothing.
func TestMemoryKeepsBooks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		class := Class{Lossless: rapid.Bool().Draw(t, "lossless"), Xon: rapid.Int64Range(0, 300).Draw(t, "xon"), Gap: rapid.Int64Range(0, 300).Draw(t, "gap"),
			Xoff: Threshold{Bytes: rapid.Int64Range(0, 600).Draw(t, "xoff"), Alpha: units.NewRat(rapid.Int64Range(0, 4).Draw(t, "alpha"), 2)}, Limit: Threshold{Bytes: 300}}
		const pool = 1000
		m := testMemory(&Buffering{Classes: []Class{class}}, 3, rapid.Int64Range(0, 200).Draw(t, "headroom"), pool)
		held := make([][]int64, 3)
		for range rapid.IntRange(0, 200).Draw(t, "steps") {
			slot := rapid.Uint32Range(0, 2).Draw(t, "link")
			h := m.of(uint32(slot), 0)
			if q := held[slot]; len(q) > 0 && rapid.Bool().Draw(t, "leaves") {
				if m.release(slot, 0, q[0]) {
					h.paused = false
				}
				held[slot] = q[1:]
			} else {
				n := rapid.Int64Range(0, 150).Draw(t, "size")
				why, pause := m.admit(slot, 0, n, 0)
				h.paused = h.paused || pause
				if why == stored {
					held[slot] = append(held[slot], n)
				}
			}
			free := int64(pool)
			for i := range held {
				h, sum := m.of(uint32(i), 0), int64(0)
				for _, n := range held[i] {
					sum += n
				}
				if h.pool+h.spare != sum || h.pool < 0 || h.spare < 0 || h.spare != m.inlets[i].spare || h.spare > m.inlets[i].Headroom || h.paused && len(held[i]) == 0 && sum > 0 {
					t.Fatalf("link %d holds %d B: %+v", i, sum, *h)
				}
				free -= h.pool
			}
			if free != m.free[0] || free < 0 {
				t.Fatalf("%d B are free, want %d", m.free[0], free)
			}
		}
	})
}

// The probability rises linearly from Least to Most: 20,000 draws at each depth, within
// five standard deviations.
func TestMarkingProbability(t *testing.T) {
	p := &Mark{Least: 1000, Most: 5000, Peak: 1 << 31}
	for _, c := range []struct{ queue, percent int64 }{{0, 0}, {1000, 0}, {2000, 1250}, {3000, 2500}, {5000, 5000}, {5001, 10000}} {
		const n = 20_000
		var m marker
		for range n {
			m.mark(p, c.queue, 42)
		}
		want := n * c.percent / 10_000
		if d := m.Marked - want; d*d > 25*n/4 || c.percent%10_000 == 0 && d != 0 {
			t.Errorf("queue of %d B: %d of %d marked, want %d", c.queue, m.Marked, n, want)
		}
	}
}

// The average moves by its weight towards each queue: of 800 B, with a quarter, from 0:
// 200, 350, 462.5; then of 0: 346.875.
func TestAverageQueue(t *testing.T) {
	p := &Mark{Weight: units.NewRat(1, 4)}
	var m marker
	var got []int64
	for _, q := range []int64{800, 800, 800, 0} {
		m.see(p, q)
		got = append(got, m.average)
	}
	if want := []int64{200 << averageBits, 350 << averageBits, 925 << averageBits / 2, 5550 << averageBits / 16}; !slices.Equal(got, want) {
		t.Errorf("averages %v, want %v", got, want)
	}
}
