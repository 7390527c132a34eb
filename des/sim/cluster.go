package sim

import (
	"fmt"
	"math/rand/v2"

	"hybrid/internal/units"
)

// Cluster is a process made of processes that links without look-ahead join. It goes from
// one instant at which something is due to the next and there proceeds in rounds: all
// members that are due do what they can, then they see what the others sent in this round.
// A member takes part in several rounds of an instant if records reach it without delay;
// the round comes before the link in the order of records of one time.
//
// Members do not see each other within a round, so that their order is of no consequence.
type Cluster struct {
	k      *Kernel
	procs  []Process // the members, by child number
	agenda agenda
	run    []int32
	random *rand.Rand
}

// member says to which cluster, and as which child, a process belongs.
type member struct {
	cluster *Cluster
	lead    int32 // the process that stands for the cluster
	child   int32
}

// Join makes one process of several, whose numbers rise; inside are the links between
// them. In procs, which will be Config.Processes, the cluster takes the place of the first
// one, and the others have none. It may be called several times, before Run.
func (k *Kernel) Join(procs []Process, members []int32, inside []int) {
	if k.members == nil {
		k.members = make([]member, len(procs))
	}
	c := &Cluster{k: k, agenda: newAgenda(len(members))}
	lead := members[0]
	due := units.Never
	for child, p := range members {
		k.members[p] = member{c, lead, int32(child)}
		c.procs = append(c.procs, procs[p])
		procs[p] = nil
		t := k.agenda.due[p]
		k.agenda.set(p, units.Never, 0)
		c.agenda.set(int32(child), t, 0)
		due = min(due, t)
	}
	procs[lead] = c
	k.agenda.sooner(lead, due, 1)
	for _, id := range inside {
		k.chans[id].inside = true
	}
}

// wake tells a process of a record between windows and returns its number, or that of
// the cluster it belongs to.
func (k *Kernel) wake(p int32, t units.Time) int32 {
	m := &k.members[p]
	if m.cluster == nil {
		return p
	}
	m.cluster.agenda.sooner(m.child, t, 0)
	return m.lead
}

// Step implements [Process].
func (c *Cluster) Step(w *Worker) units.Time {
	start, end, first := w.Start, w.End, len(w.dirty)
	kept := first
	next := c.agenda.earliest()
	for ; next < end; next = c.agenda.earliest() {
		w.Start, w.End = next, next+1
		c.run = c.agenda.take(w.End, c.run[:0])
		if c.random != nil {
			c.random.Shuffle(len(c.run), func(i, j int) { c.run[i], c.run[j] = c.run[j], c.run[i] })
		}
		for _, child := range c.run {
			c.agenda.set(child, c.procs[child].Step(w), w.End)
		}
		kept = c.publish(w, kept)
	}
	if Invariants {
		for _, ch := range w.dirty[first:] {
			if ch.first < end {
				panic(fmt.Sprintf("sim: a record for time %d leaves a window that ends at %d", ch.first, end))
			}
		}
	}
	w.Start, w.End = start, end
	return next
}

// publish shows the members what was sent in a round. What leaves the cluster stays for
// the end of the window.
func (c *Cluster) publish(w *Worker, kept int) int {
	for _, ch := range w.dirty[kept:] {
		if !ch.inside {
			w.dirty[kept] = ch
			kept++
			continue
		}
		ch.publish()
		c.k.inputs[ch.to].busy[ch.slot>>6] |= 1 << (ch.slot & 63)
		c.agenda.sooner(c.k.members[ch.to].child, ch.first, w.End)
	}
	w.dirty = w.dirty[:kept]
	return kept
}
