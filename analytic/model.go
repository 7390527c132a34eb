package analytic

import (
	"context"
	"errors"
	"fmt"

	"hybrid/graph"
	"hybrid/graph/replay"
	"hybrid/internal/units"
	"hybrid/networks"
)

// Job is one graph to be timed on one network.
type Job struct {
	// Graph must be priced ([graph.Price]) where it has compute or memory operations.
	Graph   *graph.Graph
	Network *networks.Network
	// Placement says which level's parameters a pair of ranks has; nil means one rank
	// on each node.
	Placement *networks.Placement
	// Family is the trace family: with "collected" the compute operations of a rank do
	// not share its processor, with anything else they do.
	Family string
	// EndWithAck has no effect: neither model knows acknowledgements.
	EndWithAck bool
	// Overheads replaces LogGP's o of every level; nil keeps it.
	Overheads *Overheads
	// LogGOPSim selects the processor of LogGOPSim: one resource computes and handles
	// messages, so that a message that meets a computing rank waits. Otherwise
	// computing and handling messages go on side by side, as in the packet engine.
	LogGOPSim bool
	// StopAt ends the run at this simulated time in picoseconds; 0 means never.
	StopAt int64
	// Watch, if not nil, is told every few thousand events how far the walk has come.
	Watch replay.Watch
}

// Overheads are the processor times of a message in picoseconds. Where both are zero
// the network adapter carries transfers alone: then the per-byte overhead O is zero
// too, and a rank can send while it receives.
type Overheads struct {
	Send, Receive int64
}

// Model is a row of the table of models.
type Model struct {
	// Name is what files and flags use, Doc one sentence.
	Name, Doc string
	// Run walks the job. An error means that the job cannot be walked; how a walk ended
	// is in the result's verdict.
	Run func(ctx context.Context, job Job) (*replay.Result, error)
}

// Models returns the models in the order in which reports list them.
func Models() []Model {
	return []Model{
		{"hockney", "Latency plus size over bandwidth for every message alone: no overheads, no contention (Hockney 1994).", runHockney},
		{"loggp", "LogGP with per-byte overhead and eager limit (LogGOPS): processor and adapter time per message at both ends, no contention inside the network (Hoefler et al. 2010).", runLogGP},
	}
}

// Find returns the model of the given name.
func Find(name string) (Model, bool) {
	for _, m := range Models() {
		if m.Name == name {
			return m, true
		}
	}
	return Model{}, false
}

// exactFirst walks with the exact tick and, where the run turns out too long for that,
// once more with one that rounds to a picosecond. What is bound to be too long is seen
// before.
func exactFirst(walk func(rounded bool) (*replay.Result, error)) (*replay.Result, error) {
	r, err := walk(false)
	if err != nil || r.Clock.PerPS == 1 || len(r.Verdict.Errors) != 1 || !errors.Is(r.Verdict.Errors[0], errOverflow) {
		return r, err
	}
	return walk(true)
}

// check says why the job cannot be walked, or nil.
func (j *Job) check() error {
	if j.Graph == nil || j.Network == nil {
		return errors.New("analytic: a job needs a graph and a network")
	}
	if j.Graph.Ranks > maxRanks {
		return fmt.Errorf("analytic: %d ranks; at most %d can be walked", j.Graph.Ranks, maxRanks)
	}
	for _, p := range j.Graph.Programs {
		if len(p.Costs) != len(p.Works) {
			return fmt.Errorf("analytic: graph %q is not priced", j.Graph.Name)
		}
	}
	if p := j.Placement; p != nil && (len(p.Node) < j.Graph.Ranks || len(p.Socket) < j.Graph.Ranks) {
		return fmt.Errorf("analytic: %d ranks but a placement of %d", j.Graph.Ranks, len(p.Node))
	}
	if p := j.Placement; p != nil && p.ScaleUp != nil && (len(p.ScaleUp.Group) < j.Graph.Ranks || len(p.ScaleUp.Subgroup) < j.Graph.Ranks) {
		return fmt.Errorf("analytic: %d ranks but scale-up groups of %d", j.Graph.Ranks, len(p.ScaleUp.Group))
	}
	return nil
}

// place returns the placement of the job.
func (j *Job) place() (*networks.Placement, error) {
	if j.Placement != nil {
		return j.Placement, nil
	}
	return networks.NewPlacement(max(j.Graph.Ranks, 1), networks.PlacementOptions{})
}

// stopTime returns StopAt in ticks.
func (j *Job) stopTime(c units.Clock) units.Time {
	if j.StopAt <= 0 {
		return units.Never
	}
	return c.Ticks(j.StopAt)
}
