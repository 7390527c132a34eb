package fabric

import (
	"testing"

	"hybrid/des/sim"
	"hybrid/internal/units"
)

// The figures of a switch of 128 ports of 400 Gbit/s with a memory of 256 MB: pools of
// 200,908,800 and 22,323,200 B behind headroom of 256 KB a port. What a port does with it
// packet by packet is in TestMemoryPacketByPacket and TestPauseTrace.
const figurePool = 200_908_800

// A frame occupies what it has without the Ethernet header and check sequence, 18 B, and at
// least 46 B: 176 frames of 4,018 B are the first beyond 700,000 B.
func TestChargeOfFrames(t *testing.T) {
	b := golden()
	b.Less, b.Least = 18, 46
	m := testMemory(b, 1, 256_000, figurePool)
	for frame, want := range map[uint32]int64{4018: 4000, 64: 46, 65: 47, 60: 46, 0: 46, 4154: 4136} {
		if got := m.size(frame); got != want {
			t.Errorf("a frame of %d B occupies %d B, want %d", frame, got, want)
		}
	}
	r := &rig{send: [][]sim.Record{packets(241, 4018, 0)}}
	r.run(t, b, 256_000, 10_000, rigDelay, figurePool)
	if d := r.s.Tally; d.Pauses != 1 || d.Drops != 1 || d.First.Packet.PSN != 240 {
		t.Errorf("%+v", d)
	}
	const trigger, fly = 500_000 + 176*4018*20, 84*20 + rigDelay
	if at := r.back[0][0].T; at != trigger+fly {
		t.Errorf("paused at %d, want %d", at, trigger+fly)
	}
}

// One busy queue whose limit is alpha times the free bytes levels off at alpha / (1 +
// alpha) of the pool B: with 4,000 B a packet it takes one more while (q+1) 4,000 <= alpha
// (B - q 4,000), so at alpha 1 it holds 25,114 packets at most, 100,456,000 B, where the
// pool's half is 100,454,400 B; at 1/4 10,045, 40,180,000 of 40,181,760 B. Of packets that
// come twice as fast as they leave, one leaves before every second arrival from the third
// on, which then finds room again.
func TestQueueLevelsOff(t *testing.T) {
	for _, c := range []struct {
		alpha units.Rat
		most  int64
	}{{units.Int(1), 25_114}, {units.NewRat(1, 4), 10_045}} {
		const n = 60_000
		var held, drops int64
		first := int64(-1)
		for i := range int64(n) {
			if i >= 2 && i%2 == 0 {
				held--
			}
			if held == c.most {
				if drops++; first < 0 {
					first = i
				}
				continue
			}
			held++
		}
		b := &Buffering{Classes: []Class{{Weight: 1, Limit: Threshold{Bytes: Unlimited, Alpha: c.alpha}}}}
		r := &rig{send: [][]sim.Record{packets(n, 4000, 0)}}
		r.run(t, b, 0, 40, rigDelay, figurePool)
		d := &r.s.Tally
		if d.Drops != drops || d.First.Reason != QueueFull || int64(d.First.Packet.PSN) != first || int64(len(r.got)) != n-drops {
			t.Errorf("alpha %v: %d drops, the first %+v; want %d, the first packet %d", c.alpha, d.Drops, d.First, drops, first)
		}
		if deepest := r.s.outlets[1].deepest; deepest != (c.most-1)*4000 {
			t.Errorf("alpha %v: packets that were stored found %d B at most, want %d", c.alpha, deepest, (c.most-1)*4000)
		}
	}
}

// RED between 0.2 and 0.8 of the pool, 40,181,760 and 160,727,040 B, on an average with
// weight 0.1 that admissions update, up to probability 1. In a queue that grows by 4,000 B
// a packet the average lags 4,000 (1 - 0.1) / 0.1 = 36,000 B behind: packet i finds 4,000 i
// B, the average is 4,000 i - 36,000 (1 - 0.9^i). So nothing is marked up to packet 10,054,
// everything from 40,191 on, and between them with a probability that rises by 4,000 /
// 120,545,280 a packet. Marked when their transmission starts, all are but the first, which
// is on its way before the second comes.
func TestMarksOnAveragedQueue(t *testing.T) {
	const low, high, n = 40_181_760, 160_727_040, 45_000
	if low != figurePool/10*2 || high != figurePool/10*8 {
		t.Fatal("the thresholds are not those of the pool")
	}
	for _, leaving := range []bool{false, true} {
		b := &Buffering{Seed: 5, Classes: []Class{{Weight: 1, Limit: Threshold{Bytes: Unlimited}, Mark: &Mark{Least: low, Most: high, Peak: 1 << 32, Weight: units.NewRat(1, 10), Leaving: leaving}}}}
		r := &rig{send: [][]sim.Record{packets(n, 4000, 0)}}
		r.run(t, b, 0, 1_000_000, rigDelay, figurePool)
		between := int64(0)
		for _, f := range r.got {
			marked, sure := f.Src>>24&Marked != 0, f.PSN >= 40_191
			if leaving {
				sure = f.PSN > 0
			}
			switch {
			case !leaving && f.PSN >= 10_055 && !sure:
				if marked {
					between++
				}
			case marked != sure:
				t.Fatalf("leaving %v: packet %d is marked: %v", leaving, f.PSN, marked)
			}
		}
		if len(r.got) != n || leaving {
			continue
		}
		var mean, variance int64 // in 2^-20
		for i := int64(10_055); i < 40_191; i++ {
			p := (4000*i - 36_000 - low) << 20 / (high - low)
			mean, variance = mean+p, variance+p*(1<<20-p)>>20
		}
		if off := between - mean>>20; off*off > 9*variance>>20 {
			t.Errorf("%d packets are marked between the thresholds, the mean is %d", between, mean>>20)
		}
	}
}

// Eight classes, the highest first, each with the packets it has.
func TestStrictPriorityOfEightClasses(t *testing.T) {
	b := &Buffering{}
	var send [][]sim.Record
	for c := range uint8(MaxClasses - 2) { // kinds 6 and 7 are the switch's own
		b.Kinds[c] = c + 2
		send = append(send, packets(3, 100, c))
	}
	pools := make([]int64, MaxClasses)
	for i := range MaxClasses {
		b.Classes, pools[i] = append(b.Classes, Class{Weight: 1, Limit: Threshold{Bytes: Unlimited}}), 1<<40
	}
	r := &rig{send: send}
	r.run(t, b, 0, 1_000_000, rigDelay, pools...)
	for i, f := range r.got {
		if want := uint8(5 - i/3); f.Kind() != want {
			t.Errorf("packet %d is of class %d, want %d", i, f.Kind()+2, want+2)
		}
	}
}
