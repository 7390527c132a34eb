package main

import "github.com/spf13/cobra"

func (a *app) predictCommand() *cobra.Command {
	return a.runCommand(runSpec{
		name: "predict", short: "Run the analytic models only",
		long: `Walks the workload with closed-form models, without simulating a network.

` + workloadHelp,
		example: `  hybrid predict ring.hbp
  hybrid predict ring.hbp --models loggp -D steps=1000 -o csv`,
		models: true,
	})
}
