package replay

import (
	"errors"
	"fmt"
	"strings"

	"hybrid/graph"
	"hybrid/internal/diag"
)

// ReportCheck adds what a check found to the list: E402, W402, E403, the verdict's
// findings (see [ReportVerdict]) and W502.
func ReportCheck(g *graph.Graph, r CheckResult, list *diag.List) {
	for i := range r.Truncated {
		m := &r.Truncated[i]
		list.Errorf("E402", g.Sites[m.RecvSite].Pos, "message of %d B from %d (%s) is longer than its receive of %d B on %d%s",
			m.Sent, m.Src, g.Sites[m.SendSite].Where(), m.Buffer, m.Dst, times(m.Count))
	}
	for i := range r.Differing {
		m := &r.Differing[i]
		than := "shorter"
		if m.Sent > m.Buffer {
			than = "longer"
		}
		list.Warnf("W402", g.Sites[m.RecvSite].Pos, "message of %d B from %d (%s) is %s than its receive of %d B on %d%s; the size sent counts",
			m.Sent, m.Src, g.Sites[m.SendSite].Where(), than, m.Buffer, m.Dst, times(m.Count))
	}
	for i := range r.Calls {
		reportCall(g, &r.Calls[i], list)
	}
	if len(r.Calls) == 0 || r.Verdict.Outcome == Failed {
		ReportVerdict(g, &r.Verdict, list)
	}
	if text := r.Coverage(); text != "" {
		list.Infof("W503", diag.Pos{}, "%s", text)
	}
	if r.Unsafe != nil && len(r.Unsafe.Cycle) > 0 {
		v := r.Unsafe
		list.Warnf("W502", cyclePos(g, v), "the program finishes only because short messages leave before they are received: without that, %s", cycleText(v)).
			Note("the MPI standard calls such a program unsafe; a longer message or another network makes it a deadlock")
	}
}

func times(n int64) string {
	if n > 1 {
		return fmt.Sprintf(" (%d times)", n)
	}
	return ""
}

func reportCall(g *graph.Graph, m *CallMismatch, list *diag.List) {
	group := g.Groups[m.Group]
	pos := g.Sites[m.A.Site].Pos
	if m.B.Rank < 0 {
		list.Errorf("E403", pos, "%s over %s: ranks %s never reach it, rank %d does", m.A.Type, group.Name, rankList(m.Absent, m.Missing), m.A.Rank)
		return
	}
	d := list.Errorf("E403", g.Sites[m.B.Site].Pos, "collective %d of %s is %s on rank %d but %s on rank %d", m.Instance, group.Name,
		m.B.describe(&m.A), m.B.Rank, m.A.describe(&m.B), m.A.Rank)
	if m.A.Site != m.B.Site {
		d.Note("rank %d calls it at %s", m.A.Rank, g.Sites[m.A.Site].Where())
	}
}

// describe names a call by what distinguishes it from another.
func (c *CalledBy) describe(o *CalledBy) string {
	s := c.Type.String()
	if c.Type != o.Type {
		return s
	}
	if c.Algorithm != o.Algorithm {
		s += " " + c.Algorithm
	}
	if c.Bytes != o.Bytes {
		s += fmt.Sprintf(" of %d B", c.Bytes)
	}
	if c.Root != o.Root {
		s += fmt.Sprintf(" with root %d", c.Root)
	}
	return s
}

func rankList(ranks []int32, all int) string {
	var b strings.Builder
	for i, r := range ranks {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprint(&b, r)
	}
	if n := all - len(ranks); n > 0 {
		fmt.Fprintf(&b, " and %d more", n)
	}
	return b.String()
}

// ReportVerdict adds the findings of a verdict, an engine's or a check's: E501 for
// a deadlock with its cycle, E401 for messages and receives without a partner, E503
// and E504 for a run that was stopped, and the errors of one that failed. A run that
// finished adds nothing.
func ReportVerdict(g *graph.Graph, v *Verdict, list *diag.List) {
	switch v.Outcome {
	case Deadlock:
		d := list.Errorf("E501", cyclePos(g, v), "%s", cycleText(v))
		if n := cycleNote(v); n != "" {
			d.Note("%s", n)
		}
		if n := tagNote(v); n != "" {
			d.Note("%s", n)
		}
		if n := v.Blocked - len(v.Cycle); n > 0 {
			d.Note("%d more ranks wait for these or for each other", n)
		}
	case Unmatched:
		reportUnmatched(g, v, list)
	case Stopped:
		list.Errorf("E503", diag.Pos{}, "the stop time came before %d ranks had finished", v.Blocked)
	case Interrupted:
		list.Errorf("E504", diag.Pos{}, "interrupted before %d ranks had finished", v.Blocked)
	case Failed:
		for _, err := range v.Errors {
			reportError(err, list)
		}
	}
}

func reportError(err error, list *diag.List) {
	var d diag.Diagnostic
	var l *diag.ListError
	switch {
	case errors.As(err, &d):
		list.Add(d)
	case errors.As(err, &l):
		list.Append(l.List)
	default:
		list.Errorf("E502", diag.Pos{}, "the run failed: %v", err)
	}
}

// link returns what a rank of the cycle waits for: its operation with the next one.
func (v *Verdict) link(i int) (Pending, bool) {
	from, to := v.Cycle[i], v.Cycle[(i+1)%len(v.Cycle)]
	for _, p := range v.Pending {
		if p.Rank == from && p.Peer == to && !p.Never {
			return p, true
		}
	}
	return Pending{Rank: from, Peer: to}, false
}

func cyclePos(g *graph.Graph, v *Verdict) diag.Pos {
	for i := range v.Cycle {
		if p, ok := v.link(i); ok {
			return g.Sites[p.Site].Pos
		}
	}
	return diag.Pos{}
}

// mostLinks bounds the links of a cycle that a message spells out.
const mostLinks = 8

// cycleText is the deadlock in words: deadlock at 65536 B (eager limit 65535 B): 0
// waits in send to 1, 1 in send to 0.
func cycleText(v *Verdict) string {
	var b strings.Builder
	b.WriteString("deadlock")
	bytes, alike := v.commonSend()
	if alike {
		fmt.Fprintf(&b, " at %d B", bytes)
		if v.HasLimit && v.EagerLimit >= 0 {
			fmt.Fprintf(&b, " (eager limit %d B)", v.EagerLimit)
		}
	}
	for i := range v.Cycle {
		switch {
		case i == mostLinks:
			fmt.Fprintf(&b, " and %d more", len(v.Cycle)-mostLinks)
			return b.String()
		case i == 0:
			fmt.Fprintf(&b, ": %d waits ", v.Cycle[i])
		default:
			fmt.Fprintf(&b, ", %d ", v.Cycle[i])
		}
		b.WriteString(linkText(v, i, alike))
	}
	return b.String()
}

func linkText(v *Verdict, i int, alike bool) string {
	p, ok := v.link(i)
	if !ok {
		return fmt.Sprintf("for %d", p.Peer)
	}
	what, way := p.Kind.String(), "to"
	if p.Kind == graph.Recv {
		way = "from"
	}
	if p.Collective {
		what = "a collective's " + what
	}
	if !alike && p.Kind == graph.Send {
		what += fmt.Sprintf(" of %d B", p.Bytes)
	}
	return fmt.Sprintf("in %s %s %d", what, way, p.Peer)
}

// commonSend reports whether all links are sends of one size.
func (v *Verdict) commonSend() (bytes int64, ok bool) {
	for i := range v.Cycle {
		p, found := v.link(i)
		if !found || p.Kind != graph.Send || i > 0 && p.Bytes != bytes {
			return 0, false
		}
		bytes = p.Bytes
	}
	return bytes, len(v.Cycle) > 0
}

func cycleNote(v *Verdict) string {
	sends, recvs := 0, 0
	for i := range v.Cycle {
		switch p, ok := v.link(i); {
		case ok && p.Collective:
			return "collectives of overlapping groups must come in the same order on all their ranks"
		case ok && p.Kind == graph.Send:
			sends++
		case ok && p.Kind == graph.Recv:
			recvs++
		}
	}
	switch len(v.Cycle) {
	case sends:
		return "each rank sends before it receives; use sendrecv, or async send + wait"
	case recvs:
		return "each rank waits for a message that the next one would send only later"
	}
	return ""
}

// tagNote names the first two operations that wait for each other and would match but
// for their tags.
func tagNote(v *Verdict) string {
	for i := range v.Pending {
		s := &v.Pending[i]
		if s.Kind != graph.Send || s.Collective || s.Never {
			continue
		}
		for j := range v.Pending {
			r := &v.Pending[j]
			if r.Kind == graph.Recv && !r.Collective && r.Rank == s.Peer && r.Peer == s.Rank && r.Tag != s.Tag && r.Tag != graph.AnyTag {
				return fmt.Sprintf("rank %d sends to %d with tag %d, but rank %d receives from %d with tag %d", s.Rank, r.Rank, s.Tag, r.Rank, s.Rank, r.Tag)
			}
		}
	}
	return ""
}

// pattern is what equal unmatched operations of several ranks share: the place and
// how far the partner is.
type pattern struct {
	site   int32
	kind   graph.Kind
	offset int32
	any    bool
}

// group is one finding: the first operation of a pattern, the ranks that have it
// and the number of operations.
type group struct {
	pattern
	first Pending
	ranks map[int32]bool
	count int
}

// reportUnmatched merges by pattern what lacks a partner. Operations that wait for
// a rank which itself is stuck before its end are consequences and are left out.
func reportUnmatched(g *graph.Graph, v *Verdict, list *diag.List) {
	stuck := map[int32]bool{}
	for _, p := range v.Pending {
		stuck[p.Rank] = stuck[p.Rank] || p.More
	}
	var groups []*group
	add := func(p Pending) {
		k := pattern{p.Site, p.Kind, p.Peer - p.Rank, p.Peer == graph.AnyRank}
		if k.any {
			k.offset = 0
		}
		for _, o := range groups {
			if o.pattern == k {
				o.ranks[p.Rank] = true
				o.count++
				return
			}
		}
		groups = append(groups, &group{k, p, map[int32]bool{p.Rank: true}, 1})
	}
	for _, p := range v.Unreceived {
		add(p)
	}
	for _, p := range v.Pending {
		if !p.Never && (p.Kind == graph.Send || p.Kind == graph.Recv) && (p.Peer == graph.AnyRank || p.Peer == p.Rank || !stuck[p.Peer]) {
			add(p)
		}
	}
	if len(groups) == 0 {
		for _, p := range v.Pending {
			list.Errorf("E401", g.Sites[p.Site].Pos, "%s", p)
		}
	}
	for _, o := range groups {
		d := list.Errorf("E401", g.Sites[o.first.Site].Pos, "%s", o.text())
		counterpart(g, v, &o.first, d)
	}
}

// text is the finding: rank r -> r+1 (4 pairs), tag 1: 1 send but no receive.
func (o *group) text() string {
	p := &o.first
	each := (o.count + len(o.ranks) - 1) / len(o.ranks)
	arrow := func(from, to int32, pair string) string {
		if len(o.ranks) == 1 {
			return fmt.Sprintf("rank %d -> %d", from, to)
		}
		return fmt.Sprintf("rank %s (%d pairs)", pair, len(o.ranks))
	}
	in := ""
	if p.Collective {
		in = " of a collective"
	}
	if p.Kind == graph.Send {
		return fmt.Sprintf("%s, tag %d: %s%s but no receive", arrow(p.Rank, p.Peer, fmt.Sprintf("r -> r%+d", o.offset)), p.Tag, plural(each, "send"), in)
	}
	tag := fmt.Sprintf("tag %d", p.Tag)
	if p.Tag == graph.AnyTag {
		tag = "any tag"
	}
	if o.any {
		return fmt.Sprintf("rank %d (%s in all), %s: %s from any rank but no send", p.Rank, plural(len(o.ranks), "rank"), tag, plural(each, "receive"))
	}
	return fmt.Sprintf("%s, %s: %s%s but no send", arrow(p.Peer, p.Rank, fmt.Sprintf("r%+d -> r", o.offset)), tag, plural(each, "receive"), in)
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// counterpart notes an unmatched operation of the other kind between the same
// ranks, which then usually has the wrong tag.
func counterpart(g *graph.Graph, v *Verdict, p *Pending, d *diag.Diagnostic) {
	for _, list := range [][]Pending{v.Unreceived, v.Pending} {
		for _, q := range list {
			if q.Rank == p.Peer && q.Peer == p.Rank && q.Kind != p.Kind && !q.Never && q.Tag != p.Tag && q.Collective == p.Collective {
				verb := "receives"
				if q.Kind == graph.Send {
					verb = "sends"
				}
				d.Note("%s %s tag %d between the same ranks", g.Sites[q.Site].Where(), verb, q.Tag)
				return
			}
		}
	}
}
