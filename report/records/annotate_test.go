package records

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"hybrid/graph"
	"hybrid/internal/units"
)

// annotatedTrace is what a reader sees of an annotated trace.
type annotatedTrace struct {
	Schema string
	Rank   int
	Nodes  []annotatedNode
}

type annotatedNode struct {
	ID                 uint64
	Name, Type         string
	DataDeps, Children []uint64
	DurationMicros     float64
	CommSize           int64
	Partner            int
	Sync               bool `json:"isAddedSynchronization"`
	S, E, R            string
}

func readAnnotated(t *testing.T, text string) map[uint64]annotatedNode {
	t.Helper()
	var a annotatedTrace
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	if a.Schema != AnnotatedSchema {
		t.Errorf("schema %q", a.Schema)
	}
	nodes := map[uint64]annotatedNode{}
	for _, n := range a.Nodes {
		if _, twice := nodes[n.ID]; twice {
			t.Errorf("node %d stands twice", n.ID)
		}
		nodes[n.ID] = n
	}
	return nodes
}

func TestAnnotatedSend(t *testing.T) {
	got := record(t, oneSend(t), Options{Interval: 1e6})
	want := "{\"schema\": \"hybrid/annotated-trace/v1\", \"rank\": 0, \"nodes\": [\n" +
		"{\"id\": 0, \"name\": \"send\", \"type\": \"COMM_SEND_NODE\", \"dataDeps\": [], \"children\": [], \"commSize\": 8, \"partner\": 1, \"tag\": 5, " +
		"\"s\": \"0000000000000\", \"e\": \"0000000000002\", \"r\": \"0000000000000\"}\n]}\n"
	if d := cmp.Diff(want, got["post-annotated/test.0.json"]); d != "" {
		t.Error(d)
	}
}

const none = "XXXXXXXXXXXXX"

// stamps are the starts and the ends of nodes in whole microseconds, by id.
func stamps(nodes map[uint64]annotatedNode) map[uint64]string {
	out := map[uint64]string{}
	for id, n := range nodes {
		for _, s := range []string{n.S, n.E} {
			if len(s) != stampWidth {
				return map[uint64]string{id: s}
			}
		}
		out[id] = short(n.S) + "-" + short(n.E)
	}
	return out
}

func short(s string) string {
	if s == none {
		return "X"
	}
	if s = strings.TrimLeft(s, "0"); s == "" {
		return "0"
	}
	return s
}

// The times are those of ringPair, cut to whole microseconds: a send ends with its
// acknowledgement, the end of the collective, which has its id, with the last transfer
// of the rank.
func TestAnnotatedCollective(t *testing.T) {
	got := record(t, ringPair(t), Options{Interval: 1e6})
	want := map[string]map[uint64]string{
		// barrier: receive 0-1, send 1-3; start 1; send 1-3.5, receive 1-3.5, send 3.5-6,
		// receive 3.5-4; end 4
		"0": {1: "0-1", 2: "1-3", 3: "1-1", 4: "1-3", 5: "1-3", 6: "3-6", 7: "3-4", 0: "4-4"},
		// barrier: send 0-2, receive 0-2; start 2; send 2-4.5, receive 2-2.5, send 2.5-5,
		// receive 2.5-5; end 5
		"1": {1: "0-2", 2: "0-2", 3: "2-2", 4: "2-4", 5: "2-2", 6: "2-5", 7: "2-5", 0: "5-5"},
	}
	for rank, times := range want {
		nodes := readAnnotated(t, got["post-annotated/test."+rank+".json"])
		if d := cmp.Diff(times, stamps(nodes)); d != "" {
			t.Error("rank", rank, d)
		}
		for id, n := range nodes {
			if n.Sync != (id == 1 || id == 2) {
				t.Errorf("node %d of rank %s: synchronization %v", id, rank, n.Sync)
			}
			for _, d := range n.DataDeps {
				if nodes[d].E > n.E && nodes[d].Type != "COMM_SEND_NODE" {
					t.Errorf("node %d ends before node %d, on which it depends", id, d)
				}
			}
		}
	}
}

// Stopped at 3 us, rank 0 has neither its first acknowledgement (4) nor a receive (5);
// the barrier's answer (2) is acknowledged at this very time. Steps 6 and 7 have not
// begun, and the end did not come.
func TestAnnotatedStop(t *testing.T) {
	got := recordWith(t, ringPair(t), pair(), Options{Interval: 1e6, StopAt: 3e6}, 1e6, 3e6, nil)
	want := map[uint64]string{1: "0-1", 2: "1-3", 3: "1-1", 4: "1-X", 5: "1-X", 6: "X-X", 7: "X-X", 0: "X-X"}
	nodes := readAnnotated(t, got["post-annotated/test.0.json"])
	if d := cmp.Diff(want, stamps(nodes)); d != "" {
		t.Error(d)
	}
	if nodes[4].R != none {
		t.Errorf("r of an unfinished node is %q", nodes[4].R)
	}
}

// Joins take no time and have no events: each ends with the last of what it waits for.
// A chain of them ends at once.
func TestAnnotatedJoins(t *testing.T) {
	g := traces(t, 1, func(m *maker) {
		first := m.join()
		a, b := m.compute(3, 0, first), m.compute(5, 0)
		last := m.join(a, b)
		c := m.collective(graph.AllReduce, "ring", 0, 8, 0, last)
		m.join(m.join(c), b)
		d := m.compute(1, 0, c)
		m.join(d)
		m.join(c, d)
	})
	want := map[uint64]string{0: "0-0", 1: "0-3", 2: "0-5", 3: "5-5", 4: "5-5", 5: "5-5", 6: "5-5", 7: "5-6", 8: "6-6", 9: "6-6", 10: "5-5"}
	// In one window for all, the end of c is told behind that of d.
	for _, window := range []units.Time{1e6, 1e9} {
		got := recordWith(t, g, &Platform{Hosts: 1, HostOf: []int32{0}, Nodes: []Node{{"server-0", 3, 0}}}, Options{Interval: window}, window, units.Never, nil)
		if d := cmp.Diff(want, stamps(readAnnotated(t, got["post-annotated/test.0.json"]))); d != "" {
			t.Errorf("windows of %d: %s", window, d)
		}
	}
}

// Names with quotes, backslashes and control characters stay JSON.
func TestAnnotatedNames(t *testing.T) {
	name := "a \"b\" \\ c\nd\te \x01 é"
	g := traces(t, 1, func(m *maker) {
		m.add(name, graph.Op{Kind: graph.Compute, Arg: m.r.Work(graph.Work{Time: m.r.Int(7e6)})})
	})
	got := recordWith(t, g, &Platform{Hosts: 1, HostOf: []int32{0}, Nodes: []Node{{"server-0", 3, 0}}}, Options{Interval: 1e6}, 1e6, units.Never, nil)
	n := readAnnotated(t, got["post-annotated/test.0.json"])[0]
	if n.Name != name || n.DurationMicros != 7 || n.Type != "COMP_NODE" {
		t.Errorf("%+v", n)
	}
}

// Names that are not UTF-8 do not make files that are not.
func TestNamesThatAreNoText(t *testing.T) {
	g := traces(t, 2, func(m *maker) {
		m.add("a\xff\xfeb", graph.Op{Kind: graph.Join})
		m.collective(graph.AllReduce, "ring", 0, 8, 0)
	})
	g.Groups[0].Name = "g\xff"
	for name, text := range record(t, g, Options{Interval: 1e6}) {
		if !utf8.ValidString(text) {
			t.Errorf("%s is not UTF-8: %q", name, text)
		}
		if strings.HasPrefix(name, annotatedDir) && !strings.Contains(text, "\"a\uFFFDb\"") {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// A thread program has no nodes to annotate: the report says so.
func TestNoAnnotationOfBlueprints(t *testing.T) {
	g := build(t, graph.Blueprint, 2, false, func(m *maker) {
		if m.rank == 0 {
			m.send(1, 8, 5)
		} else {
			m.recv(0, 8, 5)
		}
	})
	r, err := New(g, pair(), Options{Dir: t.TempDir(), Interval: 1e6, ProfileInterval: 1_000_000})
	if err != nil {
		t.Fatal(err)
	}
	res, err := run(g, units.Never).deliver(r, 1e6, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Notes) != 1 || !strings.HasPrefix(res.Notes[0], "annotated traces are written for runs of traces alone") {
		t.Errorf("notes %q", res.Notes)
	}
	got := files(t, r.opt.Dir)
	if !strings.Contains(body(got["run-chakra-completion-stats-0.csv"]), "ChakraGenerator.ChakraApp,0,2.008,8,0,1,0,1,0,0,\n") {
		t.Errorf("completion %s", got["run-chakra-completion-stats-0.csv"])
	}
	if !strings.Contains(got["run-chakra-profiling-0-0.txt"], "  S(0,1,8,[],[])\n") {
		t.Errorf("profile %s", got["run-chakra-profiling-0-0.txt"])
	}
}

// A collective that was not expanded disturbs no computation, but is none of the host.
func TestAnnotatedHostComputations(t *testing.T) {
	g := traces(t, 1, func(m *maker) {
		m.compute(7, graph.HostCPU)
		m.compute(3, graph.Skipped|graph.HostCPU)
	})
	text := recordWith(t, g, &Platform{Hosts: 1, HostOf: []int32{0}, Nodes: []Node{{"server-0", 3, 0}}}, Options{Interval: 1e6}, 1e6, units.Never, nil)["post-annotated/test.0.json"]
	for want, part := range map[string]string{"the host's computation": "COMP_NODE\", \"dataDeps\": [], \"children\": [], \"durationMicros\": 7, \"isCpuOp\": true,",
		"the collective": "COMM_COLL_NODE\", \"dataDeps\": [], \"children\": [], \"durationMicros\": 3, \"s\""} {
		if !strings.Contains(text, part) {
			t.Errorf("%s is not in %s", want, text)
		}
	}
}
