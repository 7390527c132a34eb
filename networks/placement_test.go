package networks

import (
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"hybrid/internal/diag"
)

func TestPlacement(t *testing.T) {
	p, err := NewPlacement(6, PlacementOptions{RanksPerNode: 4, SocketsPerNode: 2, DomainsPerSocket: 1, CoresPerDomain: 2})
	if err != nil {
		t.Fatal(err)
	}
	want := &Placement{Node: []int32{0, 0, 0, 0, 1, 1}, Socket: []int32{0, 0, 1, 1, 2, 2}, Domain: []int32{0, 0, 1, 1, 2, 2},
		Nodes: 2, Kind: "block", RanksPerNode: 4}
	if d := cmp.Diff(want, p); d != "" {
		t.Errorf("block (-want +got):\n%s", d)
	}
	for _, tt := range []struct {
		a, b int32
		want LevelID
	}{{0, 0, IntraChip}, {0, 1, IntraChip}, {1, 2, InterChip}, {3, 4, InterNode}} {
		if got := p.Level(tt.a, tt.b); got != tt.want {
			t.Errorf("ranks %d and %d: %s, want %s", tt.a, tt.b, got, tt.want)
		}
	}
	if got := p.Describe(); got != "6 ranks on 2 nodes, block, 4 a node" {
		t.Error(got)
	}
}

func TestPlacementKinds(t *testing.T) {
	rr, err := NewPlacement(5, PlacementOptions{RanksPerNode: 2, Kind: "round-robin"})
	if err != nil || cmp.Diff([]int32{0, 1, 2, 0, 1}, rr.Node) != "" {
		t.Errorf("round-robin: %+v, %v", rr, err)
	}
	file, err := NewPlacement(4, PlacementOptions{NodeOf: []int32{2, 2, 0, 2}})
	if err != nil || file.Nodes != 3 || file.RanksPerNode != 3 || file.Kind != "file" {
		t.Errorf("file: %+v, %v", file, err)
	}
	// Five ranks on two domains of two cores: the fifth shares the first core again.
	over, err := NewPlacement(5, PlacementOptions{RanksPerNode: 8, DomainsPerSocket: 2, CoresPerDomain: 2})
	if err != nil || cmp.Diff([]int32{0, 0, 1, 1, 0}, over.Domain) != "" || over.Level(0, 2) != IntraChip {
		t.Errorf("oversubscribed: %+v, %v", over, err)
	}
}

func TestPlacementErrors(t *testing.T) {
	for _, tt := range []struct {
		ranks int
		opt   PlacementOptions
		want  string
	}{
		{0, PlacementOptions{}, "0 ranks cannot be placed"},
		{4, PlacementOptions{RanksPerNode: -1}, "a negative number of ranks per node, sockets, domains or cores"},
		{4, PlacementOptions{Kind: "scatter"}, `placement "scatter" is neither block nor round-robin`},
		{4, PlacementOptions{NodeOf: []int32{0}}, "the placement names the nodes of 1 ranks, but there are 4"},
		{1, PlacementOptions{NodeOf: []int32{-3}}, "rank 0 is placed on node -3, which is not a node number"},
	} {
		if _, err := NewPlacement(tt.ranks, tt.opt); err == nil || err.Error() != tt.want {
			t.Errorf("%+v: %v, want %s", tt.opt, err, tt.want)
		}
	}
}

// No node holds more ranks than it may, a domain lies in one socket, a socket in one
// node, and distance is symmetric.
func TestPlacementProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		opt := PlacementOptions{RanksPerNode: rapid.IntRange(1, 9).Draw(t, "ranks a node"), Kind: rapid.SampledFrom([]string{"block", "round-robin"}).Draw(t, "kind"),
			SocketsPerNode: rapid.IntRange(0, 3).Draw(t, "sockets"), DomainsPerSocket: rapid.IntRange(0, 3).Draw(t, "domains"), CoresPerDomain: rapid.IntRange(0, 3).Draw(t, "cores")}
		p, err := NewPlacement(rapid.IntRange(1, 40).Draw(t, "ranks"), opt)
		if err != nil {
			t.Fatal(err)
		}
		load, socketOf, nodeOf := map[int32]int{}, map[int32]int32{}, map[int32]int32{}
		for r := range p.Node {
			if load[p.Node[r]]++; load[p.Node[r]] > opt.RanksPerNode || int(p.Node[r]) >= p.Nodes {
				t.Fatalf("node %d of %d holds %d ranks", p.Node[r], p.Nodes, load[p.Node[r]])
			}
			if s, ok := socketOf[p.Domain[r]]; ok && s != p.Socket[r] {
				t.Fatalf("domain %d lies in sockets %d and %d", p.Domain[r], s, p.Socket[r])
			}
			if n, ok := nodeOf[p.Socket[r]]; ok && n != p.Node[r] {
				t.Fatalf("socket %d lies in nodes %d and %d", p.Socket[r], n, p.Node[r])
			}
			socketOf[p.Domain[r]], nodeOf[p.Socket[r]] = p.Socket[r], p.Node[r]
			if a, b := p.Level(0, int32(r)), p.Level(int32(r), 0); a != b {
				t.Fatalf("distance of 0 and %d: %s and %s", r, a, b)
			}
		}
	})
}

func ExampleNewPlacement() {
	p, err := NewPlacement(8, PlacementOptions{RanksPerNode: 4, SocketsPerNode: 2, CoresPerDomain: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p.Describe())
	fmt.Println(p.Level(0, 1), p.Level(0, 2), p.Level(0, 4))
	// Output:
	// 8 ranks on 2 nodes, block, 4 a node
	// intra_chip inter_chip inter_node
}

func TestPlacementOfMapping(t *testing.T) {
	scaleUp := &ScaleUpPlacement{Group: []int32{1, -1, 1}, Subgroup: []uint32{0, 0, 3}, Groups: make([]ScaleUpGroup, 2)}
	p, err := NewPlacement(3, PlacementOptions{NodeOf: []int32{4, 0, 2}, Mapping: "a.map", ScaleUp: scaleUp, SocketsPerNode: 2})
	if err != nil {
		t.Fatal(err)
	}
	want := &Placement{Node: []int32{4, 0, 2}, Socket: []int32{8, 0, 4}, Domain: []int32{8, 0, 4}, Nodes: 5, Kind: "mapping",
		RanksPerNode: 1, Mapping: "a.map", ScaleUp: scaleUp}
	if d := cmp.Diff(want, p); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if got := p.Describe(); got != "mapping a.map: 3 ranks on 3 servers, 2 scale-up groups" {
		t.Error(got)
	}
	if d := cmp.Diff([]int32{1, -1, 1}, p.Units()); d != "" {
		t.Error(d)
	}
	if p, err = NewPlacement(1, PlacementOptions{NodeOf: []int32{0}, Mapping: "a.map"}); err != nil || p.Describe() != "mapping a.map: 1 rank on 1 server" {
		t.Errorf("%s, %v", p.Describe(), err)
	}
}

func TestPlacementUnits(t *testing.T) {
	for _, c := range []struct {
		opt  PlacementOptions
		want []int32
	}{
		{PlacementOptions{RanksPerNode: 2}, []int32{0, 0, 1, 1}},
		{PlacementOptions{RanksPerNode: 2, Kind: "round-robin"}, []int32{0, 1, 0, 1}},
		{PlacementOptions{}, []int32{-1, -1, -1, -1}},
		{PlacementOptions{NodeOf: []int32{3, 3, 3, 0}}, []int32{3, 3, 3, 0}},
		// Nodes are numbered behind the groups.
		{PlacementOptions{NodeOf: []int32{0, 0, 1, 1}, Mapping: "m", ScaleUp: &ScaleUpPlacement{Group: []int32{-1, 1, -1, 1}, Groups: make([]ScaleUpGroup, 2)}}, []int32{2, 1, 3, 1}},
	} {
		p, err := NewPlacement(4, c.opt)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(c.want, p.Units()); d != "" {
			t.Errorf("%+v: %s", c.opt, d)
		}
	}
}

func TestHosts(t *testing.T) {
	for _, c := range []struct {
		topology     string
		nodes, hosts int
	}{
		{"{kind: star, hosts: 5}", 9, 5},
		{"star", 9, 9},
		{"star", 0, 1},
		{"{kind: fat-tree, k: 4}", 1, 16},
		{"fat-tree", 17, 54}, // k = 6: 6^3/4 hosts
	} {
		var list diag.List
		n := Load("ideal", []string{"topology=" + c.topology}, &list)
		if n == nil {
			t.Fatal(list.Err())
		}
		if got, err := n.Hosts(c.nodes); err != nil || got != c.hosts {
			t.Errorf("%s for %d nodes: %d hosts, %v, want %d", c.topology, c.nodes, got, err, c.hosts)
		}
	}
}

// Sizes of scale-up packets have limits, and both ends are in.
func TestScaleUpRanges(t *testing.T) {
	for _, c := range []struct{ set, want string }{
		{"scale_up.payload=1B", ""},
		{"scale_up.payload=64MiB", ""},
		{"scale_up.header=0B", ""},
		{"scale_up.header=64MiB", ""},
		{"scale_up.payload=0B", "scale_up.payload: 0B is out of range; it must be from 1B to 64MiB"},
		{"scale_up.payload=67108865B", "scale_up.payload: 67108865B is out of range; it must be from 1B to 64MiB"},
		{"scale_up.header=67108865B", "scale_up.header: 67108865B is out of range; it must be from 0B to 64MiB"},
	} {
		var list diag.List
		Load("ideal", []string{c.set}, &list)
		got := ""
		for _, d := range list.All() {
			if d.Severity == diag.Error {
				got = d.Message
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.set, got, c.want)
		}
	}
	var list diag.List
	if n := Load("ideal", nil, &list); n == nil || n.ScaleUp != (ScaleUp{Header: 24, Payload: 4096}) {
		t.Errorf("defaults %+v", n)
	}
}

// A hop and two cables within a subgroup, three and four between: 100 + 2*10 and
// 300 + 4*10. What does not fit is as long as anything can be.
func TestScaleUpCrossing(t *testing.T) {
	s := ScaleUpPlacement{Group: []int32{0, 0, 0, 1, 1}, Subgroup: []uint32{0, 0, 1, 0, 0},
		Groups: []ScaleUpGroup{{Hop: 100, Cable: 10}, {Hop: math.MaxInt64 / 2, Cable: 1}}}
	for _, c := range []struct {
		a, b int32
		want int64
	}{{0, 1, 120}, {0, 2, 340}, {2, 1, 340}, {3, 4, math.MaxInt64}} {
		if got := s.Crossing(c.a, c.b); got != c.want {
			t.Errorf("ranks %d and %d: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
