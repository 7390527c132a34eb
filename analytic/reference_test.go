package analytic

import (
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"

	"hybrid/graph"
)

// readTable reads a file of testdata.
func readTable(t *testing.T, file string) [][]string {
	t.Helper()
	f, err := os.Open("testdata/" + file)
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
	return rows
}

func number(t *testing.T, s string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func setNamed(t *testing.T, name string) parameters {
	t.Helper()
	i := slices.Index([]string{"A", "B", "C"}, name)
	if i < 0 {
		t.Fatalf("no parameter set %q", name)
	}
	return []parameters{setA, setB, setC}[i]
}

// patternLimit keeps the tests fast; the table goes further.
func patternLimit(name string) int64 {
	if name == "linear_alltoall" || name == "allreduce_ring" {
		return 64
	}
	return 256
}

// Nothing but the linear barrier computes, and that for no time, so that both
// processors must give LogGOPSim's figures.
func TestLogGOPSimMaximum(t *testing.T) {
	for _, row := range readTable(t, "loggopsim-max.csv") {
		name, bytes, set, ranks, want := row[0], number(t, row[1]), row[2], number(t, row[3]), number(t, row[4])
		if ranks > patternLimit(name) {
			continue
		}
		g := patternGraph(t, name, int(ranks), bytes)
		for _, one := range []bool{false, true} {
			got := slices.Max(nanoseconds(t, run(t, "loggp", Job{Graph: g, Network: setNamed(t, set).network(), LogGOPSim: one})))
			if got != want {
				t.Errorf("%s %d B, %d ranks, set %s, one processor %v: %d ns, want %d", name, bytes, ranks, set, one, got, want)
			}
		}
	}
}

func TestLogGOPSimDigests(t *testing.T) {
	for _, row := range readTable(t, "loggopsim-digest.csv") {
		name, bytes, ranks, set, sum, digest := row[0], number(t, row[1]), number(t, row[2]), row[3], number(t, row[4]), row[5]
		if ranks > patternLimit(name) {
			continue
		}
		g := patternGraph(t, name, int(ranks), bytes)
		for _, one := range []bool{false, true} {
			h, total := sha256.New(), int64(0)
			for _, n := range nanoseconds(t, run(t, "loggp", Job{Graph: g, Network: setNamed(t, set).network(), LogGOPSim: one})) {
				fmt.Fprintln(h, n)
				total += n
			}
			if got := hex.EncodeToString(h.Sum(nil))[:16]; got != digest || total != sum {
				t.Errorf("%s %d B, %d ranks, set %s, one processor %v: %s, sum %d; want %s, %d", name, bytes, ranks, set, one, got, total, digest, sum)
			}
		}
	}
}

// Finish times of every rank, 8 ranks (linear barrier, rings and trees of LogGOPSim).
func TestLogGOPSimRanks(t *testing.T) {
	for _, tt := range []struct {
		name  string
		bytes int64
		set   string
		want  []int64
	}{
		{"binomialtreebcast", 1024, "A", []int64{15776, 20276, 20276, 24776, 25914, 30414, 30414, 34914}},
		{"binomialtreebcast", 1024, "C", []int64{14592, 13592, 13592, 12592, 20138, 19138, 19138, 18138}},
		{"binomialtreebcast", 65536, "B", []int64{198205, 199705, 199705, 201205, 199905, 201405, 201405, 202905}},
		{"binomialtreereduce", 1024, "A", []int64{34914, 24776, 13138, 13138, 1500, 1500, 1500, 1500}},
		{"binomialtreereduce", 65536, "A", []int64{1196130, 801420, 402710, 402710, 4000, 4000, 4000, 4000}},
		{"binarytreebcast", 1024, "A", []int64{8638, 20276, 27414, 24776, 30414, 30414, 37552, 34914}},
		{"binarytreebcast", 65536, "C", []int64{136570, 271640, 407710, 270640, 406210, 406210, 542280, 405210}},
		{"gather", 65536, "A", []int64{2766970, 4000, 398710, 793420, 1188130, 1582840, 1977550, 2372260}},
		{"scatter", 1024, "A", []int64{44328, 11638, 18776, 25914, 33052, 40190, 47328, 54466}},
		{"linbarrier", 1, "A", []int64{25000, 20000, 21500, 23000, 24500, 26000, 27500, 29000}},
		{"doublering", 1024, "A", []int64{102242, 92104, 80466, 68828, 57190, 59690, 71328, 82966}},
		{"linear_alltoall", 1024, "A", slices.Repeat([]int64{81466}, 8)},
		{"dissemination", 65536, "A", slices.Repeat([]int64{1196130}, 8)},
	} {
		g := patternGraph(t, tt.name, 8, tt.bytes)
		got := nanoseconds(t, run(t, "loggp", Job{Graph: g, Network: setNamed(t, tt.set).network(), LogGOPSim: true}))
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s %d B, set %s: %v, want %v", tt.name, tt.bytes, tt.set, got, tt.want)
		}
	}
}

// Predicted time is not monotone in L where ranks serve greedily: a figure to know,
// not a fault of the walk.
func TestGreedyAnomaly(t *testing.T) {
	g := patternGraph(t, "linear_alltoall", 16, 1024)
	for _, tt := range [][2]int64{{0, 137070}, {1000, 152070}, {2000, 167070}, {2500, 174570}, {4000, 197070}, {6000, 142708},
		{8000, 143932}, {10000, 153104}, {20000, 153984}, {40000, 171380}} {
		p := setA
		p.L = tt[0]
		got := slices.Max(nanoseconds(t, run(t, "loggp", Job{Graph: g, Network: p.network()})))
		if got != tt[1] {
			t.Errorf("L = %d: %d, want %d", tt[0], got, tt[1])
		}
	}
}

// Collectives of the table against an independent implementation of the rules.
func TestLogGOPSCollectives(t *testing.T) {
	for _, row := range readTable(t, "loggops-collectives.csv") {
		typ, ok := graph.CollTypeNamed(row[0])
		if !ok {
			t.Fatalf("no collective %q", row[0])
		}
		bytes, ranks := number(t, row[3]), number(t, row[2])
		if typ == graph.Barrier {
			bytes = 1
		}
		g := collectiveGraph(t, typ, row[1], int(ranks), 0, bytes)
		for i, set := range []string{"A", "B", "C"} {
			times := nanoseconds(t, run(t, "loggp", Job{Graph: g, Network: setNamed(t, set).network()}))
			if got, want := slices.Max(times), number(t, row[4+i]); got != want {
				t.Errorf("%s, set %s: %d, want %d", row[:4], set, got, want)
			}
			sum := int64(0)
			for _, n := range times {
				sum += n
			}
			if want := number(t, row[7]); set == "A" && sum != want {
				t.Errorf("%s, set A: sum %d, want %d", row[:4], sum, want)
			}
		}
	}
}
