package replay

import (
	"cmp"
	"fmt"
	"slices"

	"hybrid/graph"
)

// Outcome is how a run ended.
type Outcome uint8

// Outcomes of a run.
const (
	// Finished: every operation ended and every message was matched.
	Finished Outcome = iota
	// Deadlock: some ranks wait for each other.
	Deadlock
	// Unmatched: a message was never received, or a receive waits for a message that
	// nobody sends.
	Unmatched
	// Stopped: the stop time came first.
	Stopped
	// Interrupted: the user ended the run.
	Interrupted
	// Failed: an operand could not be evaluated, or time left its range; see Errors.
	Failed
)

// String returns the outcome's name in reports.
func (o Outcome) String() string {
	return [...]string{"finished", "deadlock", "unmatched", "stopped", "interrupted", "failed"}[o]
}

// Pending is an operation that never ended.
type Pending struct {
	Rank, Site int32
	Kind       graph.Kind
	// Peer and Tag are of its message, Bytes its size.
	Peer, Tag int32
	Bytes     int64
	// Collective is true for a transfer inside a collective.
	Collective bool
	// Never is true for an operation that was not even started, because an earlier
	// one of its rank did not end. More is true where the rank has such operations.
	Never, More bool
}

// Verdict explains the end of a run.
type Verdict struct {
	Outcome Outcome
	// Cycle lists ranks that wait for each other, in order; the last waits for the
	// first. It is empty unless the outcome is Deadlock.
	Cycle []int32
	// Pending lists for each rank that did not finish its oldest waiting operations, at
	// most eight a rank.
	Pending []Pending
	// Blocked is the number of ranks that did not finish.
	Blocked int
	// Unreceived lists messages that arrived and were never received.
	Unreceived []Pending
	// Errors are the failures of a Failed run.
	Errors []error
	// EagerLimit is the largest message in bytes that a send in the cycle could have
	// sent without its receive, -1 where no single limit holds; it means nothing
	// unless HasLimit is set.
	EagerLimit int64
	HasLimit   bool
	// Stall says what stood still in the network; nil if nothing did, or if the engine
	// has no network.
	Stall *Stall
}

// OK reports whether the run finished.
func (v *Verdict) OK() bool { return v.Outcome == Finished }

// Diagnose explains a run in which nothing more can happen: cursors are all ranks'
// cursors, and unreceived the messages left in the matchers.
func Diagnose(g *graph.Graph, cursors []*Cursor, unreceived []Pending) Verdict {
	v := Verdict{Unreceived: unreceived}
	waits := make(map[int32][]int32) // rank -> ranks it waits for
	for _, c := range cursors {
		if c.Err() != nil {
			v.Errors = append(v.Errors, c.Err())
		}
		if c.Finished() {
			continue
		}
		v.Blocked++
		v.pendingOf(c, waits)
	}
	switch {
	case len(v.Errors) > 0:
		v.Outcome = Failed
	case v.Blocked > 0:
		v.Cycle = findCycle(waits)
		v.Outcome = Unmatched
		if len(v.Cycle) > 0 {
			v.Outcome = Deadlock
		}
	case len(unreceived) > 0:
		v.Outcome = Unmatched
	}
	return v
}

// SetLimit notes the eager limit that holds in a deadlock's cycle: limit returns that
// of a message from src to dst in bytes.
func (v *Verdict) SetLimit(limit func(src, dst int32) int64) {
	if len(v.Cycle) == 0 {
		return
	}
	v.HasLimit = true
	for i, r := range v.Cycle {
		l := limit(r, v.Cycle[(i+1)%len(v.Cycle)])
		if i > 0 && l != v.EagerLimit {
			l = -1
		}
		if v.EagerLimit = l; l < 0 {
			return
		}
	}
}

// mostPending bounds what a verdict keeps of one rank.
const mostPending = 8

// pendingOf records what a blocked rank holds: all ranks that it waits for, and its
// oldest operations.
func (v *Verdict) pendingOf(c *Cursor, waits map[int32][]int32) {
	var held []int32
	for h := range c.insts {
		if c.insts[h].seq != 0 && c.insts[h].issued {
			held = append(held, int32(h))
		}
	}
	slices.SortFunc(held, func(a, b int32) int { return cmp.Compare(c.insts[a].seq, c.insts[b].seq) })
	kept := 0
	next, more := c.Unstarted()
	for _, h := range held {
		var i Issue
		if c.reissue(&i, h) != nil {
			continue
		}
		if (i.Kind == graph.Send || i.Kind == graph.Recv) && i.Peer >= 0 {
			waits[c.rank] = append(waits[c.rank], i.Peer)
		}
		if kept++; kept <= mostPending {
			v.Pending = append(v.Pending, Pending{Rank: c.rank, Site: i.Site, Kind: i.Kind, Peer: i.Peer, Tag: i.Tag, Bytes: i.Bytes, Collective: i.InCollective, More: more})
		}
	}
	if kept == 0 && more {
		o := &c.p.Ops[next]
		v.Pending = append(v.Pending, Pending{Rank: c.rank, Site: o.Site, Kind: o.Kind, Peer: graph.AnyRank, Never: true, More: true})
	}
}

// findCycle returns the first cycle of the wait-for graph, from the lowest rank on
// it.
func findCycle(waits map[int32][]int32) []int32 {
	ranks := make([]int32, 0, len(waits))
	for r, w := range waits {
		slices.Sort(w)
		waits[r] = slices.Compact(w)
		ranks = append(ranks, r)
	}
	slices.Sort(ranks)
	const (
		unseen = iota
		open
		closed
	)
	state := map[int32]int{}
	type frame struct {
		rank int32
		next int
	}
	for _, r := range ranks {
		if state[r] != unseen {
			continue
		}
		stack := []frame{{r, 0}}
		state[r] = open
		for len(stack) > 0 {
			f := &stack[len(stack)-1]
			if f.next == len(waits[f.rank]) {
				state[f.rank] = closed
				stack = stack[:len(stack)-1]
				continue
			}
			to := waits[f.rank][f.next]
			f.next++
			switch {
			case state[to] == open:
				i := slices.IndexFunc(stack, func(f frame) bool { return f.rank == to })
				cycle := make([]int32, 0, len(stack)-i)
				for _, f := range stack[i:] {
					cycle = append(cycle, f.rank)
				}
				return rotateToLowest(cycle)
			case state[to] == unseen:
				state[to] = open
				stack = append(stack, frame{to, 0})
			}
		}
	}
	return nil
}

func rotateToLowest(c []int32) []int32 {
	i := slices.Index(c, slices.Min(c))
	return append(slices.Clone(c[i:]), c[:i]...)
}

// String describes a pending operation: rank 3 waits in send of 65,536 B to 0.
func (p Pending) String() string {
	what := p.Kind.String()
	if p.Collective {
		what = "collective " + what
	}
	switch p.Kind {
	case graph.Send:
		return fmt.Sprintf("rank %d waits in %s of %d B to %d (tag %d)", p.Rank, what, p.Bytes, p.Peer, p.Tag)
	case graph.Recv:
		from := fmt.Sprint(p.Peer)
		if p.Peer == graph.AnyRank {
			from = "any"
		}
		return fmt.Sprintf("rank %d waits in %s of %d B from %s (tag %d)", p.Rank, what, p.Bytes, from, p.Tag)
	}
	if p.Never {
		return fmt.Sprintf("rank %d never reached %s", p.Rank, what)
	}
	return fmt.Sprintf("rank %d waits in %s", p.Rank, what)
}

// SortPending orders pending operations by rank, site and peer.
func SortPending(p []Pending) {
	slices.SortStableFunc(p, func(a, b Pending) int {
		return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Site, b.Site), cmp.Compare(a.Peer, b.Peer), cmp.Compare(a.Tag, b.Tag))
	})
}
