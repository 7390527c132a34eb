package sim

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"hybrid/internal/units"
)

// Sorting concatenated runs keeps the order of equal times.
func TestSortIsStable(t *testing.T) {
	var scratch []Record
	rapid.Check(t, func(t *rapid.T) {
		var r []Record
		for link := range rapid.IntRange(1, 9).Draw(t, "links") {
			at := units.Time(0)
			for range rapid.IntRange(0, 20).Draw(t, "records") {
				at += rapid.Int64Range(0, 3).Draw(t, "gap")
				r = append(r, Record{T: at, QP: uint32(link), PSN: uint32(len(r))})
			}
		}
		want := slices.Clone(r)
		slices.SortStableFunc(want, func(a, b Record) int { return cmp.Compare(a.T, b.T) })
		Sort(r, &scratch)
		if !slices.Equal(r, want) {
			t.Fatalf("got %v, want %v", r, want)
		}
	})
}

func TestEventsComeInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q Events
		var want []Event
		for range rapid.IntRange(0, 100).Draw(t, "events") {
			e := Event{T: rapid.Int64Range(0, 9).Draw(t, "t"), Key: rapid.Uint64Range(0, 9).Draw(t, "key"), Kind: rapid.Uint32Range(0, 3).Draw(t, "kind")}
			q.Push(e)
			want = append(want, e)
		}
		slices.SortFunc(want, func(a, b Event) int {
			return cmp.Or(cmp.Compare(a.T, b.T), cmp.Compare(a.Key, b.Key), cmp.Compare(a.Kind, b.Kind))
		})
		for i := range want {
			if got := q.Pop(); got != want[i] {
				t.Fatalf("event %d is %v, want %v", i, got, want[i])
			}
		}
		if q.Next() != units.Never {
			t.Fatal("events are left")
		}
	})
}

// Pushing and popping in turn, near and far, in step and out of it, gives what a sorted
// list gives.
func TestEventsInTurn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q Events
		var want []Event
		state := rapid.Uint64().Draw(t, "state")
		spread := rapid.SampledFrom([]uint64{1, 4, 100}).Draw(t, "spread")
		size := rapid.IntRange(1, 60).Draw(t, "size")
		draw := func(n uint64) uint64 {
			state = state*6364136223846793005 + 1442695040888963407
			return state >> 33 % n
		}
		now := units.Time(0)
		for i := range uint64(400) {
			if len(want) > 0 && (len(want) >= size || draw(3) == 0) {
				got := q.Pop()
				if got != want[0] || q.Len() != len(want)-1 {
					t.Fatalf("%+v with %d left, want %+v and %d", got, q.Len(), want[0], len(want)-1)
				}
				now, want = got.T, want[1:]
				continue
			}
			e := Event{T: now + units.Time(draw(3)*draw(spread)), Key: draw(8), Kind: uint32(i)}
			q.Push(e)
			at, _ := slices.BinarySearchFunc(want, e, func(a, b Event) int {
				return cmp.Or(cmp.Compare(a.T, b.T), cmp.Compare(a.Key, b.Key), cmp.Compare(a.Kind, b.Kind))
			})
			if want = slices.Insert(want, at, e); q.Next() != want[0].T {
				t.Fatalf("next at %d, want %d", q.Next(), want[0].T)
			}
		}
	})
}

// The agenda, against a plain list of due times.
func TestAgenda(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 200).Draw(t, "n")
		a := newAgenda(n)
		due := make([]units.Time, n)
		for i := range due {
			due[i] = units.Never
		}
		now := units.Time(0)
		for range 30 {
			horizon := now + 20
			for range rapid.IntRange(0, 5).Draw(t, "changes") {
				p := rapid.IntRange(0, n-1).Draw(t, "process")
				at := now + rapid.Int64Range(0, 100).Draw(t, "in")
				if rapid.Bool().Draw(t, "sooner") {
					a.sooner(int32(p), at, horizon)
					due[p] = min(due[p], at)
				} else {
					a.set(int32(p), at, horizon)
					due[p] = at
				}
			}
			first := slices.Min(due)
			if got := a.earliest(); got != first {
				t.Fatalf("earliest is %d, want %d", got, first)
			}
			if first == units.Never {
				continue
			}
			now = first
			end := now + rapid.Int64Range(1, 30).Draw(t, "window")
			got := a.take(end, nil)
			var want []int32
			for p, at := range due {
				if at < end {
					want = append(want, int32(p))
					due[p] = units.Never
				}
			}
			if !slices.Equal(got, want) {
				t.Fatalf("due before %d: %v, want %v", end, got, want)
			}
			for _, p := range got {
				a.set(p, units.Never, horizon)
			}
			now = end
		}
	})
}

// relay passes every record on to the next process of a ring, delay later, until its
// count is used up, and notes when it saw what.
type relay struct {
	in    *Inputs
	out   *Channel
	delay units.Time
	start []Record
	seen  []Record
}

func (p *relay) Step(w *Worker) units.Time {
	got, later := p.in.Gather(w)
	if w.Start == 0 && p.start != nil {
		got, p.start = append(got, p.start...), nil
	}
	for i := range got {
		r := got[i]
		p.seen = append(p.seen, r)
		if r.PSN > 0 {
			r.PSN--
			r.T += p.delay
			*p.out.Slot() = r
			p.out.Mark(w, r.T)
			w.Hops++
		}
	}
	return later
}

func ring(n int, delay units.Time, packets int) (*Kernel, []Process) {
	to := make([]int32, n)
	for i := range to {
		to[i] = int32((i + 1) % n)
	}
	k := NewKernel(n, to)
	procs := make([]Process, n)
	random := rand.New(rand.NewPCG(1, 1))
	for i := range procs {
		p := &relay{in: k.Inputs(int32(i)), out: k.Channel(i), delay: delay}
		for at := range packets {
			p.start = append(p.start, Record{T: units.Time(at + 1), Size: 1, PSN: uint32(random.IntN(50)), QP: uint32(i)})
		}
		procs[i] = p
		k.Due(int32(i), 0)
	}
	return k, procs
}

// A ring of processes sees the same records at the same times with any number of
// workers and any shorter window.
func TestKernelRing(t *testing.T) {
	seen := func(threads int, window units.Time, shuffle uint64) ([][]Record, int64) {
		k, procs := ring(40, 100, 90)
		if got := k.Run(context.Background(), Config{Processes: procs, Window: window, Threads: threads, Stop: units.Never, Shuffle: shuffle, Small: 1}); got != Drained {
			t.Fatalf("the run ended with %d", got)
		}
		var out [][]Record
		var hops int64
		for _, p := range procs {
			out = append(out, p.(*relay).seen)
		}
		for _, w := range k.Workers() {
			hops += w.Hops
		}
		if k.InFlight() != 0 {
			t.Fatal("records are left")
		}
		return out, hops
	}
	want, hops := seen(1, 100, 0)
	for _, c := range []struct {
		threads int
		window  units.Time
	}{{2, 100}, {3, 100}, {1, 50}, {4, 33}} {
		got, h := seen(c.threads, c.window, 7)
		if h != hops || !slices.EqualFunc(got, want, func(a, b []Record) bool { return slices.Equal(a, b) }) {
			t.Errorf("%d workers and windows of %d differ", c.threads, c.window)
		}
	}
}

// The kernel stops where it is told to: nothing at or before the stop time is left out,
// nothing after it happens.
func TestKernelStops(t *testing.T) {
	k, procs := ring(4, 100, 3)
	if got := k.Run(context.Background(), Config{Processes: procs, Window: 100, Threads: 1, Stop: 250}); got != AtStop {
		t.Fatalf("the run ended with %d", got)
	}
	for _, p := range procs {
		for _, r := range p.(*relay).seen {
			if r.T > 250 {
				t.Errorf("a record for %d was seen", r.T)
			}
		}
	}
}

func TestKernelRange(t *testing.T) {
	k, procs := ring(4, MaxTime-1, 3)
	if got := k.Run(context.Background(), Config{Processes: procs, Window: MaxTime - 1, Threads: 1, Stop: units.Never}); got != OutOfRange {
		t.Errorf("the run ended with %d", got)
	}
}

func BenchmarkKernelRing(b *testing.B) {
	var hops int64
	for range b.N {
		k, procs := ring(256, 100, 64)
		k.Run(context.Background(), Config{Processes: procs, Window: 100, Threads: 1, Stop: units.Never})
		hops += k.Workers()[0].Hops
	}
	b.ReportMetric(float64(hops)/b.Elapsed().Seconds()/1e6, "Mhops/s")
}
