package records

import (
	"hybrid/graph"
	"hybrid/graph/replay"
	"hybrid/internal/units"
)

// counts are what a rank, or the whole run, has completed.
type counts struct {
	sent, received         int64 // bytes
	sends, receives, acked int64
	computations           int64
}

// add counts an event and reports whether it did.
func (c *counts) add(e *replay.Event) bool {
	if e.Sync {
		return false
	}
	switch {
	case e.Kind == replay.Acked:
		c.acked++
	case e.Kind != replay.OpEnded:
		return false
	case e.OpKind == graph.Send:
		c.sends++
		c.sent += e.Bytes
	case e.OpKind == graph.Recv:
		c.receives++
		c.received += e.Bytes
	case computes(e):
		c.computations++
	default:
		return false
	}
	return true
}

// computes reports whether an operation is a computation of the program: neither a
// collective that could not be expanded nor a disturbance.
func computes(e *replay.Event) bool {
	return e.OpKind == graph.Compute && e.Flags&(graph.Skipped|graph.Injected) == 0
}

// completion writes a row for each rank when it ends.
type completion struct {
	quiet
	r     *Recorder
	t     *table
	ranks []rankCounts
	// due are ranks that have ended at the time at; their rows are written when that
	// time is over.
	due []int32
	at  units.Time
}

type rankCounts struct {
	counts
	work int64 // picoseconds
	done bool
}

func newCompletion(r *Recorder) listener {
	return &completion{r: r, ranks: make([]rankCounts, r.g.Ranks)}
}

func (c *completion) begin() (err error) {
	c.t, err = c.r.open("chakra-completion-stats", completionColumns())
	return err
}

func (c *completion) events(events []replay.Event) error {
	for i := range events {
		e := &events[i]
		if len(c.due) > 0 && e.T > c.at {
			if err := c.settle(); err != nil {
				return err
			}
		}
		if e.Kind == replay.RankEnded {
			c.due, c.at = append(c.due, e.Rank), e.T
			continue
		}
		q := &c.ranks[e.Rank]
		if q.add(e) && e.Kind == replay.OpEnded && e.OpKind == graph.Compute {
			q.work += e.Work
		}
	}
	return nil
}

func (c *completion) settle() error {
	for _, rank := range c.due {
		if err := c.write(rank, c.at); err != nil {
			return err
		}
	}
	c.due = c.due[:0]
	return nil
}

func (c *completion) write(rank int32, at units.Time) error {
	q := &c.ranks[rank]
	q.done = true
	path := ""
	if c.r.opt.wanted(annotatedRecord) && annotates(c.r.g) {
		path = annotatedPath(c.r.name, rank)
	}
	return c.t.row(text("ChakraGenerator.ChakraApp"), integer(rank), micros(c.r.clock.PS(at)), integer(q.sent), integer(q.received),
		integer(q.sends), integer(q.receives), integer(q.acked), integer(q.computations), micros(q.work), text(path))
}

// end writes what the ranks that did not end have completed until the stop.
func (c *completion) end(res *replay.Result) error {
	if err := c.settle(); err != nil {
		return err
	}
	stop := c.r.stop(res)
	for rank := range c.ranks {
		if c.ranks[rank].done {
			continue
		}
		if err := c.write(int32(rank), stop); err != nil {
			return err
		}
	}
	return nil
}
