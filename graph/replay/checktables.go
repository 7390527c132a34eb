package replay

import (
	"cmp"
	"slices"

	"hybrid/graph"
)

// sizeTable merges size mismatches by the sites of both ends.
type sizeTable struct{ all []SizeMismatch }

func (t *sizeTable) add(m, r *transferEnd) {
	for i := range t.all {
		o := &t.all[i]
		if o.SendSite == m.site && o.RecvSite == r.site && (o.Sent > o.Buffer) == (m.bytes > r.bytes) {
			o.Count++
			return
		}
	}
	t.all = append(t.all, SizeMismatch{m.site, r.site, m.rank, r.rank, m.tag, m.bytes, r.bytes, 1})
}

func (t *sizeTable) split(origin graph.Origin) (truncated, differing []SizeMismatch) {
	slices.SortFunc(t.all, func(a, b SizeMismatch) int {
		return cmp.Or(cmp.Compare(a.SendSite, b.SendSite), cmp.Compare(a.RecvSite, b.RecvSite))
	})
	for _, m := range t.all {
		if m.Sent > m.Buffer && origin == graph.Blueprint {
			truncated = append(truncated, m)
		} else {
			differing = append(differing, m)
		}
	}
	return truncated, differing
}

// callTable compares the calls that the members of a group make of one instance.
type callTable struct {
	open  map[flightKey]*openCall
	spare []*openCall
	found []CallMismatch
}

type openCall struct {
	first CalledBy
	parts int
}

func (t *callTable) add(g *graph.Graph, c *Cursor, p *part) {
	k := flightKey{p.group.ID, p.instance}
	mine := CalledBy{c.rank, c.p.Ops[c.insts[p.inst].op].Site, p.real.Type, p.real.Name, p.call.Root, p.call.Bytes}
	o := t.open[k]
	if o == nil {
		if n := len(t.spare); n > 0 {
			o, t.spare = t.spare[n-1], t.spare[:n-1]
		} else {
			o = new(openCall)
		}
		*o = openCall{first: mine}
		t.open[k] = o
	}
	f := &o.first
	if f.Type != mine.Type || f.Bytes != mine.Bytes || f.Root != mine.Root || f.Algorithm != mine.Algorithm {
		t.note(CallMismatch{Group: k.group, Instance: k.instance, A: *f, B: mine})
	}
	if o.parts++; o.parts == p.group.Size() {
		delete(t.open, k)
		t.spare = append(t.spare, o)
	}
}

// note keeps the first mismatch between two sites.
func (t *callTable) note(m CallMismatch) {
	if !slices.ContainsFunc(t.found, func(o CallMismatch) bool {
		return o.Group == m.Group && o.A.Site == m.A.Site && o.B.Site == m.B.Site
	}) {
		t.found = append(t.found, m)
	}
}

// mostAbsent bounds the ranks that a mismatch names.
const mostAbsent = 8

// finish adds the instances that members never reach although they finished. A
// member that is stuck elsewhere might still have come.
func (t *callTable) finish(g *graph.Graph, cursors []*Cursor) []CallMismatch {
	for k, o := range t.open {
		m := CallMismatch{Group: k.group, Instance: k.instance, A: o.first, B: CalledBy{Rank: -1}}
		for _, r := range g.Groups[k.group].Members {
			if cursors[r].Finished() && !cursors[r].called(k.group, k.instance) {
				if m.Missing++; m.Missing <= mostAbsent {
					m.Absent = append(m.Absent, r)
				}
			}
		}
		if m.Missing > 0 {
			t.found = append(t.found, m)
		}
	}
	slices.SortFunc(t.found, func(a, b CallMismatch) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Instance, b.Instance), cmp.Compare(a.B.Rank, b.B.Rank))
	})
	return t.found
}

// called reports whether a finished rank had the instance of the group's
// collectives.
func (c *Cursor) called(group int32, instance int64) bool {
	for i := range c.counts {
		if c.counts[i].group == group {
			return c.counts[i].n > instance
		}
	}
	if !c.p.Flat {
		return false
	}
	for i := range c.p.Ops {
		op := &c.p.Ops[i]
		if op.Kind != graph.Collective {
			continue
		}
		id, _ := c.p.Known(op.Tag, c.slot)
		if n, ok := c.p.Known(op.Index, c.slot); ok && id == int64(group) && n == instance {
			return true
		}
	}
	return false
}
