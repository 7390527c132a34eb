package main

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// scaleUpMapping puts ranks 0 to 3 into scale-up group 5, rank 3 into a subgroup of its
// own, ranks 4 and 5 into group 9, and rank 6 into none. A port of group 5 takes 10 ps a
// byte; a packet crosses a hop and two cables of 100 ns each, or three and four of them
// between subgroups.
const scaleUpMapping = `# rank, server, group, subgroup
0, 0, 5, 0
1, 1, 5, 0
2, 2, 5, 0
3, 3, 5, 1
4, 4, 9, 0
5, 5, 9, 0
6, 6
@ group, Gbit/s, ns a hop, ns a cable
5, 800, 100, 100
9, 400, 50, 25
`

// scaledUp are traces of the ranks of [scaleUpMapping].
func scaledUp(t *testing.T) (*traceSet, []string) {
	return traces(t, 7), []string{"--mapping", put(t, t.TempDir(), "mapping.txt", scaleUpMapping)}
}

// transfer is a send with its receive, both of the given tag.
func (s *traceSet) transfer(from, to int, bytes, tag int64) (send, recv uint64) {
	return s.send(from, to, bytes, tag), s.recv(to, from, bytes, tag)
}

// Packets of 4,096 B and a header of 24 B: 41.2 ns on a port of group 5. Times are what
// the sends and receives take, all from the start of the run.
func TestExecutionScaleUp(t *testing.T) {
	type one struct {
		from, to int
		bytes    int64
	}
	const packet, near, far = 41_200, 300 * ns, 700 * ns
	for _, test := range []struct {
		name      string
		transfers []one
		flags     []string
		sent, got []int64
	}{
		{"same subgroup", []one{{0, 1, 4096}}, nil, []int64{packet}, []int64{382_400}},
		{"other subgroup", []one{{0, 3, 4096}}, nil, []int64{packet}, []int64{782_400}},
		// 4,120 B at 20 ps a byte; a hop and two cables of 50 and 25 ns.
		{"figures of the group", []one{{4, 5, 4096}}, nil, []int64{82_400}, []int64{2*82_400 + 100*ns}},
		{"other group", []one{{0, 4, 4096}, {6, 1, 4096}}, nil, []int64{20 * 4096, 20 * 4096}, []int64{onLink(4096), onLink(4096)}},
		// The packet has no data.
		{"no bytes", []one{{0, 1, 0}}, nil, []int64{240}, []int64{240 + near + 240}},
		// 4,096, 4,096 and 1,808 B: the third packet is there at 400.72 ns and waits for the
		// second, which is through at 300 + 3 x 41.2 ns.
		{"several packets", []one{{0, 1, 10_000}}, nil, []int64{2*packet + 18_320}, []int64{near + 3*packet + 18_320}},
		// 1,000, 1,000 and 500 B without a header.
		{"sizes of packets", []one{{0, 1, 2500}}, []string{"--set", "scale_up.payload=1000B", "--set", "scale_up.header=0B"}, []int64{25_000}, []int64{near + 35_000}},
		// Each packet takes twice its time to be sent, and its own to be received.
		{"two receivers", []one{{0, 1, 4096}, {0, 3, 4096}}, nil, []int64{2 * packet, 2 * packet}, []int64{2*packet + near + packet, 2*packet + far + packet}},
		// Both queues are served until one is empty; the second packet to rank 1 then has
		// the port alone, and finds the first one received.
		{"turns", []one{{0, 1, 8192}, {0, 2, 4096}}, nil, []int64{3 * packet, 2 * packet}, []int64{3*packet + near + packet, 2*packet + near + packet}},
		{"two senders", []one{{1, 0, 4096}, {2, 0, 4096}}, nil, []int64{packet, packet}, []int64{packet + near + 2*packet, packet + near + 2*packet}},
		// The second transfer of a pair follows the first.
		{"one after another", []one{{0, 1, 4096}, {0, 1, 4096}}, nil, []int64{packet, 2 * packet}, []int64{2*packet + near, 3*packet + near}},
		{"there and back", []one{{0, 1, 4096}, {1, 0, 4096}}, nil, []int64{packet, packet}, []int64{2*packet + near, 2*packet + near}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, args := scaledUp(t)
			want := moments{}
			for i, x := range test.transfers {
				send, recv := s.transfer(x.from, x.to, x.bytes, int64(i))
				want[fmt.Sprint(x.from, ".", send)] = test.sent[i]
				want[fmt.Sprint(x.to, ".", recv)] = test.got[i]
			}
			s.run(append(args, test.flags...)...).done().lasted(want)
		})
	}
	// The transfer counts as acknowledged two crossings after it was sent; the receiver waits
	// for no acknowledgement.
	t.Run("acknowledgement", func(t *testing.T) {
		s, args := scaledUp(t)
		s.transfer(0, 1, 4096, 1)
		s.run(args...).done().finishes(641_200, 382_400, 0, 0, 0, 0, 0)
	})
	t.Run("held until its receive", func(t *testing.T) {
		s, args := scaledUp(t)
		s.send(0, 1, 4096, 1)
		s.recv(1, 0, 4096, 1, s.wait(1, 2))
		s.run(args...).done().finishes(641_200, 2*us)
	})
	t.Run("no mapping file", func(t *testing.T) {
		s, _ := scaledUp(t)
		s.transfer(0, 1, 4096, 1)
		s.run().done().lasted(moments{"0.1": 20 * 4096, "1.1": onLink(4096)})
	})
	// A collective of the group's ranks: 3 steps of C = 1,000 B, each 10.24 ns to send, a
	// crossing and 10.24 ns to receive.
	t.Run("collective", func(t *testing.T) {
		s, args := scaledUp(t)
		s.group("g", 0, 1, 2)
		for r := range 3 {
			s.collective(r, reduceScatter, 3000)
		}
		step := int64(2*10_240 + near)
		o := s.run(append(args, unsynchronized)...).done()
		if got := o.report.Collectives[0].Packet; got != 2*step {
			t.Errorf("the collective takes %d ps, want %d", got, 2*step)
		}
	})
	// Three senders reach each receiver at the same instant, on any number of threads.
	t.Run("threads", func(t *testing.T) {
		s, args := scaledUp(t)
		s.group("g", 0, 1, 2, 3)
		for r := range 4 {
			s.collective(r, allToAll, 40_000)
			s.compute(r, 3)
			s.send(r, 6, 5000, int64(r))
			s.recv(6, r, 5000, int64(r))
		}
		first := ""
		for _, cores := range []int{1, 2, 3, 7} {
			o := s.run(append(args, "--cores", fmt.Sprint(cores), "-o", "csv", "-q")...)
			if first == "" {
				first = o.stdout
			}
			if diff := cmp.Diff(first, o.stdout); diff != "" || o.status != exitDone {
				t.Errorf("%d threads (status %d):\n%s\n%s", cores, o.status, diff, o.stderr)
			}
		}
	})
	t.Run("limits", func(t *testing.T) {
		s := traces(t, 1)
		s.compute(0, 1)
		for _, set := range []string{"scale_up.payload=0B", "scale_up.payload=65MiB", "scale_up.header=65MiB"} {
			s.run("--set", set).fails("scale_up")
		}
		s.run("--set", "scale_up.payload=64MiB", "--set", "scale_up.header=64MiB").done()
		s.run("--set", "scale_up.payload=1B", "--set", "scale_up.header=0B").done()
	})
}

// Rank r runs on server r, or where the mapping file puts it: two servers of a leaf are
// two links apart, two of different leaves four.
func TestExecutionPlacement(t *testing.T) {
	leaves := []string{"--set", "topology.kind=leaf-spine", "--set", "topology.leaves=2", "--set", "topology.spines=1", "--set", "topology.hosts_per_leaf=2"}
	toAll := func(t *testing.T) *traceSet {
		s := traces(t, 4)
		for r := 1; r < 4; r++ {
			s.send(0, r, 0, 1)
			s.recv(r, 0, 0, 1)
		}
		return s
	}
	near, far := lastBit(frames("none", 0), 2), lastBit(frames("none", 0), 4)
	t.Run("in order", func(t *testing.T) {
		toAll(t).run(leaves...).done().lasted(moments{"1.1": near, "2.1": far, "3.1": far})
	})
	t.Run("mapping file", func(t *testing.T) {
		for text, want := range map[string]moments{
			"0 0\n1 2\n2 1\n3 3\n":                     {"1.1": far, "2.1": near, "3.1": far},
			"3,0 # the last rank first\n2,3\n1 2\n0,1": {"1.1": far, "2.1": far, "3.1": near},
		} {
			toAll(t).run(append(leaves, "--mapping", put(t, t.TempDir(), "mapping.txt", text))...).done().lasted(want)
		}
	})
	t.Run("servers", func(t *testing.T) {
		s := traces(t, 5)
		s.compute(4, 1)
		s.run(leaves...).fails("the topology has 4 hosts, but the run needs 5", "[E813]")
		toAll(t).run(append(leaves, "--mapping", put(t, t.TempDir(), "mapping.txt", "0 0\n1 1\n2 2\n3 4\n"))...).fails("4 hosts")
		toAll(t).run(append(leaves, "--mapping", put(t, t.TempDir(), "mapping.txt", "0 0\n1 1\n2 2\n"))...).fails("the mapping places 3 ranks, but the workload has 4")
	})
	t.Run("one application", func(t *testing.T) {
		s := toAll(t)
		o := s.run(s.write())
		if o.status != exitUsage {
			t.Errorf("status %d, want %d", o.status, exitUsage)
		}
		o.says("one WORKLOAD is timed at a time, but 2 are given")
	})
}
