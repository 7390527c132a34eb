package main

import (
	"context"
	"errors"
	"runtime"

	"hybrid/analytic"
	"hybrid/des"
	"hybrid/graph"
	"hybrid/graph/replay"
	"hybrid/internal/diag"
	"hybrid/networks"
)

// simulate runs the packet engine.
func (p *prepared) simulate(ctx context.Context, o *runOptions) (*replay.Result, error) {
	send, receive := p.platform.overheads(p.workload.graph.Origin)
	stop, _ := o.stopTime()
	threads := o.cores
	if threads == 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	recorder, err := p.recorder(ctx, o)
	if err != nil {
		return nil, err
	}
	job := p.job(o)
	job.Threads, job.StopAt, job.SendOverhead, job.ReceiveOverhead = threads, stop, send, receive
	job.Recorder, job.Watch, job.Stats = recorder, p.progress.watch(), p.stats
	p.progress.begin("packet")
	defer p.progress.end()
	defer p.memoryUse()()
	return des.Run(ctx, job)
}

// job is the simulation as far as it shapes results.
func (p *prepared) job(o *runOptions) des.Job {
	return des.Job{Graph: p.workload.graph, Network: p.platform.network, Topology: p.topology, Placement: p.platform.placement,
		Ideal: o.isIdeal(p.platform.network), Family: o.family, Seed: o.seed, EndWithAck: p.workload.graph.Origin == graph.Chakra}
}

// predict runs one analytic model.
func (p *prepared) predict(ctx context.Context, m analytic.Model, o *runOptions) (*replay.Result, error) {
	stop, _ := o.stopTime()
	p.progress.begin(m.Name)
	defer p.progress.end()
	return m.Run(ctx, analytic.Job{
		Graph: p.workload.graph, Network: p.platform.network, Placement: p.platform.placement, Family: o.family,
		EndWithAck: p.workload.graph.Origin == graph.Chakra, Overheads: p.modelOverheads(), StopAt: stop, Watch: p.progress.watch(),
	})
}

// modelOverheads replaces LogGP's o where the network file or the kind of workload
// says what a message costs the host.
func (p *prepared) modelOverheads() *analytic.Overheads {
	origin := p.workload.graph.Origin
	h := p.platform.network.Host
	if origin != graph.Chakra && h.SendOverhead == nil && h.ReceiveOverhead == nil {
		return nil
	}
	send, receive := p.platform.overheads(origin)
	return &analytic.Overheads{Send: send, Receive: receive}
}

// runAll runs the models, which are quick, and then the simulation, so that an
// interrupt leaves as much as possible; the report has the simulation first.
func (p *prepared) runAll(ctx context.Context, o *runOptions, simulate bool) ([]*replay.Result, error) {
	models, err := o.modelList()
	if err != nil {
		return nil, usageError{err}
	}
	var runs []*replay.Result
	for _, m := range models {
		if ctx.Err() != nil {
			return runs, nil
		}
		r, err := p.predict(ctx, m, o)
		if err != nil {
			return nil, p.cannotRun(m.Name, err)
		}
		runs = append(runs, r)
	}
	if !simulate || ctx.Err() != nil {
		return runs, nil
	}
	r, err := p.simulate(ctx, o)
	if err != nil {
		return nil, p.cannotRun("packet", err)
	}
	return append([]*replay.Result{r}, runs...), nil
}

// cannotRun turns an engine's refusal into findings.
func (p *prepared) cannotRun(model string, err error) error {
	var list *diag.ListError
	if errors.As(err, &list) {
		p.late.Append(list.List)
		return errReported
	}
	var d diag.Diagnostic
	if errors.As(err, &d) {
		p.late.Add(d)
		return errReported
	}
	p.late.Errorf("E905", diag.Pos{}, "the %s run is not possible: %v", model, err)
	return errReported
}

// checkSimulator validates the sections that the packet engine owns.
func checkSimulator(n *networks.Network, list *diag.List) { des.CheckNIC(n, list) }

// checkRoutes holds explicit routes against a topology.
func checkRoutes(n *networks.Network, t networks.Topology, list *diag.List) {
	des.CheckRoutes(n, t, list)
}
