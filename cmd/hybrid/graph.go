package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"hybrid/graph"
	"hybrid/graph/pass"
	"hybrid/graph/replay"
	"hybrid/internal/diag"
)

// graphForm is a row of the table of forms that a graph can be printed in.
type graphForm struct {
	name, doc string
	// priced says whether the form shows what operations cost.
	priced func(v *graphView) bool
	write  func(a *app, w io.Writer, v *graphView) error
}

// graphView is a graph, and behind which pass it is shown.
type graphView struct {
	g     *graph.Graph
	after string
}

func graphForms() []graphForm {
	never := func(*graphView) bool { return false }
	return []graphForm{
		{"text", "one line for each operation, loops indented", (*graphView).expandsText, (*app).writeText},
		{"dot", "a picture of each program, for Graphviz", never,
			func(_ *app, w io.Writer, v *graphView) error { return graph.WriteDOT(w, v.g) }},
		{"goal", "GOAL text for LogGOPSim: unrolled, collectives expanded, whole nanoseconds", func(*graphView) bool { return true }, (*app).writeGOAL},
		{"json", "everything, schema " + graph.JSONSchema + "; traces with their collectives expanded", (*graphView).expandsJSON, (*app).writeJSON},
	}
}

// expandsJSON reports whether the collectives are shown as transfers: those of traces
// once the pass has run.
func (v *graphView) expandsJSON() bool { return v.g.Expanded && v.isFlat() }

// expandsText is the same for text, which stays short unless one of the two passes that
// say how a graph is shown is asked for.
func (v *graphView) expandsText() bool {
	return v.expandsJSON() && (v.after == "expand" || v.after == "annotate")
}

func (v *graphView) isFlat() bool {
	return !slices.ContainsFunc(v.g.Programs, func(p *graph.Program) bool { return !p.Flat })
}

func (a *app) writeText(w io.Writer, v *graphView) error {
	if v.expandsText() {
		return replay.WriteExpanded(w, v.g)
	}
	return graph.WriteText(w, v.g)
}

func (a *app) writeJSON(w io.Writer, v *graphView) error {
	if v.expandsJSON() {
		return replay.WriteExpandedJSON(w, v.g)
	}
	return graph.WriteJSON(w, v.g, nil)
}

// writeGOAL holds the text back until it is known that there is one.
func (a *app) writeGOAL(w io.Writer, v *graphView) error {
	var list diag.List
	var b bytes.Buffer
	defer a.render(&list)
	if err := replay.WriteGOAL(&b, v.g, replay.GOALOptions{Findings: &list}); err != nil {
		return err
	}
	_, err := b.WriteTo(w)
	return err
}

func (a *app) graphCommand() *cobra.Command {
	o := &runOptions{}
	var after string
	cmd := &cobra.Command{
		Use:   "graph [flags] [WORKLOAD]",
		Short: "Print the operation graph, before or after preparation",
		Long: `Prints the operation graph that both engines time. Without --after all preparation
passes have run; --after none shows what the front end wrote. --after expand and
--after annotate show the collectives of traces as their transfers, and -o json does
from there on; blueprints, which have loops, are shown as they are written.

` + workloadHelp,
		Example: `  hybrid graph ring.hbp --after none
  hybrid graph ring.hbp -D n=4 -o goal --out ring.goal
  hybrid graph traces/ -o json                  # every transfer, with what it waits for`,
		GroupID: groupRun, Args: oneWorkload, DisableFlagsInUseLine: true,
	}
	o.prepareFlags(cmd)
	for _, f := range graphForms() {
		o.formats = append(o.formats, f.name)
	}
	cmd.Flags().StringVar(&after, "after", "", "stop behind this preparation `pass`; none shows what was written")
	cmd.Flags().StringVarP(&o.format, "output", "o", "text", "form: `text`, dot, goal or json")
	cmd.Flags().StringVar(&o.out, "out", "", "write to a `file`")
	o.complete(cmd)
	_ = cmd.RegisterFlagCompletionFunc("after", cobra.FixedCompletions(append([]string{noPass}, pass.Names()...), cobra.ShellCompDirectiveNoFileComp))
	cmd.RunE = a.run(func(_ *cobra.Command, args []string) error {
		if err := o.check(); err != nil {
			return err
		}
		if after != "" && after != noPass && !slices.Contains(pass.Names(), after) {
			return usageError{fmt.Errorf("--after: no pass is called %q%s (passes: none, %s)", after, diag.DidYouMean(after, pass.Names()), choices(pass.Names()))}
		}
		return a.printGraph(args, o, after)
	})
	return cmd
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
	if err != nil || p.findings.HasErrors() {
		a.render(&p.findings)
		return cmp.Or(err, errReported)
	}
	v := &graphView{p.workload.graph, after}
	if form.priced(v) {
		p.price()
	}
	a.render(&p.findings)
	if p.findings.HasErrors() {
		return errReported
	}
	return a.stream(o.out, func(w io.Writer) error { return form.write(a, w, v) })
}
