package networks

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hybrid/internal/diag"
	"hybrid/internal/units"
)

// wire builds the topology of a file's text with links of 400 Gbit/s and 500 ns.
func wire(t testing.TB, text string) (Topology, string) {
	t.Helper()
	var l diag.List
	w := parseWiring("net", text, &l)
	if w == nil {
		return nil, messages(&l)
	}
	topo, err := w.build(LinkSpec{units.Int(20), 500_000})
	if err != nil {
		return nil, messages(&l) + err.Error() + "\n"
	}
	return topo, messages(&l)
}

const htsim2 = `# two tiers, 2:1
Nodes 32
Tiers 2
Podsize 32
Tier 0
Downlink_speed_Gbps 100
Radix_Down 8
Radix_Up 4
Oversubscribed 2
Downlink_Latency_ns 100
Switch_Latency_ns 7
Tier 1
Downlink_speed_Gbps 100
Radix_Down 8
Bundle 2
Downlink_Latency_ns 300
Switch_Latency_ns 11
`

const htsim3 = `Nodes 128
Tiers 3
Podsize 16
Tier 0
downlink_speed_gbps 200
radix_up 4
radix_down 4
Queue_Up 100000
downlink_latency_ns 1000
Tier 1
downlink_speed_gbps 200
radix_up 4
radix_down 4
downlink_latency_ns 1000
Tier 2
downlink_speed_gbps 200
radix_down 8
downlink_latency_ns 1000
`

// Two servers of two GPUs with an NVSwitch each, a leaf for each rail, two spines.
const simai = `10 2 2 4 12 H100
4 5 6 7 8 9
0 4 2880Gbps 0.000025ms 0
1 4 2880Gbps 0.000025ms 0
2 5 2880Gbps 0.000025ms 0
3 5 2880Gbps 0.000025ms 0
0 6 400Gbps 0.0005ms 0
1 7 400Gbps 0.0005ms 0
2 6 400Gbps 0.0005ms 0
3 7 400Gbps 0.0005ms 0
6 8 400Gbps 0.0005ms 0
6 9 400Gbps 0.0005ms 0
7 8 400Gbps 0.0005ms 0
7 9 400Gbps 0.0005ms 0
`

const hpcc = `6 2 5
2 5
0 2 100Gbps 1000ns 0.000000
1 2 100Gbps 1000ns 0.000000
3 5 100Gbps 1us 0.000000
4 5 100Gbps 0.001ms 0.01
2 5 400Gbps 1000ns 0.000000
`

func topologyFiles() map[string]string {
	return map[string]string{"htsim2": htsim2, "htsim3": htsim3, "simai": simai, "hpcc": hpcc,
		"ring":  "topology: [ Ring ]\nnpus_count: [ 8 ]\nbandwidth: [ 50.0 ]  # GB/s\nlatency: [ 500.0 ]  # ns\n",
		"hgx":   "topology: [Switch]\nnpus_count: [8]\nbandwidth: [400.0]\nlatency: [936.25]\n",
		"full":  "topology: [FullyConnected]\nnpus_count: [5]\nbandwidth: [50]\nlatency: [500]\n",
		"grid":  "topology: [Ring, Switch, FullyConnected]\nnpus_count: [4, 2, 3]\nbandwidth: [200, 100, 50]\nlatency: [50, 500, 700]\n",
		"pair":  "topology: [Ring]\nnpus_count: [2]\nbandwidth: [50]\nlatency: [500]\n",
		"edges": "h1 s1\nh2 s1\nh10 s2 100Gbps\ns1 s2 800Gbps 50ns\ns1 s2 800Gbps 50ns\n",
		// Two hosts with a cable of their own beside the switch.
		"named": "host a b c\na x\nb x\nc x\na b 800Gbps 10ns\n",
	}
}

// Counts by hand. htsim: 32 hosts on 4 switches, 2 above with trunks of 2: 2*(32+4*2*2)
// links; a 2:1 taper leaves 16 of 32 links. 128 hosts: a fat tree of 8-port switches. GB
// of ASTRA-sim are 2^30 B: half of 8 links of 400 GB/s are 1600*2^30*8 bit/s.
func TestTopologyFiles(t *testing.T) {
	for name, want := range map[string]string{
		"htsim2": "file htsim .topo: 32 hosts, 6 switches, bisection 800Gbps, diameter 4 links; 96 links",
		"htsim3": "file htsim .topo: 128 hosts, 80 switches, bisection 12.8Tbps, diameter 6 links; 768 links",
		"simai":  "file SimAI topology: 4 hosts, 6 switches, bisection 800Gbps, diameter 4 links; 24 links",
		"hpcc":   "file HPCC topology: 4 hosts, 2 switches, bisection 200Gbps, diameter 3 links; 10 links",
		"ring":   "file ASTRA-sim network: 8 hosts, 8 switches, bisection 858.993Gbps, diameter 6 links; 32 links",
		"hgx":    "file ASTRA-sim network: 8 hosts, 1 switch, bisection 13.7439Tbps, diameter 2 links; 16 links",
		"full":   "file ASTRA-sim network: 5 hosts, 0 switches, bisection 2.57698Tbps, diameter 1 link; 20 links",
		"pair":   "file ASTRA-sim network: 2 hosts, 2 switches, bisection 429.497Gbps, diameter 3 links; 6 links",
		"edges":  "file edge list: 3 hosts, 2 switches, bisection 400Gbps, diameter 3 links; 10 links",
		"named":  "file edge list: 3 hosts, 1 switch, bisection 1.2Tbps, diameter 2 links; 8 links",
		// 24 NPUs, 6 rings of 4, 12 switches of 2, 8 triples: 24 + 24 + 24 + 24 edges. The
		// lower half is the first plane and the first row of the second: 16 links of triples
		// and 4 up-links of switches cross, 1200 GB/s. Ways that correct several dimensions
		// may begin with any, and not all such choices can be neighbours.
		"grid": "file ASTRA-sim network: 24 hosts, 36 switches, bisection 10.3079Tbps, diameter 7 links; 216 sets of equal next hops used in part; 192 links",
	} {
		topo, found := wire(t, topologyFiles()[name])
		if topo == nil {
			t.Errorf("%s: %s", name, found)
			continue
		}
		got := topo.Describe() + "; " + plural(len(topo.Links()), "link")
		if got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", name, got, want)
		}
	}
}

func TestTopologyFileRoutes(t *testing.T) {
	for name, text := range topologyFiles() {
		topo, found := wire(t, text)
		if topo == nil {
			t.Fatal(name, found)
		}
		for dst := range topo.Hosts() {
			checkShortest(t, topo.(*wiredGraph), int32(dst))
		}
		for i, l := range topo.Links() {
			if i > 0 && topo.Links()[i-1].From > l.From {
				t.Fatalf("%s: link %d leaves %d after %d", name, i, l.From, topo.Links()[i-1].From)
			}
		}
	}
}

// checkShortest demands all shortest ways where no next hops are left out, else that all
// routes are shortest.
func checkShortest(t rapid.TB, g *wiredGraph, dst int32) {
	if g.partial == 0 {
		checkRoutes(t, g, dst)
		return
	}
	route, dist := routeLengths(t, g, dst), distances(g, dst)
	for at, d := range dist {
		if d < math.MaxInt && route[at] != d {
			t.Fatalf("%s: %d links from %d to %d, but the shortest way has %d", g.Describe(), route[at], at, dst, d)
		}
	}
}

// asEdges writes a topology as a list of edges, shuffled.
func asEdges(t *rapid.T, topo Topology) string {
	var lines []string
	hosts := "host"
	back := reverses(topo)
	for id, l := range topo.Links() {
		if int(back[id]) > id {
			lines = append(lines, nodeName(topo, l.From)+" "+nodeName(topo, l.To)+" 400Gbps 500ns")
		}
	}
	for h := range topo.Hosts() {
		hosts += " " + nodeName(topo, int32(h))
	}
	return strings.Join(append(rapid.Permutation(lines).Draw(t, "lines"), hosts), "\n")
}

func nodeName(topo Topology, node int32) string {
	if int(node) < topo.Hosts() {
		return "h" + units.FormatCount(int64(node))
	}
	return "s" + units.FormatCount(int64(node)-int64(topo.Hosts()))
}

// Any generated topology, written as a list of edges, comes back with the same links,
// figures and shortest ways, whatever the order of the lines. Where candidates are those
// of shortest ways, they are the same sets, except that a torus offers fewer.
func TestTopologyFileRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		section := rapid.SampledFrom(append(fixedSizes(), anySize()...)).Draw(t, "section")
		if strings.Contains(section, "rate:") || strings.Contains(section, "torus") || strings.Contains(section, "dragonfly") {
			t.Skip("rates differ, or routes are not all shortest ways")
		}
		hosts := rapid.IntRange(2, 40).Draw(t, "hosts")
		var l diag.List
		n := Parse("t.yml", []byte("fabric: {link: {rate: 400Gbps, delay: 500ns}}\ntopology: "+section), nil, &l)
		topo := n.Topology(hosts, &l)
		if topo == nil {
			t.Skip("too small")
		}
		w := parseWiring("net", asEdges(t, topo), &l)
		if w == nil {
			t.Fatal(messages(&l))
		}
		read, err := w.build(LinkSpec{units.Int(20), 500_000})
		if err != nil {
			t.Fatal(err)
		}
		a, b := topo.(interface{ common() *wired }).common(), &read.(*wiredGraph).wired
		if len(a.links) != len(b.links) || a.bisection != b.bisection || a.diameter != b.diameter || read.(*wiredGraph).partial > 0 {
			t.Fatalf("wrote %s, read %s", topo.Describe(), read.Describe())
		}
		dst := int32(rapid.IntRange(0, topo.Hosts()-1).Draw(t, "dst"))
		checkRoutes(t, read, dst)
		for at := range int32(topo.Hosts() + topo.Switches()) {
			if x, y := targets(topo, at, dst), targets(read, at, dst); !slices.Equal(x, y) {
				t.Fatalf("%s: at %d to %d: %v, read %v", topo.Describe(), at, dst, x, y)
			}
		}
	})
}

// targets are the nodes that the candidates lead to, in order.
func targets(topo Topology, at, dst int32) []int32 {
	first, n := topo.Next(at, dst)
	var out []int32
	for id := first; id < first+n; id++ {
		out = append(out, topo.Links()[id].To)
	}
	slices.Sort(out)
	return out
}

// In any connected graph routes are shortest ways, and the figures are those of the
// wiring, also where no order of links makes all candidates neighbours.
func TestTopologyFileAnyGraph(t *testing.T) {
	for range 20 { // the graphs are small, and few of them send flow back
		rapid.Check(t, anyGraph)
	}
}

func anyGraph(t *rapid.T) {
	hosts, switches := rapid.IntRange(2, 8).Draw(t, "hosts"), rapid.IntRange(1, 10).Draw(t, "switches")
	w := &wiring{hosts: hosts, switches: switches}
	rates := []units.Rat{units.Int(10), units.Int(20), {Den: 0}}
	add := func(a, b int) {
		w.edges = append(w.edges, edge{int32(a), int32(b), rapid.SampledFrom(rates).Draw(t, "rate"), -1, -1})
	}
	for s := 1; s < switches; s++ {
		add(hosts+s, hosts+rapid.IntRange(0, s-1).Draw(t, "parent"))
	}
	for h := range hosts {
		add(h, hosts+rapid.IntRange(0, switches-1).Draw(t, "leaf"))
	}
	for range rapid.IntRange(0, 15).Draw(t, "more") {
		a, b := rapid.IntRange(0, hosts+switches-1).Draw(t, "a"), rapid.IntRange(0, hosts+switches-1).Draw(t, "b")
		if a != b {
			add(a, b)
		}
	}
	topo, err := w.build(LinkSpec{units.Int(20), 1})
	if err != nil {
		t.Fatal(err)
	}
	g := topo.(*wiredGraph)
	longest := 0
	for dst := range int32(hosts) {
		dist := distances(topo, dst)
		longest = max(longest, slices.Max(dist[:hosts]))
		checkShortest(t, g, dst)
	}
	if want := flow(topo); g.diameter != longest || g.bisection != units.NewRat(want.Den, want.Num) {
		t.Fatalf("%s: the maximum flow is %s bytes a picosecond, the longest route has %d links", topo.Describe(), want, longest)
	}
}

// Delays and rates are those of the file; an htsim switch's latency is on the links that
// lead to it.
func TestTopologyFileLinks(t *testing.T) {
	find := func(name string, from, to int32) Link {
		topo, _ := wire(t, topologyFiles()[name])
		for _, l := range topo.Links() {
			if l.From == from && l.To == to {
				return l
			}
		}
		return Link{}
	}
	for _, tt := range []struct {
		file     string
		from, to int32
		perByte  units.Rat
		delay    int64
	}{
		{"htsim2", 0, 32, units.Int(80), 107_000},  // 100 ns and 7 ns of tier 0
		{"htsim2", 32, 0, units.Int(80), 100_000},  // a host has none
		{"htsim2", 32, 36, units.Int(80), 311_000}, // 300 ns and 11 ns of tier 1
		{"htsim2", 36, 32, units.Int(80), 307_000},
		{"htsim3", 161, 193, units.Int(40), 1_000_000}, // core 1 to the second switch of a pod's tier 1
		{"hpcc", 0, 4, units.Int(80), 1_000_000},       // hosts 0 1 3 4, switches 2 5
		{"hpcc", 3, 5, units.Int(80), 1_000_000},
		{"simai", 0, 4, units.NewRat(25, 9), 25_000},
		{"ring", 8, 9, units.NewRat(9765625, 524288), 500_000}, // 10^12/(50*2^30) ps a byte
		{"ring", 0, 8, units.Int(0), 0},
		{"hgx", 0, 8, units.NewRat(9765625, 4194304), 936_250},
		{"edges", 0, 3, units.Int(20), 500_000}, // h1, of fabric.link
		{"edges", 2, 4, units.Int(80), 500_000}, // h10 comes after h2
	} {
		if l := find(tt.file, tt.from, tt.to); l.PerByte != tt.perByte || l.Delay != tt.delay {
			t.Errorf("%s: link %d to %d: %+v, want %s ps a byte, %d ps", tt.file, tt.from, tt.to, l, tt.perByte, tt.delay)
		}
	}
}

func TestTopologyFileFindings(t *testing.T) {
	tests := []struct{ text, want string }{
		{"", "net: error: the file has no links [E819]\n"},
		{"a b c d e\na\n", "net:1:1: error: the file is in none of the formats that are known [E819]\n"},
		{"a b c d e\na\na s\nb s\n", "net:1:1: error: a link has 2 to 4 words, not 5: two nodes, a rate and a delay [E819]\n" +
			"net:2:1: error: a link has 2 to 4 words, not 1: two nodes, a rate and a delay [E819]\n"},
		{"a s 400\nb s 400Gbps 5\na a\n", "net:1:5: error: \"400\" is not a rate: write a number and a unit, such as 400Gbps [E819]\n" +
			"net:2:13: error: 5 has no unit: a time is expected, such as 1.5us [E819]\nnet:3:3: error: the link joins a to itself [E819]\n"},
		{"a b\nb c\nc a\n", "net:1:1: error: no node is a host: every one has several neighbours [E819]\n"},
		{"host a\nswitch a\n", "net:2:8: error: a is a host and a switch [E819]\n"},
		{"a s\nb t\n", "no way leads from host a to host b\n"},
		{"host a b\na s\nb t\n", "no way leads from host a to host b\n"},
		{"3 1 2\n2\n0 2 100Gbps 1000ns 0\n", "net:1:5: error: 2 links are announced, but the file has 1 [E819]\n"},
		{"3 1 2\n7\n0 2 100Gbps 1000ns 0\n0 9 100Gbps 1000ns 0\n", "net:2:1: error: the ID of a switch is 7; at most 2 is expected [E819]\n"},
		{"3 1 2\n2\n0 2 100 1000ns 0\n1 9 100Gbps 0\n", "net:3:5: error: \"100\" is not a rate: write a number and a unit, such as 400Gbps [E819]\n" +
			"net:4:1: error: a link has 5 words, not 4: source, target, rate, delay and error rate [E819]\n"},
		{"2 2 1\n0 1\n", "net:1:1: error: 2 nodes are not more than their 2 switches: there are no hosts [E819]\n"},
		{"3 1 0\n", "net:1:3: error: 1 switch is announced, but the file names 0 [E819]\n"},
		{"7 1 0\n001 0\n", "net:2:5: error: 1 switch is announced, but the file names more [E819]\n"},
		{hpcc, "net:6:21: info: links lose nothing: the error rates of 1 link are not used [W827]\n"},
		{"topology: [Rong, Ring]\nnpus_count: [4]\nbandwidth: [50]\nlatency: [5]\n",
			"net:2:1: error: npus_count has length 1, but topology has 2 [E819]\n" +
				"net:3:1: error: bandwidth has length 1, but topology has 2 [E819]\n" +
				"net:4:1: error: latency has length 1, but topology has 2 [E819]\n"},
		{"topology: [Rong]\nnpus_count: [4]\nbandwidth: [50]\nlatency: [5]\n", "net:1:12: error: unknown topology \"Rong\"; did you mean \"Ring\"? [E819]\n"},
		{"topology: [Ring]\nnpus_count: [1]\nbandwith: [50]\nlatency: [5]\n",
			"net:1:1: error: \"bandwidth\" is missing in the document [E805]\n" +
				"net:2:14: error: npus_count[0]: 1 is out of range; it must be from 2 to 1000000 [E808]\n" +
				"net:3:1: error: unknown key \"bandwith\" in the document; did you mean \"bandwidth\"? [E804]\n"},
		{"topology: [Ring]\nnpus_count: [4]\nbandwidth: [0]\nlatency: [5.00001]\n",
			"net:3:13: error: bandwidth is 0 GB/s; a positive number with few digits is expected [E819]\n" +
				"net:4:11: error: latency is 5.00001 ns, not a whole number of picoseconds [E819]\n"},
		{"Nodes 32\nTiers 2\nPodsizes 32\n", "net: error: Podsize is missing [E819]\nnet:3:1: error: unknown keyword \"Podsizes\"; did you mean \"podsize\"? [E819]\n"},
		{strings.Replace(htsim2, "Radix_Up 4", "Radix_Up 5", 1),
			"net:7:12: error: Radix_Down is 8, but 10 is expected: Radix_Up times Oversubscribed [E819]\n" +
				"net:8:10: error: Radix_Up is 5, but 4 is expected: switches of tier 1 times their bundle [E819]\n"},
		{strings.Replace(htsim2, "Radix_Down 8\nBundle", "Radix_Down 7\nBundle", 1),
			"net:8:10: error: Radix_Up is 4, but 2 is expected: switches of tier 1 times their bundle [E819]\n" +
				"net:14:12: error: the number of switches of tier 1 in a pod would be 16/7, which is not a positive whole number [E819]\n" +
				"net:14:12: error: Radix_Down is 7, which bundles of 2 do not divide [E819]\n"},
		{htsim3, "net:8:1: info: queue sizes of the file are not used; fabric.switch.buffer is the packet memory [W827]\n"},
	}
	for _, tt := range tests {
		if _, found := wire(t, tt.text); found != tt.want {
			t.Errorf("%q:\ngot  %swant %s", tt.text, found, tt.want)
		}
	}
}

// A topology file stands beside the network file that names it.
func TestTopologyFileFolder(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.topo": htsim2,
		"n.yml":  "fabric: {link: {rate: 400Gbps, delay: 500ns}}\ntopology: {kind: file, file: a.topo}\n",
		"m.yml":  "fabric: {link: {rate: 400Gbps, delay: 500ns}}\ntopology: {kind: file, file: b.topo}\n",
		"p.yml":  "fabric: {link: {rate: 400Gbps, delay: 500ns}}\ntopology: {kind: multi-plane, planes: 3, plane: {kind: file, file: a.topo}}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for file, want := range map[string]string{
		"n.yml": "file htsim .topo: 32 hosts, 6 switches, bisection 800Gbps, diameter 4 links",
		"p.yml": "multi-plane planes=3 of file htsim .topo: 32 hosts, 18 switches, bisection 2.4Tbps, diameter 4 links",
	} {
		var l diag.List
		n := Load(filepath.Join(dir, file), nil, &l)
		if n == nil {
			t.Fatal(messages(&l))
		}
		topo := n.Topology(32, &l)
		if topo == nil || topo.Describe() != want {
			t.Fatalf("%v %s", topo, messages(&l))
		}
		checkRoutes(t, topo, 5)
	}
	var l diag.List
	if n := Load(filepath.Join(dir, "m.yml"), nil, &l); n != nil || !strings.Contains(messages(&l), "b.topo cannot be read: no such file") {
		t.Errorf("%s", messages(&l))
	}
}

func FuzzWiring(f *testing.F) {
	for _, text := range topologyFiles() {
		f.Add(text)
	}
	f.Add("host a\nswitch b\na b 1Gbps 1ns\n")
	f.Add("---\ntopology: [Ring]")
	f.Fuzz(func(t *testing.T, text string) {
		var l diag.List
		w := parseWiring("f", text, &l)
		if (w == nil) != l.HasErrors() {
			t.Fatalf("a wiring is %v with findings %s", w != nil, messages(&l))
		}
		if w == nil || len(w.edges) > 1000 || w.hosts+w.switches > 1000 {
			return
		}
		topo, err := w.build(LinkSpec{units.Int(20), 500_000})
		if err != nil {
			return
		}
		if g := topo.(*wiredGraph); g.partial == 0 {
			checkReach(t, topo, int32(topo.Hosts()-1))
		}
	})
}

// checkReach follows the first and the last candidates from every host.
func checkReach(t testing.TB, topo Topology, dst int32) {
	for h := range int32(topo.Hosts()) {
		for _, last := range []bool{false, true} {
			node := h
			for steps := 0; node != dst; steps++ {
				first, n := topo.Next(node, dst)
				if n < 1 || steps > topo.Switches()+1 {
					t.Fatalf("%s: from %d to %d: %d candidates after %d links", topo.Describe(), h, dst, n, steps)
				}
				if last {
					first += n - 1
				}
				node = topo.Links()[first].To
			}
		}
	}
}

func BenchmarkFile(b *testing.B) {
	text := strings.NewReplacer("Nodes 128", "Nodes 8192", "Podsize 16", "Podsize 256", "radix_down 4", "radix_down 16", "radix_up 4", "radix_up 16", "radix_down 8", "radix_down 32").Replace(htsim3)
	b.Run("hosts=8192", func(b *testing.B) {
		for b.Loop() {
			topo, found := wire(b, text)
			if topo == nil || topo.Hosts() != 8192 {
				b.Fatal(found)
			}
			b.ReportMetric(float64(len(topo.Links())), "links")
			b.Log(topo.Describe())
		}
	})
}
