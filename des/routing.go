package des

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"hybrid/des/fabric"
	"hybrid/internal/diag"
	"hybrid/internal/yamldoc"
	"hybrid/networks"
)

// routingSection is what all kinds of routing have in common.
type routingSection struct {
	Kind string        `yaml:"kind,short" default:"ecmp" doc:"How a packet's way is chosen; hybrid list routings prints the kinds."`
	Hash string        `yaml:"hash" default:"murmur3" oneof:"murmur3|crc32|crc32-salted|hash|hash-salted|dpr|dpr-fallback" doc:"Hash by which flows are spread over equal-cost links."`
	Own  *yamldoc.Node `yaml:",rest"`
}

// routingKeys are the keys of a kind of routing.
type routingKeys interface {
	// apply fills in what does not depend on the topology; findings go to list.
	apply(x *fabric.Routing, at diag.Pos, list *diag.List)
}

// routing is a row of the table of kinds of routing.
type routing struct {
	Name, Doc string
	Kind      fabric.RoutingKind
	New       func() routingKeys
}

func routings() []routing {
	return []routing{
		{"ecmp", "A hash of the flow chooses among equal-cost links, so that a queue pair keeps to one path.", fabric.ECMP, func() routingKeys { return new(ecmpKeys) }},
		{"spray", "Each data packet has an entropy value beside its flow, and a path by the hash of both.", fabric.Spray, func() routingKeys { return new(sprayKeys) }},
		{"flowlet", "A flow that was idle for a while moves to the equal-cost link with the shortest queue.", fabric.Flowlet, func() routingKeys { return new(flowletKeys) }},
		{"adaptive", "Each packet takes the equal-cost link with the shortest queue when it arrives.", fabric.Adaptive, func() routingKeys { return new(adaptiveKeys) }},
		{"source", "Explicit routes for pairs of hosts; others as ecmp.", fabric.Source, func() routingKeys { return new(sourceKeys) }},
		{"valiant", "By way of a random group of a dragonfly, or else a random switch with hosts.", fabric.Valiant, func() routingKeys { return new(valiantKeys) }},
	}
}

// Routings lists the kinds of routing that a network file may name under fabric.routing.
func Routings() []Info {
	var out []Info
	for _, r := range routings() {
		out = append(out, Info{r.Name, r.Doc})
	}
	return out
}

// RoutingSections returns, under each kind's name, a value of the struct whose tags declare
// its keys of fabric.routing, and under "" what all have in common, for the reference.
func RoutingSections() []Section {
	out := []Section{{"", routingSection{}}}
	for _, r := range routings() {
		out = append(out, Section{r.Name, r.New()})
	}
	return out
}

// Section is a struct whose tags declare keys, with the name of what they belong to.
type Section struct {
	Name string
	Keys any
}

type ecmpKeys struct{}

func (*ecmpKeys) apply(*fabric.Routing, diag.Pos, *diag.List) {}

type sprayKeys struct {
	Entropies uint32 `yaml:"entropies" default:"128" range:"1..65280" doc:"Number of entropy values, from 256 on."`
	Order     string `yaml:"order" default:"round-robin" oneof:"round-robin|random" doc:"round-robin: packet after packet of a queue pair the next value; random: by a hash of seed, flow and packet."`
}

func (k *sprayKeys) apply(x *fabric.Routing, _ diag.Pos, _ *diag.List) {
	x.PerPacket, x.Entropies, x.Random = true, k.Entropies, k.Order == "random"
}

type flowletKeys struct {
	Gap   int64 `yaml:"gap" unit:"time" default:"100us" range:"0ns.." doc:"A flow that was idle for longer may move."`
	Slots int   `yaml:"slots" default:"512" range:"1..1048576" doc:"Flowlets that a switch tells apart; flows whose hashes meet are one."`
}

func (k *flowletKeys) apply(x *fabric.Routing, _ diag.Pos, _ *diag.List) {
	x.Gap, x.Slots = k.Gap, k.Slots
}

type adaptiveKeys struct {
	Sample string `yaml:"sample" default:"all" doc:"Links whose queues are compared: all, or so many drawn at random, from 1 to 64."`
}

func (k *adaptiveKeys) apply(x *fabric.Routing, at diag.Pos, list *diag.List) {
	if k.Sample == "all" {
		return
	}
	n, err := strconv.Atoi(k.Sample)
	if err != nil || n < 1 || n > 64 {
		list.Errorf("E960", at, "sample is %q; all or a number from 1 to 64 is expected", k.Sample)
		return
	}
	x.Sample = int32(n)
}

type sourceKeys struct {
	Routes []routeKeys `yaml:"routes,required" doc:"Paths, one or more for a pair of hosts."`
	Per    string      `yaml:"per" default:"flow" oneof:"flow|packet" doc:"Of several paths a queue pair takes one, by its hash, or its packets take each in turn."`
}

type routeKeys struct {
	From string   `yaml:"from,required" doc:"Host at which the path begins: its number, or its name as hybrid show network --topology prints it."`
	To   string   `yaml:"to,required" doc:"Host at which it ends."`
	Via  []string `yaml:"via,required" doc:"Switches on the way, in order; none where hosts are joined directly."`
}

func (k *sourceKeys) apply(x *fabric.Routing, _ diag.Pos, _ *diag.List) {
	x.PerPacket = k.Per == "packet"
}

type valiantKeys struct {
	Per string `yaml:"per" default:"flow" oneof:"flow|packet" doc:"Whether a queue pair has one way or each of its packets its own."`
}

func (k *valiantKeys) apply(x *fabric.Routing, _ diag.Pos, _ *diag.List) {
	x.PerPacket = k.Per == "packet"
}

// checkRouting reads fabric.routing; findings go to list. It returns nil for the default,
// and the explicit routes if there are any.
func checkRouting(n *networks.Network, list *diag.List) (x *fabric.Routing, routes []routeKeys) {
	if n.Fabric.Routing == nil {
		return nil, nil
	}
	var s routingSection
	before := list.CountOf(diag.Error)
	yamldoc.DecodeAt(n.Fabric.Routing, "fabric.routing", &s, list)
	x = &fabric.Routing{}
	for _, h := range fabric.Hashes() {
		if h.Name == s.Hash {
			x.Hash = &h
		}
	}
	row := findRouting(s.Kind)
	if row == nil {
		var names []string
		for _, r := range routings() {
			names = append(names, r.Name)
		}
		list.Errorf("E960", positionOf(n, "fabric", "routing", "kind"), "unknown routing %q%s", s.Kind, diag.DidYouMean(s.Kind, names)).
			Note("kinds: %s", strings.Join(names, ", "))
		return nil, nil
	}
	keys := row.New()
	yamldoc.DecodeAt(s.Own, "fabric.routing", keys, list)
	x.Kind = row.Kind
	keys.apply(x, positionOf(n, "fabric", "routing"), list)
	if k, ok := keys.(*sourceKeys); ok {
		if routes = k.Routes; len(routes) == 0 && list.CountOf(diag.Error) == before {
			list.Errorf("E960", positionOf(n, "fabric", "routing", "routes"), "routes is empty: no packet would have an explicit route").
				Note("{from: server-0, to: server-5, via: [rack-0, spine-1, rack-1]}")
		}
	}
	if list.CountOf(diag.Error) > before || x.Kind == fabric.ECMP && x.Hash.Name == fabric.Hashes()[0].Name {
		return nil, nil
	}
	return x, routes
}

func findRouting(name string) *routing {
	for _, r := range routings() {
		if r.Name == name {
			return &r
		}
	}
	return nil
}

// checkOrder looks whether the receiver can take what the routing does to the order of
// packets.
func checkOrder(n *networks.Network, x *fabric.Routing, accept bool, list *diag.List) {
	if x == nil || !x.Reorders() || accept {
		return
	}
	list.Errorf("E961", positionOf(n, "fabric", "routing"), "packets of a queue pair take different paths, but its receiver discards what comes out of order").
		Note("nic: {transport: %s, out_of_order: accept}", n.NIC.Transport)
}

// setRouting makes the routes ready for the run.
func (r *run) setRouting(x *fabric.Routing, routes []routeKeys, list *diag.List) {
	if x == nil {
		return
	}
	if !r.params.Packets && x.Ordered() {
		r.notes = append(r.notes, "messages of the ideal transport are routed by ecmp: only packets can be routed by the length of queues")
		return
	}
	x.Seed, x.Wide = r.job.Seed, !r.params.Packets
	x.Gap = min(r.clock.Ticks(x.Gap), limitSpan)
	findRoutes(r.job.Network, r.job.Topology, x, routes, list)
	if x.Wide {
		r.params.Accept = x.Reorders()
	}
	r.params.Routing = x
	if x.Ordered() {
		r.checkPorts(list)
	}
}

// checkPorts bounds the ports of a switch that chooses among them when a packet arrives.
func (r *run) checkPorts(list *diag.List) {
	leaving := map[int32]int{}
	for _, l := range r.job.Topology.Links() {
		if leaving[l.From]++; leaving[l.From] >= fabric.MaxInlets && l.From >= r.medium.Hosts {
			list.Errorf("E956", positionOf(r.job.Network, "topology"), "a switch has %d links or more; with this routing it can have %d", fabric.MaxInlets, fabric.MaxInlets-1)
			return
		}
	}
}

// findRoutes looks up the nodes and links of explicit routes. All that is wrong is
// reported.
func findRoutes(n *networks.Network, topo networks.Topology, x *fabric.Routing, routes []routeKeys, list *diag.List) {
	if len(routes) == 0 {
		return
	}
	f := routeFinder{topo: topo, list: list, names: networks.NewNames(topo)}
	f.out = make([][]int32, len(f.names.List))
	for id, l := range f.topo.Links() {
		f.out[l.From] = append(f.out[l.From], int32(id))
	}
	section := n.Fabric.Routing.Get("routes")
	for i := range routes {
		if path := f.find(&routes[i], section.Items[i]); path != nil {
			x.Paths.Add(path[0].Node, f.topo.Links()[path[len(path)-1].Links[0]].To, path)
		}
	}
}

// CheckRoutes looks up the explicit routes of a network in its topology, unless its size
// is open; findings go to list.
func CheckRoutes(n *networks.Network, topo networks.Topology, list *diag.List) {
	x, routes := checkRouting(n, new(diag.List)) // findings are reported elsewhere
	if x == nil || topo == nil || n.Topology(topo.Hosts()+1, new(diag.List)) != nil {
		return
	}
	findRoutes(n, topo, x, routes, list)
}

// routeFinder turns names into nodes and nodes into links.
type routeFinder struct {
	topo  networks.Topology
	list  *diag.List
	names *networks.Names
	out   [][]int32 // by node: the links that leave it
}

// find returns a route's path, or nil.
func (f *routeFinder) find(k *routeKeys, at *yamldoc.Node) fabric.Path {
	before := f.list.CountOf(diag.Error)
	nodes := []int32{f.node(k.From, at.Get("from"), true)}
	where := []*yamldoc.Node{at.Get("from")}
	for i, name := range k.Via {
		item := at.Get("via").Items[i]
		nodes, where = append(nodes, f.node(name, item, false)), append(where, item)
	}
	nodes, where = append(nodes, f.node(k.To, at.Get("to"), true)), append(where, at.Get("to"))
	var path fabric.Path
	seen := map[int32]bool{}
	for i, node := range nodes {
		if node < 0 {
			continue
		}
		if seen[node] {
			f.list.Errorf("E962", where[i].Pos, "the route passes %s twice", f.names.List[node])
			continue
		}
		seen[node] = true
		if i == 0 || nodes[i-1] < 0 {
			continue
		}
		hop := fabric.Hop{Node: nodes[i-1], Links: f.between(nodes[i-1], node)}
		if len(hop.Links) == 0 {
			f.list.Errorf("E962", where[i].Pos, "no link leads from %s to %s", f.names.List[nodes[i-1]], f.names.List[node]).
				Note("from %s links lead to %s", f.names.List[nodes[i-1]], f.neighbours(nodes[i-1]))
			continue
		}
		path = append(path, hop)
	}
	if f.list.CountOf(diag.Error) > before {
		return nil
	}
	return path
}

// node returns the node of a name or number, or -1.
func (f *routeFinder) node(text string, at *yamldoc.Node, host bool) int32 {
	hosts := f.topo.Hosts()
	what, first, end := "switch", hosts, len(f.names.List)
	if host {
		what, first, end = "host", 0, hosts
	}
	node, ok := f.names.Find(text)
	switch {
	case !ok:
		f.list.Errorf("E962", at.Pos, "the topology has no %s %q%s", what, text, diag.DidYouMean(text, f.names.List[first:end])).
			Note("%s; hybrid show network --topology json prints numbers and names", f.topo.Describe())
		return -1
	case int(node) < first || int(node) >= end:
		f.list.Errorf("E962", at.Pos, "%s is not a %s", f.names.List[node], what)
		return -1
	}
	return node
}

func (f *routeFinder) between(from, to int32) (links []int32) {
	for _, id := range f.out[from] {
		if f.topo.Links()[id].To == to {
			links = append(links, id)
		}
	}
	return links
}

// neighbours names some of the nodes that a node's links lead to.
func (f *routeFinder) neighbours(node int32) string {
	var names []string
	last := int32(math.MinInt32)
	for _, id := range f.out[node] {
		to := f.topo.Links()[id].To
		if to == last {
			continue
		}
		if last = to; len(names) == 8 {
			return strings.Join(names, ", ") + fmt.Sprintf(" and others (%d links)", len(f.out[node]))
		}
		names = append(names, f.names.List[to])
	}
	return strings.Join(names, ", ")
}

// ordered says whether switches choose ports by their queues.
func (r *run) ordered() bool { return r.params.Routing != nil && r.params.Routing.Ordered() }
