package chakra

import (
	"cmp"
	"slices"

	"hybrid/internal/diag"
)

// assemble checks what concerns several lines and makes the mapping.
func (p *mappingParser) assemble() *Mapping {
	if len(p.ranks) == 0 && !p.bad[0] {
		p.list.Errorf("E721", diag.Pos{File: p.file}, "no line places a rank")
	}
	p.repeated("rank %d stands on line %d already", func(r *rankLine) uint32 { return r.rank })
	p.repeated("the server %d has a rank already, on line %d", func(r *rankLine) uint32 { return r.server })
	m := &Mapping{Groups: p.groups}
	p.members(m)
	p.flush()
	if !p.list.HasErrors() {
		p.missing()
	}
	return m
}

// repeated reports the lines whose key stands on an earlier line.
func (p *mappingParser) repeated(format string, key func(*rankLine) uint32) {
	order := make([]int32, len(p.ranks))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(key(&p.ranks[a]), key(&p.ranks[b])), cmp.Compare(a, b))
	})
	type repeat struct{ of, at int32 }
	var found []repeat
	first := int32(0)
	for i, at := range order {
		if i == 0 || key(&p.ranks[at]) != key(&p.ranks[first]) {
			first = at
			continue
		}
		found = append(found, repeat{first, at})
	}
	slices.SortFunc(found, func(a, b repeat) int { return cmp.Compare(a.at, b.at) })
	for _, f := range found {
		r := &p.ranks[f.at]
		p.add(diag.Error, "E721", r.line, format, key(r), p.ranks[f.of].line)
	}
	p.flush()
}

// members checks the groups against their members and fills in the columns of the
// mapping by rank, if every rank is there once.
func (p *mappingParser) members(m *Mapping) {
	index, used := p.declared(), make([]bool, len(p.groups))
	slices.SortStableFunc(p.ranks, func(a, b rankLine) int { return cmp.Compare(a.rank, b.rank) })
	undeclared := map[uint32]rankLine{}
	for i := range p.ranks {
		r := &p.ranks[i]
		group := int32(-1)
		if r.grouped {
			at, ok := index[r.group]
			if ok {
				group, used[at] = at, true
			} else if first, seen := undeclared[r.group]; !seen || r.line < first.line {
				undeclared[r.group] = *r
			}
		}
		m.Server, m.Group, m.Subgroup = append(m.Server, r.server), append(m.Group, group), append(m.Subgroup, r.subgroup)
	}
	if !p.bad[1] {
		p.undeclared(undeclared)
	}
	for i, g := range p.groups {
		if !used[i] && !p.bad[0] && index[g.ID] == int32(i) {
			p.add(diag.Warning, "W722", p.lines[i], "no rank is in the group %d", g.ID)
		}
	}
}

// declared indexes the groups by number.
func (p *mappingParser) declared() map[uint32]int32 {
	index := map[uint32]int32{}
	for i, g := range p.groups {
		if first, twice := index[g.ID]; twice {
			p.add(diag.Error, "E722", p.lines[i], "the group %d is declared on line %d already", g.ID, p.lines[first])
			continue
		}
		index[g.ID] = int32(i)
	}
	return index
}

// undeclared reports each group without a declaration where it is first used.
func (p *mappingParser) undeclared(byGroup map[uint32]rankLine) {
	var lines []rankLine
	for _, r := range byGroup {
		lines = append(lines, r)
	}
	slices.SortFunc(lines, func(a, b rankLine) int { return cmp.Compare(a.line, b.line) })
	hint := ""
	if !p.second {
		hint = ": no line begins with @, so there is no section of groups"
	}
	for _, r := range lines {
		p.add(diag.Error, "E722", r.line, "the group %d is not declared%s", r.group, hint)
	}
}

// missing reports the first rank without a line. The ranks are in order and differ.
func (p *mappingParser) missing() {
	for i := range p.ranks {
		if p.ranks[i].rank != uint32(i) {
			p.list.Errorf("E721", diag.Pos{File: p.file}, "rank %d is missing: the ranks must cover 0 to %d", i, p.ranks[len(p.ranks)-1].rank)
			return
		}
	}
}
