package records

import (
	"cmp"
	"slices"
	"strings"

	"hybrid/graph"
	"hybrid/graph/replay"
	"hybrid/internal/units"
)

// instance is a collective in flight, or complete and about to be written.
type instance struct {
	group          int32
	number         int64
	typ            graph.CollType
	algorithm      string
	bytes          int64  // as written, or what all pairs together have sent
	sent           int64  // of sizes by pair
	known          bool   // type, algorithm and bytes are
	seen           []bool // by position: its first transfer has started
	started        int32  // participants
	first, last    units.Time
	end            units.Time // latest acknowledgement or receive
	done           units.Time // when it was complete
	unacked, parts int32      // sends in flight, ranks that have ended
}

// collectives follows collectives from their first transfer until all ranks have ended
// their part and all transfers are acknowledged, and hands them to the statistics.
type collectives struct {
	quiet
	r       *Recorder
	flights map[uint64]*instance
	spare   []*instance
	ready   []*instance
	// landed are called for each complete collective in the order of (done, group,
	// number), lost at the end for those that did not become complete.
	landed, lost []func(*instance) error
}

// follow returns what follows collectives for all records that ask for it.
func (r *Recorder) follow() *collectives {
	for _, a := range r.active {
		if c, ok := a.listener.(*collectives); ok {
			return c
		}
	}
	c := &collectives{r: r, flights: map[uint64]*instance{}}
	r.active = append(r.active, active{"", c})
	return c
}

func (c *collectives) flight(context uint64, group int32, number int64) *instance {
	f := c.flights[context]
	if f != nil {
		return f
	}
	n := c.r.g.Groups[group].Size()
	if k := len(c.spare); k > 0 {
		f, c.spare = c.spare[k-1], c.spare[:k-1]
		seen := f.seen[:0]
		*f = instance{seen: seen}
	} else {
		f = &instance{}
	}
	f.group, f.number = group, number
	f.seen = append(f.seen, make([]bool, n)...)
	c.flights[context] = f
	return f
}

func (c *collectives) events(events []replay.Event) error {
	if len(events) > 0 {
		if err := c.flush(events[0].T); err != nil {
			return err
		}
	}
	for i := range events {
		e := &events[i]
		if e.Kind == replay.RankEnded || !e.Collective || e.Sync {
			continue
		}
		group, number, _ := replay.ContextCollective(e.Context)
		c.event(e, group, number)
	}
	return nil
}

func (c *collectives) event(e *replay.Event, group int32, number int64) {
	f := c.flight(e.Context, group, number)
	if !f.known {
		c.describe(f, e)
	}
	switch e.Kind {
	case replay.OpStarted:
		f.enter(c.r.g.Groups[group].Pos(e.Rank), e.T)
		if e.OpKind == graph.Send {
			f.unacked++
		}
	case replay.OpEnded:
		if e.OpKind == graph.Recv {
			f.end = max(f.end, e.T)
		}
	case replay.Acked:
		f.unacked--
		f.end, f.done = max(f.end, e.T), max(f.done, e.T)
		c.check(e.Context, f)
	}
}

// describe fills in what a transfer tells of its collective; its end tells it again.
func (c *collectives) describe(f *instance, e *replay.Event) {
	p, _ := c.r.g.Program(int(e.Rank))
	call := &p.Calls[p.Ops[e.Op].Arg]
	f.typ, f.bytes, _ = c.r.call(e)
	f.algorithm, f.known = call.Algorithm, true
	if a := c.r.algs.Default(call.Type); f.algorithm == "" && a != nil {
		f.algorithm = a.Name
	}
}

// enter notes that the first transfer of a participant starts at t. Events come in the
// order of time.
func (f *instance) enter(pos int32, t units.Time) {
	if f.seen[pos] {
		return
	}
	f.seen[pos] = true
	if f.started == 0 {
		f.first = t
	}
	f.started++
	f.first, f.last = min(f.first, t), max(f.last, t)
}

func (c *collectives) parts(parts []replay.CollectiveEnd) error {
	for i := range parts {
		q := &parts[i]
		context := replay.CollectiveContext(q.Group, q.Instance)
		f := c.flight(context, q.Group, q.Instance)
		f.typ, f.algorithm, f.bytes, f.known = q.Type, q.Algorithm.Name, q.Bytes, true
		if f.sent += q.Sent; f.sent > 0 {
			f.bytes = f.sent
		}
		f.enter(c.r.g.Groups[q.Group].Pos(q.Rank), q.Start)
		if f.parts++; q.End == q.Start && f.end < q.End {
			f.end = q.End
		}
		f.done = max(f.done, q.End)
		c.check(context, f)
	}
	return nil
}

// check moves a collective that has become complete to the ready ones.
func (c *collectives) check(context uint64, f *instance) {
	if f.unacked == 0 && int(f.parts) == len(f.seen) {
		delete(c.flights, context)
		c.ready = append(c.ready, f)
	}
}

// flush hands on the collectives that became complete before a time that everything to
// come will not be before.
func (c *collectives) flush(before units.Time) error {
	if len(c.ready) == 0 {
		return nil
	}
	slices.SortFunc(c.ready, compareInstances)
	n := 0
	for n < len(c.ready) && c.ready[n].done < before {
		if err := tell(c.landed, c.ready[n]); err != nil {
			return err
		}
		n++
	}
	c.spare = append(c.spare, c.ready[:n]...)
	c.ready = append(c.ready[:0], c.ready[n:]...)
	return nil
}

func compareInstances(a, b *instance) int {
	return cmp.Or(cmp.Compare(a.done, b.done), cmp.Compare(a.group, b.group), cmp.Compare(a.number, b.number))
}

func tell(all []func(*instance) error, f *instance) error {
	for _, do := range all {
		if err := do(f); err != nil {
			return err
		}
	}
	return nil
}

// end hands on everything that is left.
func (c *collectives) end(*replay.Result) error {
	if err := c.flush(units.Never); err != nil {
		return err
	}
	left := make([]*instance, 0, len(c.flights))
	for _, f := range c.flights {
		left = append(left, f)
	}
	slices.SortFunc(left, func(a, b *instance) int {
		return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.number, b.number))
	})
	for _, f := range left {
		if err := tell(c.lost, f); err != nil {
			return err
		}
	}
	return nil
}

// start is when the collective began under the option.
func (f *instance) start(o *Options) units.Time {
	if o.EarliestStart {
		return f.first
	}
	return f.last
}

// runTime is the time from the start to the end.
func (f *instance) runTime(o *Options) units.Time { return max(0, f.end-f.start(o)) }

// collectiveStats writes a row for each instance of a collective.
type collectiveStats struct {
	quiet
	r *Recorder
	t *table
}

func newCollectiveStats(r *Recorder) listener {
	s, c := &collectiveStats{r: r}, r.follow()
	c.landed, c.lost = append(c.landed, s.write), append(c.lost, s.write)
	return s
}

func (s *collectiveStats) begin() (err error) {
	s.t, err = s.r.open("chakra-comm-collective-stats", collectiveColumns())
	return err
}

func (s *collectiveStats) write(f *instance) error {
	r := s.r
	g := r.g.Groups[f.group]
	valid := 0
	if f.parts > 0 {
		valid = 1
	}
	return s.t.row(integer(collectiveHash(f.group, f.number)), text(chakraName(f.typ)), integer(f.bytes), text(strings.ToValidUTF8(g.Name, "\uFFFD")), integer(g.Size()),
		micros(r.ps(f.start(&r.opt))), micros(r.ps(f.end)), boolean(!r.opt.EarliestStart), integer(valid))
}
