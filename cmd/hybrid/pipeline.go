package main

import (
	"errors"
	"math"
	"strconv"

	"hybrid/analytic"
	"hybrid/graph"
	"hybrid/graph/pass"
	"hybrid/graph/replay"
	"hybrid/internal/diag"
	"hybrid/networks"
	"hybrid/report"
)

// prepared is everything an engine needs.
type prepared struct {
	workload *workload
	platform *platform
	topology networks.Topology // nil unless simulated
	findings diag.List
	late     diag.List // findings of the engines, after the others were printed
	progress *progress
	stats    *replay.Stats // nil unless asked for
	estimate int64         // of the simulation's memory in bytes
}

// prepare runs the pipeline up to the engines: load, place, passes, price, check. Its
// findings are printed; the error is errReported if one of them is an error.
func (a *app) prepare(args []string, o *runOptions, simulate bool) (*prepared, error) {
	p := &prepared{}
	err := a.steps(p, args, o, simulate)
	a.render(&p.findings)
	if err == nil && p.findings.HasErrors() {
		err = errReported
	}
	return p, err
}

func (a *app) steps(p *prepared, args []string, o *runOptions, simulate bool) error {
	if err := a.loadAll(p, args, o, ""); err != nil || p.findings.HasErrors() {
		return err
	}
	p.price()
	if p.findings.HasErrors() {
		return nil
	}
	if !o.noCheck {
		p.check()
	}
	if simulate && !p.findings.HasErrors() {
		p.topology = p.platform.network.Topology(p.platform.placement.Nodes, &p.findings)
		p.checkMemory(o)
	}
	return nil
}

// loadAll loads workload and platform, places the ranks and runs the passes up to the
// named one.
func (a *app) loadAll(p *prepared, args []string, o *runOptions, after string) error {
	var err error
	p.findings.Cap(o.warnings.most)
	p.findings.Step(readingStep)
	p.workload, err = a.loadWorkload(args, o, &p.findings)
	if p.findings.Step(""); err != nil || p.workload == nil {
		return err
	}
	// What files of the platform warn about is no warning about the workload.
	var own diag.List
	p.platform = loadPlatform(p.workload, o, &own)
	if p.platform != nil {
		p.platform.place(p.workload, o, &own)
	}
	if !own.HasErrors() {
		p.workload.graph.SetUnits(p.platform.placement.Units())
	}
	if !own.HasErrors() {
		err = runPasses(p, o, after)
	}
	p.findings.Append(&own)
	return err
}

// noPass stands for what the front end wrote.
const noPass = "none"

func runPasses(p *prepared, o *runOptions, after string) error {
	if after == noPass {
		return nil
	}
	g := p.workload.graph
	traces := g.Origin == graph.Chakra
	opt := pass.Options{Algorithms: map[string]string{}, NetworkAlgorithms: p.platform.network.Collectives,
		Serialize: traces, Synchronize: traces, AbortOnWarning: o.abortOnWarning}
	list, _ := o.algorithmList()
	for _, a := range list {
		opt.Algorithms[a.typ.String()] = a.name
	}
	opt.Scale, _ = o.scaleFactor()
	if o.given("serialize") {
		opt.Serialize = o.serialize
	}
	if o.given("synchronize") {
		opt.Synchronize = o.synchronize
	}
	err := pass.Run(g, opt, after, &p.findings)
	if err != nil && !p.findings.HasErrors() {
		return usageError{err}
	}
	return nil
}

// price puts the machine's costs beside the work.
func (p *prepared) price() {
	g := p.workload.graph
	pricer := analytic.NewPricer(p.platform.machine, analytic.PricerOptions{RanksPerDomain: p.platform.ranksPerDomain()})
	graph.Price(g, pricer, func(site int32, err error) {
		pos := g.Sites[site].Pos
		var d diag.Diagnostic
		var many *diag.ListError
		switch {
		case errors.As(err, &many):
			p.findings.Append(many.List)
		case errors.As(err, &d):
			if d.Pos == (diag.Pos{}) {
				d.Pos = pos
			}
			p.findings.Add(d)
		default:
			p.findings.Errorf("E904", pos, "cannot be priced on machine %s: %v", p.platform.machine.Name, err)
		}
	})
}

// check walks the program without time: what can never finish is said before anything
// is simulated.
func (p *prepared) check() {
	g := p.workload.graph
	opt := replay.CheckOptions{EagerLimit: p.eagerLimit}
	result := replay.Check(g, opt)
	replay.ReportCheck(g, result, &p.findings)
	if result.Verdict.Outcome == replay.Deadlock {
		blameOrdering(g, opt, &p.findings)
	}
}

func (p *prepared) eagerLimit(src, dst int32) int64 {
	if p.platform.placement.ScaleUp.Shared(src, dst) {
		return math.MaxInt64 // no handshake: a queue for each receiver takes any size
	}
	l, _, ok := p.platform.network.Level(p.platform.placement.Level(src, dst))
	if !ok {
		return 0
	}
	return l.EagerLimit
}

// inputs describes the run for the report.
func (p *prepared) inputs(command string, o *runOptions) report.Inputs {
	g := p.workload.graph
	in := report.Inputs{Command: command, Version: version(), Workload: p.workload.name, Format: g.Origin.String(),
		Network: p.platform.networkChoice.name, NetworkFrom: p.platform.networkChoice.from,
		Machine: p.platform.machineChoice.name, MachineFrom: p.platform.machineChoice.from,
		Placement: p.platform.placement.Describe(), Seed: o.seed, Settings: o.settings(g)}
	if p.topology != nil {
		in.Topology = p.topology.Describe()
		in.Fabric = p.platform.fabricText(o.isIdeal(p.platform.network))
	}
	for _, q := range g.Params {
		in.Parameters = append(in.Parameters, report.Parameter{Name: q.Name, Value: q.Value})
	}
	return in
}

// isIdeal reports whether the ideal network is simulated.
func (o *runOptions) isIdeal(n *networks.Network) bool { return o.ideal || n.NIC.Transport == "ideal" }

// settings lists the options that shape the result and are not their defaults, and the
// ordering options of traces always.
func (o *runOptions) settings(g *graph.Graph) []report.Parameter {
	var out []report.Parameter
	add := func(name, value string) { out = append(out, report.Parameter{Name: name, Value: value}) }
	if g.Origin == graph.Chakra || o.given("serialize") || o.given("synchronize") {
		add("serialize", strconv.FormatBool(g.Serialize))
		add("synchronize", strconv.FormatBool(g.Synchronize))
	}
	for _, f := range []struct{ flag, value string }{
		{"ideal", strconv.FormatBool(o.ideal)}, {"trace-family", o.family}, {"dependencies", o.dependencies},
		{"scale", o.scale}, {"stop-at", o.stopAt}, {"issue-order", o.issueOrder},
	} {
		if o.flags.Lookup(f.flag) != nil && o.given(f.flag) {
			add(f.flag, f.value)
		}
	}
	for _, a := range o.algorithms {
		add("algorithm", a)
	}
	for _, s := range o.sets {
		add("set", s)
	}
	return out
}
