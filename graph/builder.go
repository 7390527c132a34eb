package graph

import (
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"slices"
)

// Builder makes a [Graph]. A front end declares groups, streams, labels and sites,
// then writes the program of each rank through a [RankBuilder]; the builder lets
// ranks share programs of the same shape.
type Builder struct {
	g       *Graph
	groups  map[string]int32
	sites   map[Site]int32
	classes map[uint64][]*class
	order   []*class
	seed    maphash.Seed
	ranks   []RankRef
}

// class is one program shape and the numbers of each rank that has it.
type class struct {
	shape  []byte
	prog   *Program
	rows   [][]int64 // one row of slot values for each rank
	ranks  []int32
	number int32
}

// NewBuilder starts a graph of the given number of ranks with the world as group 0.
func NewBuilder(name string, origin Origin, ranks int) *Builder {
	b := &Builder{
		g:       &Graph{Name: name, Origin: origin, Ranks: ranks},
		groups:  map[string]int32{},
		sites:   map[Site]int32{},
		classes: map[uint64][]*class{},
		seed:    maphash.MakeSeed(),
		ranks:   make([]RankRef, ranks),
	}
	for i := range b.ranks {
		b.ranks[i].Program = -1
	}
	world := make([]int32, ranks)
	for i := range world {
		world[i] = int32(i)
	}
	b.Group("world", world)
	return b
}

// Graph returns the graph under construction, for fields without a builder method.
func (b *Builder) Graph() *Graph { return b.g }

// Group interns a process group by its ordered member list and returns its id;
// the first name of a list is kept. The list must not be changed afterwards.
func (b *Builder) Group(name string, members []int32) int32 {
	key := make([]byte, 0, 4*len(members))
	for _, m := range members {
		key = binary.LittleEndian.AppendUint32(key, uint32(m))
	}
	if id, ok := b.groups[string(key)]; ok {
		return id
	}
	id := int32(len(b.g.Groups))
	b.g.Groups = append(b.g.Groups, newGroup(id, name, members))
	b.groups[string(key)] = id
	return id
}

// Site interns a place.
func (b *Builder) Site(s Site) int32 {
	if id, ok := b.sites[s]; ok {
		return id
	}
	id := int32(len(b.g.Sites))
	b.g.Sites = append(b.g.Sites, s)
	b.sites[s] = id
	return id
}

// Stream returns the stream number (1 and up) to put in Op.Stream.
func (b *Builder) Stream(name string) uint16 {
	if i := slices.Index(b.g.Streams, name); i >= 0 {
		return uint16(i + 1)
	}
	b.g.Streams = append(b.g.Streams, name)
	return uint16(len(b.g.Streams))
}

// Label declares a label and returns its number.
func (b *Builder) Label(name string) int32 {
	b.g.Labels = append(b.g.Labels, name)
	return int32(len(b.g.Labels) - 1)
}

// RankBuilder writes the program of one rank. Values come from Int and Expr.
type RankBuilder struct {
	b     *Builder
	rank  int32
	p     *Program
	slots []int64
	loops []int32
	exprs map[Expr]Value
}

// Rank starts the program of a rank. flat selects the form.
func (b *Builder) Rank(rank int, flat bool) *RankBuilder {
	return &RankBuilder{b: b, rank: int32(rank), p: &Program{Flat: flat, Consts: []int64{0}}}
}

// Int returns a value that may differ from rank to rank.
func (r *RankBuilder) Int(n int64) Value {
	if len(r.slots) > valueMask {
		panic("graph: too many operands in one rank")
	}
	r.slots = append(r.slots, n)
	return makeValue(valuePending, len(r.slots)-1)
}

// Expr returns a value computed at the cursor. Ranks share a program only if they
// pass the identical Expr, which must be comparable: a pointer, as a rule.
func (r *RankBuilder) Expr(e Expr) Value {
	v, ok := r.exprs[e]
	if !ok {
		if r.exprs == nil {
			r.exprs = map[Expr]Value{}
		}
		v = r.p.AddExpr(e)
		r.exprs[e] = v
	}
	return v
}

// Op appends an operation with its explicit dependencies and returns its index.
// Label must be -1 where the operation has none.
func (r *RankBuilder) Op(op Op, deps ...Dep) int32 {
	op.DepLo = int32(len(r.p.Deps))
	r.p.Deps = append(r.p.Deps, deps...)
	op.DepHi = int32(len(r.p.Deps))
	r.p.Ops = append(r.p.Ops, op)
	return int32(len(r.p.Ops) - 1)
}

// Work appends work and returns its index for Op.Arg.
func (r *RankBuilder) Work(w Work) int32 {
	r.p.Works = append(r.p.Works, w)
	return int32(len(r.p.Works) - 1)
}

// Call interns a collective call and returns its index for Op.Arg.
func (r *RankBuilder) Call(c Call) int32 {
	if i := slices.Index(r.p.Calls, c); i >= 0 {
		return int32(i)
	}
	r.p.Calls = append(r.p.Calls, c)
	return int32(len(r.p.Calls) - 1)
}

// Len returns the number of operations so far.
func (r *RankBuilder) Len() int { return len(r.p.Ops) }

// BeginLoop opens a loop and returns the slot of its counter.
func (r *RankBuilder) BeginLoop(site int32, trips Value) (slot int32) {
	slot = int32(r.p.LoopSlots)
	r.p.LoopSlots++
	r.loops = append(r.loops, r.Op(Op{Kind: Loop, Site: site, Peer: trips, Label: slot}))
	return slot
}

// EndLoop closes the innermost open loop.
func (r *RankBuilder) EndLoop(site int32) {
	begin := r.loops[len(r.loops)-1]
	r.loops = r.loops[:len(r.loops)-1]
	r.p.Ops[begin].Arg = r.Op(Op{Kind: End, Site: site, Arg: begin, Label: -1})
}

// Branch appends a branch whose target is set later by Patch.
func (r *RankBuilder) Branch(site int32, cond Value) int32 {
	return r.Op(Op{Kind: Branch, Site: site, Peer: cond, Label: -1})
}

// Jump appends a jump whose target is set later by Patch.
func (r *RankBuilder) Jump(site int32) int32 { return r.Op(Op{Kind: Jump, Site: site, Label: -1}) }

// Patch lets a branch or jump go on at the operation that is appended next.
func (r *RankBuilder) Patch(op int32) { r.p.Ops[op].Arg = int32(len(r.p.Ops)) }

// Done hands the program to the graph. A rank without Done runs nothing.
func (r *RankBuilder) Done() {
	r.p.NumLabels = len(r.b.g.Labels)
	shape := r.shape()
	h := maphash.Bytes(r.b.seed, shape)
	var c *class
	for _, o := range r.b.classes[h] {
		if string(o.shape) == string(shape) && sameShared(o.prog, r.p) {
			c = o
			break
		}
	}
	if c == nil {
		c = &class{shape: shape, prog: r.p, number: int32(len(r.b.order))}
		r.b.classes[h] = append(r.b.classes[h], c)
		r.b.order = append(r.b.order, c)
	}
	r.b.ranks[r.rank] = RankRef{Program: c.number, Slot: int32(len(c.ranks))}
	c.ranks = append(c.ranks, r.rank)
	c.rows = append(c.rows, r.slots)
}

// shape serialises everything of the program but the numbers in its slots.
func (r *RankBuilder) shape() []byte {
	p := r.p
	s := make([]byte, 0, 48*len(p.Ops))
	u32 := func(n int32) { s = binary.LittleEndian.AppendUint32(s, uint32(n)) }
	for i := range p.Ops {
		op := &p.Ops[i]
		s = append(s, byte(op.Kind), byte(op.Flags), byte(op.Flags>>8), byte(op.Stream), byte(op.Stream>>8))
		for _, n := range []int32{op.Site, int32(op.Peer), int32(op.Tag), int32(op.Size), op.Arg, op.Label, int32(op.Index), op.DepLo, op.DepHi} {
			u32(n)
		}
	}
	for _, d := range p.Deps {
		s = append(s, byte(d.Mode))
		u32(d.Target)
		u32(int32(d.Index))
		u32(d.Back)
	}
	return s
}

// sameShared compares what the shape bytes leave out: calls, works and expressions.
func sameShared(a, b *Program) bool {
	return a.Flat == b.Flat && slices.Equal(a.Calls, b.Calls) && slices.Equal(a.Exprs, b.Exprs) &&
		slices.EqualFunc(a.Chains, b.Chains, slices.Equal) && slices.EqualFunc(a.Works, b.Works, func(x, y Work) bool {
		return x.Model == y.Model && x.Time == y.Time && x.Flops == y.Flops && x.Bytes == y.Bytes && x.Units == y.Units &&
			x.Cores == y.Cores && x.Precision == y.Precision && x.Label == y.Label && x.Per == y.Per && sameECM(x.ECM, y.ECM) &&
			slices.Equal(x.Injections, y.Injections)
	})
}

func sameECM(a, b *Contributions) bool {
	return a == b || a != nil && b != nil && *a == *b
}

// Finish resolves the slots of every program to constants and columns and returns
// the graph.
func (b *Builder) Finish() (*Graph, error) {
	for r := range b.ranks {
		if b.ranks[r].Program < 0 {
			b.Rank(r, true).Done()
		}
	}
	for _, c := range b.order {
		c.resolve()
		c.prog.Index()
		b.g.Programs = append(b.g.Programs, c.prog)
	}
	b.g.Of = b.ranks
	if err := b.g.Validate(); err != nil {
		return nil, fmt.Errorf("%w (a fault of the %s front end)", err, b.g.Origin)
	}
	return b.g, nil
}

func (c *class) resolve() {
	p := c.prog
	p.Ranks = c.ranks
	n := 0
	if len(c.rows) > 0 {
		n = len(c.rows[0])
	}
	consts := map[int64]Value{0: 0}
	values := make([]Value, n)
	for s := range values {
		values[s] = c.slotValue(s, consts)
	}
	fix := func(v *Value) {
		if v.kind() == valuePending {
			*v = values[v.index()]
		}
	}
	for i := range p.Ops {
		op := &p.Ops[i]
		fix(&op.Peer)
		fix(&op.Tag)
		fix(&op.Size)
		fix(&op.Index)
	}
	for i := range p.Deps {
		fix(&p.Deps[i].Index)
	}
	for i := range p.Works {
		w := &p.Works[i]
		for _, v := range []*Value{&w.Time, &w.Flops, &w.Bytes, &w.Units, &w.Cores} {
			fix(v)
		}
	}
	c.rows = nil
}

// slotValue makes a slot a constant if all ranks agree, else a column.
func (c *class) slotValue(s int, consts map[int64]Value) Value {
	first := c.rows[0][s]
	for _, row := range c.rows[1:] {
		if row[s] != first {
			col := make([]int64, len(c.rows))
			for i, row := range c.rows {
				col[i] = row[s]
			}
			return c.prog.AddColumn(col)
		}
	}
	v, ok := consts[first]
	if !ok {
		c.prog.Consts = append(c.prog.Consts, first)
		v = makeValue(valueConst, len(c.prog.Consts)-1)
		consts[first] = v
	}
	return v
}
