package main

import "github.com/spf13/cobra"

func (a *app) simulateCommand() *cobra.Command {
	return a.runCommand(runSpec{
		name: "simulate", short: "Run the packet simulation only",
		long: `Runs the packet simulation of the workload on its network: every packet through
every port, with exact times.

` + workloadHelp,
		example: `  hybrid simulate ring.hbp
  hybrid simulate traces/ --network my-cluster.yml --cores 4 -o json`,
		simulation: true,
	})
}
