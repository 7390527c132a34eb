package chakra

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"hybrid/graph"
	"hybrid/internal/diag"
)

// groupRef is a process group as one rank sees it.
type groupRef struct {
	id      int32
	name    string
	members []int32
	pos     int32
	ok      bool
}

// declare reads a process-group metadata node.
func (l *rankLoader) declare(n *node, text []byte) {
	groups, err := parseInit(string(text))
	if err != nil {
		l.f.warnf("W710", "", l.at(n), "the process groups in it cannot be read: %v", err)
		return
	}
	for _, d := range groups {
		l.own.add(d)
	}
}

// group resolves the process group of a node. What the user's side file says wins,
// then the rank's own trace, then a side file found beside the traces; a name that
// is declared nowhere means all ranks if it is "", "0" or absent.
func (l *rankLoader) group(n *node) groupRef {
	name := l.t.text(n.group)
	if !n.hasGroup && n.has(slotGroup) {
		name = fmt.Append(nil, n.vals[slotGroup])
	}
	if ref, ok := l.refs[string(name)]; ok {
		return ref
	}
	ref := l.resolveGroup(string(name), n)
	l.refs[string(name)] = ref
	return ref
}

func (l *rankLoader) resolveGroup(name string, n *node) groupRef {
	tables := []*groupTable{&l.own, l.side}
	if l.opt.Groups != "" {
		slices.Reverse(tables)
	}
	for _, t := range tables {
		if d, ok := t.find(name); ok {
			return l.declaredGroup(d, n)
		}
	}
	if isWorldName(name) {
		return l.world(name)
	}
	l.undeclaredGroup(name, n)
	return groupRef{name: name}
}

func (l *rankLoader) undeclaredGroup(name string, n *node) {
	names := slices.Concat(l.own.names, l.side.names)
	l.f.errorf("E709", "", l.at(n), "the process group %q is not declared%s", name, diag.DidYouMean(name, names))
	if len(names) == 0 {
		l.f.note("E709", "", "neither the traces nor a side file declare any group; name a side file with --groups")
	} else if len(l.undeclared) == 0 {
		l.f.note("E709", "", "declared are %s", quoteList(names, 16))
	}
	if !slices.Contains(l.undeclared, name) {
		l.undeclared = append(l.undeclared, name)
	}
}

func quoteList(names []string, limit int) string {
	var b strings.Builder
	for i, n := range names {
		if i == limit {
			fmt.Fprintf(&b, " and %d more", len(names)-limit)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%q", n)
	}
	return b.String()
}

// world is the group of all ranks in their order, which is called as its first
// declaration calls it.
func (l *rankLoader) world(name string) groupRef {
	g := l.b.Graph().Groups[0]
	if !isWorldName(name) && !l.worldNamed {
		g.Name, l.worldNamed = name, true
	}
	return groupRef{id: 0, name: name, members: g.Members, pos: l.rank, ok: true}
}

// declaredGroup interns a declared group and checks its members.
func (l *rankLoader) declaredGroup(d declared, n *node) groupRef {
	if d.all {
		return l.world(d.name)
	}
	sorted := slices.Clone(d.members)
	slices.Sort(sorted)
	for i, m := range sorted {
		switch {
		case int(m) >= len(l.set.Files):
			l.f.errorf("E710", "range\x00"+d.name, l.at(n), "the process group %q has the member %d, but the ranks are 0 to %d", d.name, m, len(l.set.Files)-1)
			return groupRef{name: d.name}
		case i > 0 && m == sorted[i-1]:
			l.f.errorf("E710", "twice\x00"+d.name, l.at(n), "the process group %q has the member %d twice", d.name, m)
			return groupRef{name: d.name}
		}
	}
	if !l.sameOrder(d, sorted, n) {
		return groupRef{name: d.name}
	}
	id := l.b.Group(d.name, d.members)
	if id == 0 {
		return l.world(d.name)
	}
	return groupRef{id: id, name: d.name, members: d.members, pos: l.b.Graph().Groups[id].Pos(l.rank), ok: true}
}

// groupOrder is the first declaration of a name for a set of ranks.
type groupOrder struct {
	members []int32
	file    string
}

// sameOrder reports members that declare the same group in different orders: each
// would talk to other neighbours than its neighbours expect.
func (l *rankLoader) sameOrder(d declared, sorted []int32, n *node) bool {
	key := []byte(d.name)
	key = append(key, 0)
	for _, m := range sorted {
		key = binary.LittleEndian.AppendUint32(key, uint32(m))
	}
	first, ok := l.orders[string(key)]
	if !ok {
		l.orders[string(key)] = groupOrder{d.members, l.file}
		return true
	}
	if slices.Equal(first.members, d.members) {
		return true
	}
	l.f.errorf("E716", d.name, l.at(n), "the process group %q is %v here and %v in %s", d.name, shortList(d.members), shortList(first.members), first.file)
	return false
}

func shortList(members []int32) string {
	if len(members) > 16 {
		return strings.TrimSuffix(fmt.Sprint(members[:16]), "]") + " ...]"
	}
	return fmt.Sprint(members)
}

// call is a collective, or a send of a group with a recorded order.
type call struct {
	op    int32
	group int32
	name  string
	ct    graph.CollType
	size  int64
	root  int64
}

// number gives each collective its number within its group, checks it against the
// other members and records the issue order where the trace has one.
func (l *rankLoader) number(ops []graph.Op) {
	slices.SortStableFunc(l.calls, func(a, b call) int { return cmp.Compare(a.group, b.group) })
	slices.SortStableFunc(l.sends, func(a, b call) int { return cmp.Compare(a.group, b.group) })
	for lo := 0; lo < len(l.calls); {
		hi := lo
		for hi < len(l.calls) && l.calls[hi].group == l.calls[lo].group {
			hi++
		}
		l.numberGroup(ops, l.calls[lo:hi])
		lo = hi
	}
	l.sendChains()
}

func (l *rankLoader) numberGroup(ops []graph.Op, calls []call) {
	source := l.sortByIssue(calls)
	u := l.usage(calls[0].group)
	for k := range calls {
		ops[calls[k].op].Index = l.rb.Int(int64(k))
		l.check(u, &calls[k], k)
	}
	u.counts[l.b.Graph().Groups[calls[0].group].Pos(l.rank)] = int32(len(calls))
	if source == orderNone {
		return
	}
	chain := slices.Clone(calls)
	if source == orderAttribute {
		sends := l.takeSends(calls[0].group)
		chain = append(chain, sends...)
		l.sortByAttribute(chain)
	}
	l.chain(chain)
}

// orderSource says where the issue order comes from.
type orderSource uint8

const (
	orderNone orderSource = iota
	orderStart
	orderAttribute
)

// sortByIssue puts the collectives of one group in issue order: by the order
// attribute if all have it, else by start times if these differ, else by name and
// id, which records nothing.
func (l *rankLoader) sortByIssue(calls []call) orderSource {
	node := func(c *call) *node { return &l.t.nodes[c.op] }
	all := true
	for i := range calls {
		all = all && node(&calls[i]).has(slotOrder)
	}
	if all {
		l.sortByAttribute(calls)
		return orderAttribute
	}
	slices.SortFunc(calls, func(a, b call) int { return cmp.Compare(node(&a).start, node(&b).start) })
	increasing := true
	for i := range calls {
		start := node(&calls[i]).start
		increasing = increasing && start > 0 && (i == 0 || start > node(&calls[i-1]).start)
	}
	if increasing {
		return orderStart
	}
	slices.SortFunc(calls, func(a, b call) int {
		return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(node(&a).id, node(&b).id))
	})
	return orderNone
}

func (l *rankLoader) sortByAttribute(calls []call) {
	slices.SortFunc(calls, func(a, b call) int {
		x, y := &l.t.nodes[a.op], &l.t.nodes[b.op]
		return cmp.Or(cmp.Compare(x.vals[slotOrder], y.vals[slotOrder]), cmp.Compare(x.id, y.id))
	})
}

// takeSends removes and returns the ordered sends of a group.
func (l *rankLoader) takeSends(group int32) []call {
	var out []call
	l.sends = slices.DeleteFunc(l.sends, func(c call) bool {
		if c.group == group {
			out = append(out, c)
		}
		return c.group == group
	})
	return out
}

// sendChains records the order of sends in groups without ordered collectives.
func (l *rankLoader) sendChains() {
	for len(l.sends) > 0 {
		chain := l.takeSends(l.sends[0].group)
		l.sortByAttribute(chain)
		l.chain(chain)
	}
}

func (l *rankLoader) chain(calls []call) {
	ops := make([]int32, len(calls))
	for i := range calls {
		ops[i] = calls[i].op
	}
	l.rb.Chain(ops)
}

// usage is what the members of a group agreed on so far: the first occurrence of
// each collective, and how many each member has, by position.
type usage struct {
	first  []instance
	counts []int32
}

// instance is a collective of the first rank that has it.
type instance struct {
	call
	rank int32
	at   diag.Pos
}

func (l *loader) usage(group int32) *usage {
	u, ok := l.uses[group]
	if !ok {
		u = &usage{counts: make([]int32, l.b.Graph().Groups[group].Size())}
		l.uses[group] = u
	}
	return u
}

// check compares the k-th collective of a group with that of the first member seen.
func (l *rankLoader) check(u *usage, c *call, k int) {
	at := l.at(&l.t.nodes[c.op])
	if k >= len(u.first) {
		u.first = append(u.first, instance{*c, l.rank, at.pos()})
		return
	}
	o := &u.first[k]
	if o.ct == c.ct && o.size == c.size && o.root == c.root {
		return
	}
	rootDiffers := o.root != c.root && o.ct == c.ct
	what := func(c *call) string {
		s := fmt.Sprintf("%s of %d bytes", collName(c.ct), c.size)
		if rootDiffers {
			s += fmt.Sprintf(" with root %d", l.b.Graph().Groups[c.group].Members[c.root])
		}
		return s
	}
	l.f.errorf("E713", fmt.Sprint(c.group), at, "collective %d of the process group %q is %s on rank %d, but %s on rank %d (%s)",
		k, c.name, what(c), l.rank, what(&o.call), o.rank, o.at)
}

// checkCounts reports groups whose members do not have the same number of
// collectives: the run would wait for ever.
func (l *loader) checkCounts() {
	if l.f.failed() {
		return // a rank that could not be read has no collectives
	}
	for id, g := range l.b.Graph().Groups {
		u := l.uses[int32(id)]
		if u == nil {
			continue
		}
		fewest := slices.Min(u.counts)
		if fewest == slices.Max(u.counts) {
			continue
		}
		o := &u.first[fewest]
		b := g.Members[slices.Index(u.counts, fewest)]
		l.f.list.Errorf("E714", o.at, "rank %d has %d collectives of the process group %q, but rank %d has %d: %s number %d has no partner there",
			o.rank, u.counts[g.Pos(o.rank)], o.name, b, fewest, collName(o.ct), fewest)
	}
}
