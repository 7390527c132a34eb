package pass

import (
	"maps"
	"slices"
	"strings"

	"hybrid/graph"
	"hybrid/graph/collective"
	"hybrid/internal/diag"
)

// chooser finds the algorithm of a call: flag, call, network file, default.
type chooser struct {
	g       *graph.Graph
	table   *collective.Table
	list    *diag.List
	flags   [graph.NumCollTypes]string
	network [graph.NumCollTypes]string
}

// algorithms gives every call its algorithm and checks that it fits the groups that
// use it.
func algorithms(g *graph.Graph, opt *Options, list *diag.List) {
	c := chooser{g: g, table: collective.NewTable(), list: list}
	c.named(&c.flags, opt.Algorithms, "--algorithm")
	c.named(&c.network, opt.NetworkAlgorithms, "the network file")
	if list.HasErrors() {
		return
	}
	for _, p := range g.Programs {
		c.program(p)
	}
}

// spelling accepts the underscores that identifiers of other formats have.
func spelling(name string) string { return strings.ReplaceAll(name, "_", "-") }

// named checks names that come with a collective type, from a flag or a network
// file.
func (c *chooser) named(to *[graph.NumCollTypes]string, from map[string]string, source string) {
	for _, key := range slices.Sorted(maps.Keys(from)) {
		typ, ok := graph.CollTypeNamed(key)
		if !ok {
			c.list.Errorf("E406", diag.Pos{}, "%s: no collective %q%s", source, key, diag.DidYouMean(key, typeNames()))
			continue
		}
		name := spelling(from[key])
		if c.table.Find(typ, name) == nil {
			c.list.Errorf("E406", diag.Pos{}, "%s: no algorithm %q for %s%s", source, from[key], typ, c.hint(typ, name))
			continue
		}
		to[typ] = name
	}
}

func typeNames() []string {
	names := make([]string, graph.NumCollTypes)
	for i := range names {
		names[i] = graph.CollType(i).String()
	}
	return names
}

func (c *chooser) hint(typ graph.CollType, name string) string {
	if s := diag.DidYouMean(name, c.table.Names(typ)); s != "" {
		return s
	}
	return "; it has " + c.table.Choices(typ)
}

func (c *chooser) program(p *graph.Program) {
	known := make([]bool, len(p.Calls))
	source := make([]string, len(p.Calls))
	for i := range p.Calls {
		known[i], source[i] = c.choose(&p.Calls[i])
	}
	fits := map[fit]bool{}
	for i := range p.Ops {
		op := &p.Ops[i]
		if op.Kind != graph.Collective {
			continue
		}
		call := &p.Calls[op.Arg]
		if !known[op.Arg] {
			c.list.Errorf("E406", c.g.Sites[op.Site].Pos, "no algorithm %q for %s%s", call.Algorithm, call.Type, c.hint(call.Type, call.Algorithm))
			continue
		}
		c.fitting(p, op, source[op.Arg], fits)
	}
}

// choose settles a call. It returns false for a name that the type does not have,
// and who chose.
func (c *chooser) choose(call *graph.Call) (ok bool, source string) {
	call.Algorithm = spelling(call.Algorithm)
	switch {
	case c.flags[call.Type] != "":
		call.Algorithm, source = c.flags[call.Type], "chosen by --algorithm"
	case call.Algorithm != "":
		source = "as written"
	case c.network[call.Type] != "":
		call.Algorithm, source = c.network[call.Type], "chosen by the network file"
	default:
		call.Algorithm, source = c.table.Default(call.Type).Name, "the default"
	}
	return c.table.Find(call.Type, call.Algorithm) != nil, source
}

// fit is one use of an algorithm: by an operation's site on a group.
type fit struct{ site, call, group int32 }

// fitting reports groups of a size that the algorithm cannot take. Group ids that
// are computed at the cursor are checked there.
func (c *chooser) fitting(p *graph.Program, op *graph.Op, source string, seen map[fit]bool) {
	call := &p.Calls[op.Arg]
	alg := c.table.Find(call.Type, call.Algorithm)
	each(p, op.Tag, func(_ int32, id int64) {
		f := fit{op.Site, op.Arg, int32(id)}
		if seen[f] {
			return
		}
		seen[f] = true
		group := c.g.Groups[id]
		if err := alg.Fits(group); err != nil {
			c.list.Errorf("E303", c.g.Sites[op.Site].Pos, "%s %s over %s %v", call.Type, alg.Name, group.Name, err).
				Note("the algorithm is %s; %s has %s", source, call.Type, c.table.Choices(call.Type))
		}
	})
}
