package networks

import (
	"fmt"
	"strconv"
	"strings"
)

// Tier is the layer of a network that a node is in.
type Tier uint8

// Tiers: hosts are servers, switches with hosts are in racks, the ones furthest from hosts
// are spines, and those between are the fabric.
const (
	TierSpine Tier = iota
	TierFabric
	TierRack
	TierServer
)

// String returns the tier's name in the names of nodes.
func (t Tier) String() string { return [...]string{"spine", "fabric", "rack", "server"}[t] }

// Tiers returns the tier of each node: switches by how many links they are from the
// nearest host. Switches without a way from any host are fabric.
func Tiers(t Topology) []Tier {
	hosts, nodes := t.Hosts(), t.Hosts()+t.Switches()
	distance := make([]int32, nodes)
	for i := hosts; i < nodes; i++ {
		distance[i] = -1
	}
	furthest := int32(0)
	for more := true; more; {
		more = false
		for _, l := range t.Links() {
			if d := distance[l.From]; d == furthest && distance[l.To] < 0 {
				distance[l.To], more = d+1, true
			}
		}
		if more {
			furthest++
		}
	}
	out := make([]Tier, nodes)
	for i, d := range distance {
		switch {
		case d == 0:
			out[i] = TierServer
		case d == 1:
			out[i] = TierRack
		case d == furthest:
			out[i] = TierSpine
		default:
			out[i] = TierFabric
		}
	}
	return out
}

// NodeNames returns the name of each node: that of the file where it gives one (see [Named]),
// else its tier and its number within it, such as rack-3.
func NodeNames(t Topology) []string {
	named, _ := t.(Named)
	tiers := Tiers(t)
	out := make([]string, len(tiers))
	var used [TierServer + 1]int
	for i, tier := range tiers {
		out[i] = fmt.Sprintf("%s-%d", tier, used[tier])
		used[tier]++
		if named != nil && named.Name(int32(i)) != "" {
			out[i] = named.Name(int32(i))
		}
	}
	return out
}

// Names finds the nodes of a topology by what a file calls them.
type Names struct {
	// List is that of [NodeNames].
	List  []string
	hosts int
	of    map[string]int32
}

// NewNames returns the names of a topology.
func NewNames(t Topology) *Names {
	n := &Names{List: NodeNames(t), hosts: t.Hosts(), of: map[string]int32{}}
	for i, name := range n.List {
		if _, taken := n.of[name]; !taken {
			n.of[name] = int32(i)
		}
	}
	return n
}

// Find returns the node that has a name or a number; "host 3" and "switch 0" count from the
// first of each.
func (n *Names) Find(text string) (node int32, ok bool) {
	if node, ok := n.of[text]; ok {
		return node, true
	}
	first, end := 0, len(n.List)
	if digits, of := strings.CutPrefix(text, "host "); of {
		text, end = digits, n.hosts
	} else if digits, of := strings.CutPrefix(text, "switch "); of {
		text, first = digits, n.hosts
	}
	i, err := strconv.Atoi(text)
	if err != nil || i < 0 || i >= end-first {
		return 0, false
	}
	return int32(first + i), true
}
