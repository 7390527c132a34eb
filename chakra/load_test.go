package chakra

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hybrid/graph"
	"hybrid/internal/diag"
)

// expect compares findings and, if a graph is expected, the operations of rank 0.
func expect(t *testing.T, dir string, opt Options, findings, rank0 string) *graph.Graph {
	t.Helper()
	g, text := load(t, dir, opt)
	if diff := cmp.Diff(findings, text); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
	if (g != nil) != (rank0 != "") {
		t.Fatalf("graph %v", g != nil)
	}
	if g != nil {
		if diff := cmp.Diff(rank0, dump(g, 0)); diff != "" {
			t.Errorf("rank 0 (-want +got):\n%s", diff)
		}
	}
	return g
}

func TestDanglingDependency(t *testing.T) {
	n := comp(1, 5)
	n.CtrlDeps = []uint64{0}
	expect(t, writeSet(t, file(n)), Options{},
		"x.0.et: node 1 \"COMP\": warning: waits for node 0, which is not in the file; the dependency is dropped [W703]\n",
		"0 compute 5000000ps\n")
}

func TestCycleThroughBothLists(t *testing.T) {
	a, b := comp(1, 5), comp(2, 5, 1)
	a.CtrlDeps = []uint64{2}
	dir := writeSet(t, file(a, b, comp(3, 5)))
	cycle := `node 1 "COMP" waits for node 2 "COMP" waits for node 1 "COMP"`
	expect(t, dir, Options{Dependencies: "both"},
		"x.0.et: node 1 \"COMP\": error: the dependencies are cyclic: "+cycle+" [E708]\n", "")
	expect(t, dir, Options{},
		"x.0.et: node 1 \"COMP\": warning: control and data dependencies together are cyclic, so only the data dependencies count: "+cycle+" [W704]\n",
		"0 compute 5000000ps\n1 compute 5000000ps after 0\n2 compute 5000000ps\n")
	expect(t, dir, Options{Dependencies: "data"}, "", "0 compute 5000000ps\n1 compute 5000000ps after 0\n2 compute 5000000ps\n")
	expect(t, dir, Options{Dependencies: "ctrl"}, "", "0 compute 5000000ps after 1\n1 compute 5000000ps\n2 compute 5000000ps\n")
}

// A rank none of whose nodes is ready at the start ends at once; that the nodes form
// a cycle is no error then.
func TestNoNodeReady(t *testing.T) {
	cycle := `node 2 "COMP" waits for node 1 "COMP" waits for node 2 "COMP"`
	expect(t, writeSet(t, file(comp(3, 5, 2), comp(1, 5, 2), comp(2, 5, 1)), file(comp(1, 7))), Options{},
		"x.0.et: node 2 \"COMP\": warning: no node of rank 0 is ready at the start, so the rank ends at once: "+cycle+" [W711]\n",
		"0 compute 5000000ps after 2\n1 compute 5000000ps after 2\n2 compute 5000000ps after 1\n")
	expect(t, writeSet(t, file(comp(1, 5, 1))), Options{},
		"x.0.et: node 1 \"COMP\": warning: no node of rank 0 is ready at the start, so the rank ends at once: node 1 \"COMP\" waits for node 1 \"COMP\" [W711]\n",
		"0 compute 5000000ps after 0\n")
	// A dependency on a node that the file does not have holds nothing back.
	expect(t, writeSet(t, file(comp(1, 5, 9))), Options{},
		"x.0.et: node 1 \"COMP\": warning: waits for node 9, which is not in the file; the dependency is dropped [W703]\n",
		"0 compute 5000000ps\n")
	mustLoad(t, writeSet(t, file()), Options{}) // an empty trace ends at once too, without a word
}

func TestSelfDependency(t *testing.T) {
	expect(t, writeSet(t, file(comp(1, 5, 1), comp(2, 5))), Options{}, "x.0.et: node 1 \"COMP\": error: waits for itself [E707]\n", "")
}

func TestDuplicateID(t *testing.T) {
	expect(t, writeSet(t, file(comp(7, 5), comp(7, 6))), Options{},
		"x.0.et: node 7 \"COMP\": error: the id 7 stands for two nodes of this file [E706]\n", "")
}

// Producers disagree on the integer member; all must read the same.
func TestIntegerTypes(t *testing.T) {
	plain := coll(1, graph.AllReduce, 1<<20, Bool("is_cpu_op", false), String("pg_name", "1"))
	drift := coll(1, 0, 0)
	drift.Attrs = []Attr{Uint64("comm_type", 0), Uint64("comm_size", 1<<20), Int32("is_cpu_op", 0), Int32("comm_group", 1), NoValue("outputs")}
	number := coll(1, graph.AllReduce, 1<<20, Int64("pg_name", 1))
	for _, n := range []Node{plain, drift, number} {
		dir := writeSet(t, file(n), file(n), file(), file())
		write(t, dir, "groups.json", []byte(`{"1": [1, 0]}`))
		expect(t, dir, Options{}, "", "0 collective eager allreduce [1 0] 1048576B root 0 number 0\n")
	}
}

func TestAttributesOfOtherTypes(t *testing.T) {
	n := coll(1, graph.Broadcast, 0)
	n.Attrs = []Attr{Int64("comm_type", 5), String("comm_size", "8"), Double("comm_tag", 1), Double("root", 0.5), Uint64("num_ops", 1<<63)}
	expect(t, writeSet(t, file(n)), Options{}, ""+
		"x.0.et: node 1 \"COLL\": warning: the attribute comm_size is a string, read as the number 8 [W705]\n"+
		"x.0.et: node 1 \"COLL\": warning: the attribute comm_tag is a floating-point number, read as 1 [W705]\n"+
		"x.0.et: node 1 \"COLL\": warning: the attribute num_ops is not a whole number in range and is ignored [W706]\n"+
		"x.0.et: node 1 \"COLL\": warning: the attribute root is not a whole number in range and is ignored [W706]\n",
		"0 collective eager broadcast [0] 8B root 0 number 0\n")
}

// Type 0 and size 0 are present values: a zero-byte all-reduce, not a skipped node.
func TestZeroIsPresent(t *testing.T) {
	expect(t, writeSet(t, file(coll(1, graph.AllReduce, 0))), Options{}, "", "0 collective eager allreduce [0] 0B root 0 number 0\n")
}

func TestPartnerFromGroup(t *testing.T) {
	n := Node{ID: 1, Name: "SEND", Type: CommSendNode, Attrs: []Attr{Int64("comm_size", 8), String("pg_name", "3")}}
	r := Node{ID: 1, Name: "RECV", Type: CommRecvNode, Attrs: []Attr{Int64("comm_size", 8), String("pg_name", "3")}}
	dir := writeSet(t, file(n), file(r), file())
	write(t, dir, "g.json", []byte(`{"3": [0, 1]}`))
	g := expect(t, dir, Options{}, "", "0 send eager 1 tag 0 8B\n")
	if got := dump(g, 1); got != "0 recv 0 tag 0 8B\n" {
		t.Errorf("rank 1: %s", got)
	}
	write(t, dir, "g.json", []byte(`{"3": [0, 1, 2]}`))
	expect(t, dir, Options{}, ""+
		"x.0.et: node 1 \"SEND\": error: has no comm_dst, and its process group \"3\" has 3 members, not two [E711]\n"+
		"      = and 1 more like it\n      = in 2 files\n", "")
	n.Attrs = n.Attrs[:1]
	expect(t, writeSet(t, file(n), file()), Options{},
		"x.0.et: node 1 \"SEND\": error: has no comm_dst and no process group to tell its partner [E711]\n", "")
}

// Sends and receives keep the file's order, which is the order of matching.
func TestRepeatedTag(t *testing.T) {
	send := func(id uint64, size int64, data ...uint64) Node {
		return Node{ID: id, Type: CommSendNode, DataDeps: data, Attrs: []Attr{Int64("comm_size", size), Int32("comm_dst", 1), Int32("comm_tag", 0)}}
	}
	recv := func(id uint64, size int64, data ...uint64) Node {
		return Node{ID: id, Type: CommRecvNode, DataDeps: data, Attrs: []Attr{Int64("comm_size", size), Int32("comm_src", 0), Int32("comm_tag", 0)}}
	}
	g := expect(t, writeSet(t, file(send(1, 100), send(2, 200, 1)), file(recv(1, 100, 2), recv(2, 200))), Options{}, "",
		"0 send eager 1 tag 0 100B\n1 send eager 1 tag 0 200B after 0\n")
	if got, want := dump(g, 1), "0 recv 0 tag 0 100B after 1\n1 recv 0 tag 0 200B\n"; got != want {
		t.Errorf("rank 1: got\n%swant\n%s", got, want)
	}
}

func TestDeclaredGroupNamedZero(t *testing.T) {
	for _, suffix := range []string{"", ".0"} {
		var ranks [][]byte
		for r := range 4 {
			ranks = append(ranks, file(coll(1, graph.AllReduce, 8, String("pg_name", []string{"0", "1"}[r/2]+suffix))))
		}
		dir := writeSet(t, ranks...)
		write(t, dir, "groups.json", []byte(`{"0": [0, 1], "1": [2, 3]}`))
		g := expect(t, dir, Options{}, "", "0 collective eager allreduce [0 1] 8B root 0 number 0\n")
		if got, want := dump(g, 3), "0 collective eager allreduce [2 3] 8B root 0 number 0\n"; got != want {
			t.Errorf("rank 3: got %swant %s", got, want)
		}
	}
}

func TestUndeclaredGroup(t *testing.T) {
	set := func(name string) string {
		n := file(coll(1, graph.AllReduce, 8, String("pg_name", name)))
		return writeSet(t, n, n)
	}
	for _, world := range []string{"", "0", "0.0"} {
		expect(t, set(world), Options{}, "", "0 collective eager allreduce [0 1] 8B root 0 number 0\n")
	}
	expect(t, set("dp0"), Options{}, ""+
		"x.0.et: node 1 \"COLL\": error: the process group \"dp0\" is not declared [E709]\n      = and 1 more like it\n"+
		"      = neither the traces nor a side file declare any group; name a side file with --groups\n      = in 2 files\n", "")
	dir := set("dpo")
	write(t, dir, "x.json", []byte(`{"dp0": [0, 1], "tp0": [0]}`))
	expect(t, dir, Options{}, ""+
		"x.0.et: node 1 \"COLL\": error: the process group \"dpo\" is not declared; did you mean \"dp0\"? [E709]\n      = and 1 more like it\n"+
		"      = declared are \"dp0\", \"tp0\"\n      = in 2 files\n", "")
}

func TestOutsideGroup(t *testing.T) {
	n := coll(1, graph.AllReduce, 8, String("pg_name", "1"))
	n.DurationMicros = 3
	dir := writeSet(t, file(n), file(n), file(n, comp(2, 1, 1)))
	write(t, dir, "x.json", []byte(`{"1": [0, 1]}`))
	g := expect(t, dir, Options{},
		"x.2.et: node 1 \"COLL\": warning: is a collective of the process group \"1\", in which rank 2 is not; it takes its recorded duration [W702]\n",
		"0 collective eager allreduce [0 1] 8B root 0 number 0\n")
	if got, want := dump(g, 2), "0 compute host skipped 3000000ps\n1 compute 1000000ps after 0\n"; got != want {
		t.Errorf("rank 2: got\n%swant\n%s", got, want)
	}
}

func TestCollectivesThatDisagree(t *testing.T) {
	two := file(coll(1, graph.AllReduce, 8), coll(2, graph.AllReduce, 8))
	expect(t, writeSet(t, two, file(coll(1, graph.AllReduce, 8))), Options{},
		"x.0.et: node 2 \"COLL\": error: rank 0 has 2 collectives of the process group \"\", but rank 1 has 1: ALL_REDUCE number 1 has no partner there [E714]\n", "")
	expect(t, writeSet(t, two, file(coll(1, graph.AllReduce, 8), coll(2, graph.AllGather, 8))), Options{},
		"x.1.et: node 2 \"COLL\": error: collective 1 of the process group \"\" is ALL_GATHER of 8 bytes on rank 1, but ALL_REDUCE of 8 bytes on rank 0 (x.0.et: node 2 \"COLL\") [E713]\n", "")
	expect(t, writeSet(t, file(coll(1, graph.Broadcast, 8)), file(coll(1, graph.Broadcast, 8, Int64("root", 1)))), Options{},
		"x.1.et: node 1 \"COLL\": error: collective 0 of the process group \"\" is BROADCAST of 8 bytes with root 1 on rank 1, but BROADCAST of 8 bytes with root 0 on rank 0 (x.0.et: node 1 \"COLL\") [E713]\n", "")
}

// A root is a rank of the group, else a position in it.
func TestRoot(t *testing.T) {
	load := func(attr Attr) string {
		n := file(coll(1, graph.Scatter, 8, String("pg_name", "g"), attr))
		dir := writeSet(t, file(), file(), n, n)
		write(t, dir, "x.json", []byte(`{"g": [3, 2]}`))
		var list diag.List
		g := Load(dir, Options{}, &list)
		if g == nil {
			return list.All()[0].Code
		}
		return dump(g, 2)
	}
	for _, c := range []struct {
		attr Attr
		want string
	}{
		{Int64("root", 2), "0 collective eager scatter [3 2] 8B root 1 number 0\n"},
		{Int64("root_rank", 3), "0 collective eager scatter [3 2] 8B root 0 number 0\n"},
		{Int32("comm_root", 1), "0 collective eager scatter [3 2] 8B root 1 number 0\n"},
		{Int32("comm_src", 2), "0 collective eager scatter [3 2] 8B root 1 number 0\n"},
		{Int64("root", 4), "E715"},
		{Int64("root", -1), "E715"},
	} {
		if got := load(c.attr); got != c.want {
			t.Errorf("%+v: got %q, want %q", c.attr, got, c.want)
		}
	}
}

func TestSkippedCollective(t *testing.T) {
	wrapper := Node{ID: 1, Name: "c10d::allreduce_", Type: CommCollNode, DurationMicros: 4, Attrs: []Attr{Bool("is_cpu_op", true)}}
	expect(t, writeSet(t, file(wrapper)), Options{},
		"x.0.et: node 1 \"c10d::allreduce_\": warning: has no comm_type and is not expanded; it takes its recorded duration [W701]\n",
		"0 compute host skipped 4000000ps\n")
	expect(t, writeSet(t, file(coll(1, 17, 8))), Options{},
		"x.0.et: node 1 \"COLL\": warning: has the unknown comm_type 17 and is not expanded; it takes its recorded duration [W701]\n",
		"0 compute host skipped 0ps\n")
}

func TestWork(t *testing.T) {
	nodes := []Node{
		{ID: 1, Type: CompNode, DurationMicros: 7, Attrs: []Attr{Bool("is_cpu_op", true), Int64("num_ops", 10)}},
		{ID: 2, Type: CompNode, Attrs: []Attr{Int32("is_cpu_op", 0), Int64("num_ops", 10), Uint64("tensor_size", 20)}},
		{ID: 3, Type: CompNode},
		{ID: 4, Type: MemLoadNode, Attrs: []Attr{Uint64("tensor_size", 1024)}},
		{ID: 5, Type: MemStoreNode, DurationMicros: 2, Attrs: []Attr{Uint64("tensor_size", 1024)}},
		{ID: 6, Type: MetadataNode, DurationMicros: 9},
		{ID: 7},
		{ID: 8, Type: 9},
	}
	expect(t, writeSet(t, file(nodes...)), Options{}, ""+
		"x.0.et: node 7: warning: has the type INVALID_NODE or none; it takes no time [W707]\n"+
		"x.0.et: node 8: warning: has the unknown type 9; it takes no time [W707]\n", ""+
		"0 compute host 7000000ps\n1 compute 10 flops 20B\n2 compute 0ps\n3 load 1024B\n4 store 2000000ps\n5 join\n6 join\n7 join\n")
}

func TestValuesOutOfRange(t *testing.T) {
	nodes := []Node{
		{ID: 1, Type: CompNode, DurationMicros: 1 << 60},
		{ID: 2, Type: CommSendNode, Attrs: []Attr{Int64("comm_size", -1), Int64("comm_dst", 1)}},
		{ID: 3, Type: CommRecvNode, Attrs: []Attr{Int64("comm_size", 8), Int64("comm_src", -1)}},
	}
	expect(t, writeSet(t, file(nodes...)), Options{}, ""+
		"x.0.et: node 1: error: the duration of 1152921504606846976 microseconds is too long [E712]\n"+
		"x.0.et: node 2: error: comm_dst is 1, but the ranks are 0 to 0 [E712]\n"+
		"x.0.et: node 2: error: the attribute comm_size is negative: -1 [E712]\n"+
		"x.0.et: node 3: error: comm_src is -1, but the ranks are 0 to 0 [E712]\n", "")
}

func TestMissingSize(t *testing.T) {
	nodes := []Node{
		{ID: 1, Type: CommSendNode, Attrs: []Attr{Uint64("tensor_size", 64), Int64("comm_dst", 0), Int32("comm_tag", -1)}},
		{ID: 2, Type: CommRecvNode, Attrs: []Attr{Int64("comm_src", 0), Int64("comm_tag", 1<<32-1)}},
	}
	expect(t, writeSet(t, file(nodes...)), Options{}, ""+
		"x.0.et: node 1: warning: has no comm_size; its tensor_size of 64 bytes is used [W708]\n"+
		"x.0.et: node 2: warning: has no comm_size; it transfers 0 bytes [W708]\n",
		"0 send eager 0 tag 4294967295 64B\n1 recv 0 tag 4294967295 0B\n")
}

// Two ranks whose dependencies contradict the order of ids keep both: the pass that
// serializes decides, and only where an order is recorded.
func TestOrderVersusDependencies(t *testing.T) {
	a := coll(1, graph.AllReduce, 8)
	a.DataDeps = []uint64{2}
	f := file(a, coll(2, graph.AllReduce, 8))
	g := expect(t, writeSet(t, f, f), Options{}, "",
		"0 collective eager allreduce [0 1] 8B root 0 number 0 after 1\n1 collective eager allreduce [0 1] 8B root 0 number 1\n")
	if g.IssueOrder {
		t.Error("an issue order where none is recorded")
	}
}

func TestIssueOrder(t *testing.T) {
	send := Node{ID: 9, Type: CommSendNode, Attrs: []Attr{Int64("comm_size", 8), Int64("comm_dst", 0), String("pg_name", ""), Int64("comm_seq", 15)}}
	byAttribute := file(coll(1, graph.AllReduce, 8, Int64("comm_seq", 20), Int64("seq_num", 1)), coll(2, graph.AllGather, 8, Int64("comm_seq", 10)), send)
	g := expect(t, writeSet(t, byAttribute), Options{}, "", ""+
		"0 collective eager allreduce [0] 8B root 0 number 1\n"+
		"1 collective eager allgather [0] 8B root 0 number 0\n"+
		"2 send eager 0 tag 0 8B\nchain [1 2 0]\n")
	if !g.IssueOrder {
		t.Error("the recorded issue order is not marked")
	}
	first, second := coll(1, graph.AllReduce, 8), coll(2, graph.AllGather, 8)
	first.StartMicros, second.StartMicros = 200, 100
	expect(t, writeSet(t, file(first, second)), Options{}, "", ""+
		"0 collective eager allreduce [0] 8B root 0 number 1\n1 collective eager allgather [0] 8B root 0 number 0\nchain [1 0]\n")
	second.StartMicros = 200 // equal times order nothing
	expect(t, writeSet(t, file(first, second)), Options{}, "", ""+
		"0 collective eager allreduce [0] 8B root 0 number 0\n1 collective eager allgather [0] 8B root 0 number 1\n")
	expect(t, writeSet(t, file(send)), Options{}, "", "0 send eager 0 tag 0 8B\nchain [0]\n")
}

// --issue-order replaces the usual names, whatever else the attribute means.
func TestIssueOrderAttribute(t *testing.T) {
	a := coll(1, graph.AllReduce, 8, Int64("comm_seq", 1), Int64("my_seq", 2), Int64("comm_tag", 7))
	b := coll(2, graph.AllGather, 8, Int64("comm_seq", 2), String("my_seq", "1"), Int64("comm_tag", 6))
	dir := writeSet(t, file(a, b))
	swapped := "0 collective eager allreduce [0] 8B root 0 number 1\n1 collective eager allgather [0] 8B root 0 number 0\nchain [1 0]\n"
	expect(t, dir, Options{}, "",
		"0 collective eager allreduce [0] 8B root 0 number 0\n1 collective eager allgather [0] 8B root 0 number 1\nchain [0 1]\n")
	expect(t, dir, Options{IssueOrder: "my_seq"},
		"x.0.et: node 2 \"COLL\": warning: the attribute my_seq is a string, read as the number 1 [W705]\n", swapped)
	expect(t, dir, Options{IssueOrder: "comm_tag"}, "", swapped)
	// A name that no node has orders nothing, and is said.
	expect(t, dir, Options{IssueOrder: "seq"},
		"DIR: warning: no node has the attribute \"seq\", which should give the issue order [W712]\n",
		"0 collective eager allreduce [0] 8B root 0 number 0\n1 collective eager allgather [0] 8B root 0 number 1\n")
}

// The graph keeps the ids of the traces, in file order.
func TestNodeIDsAreKept(t *testing.T) {
	g := mustLoad(t, writeSet(t, file(comp(4, 5), comp(5, 6)), file(comp(9, 5), comp(1<<63, 6))), Options{})
	for _, c := range []struct {
		rank, op int32
		want     uint64
	}{{0, 0, 4}, {0, 1, 5}, {1, 0, 9}, {1, 1, 1 << 63}} {
		if got := g.NodeID(c.rank, c.op); got != c.want {
			t.Errorf("rank %d, operation %d: id %d, want %d", c.rank, c.op, got, c.want)
		}
	}
}

// The text converter numbers nodes on across ranks; programs are shared all the same.
func TestIDsAcrossRanks(t *testing.T) {
	g := mustLoad(t, writeSet(t, file(comp(0, 5), comp(1, 6, 0)), file(comp(34, 7), comp(1<<63, 8, 34))), Options{})
	if got, want := dump(g, 1), "0 compute 7000000ps\n1 compute 8000000ps after 0\n"; got != want {
		t.Errorf("rank 1: got\n%swant\n%s", got, want)
	}
	if len(g.Programs) != 1 || len(g.Sites) != 1 {
		t.Errorf("%d programs and %d sites for ranks of one shape and nodes of one name", len(g.Programs), len(g.Sites))
	}
	if s := g.Sites[0]; s.Where() != `x.0.et: node 0 "COMP"` || s.Name != "COMP" || s.Text != "COMP_NODE" {
		t.Errorf("site %+v", s)
	}
}

func TestManyDependencies(t *testing.T) {
	var nodes []Node
	last := Node{ID: 271, Type: CompNode}
	for id := uint64(270); id > 0; id-- {
		last.DataDeps = append(last.DataDeps, id, id)
		last.CtrlDeps = append(last.CtrlDeps, id)
	}
	nodes = append(nodes, last) // all references are forward
	for id := uint64(1); id <= 270; id++ {
		nodes = append(nodes, comp(id, 1))
	}
	g := mustLoad(t, writeSet(t, file(nodes...)), Options{})
	if n := len(g.Programs[0].OpDeps(0)); n != 270 {
		t.Errorf("%d dependencies, want 270", n)
	}
}

func TestLongChain(t *testing.T) {
	const n = 100_000
	nodes := make([]Node, n)
	for i := range nodes {
		nodes[i] = comp(uint64(i), 1)
		if i > 0 {
			nodes[i].DataDeps = []uint64{uint64(i - 1)}
		}
	}
	g := mustLoad(t, writeSet(t, file(nodes...)), Options{})
	if got := len(g.Programs[0].Deps); got != n-1 {
		t.Errorf("%d dependencies, want %d", got, n-1)
	}
	nodes[0].DataDeps = []uint64{n - 1}
	_, text := load(t, writeSet(t, file(nodes...)), Options{})
	if !strings.Contains(text, "waits for ... 99992 more nodes waits for") || len(text) > 500 {
		t.Errorf("cycle of %d nodes: %.600s", n, text)
	}
}

func TestUnknownOptions(t *testing.T) {
	dir := writeSet(t, file())
	expect(t, dir, Options{Dependencies: "dta", Schema: "0.0.5"}, ""+
		"error: unknown choice of dependencies \"dta\"; did you mean \"data\"? [E717]\n      = one of auto, both, data, ctrl\n"+
		"error: unknown schema version \"0.0.5\"; did you mean \"0.0.4\"? [E717]\n      = one of 1.0.0, 0.0.4, 0.0.3, 0.0.2, 0.0.1\n", "")
}

// Findings of many nodes and files become one.
func TestEqualFindingsMerge(t *testing.T) {
	n := coll(1, graph.AllReduce, 8)
	n.Attrs = n.Attrs[:1]
	m := n
	m.ID = 2
	_, text := load(t, writeSet(t, file(n, m), file(n, m), file(n, m)), Options{})
	want := "x.0.et: node 1 \"COLL\": warning: has no comm_size and is not expanded; it takes its recorded duration [W701]\n" +
		"      = and 5 more like it\n      = in 3 files\n"
	if text != want {
		t.Errorf("got\n%s", text)
	}
}
