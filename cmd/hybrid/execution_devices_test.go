package main

import (
	"strings"
	"testing"
)

// Records of where ranks ran and of what the fabrics carried.
func TestExecutionRecordsOfPlatform(t *testing.T) {
	t.Run("placement", func(t *testing.T) {
		s := traces(t, 3)
		s.compute(0, 1)
		r := s.record()
		same(t, []string{"0 0", "1 1", "2 2"}, texts(r.rows("chakra-mapping"), "ChakraId", "ServerID"))
		if n := len(r.rows("chakra-capable-hosts")); n != 3 {
			t.Errorf("%d servers, want 3", n)
		}
		s, args := scaledUp(t)
		s.compute(0, 1)
		same(t, []string{"0 0 5 0", "1 1 5 0", "2 2 5 0", "3 3 5 1", "4 4 9 0", "5 5 9 0", "6 6 -1 -1"},
			texts(s.record(args...).rows("chakra-mapping"), "ChakraId", "ServerID", "ScaleUpGroupId", "ScaleUpSubgroupId"))
		r = traces(t, 3).record("--mapping", put(t, t.TempDir(), "mapping.txt", "0 2\n1 0\n2 1\n"))
		same(t, []string{"0 2", "1 0", "2 1"}, texts(r.rows("chakra-mapping"), "ChakraId", "ServerID"))
	})
	// 4,096 B through the scale-up fabric and 1,000 B through the NIC: perf and completion
	// count both, the ports of NICs the second alone. The device of the fabric, if asked
	// for, has 4,120 B.
	t.Run("scale-up", func(t *testing.T) {
		s, args := scaledUp(t)
		s.transfer(0, 1, 4096, 1)
		s.transfer(0, 4, 1000, 2)
		r := s.record(append(args, "--scale-up-stats")...)
		same(t, []string{"641200 0 4096 ChakraApp-1", "1020000 0 1000 ChakraApp-4"}, texts(r.rows("chakra-perf"), "sim_time_sec", "start_time_sec", "flow_comm_size", "receiving_app_name"))
		same(t, []string{"5096 2"}, texts(where(r.rows("chakra-completion-stats"), "chakra_app_logical_id", "0"), "chakra_full_payload_bytes_sent", "num_chakra_sends_fully_acked"))
		devices := r.rows("nd-stats")
		fabric := where(devices, "nd_name", "ChakraScaleUpNetDevice")
		if len(fabric) == 0 || fabric[0]["component_type"] != "ChakraScaleUpNic" || number(t, fabric[0]["total_packets_tx"]) != 1 {
			t.Errorf("%d rows of the scale-up fabric, want one packet sent in the first", len(fabric))
		}
		var sent int64
		for _, m := range devices {
			if m["component_type"] == "Server" && m["sim_time_sec"] == devices[0]["sim_time_sec"] {
				sent += number(t, m["total_packets_tx"])
			}
		}
		// The message and its acknowledgement.
		if sent != 2 {
			t.Errorf("the NICs have sent %d packets, want 2", sent)
		}
		if n := len(where(s.record(args...).rows("nd-stats"), "nd_name", "ChakraScaleUpNetDevice")); n != 0 {
			t.Errorf("%d rows of the scale-up fabric that nobody asked for", n)
		}
		if report := r.file("topology-report-0.csv"); !strings.Contains(report, "ChakraScaleUp") {
			t.Errorf("the topology report has no scale-up fabric:\n%s", report)
		}
	})
}
