package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hybrid/chakra"
)

// preparedTrace is a rank's trace as it is simulated.
type preparedTrace struct {
	Rank  int
	Ready []uint64
	Nodes []preparedNode
}

type preparedNode struct {
	ID                  uint64
	Kind, Name, Role    string
	Partner             *int
	Tag, Bytes          int64
	Duration            int64 `json:"duration_ps"`
	HostCPU             bool  `json:"host_cpu"`
	Deps, Children      []uint64
	Synchronization     bool
	Collective          uint64
	Group, Number, Size int64
}

// prepared returns the traces behind all passes, or behind the one that the arguments
// name.
func (s *traceSet) prepared(args ...string) []preparedTrace {
	s.t.Helper()
	status, stdout, stderr := invoke(s.t.Context(), "", append([]string{"graph", s.write(), "--network", executionNetwork(s.t), "-o", "json"}, args...)...)
	if status != exitDone {
		s.t.Fatalf("status %d: %s", status, stderr)
	}
	var doc struct{ Traces []preparedTrace }
	if err := json.Unmarshal([]byte(stdout), &doc); err != nil {
		s.t.Fatal(err)
	}
	return doc.Traces
}

// check holds against each other what nodes say of each other: who waits for whom and
// who releases whom, what is ready at the start, and who is whose partner.
func check(t *testing.T, traces []preparedTrace) {
	t.Helper()
	ends := map[string]int{}
	for _, tr := range traces {
		children := map[uint64][]uint64{}
		var ready []uint64
		for _, n := range tr.Nodes {
			for _, d := range n.Deps {
				children[d] = append(children[d], n.ID)
			}
			if len(n.Deps) == 0 {
				ready = append(ready, n.ID)
			}
			switch n.Kind {
			case "send", "recv":
				if n.Partner == nil {
					t.Fatalf("rank %d: node %d has no partner", tr.Rank, n.ID)
				}
				if n.Kind == "send" {
					ends[fmt.Sprint(tr.Rank, *n.Partner, n.Bytes)]++
				} else {
					ends[fmt.Sprint(*n.Partner, tr.Rank, n.Bytes)]--
				}
			}
		}
		for _, n := range tr.Nodes {
			if diff := cmp.Diff(sorted(children[n.ID]), sorted(n.Children)); diff != "" {
				t.Errorf("rank %d: node %d releases other nodes (-) than it says (+):\n%s", tr.Rank, n.ID, diff)
			}
		}
		if diff := cmp.Diff(sorted(ready), sorted(tr.Ready)); diff != "" {
			t.Errorf("rank %d: other nodes are ready (-) than it says (+):\n%s", tr.Rank, diff)
		}
	}
	for pair, n := range ends {
		if n != 0 {
			t.Errorf("from, to and bytes %s: %d more sends than receives", pair, n)
		}
	}
}

func sorted(ids []uint64) []uint64 {
	out := append([]uint64{}, ids...)
	slices.Sort(out)
	return out
}

// count is how many nodes the test holds for, and their bytes.
func count(traces []preparedTrace, holds func(n *preparedNode) bool) (nodes int, bytes int64) {
	for _, tr := range traces {
		for i := range tr.Nodes {
			if n := &tr.Nodes[i]; holds(n) {
				nodes++
				bytes += n.Bytes
			}
		}
	}
	return nodes, bytes
}

// The prepared traces have each collective as its transfers, the barriers before them,
// the edges of the issue order, and what each node releases.
func TestExecutionPreparedForm(t *testing.T) {
	isSend := func(n *preparedNode) bool { return n.Kind == "send" }
	eight := func(t *testing.T) *traceSet {
		s := traces(t, 8)
		s.group("g", 0, 1, 2, 3, 4, 5, 6, 7)
		for r := range 8 {
			before := s.compute(r, 1)
			s.compute(r, 2, s.collective(r, allReduce, 1000, before))
		}
		return s
	}
	t.Run("expansion", func(t *testing.T) {
		for algorithm, want := range map[string]int{"ring": 112, "tree": 14, "halving-doubling": 48} {
			traces := eight(t).prepared(unsynchronized, "--algorithm", "allreduce="+algorithm)
			check(t, traces)
			if n, bytes := count(traces, isSend); n != want || bytes != 14_000 {
				t.Errorf("%s: %d sends of %d B, want %d of 14000", algorithm, n, bytes, want)
			}
			if n, _ := count(traces, func(n *preparedNode) bool { return n.Kind == "collective" }); n != 0 {
				t.Errorf("%s: %d collectives are left", algorithm, n)
			}
		}
	})
	t.Run("synchronization", func(t *testing.T) {
		for flag, want := range map[string]int{"--synchronize=true": 14, unsynchronized: 0} {
			traces := eight(t).prepared(flag)
			check(t, traces)
			n, bytes := count(traces, func(n *preparedNode) bool { return isSend(n) && n.Synchronization })
			if n != want || bytes != 0 {
				t.Errorf("%s: %d transfers of %d B in barriers, want %d of 0", flag, n, bytes, want)
			}
		}
	})
	t.Run("serialization", func(t *testing.T) {
		for flag, want := range map[string]bool{"--serialize=true": true, "--serialize=false": false} {
			s := pair(t)
			for r := range 2 {
				s.node(r, allReduceOfTwo(chakra.Int64("comm_seq", 1)))
				s.node(r, allReduceOfTwo(chakra.Int64("comm_seq", 2)))
			}
			traces := s.prepared(unsynchronized, flag)
			check(t, traces)
			for _, tr := range traces {
				for _, n := range tr.Nodes {
					if n.Role == "start" && n.Collective == 2 && slices.Contains(n.Deps, 1) != want {
						t.Errorf("%s: rank %d: the second collective waits for %v", flag, tr.Rank, n.Deps)
					}
				}
			}
		}
	})
	// What was prepared means what is simulated: followed plainly it ends at the same time.
	t.Run("as simulated", func(t *testing.T) {
		s := traces(t, 3)
		s.group("g", 2, 0, 1)
		for r := range 3 {
			a := s.node(r, collectiveNode(allReduce, 0, chakra.Int64("comm_seq", 1)))
			s.compute(r, uint64(2+r), a)
			s.compute(r, 4, s.node(r, collectiveNode(allToAll, 0, chakra.Int64("comm_seq", 2))))
		}
		s.send(0, 1, 0, 5, s.wait(0, 3))
		s.compute(1, 1, s.recv(1, 0, 0, 5))
		plain := follow(s.prepared(), nil)
		o := s.run().done()
		for r := range 3 {
			if got, want := o.report.Runs[0].Ranks[r].Finish, plain.finish(r); got != want {
				t.Errorf("rank %d ends at %d ps in the simulation, at %d in the prepared trace", r, got, want)
			}
		}
	})
}

// follow runs prepared traces plainly.
func follow(traces []preparedTrace, crossing func(a, b int) int64) *plainRun {
	r := &plainRun{crossing: crossing}
	for _, tr := range traces {
		nodes := map[uint64]*plainNode{}
		instance := map[uint64]string{}
		for _, n := range tr.Nodes {
			nodes[n.ID] = r.add(tr.Rank, nothing, n.Duration)
			if n.Role == "start" {
				instance[n.Collective] = fmt.Sprint(n.Group, " ", n.Number)
			}
		}
		for _, n := range tr.Nodes {
			p := nodes[n.ID]
			for _, d := range n.Deps {
				p.deps = append(p.deps, nodes[d])
			}
			key := func(from, to int) string {
				return fmt.Sprint(from, " to ", to, " tag ", n.Tag, " of ", instance[n.Collective], " ", n.Synchronization)
			}
			switch {
			case n.Kind == "send":
				p.kind, p.peer, p.key = sending, *n.Partner, key(tr.Rank, *n.Partner)
			case n.Kind == "recv":
				p.kind, p.peer, p.key = receiving, *n.Partner, key(*n.Partner, tr.Rank)
			case n.Kind == "compute" && !n.HostCPU:
				p.kind = computing
			}
		}
	}
	r.run(len(traces))
	return r
}

// Every attribute of a run that the description of workload execution names has its
// counterpart in the flags.
func TestExecutionAttributes(t *testing.T) {
	_, help, _ := invoke(t.Context(), "", "simulate", "--help")
	words := strings.Fields(help)
	for attribute, flag := range map[string]string{
		"UseMapping": "--mapping", "AllReduceAlgorithm and the others": "--algorithm", "ProcessGroupSerialization": "--serialize",
		"CommCollectiveSynchronization": "--synchronize", "UseMaxAsCommCollectiveStartTime": "--collective-start", "AbortOnChakraWarning": "--abort-on-warning",
		"MaxCountWarningsLoggedPerInstance": "--max-warnings", "TraceFamily": "--trace-family", "ScalingFactor": "--scale", "ProfilingInterval": "--profile-interval",
		"ScaleUpStatsEnabled": "--scale-up-stats", "BeaconReportInterval": "--record-interval", "NDStatsReportInterval": "--nd-interval", "StartTime": "--start-time",
		"WarmUp": "--warm-up", "RunTime": "--run-time", "CoolDown": "--cool-down", "records": "--records", "issue order": "--issue-order", "parameters": "--set",
	} {
		if !slices.Contains(words, flag) {
			t.Errorf("no flag %s for %s", flag, attribute)
		}
	}
	for attribute, parameter := range map[string]string{
		"ScaleUpHeaderSize": "scale_up.header", "ScaleUpMaxPayloadSize": "scale_up.payload", "Mtu": "fabric.mtu", "the NIC": "nic.transport",
	} {
		if status, stdout, _ := invoke(t.Context(), "", "explain", parameter); status != exitDone || stdout == "" {
			t.Errorf("hybrid explain %s, for %s: status %d", parameter, attribute, status)
		}
	}
}
