package report

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"hybrid/graph"
	"hybrid/graph/replay"
)

// value is a non-negative mean in picoseconds with more digits than an integer; ok is
// false where nothing was counted.
type value struct {
	ps float64
	ok bool
}

// meanOf divides a sum of ticks by the count and the ticks in a picosecond.
func meanOf(s replay.Sum, count, perPS int64) value {
	if count == 0 {
		return value{}
	}
	total := float64(s.Hi)*0x1p64 + float64(s.Lo)
	return value{total / float64(count) / float64(perPS), true}
}

// relative returns (x-y)/y; undefined for y = 0 or where either is missing.
func relative(x, y value) Error {
	if !x.ok || !y.ok || y.ps == 0 {
		return Error{}
	}
	return Error{(x.ps - y.ps) / y.ps, true}
}

// errors returns the error of each run against the simulated one; undefined for the
// simulated run itself, where there is none, and where one of the two did not finish: a
// run cut short has other means than a whole one.
func (c *Comparison) errors(v []value) []Error {
	out := make([]Error, len(c.Runs))
	if c.ref < 0 || !c.Runs[c.ref].Verdict.OK() {
		return out
	}
	for i := range v {
		if i != c.ref && c.Runs[i].Verdict.OK() {
			out[i] = relative(v[i], v[c.ref])
		}
	}
	return out
}

// Metrics summarize one model against the simulation. Items are the places at which
// operations were written (those of collectives left out) and the collectives; x is
// the model's mean duration of an item, y the simulated one, e = (x-y)/y.
type Metrics struct {
	// Model names the model, Run is its index in [Comparison.Runs].
	Model string
	Run   int
	// Error is of the makespan.
	Error Error
	// Bias is the mean of e, MAPE the mean of |e|: every item counts the same. WMAPE
	// is the sum of |x-y| over the sum of y, each item times its number of instances,
	// so that it counts what takes long.
	// P95 is the |e| that 95 % of the items do not exceed.
	Bias, MAPE, WMAPE, P95 Error
	// Max is the e of largest magnitude and Operation the item it belongs to.
	Max       Error
	Operation string
	// Main is the item with the largest share of the sum of |x-y|, and Share that share:
	// where the difference comes from.
	Main  string
	Share Error
	// Items counts the items with a defined error, Undefined those whose simulated
	// time is 0 or that one of the runs has not.
	Items, Undefined int
}

// item is one row that takes part in the metrics.
type item struct {
	label  string
	count  int64
	mean   []int64
	errors []Error
}

func (c *Comparison) items() []item {
	var out []item
	for i := range c.Operations {
		if o := &c.Operations[i]; o.Kind != graph.Collective {
			out = append(out, item{o.fullLabel(), o.Count, o.Mean, o.Errors})
		}
	}
	for i := range c.Collectives {
		r := &c.Collectives[i]
		out = append(out, item{r.Where + ": " + r.label(), r.Count, r.Mean, r.Errors})
	}
	return out
}

func (c *Comparison) measure() {
	if c.ref < 0 {
		return
	}
	items := c.items()
	for i, r := range c.Runs {
		if i == c.ref {
			continue
		}
		m := Metrics{Model: r.Model, Run: i, Error: relative(makespan(r), makespan(c.Runs[c.ref]))}
		m.summarize(items, i, c.ref)
		c.Metrics = append(c.Metrics, m)
	}
}

// makespan is undefined for a run that did not finish: a run cut short has no end to
// compare.
func makespan(r *replay.Result) value {
	return value{float64(r.Makespan) / float64(max(1, r.Clock.PerPS)), r.Verdict.OK()}
}

func (m *Metrics) summarize(items []item, run, ref int) {
	var signed, absolute, times []float64
	var most, difference float64
	for i := range items {
		it := &items[i]
		e := it.errors[run]
		if !e.Defined {
			m.Undefined++
			continue
		}
		size, y := math.Abs(e.Value), float64(it.mean[ref])*float64(it.count)
		signed, absolute, times = append(signed, e.Value), append(absolute, size), append(times, y)
		difference += size * y
		if size*y > most {
			most, m.Main = size*y, it.label
		}
		if !m.Max.Defined || size > math.Abs(m.Max.Value) {
			m.Max, m.Operation = e, it.label
		}
	}
	if m.Items = len(signed); m.Items == 0 {
		return
	}
	m.Bias = Error{stat.Mean(signed, nil), true}
	m.MAPE = Error{stat.Mean(absolute, nil), true}
	if floats.Sum(times) > 0 {
		m.WMAPE = Error{stat.Mean(absolute, times), true}
	}
	if difference > 0 {
		m.Share = Error{most / difference, true}
	}
	slices.Sort(absolute)
	m.P95 = Error{stat.Quantile(0.95, stat.Empirical, absolute, nil), true}
}
