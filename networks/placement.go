package networks

import (
	"fmt"
	"math"
)

// Placement says where each rank runs. Sockets and memory domains are numbered
// across all nodes.
type Placement struct {
	Node, Socket, Domain []int32 // by rank
	Nodes                int
	// Kind is block, round-robin, file or mapping.
	Kind         string
	RanksPerNode int
	// Mapping is the mapping file that placed the ranks, or "".
	Mapping string
	// ScaleUp says which ranks share a scale-up fabric; nil means none.
	ScaleUp *ScaleUpPlacement
}

// PlacementOptions are the inputs of [NewPlacement]. Zero counts mean one, except
// CoresPerDomain, where zero means that a domain holds any number of ranks.
type PlacementOptions struct {
	RanksPerNode int
	// Kind is block or round-robin; "" means block.
	Kind string
	// NodeOf, if not nil, gives the node of each rank and overrides both of the above.
	NodeOf []int32
	// Mapping is the mapping file that NodeOf comes from, ScaleUp what else it says.
	Mapping                                          string
	ScaleUp                                          *ScaleUpPlacement
	SocketsPerNode, DomainsPerSocket, CoresPerDomain int
}

// NewPlacement places ranks on nodes: block fills one node after the other,
// round-robin deals ranks out one node at a time. Inside a node ranks fill the
// cores in order, domain by domain; more ranks than cores start over at the first.
// The error says which option makes no sense.
func NewPlacement(ranks int, opt PlacementOptions) (*Placement, error) {
	if ranks < 1 || ranks > math.MaxInt32 {
		return nil, fmt.Errorf("%d ranks cannot be placed", ranks)
	}
	p := &Placement{Kind: opt.Kind, RanksPerNode: opt.RanksPerNode}
	if opt.RanksPerNode < 0 || opt.SocketsPerNode < 0 || opt.DomainsPerSocket < 0 || opt.CoresPerDomain < 0 {
		return nil, fmt.Errorf("a negative number of ranks per node, sockets, domains or cores")
	}
	if p.RanksPerNode == 0 {
		p.RanksPerNode = 1
	}
	if err := p.assignNodes(ranks, opt); err != nil {
		return nil, err
	}
	p.assignCores(opt)
	return p, nil
}

func (p *Placement) assignNodes(ranks int, opt PlacementOptions) error {
	if opt.NodeOf != nil {
		return p.fromList(ranks, opt)
	}
	if p.Kind == "" {
		p.Kind = "block"
	}
	if p.Kind != "block" && p.Kind != "round-robin" {
		return fmt.Errorf("placement %q is neither block nor round-robin", p.Kind)
	}
	p.Nodes = (ranks + p.RanksPerNode - 1) / p.RanksPerNode
	p.Node = make([]int32, ranks)
	for r := range p.Node {
		if p.Kind == "block" {
			p.Node[r] = int32(r / p.RanksPerNode)
		} else {
			p.Node[r] = int32(r % p.Nodes)
		}
	}
	return nil
}

func (p *Placement) fromList(ranks int, opt PlacementOptions) error {
	nodeOf := opt.NodeOf
	if len(nodeOf) != ranks {
		return fmt.Errorf("the placement names the nodes of %d ranks, but there are %d", len(nodeOf), ranks)
	}
	p.Kind, p.Node = "file", append([]int32(nil), nodeOf...)
	if opt.Mapping != "" {
		p.Kind, p.Mapping, p.ScaleUp = "mapping", opt.Mapping, opt.ScaleUp
	}
	const limit = 1 << 26
	for r, n := range nodeOf {
		if n < 0 || n >= limit {
			return fmt.Errorf("rank %d is placed on node %d, which is not a node number", r, n)
		}
		p.Nodes = max(p.Nodes, int(n)+1)
	}
	load := make([]int, p.Nodes)
	p.RanksPerNode = 0
	for _, n := range nodeOf {
		load[n]++
		p.RanksPerNode = max(p.RanksPerNode, load[n])
	}
	return nil
}

// assignCores fills sockets and domains node by node in rank order.
func (p *Placement) assignCores(opt PlacementOptions) {
	sockets, domains := max(1, opt.SocketsPerNode), max(1, opt.DomainsPerSocket)
	perNode := sockets * domains
	used := make([]int, p.Nodes)
	p.Socket, p.Domain = make([]int32, len(p.Node)), make([]int32, len(p.Node))
	for r, n := range p.Node {
		d := 0
		if opt.CoresPerDomain > 0 {
			d = used[n] / opt.CoresPerDomain % perNode
		}
		used[n]++
		p.Domain[r] = n*int32(perNode) + int32(d)
		p.Socket[r] = n*int32(sockets) + int32(d/domains)
	}
}

// Level returns the distance between two ranks: one memory domain or socket is
// intra-chip, one node inter-chip, anything else inter-node.
func (p *Placement) Level(a, b int32) LevelID {
	switch {
	case p.Socket[a] == p.Socket[b]:
		return IntraChip
	case p.Node[a] == p.Node[b]:
		return InterChip
	}
	return InterNode
}

// Units returns by rank the unit of ranks that are close to each other: the scale-up
// group, else the node where ranks share nodes, else -1 for a unit of its own.
func (p *Placement) Units() []int32 {
	units := make([]int32, len(p.Node))
	for r := range units {
		switch s := p.ScaleUp; {
		case s != nil && s.Group[r] >= 0:
			units[r] = s.Group[r]
		case p.RanksPerNode > 1 && s != nil:
			units[r] = int32(len(s.Groups)) + p.Node[r]
		case p.RanksPerNode > 1:
			units[r] = p.Node[r]
		default:
			units[r] = -1
		}
	}
	return units
}

// Describe is one line for reports: "8 ranks on 2 nodes, block, 4 a node", or "mapping
// servers.txt: 8 ranks on 8 servers, 2 scale-up groups".
func (p *Placement) Describe() string {
	if p.Mapping != "" {
		s := fmt.Sprintf("mapping %s: %s on %s", p.Mapping, plural(len(p.Node), "rank"), plural(len(p.Node), "server"))
		if p.ScaleUp != nil {
			s += ", " + plural(len(p.ScaleUp.Groups), "scale-up group")
		}
		return s
	}
	return fmt.Sprintf("%s on %s, %s, %d a node", plural(len(p.Node), "rank"), plural(p.Nodes, "node"), p.Kind, p.RanksPerNode)
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if noun[len(noun)-1] == 'h' {
		return fmt.Sprintf("%d %ses", n, noun)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Hosts returns how many hosts the topology has for a run on the given number of
// nodes: the number in the file, else the smallest that holds the nodes. The error
// says what does not fit.
func (n *Network) Hosts(nodes int) (int, error) {
	t, err := n.topology.build(max(1, nodes), n.Fabric.Link)
	if err != nil {
		return 0, err
	}
	return t.Hosts(), nil
}
