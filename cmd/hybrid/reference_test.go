package main

import (
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"hybrid/internal/units"
)

// shared returns a file of the public traces, which are not part of the project: in
// $HYBRID_SHARED, or in the folder shared beside the repository.
func shared(t *testing.T, path ...string) string {
	t.Helper()
	dir := os.Getenv("HYBRID_SHARED")
	if dir == "" {
		dir = filepath.Join(root(t), "..", "shared")
	}
	file := filepath.Join(append([]string{dir, "traces"}, path...)...)
	if _, err := os.Stat(file); err != nil {
		t.Skipf("the public traces are not at hand: %v", err)
	}
	return file
}

func reference(t *testing.T, name string) string {
	return filepath.Join(root(t), "testdata", "reference", name)
}

// table reads a CSV file of reference figures, without its head.
func table(t *testing.T, name string) [][]string {
	t.Helper()
	f, err := os.Open(reference(t, name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.Comment = '#'
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows[1:]
}

func number(t *testing.T, text string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// results is what the tests read of a JSON report.
type results struct {
	Runs []struct {
		Model    string
		Makespan int64 `json:"makespan_ps"`
	}
	Operations []struct {
		Kind  string
		Count int64
		Total map[string]int64 `json:"total_ps"`
	}
	Collectives []struct {
		Count int64
	}
}

func runReport(t *testing.T, args ...string) results {
	t.Helper()
	status, stdout, stderr := invoke(t.Context(), "", append(args, "-q", "-o", "json")...)
	if status != exitDone {
		t.Fatalf("hybrid %s: status %d\n%s%s", strings.Join(args, " "), status, stderr, stdout)
	}
	var r results
	if err := json.Unmarshal([]byte(stdout), &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// A step of b bytes takes 500 ns + b / (50 * 2^30 B/s). The time of a byte is
// 8 * 10^12 / (50 * 2^30 * 8) = 5^10 / 2^19 ps = 9765625/524288 ps, so that the whole
// path takes (latencies * 500,000 + compute) ps + bytes * 9765625/524288 ps exactly.
func TestASTRASim(t *testing.T) {
	for _, row := range table(t, "astra-sim.csv") {
		trace, algorithm, topology := row[0], row[1], row[2]
		steps, latencies, bytes, compute, published := number(t, row[3]), number(t, row[4]), number(t, row[5]), number(t, row[6]), number(t, row[7])
		t.Run(trace+"/"+algorithm+"/"+topology, func(t *testing.T) {
			args := []string{"compare", "--models", "hockney", "--network", reference(t, "link.yml"), "--set", "topology.kind=" + topology,
				"--synchronize=false", "--serialize=false", shared(t, "astra-sim", filepath.FromSlash(trace))}
			if algorithm != "" {
				args = append(args, "--algorithm", algorithm)
			}
			r := runReport(t, args...)
			want := latencies*500_000 + compute*1000 + units.MulDiv(bytes, 9765625, 524288)
			if got := r.Runs[0].Makespan; got != want {
				t.Errorf("the packet simulation takes %d ps, want %d", got, want)
			}
			// Hockney knows no second hop and no shared link.
			if got := r.Runs[1].Makespan; topology == "direct" && got != want {
				t.Errorf("Hockney predicts %d ps, want %d", got, want)
			}
			if d := published*1000 - want; d < -1000*steps || d > 1000*(steps+1) {
				t.Errorf("ASTRA-sim's %d ns are %d ps off, more than %d ns", published, d, steps+1)
			}
		})
	}
}

// ASTRA-sim truncates every operation to whole nanoseconds; ours may be longer by up
// to one for each.
func TestRoofline(t *testing.T) {
	for _, row := range table(t, "roofline.csv") {
		t.Run(row[0], func(t *testing.T) {
			r := runReport(t, "predict", "--models", "hockney", "--machine", reference(t, "roofline.yml"), "--network", reference(t, "link.yml"),
				"--trace-family", "collected", shared(t, filepath.FromSlash(row[0])))
			var sum, count int64
			for _, o := range r.Operations {
				if o.Kind == "compute" {
					sum, count = sum+o.Total["hockney"], count+o.Count
				}
			}
			if low := 1000 * number(t, row[2]); sum < low || sum > low+1000*count {
				t.Errorf("computing takes %d ps in all, want %d ns and less than %d ns more", sum, low/1000, count)
			}
		})
	}
}

// Public trace sets run in all engines as they are.
func TestPublicTraceSets(t *testing.T) {
	sets := []string{"astra-sim/custom_ring_allreduce_8npus_1MB", "stage/dp2tp2pp2", "stage/fsdp4", "stage/moe_ep4", "stage/json_named_protobuf",
		"chakra/text_hybrid_data_model_4npus", "chakra/schema-0.0.1"}
	micro, err := filepath.Glob(filepath.Join(shared(t, "astra-sim", "microbenchmarks"), "*", "*"))
	if err != nil || len(micro) == 0 {
		t.Fatalf("%d micro-benchmarks (%v)", len(micro), err)
	}
	for _, s := range sets {
		micro = append(micro, shared(t, filepath.FromSlash(s)))
	}
	for _, set := range micro {
		r := runReport(t, "compare", set)
		if len(r.Runs) != 3 {
			t.Errorf("%s: %d runs, want 3", set, len(r.Runs))
		}
		for _, run := range r.Runs {
			if run.Makespan <= 0 {
				t.Errorf("%s: the %s run takes %d ps", set, run.Model, run.Makespan)
			}
		}
	}
}
