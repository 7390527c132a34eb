package networks

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hybrid/internal/diag"
	"hybrid/internal/units"
)

// load fails the test unless the embedded network has neither errors nor warnings.
func load(t *testing.T, name string, sets ...string) *Network {
	t.Helper()
	var l diag.List
	n := Load(name, sets, &l)
	if n == nil || l.Len() != 0 {
		t.Fatalf("%s: %s", name, messages(&l))
	}
	return n
}

func TestEmbedded(t *testing.T) {
	seen := map[string]bool{}
	for _, i := range Embedded() {
		n := load(t, i.Name)
		if n.Name != i.Name || n.Summary == "" || n.Summary != i.Summary || n.Source == "" {
			t.Errorf("%s: name %q, summary %q, source %q", i.Name, n.Name, n.Summary, n.Source)
		}
		seen[i.Name] = true
	}
	if !seen[Default()] || !seen["ideal"] || !seen["roce-leaf-spine-400g"] {
		t.Errorf("embedded: %v", seen)
	}
}

// oneWay is the time of an uncontended transfer over h equal links with switches that
// store and forward: all packets, then the largest h-1 times, h delays and h-1 switches.
func oneWay(f Fabric, size int64, h int64) int64 {
	n, wire := f.Wire.Message(size, f.MTU)
	largest := int64(0)
	for i := range n {
		largest = max(largest, f.Wire.Packet(i, n, min(f.MTU, size-i*f.MTU)))
	}
	b := f.Link.PerByte
	return (wire+(h-1)*largest)*b.Num/b.Den + h*f.Link.Delay + (h-1)*f.Switch.Latency
}

// The inter-node figures of the switched networks are what their own fabric gives on
// its longest path, exactly for Hockney and to a
// picosecond for LogGP, for messages of less than a packet and of whole packets.
func TestEmbeddedClosedFormMatchesFabric(t *testing.T) {
	for _, name := range []string{"ib-fat-tree-200g", "roce-leaf-spine-400g"} {
		n := load(t, name)
		l := n.Levels[InterNode]
		for _, size := range []int64{1, 8, 4095, 4096, 8192, 1 << 20, 1 << 30} {
			g, h := l.LogGPAt(size), l.HockneyAt(size)
			want := oneWay(n.Fabric, size, 4)
			// L is whole picoseconds, and one G in it may be a fraction more.
			if got := g.L + (size-1)*g.G.Num/g.G.Den; got != want && got != want-1 {
				t.Errorf("%s, %d B: L + (s-1) G = %d ps, the fabric takes %d", name, size, got, want)
			}
			if got := h.Latency + size*h.PerByte.Num/h.PerByte.Den; got != want+2*g.Overhead {
				t.Errorf("%s, %d B: Hockney %d ps, want %d", name, size, got, want+2*g.Overhead)
			}
		}
	}
	n := load(t, "ideal")
	if l := n.Levels[InterNode]; l.Hockney[0] != (HockneyPiece{0, 500_000, units.Int(20)}) || n.Fabric.Link != (LinkSpec{units.Int(20), 500_000}) ||
		l.LogGP[0] != (LogGPPiece{L: 500_020, G: units.Int(20), O: units.Int(0)}) {
		t.Errorf("ideal: %+v, link %+v", l, n.Fabric.Link)
	}
}

// A run on an embedded network keeps an exact clock.
func TestEmbeddedClock(t *testing.T) {
	for _, i := range Embedded() {
		n := load(t, i.Name)
		rates := []units.Rat{n.Fabric.Link.PerByte, n.Node.CopyPerByte}
		for _, l := range n.Levels {
			if l != nil {
				rates = append(rates, l.Rates()...)
			}
		}
		if c := units.NewClock(rates...); !c.Exact {
			t.Errorf("%s: the rates %v have no common tick", i.Name, rates)
		}
	}
}

// RoCEv2 at MTU 4096: a first or only packet has 98 B beside its payload, another 82;
// 1 MiB is 256 packets of 4096 + 82, and 16 B more on the first.
func TestWireMessage(t *testing.T) {
	tests := []struct {
		preset         string
		size           int64
		packets, bytes int64
	}{
		{"rocev2", 0, 1, 98}, {"rocev2", 1, 1, 99}, {"rocev2", 4096, 1, 4194}, {"rocev2", 4097, 2, 4277},
		{"rocev2", 65536, 16, 66864}, {"rocev2", 1 << 20, 256, 1069584},
		{"scala-roce", 4096, 1, 4154}, {"scala-uet", 1 << 20, 256, 1075712}, {"uet", 8192, 2, 8192 + 126 + 114},
		{"mrc", 8192, 2, 2 * 4222}, {"htsim", 4096, 1, 4160}, {"ns3", 4096, 1, 4144}, {"none", 5000, 2, 5000},
		{"infiniband", 8192, 2, 8192 + 42 + 26},
	}
	for _, tt := range tests {
		w, ok := WirePreset(tt.preset)
		if p, b := w.Message(tt.size, 4096); !ok || p != tt.packets || b != tt.bytes {
			t.Errorf("%s, %d B: %d packets of %d B, want %d of %d", tt.preset, tt.size, p, b, tt.packets, tt.bytes)
		}
	}
	for preset, ack := range map[string]int64{"rocev2": 86, "scala-roce": 126, "htsim": 64, "ns3": 60, "mrc": 138, "none": 0} {
		if w, _ := WirePreset(preset); w.Ack != ack {
			t.Errorf("%s: ACK of %d B, want %d", preset, w.Ack, ack)
		}
	}
	if p, b := (Wire{Only: 10, MinFrame: 84}).Message(1, 4096); p != 1 || b != 84 {
		t.Errorf("least frame: %d packets of %d B", p, b)
	}
}

func TestWireOverride(t *testing.T) {
	n := load(t, "ideal", "fabric.wire=rocev2", "fabric.wire.ack=64B", "nic.transport=roce", "levels.inter_node.eager_limit=64KiB", "levels.inter_node.loggp.G=0.025ns/B", "levels.inter_node.hockney.bandwidth=40GB/s")
	want := Wire{Name: "rocev2", First: 98, Middle: 82, Last: 82, Only: 98, Ack: 64}
	if n.Fabric.Wire == want && n.NIC.Transport == "roce" {
		return
	}
	t.Errorf("wire %+v, transport %s", n.Fabric.Wire, n.NIC.Transport)
}

func TestPieces(t *testing.T) {
	l := load(t, "ib-fat-tree-200g").Levels[IntraChip]
	for size, from := range map[int64]int64{0: 0, 32767: 0, 32768: 32768, 1 << 40: 32768} {
		if h, g := l.HockneyAt(size), l.LogGPAt(size); h.From != from || g.From != from {
			t.Errorf("%d B: pieces from %d and %d, want %d", size, h.From, g.From, from)
		}
	}
}

func TestLevelFallback(t *testing.T) {
	at := func(ids ...LevelID) *Network {
		n := new(Network)
		for _, id := range ids {
			n.Levels[id] = &Level{EagerLimit: int64(id)}
		}
		return n
	}
	tests := []struct {
		n        *Network
		id, want LevelID
		ok       bool
	}{
		{at(IntraChip, InterNode), IntraChip, IntraChip, true},
		{at(IntraChip, InterNode), InterChip, InterNode, true}, // wider before narrower
		{at(IntraChip, InterNode), InterCluster, InterNode, true},
		{at(IntraChip), InterCluster, IntraChip, true},
		{at(), InterNode, InterNode, false},
	}
	for _, tt := range tests {
		l, from, ok := tt.n.Level(tt.id)
		if ok != tt.ok || from != tt.want || ok && l.EagerLimit != int64(tt.want) {
			t.Errorf("level %s: %v from %s, %v", tt.id, l, from, ok)
		}
	}
}

// Every mistake of a file is reported, at its place.
func TestLoadFindings(t *testing.T) {
	const src = `name: other
levls: 2
levels:
  inter_node:
    hockney: {latency: 500, bandwidth: 5us}
    loggp:
      pieces:
        - {from: 5B, L: 1us, o: 1us, G: 1ns/B}
        - {from: 5B, L: -1us, o: 1us}
  intra_chip: {eager_limit: 1KiB}
fabric:
  link: {rate: 400Gbps}
  switch: {forwarding: cut-thru}
  wire: rocev1
  mtu: 0B
scale_up: 5
`
	want := `cluster.yml:1:7: warning: name is "other", but the file is called "cluster" [W820]
cluster.yml:2:1: error: unknown key "levls" in the document; did you mean "levels"? [E804]
cluster.yml:4:3: warning: inter_node has no eager_limit: every message is eager [W823]
cluster.yml:5:24: error: inter_node.hockney.latency: 500 has no unit; a time such as 1.5us is expected [E807]
cluster.yml:5:40: error: inter_node.hockney.bandwidth: 5us is a time; a rate such as 400Gbps is expected [E807]
cluster.yml:8:18: error: the first piece of loggp begins at 5B; it must begin at 0B [E812]
cluster.yml:9:12: error: "G" is missing in inter_node.loggp [E805]
cluster.yml:9:18: error: this piece of loggp begins at 5B, not above the 5B of the one before it [E812]
cluster.yml:9:25: error: inter_node.loggp.L: -1us is out of range; it must be at least 0ns [E808]
cluster.yml:10:3: error: intra_chip has parameters of neither hockney nor loggp [E816]
cluster.yml:12:3: error: "delay" is missing in fabric.link [E805]
cluster.yml:13:24: error: fabric.switch.forwarding: "cut-thru" is not one of store-and-forward, cut-through [E809]
cluster.yml:14:9: error: unknown wire preset "rocev1"; did you mean "rocev2"? [E809]
cluster.yml:15:8: error: fabric.mtu: 0B is out of range; it must be from 1B to 1MiB [E808]
cluster.yml:16:11: error: scale_up is a value; a mapping is expected [E806]
`
	var l diag.List
	if n := Parse("sub/cluster.yml", []byte(src), nil, &l); n != nil {
		t.Error("a network with errors is returned")
	}
	if d := cmp.Diff(want, strings.ReplaceAll(messages(&l), "sub/", "")); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestLoadByName(t *testing.T) {
	tests := []struct{ name, want string }{
		{"ib-fat-tree-20g", "error: no network is called \"ib-fat-tree-20g\"; did you mean \"ib-fat-tree-200g\"? [E810]\n"},
		{"no/such.yml", "no/such.yml: error: the network file cannot be read: no such file or directory [E811]\n"},
	}
	for _, tt := range tests {
		var l diag.List
		if n := Load(tt.name, nil, &l); n != nil || messages(&l) != tt.want {
			t.Errorf("%s: %s", tt.name, messages(&l))
		}
	}
	src, ok := Source("ideal")
	file := filepath.Join(t.TempDir(), "mine.yml")
	if err := os.WriteFile(file, src, 0o666); err != nil || !ok {
		t.Fatal(err, ok)
	}
	var l diag.List
	if n := Load(file, nil, &l); n == nil || l.CountOf(diag.Warning) != 1 { // the name differs
		t.Errorf("%s: %s", file, messages(&l))
	}
}

func TestFasterThanTheWire(t *testing.T) {
	// 400 Gbit/s is 20 ps a byte; RoCEv2 needs 20 * 4178/4096 = 20.4003... ps for a byte of payload.
	for g, warns := range map[string]bool{"0.0204ns/B": true, "0.0205ns/B": false, "0.02ns/B": true} {
		var l diag.List
		n := Load("ideal", []string{"fabric.wire=rocev2", "nic=roce", "levels.inter_node.eager_limit=64KiB", "levels.inter_node.hockney.bandwidth=" + g, "levels.inter_node.loggp.G=" + g}, &l)
		if n == nil || (l.Len() > 0) != warns || warns && l.All()[0].Code != "W821" {
			t.Errorf("G %s: %s", g, messages(&l))
		}
	}
}

// A file of levels alone, as fitting measurements gives it, can be simulated: the
// links take Hockney's figures.
func TestLevelsAlone(t *testing.T) {
	var l diag.List
	n := Parse("fit.yml", []byte("levels: {inter_node: {eager_limit: 64KiB, loggp: {L: 1us, o: 250ns, G: 0.08ns/B}}}"), nil, &l)
	if n == nil || l.CountOf(diag.Warning) != 0 {
		t.Fatal(messages(&l))
	}
	// L + 2o - G = 1000 + 500 - 0.08 ns
	if h := n.Levels[InterNode].Hockney[0]; h.Latency != 1_499_920 || h.PerByte != units.Int(80) {
		t.Errorf("derived Hockney parameters %+v", h)
	}
	if topo := n.Topology(3, &l); n.Fabric.Link != (LinkSpec{units.Int(80), 1_499_920}) || topo.Kind() != "direct" || n.NIC.Transport != "ideal" {
		t.Errorf("link %+v, topology %s, transport %s", n.Fabric.Link, topo.Describe(), n.NIC.Transport)
	}
	if n := Parse("empty.yml", nil, nil, &l); n != nil {
		t.Error("an empty file is a network")
	}
}

// The other way round: 1 us and 8 bytes at 80 ps are the same in both models.
func TestHockneyAlone(t *testing.T) {
	var l diag.List
	n := Parse("h.yml", []byte("levels: {inter_node: {eager_limit: 64KiB, hockney: {latency: 1us, bandwidth: 12.5GB/s}}}"), nil, &l)
	if n == nil {
		t.Fatal(messages(&l))
	}
	p := n.Levels[InterNode].LogGP[0]
	if got := p.L + 2*p.Overhead + 7*p.G.Num/p.G.Den; got != 1_000_640 {
		t.Errorf("LogGP time of 8 B is %d ps by %+v", got, p)
	}
}

func TestSectionsOfOthers(t *testing.T) {
	var l diag.List
	n := Parse("a.yml", []byte("fabric: {link: {rate: 1Gbps, delay: 1us}, switch: {ecn: {kmin: 1KB}}}\nnic:\n  transport: roce\n  window: 5\n"), nil, &l)
	if n == nil {
		t.Fatal(messages(&l))
	}
	if w := n.NIC.Section.Get("window"); w == nil || w.KeyPos.Line != 4 || n.NIC.Section.Get("transport") != nil {
		t.Errorf("nic section %+v", n.NIC.Section)
	}
	if e := n.Fabric.Switch.Section.At("ecn", "kmin"); e == nil || e.Text != "1KB" {
		t.Errorf("switch section %+v", n.Fabric.Switch.Section)
	}
}

func TestSchemaAndParameters(t *testing.T) {
	var s map[string]any
	first, second := Schema(nil, nil, nil), Schema(nil, nil, nil)
	if err := json.Unmarshal(first, &s); err != nil {
		t.Fatal(err)
	}
	if string(first) != string(second) {
		t.Error("two runs give different bytes")
	}
	docs := map[string]string{}
	for _, f := range Parameters() {
		docs[f.Path] = f.Doc
		if f.Doc == "" {
			t.Errorf("%s has no sentence", f.Path)
		}
	}
	for _, p := range []string{"fabric.link.rate", "topology.k", "topology.hosts_per_leaf", "levels.inter_node.loggp.G", "fabric.wire.ack", "nic.transport"} {
		if docs[p] == "" {
			t.Errorf("%s is not among the parameters", p)
		}
	}
	if len(Topologies()) != 9 || len(WirePresets()) != 9 {
		t.Errorf("%d topologies, %d presets", len(Topologies()), len(WirePresets()))
	}
}

func FuzzParse(f *testing.F) {
	for _, i := range Embedded() {
		src, _ := Source(i.Name)
		f.Add(string(src))
	}
	f.Add("levels: {inter_node: {loggp: {pieces: []}}}\ntopology: {kind: leaf-spine, leaves: 0}")
	f.Fuzz(func(t *testing.T, src string) {
		var l diag.List
		n := Parse("f.yml", []byte(src), nil, &l)
		if (n == nil) != l.HasErrors() {
			t.Fatalf("network %v with findings %s", n != nil, messages(&l))
		}
		if n == nil {
			return
		}
		if topo := n.Topology(4, &l); topo != nil && topo.Hosts() <= 64 {
			checkRoutes(t, topo, int32(topo.Hosts()-1))
		}
	})
}
