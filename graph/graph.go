package graph

import (
	"fmt"
	"slices"

	"hybrid/internal/diag"
	"hybrid/internal/units"
)

// Origin is the front end that wrote a graph; it decides the defaults of a run.
type Origin uint8

// Origins.
const (
	Blueprint Origin = iota
	Chakra
	GOAL
)

// String returns the origin's name.
func (o Origin) String() string { return [...]string{"blueprint", "chakra", "goal"}[o] }

// Graph is a distributed program.
type Graph struct {
	Name   string
	Origin Origin
	// Ranks is the number of ranks, numbered 0 to Ranks-1.
	Ranks int
	// Programs are the distinct programs, and Of says which one each rank runs.
	Programs []*Program
	Of       []RankRef
	// Groups are the process groups; a group's id is its index. Group 0 is the world.
	Groups []*Group
	// Sites say where operations were written.
	Sites []Site
	// Streams and Labels are names for the text form.
	Streams []string
	Labels  []string
	// Params are the resolved parameters, in order of declaration.
	Params []Param
	// Target names the machine and network that the workload asks for, or "".
	Machine, Network string
	// Scale multiplies the size of every transfer and every duration when a cursor
	// reaches it, so that each transfer of a collective is scaled and truncated by
	// itself while records keep the size as written. The zero value means 1.
	Scale units.Rat
	// Serialize and Synchronize record what the ordering passes did. With Serialize a
	// cursor starts a collective of a thread program only after the one that the rank
	// issued before it in the same group.
	Serialize, Synchronize bool
	// Expanded and Annotated record that the graph is shown with the transfers of its
	// collectives, and with the dependents of each node. Cursors expand collectives as
	// they reach them, whatever is shown.
	Expanded, Annotated bool
	// IssueOrder is true where a trace records the order in which collectives were
	// issued.
	IssueOrder bool

	ids *nodeIDs // nil without traces
}

// RankRef places a rank: its program and its slot in that program's columns.
type RankRef struct {
	Program, Slot int32
}

// Param is one resolved parameter of the workload.
type Param struct{ Name, Value string }

// Site is a place where operations were written: a statement of a blueprint, or
// the nodes of a trace that share a name and a kind.
type Site struct {
	Pos  diag.Pos
	Kind Kind
	// Name is the user's name for it, Region the innermost region around it.
	Name, Region string
	// Text is a short description: "send 8B", "allreduce ring 1000B".
	Text string
}

// Where returns the place as reports print it.
func (s *Site) Where() string { return s.Pos.String() }

// Program is the static form of what ranks of one shape do.
type Program struct {
	// Flat programs are plain DAGs: no control flow, dependencies by DepOp.
	Flat bool
	Ops  []Op
	Deps []Dep
	// Works and Calls are what compute operations and collectives refer to; Costs
	// parallels Works once the graph is priced.
	Works []Work
	Costs []Cost
	Calls []Call
	// Chains are, for each process group whose issue order a trace records, the
	// collectives and ordered sends of the group in that order (flat programs only).
	Chains [][]int32

	Consts  []int64
	Columns [][]int64
	Exprs   []Expr

	// Ranks lists the ranks that run the program, in slot order.
	Ranks []int32
	// LoopSlots is the number of loop counters, Depth the deepest nesting.
	LoopSlots int
	// NumLabels is the number of labels.
	NumLabels int

	// succ and succStart are the dependents of each operation of a flat program.
	succ, succStart []int32
	// around is the counter slot of the innermost loop around each operation of a
	// thread program, or -1; uniform says of each Loop whether nothing in it is
	// computed at the cursor but durations and branch conditions of no consequence.
	around  []int32
	uniform []bool
	// idle says of each Loop that nothing timed stands in it, varies of each operation
	// that an operand of it is computed at the cursor.
	idle, varies []bool
	// prevSlots are the counter slots of the loops whose iterations DepPrev counts, and
	// prevOf says for each dependency which of them is its own.
	prevSlots, prevOf []int32
}

// Dependents returns the operations of a flat program that depend on op, in
// program order.
func (p *Program) Dependents(op int32) []int32 {
	return p.succ[p.succStart[op]:p.succStart[op+1]]
}

// LoopAround returns the counter slot of the innermost loop around an operation of
// a thread program, or -1.
func (p *Program) LoopAround(op int32) int32 {
	if p.around == nil {
		return -1
	}
	return p.around[op]
}

// Uniform reports whether the iterations of the Loop at op communicate alike: no
// operand of a message, collective, branch or inner loop is computed at the cursor.
func (p *Program) Uniform(op int32) bool { return p.uniform != nil && p.uniform[op] }

// Idle reports whether no operation that takes part in timing stands inside the
// Loop at op.
func (p *Program) Idle(op int32) bool { return p.idle != nil && p.idle[op] }

// Varies reports whether an instance of the operation may differ from iteration to
// iteration: an operand, or its work, is computed at the cursor.
func (p *Program) Varies(op int32) bool { return p.varies != nil && p.varies[op] }

func (p *Program) opVaries(op *Op) bool {
	if op.Peer.IsComputed() || op.Tag.IsComputed() || op.Size.IsComputed() {
		return true
	}
	if op.Kind > Store || int(op.Arg) >= len(p.Works) {
		return false
	}
	w := &p.Works[op.Arg]
	return len(w.Injections) > 0 || w.Time.IsComputed() || w.Flops.IsComputed() || w.Bytes.IsComputed() || w.Units.IsComputed() || w.Cores.IsComputed()
}

// sizesVary reports whether an all-to-allv has sizes that depend on loops.
func (p *Program) sizesVary(op *Op) bool {
	if op.Kind != Collective || op.Arg < 0 || int(op.Arg) >= len(p.Calls) {
		return false
	}
	s := p.Calls[op.Arg].Sizes
	return s != nil && s.Varies()
}

func (p *Program) indexLoops() {
	n := len(p.Ops)
	p.around, p.uniform, p.idle, p.varies = make([]int32, n), make([]bool, n), make([]bool, n), make([]bool, n)
	parent := make([]int32, p.LoopSlots)
	var open []int32
	for i := range p.Ops {
		op := &p.Ops[i]
		if op.Kind == End {
			open = open[:len(open)-1]
		}
		p.around[i] = -1
		if n := len(open); n > 0 {
			p.around[i] = p.Ops[open[n-1]].Label
		}
		if op.Peer.IsComputed() || op.Tag.IsComputed() || op.Size.IsComputed() || p.sizesVary(op) {
			for _, l := range open {
				p.uniform[l] = false
			}
		}
		if op.Kind.Timed() {
			p.varies[i] = p.opVaries(op)
			for _, l := range open {
				p.idle[l] = false
			}
		}
		if op.Kind == Loop {
			open = append(open, int32(i))
			p.uniform[i], p.idle[i] = true, true
			parent[op.Label] = p.around[i]
		}
	}
	p.indexPrev(parent)
}

// PrevSlots returns the counter slots of the loops whose iterations [DepPrev]
// dependencies of the program count, each once.
func (p *Program) PrevSlots() []int32 { return p.prevSlots }

// PrevIndex returns for a DepPrev dependency the place in PrevSlots of the innermost
// loop around both its operation and the label's, or -1 where there is none.
func (p *Program) PrevIndex(dep int32) int32 { return p.prevOf[dep] }

// indexPrev finds the loop of every DepPrev dependency. parent gives for each slot
// the slot of the loop around that loop, or -1.
func (p *Program) indexPrev(parent []int32) {
	p.prevSlots, p.prevOf = nil, nil
	if !slices.ContainsFunc(p.Deps, func(d Dep) bool { return d.Mode == DepPrev }) {
		return
	}
	loopOf := map[int32]int32{} // label -> slot of the innermost loop around its operations
	for i := range p.Ops {
		if op := &p.Ops[i]; op.Kind.Timed() && op.Label >= 0 {
			loopOf[op.Label] = p.around[i]
		}
	}
	p.prevOf = make([]int32, len(p.Deps))
	for i := range p.Ops {
		for d := p.Ops[i].DepLo; d < p.Ops[i].DepHi; d++ {
			p.prevOf[d] = -1
			of, known := loopOf[p.Deps[d].Target]
			if p.Deps[d].Mode != DepPrev || !known {
				continue
			}
			if slot := commonLoop(parent, p.around[i], of); slot >= 0 {
				k := slices.Index(p.prevSlots, slot)
				if k < 0 {
					k = len(p.prevSlots)
					p.prevSlots = append(p.prevSlots, slot)
				}
				p.prevOf[d] = int32(k)
			}
		}
	}
}

// commonLoop returns the innermost loop around both, or -1.
func commonLoop(parent []int32, a, b int32) int32 {
	for ; a >= 0; a = parent[a] {
		for x := b; x >= 0; x = parent[x] {
			if x == a {
				return a
			}
		}
	}
	return -1
}

// Index rebuilds what a program derives from its operations: the dependents of a
// flat program, the loops around the operations of a thread program. A pass that
// changes Ops or Deps calls it.
func (p *Program) Index() {
	if !p.Flat {
		p.indexLoops()
		return
	}
	n := len(p.Ops)
	p.succStart = make([]int32, n+1)
	for i := range p.Ops {
		for _, d := range p.OpDeps(int32(i)) {
			p.succStart[d.Target+1]++
		}
	}
	for i := 0; i < n; i++ {
		p.succStart[i+1] += p.succStart[i]
	}
	p.succ = make([]int32, p.succStart[n])
	next := slices.Clone(p.succStart[:n])
	for i := range p.Ops {
		for _, d := range p.OpDeps(int32(i)) {
			p.succ[next[d.Target]] = int32(i)
			next[d.Target]++
		}
	}
}

// OpDeps returns the explicit dependencies of an operation.
func (p *Program) OpDeps(op int32) []Dep { return p.Deps[p.Ops[op].DepLo:p.Ops[op].DepHi] }

// Group is a process group: world ranks in the order that the algorithms use.
type Group struct {
	ID   int32
	Name string
	// Members are world ranks.
	Members []int32
	// Units are what the members divide into for hierarchical algorithms; nil until
	// [Graph.SetUnits], and where they do not divide evenly.
	Units *Units
	// pos maps a rank to its position unless the group is 0..n-1.
	pos map[int32]int32
}

// Size returns the number of members.
func (g *Group) Size() int { return len(g.Members) }

// Pos returns the position of a rank in the group, or -1.
func (g *Group) Pos(rank int32) int32 {
	if g.pos == nil {
		if int(rank) < len(g.Members) && rank >= 0 {
			return rank
		}
		return -1
	}
	if p, ok := g.pos[rank]; ok {
		return p
	}
	return -1
}

func newGroup(id int32, name string, members []int32) *Group {
	g := &Group{ID: id, Name: name, Members: members}
	for i, m := range members {
		if int32(i) != m {
			g.pos = make(map[int32]int32, len(members))
			for i, m := range members {
				g.pos[m] = int32(i)
			}
			return g
		}
	}
	return g
}

// Program returns the program of a rank and its slot.
func (g *Graph) Program(rank int) (*Program, int32) {
	r := g.Of[rank]
	return g.Programs[r.Program], r.Slot
}

// Validate checks the structural invariants that every pass and engine relies
// on. A violation is a bug of a front end, not of its input.
func (g *Graph) Validate() error {
	if len(g.Of) != g.Ranks {
		return fmt.Errorf("graph: %d ranks but %d rank references", g.Ranks, len(g.Of))
	}
	for pi, p := range g.Programs {
		for i := range p.Ops {
			if err := g.validateOp(p, int32(i)); err != nil {
				return fmt.Errorf("graph: program %d, operation %d: %w", pi, i, err)
			}
		}
	}
	return nil
}

func (g *Graph) validateOp(p *Program, i int32) error {
	op := &p.Ops[i]
	limit := map[Kind]int{Compute: len(p.Works), Load: len(p.Works), Store: len(p.Works), Collective: len(p.Calls),
		Loop: len(p.Ops), End: len(p.Ops), Branch: len(p.Ops) + 1, Jump: len(p.Ops) + 1}
	if n, ok := limit[op.Kind]; ok && (op.Arg < 0 || int(op.Arg) >= n) {
		return fmt.Errorf("%s refers to %d of %d", op.Kind, op.Arg, n)
	}
	if op.Site < 0 || int(op.Site) >= len(g.Sites) {
		return fmt.Errorf("site %d of %d", op.Site, len(g.Sites))
	}
	if p.Flat && !op.Kind.Timed() {
		return fmt.Errorf("%s in a flat program", op.Kind)
	}
	for _, d := range p.OpDeps(i) {
		if (d.Mode == DepOp) != p.Flat {
			return fmt.Errorf("dependency mode %d does not fit the program's form", d.Mode)
		}
	}
	return nil
}
