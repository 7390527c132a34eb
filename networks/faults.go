package networks

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"sort"
	"strings"

	"hybrid/internal/diag"
	"hybrid/internal/units"
	"hybrid/internal/yamldoc"
)

// faultDoc is an entry of faults: which links, and what is wrong with them.
type faultDoc struct {
	Link      []string   `yaml:"link" doc:"The two nodes that a link joins, by the numbers or names that hybrid show network --topology prints; switch 0 and host 0 count from the first of each."`
	Index     *int       `yaml:"index" range:"0..1000000" doc:"Which of parallel links; default: all of them."`
	Direction string     `yaml:"direction" default:"both" oneof:"both|forward" doc:"forward: only the direction from the first node to the second."`
	Switch    *string    `yaml:"switch" doc:"A switch, all of whose links it is about, in both directions."`
	Random    *int       `yaml:"random_links" range:"1..1000000" doc:"So many links between switches, drawn by seed, in both directions."`
	Seed      *int64     `yaml:"seed" range:"0.." doc:"Seed of random_links; default 1. Links that one seed draws for a smaller number are among those for a larger one."`
	At        *int64     `yaml:"at" unit:"time" range:"0ns.." doc:"When the links go down."`
	Until     *int64     `yaml:"until" unit:"time" range:"0ns.." doc:"When they come back; default: never."`
	Rate      *units.Rat `yaml:"rate" unit:"rate" doc:"Their rate during the whole run, in place of the topology's."`
	Loss      *units.Rat `yaml:"loss" range:"0..1" doc:"Probability that a frame is lost, whatever its size."`
	BitErrors *units.Rat `yaml:"bit_error_rate" range:"0..1" doc:"Probability that a bit is wrong; a frame of n bytes is lost with 1 - (1 - rate)^(8n)."`
}

// fault is an entry with its place in the file.
type fault struct {
	faultDoc
	node *yamldoc.Node
}

// pos is the place of a key of the entry, or of the entry.
func (f *fault) pos(key string) diag.Pos {
	if k := f.node.Get(key); k != nil {
		return k.Pos
	}
	return f.node.Pos
}

// readFaults checks of each entry what does not depend on the topology.
func readFaults(entries []faultDoc, section *yamldoc.Node, list *diag.List) []fault {
	var out []fault
	told := list.HasErrors() // a misspelt key says what is wrong, only not to us
	for i := range entries {
		if section == nil || i >= len(section.Items) {
			break
		}
		f := fault{entries[i], section.Items[i]}
		before := list.CountOf(diag.Error)
		f.check(told, list)
		if list.CountOf(diag.Error) == before {
			out = append(out, f)
		}
	}
	return out
}

func (f *fault) check(told bool, list *diag.List) {
	wrong := func(key, format string, args ...any) { list.Errorf("E965", f.pos(key), format, args...) }
	named := 0
	for _, key := range []string{"link", "switch", "random_links"} {
		if n := f.node.Get(key); n != nil && n.Kind != yamldoc.Null {
			named++
		}
	}
	switch {
	case f.node.Kind != yamldoc.Mapping && f.node.Kind != yamldoc.Null:
		return // reported with its keys
	case named != 1:
		list.Errorf("E965", f.node.Pos, "a fault is about one of link, switch and random_links; this one names %d of them", named).
			Note("{link: [server-0, rack-0], at: 10us, until: 50us}")
	case f.node.Get("link") != nil && f.node.Get("link").Kind == yamldoc.Sequence && len(f.Link) != 2:
		wrong("link", "a link joins two nodes; %d are named", len(f.Link))
	case f.node.Get("link") == nil && f.Index != nil:
		wrong("index", "index is about one link; name it under link")
	case f.node.Get("link") == nil && f.node.Get("direction") != nil:
		wrong("direction", "direction is about one link; name it under link")
	case f.Random == nil && f.Seed != nil:
		wrong("seed", "seed is for random_links")
	}
	switch {
	case f.At == nil && f.Until != nil:
		wrong("until", "until without at: the links are up from the start")
	case f.At == nil && f.Rate == nil && f.Loss == nil && f.BitErrors == nil:
		if told {
			return
		}
		list.Errorf("E965", f.node.Pos, "nothing is said to be wrong: at, rate, loss or bit_error_rate is expected")
	case f.Until != nil && *f.Until <= *f.At:
		wrong("until", "the links come back at %s, which is not after %s, when they go down", units.FormatPS(*f.Until), units.FormatPS(*f.At))
	case f.At != nil && (f.Rate != nil || f.Loss != nil || f.BitErrors != nil):
		wrong("at", "at is when links go down; rate, loss and bit_error_rate hold for the whole run, in an entry of their own")
	}
}

// Outage is a time during which a link is down, in picoseconds: from From on, until Until
// and no longer. math.MaxInt64 stands for good.
type Outage struct{ From, Until int64 }

// LinkFaults is what is wrong with a directed link, beside its rate.
type LinkFaults struct {
	Link int32
	// Down rises, and there is time between two outages.
	Down []Outage
	// Loss is the probability that a frame is lost and BitErrors that a bit is wrong;
	// either may be 0.
	Loss, BitErrors units.Rat
}

// FaultsOn returns what is wrong with the links of a topology of this network, by rising
// link. Findings go to list: nodes and links that are not there (E966), and faults that
// contradict each other (E967). Rates are part of the topology already.
func (n *Network) FaultsOn(t Topology, list *diag.List) []LinkFaults {
	if len(n.faults) == 0 {
		return nil
	}
	r := n.resolveFaults(t, list)
	var out []LinkFaults
	for _, id := range slices.Sorted(maps.Keys(r.found)) {
		f := r.found[id]
		if len(f.Down) > 0 || !f.Loss.IsZero() || !f.BitErrors.IsZero() {
			out = append(out, LinkFaults{id, joinOutages(f.Down), f.Loss, f.BitErrors})
		}
	}
	return out
}

// joinOutages sorts outages and makes one of those that overlap or touch.
func joinOutages(all []Outage) []Outage {
	slices.SortFunc(all, func(a, b Outage) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.Until, b.Until)) })
	var out []Outage
	for _, o := range all {
		if k := len(out); k > 0 && o.From <= out[k-1].Until {
			out[k-1].Until = max(out[k-1].Until, o.Until)
			continue
		}
		out = append(out, o)
	}
	return out
}

// applyFaults gives the links of a topology that has just been built their rates; ok is
// false if faults do not fit it.
func (n *Network) applyFaults(t Topology, list *diag.List) (ok bool) {
	if len(n.faults) == 0 {
		return true
	}
	before := list.CountOf(diag.Error)
	r := n.resolveFaults(t, list)
	w := t.(interface{ common() *wired }).common()
	slow, down, lossy := 0, 0, 0
	for id, f := range r.found {
		if f.rate.Num > 0 {
			w.links[id].PerByte = f.rate
			slow++
		}
		if len(f.Down) > 0 {
			down++
		}
		if !f.Loss.IsZero() || !f.BitErrors.IsZero() {
			lossy++
		}
	}
	const head = "; faults"
	w.faults = head
	for _, c := range []struct {
		n    int
		what string
	}{{slow, " of another rate"}, {down, " that go down"}, {lossy, " that lose frames"}} {
		if c.n == 0 {
			continue
		}
		if w.faults != head {
			w.faults += ","
		}
		w.faults += " " + plural(c.n, "directed link") + c.what
	}
	if w.faults == head {
		w.faults = "" // probabilities of 0
	}
	return list.CountOf(diag.Error) == before
}

// found is what the faults say about a directed link.
type found struct {
	LinkFaults
	rate units.Rat // of denominator 0: as the topology says
	own  []Outage  // of entries about the link itself
}

// resolver finds the links of faults in a topology.
type resolver struct {
	topo  Topology
	names *Names
	found map[int32]*found
	pairs [][2]int32        // of links between switches, once asked for
	told  map[diag.Pos]bool // what has been found to be given twice
	list  *diag.List
}

func (n *Network) resolveFaults(t Topology, list *diag.List) *resolver {
	r := &resolver{topo: t, names: NewNames(t), found: map[int32]*found{}, told: map[diag.Pos]bool{}, list: list}
	for i := range n.faults {
		f := &n.faults[i]
		links := r.linksOf(f)
		for _, id := range links {
			r.add(f, id)
		}
	}
	return r
}

// linksOf returns the directed links of a fault.
func (r *resolver) linksOf(f *fault) []int32 {
	switch {
	case f.Switch != nil:
		return r.linksOfSwitch(f)
	case f.Random != nil:
		return r.randomLinks(f)
	}
	link := f.node.Get("link")
	if link == nil || len(f.Link) != 2 || len(link.Items) != 2 {
		return nil // reported already
	}
	names := link.Items
	a, okA := r.node(f.Link[0], names[0].Pos)
	b, okB := r.node(f.Link[1], names[1].Pos)
	if !okA || !okB {
		return nil
	}
	out := r.between(a, b)
	if len(out) == 0 {
		r.list.Errorf("E966", f.pos("link"), "no link leads from %s to %s", f.Link[0], f.Link[1]).
			Note("from %s links lead to %s", f.Link[0], r.neighbours(a))
		return nil
	}
	if f.Direction == "both" {
		out = append(out, r.between(b, a)...)
	}
	if f.Index == nil {
		return out
	}
	one := out[:0:0]
	place := map[int32]int{}
	for _, id := range out {
		from := r.topo.Links()[id].From
		if place[from] == *f.Index {
			one = append(one, id)
		}
		place[from]++
	}
	if len(one) == 0 {
		r.list.Errorf("E966", f.pos("index"), "index is %d, counted from 0, but %s to %s has %s", *f.Index, f.Link[0], f.Link[1], plural(place[a], "link"))
	}
	return one
}

func (r *resolver) linksOfSwitch(f *fault) []int32 {
	s, ok := r.node(*f.Switch, f.pos("switch"))
	if !ok {
		return nil
	}
	if int(s) < r.topo.Hosts() {
		r.list.Errorf("E966", f.pos("switch"), "%s is a host, not a switch", *f.Switch)
		return nil
	}
	var out []int32
	for id, l := range r.topo.Links() {
		if l.From == s || l.To == s {
			out = append(out, int32(id))
		}
	}
	return out
}

// randomLinks draws links between switches: those with the smallest hashes.
func (r *resolver) randomLinks(f *fault) []int32 {
	seed := uint64(1)
	if f.Seed != nil {
		seed = uint64(*f.Seed)
	}
	if r.pairs == nil {
		r.pairs = r.betweenSwitches()
	}
	if *f.Random > len(r.pairs) {
		r.list.Errorf("E966", f.pos("random_links"), "random_links is %d, but the topology has %s between switches", *f.Random, plural(len(r.pairs), "link"))
		return nil
	}
	type draw struct {
		hash uint64
		at   int
	}
	all := make([]draw, len(r.pairs))
	for i := range all {
		all[i] = draw{scatter(scatter(seed+1) + uint64(i)), i}
	}
	slices.SortFunc(all, func(a, b draw) int { return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.at, b.at)) })
	var out []int32
	for _, d := range all[:*f.Random] {
		out = append(out, r.pairs[d.at][:]...)
	}
	return out
}

// betweenSwitches returns the links between switches, each with the one back.
func (r *resolver) betweenSwitches() (pairs [][2]int32) {
	hosts, place := int32(r.topo.Hosts()), map[[2]int32]int{}
	for id, l := range r.topo.Links() {
		if l.From < hosts || l.To < hosts || l.From > l.To {
			continue
		}
		way := [2]int32{l.From, l.To}
		if back := r.between(l.To, l.From); place[way] < len(back) {
			pairs = append(pairs, [2]int32{int32(id), back[place[way]]})
		}
		place[way]++
	}
	return pairs
}

// scatter is the finalizer of MurmurHash3 (Appleby, 2011).
func scatter(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// between returns the links from one node to another.
func (r *resolver) between(a, b int32) []int32 {
	links := r.topo.Links()
	var out []int32
	for id := sort.Search(len(links), func(i int) bool { return links[i].From >= a }); id < len(links) && links[id].From == a; id++ {
		if links[id].To == b {
			out = append(out, int32(id))
		}
	}
	return out
}

// neighbours names some of the nodes to which links lead from one.
func (r *resolver) neighbours(node int32) string {
	names, links := r.names.List, r.topo.Links()
	var out []string
	last := int32(-1)
	for id := sort.Search(len(links), func(i int) bool { return links[i].From >= node }); id < len(links) && links[id].From == node; id++ {
		to := links[id].To
		if to == last {
			continue
		}
		if last = to; len(out) == 8 {
			out = append(out, "others")
			break
		}
		out = append(out, names[to])
	}
	return strings.Join(out, ", ")
}

// node finds a node by its name or number.
func (r *resolver) node(text string, pos diag.Pos) (node int32, ok bool) {
	if node, ok = r.names.Find(text); ok {
		return node, true
	}
	r.list.Errorf("E966", pos, "the topology has no node %q%s", text, diag.DidYouMean(text, r.names.List)).
		Note("%s; hybrid show network --topology json prints the names", r.topo.Describe())
	return 0, false
}

// add notes a fault of a link.
func (r *resolver) add(f *fault, id int32) {
	x := r.found[id]
	if x == nil {
		x = &found{LinkFaults: LinkFaults{Link: id}}
		r.found[id] = x
	}
	twice := func(key, what string) {
		if r.told[f.pos(key)] {
			return
		}
		r.told[f.pos(key)] = true
		l, names := r.topo.Links()[id], r.names.List
		r.list.Errorf("E967", f.pos(key), "%s of the link from %s to %s is given twice", what, names[l.From], names[l.To])
	}
	if f.At != nil {
		o := Outage{*f.At, math.MaxInt64}
		if f.Until != nil {
			o.Until = *f.Until
		}
		if f.Switch == nil {
			for _, other := range x.own {
				if o.From < other.Until && other.From < o.Until {
					twice("at", "a time of being down")
				}
			}
			x.own = append(x.own, o)
		}
		x.Down = append(x.Down, o)
	}
	for _, v := range []struct {
		from *units.Rat
		to   *units.Rat
		key  string
	}{{f.Rate, &x.rate, "rate"}, {f.Loss, &x.Loss, "loss"}, {f.BitErrors, &x.BitErrors, "bit_error_rate"}} {
		if v.from == nil {
			continue
		}
		if v.to.Den != 0 {
			twice(v.key, v.key)
		}
		*v.to = *v.from
	}
}

// CheckTopology builds the topology for a check of the file alone: faults are held
// against it where its size is not left open.
func (n *Network) CheckTopology(list *diag.List) Topology {
	alone := *n
	alone.faults = nil
	t := alone.Topology(1, list)
	if t == nil || len(n.faults) == 0 {
		return t
	}
	if larger, err := n.topology.build(t.Hosts()+1, n.Fabric.Link); err == nil && larger.Hosts() == t.Hosts() {
		n.applyFaults(t, list)
	}
	return t
}

// HasFaults says whether the file has faults, whatever topology they are for.
func (n *Network) HasFaults() bool { return len(n.faults) > 0 }
