package diag

// runCodes are the findings of preparation passes and of runs: matching E4xx and
// W4xx, progress E5xx and W5xx, the command line E9xx.
func runCodes() []Code {
	return append(append(matchingCodes(), progressCodes()...), commandCodes()...)
}

func matchingCodes() []Code {
	return []Code{
		{"E303", "algorithm does not fit the group",
			"Halving and halving-doubling pair ranks by distance 1, 2, 4, ... and need a group whose size is a power of two. The finding says who chose the algorithm.",
			"allreduce 1MiB algo halving-doubling   # on 6 ranks"},
		{"W604", "receive from any rank or with any tag",
			"Which message such a receive takes depends on the order of arrival, so that a small change of the network or of a duration may change the run. Messages that arrive at the same instant are taken in a fixed order.",
			"recv 8B from any"},
		{"E401", "message or receive without a partner",
			"A message is never received, or a receive waits for a message that nobody sends. Messages and receives meet by source, destination and tag, first in first out. The ranks are given as a pattern where several have the same fault.",
			"on 0 { send 8B to 1 tag 1 }\non 1 { recv 8B from 0 tag 2 }"},
		{"E402", "message longer than its receive",
			"The buffer of the receive is smaller than the message that meets it. MPI calls this a truncation error. The k-th message of a pair and tag meets the k-th receive.",
			"on 0 { send 16B to 1 }\non 1 { recv 8B from 0 }"},
		{"E403", "members of a group disagree on a collective",
			"The k-th collective that a rank calls over a group must be the k-th of every other member, with the same type, size, root and algorithm, and every member must call it.",
			"on 0 { allreduce 8B }"},
		{"E404", "tag out of range",
			"Tags are whole numbers from 0 to 2147483647, in traces to 2^62-1.",
			"send 8B to 1 tag -5"},
		{"E405", "rank or root does not belong to the group",
			"A collective runs on the members of its process group alone, its root is one of them, and the group must exist.",
			"on 7 { bcast 8B root 0 over row }   # rank 7 is not in row"},
		{"E406", "unknown collective algorithm",
			"The collective type has no algorithm of this name. `hybrid list collectives` prints all of them.",
			"--algorithm allreduce=rng"},
		{"E407", "stopped by a warning",
			"With --abort-on-warning a warning of the preparation ends the run. The warnings are printed with it.",
			"hybrid compare traces/ --abort-on-warning"},
		{"E408", "scaling factor out of range",
			"The factor for sizes and durations lies between 0.0 and 1.0.",
			"--scale 1.5"},
		{"W402", "message and receive differ in size",
			"The message does not fill the buffer of its receive, or, in a trace, is longer. It is delivered, and the size sent counts. In traces it often means that the two sides were recorded differently.",
			"on 0 { send 8B to 1 }\non 1 { recv 16B from 0 }"},
		{"W405", "issue order left out",
			"With serialization a collective waits for the one issued before it in its process group. Here the earlier one already depends on the later one, on its rank or across ranks, so that waiting would close a cycle; this one dependency is left out. The others of the group stay in the recorded order around it.",
			"a trace whose recorded order contradicts its dependencies"},
		{"W410", "warnings dropped",
			"Each step of the preparation, reading the workload and every pass, may have a number of warnings; --max-warnings sets it, 30000 if it is not given. Those beyond are dropped, the preparation goes on, and they do not count for --abort-on-warning.",
			"hybrid compare traces/ --max-warnings 100"},
		{"W411", "an ordering option keeps the program from ending",
			"With synchronization every member of a group passes a barrier before each collective. Here a member comes to the collective only after something that another one does after it, so that all wait for ever. Without barriers the program ends: --synchronize=false.",
			"rank 0 broadcasts and then sends to rank 1; rank 1 receives that and then takes part in the broadcast"},
		{"W406", "durations rounded",
			"The text form of GOAL has whole nanoseconds. Durations that are not were rounded to the nearest one.",
			"hybrid graph heat.hbp -o goal"},
	}
}

func progressCodes() []Code {
	return []Code{
		{"E501", "deadlock",
			"Ranks wait for each other in a circle, which the message spells out. A send above the eager limit of the network waits for its receive. Exchanging data needs sendrecv, or asynchronous sends and a wait behind the receives.",
			"send 1MiB to mod(rank + 1, ranks)\nrecv 1MiB from mod(rank - 1, ranks)"},
		{"E502", "the run failed",
			"An operand could not be evaluated while the program ran, or time left its range.",
			"compute 1us / (3 - i)   # in iteration 3"},
		{"E503", "stopped by the stop time",
			"The simulated stop time came before every rank had finished. Times up to there are reported.",
			"--stop-at 1ms"},
		{"E504", "interrupted",
			"The run was interrupted before every rank had finished. What was complete is reported, marked as interrupted.",
			"Ctrl-C during a run"},
		{"W503", "not all of the program was checked before the run",
			"Before a run the program is followed without time to find deadlocks and unmatched messages. Long loops whose iterations communicate alike are followed for a few iterations only, and a program that is too long, or depends on the order of arrival, is not followed at all. The run itself finds what the check could not.",
			"repeat 1_000_000 { transfer 8B from 0 to 1 }"},
		{"W502", "unsafe program",
			"The program finishes only because short messages leave their sender before they are received. If every send had to wait for its receive it would deadlock; the MPI standard calls that unsafe.",
			"send 8B to mod(rank + 1, ranks)\nrecv 8B from mod(rank - 1, ranks)"},
	}
}
