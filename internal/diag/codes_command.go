package diag

// commandCodes are the findings of the command line itself: E9xx.
func commandCodes() []Code {
	return []Code{
		{"E901", "the file cannot be read",
			"The operating system refused to read a workload or one of its side files; the message says why. A workload is a blueprint, or a Chakra trace set: a folder, a prefix, one of its files or a glob.",
			"hybrid compare no-such-file.hbp"},
		{"E902", "not a workload",
			"What a file is gets decided by its content. This one is something else than a blueprint or a Chakra trace; the note says where such a file belongs.",
			"hybrid compare my-network.yml"},
		{"E903", "not a placement",
			"A placement is block, round-robin, or a file with the node number of rank 0, 1, 2 and so on, separated by blanks, commas or line ends; # begins a comment.",
			"hybrid compare ring.hbp --placement blok"},
		{"E904", "work that the machine cannot price",
			"The machine file lacks what the operation's model needs: a peak rate, a memory bandwidth or a recorded kernel. Take another machine or add the figure with --set.",
			"compute ecm MY_KERNEL work 1000   # on a machine without that record"},
		{"E905", "the run is not possible",
			"An engine cannot run this workload on this network at all; the message says what is missing.",
			"hybrid simulate ring.hbp --network levels-only.yml"},
		{"E908", "an expectation of the blueprint does not hold",
			"The blueprint states with `expect` what must be true of its results; after this run it is not.",
			"expect messages == 16"},
		{"E920", "records cannot be written",
			"The folder for record files could not be made, is a file, or cannot be written to; or an interval is so short that a record would have more rows than one may have. Nothing has been simulated.",
			"hybrid simulate traces/ --records /proc/records"},
	}
}
