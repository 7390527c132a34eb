package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"hybrid/internal/diag"
	"hybrid/machines"
	"hybrid/networks"
)

// embeddedKind is a row of the table of embedded files.
type embeddedKind struct {
	name   string
	names  func() []string
	source func(string) ([]byte, bool)
}

func embeddedKinds() []embeddedKind {
	return []embeddedKind{
		{"network", networkNames, networks.Source},
		{"machine", machineNames, machines.Source},
	}
}

func (a *app) showCommand() *cobra.Command {
	var o topologyOptions
	cmd := &cobra.Command{
		Use:   "show {network|machine} NAME",
		Short: "Print an embedded network or machine file, to be copied and edited, or a network's topology",
		Example: `  hybrid show network ib-fat-tree-200g > mine.yml
  hybrid compare ring.hbp --network mine.yml
  hybrid show network mine.yml --topology dot --hosts 64 | dot -Tsvg > mine.svg`,
		GroupID: groupLook, Args: cobra.ExactArgs(2), DisableFlagsInUseLine: true,
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return []string{"network", "machine"}, cobra.ShellCompDirectiveNoFileComp
			}
			for _, k := range embeddedKinds() {
				if k.name == args[0] {
					return k.names(), cobra.ShellCompDirectiveNoFileComp
				}
			}
			return nil, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: a.run(func(_ *cobra.Command, args []string) error {
			for _, k := range embeddedKinds() {
				if k.name != args[0] {
					continue
				}
				if err := o.check(k.name); err != nil {
					return err
				}
				if o.form != "" {
					return a.showTopology(args[1], &o)
				}
				return a.show(k, args[1])
			}
			return usageError{fmt.Errorf("show prints a network or a machine, not %q", args[0])}
		}),
	}
	o.register(cmd)
	_ = cmd.RegisterFlagCompletionFunc("topology", cobra.FixedCompletions(topologyFormNames(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (a *app) show(k embeddedKind, name string) error {
	text, ok := k.source(name)
	if !ok {
		var list diag.List
		list.Errorf("E810", diag.Pos{}, "no %s is called %q%s", k.name, name, diag.DidYouMean(name, k.names())).
			Note("hybrid list %ss prints the names", k.name)
		a.render(&list)
		return errReported
	}
	_, err := a.stdout.Write(text)
	return err
}
