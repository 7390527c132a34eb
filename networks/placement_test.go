package networks

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
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
