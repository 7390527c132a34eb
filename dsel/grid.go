package dsel

import (
	"math"

	"github.com/expr-lang/expr/ast"

	"hybrid/graph"
	"hybrid/internal/diag"
)

// grid is a Cartesian arrangement of all ranks, the last axis fastest.
type grid struct {
	decl *gridDecl
	axes []gridAxis
	size int64
	bad  bool
}

type gridAxis struct {
	name             string
	extent, stride   int64
	periodic         bool
	at               diag.Pos
	extentExpression *expression
}

func (g *grid) axis(name string) *gridAxis {
	for i := range g.axes {
		if g.axes[i].name == name {
			return &g.axes[i]
		}
	}
	return nil
}

func (g *grid) axisNames() []string {
	var out []string
	for _, a := range g.axes {
		out = append(out, a.name)
	}
	return out
}

func (a *gridAxis) coord(rank int64) int64 { return rank / a.stride % a.extent }

// shift moves a rank by d along the axis: around a periodic one, else to norank
// beyond the edge.
func (a *gridAxis) shift(rank, d int64) int64 {
	at := a.coord(rank)
	to, ok := addInt(at, d)
	if a.periodic && ok {
		to = floorMod(to, a.extent)
	}
	if !ok || to < 0 || to >= a.extent {
		return noRank
	}
	return rank + (to-at)*a.stride
}

// resolveGrid evaluates the extents of a grid once.
func (l *loader) resolveGrid(sym *symbol) *grid {
	g := sym.grid
	if g.axes != nil || g.bad {
		return g
	}
	g.bad = true
	if sym.busy {
		l.list.Errorf("E211", sym.pos, "%s is defined by itself", sym.name)
		return g
	}
	sym.busy = true
	defer func() { sym.busy = false }()
	axes := make([]gridAxis, len(g.decl.Axes))
	size := int64(1)
	for i := len(axes) - 1; i >= 0; i-- {
		d := g.decl.Axes[i]
		n, ok := l.constant(d.Extent, l.root, roleCount, "the extent of an axis")
		if !ok {
			return g
		}
		if n < 1 {
			l.list.Errorf("E302", d.Extent.pos(), "axis %s has extent %d; at least 1 is needed", d.Name.Text, n)
			return g
		}
		for _, o := range g.decl.Axes[:i] {
			if o.Name.Text == d.Name.Text {
				l.list.Errorf("E212", posOfWord(d.Name), "axis %s is declared twice", d.Name.Text)
				return g
			}
		}
		axes[i] = gridAxis{name: d.Name.Text, extent: n, stride: size, periodic: d.Periodic, at: posOfWord(d.Name), extentExpression: d.Extent}
		if size, ok = mulInt(size, n); !ok || size > maxRanks {
			l.list.Errorf("E302", sym.pos, "grid %s has more than %d places", sym.name, maxRanks)
			return g
		}
	}
	g.axes, g.size, g.bad = axes, size, false
	return g
}

// member compiles G.x, and list[i].
func (c *compiler) member(n *ast.MemberNode) *code {
	if k, ok := c.regionTime(n); ok {
		return k
	}
	if id, ok := n.Node.(*ast.IdentifierNode); ok {
		if sym := c.scope.lookup(id.Value); sym != nil && sym.what == isGrid {
			*sym.used = true
			name, ok := n.Property.(*ast.StringNode)
			if !ok {
				return c.fail(n, "E210", "a grid has axes: %s.%s", id.Value, sym.grid.decl.Axes[0].Name.Text).bad()
			}
			return c.coordinate(n, sym, name.Value)
		}
	}
	a := c.compile(n.Node)
	if a.kind == kindBad {
		return a
	}
	if a.kind != kindList {
		return c.fail(n, "E220", "only grids and lists have members, not %s", a.typ).bad()
	}
	return c.index(n, a)
}

func (c *compiler) coordinate(n ast.Node, sym *symbol, name string) *code {
	g := c.ld.resolveGrid(sym)
	if g.bad {
		return badCode()
	}
	a := g.axis(name)
	if a == nil {
		return c.fail(n, "E210", "grid %s has no axis %q%s", sym.name, name, diag.DidYouMean(name, g.axisNames())).bad()
	}
	stride, extent := a.stride, a.extent
	return &code{typ: typ{kind: kindInt}, dep: onRank, size: 1,
		i: func(e *graph.Env) (int64, error) { return int64(e.Rank) / stride % extent, nil }}
}

// index compiles list[i]; counting from the end is not offered.
func (c *compiler) index(n *ast.MemberNode, a *code) *code {
	k := c.compile(n.Property)
	if k.kind == kindBad {
		return k
	}
	if k.kind == kindString {
		return c.fail(n, "E220", "a list has no members; its length is len(..)").bad()
	}
	k, ok := c.wholeNumber(n.Property, k, "an index")
	if !ok {
		return badCode()
	}
	at, pos := k.i, c.pos(n.Property)
	return c.element(a, a.dep|k.dep, a.size+k.size+1, func(e *graph.Env) (any, error) {
		list, err := listOf(a, e)
		if err != nil {
			return nil, err
		}
		i, err := at(e)
		if err != nil {
			return nil, err
		}
		if i < 0 || i >= int64(len(list)) {
			return nil, fault("E222", pos, "index %d is outside of a list of %d", i, len(list))
		}
		return list[i], nil
	})
}

// element makes code of a function that returns elements of a list.
func (c *compiler) element(list *code, dep depend, size int, fn anyFn) *code {
	out := &code{typ: typ{kind: list.elem, dims: list.dims, any: list.any}, dep: dep, size: size, norank: list.norank}
	switch list.elem {
	case kindInt:
		out.i = elementOf(fn, wholeOf)
	case kindBool:
		out.b = elementOf(fn, func(v any) (bool, bool) { b, ok := v.(bool); return b, ok })
	case kindString, kindList:
		out.v = fn
	default:
		out.kind = kindFloat
		out.f = elementOf(fn, floatOf)
	}
	return out
}

// elementOf demands that what fn returns is of the type that was inferred.
func elementOf[T any](fn anyFn, as func(any) (T, bool)) func(*graph.Env) (T, error) {
	return func(e *graph.Env) (T, error) {
		var zero T
		v, err := fn(e)
		if err != nil {
			return zero, err
		}
		x, ok := as(v)
		if !ok {
			return zero, fault("E220", diag.Pos{}, "an element of the list has another type: %v", v)
		}
		return x, nil
	}
}

// wholeOf returns a whole number, also one in floating point.
func wholeOf(v any) (int64, bool) {
	switch v := v.(type) {
	case int64:
		return v, true
	case float64:
		return int64(v), v == math.Trunc(v) && math.Abs(v) < 1<<63
	}
	return 0, false
}

// gridMethods are the functions of a grid.
func gridMethods() []string { return []string{"shift", "size", "rank", "coord"} }

// rankAt returns the rank at coordinates, or norank outside.
func (g *grid) rankAt(coords []int64) int64 {
	r := int64(0)
	for i, x := range coords {
		a := &g.axes[i]
		if a.periodic {
			x = floorMod(x, a.extent)
		}
		if x < 0 || x >= a.extent {
			return noRank
		}
		r += x * a.stride
	}
	return r
}

// gridCall compiles G.shift("x", d), G.size("x"), G.rank(..), G.coord(r, "x").
func (c *compiler) gridCall(n *ast.CallNode, sym *symbol, method string) *code {
	g := c.ld.resolveGrid(sym)
	if g.bad {
		return badCode()
	}
	switch method {
	case "shift":
		if a, args, ok := c.axisArg(n, sym, 0, 2); ok {
			return c.shift(n, a, args[0])
		}
	case "size":
		if a, _, ok := c.axisArg(n, sym, 0, 1); ok {
			return plainInt(a.extent)
		}
	case "coord":
		if a, args, ok := c.axisArg(n, sym, 1, 2); ok {
			r, pos := args[0].i, c.pos(n)
			return &code{typ: typ{kind: kindInt}, dep: args[0].dep, size: args[0].size + 1, i: func(e *graph.Env) (int64, error) {
				x, err := r(e)
				if err == nil && (x < 0 || x >= g.size) {
					err = fault("E301", pos, "rank %d is outside of grid %s, 0..%d", x, sym.name, g.size-1)
				}
				return a.coord(x), err
			}}
		}
	case "rank":
		return c.gridRank(n, g)
	default:
		c.fail(n, "E210", "a grid has no function %q%s", method, diag.DidYouMean(method, gridMethods()))
	}
	return badCode()
}

// axisArg checks the number of arguments, takes the axis name at position at and
// compiles the others to whole numbers.
func (c *compiler) axisArg(n *ast.CallNode, sym *symbol, at, count int) (*gridAxis, []*code, bool) {
	if len(n.Arguments) != count {
		c.fail(n, "E213", "%d arguments are needed here, not %d", count, len(n.Arguments))
		return nil, nil, false
	}
	var axis *gridAxis
	var rest []*code
	for i, a := range n.Arguments {
		if i == at {
			s, ok := a.(*ast.StringNode)
			if !ok {
				c.fail(a, "E220", "the axis is written as a string, such as %q", sym.grid.axes[0].name)
				return nil, nil, false
			}
			if axis = sym.grid.axis(s.Value); axis == nil {
				c.fail(a, "E210", "grid %s has no axis %q%s", sym.name, s.Value, diag.DidYouMean(s.Value, sym.grid.axisNames()))
				return nil, nil, false
			}
			continue
		}
		k := c.compile(a)
		if k.kind == kindBad {
			return nil, nil, false
		}
		k, ok := c.wholeNumber(a, k, "the argument")
		if !ok {
			return nil, nil, false
		}
		rest = append(rest, k)
	}
	return axis, rest, true
}

func (c *compiler) shift(n ast.Node, a *gridAxis, d *code) *code {
	axis, by := *a, d.i
	out := &code{typ: typ{kind: kindInt}, dep: d.dep | onRank, size: d.size + 1, norank: !a.periodic}
	if k, ok := d.constInt(); ok {
		out.i = func(e *graph.Env) (int64, error) { return axis.shift(int64(e.Rank), k), nil }
		return out
	}
	out.i = func(e *graph.Env) (int64, error) {
		k, err := by(e)
		return axis.shift(int64(e.Rank), k), err
	}
	return out
}

func (c *compiler) gridRank(n *ast.CallNode, g *grid) *code {
	if len(n.Arguments) != len(g.axes) {
		return c.fail(n, "E213", "%d coordinates are needed here, not %d", len(g.axes), len(n.Arguments)).bad()
	}
	out := &code{typ: typ{kind: kindInt}, size: 1, norank: true}
	parts := make([]intFn, len(g.axes))
	for i, a := range n.Arguments {
		k := c.compile(a)
		if k.kind == kindBad {
			return k
		}
		k, ok := c.wholeNumber(a, k, "a coordinate")
		if !ok {
			return badCode()
		}
		parts[i] = k.i
		out.dep |= k.dep
		out.size += k.size
	}
	out.i = func(e *graph.Env) (int64, error) {
		var room [4]int64
		at := room[:0]
		for _, p := range parts {
			x, err := p(e)
			if err != nil {
				return 0, err
			}
			at = append(at, x)
		}
		return g.rankAt(at), nil
	}
	return out
}
