package main

import (
	"bytes"
	"fmt"

	"github.com/spf13/cobra"

	"hybrid/graph"
	"hybrid/graph/pass"
	"hybrid/graph/replay"
	"hybrid/internal/diag"
)

// graphForm is a row of the table of forms that a graph can be printed in.
type graphForm struct {
	name, doc string
	priced    bool
	write     func(a *app, b *bytes.Buffer, p *prepared) error
}

func graphForms() []graphForm {
	return []graphForm{
		{"text", "one line for each operation, loops indented", false,
			func(_ *app, b *bytes.Buffer, p *prepared) error { return graph.WriteText(b, p.workload.graph) }},
		{"dot", "a picture of each program, for Graphviz", false,
			func(_ *app, b *bytes.Buffer, p *prepared) error { return graph.WriteDOT(b, p.workload.graph) }},
		{"goal", "GOAL text for LogGOPSim: unrolled, collectives expanded, whole nanoseconds", true, (*app).writeGOAL},
	}
}

func (a *app) graphCommand() *cobra.Command {
	o := &runOptions{}
	var after string
	cmd := &cobra.Command{
		Use:   "graph [flags] [WORKLOAD]",
		Short: "Print the operation graph, before or after preparation",
		Long: `Prints the operation graph that both engines time. Without --after all preparation
passes have run; --after none shows what the front end wrote.

` + workloadHelp,
		Example: `  hybrid graph ring.hbp --after none
  hybrid graph ring.hbp -D n=4 -o goal --out ring.goal`,
		GroupID: groupRun, Args: oneWorkload, DisableFlagsInUseLine: true,
	}
	o.prepareFlags(cmd)
	for _, f := range graphForms() {
		o.formats = append(o.formats, f.name)
	}
	cmd.Flags().StringVar(&after, "after", "", "stop behind this preparation `pass`; none shows what was written")
	cmd.Flags().StringVarP(&o.format, "output", "o", "text", "form: `text`, dot or goal")
	cmd.Flags().StringVar(&o.out, "out", "", "write to a `file`")
	cmd.RunE = a.run(func(_ *cobra.Command, args []string) error {
		if err := o.check(); err != nil {
			return err
		}
		if after != "" && after != noPass && !known(pass.Names(), after) {
			return usageError{fmt.Errorf("--after: no pass is called %q%s (passes: none, %s)", after, diag.DidYouMean(after, pass.Names()), choices(pass.Names()))}
		}
		return a.printGraph(args, o, after)
	})
	return cmd
}

func known(names []string, name string) bool {
	for _, n := range names {
		if n == name {
			return true
		}
	}
	return false
}

func (a *app) printGraph(args []string, o *runOptions, after string) error {
	var form graphForm
	for _, f := range graphForms() {
		if f.name == o.format {
			form = f
		}
	}
	p := &prepared{}
	err := a.loadAll(p, args, o, after)
	if err == nil && form.priced && !p.findings.HasErrors() {
		p.price()
	}
	a.render(&p.findings)
	switch {
	case err != nil:
		return err
	case p.findings.HasErrors():
		return errReported
	}
	var b bytes.Buffer
	if err := form.write(a, &b, p); err != nil {
		return err
	}
	return a.emit(b.Bytes(), o.out)
}

func (a *app) writeGOAL(b *bytes.Buffer, p *prepared) error {
	var list diag.List
	defer a.render(&list)
	return replay.WriteGOAL(b, p.workload.graph, replay.GOALOptions{Findings: &list})
}
