package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// recorded is a run with its record files.
type recorded struct {
	*outcome
	dir string
}

func (s *traceSet) record(args ...string) recorded {
	s.t.Helper()
	dir := filepath.Join(s.t.TempDir(), "records")
	return recorded{s.run(append(args, "--records", dir)...), dir}
}

// file returns the record file whose name has this end.
func (r recorded) file(end string) string {
	r.t.Helper()
	files, err := filepath.Glob(filepath.Join(r.dir, "*-"+end))
	if err != nil || len(files) != 1 {
		r.t.Fatalf("%d files *-%s (%v)", len(files), end, err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		r.t.Fatal(err)
	}
	return string(text)
}

// row is a row of a record by its columns.
type row map[string]string

func (r recorded) rows(record string) []row {
	r.t.Helper()
	all, err := csv.NewReader(strings.NewReader(r.file(record + "-0.csv"))).ReadAll()
	if err != nil || len(all) == 0 {
		r.t.Fatalf("%s: %d lines (%v)", record, len(all), err)
	}
	var out []row
	for _, line := range all[1:] {
		m := row{}
		for i, name := range all[0] {
			m[name] = line[i]
		}
		out = append(out, m)
	}
	return out
}

// ps reads a column of a time: its unit is the end of the column's name.
func (m row) ps(column string) int64 {
	v, err := strconv.ParseFloat(m[column], 64)
	switch {
	case err != nil:
		return math.MinInt64
	case strings.HasSuffix(column, "_sec"):
		v *= 1e12
	default:
		v *= 1e6
	}
	return int64(math.Round(v))
}

// fraction reads a column of a fraction; -1 is none.
func fraction(text string) float64 {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return -1
	}
	return v
}

// texts joins columns of each row.
func texts(rows []row, columns ...string) []string {
	var out []string
	for _, m := range rows {
		var list []string
		for _, c := range columns {
			if strings.HasSuffix(c, "_sec") || strings.HasSuffix(c, "_usec") || strings.HasSuffix(c, "_us") {
				list = append(list, fmt.Sprint(m.ps(c)))
			} else {
				list = append(list, m[c])
			}
		}
		out = append(out, strings.Join(list, " "))
	}
	return out
}

func same(t *testing.T, want, got []string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rows wanted (-) and written (+):\n%s", diff)
	}
}

// recordedSet computes 10 us on rank 0, sends 4,096 B to rank 1 and then runs an
// AllReduce of 8,192 B. In nanoseconds: the send from 10,000, there at 10,581.92, back at
// 11,081.92. Rank 1 goes up the barrier at 10,581.92, rank 0 down at 11,081.92; their
// acknowledgements are back at 11,581.92 and 12,081.92. Rank 0 starts its ring at
// 11,081.92, rank 1 at 11,581.92. Rank 0's first transfer is there at 11,663.84, rank 1's
// at 12,163.84; the second of rank 1 starts at 11,663.84 and is there at 12,245.76, that
// of rank 0 starts at 12,163.84 and is there at 12,745.76, and back at 13,245.76.
func recordedSet(t *testing.T) *traceSet {
	s := pair(t)
	s.collective(0, allReduce, 8192, s.send(0, 1, 4096, 7, s.compute(0, 10)))
	s.collective(1, allReduce, 8192, s.recv(1, 0, 4096, 7))
	return s
}

func TestExecutionRecords(t *testing.T) {
	t.Run("perf", func(t *testing.T) {
		rows := recordedSet(t).record().rows("chakra-perf")
		const path = "ChakraFCT.ALL_REDUCE.GroupSize2.CommSize8192Bytes 2 4096"
		same(t, []string{
			"11081920 10000000 1081920 false ChakraApp-0 ChakraApp-1 ChakraFCT.Send.GroupSize0.CommSize4096Bytes -1 4096",
			"12163840 11081920 1081920 false ChakraApp-0 ChakraApp-1 " + path,
			"12663840 11581920 1081920 false ChakraApp-1 ChakraApp-0 " + path,
			"12745760 11663840 1081920 false ChakraApp-1 ChakraApp-0 " + path,
			"13245760 12163840 1081920 false ChakraApp-0 ChakraApp-1 " + path,
		}, texts(where(rows, "is_added_synchronization_flow", "false"), "sim_time_sec", "start_time_sec", "perf_metric_usec", "is_added_synchronization_flow",
			"sending_app_name", "receiving_app_name", "metric_path", "group_size", "flow_comm_size"))
		hash := rows[len(rows)-1]["metric_aggregation_id"]
		tags := map[string]bool{}
		for _, m := range rows {
			if plain := m["group_size"] == "-1"; plain != (m["metric_aggregation_id"] == "-1") || plain != (m["comm_tag"] == "7") || m["metric_name"] != "ChakraFCT" {
				t.Errorf("a row of a plain send or of none: %v", m)
			} else if !plain && m["metric_aggregation_id"] != hash {
				t.Errorf("the collective has the identities %s and %s", m["metric_aggregation_id"], hash)
			}
			key := m["sending_app_name"] + " " + m["comm_tag"]
			if tag, err := strconv.ParseUint(m["comm_tag"], 10, 64); err != nil || tags[key] || m["group_size"] != "-1" && tag < 1<<62 {
				t.Errorf("the tag %s is used twice, or could be one of a trace (%v)", m["comm_tag"], err)
			}
			tags[key] = true
		}
	})
	t.Run("barrier", func(t *testing.T) {
		r := recordedSet(t).record()
		same(t, []string{"11581920 10581920 ChakraApp-1 ChakraApp-0 0", "12081920 11081920 ChakraApp-0 ChakraApp-1 0"},
			texts(where(r.rows("chakra-perf"), "is_added_synchronization_flow", "true"), "sim_time_sec", "start_time_sec", "sending_app_name", "receiving_app_name", "flow_comm_size"))
		// Neither counted as sends nor as a collective.
		same(t, []string{"0 3 2 3", "1 2 3 2"}, texts(r.rows("chakra-completion-stats"), "chakra_app_logical_id",
			"num_chakra_sends_completed", "num_chakra_receives_completed", "num_chakra_sends_fully_acked"))
		if n := len(r.rows("chakra-comm-collective-stats")); n != 1 {
			t.Errorf("%d collectives, want 1", n)
		}
	})
	t.Run("completion", func(t *testing.T) {
		rows := recordedSet(t).record().rows("chakra-completion-stats")
		same(t, []string{
			"ChakraGenerator.ChakraApp 0 13245760 12288 8192 3 2 3 1 10000000",
			"ChakraGenerator.ChakraApp 1 13245760 8192 12288 2 3 2 0 0",
		}, texts(rows, completionColumns...))
	})
	// What was received is what was sent, whatever the receive says.
	t.Run("sizes that differ", func(t *testing.T) {
		s := traces(t, 2)
		s.send(0, 1, 4500, 1)
		s.recv(1, 0, 69, 1)
		same(t, []string{"4500 0", "0 4500"}, texts(s.record().rows("chakra-completion-stats"), "chakra_full_payload_bytes_sent", "chakra_full_payload_bytes_received"))
	})
	// The first participant starts at 11,081.92 ns, the last at 11,581.92. Bandwidth alone
	// takes 2 x 8,192 B x 8 x 1 / (2 x 400 Gbit/s) = 163.84 ns; 1663.84 / 163.84 = 10.155273.
	t.Run("collective stats", func(t *testing.T) {
		for start, want := range map[string]string{"latest": "11581920 13245760", "earliest": "11081920 13245760"} {
			r := recordedSet(t).record("--collective-start", start)
			rows := r.rows("chakra-comm-collective-stats")
			same(t, []string{"ALL_REDUCE 8192 g 2 " + want + " 1"}, texts(rows, "comm_type", "comm_size", "pg_name", "pg_size", "simulation_start_time_us", "simulation_end_time_us", "is_valid"))
			if perf := r.rows("chakra-perf"); rows[0]["collective_hash"] != perf[len(perf)-1]["metric_aggregation_id"] {
				t.Errorf("the collective is %s here and %s in chakra-perf", rows[0]["collective_hash"], perf[len(perf)-1]["metric_aggregation_id"])
			}
		}
		rows := recordedSet(t).record().rows("chakra-comm-collective-percentiles-stats")
		same(t, []string{"ALL_REDUCE ring 8192 2 1 1663840 1663840 1663840"}, texts(rows, "comm_type", "expansion_algo", "comm_size", "pg_size", "count", "mean_run_time_us", "p50_run_time_us", "p100_run_time_us"))
		if ratio, err := strconv.ParseFloat(rows[0]["mean_ideal_ratio"], 64); err != nil || math.Abs(ratio-1663.84/163.84) > 1e-5 {
			t.Errorf("%s times the ideal time (%v), want %f", rows[0]["mean_ideal_ratio"], err, 1663.84/163.84)
		}
	})
	// At 12 us four of five sends have left, two of five receives are complete, one send is
	// acknowledged. The run ends at 13.2 us, and 6 us later the simulation: 18 us is the last
	// row.
	t.Run("last rows", func(t *testing.T) {
		rows := recordedSet(t).record("--record-interval", "6us").rows("chakra-cdf")
		var got []string
		for _, m := range rows {
			line := fmt.Sprint(m.ps("sim_time_sec"))
			for _, c := range []string{"CDF_send_bytes", "CDF_chakra_sends_completed", "CDF_chakra_receives_completed", "CDF_chakra_sends_fully_acked", "CDF_chakra_computations_completed"} {
				line += fmt.Sprintf(" %.3f", fraction(m[c]))
			}
			got = append(got, line)
		}
		same(t, []string{"6000000 0.000 0.000 0.000 0.000 0.000", "12000000 0.800 0.800 0.400 0.200 1.000", "18000000 1.000 1.000 1.000 1.000 1.000"}, got)
	})
	// The stop at 12 us finds rank 0 with two sends gone and one acknowledged, rank 1 with
	// two sends gone and two receives complete.
	t.Run("stopped", func(t *testing.T) {
		r := recordedSet(t).record("--stop-at", "12us")
		if r.status != exitFailed || r.report.Verdict != "stopped" {
			t.Errorf("status %d, verdict %q", r.status, r.report.Verdict)
		}
		same(t, []string{
			"ChakraGenerator.ChakraApp 0 12000000 8192 0 2 0 1 1 10000000",
			"ChakraGenerator.ChakraApp 1 12000000 8192 8192 2 2 0 0 0",
		}, texts(r.rows("chakra-completion-stats"), completionColumns...))
		nodes := r.annotated(t, 0)
		if n := nodes["1"]; n.S != "0000000000000" || n.E != "0000000000010" {
			t.Errorf("the computation from 0 to 10 us has %q to %q", n.S, n.E)
		}
		if n := nodes["3"]; n.E != "XXXXXXXXXXXXX" {
			t.Errorf("the collective has not finished, but ended at %q", n.E)
		}
	})
	t.Run("annotated", func(t *testing.T) {
		nodes := recordedSet(t).record().annotated(t, 0)
		// The end of a send is its acknowledgement, at 11.08 us.
		if n := nodes["2"]; n.S != "0000000000010" || n.E != "0000000000011" || n.Partner != 1 || n.CommSize != 4096 {
			t.Errorf("the send has %+v", n)
		}
		if n := nodes["1"]; !cmp.Equal(n.Children, []uint64{2}) {
			t.Errorf("node 1 releases %v, want 2", n.Children)
		}
		if n := nodes["2"]; !cmp.Equal(n.DataDeps, []uint64{1}) {
			t.Errorf("node 2 waits for %v, want 1", n.DataDeps)
		}
		// Two sends and two receives of the ring, one each of the barrier, the start and the
		// end of the collective, two plain nodes and the declaration of the group.
		if len(nodes) != 11 {
			t.Errorf("%d nodes, want 11", len(nodes))
		}
	})
	t.Run("profiling", func(t *testing.T) {
		r := recordedSet(t).record("--profile-interval", "5500ns")
		text := r.file("chakra-profiling-0-0.txt")
		if !strings.HasPrefix(text, "CHAKRA PROFILING\n") {
			t.Errorf("the listing begins with %.40q", text)
		}
		_, first, _ := strings.Cut(text, "sim_time_sec: ")
		first, second, _ := strings.Cut(first, "sim_time_sec: ")
		// At 5.5 us rank 0 computes; at 11 us its send is not acknowledged yet.
		if !strings.Contains(first, "C(1,[],[])") || strings.Contains(first, "S(") {
			t.Errorf("at 5.5 us:\n%s", first)
		}
		if !strings.Contains(second, "S(2,1,4096,[1],[])") || strings.Contains(second, "C(") {
			t.Errorf("at 11 us:\n%s", second)
		}
	})
	t.Run("apps", func(t *testing.T) {
		same(t, []string{"ChakraApp-0", "ChakraApp-1"}, texts(recordedSet(t).record().rows("chakra-apps"), "AppName"))
	})
}

var completionColumns = []string{"metric_path", "chakra_app_logical_id", "chakra_trace_completion_time_us", "chakra_full_payload_bytes_sent", "chakra_full_payload_bytes_received",
	"num_chakra_sends_completed", "num_chakra_receives_completed", "num_chakra_sends_fully_acked", "num_chakra_computations_completed", "total_chakra_computation_time_us"}

// where keeps the rows with a value.
func where(rows []row, column, value string) []row {
	var out []row
	for _, m := range rows {
		if strings.EqualFold(m[column], value) {
			out = append(out, m)
		}
	}
	return out
}

// annotatedNode is what these tests read of a node of an annotated trace.
type annotatedNode struct {
	ID                 uint64
	S, E               string
	CommSize           int64
	Partner            int
	DataDeps, Children []uint64
}

// annotated returns the nodes of a rank's annotated trace by id.
func (r recorded) annotated(t *testing.T, rank int) map[string]annotatedNode {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(r.dir, "post-annotated", fmt.Sprintf("*.%d.json", rank)))
	if err != nil || len(files) != 1 {
		t.Fatalf("%d annotated traces of rank %d (%v)", len(files), rank, err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	var doc struct{ Nodes []annotatedNode }
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	nodes := map[string]annotatedNode{}
	for _, n := range doc.Nodes {
		nodes[fmt.Sprint(n.ID)] = n
	}
	return nodes
}
