package dsel

import (
	"slices"

	"github.com/expr-lang/expr/ast"

	"hybrid/graph"
	"hybrid/internal/diag"
)

// gridMember checks the name of an axis or function of a grid.
func (m *machine) gridMember(n *ast.MemberNode) (ok, found bool) {
	id, isName := n.Node.(*ast.IdentifierNode)
	if !isName {
		return true, false
	}
	sym := m.c.scope.lookup(id.Value)
	field, isText := n.Property.(*ast.StringNode)
	if sym == nil || sym.what != isGrid || !isText {
		return true, false
	}
	g := m.c.ld.resolveGrid(sym)
	if g.bad || slices.Contains(gridMethods(), field.Value) {
		return !g.bad, true
	}
	return m.c.coordinate(n, sym, field.Value).kind != kindBad, true
}

// object is a grid as the virtual machine sees it.
func (g *grid) object(e *graph.Env) map[string]any {
	o := map[string]any{}
	for _, a := range g.axes {
		o[a.name] = a.coord(int64(e.Rank))
	}
	axis := func(v any) (*gridAxis, error) {
		name, _ := v.(string)
		if a := g.axis(name); a != nil {
			return a, nil
		}
		return nil, fault("E210", diag.Pos{}, "grid %s has no axis %q", g.decl.Name.Text, name)
	}
	o["size"] = func(name any) (any, error) {
		a, err := axis(name)
		if err != nil {
			return nil, err
		}
		return a.extent, nil
	}
	o["shift"] = func(name, d any) (any, error) {
		a, err := axis(name)
		if err != nil {
			return nil, err
		}
		x, ok := wholeOf(native(d))
		if !ok {
			return nil, fault("E221", diag.Pos{}, "%v is not a whole number", d)
		}
		return a.shift(int64(e.Rank), x), nil
	}
	o["coord"] = func(r, name any) (any, error) {
		a, err := axis(name)
		if err != nil {
			return nil, err
		}
		x, ok := wholeOf(native(r))
		if !ok || x < 0 || x >= g.size {
			return nil, fault("E301", diag.Pos{}, "rank %v is outside of grid %s, 0..%d", r, g.decl.Name.Text, g.size-1)
		}
		return a.coord(x), nil
	}
	o["rank"] = func(coords ...any) (any, error) {
		if len(coords) != len(g.axes) {
			return nil, fault("E213", diag.Pos{}, "%d coordinates are needed here, not %d", len(g.axes), len(coords))
		}
		at := make([]int64, len(coords))
		for i, c := range coords {
			x, ok := wholeOf(native(c))
			if !ok {
				return nil, fault("E221", diag.Pos{}, "%v is not a whole number", c)
			}
			at[i] = x
		}
		return g.rankAt(at), nil
	}
	return o
}
