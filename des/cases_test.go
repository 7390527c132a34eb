package des

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hybrid/des/fabric"
	"hybrid/graph"
	"hybrid/internal/diag"
)

// smallCase is a random small simulation: the parts of its network file as text, the
// workload, and what the command line says. It follows from its number alone.
type smallCase struct {
	t      *testing.T
	number uint64
	labels []string // what it is about, for the count of what the cases cover

	topology, link string
	wiring         string   // the file of a topology of kind file, named FILE in topology
	switches       []string // keys of fabric.switch
	fabric         []string // lines of fabric
	nic            []string // keys of nic
	sections       []string // further ones of the file
	hosts          int

	ranks, perNode int
	workload       string
	graph          func(t *testing.T, r *rand.Rand, ranks int) *graph.Graph
	set            []func(*Job)
}

// dimension is something in which cases differ. It has random numbers of its own, so that
// a new dimension leaves all the others of a case as they were.
type dimension struct {
	name string
	draw func(c *smallCase, r *rand.Rand)
}

// dimensions are drawn in this order; a later one sees what the earlier ones chose. A new
// feature is a row here, which adds its keys to the case, and its labels to [covered].
func dimensions() []dimension {
	return []dimension{
		{"topology", drawTopology},
		{"link", drawLink},
		{"wire", drawWire},
		{"transport", drawTransport},
		{"switches", drawSwitches},
		{"ranks", drawRanks},
		{"workload", drawWorkload},
		{"scale-up", drawScaleUp},
		{"forwarding", drawForwarding},
		{"rates", drawRates},
		{"routing", drawRouting},
		{"order", drawOrder},
		{"command line", drawCommandLine},
		{"faults", drawFaults},
	}
}

// covered are the labels that a thousand cases must have at least ten times each. Those
// with a colon at the end are of what happened (see [agreement]), not of what was drawn.
func covered() []string {
	out := []string{"pauses:", "marks:", "cuts:", "drops:", "drops: " + fabric.HeadroomFull.String(), "drops: " + fabric.PoolFull.String(), "drops: " + fabric.QueueFull.String(),
		"a host is paused:", "a switch is paused:", "classes compete:", "frames arrive together:", "finished:", "deadlock:", "failed:",
		"roce", "ideal", "no memory", "bounded memory", "static xoff", "dynamic xoff", "headroom", "limited queues", "trim", "several classes", "strict", "round-robin", "weighted",
		"step", "RED", "averaged queue", "at enqueue", "at dequeue", "data in class 1", "several ranks on a node", "scale-up groups", "host overheads", "no delay", "inexact", "links of several rates"}
	out = append(append(out, featureLabels()...), routingLabels()...)
	for _, t := range caseTopologies() {
		out = append(out, t.label)
	}
	for _, w := range caseWorkloads() {
		out = append(out, w.label)
	}
	return out
}

func (c *smallCase) label(format string, args ...any) {
	c.labels = append(c.labels, fmt.Sprintf(format, args...))
}

// newCase draws a case. Its first draw may not be possible, for example since the headroom
// of long fast links is more than the memory; then the next draw with its number counts.
func newCase(t *testing.T, number uint64) (*smallCase, Job) {
	t.Helper()
	for attempt := range uint64(100) {
		c := &smallCase{t: t, number: number}
		for _, d := range dimensions() {
			h := fnv.New64a()
			h.Write([]byte(d.name))
			d.draw(c, rand.New(rand.NewPCG(number+attempt<<32, h.Sum64())))
		}
		j := c.job()
		var list diag.List
		(&run{job: &j, placement: j.Placement}).check(&list)
		if !list.HasErrors() {
			c.labelPairs()
			return c, j
		}
		if code := list.All()[0].Code; code != "E956" && code != "E967" {
			t.Fatalf("%s\n%v", c, list.Err())
		}
	}
	t.Fatalf("case %d has no possible draw", number)
	return nil, Job{}
}

// job parses the case, as far as it has been drawn: a dimension that needs to know the nodes,
// or how long things take, can look.
func (c *smallCase) job() Job {
	t := c.t
	t.Helper()
	topology := c.topology
	if c.wiring != "" {
		file := filepath.Join(t.TempDir(), "wiring")
		if err := os.WriteFile(file, []byte(c.wiring), 0o644); err != nil {
			t.Fatal(err)
		}
		topology = strings.ReplaceAll(topology, "FILE", fmt.Sprintf("%q", file))
	}
	r := rand.New(rand.NewPCG(c.number, 3))
	j := job(t, c.graph(t, r, c.ranks), network(t, topology, c.link, c.more()), c.perNode)
	for _, set := range c.set {
		set(&j)
	}
	return j
}

// more is what [network] does not write by itself.
func (c *smallCase) more() string {
	return fmt.Sprintf("  switch: {%s}\n  %s\nnic: {%s}\n%s", strings.Join(c.switches, ", "), strings.Join(c.fabric, "\n  "), strings.Join(c.nic, ", "), strings.Join(c.sections, "\n"))
}

// String is all that is needed to see what a case is, and how to run it again.
func (c *smallCase) String() string {
	return fmt.Sprintf("case %d (HYBRID_CASE=%d go test -run TestAgreesWithReference ./des)\n%s; %d ranks, %d on a node: %s\n"+
		"topology: %s\nfabric:\n  link: %s\n%s\n%s", c.number, c.number, c.workload, c.ranks, c.perNode, strings.Join(c.labels, ", "), c.topology, c.link, c.more(), c.wiring)
}

// casesToRun are the numbers of the cases that a test is to run: HYBRID_CASE=7 or
// HYBRID_CASE=1000-20000 asks for others than usual.
func casesToRun(first, end, short uint64) (from, to uint64, usual bool) {
	if testing.Short() {
		end = first + short
	}
	n, _ := fmt.Sscanf(os.Getenv("HYBRID_CASE"), "%d-%d", &first, &end)
	if n == 1 {
		end = first + 1
	}
	return first, end, n == 0 && !testing.Short()
}

// caseTopology is a small network of one of the kinds.
type caseTopology struct {
	label, yaml string
	hosts       int
	wiring      string
	mixed       bool // links of several rates
}

func caseTopologies() []caseTopology {
	return []caseTopology{
		{label: "star", yaml: "star", hosts: 12},
		{label: "direct", yaml: "{kind: direct, hosts: 8}", hosts: 8},
		{label: "leaf-spine", yaml: "{kind: leaf-spine, leaves: 4, spines: 2, hosts_per_leaf: 3}", hosts: 12},
		{label: "leaf-spine, slow uplinks", yaml: "{kind: leaf-spine, leaves: 3, spines: 3, hosts_per_leaf: 4, uplink: {rate: 100Gbps, delay: 70ns}}", hosts: 12, mixed: true},
		{label: "leaf-spine, uplinks without delay", yaml: "{kind: leaf-spine, leaves: 2, spines: 1, hosts_per_leaf: 6, uplink: {rate: 400Gbps, delay: 0ns}}", hosts: 12, mixed: true},
		{label: "leaf-spine, oversubscribed", yaml: "{kind: leaf-spine, leaves: 3, hosts_per_leaf: 4, oversubscription: 4}", hosts: 12},
		{label: "leaf-spine, parallel links", yaml: "{kind: leaf-spine, leaves: 3, spines: 2, hosts_per_leaf: 5, hosts: 12, trunk: 2}", hosts: 12},
		{label: "fat tree of 2 tiers", yaml: "{kind: fat-tree, k: 6, tiers: 2, oversubscription: 2, pods: 3}", hosts: 12},
		{label: "fat tree of 3 tiers", yaml: "{kind: fat-tree, k: 4}", hosts: 16},
		{label: "fat tree of 3 tiers, tapered", yaml: "{kind: fat-tree, k: 6, oversubscription: 2, core_oversubscription: 2, pods: 2, core: {rate: 200Gbps, delay: 300ns}}", hosts: 12, mixed: true},
		{label: "rail, a host is a NIC", yaml: "{kind: rail, rails: 3, pods: 2, servers_per_leaf: 2, spines: 2}", hosts: 12},
		{label: "rail, a host is a server", yaml: "{kind: rail, rails: 3, pods: 2, servers_per_leaf: 6, host: server}", hosts: 12},
		{label: "rail, rails apart", yaml: "{kind: rail, rails: 2, pods: 1, servers_per_leaf: 12, spines: 0, host: server}", hosts: 12},
		{label: "dragonfly", yaml: "{kind: dragonfly, hosts_per_router: 1, routers: 3, global_links: 2, groups: 4}", hosts: 12},
		{label: "dragonfly, palm tree", yaml: "{kind: dragonfly, hosts_per_router: 2, routers: 2, global_links: 1, groups: 3, arrangement: palm-tree, global: {delay: 2us}}", hosts: 12},
		{label: "torus of 2 dimensions", yaml: "{kind: torus, sizes: [4, 3]}", hosts: 12},
		{label: "torus of 3 dimensions", yaml: "{kind: torus, sizes: [2, 3, 2]}", hosts: 12},
		{label: "torus, several hosts on a router", yaml: "{kind: torus, sizes: [3, 2], hosts_per_router: 2, neighbor: {rate: 100Gbps}}", hosts: 12, mixed: true},
		{label: "planes of leaf-spines", yaml: "{kind: multi-plane, planes: 3, plane: {kind: leaf-spine, leaves: 3, spines: 2, hosts_per_leaf: 4}}", hosts: 12},
		{label: "planes with slow uplinks", yaml: "{kind: multi-plane, planes: 2, plane: {kind: leaf-spine, leaves: 3, spines: 2, hosts_per_leaf: 4, uplink: {rate: 100Gbps, delay: 70ns}}}", hosts: 12, mixed: true},
		{label: "planes of tori", yaml: "{kind: multi-plane, planes: 2, plane: {kind: torus, sizes: [4, 3]}}", hosts: 12},
		{label: "planes without switches", yaml: "{kind: multi-plane, planes: 2, plane: {kind: direct, hosts: 12}}", hosts: 12},
		{label: "file of edges", yaml: "{kind: file, file: FILE}", hosts: 9, mixed: true, wiring: fileOfEdges},
		{label: "file of htsim", yaml: "{kind: file, file: FILE}", hosts: 12, wiring: "Nodes 12\nTiers 2\nPodsize 12\nTier 0\nDownlink_speed_Gbps 400\nRadix_Down 3\nRadix_Up 3\nDownlink_Latency_ns 100\n" +
			"Switch_Latency_ns 7\nTier 1\nDownlink_speed_Gbps 400\nRadix_Down 4\nDownlink_Latency_ns 300\n"},
		{label: "file of ASTRA-sim", yaml: "{kind: file, file: FILE}", hosts: 12, wiring: "topology: [Ring, Switch]\nnpus_count: [4, 3]\nbandwidth: [50.0, 25.0]\nlatency: [500.0, 700.0]\n"},
		{label: "file of HPCC", yaml: "{kind: file, file: FILE}", hosts: 6, mixed: true, wiring: "9 3 9\n6 7 8\n0 6 400Gbps 0.0005ms 0\n1 6 400Gbps 0.0005ms 0\n2 7 400Gbps 0.0005ms 0\n3 7 400Gbps 0.0005ms 0\n" +
			"4 8 100Gbps 0.0005ms 0\n5 8 400Gbps 0.0005ms 0\n6 7 400Gbps 0.001ms 0\n7 8 400Gbps 0.001ms 0\n6 8 200Gbps 0.001ms 0\n"},
	}
}

// fileOfEdges is nine hosts on three switches in a triangle, and two ways round.
const fileOfEdges = `switch a b c d
h1 a
h2 a
h3 a 100Gbps 50ns
h4 b
h5 b
h6 b
h7 c
h8 c 400Gbps
h9 c
a b 400Gbps 200ns
a b 400Gbps 200ns
b c
a d
d c 200Gbps 1us
`

func drawTopology(c *smallCase, r *rand.Rand) {
	all := caseTopologies()
	of := all[r.IntN(len(all))]
	c.topology, c.hosts, c.wiring = of.yaml, of.hosts, of.wiring
	c.label("%s", of.label)
	if of.mixed {
		c.label("links of several rates")
	}
	if strings.HasPrefix(of.label, "planes") || of.yaml == "{kind: rail, rails: 3, pods: 2, servers_per_leaf: 6, host: server}" {
		c.label("several links at a host")
	}
}

func drawLink(c *smallCase, r *rand.Rand) {
	rate, delay := pick(r, "400Gbps", "400Gbps", "400Gbps", "10Gbps", "106.25Gbps", "900GB/s", "399999999977bps"), pick(r, "100ns", "500ns", "500ns", "1us", "1ps", "0ns")
	c.link = fmt.Sprintf("{rate: %s, delay: %s}", rate, delay)
	c.switches = append(c.switches, "latency: "+pick(r, "0ns", "0ns", "300ns"))
	if delay == "0ns" {
		c.label("no delay")
	}
	if rate == "399999999977bps" {
		c.label("inexact")
	}
}

func drawWire(c *smallCase, r *rand.Rand) {
	c.fabric = append(c.fabric, "wire: "+pick(r, "rocev2", "rocev2", "none", "{preset: rocev2, ack: 0B}", "htsim", "uet"), "mtu: "+pick(r, "4096B", "256B", "1024B"))
}

func drawTransport(c *smallCase, r *rand.Rand) {
	if r.IntN(16) == 0 {
		c.label("ideal")
		c.nic = append(c.nic, "transport: ideal")
		return
	}
	c.label("roce")
	c.nic = append(c.nic, "transport: roce", fmt.Sprintf("ack_every: %d", pick(r, 1, 2, 16)))
	if r.IntN(4) == 0 { // where switches have so many classes
		c.nic = append(c.nic, "class: 1", fmt.Sprintf("ack_class: %d", r.IntN(3)))
		c.label("data in class 1")
	}
}

func drawSwitches(c *smallCase, r *rand.Rand) {
	if r.IntN(6) == 0 {
		c.label("no memory")
		return
	}
	keys := randomSwitch(r)
	if c.nic[len(c.nic)-1] != "transport: ideal" {
		for of, label := range map[string]string{"buffer:": "bounded memory", "xoff:": "static xoff", "pfc: {alpha": "dynamic xoff", "headroom:": "headroom", "queue:": "limited queues", "trim:": "trim", "}, {share": "several classes",
			"strict": "strict", "round-robin": "round-robin", "weighted": "weighted", "average: 0.1": "averaged queue", "at: enqueue": "at enqueue", "at: dequeue": "at dequeue"} {
			if strings.Contains(keys, of) {
				c.label("%s", label)
			}
		}
		var kmin, kmax int64
		if at := strings.Index(keys, "ecn: {"); at >= 0 {
			if fmt.Sscanf(keys[at:], "ecn: {kmin: %dB, kmax: %dB", &kmin, &kmax); kmin == kmax {
				c.label("step")
			} else {
				c.label("RED")
			}
		}
	}
	c.switches = append(c.switches, keys)
}

func drawRanks(c *smallCase, r *rand.Rand) {
	c.perNode = pick(r, 1, 1, 2, 3)
	c.ranks = 2 + r.IntN(min(12, c.hosts*c.perNode)-1)
	if c.perNode > 1 {
		c.label("several ranks on a node")
	}
}

// caseWorkload is what the ranks do.
type caseWorkload struct {
	label string
	graph func(t *testing.T, r *rand.Rand, ranks int) *graph.Graph
}

func caseWorkloads() []caseWorkload {
	return []caseWorkload{
		{"random messages", randomGraph},
		{"random bursts", randomBursts},
		{"everyone to one", func(t *testing.T, r *rand.Rand, ranks int) *graph.Graph {
			return gather(t, ranks, pick[int64](r, 4096, 20_000, 50_000))
		}},
		{"permutation", func(t *testing.T, r *rand.Rand, ranks int) *graph.Graph {
			return permutation(t, ranks, pick[int64](r, 4096, 20_000, 100_000))
		}},
		{"stencil", func(t *testing.T, r *rand.Rand, ranks int) *graph.Graph {
			rows := 1 + (ranks+1)%2
			return stencil(t, rows, ranks/rows, 1+r.Int64N(3))
		}},
		{"collective", func(t *testing.T, r *rand.Rand, ranks int) *graph.Graph {
			type algorithm struct {
				typ  graph.CollType
				name string
			}
			of := pick(r, algorithm{graph.AllReduce, "ring"}, algorithm{graph.AllReduce, "double-tree"}, algorithm{graph.AllToAll, "interleaved"},
				algorithm{graph.AllToAll, "sequential"}, algorithm{graph.AllGather, "bruck"}, algorithm{graph.ReduceScatter, "direct"})
			return everyone(t, ranks, of.typ, of.name, pick[int64](r, 8, 10_000, 100_000))
		}},
	}
}

func drawWorkload(c *smallCase, r *rand.Rand) {
	all := caseWorkloads()
	of := all[r.IntN(len(all)+3)%len(all)] // the first ones more often
	c.workload, c.graph = of.label, of.graph
	c.label("%s", of.label)
}

// randomBursts makes messages that depend on few others, so that many are under way at once
// and every run could end.
func randomBursts(t *testing.T, r *rand.Rand, ranks int) *graph.Graph {
	b := newBuilder(t, ranks)
	type message struct{ src, dst, bytes, start, tag int64 }
	var all []message
	hot := int64(r.IntN(ranks))
	for m := range 4 + r.IntN(24) {
		x := message{int64(r.IntN(ranks)), int64(r.IntN(ranks)), int64(pick(r, 1, 4096, 4097, 20_000, 60_000)), pick[int64](r, 0, 0, 0, 83_560, 100_000, 333_333, 10_000_000), int64(m)}
		if r.IntN(2) == 0 {
			x.dst = hot
		}
		all = append(all, x)
	}
	for id := range int64(ranks) {
		k := b.Rank(int(id), true)
		for _, x := range all {
			if x.dst == id {
				b.recv(k, x.src, x.tag, x.bytes)
			}
			if x.src != id {
				continue
			}
			var on []int32
			if x.start > 0 {
				on = append(on, b.compute(k, x.start, 0))
			}
			b.send(k, x.dst, x.tag, x.bytes, pick(r, 0, 0, graph.Eager, graph.Rendezvous), on...)
		}
		k.Done()
	}
	return b.graph()
}

func drawScaleUp(c *smallCase, r *rand.Rand) {
	if r.IntN(5) > 0 {
		return
	}
	c.label("scale-up groups")
	seed := r.Uint64()
	c.set = append(c.set, func(j *Job) { randomScaleUp(rand.New(rand.NewPCG(seed, 1)), j) })
}

func drawCommandLine(c *smallCase, r *rand.Rand) {
	seed, ack, family := r.Uint64(), r.IntN(2) == 0, pick(r, "synthesized", "collected")
	send, receive := pick[int64](r, 0, 0, 1000, 83_560), pick[int64](r, 0, 0, 500, 83_560)
	if send+receive > 0 {
		c.label("host overheads")
	}
	c.set = append(c.set, func(j *Job) {
		j.Seed, j.EndWithAck, j.Family, j.SendOverhead, j.ReceiveOverhead = seed, ack, family, send, receive
	})
}
