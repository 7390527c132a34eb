package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hybrid/chakra"
)

// A rank ends when its nodes have finished, what it sent is acknowledged, and so is what
// it received through the NIC, at the sender.
func TestExecutionRankEnd(t *testing.T) {
	for _, test := range []struct {
		name          string
		compute       [2]uint64
		first, second int64
	}{
		// The acknowledgement is back at 500 ns + 81.92 ns + 500 ns.
		{"acknowledgement last", [2]uint64{0, 0}, onLink(4096) + 500*ns, onLink(4096) + 500*ns},
		{"nodes last", [2]uint64{3, 5}, 3 * us, 5 * us},
		{"sender's nodes last", [2]uint64{3, 0}, 3 * us, onLink(4096) + 500*ns},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := traces(t, 3)
			s.compute(0, test.compute[0])
			s.send(0, 1, 4096, 1)
			s.compute(1, test.compute[1])
			s.recv(1, 0, 4096, 1)
			o := s.run().done()
			o.finishes(test.first, test.second, 0)
			if got, want := o.report.Runs[0].Makespan, max(test.first, test.second); got != want {
				t.Errorf("the run takes %d ps, want %d", got, want)
			}
		})
	}
	// A receive that starts late does not make the acknowledgement late.
	t.Run("late receive", func(t *testing.T) {
		s := traces(t, 2)
		s.send(0, 1, 4096, 1)
		s.recv(1, 0, 4096, 1, s.wait(1, 50))
		s.run().done().finishes(onLink(4096)+500*ns, 50*us)
	})
}

// A rank none of whose nodes is ready at the start ends at once, with a warning.
func TestExecutionNothingReady(t *testing.T) {
	t.Run("no nodes", func(t *testing.T) {
		s := traces(t, 2)
		s.compute(0, 3)
		s.run().done().finishes(3*us, 0)
	})
	// A cycle is the only way to have nodes, but none that is ready.
	t.Run("a cycle", func(t *testing.T) {
		s := traces(t, 2)
		s.compute(0, 3)
		s.node(1, chakra.Node{ID: 1, Type: chakra.CompNode, DurationMicros: 5, DataDeps: []uint64{2}})
		s.node(1, chakra.Node{ID: 2, Type: chakra.CompNode, DurationMicros: 5, DataDeps: []uint64{1}})
		o := s.run().done()
		o.finishes(3*us, 0)
		o.says("set.1.et", "warning", `node 1 "1.1"`, `node 2 "1.2"`, "[W711]")
		s.run("--abort-on-warning").fails("[W711]")
	})
}

// The run ends at its stop time, whether or not the ranks have finished.
func TestExecutionStop(t *testing.T) {
	s := traces(t, 2)
	s.compute(0, 10)
	s.compute(1, 3)
	o := s.run("--stop-at", "5us")
	if o.status != exitFailed || o.report.Verdict != "stopped" {
		t.Errorf("status %d, verdict %q", o.status, o.report.Verdict)
	}
	o.says("[E503]")
	s.run("--stop-at", "11us").done().finishes(10*us, 3*us)
}

// The stop time counts from the start of the ranks: warm-up, run time and cool-down.
// Where the start is changes nothing in the run.
func TestExecutionStopTimes(t *testing.T) {
	s := traces(t, 1)
	s.compute(0, 10)
	o := s.record("--start-time", "1ms", "--warm-up", "2us", "--run-time", "4us", "--cool-down", "3us").outcome
	if o.status != exitFailed || o.report.Verdict != "stopped" {
		t.Errorf("status %d, verdict %q: the run of 10 us is not stopped after 9 us", o.status, o.report.Verdict)
	}
	o.says("[E503]")
	r := s.record("--start-time", "1ms", "--warm-up", "2us", "--run-time", "6us", "--cool-down", "3us")
	r.done().finishes(10 * us)
	// Records count from the start of the simulation.
	s = traces(t, 2)
	s.transfer(0, 1, 0, 1)
	same(t, []string{"1000000000 1001000000"}, texts(s.record("--start-time", "1ms").rows("chakra-perf"), "start_time_sec", "sim_time_sec"))
	o = s.run("--stop-at", "1ms", "--run-time", "1ms")
	if o.status != exitUsage {
		t.Errorf("--stop-at beside --run-time: status %d, want %d", o.status, exitUsage)
	}
}

// A link without delay is no obstacle, whatever the number of threads: what it joins is
// simulated together.
func TestExecutionNoDelay(t *testing.T) {
	s := traces(t, 4)
	s.group("g", 0, 1, 2, 3)
	s.each(collectiveNode(allGather, 4096))
	for _, transport := range []string{"roce", "ideal"} {
		for _, cores := range []int{1, 2, 3} {
			o := s.run(unsynchronized, "--set", "fabric.link.delay=0ns", "--set", "nic.transport="+transport, "--cores", fmt.Sprint(cores)).done()
			for r := range 4 {
				if got := o.took(fmt.Sprint("rank ", r)); got != 3*20*4096 {
					t.Errorf("%s, %d threads: rank %d is done at %d ps, want %d", transport, cores, r, got, 3*20*4096)
				}
			}
		}
	}
}

// Where nothing more can happen and ranks have not ended, the run fails and says which
// ranks wait for what.
func TestExecutionDeadlock(t *testing.T) {
	t.Run("circle", func(t *testing.T) {
		s := traces(t, 3)
		for r := range 3 {
			s.send(r, (r+1)%3, 8, 1, s.recv(r, (r+2)%3, 8, 1))
		}
		for _, args := range [][]string{nil, {"--no-check"}} {
			o := s.run(args...)
			if o.status != exitFailed {
				t.Errorf("status %d, want %d", o.status, exitFailed)
			}
			o.says("deadlock", "0 waits in recv from 2", "2 in recv from 1", "1 in recv from 0", "[E501]")
			if args == nil {
				continue
			}
			// The simulation itself says it too, with the node that each rank is in.
			v := o.report.Runs[0].Verdict
			if v.Outcome != "deadlock" || len(v.Pending) != 3 {
				t.Fatalf("%s with %d pending operations, want deadlock with 3", v.Outcome, len(v.Pending))
			}
			for r, p := range v.Pending {
				if p.Rank != int32(r) || p.Kind != "recv" || p.Peer != int32(r+2)%3 || p.Tag != 1 || !strings.Contains(p.Where, fmt.Sprintf(`"%d.1"`, r)) {
					t.Errorf("rank %d waits in %+v", r, p)
				}
			}
		}
	})
	t.Run("no send", func(t *testing.T) {
		s := traces(t, 2)
		s.recv(1, 0, 8, 1)
		o := s.run()
		if o.status != exitFailed {
			t.Errorf("status %d, want %d", o.status, exitFailed)
		}
		o.says("[E401]")
	})
	t.Run("no receive", func(t *testing.T) {
		s := traces(t, 2)
		s.send(0, 1, 8, 1)
		o := s.run()
		if o.status != exitFailed {
			t.Errorf("status %d, want %d", o.status, exitFailed)
		}
		o.says("1 send but no receive", "[E401]")
	})
	// Tags that differ do not meet.
	t.Run("other tag", func(t *testing.T) {
		s := traces(t, 2)
		s.send(0, 1, 8, 1)
		s.recv(1, 0, 8, 2)
		o := s.run()
		if o.status != exitFailed {
			t.Errorf("status %d, want %d", o.status, exitFailed)
		}
		o.says("[E401]", "tag 1", "tag 2")
	})
}

// Ranks are on nodes in order; threads, the order of a set's files and the run before do
// not change a byte of the report but its wall-clock times. Seven senders reach one
// receiver at the same instant, over switches whose queues they share.
func TestExecutionTies(t *testing.T) {
	s := traces(t, 8)
	s.group("g", 3, 1, 4, 0, 7, 2, 5, 6)
	for r := range 8 {
		n := collectiveNode(allToAll, 100_000, chakra.Int64("comm_seq", 1))
		a := s.node(r, n)
		if r > 0 {
			s.send(r, 0, 10_000, int64(r), a)
			s.recv(0, r, 10_000, int64(r))
		}
		s.compute(r, 7, a)
		s.compute(r, 5)
	}
	for _, topology := range []string{"star", "leaf-spine", "direct"} {
		var first string
		for _, cores := range []int{1, 2, 3, 7} {
			o := s.run("--set", "topology.kind="+topology, "--cores", fmt.Sprint(cores), "-o", "csv", "-q")
			if first == "" {
				first = o.stdout
			}
			if diff := cmp.Diff(first, o.stdout); diff != "" || o.status != exitDone {
				t.Errorf("%s with %d threads differs (status %d):\n%s\n%s", topology, cores, o.status, diff, o.stderr)
			}
		}
	}
}
