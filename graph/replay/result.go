package replay

import (
	"math/bits"
	"slices"
	"time"

	"hybrid/graph"
	"hybrid/internal/units"
)

// Result is what an engine hands to the report: the same type from both, so that
// they can be laid side by side.
type Result struct {
	// Model names the engine and model: packet, loggp, hockney.
	Model string
	// Clock gives the unit of every time below.
	Clock units.Clock
	// Makespan is when the last rank finished.
	Makespan units.Time
	// Ranks, Sites and Collectives are the times by rank, by place of writing (index =
	// site id) and by collective, the latter in order of site, group size and bytes.
	Ranks       []RankTimes
	Sites       []SiteTimes
	Collectives []CollectiveTimes
	// Operations counts timed instances as written (a collective part counts once),
	// Messages and MessageBytes the transfers, those of collectives included and
	// those of synchronization barriers not.
	Operations, Messages, MessageBytes int64
	// Verdict says how the run ended.
	Verdict Verdict
	// Events, Packets, PacketHops and Windows describe the cost of a simulation; Wall
	// is the time it took, which no comparison of results includes.
	Events, Packets, PacketHops, Windows int64
	Wall                                 time.Duration
	// Notes are assumptions that a reader of the result must know.
	Notes []string
	// Digest is a hash of every operation's end time in a fixed order, for tests of
	// reproducibility; 0 if the engine does not compute it.
	Digest uint64
}

// RankTimes are the times of one rank. Compute is the time in which at least one
// compute or memory operation ran, Communication in which at least one transfer was
// in progress, Exposed the part of Communication in which nothing computed.
type RankTimes struct {
	Finish, Compute, Communication, Exposed units.Time
}

// SiteTimes sums the durations of the operations written at one place.
type SiteTimes struct {
	Count int64
	// Ranks counts the ranks that executed it.
	Ranks int64
	Total Sum
	Max   units.Time
}

// CollectiveTimes sums the instances of a collective. An instance lasts from the
// latest start of a participant to the last end.
type CollectiveTimes struct {
	Site      int32
	Type      graph.CollType
	Algorithm string
	GroupSize int
	// Bytes is the size as written; of an all-to-allv what all pairs together send.
	Bytes int64
	// Transfers and TransferBytes are of one instance.
	Transfers, TransferBytes int64
	Count                    int64
	Total                    Sum
	Max                      units.Time
}

// Sum is an unsigned 128-bit sum of non-negative times.
type Sum struct{ Hi, Lo uint64 }

// Add adds a time.
func (s *Sum) Add(t units.Time) {
	lo, carry := bits.Add64(s.Lo, uint64(t), 0)
	s.Lo, s.Hi = lo, s.Hi+carry
}

// Merge adds another sum.
func (s *Sum) Merge(o Sum) {
	lo, carry := bits.Add64(s.Lo, o.Lo, 0)
	s.Lo, s.Hi = lo, s.Hi+o.Hi+carry
}

// Div returns the sum divided by n, truncated; 0 for n = 0 and saturating.
func (s Sum) Div(n int64) units.Time {
	if n <= 0 {
		return 0
	}
	if s.Hi >= uint64(n) {
		return units.Never
	}
	q, _ := bits.Div64(s.Hi, s.Lo, uint64(n))
	if q > uint64(units.Never) {
		return units.Never
	}
	return units.Time(q)
}

// PS returns the sum in picoseconds under a clock, saturating.
func (s Sum) PS(c units.Clock) int64 { return s.Div(c.PerPS) }

// Busy measures the union of time intervals whose starts come in order: how long at
// least one activity ran. Ends may be known in advance (Interval) or come later
// (Begin, Finish).
type Busy struct {
	open       int32
	start, end units.Time
	total      units.Time
}

// Interval adds an activity from t to end.
func (b *Busy) Interval(t, end units.Time) {
	b.touch(t)
	b.end = max(b.end, end)
}

// Begin opens an activity at t whose end is not known yet.
func (b *Busy) Begin(t units.Time) {
	b.touch(t)
	b.open++
}

// Finish closes an activity at end.
func (b *Busy) Finish(end units.Time) {
	b.open--
	b.end = max(b.end, end)
}

func (b *Busy) touch(t units.Time) {
	if b.open == 0 && t > b.end {
		b.total += b.end - b.start
		b.start, b.end = t, t
	}
}

// Total returns the measure of everything closed so far.
func (b *Busy) Total() units.Time { return b.total + b.end - b.start }

// Activity keeps the three measures of a rank.
type Activity struct {
	compute, comm, any Busy
}

// Compute adds a compute or memory operation from t to end.
func (a *Activity) Compute(t, end units.Time) {
	a.compute.Interval(t, end)
	a.any.Interval(t, end)
}

// ComputeBegin and ComputeEnd bracket one whose end is not known in advance.
func (a *Activity) ComputeBegin(t units.Time) {
	a.compute.Begin(t)
	a.any.Begin(t)
}

// ComputeEnd closes a compute operation.
func (a *Activity) ComputeEnd(t units.Time) {
	a.compute.Finish(t)
	a.any.Finish(t)
}

// TransferBegin opens a send or receive.
func (a *Activity) TransferBegin(t units.Time) {
	a.comm.Begin(t)
	a.any.Begin(t)
}

// TransferEnd closes it.
func (a *Activity) TransferEnd(t units.Time) {
	a.comm.Finish(t)
	a.any.Finish(t)
}

// Times returns the measures of a rank that finished at finish.
func (a *Activity) Times(finish units.Time) RankTimes {
	return RankTimes{finish, a.compute.Total(), a.comm.Total(), a.any.Total() - a.compute.Total()}
}

// Tally sums the times of a run by site and collective while it goes on. Engines
// with several threads keep one each and Merge them; sums do not depend on order.
type Tally struct {
	g       *graph.Graph
	sites   []SiteTimes
	flights map[flightKey]*flight
	// recent is the flight that was looked up last, or nil.
	recent    *flight
	recentKey flightKey
	spare     []*flight
	colls     map[collKey]*CollectiveTimes
	Result    Result // counters are added here
}

type flightKey struct {
	group    int32
	instance int64
}

type flight struct {
	parts      int32
	start, end units.Time
	sent       int64
	last       CollectiveEnd
}

type collKey struct {
	site      int32
	size      int32
	bytes     int64
	algorithm string
}

// NewTally returns an empty tally for a graph.
func NewTally(g *graph.Graph) *Tally {
	t := &Tally{g: g, sites: make([]SiteTimes, len(g.Sites)), flights: map[flightKey]*flight{}, colls: map[collKey]*CollectiveTimes{}}
	return t
}

// Op adds an operation instance written at site that lasted from start to end.
func (t *Tally) Op(site int32, start, end units.Time) {
	s := &t.sites[site]
	s.Count++
	d := end - start
	s.Total.Add(d)
	s.Max = max(s.Max, d)
}

// Part adds a rank's part of a collective: to its site at once, and to the
// collective once all parts are in.
func (t *Tally) Part(e *CollectiveEnd) {
	t.Op(e.Site, e.Start, e.End)
	t.Join(e)
}

// Join adds a part to its collective instance only.
func (t *Tally) Join(e *CollectiveEnd) {
	k := flightKey{e.Group, e.Instance}
	f := t.recent
	if f == nil || t.recentKey != k { // the parts of an instance mostly end one after another
		f = t.flights[k]
		t.recent, t.recentKey = f, k
	}
	if f == nil {
		f = t.newFlight()
		f.last = *e
		f.start, f.end = e.Start, e.End
		t.flights[k] = f
		t.recent = f
	}
	f.parts++
	f.sent += e.Sent
	f.start, f.end = max(f.start, e.Start), max(f.end, e.End)
	// The lowest site speaks for the instance, whatever the order of arrival.
	if e.Site < f.last.Site {
		f.last = *e
	}
	if int(f.parts) == t.g.Groups[e.Group].Size() {
		t.land(f)
		delete(t.flights, k)
		t.recent = nil
		t.spare = append(t.spare, f)
	}
}

func (t *Tally) newFlight() *flight {
	if n := len(t.spare); n > 0 {
		f := t.spare[n-1]
		t.spare = t.spare[:n-1]
		*f = flight{}
		return f
	}
	return &flight{}
}

func (t *Tally) land(f *flight) {
	e := &f.last
	n := int32(t.g.Groups[e.Group].Size())
	sized := f.sent > 0 // by pair
	if sized {
		e.Bytes = f.sent
	}
	k := collKey{e.Site, n, e.Bytes, e.Algorithm.Name}
	c := t.colls[k]
	if c == nil {
		c = &CollectiveTimes{Site: e.Site, Type: e.Type, Algorithm: e.Algorithm.Name, GroupSize: int(n), Bytes: e.Bytes}
		if c.Transfers, c.TransferBytes = transfers(t.g, e, n); sized {
			c.TransferBytes = f.sent
		}
		t.colls[k] = c
	}
	c.Count++
	c.Total.Add(f.end - f.start)
	c.Max = max(c.Max, f.end-f.start)
}

// Merge adds the sites and counters of another tally; its collectives must have
// been forwarded through Join.
func (t *Tally) Merge(o *Tally) {
	for i := range o.sites {
		s, q := &t.sites[i], &o.sites[i]
		s.Count += q.Count
		s.Total.Merge(q.Total)
		s.Max = max(s.Max, q.Max)
	}
	t.Result.Operations += o.Result.Operations
	t.Result.Messages += o.Result.Messages
	t.Result.MessageBytes += o.Result.MessageBytes
	t.Result.Events += o.Result.Events
	t.Result.Packets += o.Result.Packets
	t.Result.PacketHops += o.Result.PacketHops
}

// Finish fills the sites and collectives of the result.
func (t *Tally) Finish() {
	t.Result.Sites = t.sites
	t.countRanks()
	t.Result.Collectives = make([]CollectiveTimes, 0, len(t.colls))
	for _, c := range t.colls {
		t.Result.Collectives = append(t.Result.Collectives, *c)
	}
	slices.SortFunc(t.Result.Collectives, compareCollectives)
}

// countRanks counts for each site the ranks whose program holds it.
func (t *Tally) countRanks() {
	for _, p := range t.g.Programs {
		last := int32(-1)
		seen := map[int32]bool{}
		for i := range p.Ops {
			if s := p.Ops[i].Site; p.Ops[i].Kind.Timed() && s != last && !seen[s] {
				seen[s], last = true, s
				t.sites[s].Ranks += int64(len(p.Ranks))
			}
		}
	}
}
