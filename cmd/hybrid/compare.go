package main

import (
	"github.com/spf13/cobra"

	"hybrid/graph/replay"
	"hybrid/report"
)

const workloadHelp = `WORKLOAD is a blueprint, a Chakra trace set (a folder, a prefix, one of its files or
a glob), or - for a blueprint on standard input; its content decides. Without one the
built-in example runs.`

func (a *app) compareCommand() *cobra.Command {
	return a.runCommand(runSpec{
		name: "compare", short: "Run the packet simulation and the analytic models and compare them",
		long: `Runs the packet simulation and the analytic models on the same operation graph and
reports them side by side: makespan, every operation, every collective, every rank.
An error is (model - simulated) / simulated.

` + workloadHelp,
		example: `  hybrid compare
  hybrid compare ring.hbp -D msg=64KiB --network roce-leaf-spine-400g
  hybrid compare traces/ --set fabric.link.rate=200Gbps -o json
  hybrid compare ring.hbp --ideal --fail-if 'max>1'`,
		models: true, simulation: true,
	})
}

// runSpec is what differs between compare, simulate and predict.
type runSpec struct {
	name, short, long, example string
	models, simulation         bool
}

func (a *app) runCommand(s runSpec) *cobra.Command {
	o := &runOptions{}
	cmd := &cobra.Command{
		Use: s.name + " [flags] [WORKLOAD]", Short: s.short, Long: s.long, Example: s.example,
		GroupID: groupRun, Args: oneWorkload, DisableFlagsInUseLine: true,
	}
	o.prepareFlags(cmd)
	o.engineFlags(cmd, s.models, s.simulation)
	o.complete(cmd)
	cmd.RunE = a.run(func(cmd *cobra.Command, args []string) error {
		if err := o.check(); err != nil {
			return err
		}
		return a.execute(cmd, args, o, s)
	})
	return cmd
}

// execute prepares, runs, reports.
func (a *app) execute(cmd *cobra.Command, args []string, o *runOptions, s runSpec) error {
	if err := checkOut(o.out); err != nil {
		return err
	}
	p, err := a.prepare(args, o, s.simulation)
	if err != nil {
		return err
	}
	p.progress = a.newProgress(o, p.workload.graph)
	if o.stats {
		p.stats = &replay.Stats{}
	}
	runs, err := p.runAll(cmd.Context(), o, s.simulation)
	if err != nil {
		a.render(&p.late)
		return err
	}
	for _, r := range runs {
		r.Verdict.SetLimit(p.eagerLimit)
	}
	in := p.inputs(s.name, o)
	in.Interrupted = cmd.Context().Err() != nil && !complete(runs, o, s)
	c := report.New(in, p.workload.graph, runs, p.lowerBound, &p.findings)
	c.AddIdeals(p.idealTime)
	c.Stats = p.stats
	if err := a.write(c, o); err != nil {
		return err
	}
	return a.finish(p, c, o)
}

// complete reports whether every run was begun and none was cut off.
func complete(runs []*replay.Result, o *runOptions, s runSpec) bool {
	models, _ := o.modelList()
	want := len(models)
	if s.simulation {
		want++
	}
	for _, r := range runs {
		if r.Verdict.Outcome == replay.Interrupted {
			return false
		}
	}
	return len(runs) == want
}
