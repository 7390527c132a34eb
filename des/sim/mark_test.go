package sim

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"testing"

	"hybrid/internal/units"
)

// clockwork is due at the multiples of a period up to an end, and notes them.
type clockwork struct {
	period, last units.Time
	next         units.Time
	done         []units.Time
}

func (c *clockwork) Step(w *Worker) units.Time {
	for c.next < w.End {
		c.done = append(c.done, c.next)
		if c.next += c.period; c.next > c.last {
			c.next = units.Never
		}
	}
	return c.next
}

// Marks cut windows: at each, everything before it has happened and nothing else. They
// are called in idle spans, but neither beyond the stop time nor after the last event.
func TestMarksCutWindows(t *testing.T) {
	for _, c := range []struct {
		window, stop units.Time
		marks, want  []units.Time
		ending       Ending
	}{
		{1000, units.Never, []units.Time{0, 1, 100, 101, 299, 300, 301}, []units.Time{0, 1, 100, 101, 299, 300}, Drained},
		{7, units.Never, []units.Time{120, 130, 140, 260}, []units.Time{120, 130, 140, 260}, Drained},
		{1000, 250, []units.Time{100, 220, 250, 251}, []units.Time{100, 220, 250}, AtStop},
		{1000, 200, []units.Time{150, 200, 201}, []units.Time{150, 200}, AtStop},
		{1000, units.Never, nil, nil, Drained},
	} {
		p := &clockwork{period: 100, last: 300}
		k := NewKernel(1, nil)
		k.Due(0, 0)
		var got []units.Time
		next := func() units.Time {
			if len(got) < len(c.marks) {
				return c.marks[len(got)]
			}
			return units.Never
		}
		ending := k.Run(context.Background(), Config{Processes: []Process{p}, Window: c.window, Threads: 1, Stop: c.stop, Mark: next(),
			Passed: func(at units.Time) (units.Time, error) {
				// Times 0, 100, 200 and 300: ceil(at / 100) of them are before at.
				if want := int(at+99) / 100; len(p.done) != want {
					t.Errorf("at %d: %v have happened", at, p.done)
				}
				got = append(got, at)
				return next(), nil
			}})
		if ending != c.ending || !slices.Equal(got, c.want) {
			t.Errorf("window %d, stop %d: ending %d with the marks %v, want %d with %v", c.window, c.stop, ending, got, c.ending, c.want)
		}
	}
}

// An error at a mark or between windows ends the run.
func TestCallerFails(t *testing.T) {
	fault := errors.New("no room")
	for _, cfg := range []Config{
		{Passed: func(units.Time) (units.Time, error) { return units.Never, fault }, Mark: 150},
		{Between: func([]*Worker) error { return fault }},
	} {
		p := &clockwork{period: 100, last: 300}
		k := NewKernel(1, nil)
		k.Due(0, 0)
		cfg.Processes, cfg.Window, cfg.Threads, cfg.Stop = []Process{p}, 10, 1, units.Never
		if ending := k.Run(context.Background(), cfg); ending != Broken || k.Err != fault || p.next > 200 {
			t.Errorf("ending %d, error %v, next at %d", ending, k.Err, p.next)
		}
	}
}

// The last worker of a window may say so when the first has long seen it by itself and
// waits for the next window. That word does not end the next window.
func TestLateWordDoesNotEndWindow(t *testing.T) {
	p := &pool{finished: make(chan struct{}, 1)}
	p.left.Store(1)
	joined := make(chan int64)
	go func() {
		p.join()
		joined <- p.left.Load()
	}()
	for !p.waiting.CompareAndSwap(true, false) {
		runtime.Gosched()
	}
	p.finished <- struct{}{}
	for !p.waiting.Load() {
		select {
		case n := <-joined:
			t.Fatalf("the window has ended with %d workers left", n)
		default:
			runtime.Gosched()
		}
	}
	p.left.Add(-1)
	if p.waiting.CompareAndSwap(true, false) {
		p.finished <- struct{}{}
	}
	if n := <-joined; n != 0 {
		t.Errorf("the window has ended with %d workers left", n)
	}
}
