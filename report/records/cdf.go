package records

import (
	"encoding/binary"
	"math/bits"

	"hybrid/graph/replay"
)

// cdf writes which part of the whole run had been completed after each interval. The
// totals are known at the end only: until then it keeps what each interval added, a
// few bytes an interval.
type cdf struct {
	quiet
	ticker
	t            *table
	total, until counts // so far, and until the last mark
	kept         []byte
}

func newCDF(r *Recorder) listener {
	return &cdf{ticker: ticker{r: r, flag: "--record-interval", every: r.opt.Interval}}
}

func (c *cdf) next() (t int64) { return c.ticker.next() }

func (c *cdf) begin() (err error) {
	c.rows = 1
	c.t, err = c.r.open("chakra-cdf", cdfColumns())
	return err
}

func (c *cdf) events(events []replay.Event) error {
	for i := range events {
		c.total.add(&events[i])
	}
	return nil
}

func (c *cdf) mark(_, _ []replay.PortCount) error {
	c.now()
	a, b := c.total.shares(), c.until.shares()
	for i := range a {
		c.kept = binary.AppendUvarint(c.kept, uint64(a[i]-b[i]))
	}
	c.until = c.total
	return nil
}

// shares are the counts that the record follows.
func (c *counts) shares() [5]int64 {
	return [...]int64{c.sent, c.sends, c.receives, c.acked, c.computations}
}

func (c *cdf) end(*replay.Result) error {
	total := c.total.shares()
	var sum [5]int64
	row := make([]cell, 1+len(sum))
	kept := c.kept
	for k := range c.count {
		row[0] = seconds(c.r.opt.StartTime + (k+1)*c.every)
		for i := range sum {
			d, n := binary.Uvarint(kept)
			kept = kept[n:]
			sum[i] += int64(d)
			row[1+i] = fraction(sum[i], total[i])
		}
		if err := c.t.row(row...); err != nil {
			return err
		}
	}
	return nil
}

// fractionDigits is the number of decimals of fractions.
const fractionDigits = 9

// fraction is n/of, truncated, so that only all of it is 1; nothing of nothing is all of
// it.
func fraction(n, of int64) cell {
	if n >= of {
		return decimal(1, 0)
	}
	hi, lo := bits.Mul64(uint64(n), 1e9)
	q, _ := bits.Div64(hi, lo, uint64(of))
	return decimal(int64(q), fractionDigits)
}
