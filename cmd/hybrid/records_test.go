package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hybrid/networks"
	"hybrid/report/records"
)

// The columns in docs/records.md are those of the program, and the example rows are
// from a run. HYBRID_UPDATE=1 rewrites both.
func TestRecordDocs(t *testing.T) {
	path := filepath.Join(root(t), "docs", "records.md")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile(`(?s)<!-- generated: records -->\n.*<!-- end -->`)
	if !block.Match(text) {
		t.Fatal("docs/records.md has no generated part")
	}
	want := block.ReplaceAllLiteralString(string(text), "<!-- generated: records -->\n"+recordDocs(t)+"<!-- end -->")
	if want == string(text) {
		return
	}
	if os.Getenv("HYBRID_UPDATE") != "" {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("docs/records.md is out of date (HYBRID_UPDATE=1 rewrites it):\n%s", cmp.Diff(string(text), want))
}

// recordDocs describes each record: its columns, and the first rows of a run.
func recordDocs(t *testing.T) string {
	t.Chdir(root(t))
	dir := t.TempDir()
	args := []string{"simulate", "testdata/traces/training", "--records", dir, "--record-interval", "100us", "--nd-interval", "100us", "--profile-interval", "50us", "-q"}
	if status := Main(t.Context(), args, strings.NewReader(""), io.Discard, os.Stderr); status != 0 {
		t.Fatalf("status %d", status)
	}
	var b strings.Builder
	for _, r := range records.Records() {
		fmt.Fprintf(&b, "### %s\n\n%s.\n\n", r.Name, strings.ToUpper(r.Doc[:1])+r.Doc[1:])
		if r.Columns != nil {
			b.WriteString("| column | what it holds |\n|---|---|\n")
		}
		for _, c := range r.Columns {
			fmt.Fprintf(&b, "| `%s` | %s |\n", c.Name, cell(c.Doc))
		}
		name, most := "training-"+r.Name+"-0.csv", 3
		switch r.Name {
		case "chakra-profiling":
			name, most = "training-chakra-profiling-0-0.txt", 12
		case "annotated-traces":
			name, most = "post-annotated/training.0.json", 4
		}
		fmt.Fprintf(&b, "\n```\n%s```\n\n", firstLines(t, filepath.Join(dir, name), most))
	}
	return b.String()
}

// firstLines returns the beginning of a file, wall-clock times replaced.
func firstLines(t *testing.T, path string, most int) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := slices.Collect(strings.Lines(string(text)))
	lines = lines[:min(len(lines), most)]
	wall := regexp.MustCompile(`"r": "\d{13}"`)
	return wall.ReplaceAllString(strings.Join(lines, ""), `"r": "0000000001234"`)
}

// wiring is a topology of which only the links are known: pairs of nodes, each with a
// link both ways.
type wiring struct {
	networks.Topology
	hosts, switches int
	cables          [][2]int32
}

func (w wiring) Hosts() int    { return w.hosts }
func (w wiring) Switches() int { return w.switches }

func (w wiring) Links() (links []networks.Link) {
	for _, c := range w.cables {
		links = append(links, networks.Link{From: c[0], To: c[1]}, networks.Link{From: c[1], To: c[0]})
	}
	return links
}

// Switches with hosts are racks, the ones furthest from hosts are spines, those between
// the fabric.
func TestTiers(t *testing.T) {
	for _, c := range []struct {
		name string
		topo wiring
		want string
	}{
		{"direct", wiring{hosts: 2, cables: [][2]int32{{0, 1}}}, "server-0/3/0 server-1/3/1"},
		{"star", wiring{hosts: 2, switches: 1, cables: [][2]int32{{0, 2}, {1, 2}}}, "server-0/3/0 server-1/3/1 rack-0/2/0"},
		{"leaf-spine", wiring{hosts: 2, switches: 3, cables: [][2]int32{{0, 2}, {1, 3}, {2, 4}, {3, 4}}},
			"server-0/3/0 server-1/3/1 rack-0/2/0 rack-1/2/1 spine-0/0/0"},
		{"three tiers", wiring{hosts: 1, switches: 4, cables: [][2]int32{{0, 1}, {1, 2}, {1, 3}, {2, 4}, {3, 4}}},
			"server-0/3/0 rack-0/2/0 fabric-0/1/0 fabric-1/1/1 spine-0/0/0"},
	} {
		var got []string
		for _, n := range recordNodes(c.topo) {
			got = append(got, fmt.Sprintf("%s/%d/%d", n.Name, n.Tier, n.Subtier))
		}
		if d := cmp.Diff(c.want, strings.Join(got, " ")); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
}

// recordRows reads a CSV record as maps from column to cell.
func recordRows(t *testing.T, path string) (rows []map[string]string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	all, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, cells := range all[1:] {
		row := map[string]string{}
		for i, name := range all[0] {
			row[name] = cells[i]
		}
		rows = append(rows, row)
	}
	return rows
}

// wholeNumber is a number in a cell.
func wholeNumber(t *testing.T, cell string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(cell, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Records and report speak of the same run: messages and their bytes are the transfers
// that are no barrier's, in chakra-perf as in chakra-completion-stats; the last rank
// ends at the makespan; the collectives are counted alike.
func TestRecordsAgreeWithTheReport(t *testing.T) {
	t.Chdir(root(t))
	for _, args := range [][]string{
		{"testdata/traces/training"}, {"testdata/traces/training", "--ideal"}, {"testdata/traces/training", "--synchronize=false", "--scale", "0.3"},
		{"testdata/traces/allreduce", "--cores", "2"}, {"testdata/traces/ring"}, {"testdata/blueprints/ddp.hbp", "--ranks-per-node", "2"},
	} {
		dir := t.TempDir()
		var out bytes.Buffer
		full := append([]string{"simulate", "-q", "-o", "json", "--records", dir}, args...)
		if status := Main(t.Context(), full, strings.NewReader(""), &out, os.Stderr); status != 0 {
			t.Fatalf("%v: status %d", args, status)
		}
		var report struct {
			Graph struct {
				Messages int64
				Bytes    int64 `json:"message_bytes"`
			}
			Runs []struct {
				Makespan int64 `json:"makespan_ps"`
			}
			Collectives []struct{ Count int64 }
		}
		if err := json.Unmarshal(out.Bytes(), &report); err != nil {
			t.Fatal(err)
		}
		checkRecords(t, dir, args, report.Graph.Messages, report.Graph.Bytes, report.Runs[0].Makespan)
		instances := int64(0)
		for _, c := range report.Collectives {
			instances += c.Count
		}
		name, _ := filepath.Glob(filepath.Join(dir, "*-chakra-comm-collective-stats-0.csv"))
		if got := int64(len(recordRows(t, name[0]))); got != instances {
			t.Errorf("%v: %d collectives recorded, %d reported", args, got, instances)
		}
	}
}

func checkRecords(t *testing.T, dir string, args []string, messages, bytes, makespan int64) {
	t.Helper()
	perf, _ := filepath.Glob(filepath.Join(dir, "*-chakra-perf-0.csv"))
	ranks, _ := filepath.Glob(filepath.Join(dir, "*-chakra-completion-stats-0.csv"))
	var count, sum int64
	for _, row := range recordRows(t, perf[0]) {
		if row["is_added_synchronization_flow"] == "false" {
			count++
			sum += wholeNumber(t, row["flow_comm_size"])
		}
	}
	if count != messages || sum != bytes {
		t.Errorf("%v: %d transfers of %d B in chakra-perf, %d of %d B in the report", args, count, sum, messages, bytes)
	}
	count, sum = 0, 0
	last := ""
	for _, row := range recordRows(t, ranks[0]) {
		count += wholeNumber(t, row["num_chakra_sends_completed"])
		sum += wholeNumber(t, row["chakra_full_payload_bytes_sent"])
		last = row["chakra_trace_completion_time_us"]
	}
	if count != messages || sum != bytes {
		t.Errorf("%v: %d sends of %d B in chakra-completion-stats, %d of %d B in the report", args, count, sum, messages, bytes)
	}
	whole, part, _ := strings.Cut(last, ".")
	if ps := wholeNumber(t, whole+(part + "000000")[:6]); ps != makespan {
		t.Errorf("%v: the last rank ends at %d ps, makespan %d ps", args, ps, makespan)
	}
}
