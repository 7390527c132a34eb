package dsel

import (
	"fmt"
	"slices"
	"strconv"

	"hybrid/graph"
	"hybrid/internal/diag"
)

// group is a declared process group: a list, or a partition by colour.
type group struct {
	decl  *groupDecl
	done  bool
	bad   bool
	parts []*part
	// of is the part of each rank; nil means no part.
	of []*part
}

// part is one process group of the graph; its id is entered when it is first used.
type part struct {
	name    string
	members []int32
	id      int32
	known   bool
}

// pos returns the position of a rank in the part, or -1.
func (p *part) pos(rank int32) int64 {
	if p.members == nil {
		return int64(rank)
	}
	return int64(slices.Index(p.members, rank))
}

func (p *part) size(ranks int64) int64 {
	if p.members == nil {
		return ranks
	}
	return int64(len(p.members))
}

// resolveGroup evaluates the members of a declared group once.
func (l *loader) resolveGroup(sym *symbol) *group {
	g := sym.group
	if g.done {
		return g
	}
	g.done = true
	if g.decl.Members != nil {
		if g.decl.Order != nil {
			l.list.Errorf("E302", g.decl.Order.pos(), "a list has its own order; 'order' goes with 'group .. by'")
		}
		g.bad = !l.listGroup(sym, g)
	} else {
		g.bad = !l.colourGroup(sym, g)
	}
	return g
}

func (l *loader) listGroup(sym *symbol, g *group) bool {
	e := g.decl.Members
	k := l.compile(e, l.root)
	if k.kind == kindBad {
		return false
	}
	if k.kind != kindList || k.dep != 0 {
		l.list.Errorf("E302", e.pos(), "group %s needs a list of ranks that is the same on every rank", sym.name)
		return false
	}
	list, err := listOf(k, &graph.Env{})
	if err != nil {
		l.list.Add(placed(err, e.pos()).(diag.Diagnostic))
		return false
	}
	p := &part{name: sym.name}
	seen := map[int32]bool{}
	for _, v := range list {
		n, ok := wholeOf(v)
		if !ok || n < 0 || n >= l.ranks {
			l.list.Errorf("E302", e.pos(), "member %v of group %s is outside 0..%d", v, sym.name, l.ranks-1)
			return false
		}
		if seen[int32(n)] {
			l.list.Errorf("E302", e.pos(), "rank %d is in group %s twice", n, sym.name)
			return false
		}
		seen[int32(n)] = true
		p.members = append(p.members, int32(n))
	}
	if len(p.members) == 0 {
		l.list.Errorf("E302", e.pos(), "group %s is empty", sym.name)
		return false
	}
	g.parts = []*part{p}
	g.of = make([]*part, l.ranks)
	for _, m := range p.members {
		g.of[m] = p
	}
	return true
}

// partCost is what making a part takes, in terms of an expression.
const partCost = 100

// colourGroup partitions all ranks by the value of an expression, ordered by a
// key and then by rank.
func (l *loader) colourGroup(sym *symbol, g *group) bool {
	colour := l.operand(g.decl.By, l.root, roleIndex)
	var order *operand
	if g.decl.Order != nil {
		if order = l.operand(g.decl.Order, l.root, roleIndex); order == nil {
			return false
		}
	}
	if colour == nil || !l.afford(colour.code, g.decl.By) || order != nil && !l.afford(order.code, g.decl.Order) {
		return false
	}
	byColour := map[int64]*part{}
	keys := make([]int64, l.ranks)
	g.of = make([]*part, l.ranks)
	for r := range int32(l.ranks) {
		env := &graph.Env{Rank: r}
		n, err := colour.Eval(env)
		if err == nil && order != nil {
			keys[r], err = order.Eval(env)
		}
		if err != nil {
			l.list.Add(noteRank(err.(diag.Diagnostic), r))
			return false
		}
		p := byColour[n]
		if p == nil {
			p = &part{name: sym.name + "[" + strconv.FormatInt(n, 10) + "]"}
			byColour[n] = p
			l.evaluated += partCost
			g.parts = append(g.parts, p)
		}
		p.members = append(p.members, r)
		g.of[r] = p
	}
	for _, p := range g.parts {
		slices.SortStableFunc(p.members, func(a, b int32) int {
			switch {
			case keys[a] < keys[b]:
				return -1
			case keys[a] > keys[b]:
				return 1
			}
			return 0
		})
	}
	return true
}

// groupPlan finds the part of a group reference for a rank; nil means none.
type groupPlan struct {
	text string
	of   func(rank int32) *part
}

// groupRef resolves `over g`, `over G[x]` and, for nil, the world.
func (l *loader) groupRef(r *groupRef, s *scope) *groupPlan {
	if r == nil || r.Name == "world" && r.Axes == nil {
		world := &part{name: "world", known: true}
		return &groupPlan{"world", func(int32) *part { return world }}
	}
	at := posOf(r.Pos)
	at.Span = len(r.Name)
	sym := s.lookup(r.Name)
	if sym == nil {
		if !l.poisoned[r.Name] {
			l.list.Errorf("E210", at, "unknown group %q%s", r.Name, diag.DidYouMean(r.Name, append(s.visible(), "world")))
		}
		return nil
	}
	*sym.used = true
	switch {
	case sym.what == isGroup && r.Axes == nil:
		g := l.resolveGroup(sym)
		if g.bad {
			return nil
		}
		return &groupPlan{r.Name, func(rank int32) *part { return g.of[rank] }}
	case sym.what == isGrid && r.Axes != nil:
		return l.axesGroup(r, sym)
	case sym.what == isGrid:
		l.list.Errorf("E210", at, "%s is a grid: name the axes that the group spans, such as %s[%s]", r.Name, r.Name, sym.grid.decl.Axes[0].Name.Text)
	default:
		l.list.Errorf("E210", at, "%s is a %s, not a group", r.Name, sym.word)
	}
	return nil
}

// axesGroup is the group of ranks that differ only along some axes, in the order
// of their ranks.
func (l *loader) axesGroup(r *groupRef, sym *symbol) *groupPlan {
	g := l.resolveGrid(sym)
	if g.bad {
		return nil
	}
	text := r.Name + "["
	span := make([]bool, len(g.axes))
	for i, w := range r.Axes {
		a := slices.IndexFunc(g.axes, func(a gridAxis) bool { return a.name == w.Text })
		if a < 0 {
			l.list.Errorf("E210", posOfWord(w), "grid %s has no axis %q%s", r.Name, w.Text, diag.DidYouMean(w.Text, g.axisNames()))
			return nil
		}
		if span[a] {
			l.list.Errorf("E240", posOfWord(w), "axis %s is named twice", w.Text)
			return nil
		}
		span[a] = true
		if i > 0 {
			text += ","
		}
		text += w.Text
	}
	text += "]"
	cache := map[int32]*part{}
	return &groupPlan{text, func(rank int32) *part {
		base := rank
		for i, a := range g.axes {
			if span[i] {
				base -= int32(a.coord(int64(rank)) * a.stride)
			}
		}
		p := cache[base]
		if p == nil {
			p = &part{name: fmt.Sprintf("%s@%d", text, base), members: spanned(g, span, base)}
			cache[base] = p
		}
		return p
	}}
}

func spanned(g *grid, span []bool, base int32) []int32 {
	out := []int32{base}
	for i, a := range g.axes {
		if !span[i] {
			continue
		}
		next := make([]int32, 0, len(out)*int(a.extent))
		for _, m := range out {
			for k := range a.extent {
				next = append(next, m+int32(k*a.stride))
			}
		}
		out = next
	}
	return out
}

func noteRank(d diag.Diagnostic, rank int32) diag.Diagnostic {
	d.Note("with rank as %d", rank)
	return d
}
