package records

import (
	"fmt"

	"hybrid/graph"
	"hybrid/internal/units"
)

// mostRows is how many rows a record of regular times may have, of which a record with
// an interval that is too short for its run could have billions: some 3 GB of nd-stats.
// The record ends there, and a note says so.
const mostRows = 20_000_000

// checkRows refuses intervals with which a record is sure to have too many rows: a run
// lasts for one interval of chakra-cdf at least, unless it is stopped before.
func checkRows(g *graph.Graph, p *Platform, opt *Options) error {
	least := opt.Interval
	if opt.StopAt > 0 {
		least = min(least, opt.StopAt)
	}
	for _, c := range []struct {
		record, flag string
		every        int64
		rows         int
	}{
		{"nd-stats", "--nd-interval", opt.DeviceInterval, len(p.Links)},
		{"link-stats", "--link-interval", opt.LinkInterval, len(p.Links)},
		{"queue-stats", "--link-interval", opt.LinkInterval, len(p.Links)},
		{profileRecord, "--profile-interval", opt.ProfileInterval, g.Ranks},
	} {
		if c.every <= 0 || !opt.wanted(c.record) {
			continue
		}
		rows := max(int64(c.rows), 1)
		if marks := least / c.every; marks > mostRows/rows {
			return fmt.Errorf("%s would have more than %d rows, %d at each of %d times: give a longer %s or a shorter --record-interval",
				c.record, mostRows, rows, marks, c.flag)
		}
	}
	return nil
}

// regular is a record of regular times.
type regular interface {
	due() units.Time
	ended(stop int64) string
}

// ended says of a record that has no more rows where it ends, and with which interval it
// would reach the end of the run, at stop picoseconds.
func (t *ticker) ended(stop int64) string {
	marks := max(mostRows/max(t.rows, 1), 1)
	return fmt.Sprintf(" ends at %s, before the run does, since a record of regular times has no more than %d rows, %d at a time; %s %s covers the run",
		units.FormatPS(t.count*t.every), mostRows, t.rows, t.flag, roundUp(stop/marks+1))
}

// roundUp writes a time of at least so many picoseconds, two digits in a unit of time.
func roundUp(ps int64) string {
	ns, digits := max((ps-1)/1000+1, 1), int64(1)
	for ns > 99 {
		ns, digits = (ns-1)/10+1, 10*digits
	}
	n := ns * digits
	for _, unit := range []string{"ns", "us", "ms"} {
		if n%1000 != 0 {
			return itoa(n) + unit
		}
		n /= 1000
	}
	return itoa(n) + "s"
}
