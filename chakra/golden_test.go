package chakra

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"hybrid/graph"
	"hybrid/internal/diag"
)

// goldenSet is a small trace set that the documentation and the scripts use.
type goldenSet struct {
	name, prefix string
	ranks        int
	rank         func(r int) []Node
	// groups is the text of a side file, or "".
	groups string
}

func goldenSets() []goldenSet {
	return []goldenSet{
		{name: "allreduce", prefix: "allreduce", ranks: 4, rank: func(int) []Node {
			return []Node{coll(1, graph.AllReduce, 1<<20, Bool("is_cpu_op", false))}
		}},
		{name: "pingpong", prefix: "pingpong", ranks: 2, rank: pingPongRank},
		{name: "ring", prefix: "ring", ranks: 4, rank: ringRank},
		{name: "training", prefix: "job", ranks: 4, rank: trainingRank,
			groups: "{\n  \"tp0\": [0, 1],\n  \"tp1\": [2, 3],\n  \"dp0\": [0, 2],\n  \"dp1\": [1, 3]\n}\n"},
	}
}

func transfer(t NodeType, id uint64, peer int, size int64, tag int32, data ...uint64) Node {
	side, name := "comm_dst", "SEND"
	if t == CommRecvNode {
		side, name = "comm_src", "RECV"
	}
	return Node{ID: id, Name: name, Type: t, DataDeps: data, Attrs: []Attr{Int64("comm_size", size), Int32(side, int32(peer)), Int32("comm_tag", tag)}}
}

// pingPongRank sends 64 KiB forth and back four times.
func pingPongRank(r int) []Node {
	var nodes []Node
	for i := range 8 {
		kind := CommSendNode
		if i%2 != r {
			kind = CommRecvNode
		}
		var deps []uint64
		if i > 0 {
			deps = []uint64{uint64(i)}
		}
		nodes = append(nodes, transfer(kind, uint64(i+1), 1-r, 64<<10, int32(i/2), deps...))
	}
	return nodes
}

// ringRank computes 10 us, then passes 4 KiB to the next rank, three times.
func ringRank(r int) []Node {
	var nodes []Node
	for i := range uint64(3) {
		id := 3*i + 1
		n := comp(id, 10)
		if i > 0 {
			n.DataDeps = []uint64{id - 2, id - 1}
		}
		nodes = append(nodes, n, transfer(CommSendNode, id+1, (r+1)%4, 4096, int32(i), id), transfer(CommRecvNode, id+2, (r+3)%4, 4096, int32(i), id))
	}
	return nodes
}

// trainingRank is two layers of tensor and data parallelism, each reduced within
// the groups of a side file.
func trainingRank(r int) []Node {
	var nodes []Node
	id := uint64(0)
	add := func(n Node, deps ...uint64) uint64 {
		id++
		n.ID, n.DataDeps = id, deps
		nodes = append(nodes, n)
		return id
	}
	named := func(n Node, name string) Node {
		n.Name = name
		return n
	}
	tp, dp := String("pg_name", fmt.Sprintf("tp%d", r/2)), String("pg_name", fmt.Sprintf("dp%d", r%2))
	var last []uint64
	for layer := range 2 {
		f := add(named(comp(0, 40), fmt.Sprintf("layer%d.forward", layer)), last...)
		a := add(named(coll(0, graph.AllReduce, 256<<10, tp), fmt.Sprintf("layer%d.activations", layer)), f)
		last = []uint64{a}
	}
	for layer := 1; layer >= 0; layer-- {
		b := add(named(comp(0, 80), fmt.Sprintf("layer%d.backward", layer)), last...)
		add(named(coll(0, graph.AllReduce, 512<<10, dp), fmt.Sprintf("layer%d.gradients", layer)), b)
		last = []uint64{b}
	}
	return nodes
}

// The committed traces are what the encoder writes, and load without a finding.
// HYBRID_UPDATE=1 writes them anew.
func TestGoldenTraces(t *testing.T) {
	base := filepath.Join(repoRoot(t), "testdata", "traces")
	for _, s := range goldenSets() {
		dir := filepath.Join(base, s.name)
		files := map[string][]byte{}
		for r := range s.ranks {
			files[fmt.Sprintf("%s.%d.et", s.prefix, r)] = file(s.rank(r)...)
		}
		if s.groups != "" {
			files[s.prefix+".json"] = []byte(s.groups)
		}
		for name, data := range files {
			path := filepath.Join(dir, name)
			if os.Getenv("HYBRID_UPDATE") != "" {
				if err := os.MkdirAll(dir, 0o777); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, data, 0o666); err != nil {
					t.Fatal(err)
				}
			}
			if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, data) {
				t.Errorf("%s differs from what the encoder writes (%v); HYBRID_UPDATE=1 writes it anew", path, err)
			}
		}
		var list diag.List
		if g := Load(dir, Options{}, &list); g == nil || list.Len() > 0 || g.Ranks != s.ranks || g.Name != s.prefix {
			t.Errorf("%s: %+v", s.name, list.All())
		}
	}
}
