package report

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"hybrid/graph/replay"
	"hybrid/internal/diag"
)

// Sentence says in plain words how one run compares: what the model predicts, what
// the simulation takes and by how much the model is off.
func (c *Comparison) Sentence(run int) string { return c.sentence([]int{run}, true, c.scaleFor(run)) }

// scaleFor is the unit of the makespans of runs and of the simulation's.
func (c *Comparison) scaleFor(runs ...int) scale {
	var times []int64
	if ref := c.Reference(); ref != nil && ref.Verdict.OK() {
		times = append(times, ref.Clock.PS(ref.Makespan))
	}
	for _, i := range runs {
		if r := c.Runs[i]; r.Verdict.OK() {
			times = append(times, r.Clock.PS(r.Makespan))
		}
	}
	return apartOf(times...)
}

// sentence speaks of runs that took the same time. It leaves out what the simulation
// takes if it was said before.
func (c *Comparison) sentence(same []int, quote bool, s scale) string {
	r, ref := c.Runs[same[0]], c.Reference()
	name, verb := c.subject(same)
	x := r.Clock.PS(r.Makespan)
	switch {
	case !r.Verdict.OK():
		return name + " did not finish: " + outcomeName(r.Verdict.Outcome) + "."
	case r == ref:
		return fmt.Sprintf("%s takes %s %s.", name, s.text(x), s.name)
	case ref == nil || !ref.Verdict.OK():
		return fmt.Sprintf("%s %s %s %s.", name, verb, s.text(x), s.name)
	}
	y := ref.Clock.PS(ref.Makespan)
	predicts := fmt.Sprintf("%s %s %s %s", name, verb, s.text(x), s.name)
	e := relative(makespan(r), makespan(ref))
	switch {
	case !e.Defined:
		return predicts + "; the packet simulation takes no time at all."
	case e.Value == 0:
		return predicts + ", exactly what the packet simulation takes."
	}
	if quote {
		predicts += fmt.Sprintf(" where the packet simulation takes %s %s", s.text(y), s.name)
	}
	direction := "too slow"
	if e.Value < 0 {
		direction = "too fast"
	}
	if math.Abs(e.Value) < 0.00005 {
		return predicts + ": less than 0.01 % " + direction + "."
	}
	return fmt.Sprintf("%s: %s %% %s.", predicts, magnitudeText(e), direction)
}

// subject names runs at the beginning of a sentence, with the verb that fits.
func (c *Comparison) subject(runs []int) (name, verb string) {
	var names []string
	for _, i := range runs {
		names = append(names, modelName(c.Runs[i].Model))
	}
	last := len(names) - 1
	if last == 0 {
		return capital(names[0]), "predicts"
	}
	return capital(strings.Join(names[:last], ", ") + " and " + names[last]), "predict"
}

// sentences are the verdict of the whole comparison. The simulated run needs none of
// its own where a model's sentence quotes it; models that agree share one.
func (c *Comparison) sentences() string {
	if outcome, all := c.noneFinished(); all {
		return "No run finished: " + outcome + "."
	}
	var out []string
	quote := true
	said := make([]bool, len(c.Runs))
	all := make([]int, len(c.Runs))
	for i := range all {
		all[i] = i
	}
	s := c.scaleFor(all...)
	for i, r := range c.Runs {
		if said[i] || i == c.ref && r.Verdict.OK() && len(c.Runs) > 1 {
			continue
		}
		same := c.agreeing(i)
		for _, j := range same {
			said[j] = true
		}
		out = append(out, c.sentence(same, quote, s))
		quote = quote && !r.Verdict.OK()
	}
	return strings.Join(out, " ")
}

// noneFinished reports whether two runs or more all ended in the same way, which was
// not that they finished.
func (c *Comparison) noneFinished() (outcome string, all bool) {
	for i, r := range c.Runs {
		if r.Verdict.OK() || i > 0 && outcomeName(r.Verdict.Outcome) != outcome {
			return "", false
		}
		outcome = outcomeName(r.Verdict.Outcome)
	}
	return outcome, len(c.Runs) > 1
}

// agreeing lists the models that predict what model run does, run first.
func (c *Comparison) agreeing(run int) []int {
	same := []int{run}
	r := c.Runs[run]
	if run == c.ref || !r.Verdict.OK() {
		return same
	}
	for i := run + 1; i < len(c.Runs); i++ {
		if o := c.Runs[i]; i != c.ref && o.Verdict.OK() && relative(makespan(o), makespan(r)).Value == 0 && o.Clock.PS(o.Makespan) == r.Clock.PS(r.Makespan) {
			same = append(same, i)
		}
	}
	return same
}

// failures are the runs that did not finish, in lines for people; runs that ended alike
// are told together.
func (c *Comparison) failures() [][]string {
	var models [][]string
	var told [][]string
	for _, r := range c.Runs {
		if r.Verdict.OK() {
			continue
		}
		lines := c.failure(r)
		at := slices.IndexFunc(told, func(o []string) bool { return slices.Equal(o, lines) })
		if at < 0 {
			told, models = append(told, lines), append(models, nil)
			at = len(told) - 1
		}
		models[at] = append(models[at], r.Model)
	}
	for i, lines := range told {
		lines[0] = strings.Join(models[i], ", ") + ": " + lines[0]
	}
	return told
}

// failure is a run that did not finish, in lines for people.
func (c *Comparison) failure(r *replay.Result) []string {
	v := &r.Verdict
	lines := []string{outcomeText(v, c.Counts.Ranks)}
	if cycle := c.cycleText(v); cycle != "" {
		lines = append(lines, cycle)
	}
	lines = append(lines, firstErrors(v.Errors)...)
	lines = append(lines, stallLines(r)...)
	lines = append(lines, c.pendingLines(v.Pending, replay.Pending.String)...)
	return append(lines, c.pendingLines(arrived(v), unreceivedText)...)
}

// arrived leaves out the messages whose senders still wait: they stand in the list of
// pending operations.
func arrived(v *replay.Verdict) []replay.Pending {
	waiting := map[replay.Pending]bool{}
	key := func(p replay.Pending) replay.Pending {
		return replay.Pending{Rank: p.Rank, Site: p.Site, Kind: p.Kind, Peer: p.Peer, Tag: p.Tag}
	}
	for _, p := range v.Pending {
		waiting[key(p)] = true
	}
	var out []replay.Pending
	for _, p := range v.Unreceived {
		if !waiting[key(p)] {
			out = append(out, p)
		}
	}
	return out
}

// unreceivedText describes a message that arrived and met no receive.
func unreceivedText(p replay.Pending) string {
	return fmt.Sprintf("%s from %d to %d (tag %d) was never received", bytesText(p.Bytes), p.Rank, p.Peer, p.Tag)
}

// outcomeName is an outcome in words.
func outcomeName(o replay.Outcome) string {
	switch o {
	case replay.Unmatched:
		return "transfers without a partner"
	case replay.Stopped:
		return "stopped by the stop time"
	}
	return o.String()
}

func outcomeText(v *replay.Verdict, ranks int) string {
	s := outcomeName(v.Outcome)
	if v.Blocked > 0 {
		s += fmt.Sprintf(", %s of %s did not finish", countText(int64(v.Blocked)), plural(int64(ranks), "rank"))
	}
	if n := len(arrived(v)); n > 0 {
		s += ", " + plural(int64(n), "message") + " never received"
	}
	return s
}

const maxErrors = 10

func firstErrors(errs []error) []string {
	var out []string
	for i, err := range errs {
		if i == maxErrors {
			return append(out, fmt.Sprintf("and %d more errors", len(errs)-i))
		}
		out = append(out, errorText(err))
	}
	return out
}

// errorText is an error in a report, whose reader knows that it is one; a finding says
// where it was found, if that is known.
func errorText(err error) string {
	var d diag.Diagnostic
	if errors.As(err, &d) && d.Pos == (diag.Pos{}) {
		return fmt.Sprintf("%s [%s]", d.Message, d.Code)
	}
	return err.Error()
}

// cycleText prints a deadlock's cycle: 0 waits in send to 1, 1 waits in send to 0.
func (c *Comparison) cycleText(v *replay.Verdict) string {
	const most = 8
	var parts []string
	for i, r := range v.Cycle {
		if i == most {
			parts = append(parts, fmt.Sprintf("and %d more", len(v.Cycle)-most))
			break
		}
		next := v.Cycle[(i+1)%len(v.Cycle)]
		parts = append(parts, fmt.Sprintf("%d waits in %s %d", r, waitText(v.Pending, r, next), next))
	}
	return strings.Join(parts, ", ")
}

// waitText says in which operation rank waits for peer: "send to" or "recv from".
func waitText(pending []replay.Pending, rank, peer int32) string {
	for _, p := range pending {
		if p.Rank == rank && p.Peer == peer {
			return preposition(p)
		}
	}
	return "an operation of"
}

func preposition(p replay.Pending) string {
	if p.Kind.String() == "send" {
		return "send to"
	}
	return "recv from"
}

// pendingLines prints one line for the operations of each place and kind, with one of
// them as the example.
func (c *Comparison) pendingLines(pending []replay.Pending, describe func(replay.Pending) string) []string {
	type class struct {
		site  int32
		kind  uint8
		never bool
	}
	first := map[class]int{}
	var counts []int
	var order []replay.Pending
	for _, p := range pending {
		k := class{p.Site, uint8(p.Kind), p.Never}
		if at, ok := first[k]; ok {
			counts[at]++
			continue
		}
		first[k] = len(order)
		order = append(order, p)
		counts = append(counts, 1)
	}
	var lines []string
	for i, p := range order {
		line := c.siteWhere(p.Site) + ": " + describe(p)
		if n := counts[i] - 1; n > 0 {
			line += fmt.Sprintf(", and %s more", countText(int64(n)))
		}
		lines = append(lines, line)
	}
	return lines
}

func (c *Comparison) siteWhere(site int32) string {
	if site < 0 || int(site) >= len(c.graph.Sites) {
		return "unknown place"
	}
	return c.graph.Sites[site].Where()
}
