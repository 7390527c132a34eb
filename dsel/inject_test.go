package dsel

import (
	"math"
	"testing"

	"hybrid/graph"
	"hybrid/internal/diag"
)

// injections returns the disturbances of the first work of a rank's program.
func injections(t *testing.T, src string, rank int) []graph.Injection {
	t.Helper()
	p, _ := loadText(t, "i.hbp", src).Program(rank)
	return p.Works[0].Injections
}

func extra(t *testing.T, in graph.Injection, rank int32, iteration, base int64) int64 {
	t.Helper()
	n, err := in.Extra(&graph.Env{Rank: rank, Op: 1, Loops: []int64{iteration}}, base)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// A factor of 20 adds 19 times the operation's own duration, in the iteration and
// on the rank that the declaration selects, and nowhere else.
func TestInjectDelay(t *testing.T) {
	const src = "ranks 4\nprogram { repeat 9 as step { compute 10us } }\ninject delay 20x on 2 when step == 5\n"
	if in := injections(t, src, 1); len(in) != 0 {
		t.Errorf("rank 1 has %v", in)
	}
	in := injections(t, src, 2)
	if len(in) != 1 || extra(t, in[0], 2, 5, 10_000_000) != 190_000_000 || extra(t, in[0], 2, 4, 10_000_000) != 0 {
		t.Errorf("rank 2 has %v", in)
	}
}

// Half a factor: 1.5x of 10 us adds 5 us. A time adds itself.
func TestInjectTimes(t *testing.T) {
	in := injections(t, "ranks 1\nprogram { repeat 2 { compute 10us } }\ninject delay 1.5x\ninject delay 3us\n", 0)
	if len(in) != 2 || extra(t, in[0], 0, 0, 10_000_000) != 5_000_000 || extra(t, in[1], 0, 0, 10_000_000) != 3_000_000 {
		t.Errorf("got %v", in)
	}
}

// Noise has the moments of its distribution: over 20,000 draws of uniform(0, 4us)
// the mean is 2 us and the deviation 4us/sqrt(12); normal and exponential alike.
// The stream is fixed by the seed, so the tolerance (four standard errors and more)
// either holds for ever or never.
func TestNoiseMoments(t *testing.T) {
	for _, test := range []struct {
		text            string
		mean, deviation float64
	}{{"uniform(0us, 4us)", 2e6, 4e6 / math.Sqrt(12)}, {"normal(50us, 3us)", 50e6, 3e6}, {"exponential(5us)", 5e6, 5e6}} {
		in := injections(t, "ranks 1\nprogram { repeat 2 { compute 10us } }\ninject noise "+test.text+" seed 42\n", 0)
		const n = 20_000
		var sum, squares float64
		for i := range int64(n) {
			x := float64(extra(t, in[0], 0, i, 1))
			sum += x
			squares += x * x
		}
		mean := sum / n
		deviation := math.Sqrt(squares/n - mean*mean)
		if math.Abs(mean-test.mean) > 4*test.deviation/math.Sqrt(n) || math.Abs(deviation/test.deviation-1) > 0.05 {
			t.Errorf("%s: mean %.0f, deviation %.0f", test.text, mean, deviation)
		}
	}
}

// Noise depends on seed, rank, operation and iteration, and on nothing else.
func TestNoiseCounters(t *testing.T) {
	const src = "ranks 2\nprogram { repeat 2 { compute 10us } }\ninject noise uniform(0us, 1s)"
	a, b := injections(t, src+" seed 1\n", 0)[0], injections(t, src+" seed 2\n", 0)[0]
	again := injections(t, src+" seed 1\n", 1)[0]
	seen := map[int64]bool{}
	for rank := range int32(2) {
		for i := range int64(50) {
			x := extra(t, a, rank, i, 1)
			if x != extra(t, again, rank, i, 1) {
				t.Fatal("the same counters gave another number")
			}
			seen[x] = true
			seen[extra(t, b, rank, i, 1)] = true
		}
	}
	if len(seen) != 200 {
		t.Errorf("%d distinct numbers of 200", len(seen))
	}
}

func TestExpect(t *testing.T) {
	const src = "ranks 1\nprogram { region \"a\" { compute 1us } }\nexpect makespan < 2s and region(\"a\").time >= 1us, \"slow\"\n"
	list := &diag.List{}
	p := LoadProgram("e.hbp", []byte(src), Options{}, list)
	if p == nil || len(p.Expects) != 1 {
		t.Fatal(render(list, src))
	}
	e := p.Expects[0]
	region := func(ps int64) func(string) (int64, bool) { return func(n string) (int64, bool) { return ps, n == "a" } }
	for _, test := range []struct {
		makespan, region int64
		want             bool
	}{{1e6, 1e6, true}, {2e12, 1e6, false}, {1e6, 999_999, false}} {
		got, err := e.Holds(test.makespan, region(test.region))
		if err != nil || got != test.want {
			t.Errorf("%+v: %v, %v", test, got, err)
		}
	}
	if e.Message != "slow" || len(e.regions) != 1 {
		t.Errorf("message %q, regions %v", e.Message, e.regions)
	}
}

// A disturbance sees the loops around the call of the def in which an operation
// stands, innermost first.
func TestInjectThroughCalls(t *testing.T) {
	const src = "ranks 2\ndef step() { compute 10us }\ndef outer() { repeat 3 as k { step() } }\nprogram { repeat 9 as i { outer() } }\ninject delay 5us when i == 2 && k == 1\n"
	in := injections(t, src, 1)
	if len(in) != 1 {
		t.Fatalf("got %v", in)
	}
	for i := range int64(4) {
		for k := range int64(3) {
			want := int64(0)
			if i == 2 && k == 1 {
				want = 5_000_000
			}
			if n, err := in[0].Extra(&graph.Env{Rank: 1, Loops: []int64{i, k}}, 1); err != nil || n != want {
				t.Errorf("iteration %d, %d: %d, %v", i, k, n, err)
			}
		}
	}
}

// A factor that falls below 1 on some rank is an error there, not work undone.
func TestInjectFactorBelowOne(t *testing.T) {
	in := injections(t, "ranks 2\nprogram { compute 10us }\ninject delay rank * 2x\n", 0)
	if _, err := in[0].Extra(&graph.Env{}, 10); err == nil {
		t.Error("a factor of 0 is accepted")
	}
	if n := extra(t, in[0], 1, 0, 10); n != 10 {
		t.Errorf("a factor of 2 adds %d to 10", n)
	}
}
