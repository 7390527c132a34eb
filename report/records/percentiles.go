package records

import (
	"cmp"
	"slices"

	"hybrid/graph"
	"hybrid/graph/replay"
	"hybrid/internal/units"
)

// percentiles sums up the run times of collectives by type, algorithm, size and group
// size, and holds them against the ideal time.
type percentiles struct {
	quiet
	r     *Recorder
	t     *table
	times map[kindOfCall]*distribution
}

type kindOfCall struct {
	typ       graph.CollType
	algorithm string
	bytes     int64
	size      int
}

// distribution counts values; iterations of a loop mostly take the same time.
type distribution struct {
	count int64
	sum   replay.Sum
	of    map[units.Time]int64
}

func (d *distribution) add(t units.Time) {
	d.count++
	d.sum.Add(t)
	d.of[t]++
}

// permilles are the percentiles of the record: p50, p99, p99_9 and p100.
func permilles() [4]int64 { return [...]int64{500, 990, 999, 1000} }

// at returns the values at the given permilles: the smallest value that is not below
// that many of all values (nearest rank).
func (d *distribution) at(permilles [4]int64) (out [4]units.Time) {
	values := make([]units.Time, 0, len(d.of))
	for v := range d.of {
		values = append(values, v)
	}
	slices.Sort(values)
	for i, p := range permilles {
		// ceil(count p / 1000), without overflow.
		rank := d.count/1000*p + (d.count%1000*p+999)/1000
		seen := int64(0)
		for _, v := range values {
			if seen += d.of[v]; seen >= rank {
				out[i] = v
				break
			}
		}
	}
	return out
}

func newPercentiles(r *Recorder) listener {
	p, c := &percentiles{r: r, times: map[kindOfCall]*distribution{}}, r.follow()
	c.landed = append(c.landed, p.add)
	return p
}

func (p *percentiles) begin() (err error) {
	p.t, err = p.r.open("chakra-comm-collective-percentiles-stats", percentileColumns())
	return err
}

func (p *percentiles) add(f *instance) error {
	k := kindOfCall{f.typ, f.algorithm, f.bytes, len(f.seen)}
	d := p.times[k]
	if d == nil {
		d = &distribution{of: map[units.Time]int64{}}
		p.times[k] = d
	}
	d.add(f.runTime(&p.r.opt))
	return nil
}

func (p *percentiles) end(*replay.Result) error {
	kinds := make([]kindOfCall, 0, len(p.times))
	for k := range p.times {
		kinds = append(kinds, k)
	}
	slices.SortFunc(kinds, func(a, b kindOfCall) int {
		return cmp.Or(cmp.Compare(a.typ, b.typ), cmp.Compare(a.algorithm, b.algorithm), cmp.Compare(a.bytes, b.bytes), cmp.Compare(a.size, b.size))
	})
	for _, k := range kinds {
		if err := p.write(&k, p.times[k]); err != nil {
			return err
		}
	}
	return nil
}

func (p *percentiles) write(k *kindOfCall, d *distribution) error {
	clock := p.r.clock
	mean := clock.PS(d.sum.Div(d.count))
	at := d.at(permilles())
	row := []cell{text(chakraName(k.typ)), text(k.algorithm), integer(k.bytes), integer(k.size), integer(d.count), micros(mean)}
	for _, t := range at {
		row = append(row, micros(clock.PS(t)))
	}
	var ideal int64
	if f := p.r.opt.Ideal; f != nil && k.typ != graph.Barrier {
		if ps, ok := f(k.typ, k.algorithm, k.size, k.bytes); ok {
			ideal = ps
		}
	}
	row = append(row, ratio(mean, ideal))
	for _, t := range at {
		row = append(row, ratio(clock.PS(t), ideal))
	}
	return p.t.row(row...)
}

// ratio is t/ideal to six decimals, missing where there is no ideal time.
func ratio(t, ideal int64) cell {
	if ideal <= 0 {
		return missing()
	}
	return decimal(units.MulDiv(t, 1e6, ideal), 6)
}
