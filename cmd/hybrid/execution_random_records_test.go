package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// compareRecords holds record files against the plain run.
func (r *randomSet) compareRecords(rec recorded) {
	r.compareRows("chakra-perf", r.flows(), texts(rec.rows("chakra-perf"), flowColumns...))
	r.compareRows("chakra-completion-stats", r.completions(), texts(rec.rows("chakra-completion-stats"), completionColumns[1:]...))
	several := slices.DeleteFunc(rec.rows("chakra-comm-collective-stats"), func(m row) bool { return m["pg_size"] == "1" })
	r.compareRows("chakra-comm-collective-stats", r.instances(), texts(several, "comm_size", "pg_size", "simulation_start_time_us", "simulation_end_time_us", "is_valid"))
	r.compareCDF(rec.rows("chakra-cdf"))
	for rank := range r.plain {
		r.compareAnnotated(rank, rec.annotated(r.set.t, rank))
	}
}

var flowColumns = []string{"start_time_sec", "sim_time_sec", "sending_app_name", "receiving_app_name", "is_added_synchronization_flow", "flow_comm_size"}

func (r *randomSet) compareRows(record string, want, got []string) {
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		r.Errorf("%s: rows wanted (-) and written (+):\n%s", record, diff)
	}
}

// compareStopped stops the run at some time at which nothing happens, and holds what was
// recorded until then against the plain run.
func (r *randomSet) compareStopped(args []string) {
	r.stop = rapid.Int64Range(0, 40).Draw(r.T, "stop")*500*ns + 1
	rec := r.set.record(append(args, "--stop-at", fmt.Sprint(r.stop, "ps"))...)
	ended := 0
	for rank := range r.plain {
		if r.by(r.run.finish(rank)) {
			ended++
		}
		r.compareAnnotated(rank, rec.annotated(r.set.t, rank))
	}
	if stopped := rec.report.Verdict == "stopped" && rec.status == exitFailed; stopped == (ended == len(r.plain)) {
		r.Errorf("status %d, verdict %q, but %d of %d ranks have ended", rec.status, rec.report.Verdict, ended, len(r.plain))
	}
	r.compareRows("chakra-perf", r.flows(), texts(rec.rows("chakra-perf"), flowColumns...))
	r.compareRows("chakra-completion-stats", r.completions(), texts(rec.rows("chakra-completion-stats"), completionColumns[1:]...))
}

// by reports whether something at t has happened when the run is over.
func (r *randomSet) by(t int64) bool { return r.stop == 0 || t <= r.stop }

// flows are the transfers.
func (r *randomSet) flows() (out []string) {
	for _, n := range r.run.nodes {
		if n.kind == sending && r.by(r.run.acked(n)) {
			sync := n.within != nil && n.within.barrier
			out = append(out, fmt.Sprintf("%d %d ChakraApp-%d ChakraApp-%d %v %d", n.start, r.run.acked(n), n.rank, n.peer, sync, n.bytes))
		}
	}
	return out
}

// completions count all but the barriers of synchronization.
func (r *randomSet) completions() (out []string) {
	for rank := range r.plain {
		var sent, received, sends, receives, acked, computations, work int64
		for _, n := range r.run.nodes {
			if n.rank != rank || n.within != nil && n.within.barrier || !r.by(n.end) {
				continue
			}
			switch {
			case n.kind == sending:
				sends, sent = sends+1, sent+n.bytes
				if r.by(r.run.acked(n)) {
					acked++
				}
			case n.kind == receiving:
				receives, received = receives+1, received+n.bytes
			case n.computes:
				computations, work = computations+1, work+n.work
			}
		}
		at := r.run.finish(rank)
		if !r.by(at) {
			at = r.stop
		}
		out = append(out, fmt.Sprint(rank, at, sent, received, sends, receives, acked, computations, work))
	}
	return out
}

// instances last from the last participant's start to the last acknowledgement.
func (r *randomSet) instances() (out []string) {
	for _, c := range r.run.collectives {
		if c.barrier || len(c.members) == 1 {
			continue
		}
		var start, end int64
		for _, p := range c.start {
			start = max(start, p.end)
		}
		for _, n := range r.run.nodes {
			if n.within == c && n.kind == sending {
				end = max(end, r.run.acked(n))
			} else if n.within == c {
				end = max(end, n.end)
			}
		}
		out = append(out, fmt.Sprint(c.whole, len(c.members), start, end, 1))
	}
	return out
}

// compareCDF counts what is over before each row.
func (r *randomSet) compareCDF(rows []row) {
	var last int64
	for rank := range r.plain {
		last = max(last, r.run.finish(rank))
	}
	if want := int(last/(7*us)) + 1; len(rows) != want {
		r.Errorf("chakra-cdf: %d rows up to 7 us after %d ps, want %d", len(rows), last, want)
	}
	for _, m := range rows {
		at := m.ps("sim_time_sec")
		var sends, acked, receives, computations [2]int64
		see := func(c *[2]int64, over bool) {
			if c[1]++; over {
				c[0]++
			}
		}
		for _, n := range r.run.nodes {
			switch {
			case n.within != nil && n.within.barrier:
			case n.kind == sending:
				see(&sends, n.end < at)
				see(&acked, r.run.acked(n) < at)
			case n.kind == receiving:
				see(&receives, n.end < at)
			case n.computes:
				see(&computations, n.end < at)
			}
		}
		for column, c := range map[string][2]int64{"CDF_chakra_sends_completed": sends, "CDF_chakra_sends_fully_acked": acked,
			"CDF_chakra_receives_completed": receives, "CDF_chakra_computations_completed": computations} {
			want := 1.0
			if c[1] > 0 {
				want = float64(c[0]) / float64(c[1])
			}
			if got := fraction(m[column]); got < want-1e-6 || got > want+1e-6 {
				r.Errorf("%s at %d ps: %f, want %f", column, at, got, want)
			}
		}
	}
}

// compareAnnotated holds the times of the trace's own nodes against the plain run, in
// whole microseconds; a send ends when it is acknowledged.
func (r *randomSet) compareAnnotated(rank int, nodes map[string]annotatedNode) {
	for name, p := range r.want {
		id, ok := strings.CutPrefix(name, fmt.Sprint(rank, "."))
		if !ok {
			continue
		}
		start, end := p[0].start, p[1].end
		if p[0] != p[1] { // the end of a collective
			start = end
		}
		if p[0].kind == sending {
			end = r.run.acked(p[0])
		}
		if got, want := nodes[id].S+" "+nodes[id].E, r.stamp(start)+" "+r.stamp(end); got != want {
			r.Errorf("node %s is annotated with %s, want %s", name, got, want)
		}
	}
}

// stamp is a time in an annotated trace, or the place of one that did not come.
func (r *randomSet) stamp(t int64) string {
	if !r.by(t) {
		return "XXXXXXXXXXXXX"
	}
	return fmt.Sprintf("%013d", t/us)
}
