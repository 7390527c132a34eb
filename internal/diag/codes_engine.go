package diag

// engineCodes are what the packet engine refuses: E95x.
func engineCodes() []Code {
	return []Code{
		{"E950", "unknown transport",
			"No transport has this name. `hybrid list transports` prints those there are.",
			"nic: {transport: rocee}"},
		{"E951", "transport not available yet",
			"The transport is known but this version cannot simulate it. The message names those it can.",
			"nic: {transport: uet}"},
		{"E954", "workload, placement and topology do not fit",
			"The placement needs a node for every rank, and the topology a host for every node.",
			"topology: {kind: star, hosts: 4}   # for 8 nodes"},
		{"E955", "a link too slow to simulate",
			"A single packet would take longer on the link than simulated time can last (53 days at a tick of one picosecond).",
			"fabric: {link: {rate: 1bps, delay: 1000h}}"},
		{"E956", "packet memory of switches that does not fit together",
			"Classes that are named must exist, xon and kmin are at most xoff and kmax, the buffer holds the headroom of all ports, and a frame and the number of ports stay within what a switch can tell apart.",
			"fabric: {switch: {buffer: 1MB, headroom: 256KB, pfc: {xoff: 700KB}}}   # with 8 ports"},
		{"E964", "a head that takes no time",
			"A switch that cuts through acts when the first `cut_after` bytes of a frame have arrived. At the rate of a link these take less than half a picosecond, so that one frame would begin before the one ahead of it had ended.",
			"fabric: {link: {rate: 100TB/s}, switch: {forwarding: cut-through, cut_after: 1B}}"},
		{"W964", "cut_after without cut-through",
			"`cut_after` says how much of a frame a switch that cuts through waits for. Switches that store and forward wait for all of it.",
			"fabric: {switch: {cut_after: 64B}}"},
		{"E958", "more memory than there is",
			"What the simulation is going to need is estimated before it starts: so much for each link, rank and queue pair. It is more than the machine, or its control group, has. The notes say which part is the largest. `--max-memory SIZE` replaces the machine's figure.",
			"hybrid simulate alltoall.hbp -D ranks=20000"},
		{"W958", "nearly all memory there is",
			"The estimate is above 80 % of what the machine has. Packets that wait in queues come on top of it.",
			"hybrid simulate alltoall.hbp -D ranks=16000"},
		{"E970", "the network stands still, or gets nowhere",
			"Either pauses (PFC) have stopped each other in a circle: each port of it is paused by the switch behind it, whose memory is full of packets for the next port. Or frames are sent for ever and none arrives. The report names the ports of the circle with the class, the bytes that wait, since when, and the packet at the head, and lists queue pairs with what they wait for.",
			"fabric: {switch: {pfc: {xoff: 40KB}}}   # on a ring whose links all carry traffic for the next one"},
	}
}
