package records

import (
	"fmt"

	"hybrid/graph"
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
