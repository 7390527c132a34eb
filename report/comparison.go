package report

import (
	"strconv"
	"strings"

	"hybrid/graph"
	"hybrid/graph/replay"
	"hybrid/internal/diag"
)

// Simulated is the model name of the packet simulation in a [replay.Result].
const Simulated = "packet"

// Inputs say what a comparison was made of. Every text is printed as it is.
type Inputs struct {
	// Command is compare, simulate or predict; Version the program's version.
	Command, Version string
	// Workload names the program as the user gave it; Format is blueprint, chakra or
	// goal.
	Workload, Format string
	// Network and Machine are names or files, NetworkFrom and MachineFrom who chose
	// them: "flag", "workload" or "default".
	Network, NetworkFrom string
	Machine, MachineFrom string
	// Topology, Placement and Fabric are one line each; Topology and Fabric are empty
	// where nothing was simulated.
	Topology, Placement, Fabric string
	// Interrupted says that the user ended the command before all runs were done.
	Interrupted bool
	// Seed is the seed of every random stream.
	Seed uint64
	// Parameters are those of the workload, Settings the options of the run that
	// differ from their defaults, both in the order to print them.
	Parameters, Settings []Parameter
}

// Parameter is a name and its value as text with its unit.
type Parameter struct{ Name, Value string }

// Counts are the sizes of what ran: operation instances as written, transfers and
// their payload bytes (those of collectives included), and collective instances.
type Counts struct {
	Ranks                                           int
	Operations, Messages, MessageBytes, Collectives int64
}

// Error is a relative error: 0.1 is 10 % too slow. The zero value is undefined.
type Error struct {
	Value   float64
	Defined bool
}

// Operation is what was written at one place, summed over ranks and iterations.
// Slices are parallel to [Comparison.Runs].
type Operation struct {
	Site int32
	// Where is the place, Name the user's name for it, Text what it does.
	Where, Name, Text string
	Kind              graph.Kind
	// Label names it in one line; it differs from every other at the same place.
	Label string
	// Count is of instances (the most of all runs), Counts of each run.
	Count, Ranks int64
	Counts       []int64
	// Total and Mean are picoseconds over all instances and of one instance.
	Total, Mean []int64
	Errors      []Error
}

// Collective is one collective call with one group size and size in bytes, summed
// over its instances. Slices are parallel to [Comparison.Runs].
type Collective struct {
	Site                            int32
	Where                           string
	Type, Algorithm                 string
	GroupSize                       int
	Bytes, Transfers, TransferBytes int64
	// Count is of instances (the most of all runs), Counts of each run.
	Count  int64
	Counts []int64
	// Mean is picoseconds from the latest start of a participant to the last end.
	Mean   []int64
	Errors []Error
	// LowerBound is the least time that any algorithm could take, in picoseconds; it
	// is meaningless unless HasBound.
	LowerBound int64
	HasBound   bool
	// Ideal is what the bandwidth of the ranks' links alone needs for the algorithm, in
	// picoseconds; it is meaningless unless HasIdeal. IdealRatios are the runs' mean times
	// divided by it: undefined without it and for a run that did not finish.
	Ideal       int64
	HasIdeal    bool
	IdealRatios []Ratio
}

// Ratio is a quotient of two times. The zero value is undefined.
type Ratio struct {
	Value   float64
	Defined bool
}

// Bound returns the least time in picoseconds that a collective of this type, group
// size and number of bytes could take on the network, and false if there is no bound.
type Bound func(c *replay.CollectiveTimes) (ps int64, ok bool)

// Comparison is a finished report, ready to be written.
type Comparison struct {
	Inputs      Inputs
	Counts      Counts
	Runs        []*replay.Result
	Operations  []Operation
	Collectives []Collective
	// Regions is empty unless the workload names regions.
	Regions []Region
	// Metrics has one entry for each model that was compared with the simulation.
	Metrics  []Metrics
	Findings []diag.Diagnostic
	// Stats, if not nil, are what the simulation cost in more detail.
	Stats *replay.Stats

	graph *graph.Graph
	ref   int // index of the simulated run, or -1
}

// New lays runs of one graph side by side. bound may be nil. Runs that did not finish
// take part with what they have.
func New(in Inputs, g *graph.Graph, runs []*replay.Result, bound Bound, findings *diag.List) *Comparison {
	c := &Comparison{Inputs: in, Runs: runs, graph: g, ref: -1}
	for i, r := range runs {
		if r.Model == Simulated && c.ref < 0 {
			c.ref = i
		}
	}
	if findings != nil {
		c.Findings = findings.All()
	}
	c.joinOperations()
	c.joinCollectives(bound)
	c.joinRegions()
	c.count()
	c.measure()
	return c
}

// OK reports whether every run finished.
func (c *Comparison) OK() bool {
	for _, r := range c.Runs {
		if !r.Verdict.OK() {
			return false
		}
	}
	return true
}

// Reference returns the simulated run, or nil.
func (c *Comparison) Reference() *replay.Result {
	if c.ref < 0 {
		return nil
	}
	return c.Runs[c.ref]
}

func (c *Comparison) count() {
	c.Counts.Ranks = c.graph.Ranks
	for _, r := range c.Runs {
		c.Counts.Operations = max(c.Counts.Operations, r.Operations)
		c.Counts.Messages = max(c.Counts.Messages, r.Messages)
		c.Counts.MessageBytes = max(c.Counts.MessageBytes, r.MessageBytes)
	}
	for i := range c.Collectives {
		c.Counts.Collectives += c.Collectives[i].Count
	}
}

// joinOperations makes a row for every place at which time passed.
func (c *Comparison) joinOperations() {
	for s := range c.graph.Sites {
		site := &c.graph.Sites[s]
		o := Operation{Site: int32(s), Where: site.Where(), Name: site.Name, Text: site.Text, Kind: site.Kind}
		var sums []value
		for _, r := range c.Runs {
			var t replay.SiteTimes
			if s < len(r.Sites) {
				t = r.Sites[s]
			}
			o.Count, o.Ranks = max(o.Count, t.Count), max(o.Ranks, t.Ranks)
			o.Counts = append(o.Counts, t.Count)
			o.Total = append(o.Total, t.Total.PS(r.Clock))
			o.Mean = append(o.Mean, r.Clock.PS(t.Total.Div(t.Count)))
			sums = append(sums, meanOf(t.Total, t.Count, r.Clock.PerPS))
		}
		if o.Count == 0 || site.Kind == graph.Join {
			continue
		}
		o.Errors = c.errors(sums)
		c.Operations = append(c.Operations, o)
	}
	c.labelOperations()
}

// labelOperations tells apart the operations that come from one statement: the two
// halves of an exchange by their kind, the calls of a function by their region.
func (c *Comparison) labelOperations() {
	type key struct{ where, label string }
	first := map[key]*Operation{}
	kinds, regions := map[key]bool{}, map[key]bool{}
	for i := range c.Operations {
		o := &c.Operations[i]
		o.Label = o.label()
		k := key{o.Where, o.Label}
		if f := first[k]; f == nil {
			first[k] = o
		} else {
			kinds[k] = kinds[k] || o.Kind != f.Kind
			regions[k] = regions[k] || c.region(o.Site) != c.region(f.Site)
		}
	}
	for i := range c.Operations {
		o := &c.Operations[i]
		k := key{o.Where, o.Label}
		if kinds[k] {
			o.Label += ": " + o.Kind.String()
		}
		if r := c.region(o.Site); regions[k] && r != "" {
			o.Label += " in " + r
		}
	}
}

func (c *Comparison) region(site int32) string { return c.graph.Sites[site].Region }

// collectiveKey joins the same collective of several runs.
type collectiveKey struct {
	site      int32
	size      int
	bytes     int64
	algorithm string
}

func (c *Comparison) joinCollectives(bound Bound) {
	index := map[collectiveKey]int{}
	var sums [][]value
	for run, r := range c.Runs {
		for i := range r.Collectives {
			t := &r.Collectives[i]
			k := collectiveKey{t.Site, t.GroupSize, t.Bytes, t.Algorithm}
			at, ok := index[k]
			if !ok {
				at = len(c.Collectives)
				index[k] = at
				c.Collectives = append(c.Collectives, c.newCollective(t, bound))
				sums = append(sums, make([]value, len(c.Runs)))
			}
			row := &c.Collectives[at]
			row.Count = max(row.Count, t.Count)
			row.Counts[run] = t.Count
			row.Mean[run] = r.Clock.PS(t.Total.Div(t.Count))
			sums[at][run] = meanOf(t.Total, t.Count, r.Clock.PerPS)
		}
	}
	for i := range c.Collectives {
		c.Collectives[i].Errors = c.errors(sums[i])
	}
}

// AddIdeals adds the ideal time of each collective, for which ideal returns picoseconds
// and false if there is none.
func (c *Comparison) AddIdeals(ideal Bound) {
	index := map[collectiveKey]*Collective{}
	for i := range c.Collectives {
		r := &c.Collectives[i]
		r.IdealRatios = make([]Ratio, len(c.Runs))
		index[collectiveKey{r.Site, r.GroupSize, r.Bytes, r.Algorithm}] = r
	}
	for run, result := range c.Runs {
		for i := range result.Collectives {
			t := &result.Collectives[i]
			row := index[collectiveKey{t.Site, t.GroupSize, t.Bytes, t.Algorithm}]
			row.Ideal, row.HasIdeal = ideal(t)
			mean := meanOf(t.Total, t.Count, result.Clock.PerPS)
			if row.HasIdeal && row.Ideal > 0 && mean.ok && result.Verdict.OK() {
				row.IdealRatios[run] = Ratio{mean.ps / float64(row.Ideal), true}
			}
		}
	}
}

// ratio returns the ideal ratio of a run.
func (r *Collective) ratio(run int) Ratio {
	if run >= len(r.IdealRatios) {
		return Ratio{}
	}
	return r.IdealRatios[run]
}

func (c *Comparison) newCollective(t *replay.CollectiveTimes, bound Bound) Collective {
	row := Collective{Site: t.Site, Where: c.graph.Sites[t.Site].Where(), Type: t.Type.String(), Algorithm: t.Algorithm,
		GroupSize: t.GroupSize, Bytes: t.Bytes, Transfers: t.Transfers, TransferBytes: t.TransferBytes,
		Counts: make([]int64, len(c.Runs)), Mean: make([]int64, len(c.Runs))}
	if bound != nil {
		row.LowerBound, row.HasBound = bound(t)
	}
	return row
}

// label names a collective in one line: allreduce ring 8B over 72.
func (r *Collective) label() string {
	return r.Type + " " + r.Algorithm + " " + bytesText(r.Bytes) + " over " + countText(int64(r.GroupSize))
}

// label names an operation in one line.
func (o *Operation) label() string {
	switch {
	case o.Name != "" && o.Text != "":
		return o.Name + " (" + o.Text + ")"
	case o.Name != "":
		return o.Name
	case o.Text != "":
		return o.Text
	}
	return o.Kind.String()
}

// fullLabel names an operation with its place. The place of a trace's operation has its
// name already.
func (o *Operation) fullLabel() string {
	if o.Text != "" && strings.HasSuffix(o.Where, strconv.Quote(o.Name)) {
		return o.Where + ": " + o.Text
	}
	return o.Where + ": " + o.Label
}
