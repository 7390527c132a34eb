package diag

// faultCodes are what is wrong with the faults of a network file: E965 to E969.
func faultCodes() []Code {
	return []Code{
		{"E965", "a fault that says too little or too much",
			"An entry of `faults` is about one of `link`, `switch` and `random_links`. It says either when these links are down (`at`, `until`) or, for the whole run, their `rate`, `loss` or `bit_error_rate`.",
			"faults: [{link: [server-0, rack-0], until: 50us}]"},
		{"E966", "a fault of something that is not there",
			"A node or a link named in `faults` does not exist in the topology of this run. Nodes have the numbers and names that `hybrid show network NAME --topology json` prints for as many hosts as the run uses.",
			"faults: [{link: [server-0, spine-0], at: 10us}]"},
		{"E967", "faults that contradict each other",
			"Two entries of `faults` give a directed link two rates, losses or bit error rates, or two times of being down that overlap. Times that follow from the failure of a switch may overlap with others.",
			"faults: [{link: [server-0, rack-0], at: 1us}, {link: [server-0, rack-0], at: 2us}]"},
		{"E968", "too many different failures",
			"The next hops around failed links need a table for each set of links that are down at one time, and together these tables are too large. Fewer faults at different times need less.",
			"faults: [{random_links: 5000, at: 1us, until: 2us}]"},
		{"W965", "a fault without effect",
			"The ideal transport has no packets: `loss` and `bit_error_rate` do nothing there.",
			"nic: {transport: ideal}\nfaults: [{link: [server-0, rack-0], loss: 0.001}]"},
	}
}
