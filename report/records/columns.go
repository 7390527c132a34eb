package records

// recordTable lists every record.
func recordTable() []Record {
	return []Record{
		{"chakra-capable-hosts", "the servers that can run ranks", hostColumns(), fixedRecord("chakra-capable-hosts", hostColumns(), writeHosts)},
		{"chakra-mapping", "where each rank ran", mappingColumns(true), newMapping},
		{"chakra-apps", "the application of each rank", appColumns(), fixedRecord("chakra-apps", appColumns(), writeApps)},
		{"chakra-perf", "a row for each transfer when it is acknowledged", perfColumns(), newPerf},
		{"chakra-completion-stats", "a row for each rank when it ends, or at the stop", completionColumns(), newCompletion},
		{"chakra-cdf", "at regular times, which part of the whole run's work is done", cdfColumns(), newCDF},
		{"chakra-comm-collective-stats", "a row for each collective", collectiveColumns(), newCollectiveStats},
		{"chakra-comm-collective-percentiles-stats", "run times of collectives by type, algorithm and size, against the ideal time", percentileColumns(), newPercentiles},
		{"nd-stats", "at regular times, what each port has carried", deviceColumns(), newDevices},
		{"link-stats", "at regular times, the links that were in use: how long they were busy, the longest queues, and what switches did to packets and senders", linkColumns(), newLinks},
		{"queue-stats", "at regular times, the traffic classes at each output to which something happened", queueColumns(), newQueues},
		{"topology-report", "both ends of every cable, the scale-up fabric's included", topologyColumns(), fixedRecord("topology-report", topologyColumns(), writeTopology)},
		{profileRecord, "at regular times, the nodes that run on a rank (text, a file a rank)", nil, newProfile},
		{annotatedRecord, "the traces with the times of their nodes (JSON, a file a rank)", nil, newAnnotated},
	}
}

func fixedRecord(name string, columns []Column, rows func(*Recorder, *table) error) func(*Recorder) listener {
	return func(r *Recorder) listener { return &fixed{r: r, name: name, columns: columns, rows: rows} }
}

// newMapping has the columns of groups where there are groups.
func newMapping(r *Recorder) listener {
	return &fixed{r: r, name: "chakra-mapping", columns: mappingColumns(r.platform.ScaleUp != nil), rows: writeMapping}
}

func hostColumns() []Column {
	return []Column{
		{"Host", Text, "name of the server"},
		{"IsChakraCapable", Integer, "1: it has a NIC that can run ranks"},
	}
}

func mappingColumns(groups bool) []Column {
	c := []Column{
		{"ChakraId", Integer, "rank"},
		{"Hostname", Text, "name of its server"},
		{"NicNodeID", Integer, "node number of the server's NIC in the topology"},
		{"ServerNodeID", Integer, "node number of the server; a server and its NIC are one node"},
		{"ServerID", Integer, "number of the server in mapping files"},
		{"Core", Integer, "0: results do not depend on threads"},
		{"IPAddress", Text, "10.x.y.z with x, y, z the bytes of ServerID + 1"},
	}
	if groups {
		c = append(c, Column{"ScaleUpGroupId", Integer, "number of its scale-up group, -1 for none (only in runs with groups)"},
			Column{"ScaleUpSubgroupId", Integer, "number of its subgroup, -1 for none (only in runs with groups)"})
	}
	return c
}

func appColumns() []Column {
	return []Column{
		{"AppName", Text, "ChakraApp-<rank>"},
		{"Core", Integer, "0: results do not depend on threads"},
	}
}

func perfColumns() []Column {
	return []Column{
		{"time_utc", Text, "1970-01-01 plus sim_time_sec, so that it is reproducible"},
		{"metric_name", Text, "ChakraFCT"},
		{"sim_time_sec", Decimal, "when the acknowledgement reached the sender"},
		{"perf_metric_usec", Decimal, "from the start of the send to the acknowledgement"},
		{"metric_path", Text, "ChakraFCT.<type>.GroupSize<N>.CommSize<S>Bytes, S as in the trace; type Send for plain sends; BARRIER for the barriers of synchronization"},
		{"metric_aggregation_id", Integer, "collective_hash of the transfer's collective, -1 for plain sends"},
		{"start_time_sec", Decimal, "start of the send"},
		{"is_added_synchronization_flow", Bool, "whether it belongs to the barrier of collective synchronization"},
		{"comm_tag", Unsigned, "tag; for transfers of collectives a number with the top bit of 64 set, unique for pair, collective and step"},
		{"group_size", Integer, "members of the process group, -1 for plain sends"},
		{"flow_comm_size", Integer, "bytes, after scaling"},
		{"sending_app_name", Text, "ChakraApp-<rank>"},
		{"receiving_app_name", Text, "ChakraApp-<rank>"},
	}
}

func completionColumns() []Column {
	return []Column{
		{"metric_path", Text, "ChakraGenerator.ChakraApp"},
		{"chakra_app_logical_id", Integer, "rank"},
		{"chakra_trace_completion_time_us", Decimal, "from the start of the rank to its end, or to the stop where it did not end"},
		{"chakra_full_payload_bytes_sent", Integer, "bytes of the sends that have finished"},
		{"chakra_full_payload_bytes_received", Integer, "bytes of the receives that have finished"},
		{"num_chakra_sends_completed", Integer, "sends that have finished"},
		{"num_chakra_receives_completed", Integer, "receives that have finished"},
		{"num_chakra_sends_fully_acked", Integer, "sends that are acknowledged"},
		{"num_chakra_computations_completed", Integer, "compute operations that have finished"},
		{"total_chakra_computation_time_us", Decimal, "sum of their durations as the trace has them, after scaling; sharing does not lengthen it"},
		{"post_annotated_results_path", Text, "the rank's annotated trace, empty where none is written"},
	}
}

func cdfColumns() []Column {
	return []Column{
		{"sim_time_sec", Decimal, "end of the interval; what happens at that very time belongs to the next"},
		{"CDF_send_bytes", Decimal, "bytes of finished sends, as a fraction of the whole run's; 1 where the run has none"},
		{"CDF_chakra_sends_completed", Decimal, "finished sends, likewise"},
		{"CDF_chakra_receives_completed", Decimal, "finished receives"},
		{"CDF_chakra_sends_fully_acked", Decimal, "acknowledged sends"},
		{"CDF_chakra_computations_completed", Decimal, "finished computations"},
	}
}

func collectiveColumns() []Column {
	return []Column{
		{"collective_hash", Integer, "names the instance of the collective; chakra-perf has it as metric_aggregation_id"},
		{"comm_type", Text, "ALL_REDUCE, BROADCAST, ..."},
		{"comm_size", Integer, "bytes as in the trace"},
		{"pg_name", Text, "process group"},
		{"pg_size", Integer, "members of the group"},
		{"simulation_start_time_us", Decimal, "latest (or earliest) first transfer of a participant"},
		{"simulation_end_time_us", Decimal, "latest acknowledgement or receive of its transfers"},
		{"use_max_as_collective_start_time", Bool, "whether the start is the latest"},
		{"is_valid", Integer, "0 if no participant finished before the stop"},
	}
}

func percentileColumns() []Column {
	return []Column{
		{"comm_type", Text, "ALL_REDUCE, BROADCAST, ..."},
		{"expansion_algo", Text, "algorithm"},
		{"comm_size", Integer, "bytes as in the trace"},
		{"pg_size", Integer, "members of the group"},
		{"count", Integer, "complete instances"},
		{"mean_run_time_us", Decimal, "mean of their run times, truncated to picoseconds"},
		{"p50_run_time_us", Decimal, "the smallest run time that half of them do not exceed"},
		{"p99_run_time_us", Decimal, "likewise 99 %"},
		{"p99_9_run_time_us", Decimal, "likewise 99.9 %"},
		{"p100_run_time_us", Decimal, "the longest run time"},
		{"mean_ideal_ratio", Ratio, "mean run time / ideal time, where only the bandwidth of a NIC's link counts; NA where there is none"},
		{"p50_ideal_ratio", Ratio, "p50 / ideal time"},
		{"p99_ideal_ratio", Ratio, "p99 / ideal time"},
		{"p99_9_ideal_ratio", Ratio, "p99.9 / ideal time"},
		{"p100_ideal_ratio", Ratio, "p100 / ideal time"},
	}
}

func deviceColumns() []Column {
	return []Column{
		{"time_utc", Text, "1970-01-01 plus sim_time_sec"},
		{"sim_time_sec", Decimal, "end of the interval"},
		{"component_name", Text, "server or switch"},
		{"nd_name", Text, "device: nic<i>, port<i>, ChakraScaleUpNetDevice"},
		{"component_type", Text, "Server, Switch or ChakraScaleUpNic"},
		{"ifid", Integer, "number of the device at its node"},
		{"uldl", Text, "UL where it leads to a node nearer the spine, else DL"},
		{"node_id", Integer, "node number in the topology"},
		{"tier", Integer, "0 spine, 1 fabric, 2 rack, 3 server"},
		{"subtier", Integer, "number of the node in its tier"},
		{"total_packets_tx", Integer, "packets whose first bit has left since the start"},
		{"total_packets_rx", Integer, "packets that have arrived since the start"},
		{"total_bytes_tx_GB", Decimal, "their bytes, headers included, in 10^9 B"},
		{"total_bytes_rx_GB", Decimal, "likewise received"},
		{"interval_bytes_tx_MB", Decimal, "bytes sent in the interval, in 10^6 B"},
		{"interval_bytes_rx_MB", Decimal, "bytes received in the interval"},
		{"tx_rate_Gbps", Decimal, "interval_bytes_tx_MB over the interval"},
		{"rx_rate_Gbps", Decimal, "interval_bytes_rx_MB over the interval"},
		{"tx_link_percent_util", Decimal, "tx_rate_Gbps in percent of the link's rate"},
		{"rx_link_percent_util", Decimal, "rx_rate_Gbps in percent of the link's rate"},
		{"tx_drops", Integer, "packets that the switch dropped on their way out, since the start"},
		{"rx_drops", Integer, "0: packets are counted where they would have left"},
	}
}

func linkColumns() []Column {
	return []Column{
		{"sim_time_sec", Decimal, "end of the interval"},
		{"link_id", Integer, "number of the directed link in the topology"},
		{"from_name", Text, "server or switch that sends on it"},
		{"to_name", Text, "the one that receives"},
		{"interval_packets", Integer, "packets whose first bit has left in the interval"},
		{"interval_bytes", Integer, "their bytes, headers included"},
		{"busy_time_us", Decimal, "time that these bytes occupy the link, truncated to picoseconds"},
		{"utilization", Decimal, "busy time in percent of the interval"},
		{"max_queue_bytes", Integer, "of the packets that left the output of a switch in the interval, the most bytes that one had found queued before it; 0 at NICs"},
		{"interval_marks", Integer, "packets that the switch has marked (ECN) on their way to the link"},
		{"interval_drops", Integer, "packets that the switch dropped on their way to the link"},
		{"interval_cuts", Integer, "packets that the switch has cut to their header on their way to the link"},
		{"interval_pauses", Integer, "how often the switch at the link's end has paused its sender: pause frames without their repetitions, when they were made"},
		{"interval_pause_frames", Integer, "pause frames that have paused this link's sender, repetitions included, when they took effect"},
	}
}

func topologyColumns() []Column {
	end := func(prefix, of string) []Column {
		return []Column{
			{prefix + "component_name", Text, of + ": server or switch"},
			{prefix + "component_type", Text, "Server, Switch, ChakraScaleUpNic or ChakraScaleUpSwitch"},
			{prefix + "tier", Integer, "0 spine, 1 fabric, 2 rack, 3 server"},
			{prefix + "subtier", Integer, "number of the node in its tier"},
			{prefix + "node_id", Integer, "node number, -1 for switches of the scale-up fabric"},
			{prefix + "net_device", Text, "device at the node"},
			{prefix + "dev_id", Integer, "its number"},
		}
	}
	return append(append(end("", "near end"), end("peer_", "far end")...),
		Column{"linkspeed_Gbps", Decimal, "rate from the near to the far end"},
		Column{"prop_delay_ns", Decimal, "propagation delay"})
}
