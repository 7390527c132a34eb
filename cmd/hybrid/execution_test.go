package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"hybrid/chakra"
)

// Times of the tests of workload execution, in picoseconds.
const (
	ns = 1000
	us = 1000 * ns
)

// onLink is when s bytes have arrived on the network of these tests: a link of its own
// between every two ranks, 500 ns and 20 ps a byte, without headers. They have left
// after 20 ps a byte.
func onLink(s int64) int64 { return 500*ns + 20*s }

// traceSet is a set of traces that a test makes. Times are observed from outside: a
// mark lets a rank send an empty message to a rank that does nothing but receive, and
// is there 500 ns after what it waits for.
type traceSet struct {
	t      *testing.T
	ranks  [][]chakra.Node
	groups []string
	own    map[int][]string // groups that one rank declares
	marks  []mark
	// command is what runs the traces, by default simulate.
	command string
}

type mark struct {
	label string
	rank  int
	after []uint64
}

func traces(t *testing.T, ranks int) *traceSet {
	return &traceSet{t: t, ranks: make([][]chakra.Node, ranks), own: map[int][]string{}}
}

// node adds a node, by default with the next id of its rank and the name rank.id.
func (s *traceSet) node(rank int, n chakra.Node) uint64 {
	if n.ID == 0 {
		n.ID = uint64(len(s.ranks[rank]) + 1)
	}
	if n.Name == "" {
		n.Name = fmt.Sprintf("%d.%d", rank, n.ID)
	}
	s.ranks[rank] = append(s.ranks[rank], n)
	return n.ID
}

func (s *traceSet) compute(rank int, micros uint64, deps ...uint64) uint64 {
	return s.node(rank, chakra.Node{Type: chakra.CompNode, DurationMicros: micros, DataDeps: deps})
}

// wait takes time without sharing the accelerator.
func (s *traceSet) wait(rank int, micros uint64, deps ...uint64) uint64 {
	return s.node(rank, chakra.Node{Type: chakra.MemLoadNode, DurationMicros: micros, DataDeps: deps})
}

func transferNode(typ chakra.NodeType, end string, peer int, bytes, tag int64, deps []uint64) chakra.Node {
	return chakra.Node{Type: typ, DataDeps: deps, Attrs: []chakra.Attr{
		chakra.Int64(end, int64(peer)), chakra.Int64("comm_size", bytes), chakra.Int64("comm_tag", tag)}}
}

func (s *traceSet) send(rank, to int, bytes, tag int64, deps ...uint64) uint64 {
	return s.node(rank, transferNode(chakra.CommSendNode, "comm_dst", to, bytes, tag, deps))
}

func (s *traceSet) recv(rank, from int, bytes, tag int64, deps ...uint64) uint64 {
	return s.node(rank, transferNode(chakra.CommRecvNode, "comm_src", from, bytes, tag, deps))
}

// group declares a process group in every rank's trace.
func (s *traceSet) group(name string, members ...int) {
	s.groups = append(s.groups, declaration(name, members))
}

// groupAt declares a process group in the trace of one rank.
func (s *traceSet) groupAt(rank int, name string, members ...int) {
	s.own[rank] = append(s.own[rank], declaration(name, members))
}

func declaration(name string, members []int) string {
	list, _ := json.Marshal(members)
	return fmt.Sprintf(`{"pg_name": %q, "ranks": %s}`, name, list)
}

// Collective types of the schema.
const (
	allReduce = iota
	reduce
	allGather
	gather
	scatter
	broadcast
	allToAll
	reduceScatter
	reduceScatterBlock
	barrier
)

// collectiveNode is a collective of group g.
func collectiveNode(typ, bytes int64, attrs ...chakra.Attr) chakra.Node {
	return chakra.Node{Type: chakra.CommCollNode, Attrs: append([]chakra.Attr{
		chakra.Int64("comm_type", typ), chakra.Int64("comm_size", bytes), chakra.String("pg_name", "g")}, attrs...)}
}

func (s *traceSet) collective(rank int, typ, bytes int64, deps ...uint64) uint64 {
	n := collectiveNode(typ, bytes)
	n.DataDeps = deps
	return s.node(rank, n)
}

// mark observes when all the nodes have finished.
func (s *traceSet) mark(label string, rank int, after ...uint64) {
	s.marks = append(s.marks, mark{label, rank, after})
}

// write puts the set into a folder and returns its name.
func (s *traceSet) write() string {
	s.t.Helper()
	ranks := append([][]chakra.Node{}, s.ranks...)
	if len(s.marks) > 0 {
		ranks = append(ranks, nil)
	}
	observer := len(ranks) - 1
	for i, m := range s.marks {
		tag := int64(1<<20 + i)
		n := transferNode(chakra.CommSendNode, "comm_dst", observer, 0, tag, m.after)
		n.ID, n.Name = uint64(1<<20+i), "mark"
		ranks[m.rank] = append(ranks[m.rank][:len(ranks[m.rank]):len(ranks[m.rank])], n)
		n = transferNode(chakra.CommRecvNode, "comm_src", m.rank, 0, tag, nil)
		n.ID, n.Name = uint64(1+i), m.label
		ranks[observer] = append(ranks[observer], n)
	}
	dir := s.t.TempDir()
	for r, nodes := range ranks {
		var b strings.Builder
		e := chakra.NewEncoder(&b)
		e.Metadata("0.0.4")
		if groups := append(append([]string{}, s.groups...), s.own[r]...); len(groups) > 0 {
			e.Node(&chakra.Node{ID: 1 << 30, Name: "## process_group:init ##", Type: chakra.MetadataNode, Inputs: "[" + strings.Join(groups, ", ") + "]"})
		}
		for i := range nodes {
			e.Node(&nodes[i])
		}
		if err := e.Err(); err != nil {
			s.t.Fatal(err)
		}
		put(s.t, dir, fmt.Sprintf("set.%d.et", r), b.String())
	}
	return dir
}

// outcome is what a run of a trace set shows.
type outcome struct {
	t      *testing.T
	status int
	stdout string
	stderr string
	report executionReport
}

// executionReport is what these tests read of a report.
type executionReport struct {
	Verdict string
	Runs    []struct {
		Verdict struct {
			Outcome string
			Pending []struct {
				Where, Kind string
				Rank, Peer  int32
				Tag         int64
			}
		}
		Makespan int64 `json:"makespan_ps"`
		Messages int64
		Bytes    int64 `json:"message_bytes"`
		Ranks    []struct {
			Finish int64 `json:"finish_ps"`
		}
	}
	Operations []struct {
		Name  string
		Kind  string
		Count int64
		Total map[string]int64 `json:"total_ps"`
	}
	Collectives []struct {
		Type, Algorithm string
		Bytes           int64
		Transfers       int64
		TransferBytes   int64 `json:"transfer_bytes"`
		Count           int64
		Packet          int64 `json:"packet_ps"`
	}
}

// executionNetwork returns a network file with the links of [onLink].
func executionNetwork(t *testing.T) string {
	t.Helper()
	return put(t, t.TempDir(), "exact.yml", fmt.Sprintf(fabricYAML, "direct", "none"))
}

// run simulates the set; the flags come behind those of the test bench.
func (s *traceSet) run(args ...string) *outcome {
	s.t.Helper()
	o := &outcome{t: s.t}
	o.status, o.stdout, o.stderr = invoke(s.t.Context(), "", append([]string{cmp.Or(s.command, "simulate"), s.write(), "--network", executionNetwork(s.t), "-o", "json"}, args...)...)
	if strings.HasPrefix(o.stdout, "{") {
		if err := json.Unmarshal([]byte(o.stdout), &o.report); err != nil {
			s.t.Fatal(err)
		}
	}
	return o
}

// done demands that the run has finished.
func (o *outcome) done() *outcome {
	o.t.Helper()
	if o.status != exitDone || o.report.Verdict != "finished" {
		o.t.Fatalf("status %d, verdict %q\n%s", o.status, o.report.Verdict, o.stderr)
	}
	return o
}

// fails demands that the run stops before it starts, with these texts.
func (o *outcome) fails(texts ...string) {
	o.t.Helper()
	if o.status != exitFailed || o.stdout != "" {
		o.t.Errorf("status %d, want %d; standard output %q", o.status, exitFailed, o.stdout)
	}
	o.says(texts...)
}

// says demands texts on standard error.
func (o *outcome) says(texts ...string) {
	o.t.Helper()
	for _, text := range texts {
		if !strings.Contains(o.stderr, text) {
			o.t.Errorf("standard error does not say %q:\n%s", text, o.stderr)
		}
	}
}

// took returns how long the node of this name took, from its start to its end.
func (o *outcome) took(name string) int64 {
	o.t.Helper()
	for _, op := range o.report.Operations {
		if op.Name == name && op.Count == 1 {
			return op.Total["packet"]
		}
	}
	o.t.Errorf("no operation %q in the report", name)
	return -1
}

// moments are by label when something happened, or how long it took.
type moments map[string]int64

// marked holds the marks of the run against what is wanted.
func (o *outcome) marked(want moments) {
	o.t.Helper()
	for label, at := range want {
		if got := o.took(label) - 500*ns; got != at {
			o.t.Errorf("%s: %d ps, want %d", label, got, at)
		}
	}
}

// lasted holds the durations of nodes against what is wanted.
func (o *outcome) lasted(want moments) {
	o.t.Helper()
	for name, d := range want {
		if got := o.took(name); got != d {
			o.t.Errorf("%s takes %d ps, want %d", name, got, d)
		}
	}
}

// finishes holds the ends of the ranks against what is wanted.
func (o *outcome) finishes(want ...int64) {
	o.t.Helper()
	if len(o.report.Runs) == 0 {
		o.t.Fatalf("no run: %s", o.stderr)
	}
	for r, at := range want {
		if got := o.report.Runs[0].Ranks[r].Finish; got != at {
			o.t.Errorf("rank %d ends at %d ps, want %d", r, got, at)
		}
	}
}
