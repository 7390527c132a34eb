package fabric

import (
	"context"
	"testing"

	"pgregory.net/rapid"

	"hybrid/des/sim"
	"hybrid/internal/units"
	"hybrid/networks"
)

// cross is a topology of hosts on one switch.
type cross struct{ hosts int }

func (c cross) Kind() string           { return "cross" }
func (c cross) Hosts() int             { return c.hosts }
func (c cross) Switches() int          { return 1 }
func (c cross) Links() []networks.Link { return nil }
func (c cross) Describe() string       { return "" }
func (c cross) Next(_, dst int32) (first, n int32) {
	return dst, 1
}

// source puts records on a link in the first window; sink collects them.
type source struct {
	out  *sim.Channel
	send []sim.Record
}

func (s *source) Step(w *sim.Worker) units.Time {
	for i := range s.send {
		*s.out.Slot() = s.send[i]
		s.out.Mark(w, s.send[i].T)
	}
	return units.Never
}

type sink struct {
	in  *sim.Inputs
	got []sim.Record
}

func (s *sink) Step(w *sim.Worker) units.Time {
	got, later := s.in.Gather(w)
	s.got = append(s.got, got...)
	return later
}

// A switch with one output: packets leave in the order of (time, incoming link), each
// when it is there and the one before is gone (Lindley's recursion), whatever the
// window is.
func TestSwitchServesInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const delay = 100
		links := rapid.IntRange(1, 70).Draw(t, "links")
		window := rapid.Int64Range(1, delay).Draw(t, "window")
		perByte := units.NewRat(rapid.Int64Range(1, 3).Draw(t, "num"), rapid.Int64Range(1, 2).Draw(t, "den"))
		clock := units.NewClock(perByte)
		if rapid.Bool().Draw(t, "inexact") {
			clock.Exact = false
		}
		to := make([]int32, links+1)
		for i := range links {
			to[i] = int32(links)
		}
		to[links] = int32(links + 1)
		k := sim.NewKernel(links+2, to)
		procs := make([]sim.Process, links+2)
		var all []sim.Record // in the order of links, then sorted by time: the order of service
		for i := range links {
			s := &source{out: k.Channel(i)}
			at := units.Time(200)
			for range rapid.IntRange(0, 6).Draw(t, "packets") {
				at += rapid.Int64Range(1, 40).Draw(t, "gap")
				s.send = append(s.send, sim.Record{T: at, Size: uint32(rapid.IntRange(1, 30).Draw(t, "size")), Src: uint32(i), PSN: uint32(len(all))})
				all = append(all, s.send[len(s.send)-1])
			}
			procs[i] = s
			k.Due(int32(i), 0)
		}
		out := networks.Link{PerByte: perByte, Delay: delay}
		m := &Medium{Clock: clock, Hosts: 2}
		procs[links] = NewSwitch(cross{1}, 1, 0, []Wire{NewWire(m, out, k.Channel(links))}, k.Inputs(int32(links)), 1)
		end := &sink{in: k.Inputs(int32(links + 1))}
		procs[links+1] = end
		k.Run(context.Background(), sim.Config{Processes: procs, Window: window, Threads: 1, Stop: units.Never})
		stable(all)
		free := units.Time(0)
		if len(end.got) != len(all) {
			t.Fatalf("%d packets arrive of %d", len(end.got), len(all))
		}
		for i, r := range all {
			free = max(free, r.T) + clock.Span(perByte, int64(r.Size))
			if g := end.got[i]; g.PSN != r.PSN || g.T != free+clock.Ticks(delay) {
				t.Fatalf("packet %d is %d at %d, want %d at %d", i, g.PSN, g.T, r.PSN, free+clock.Ticks(delay))
			}
		}
	})
}

// stable is a bubble sort by time.
func stable(r []sim.Record) {
	for i := range r {
		for j := i; j > 0 && r[j-1].T > r[j].T; j-- {
			r[j], r[j-1] = r[j-1], r[j]
		}
	}
}

// Flows spread evenly over candidates, and a flow always takes the same one.
func TestChoose(t *testing.T) {
	const flows, ways = 40000, 4
	var count [ways]int
	for qp := range uint32(flows) {
		r := sim.Record{Src: qp % 100, Dst: 100 + qp/100%100, QP: qp / 10000}
		h := FlowHash(&r) ^ Salt(1, 7)
		w := Choose(h, ways)
		if w != Choose(h, ways) {
			t.Fatal("a flow changes its way")
		}
		count[w]++
	}
	for w, n := range count {
		// Binomial: mean 10000, standard deviation 87; five of those.
		if n < 10000-433 || n > 10000+433 {
			t.Errorf("way %d has %d of %d flows", w, n, flows)
		}
	}
}
