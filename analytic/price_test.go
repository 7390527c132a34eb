package analytic

import (
	"strings"
	"testing"

	"hybrid/graph"
	"hybrid/internal/diag"
	"hybrid/internal/units"
	"hybrid/machines"
)

func machine(t *testing.T, name string, sets ...string) *machines.Machine {
	t.Helper()
	var l diag.List
	m := machines.Load(name, sets, &l)
	if m == nil {
		t.Fatal(l.Err())
	}
	return m
}

// priced builds a graph of one compute operation on each of some ranks and prices it.
// work writes the work of a rank.
func priced(t *testing.T, m *machines.Machine, opt PricerOptions, ranks int, work func(p *program, rank int) graph.Work) (*graph.Graph, error) {
	t.Helper()
	b := newBuilder(ranks)
	for r := range ranks {
		p := b.rank(r, true)
		w := p.Work(work(p, r))
		p.Op(graph.Op{Kind: graph.Compute, Site: p.site, Arg: w, Label: -1})
		p.Done()
	}
	g, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	var failed error
	graph.Price(g, NewPricer(m, opt), func(_ int32, err error) { failed = err })
	return g, failed
}

// durations returns the price in picoseconds of the operation of each rank.
func durations(t *testing.T, g *graph.Graph) []int64 {
	t.Helper()
	out := make([]int64, g.Ranks)
	for r := range out {
		p, slot := g.Program(r)
		d, err := p.Duration(0, slot, &graph.Env{Rank: int32(r)})
		if err != nil {
			t.Fatal(err)
		}
		out[r] = d
	}
	return out
}

func one(t *testing.T, m *machines.Machine, opt PricerOptions, work func(p *program) graph.Work) int64 {
	t.Helper()
	g, err := priced(t, m, opt, 1, func(p *program, _ int) graph.Work { return work(p) })
	if err != nil {
		t.Fatal(err)
	}
	return durations(t, g)[0]
}

func TestPriceECM(t *testing.T) {
	icelake := machine(t, "icelake-sp-8360y")
	heat := func(n, cores int64, per string) func(p *program) graph.Work {
		return func(p *program) graph.Work {
			return graph.Work{Model: graph.ECM, Label: "HEAT", Units: p.Int(n), Cores: p.Int(cores), Per: per}
		}
	}
	// max(2.0, 1.0 + 5 + 8 + 4.1) = 18.1 cycles a line of 8 elements at 2.4 GHz: one
	// element takes 18.1/8/2.4 ns = 22625/24 ps, a line 7541.67 ps.
	g, err := priced(t, icelake, PricerOptions{}, 1, func(p *program, _ int) graph.Work { return heat(8, 0, "")(p) })
	if err != nil {
		t.Fatal(err)
	}
	p, _ := g.Program(0)
	if c := p.Costs[0].Terms[0]; c.Num != 22625 || c.Den != 24 {
		t.Errorf("an element costs %d/%d ps, want 22625/24", c.Num, c.Den)
	}
	for _, tt := range []struct {
		name     string
		n, cores int64
		per      string
		opt      PricerOptions
		want     int64
	}{
		{"a line", 8, 0, "", PricerOptions{}, 7542},
		{"24 elements", 24, 1, "it", PricerOptions{}, 22625},
		{"24 lines", 24, 0, "CL", PricerOptions{}, 181000},
		// Four cores need 16.4 cycles of the memory interface a line: not saturated.
		{"four cores", 24, 4, "", PricerOptions{}, 22625},
		// 18 cores: 18 * 4.1 = 73.8 cycles a line, 73.8/8/2.4 ns an element.
		{"a full domain", 24, 18, "", PricerOptions{}, 92250},
		{"as placed", 24, 0, "", PricerOptions{RanksPerDomain: 18}, 92250},
		{"said beats placed", 24, 1, "", PricerOptions{RanksPerDomain: 18}, 22625},
	} {
		if got := one(t, icelake, tt.opt, heat(tt.n, tt.cores, tt.per)); got != tt.want {
			t.Errorf("%s: %d ps, want %d", tt.name, got, tt.want)
		}
	}
	// Inline: max(2, 1 + 1 + 3 + 6 + 14.2) = 24.2 cycles for each unit, whatever a unit is.
	inline := &graph.Contributions{TOL: units.Int(2), TnOL: units.Int(1), TL1L2: units.Int(3), TL2L3: units.Int(6), TL3Mem: units.NewRat(142, 10)}
	for _, per := range []string{"", "CL", "it"} {
		got := one(t, icelake, PricerOptions{}, func(p *program) graph.Work {
			return graph.Work{Model: graph.ECM, ECM: inline, Units: p.Int(12), Per: per}
		})
		if want := int64(121000); got != want { // 12 * 24.2 / 2.4 ns
			t.Errorf("inline per %q: %d ps, want %d", per, got, want)
		}
	}
	// In-core bound: SOR takes 96 cycles whatever the transfers do.
	if got := one(t, icelake, PricerOptions{}, func(p *program) graph.Work {
		return graph.Work{Model: graph.ECM, Label: "SOR", Units: p.Int(8), Cores: p.Int(18)}
	}); got != 40000 {
		t.Errorf("SOR: %d ps a line, want 40000", got)
	}
}

// Cores that differ from rank to rank, or are computed, are priced rank by rank.
func TestPriceCoresOfRank(t *testing.T) {
	icelake := machine(t, "icelake-sp-8360y")
	want := []int64{22625, 92250, 22625} // 1, 18 and 4 cores, see above
	cores := []int64{1, 18, 4}
	g, err := priced(t, icelake, PricerOptions{}, 3, func(p *program, r int) graph.Work {
		return graph.Work{Model: graph.ECM, Label: "HEAT", Units: p.Int(24), Cores: p.Int(cores[r])}
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := durations(t, g); got[0] != want[0] || got[1] != want[1] || got[2] != want[2] {
		t.Errorf("a column of cores: %v, want %v", got, want)
	}
	expr := coresOf(cores)
	g, err = priced(t, icelake, PricerOptions{}, 3, func(p *program, r int) graph.Work {
		return graph.Work{Model: graph.ECM, Label: "HEAT", Units: p.Int(24), Cores: p.Expr(&expr)}
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := durations(t, g); got[0] != want[0] || got[1] != want[1] || got[2] != want[2] {
		t.Errorf("computed cores: %v, want %v", got, want)
	}
}

type coresOf []int64

func (c *coresOf) Eval(env *graph.Env) (int64, error) { return (*c)[env.Rank], nil }
func (c *coresOf) String() string                     { return "cores" }

func TestPriceRoofline(t *testing.T) {
	gpu := machine(t, "gpu-node-h100", "hybrid.gpu.memory_bandwidth=1600GB/s", "hybrid.gpu.peak.dp=900Tflop/s", "hybrid.gpu.peak.sp=1800Tflop/s")
	for _, tt := range []struct {
		name         string
		flops, bytes int64
		precision    string
		want         int64
	}{
		{"compute bound", 9_000_000_000, 1_600_000, "", 10_000_000},      // 9e9 / 900e12 s
		{"memory bound", 9_000_000, 1_600_000_000, "", 1_000_000_000},    // 1.6e9 / 1600e9 s
		{"at the ridge, 562.5 flop a byte", 562_500, 1000, "", 625},      // both
		{"single precision", 9_000_000_000, 0, "sp", 5_000_000},          // twice the peak
		{"no arithmetic", 0, 1_600_000, "", 1_000_000},                   //
		{"nothing", 0, 0, "", 0},                                         //
		{"largest size", 0, 1 << 62, "", units.MulDiv(1<<62, 625, 1000)}, // exact in 128 bits
		{"rounded to the nearest", 0, 1, "", 1},                          // 0.625 ps
		{"memory bound, sizes of a layer", 2 * 4096 * 4096, 3 * 4096 * 4096 * 2, "", // 100663296 B
			62914560},
	} {
		got := one(t, gpu, PricerOptions{}, func(p *program) graph.Work {
			return graph.Work{Model: graph.Roofline, Flops: p.Int(tt.flops), Bytes: p.Int(tt.bytes), Precision: tt.precision}
		})
		if got != tt.want {
			t.Errorf("%s: %d ps, want %d", tt.name, got, tt.want)
		}
	}
}

// A rank's share of the memory is that of the measured curve: no core draws the
// bandwidth of the whole domain alone, and a full domain shares the saturated one.
func TestPriceTraffic(t *testing.T) {
	icelake := machine(t, "icelake-sp-8360y")
	bytes := int64(1_000_000_000)
	cost := func(n int64) int64 {
		return one(t, icelake, PricerOptions{}, func(p *program) graph.Work {
			return graph.Work{Model: graph.Traffic, Bytes: p.Int(bytes), Cores: p.Int(n)}
		})
	}
	saturated, _ := icelake.MemoryBandwidth(18)
	curve := func(n int) units.Rat { b, _ := icelake.StreamBandwidth("triad", n); return b }
	best := curve(1)
	for n := 2; n <= 18; n++ {
		if b := curve(n); b.Cmp(best) > 0 {
			best = b
		}
	}
	// 18 ranks: 18 times the bytes at the saturated bandwidth.
	if got, want := cost(18), units.MulDiv(18*bytes, 1e12, saturated.Num/saturated.Den); !near(got, want) {
		t.Errorf("a full domain: %d ps, want %d", got, want)
	}
	alone := units.MulDiv(units.MulDiv(bytes, 1e12, saturated.Num/saturated.Den), best.Num/best.Den, curve(1).Num/curve(1).Den)
	if got := cost(1); !near(got, alone) {
		t.Errorf("one core: %d ps, want %d", got, alone)
	}
	for n := int64(1); n < 18; n++ {
		if cost(n+1) < cost(n) {
			t.Errorf("%d ranks take less time each than %d", n+1, n)
		}
	}
}

// near allows for the rounding of the expectation, a millionth.
func near(a, b int64) bool { return a-b < b/1e6+2 && b-a < b/1e6+2 }

func TestPriceFixed(t *testing.T) {
	if got := one(t, machine(t, "icelake-sp-8360y"), PricerOptions{}, func(p *program) graph.Work { return graph.Work{Time: p.Int(12345)} }); got != 12345 {
		t.Errorf("%d ps", got)
	}
}

func TestPriceErrors(t *testing.T) {
	icelake, gpu := machine(t, "icelake-sp-8360y"), machine(t, "gpu-node-h100")
	for _, tt := range []struct {
		name string
		m    *machines.Machine
		work func(p *program, r int) graph.Work
		want []string
	}{
		{"a misspelt kernel", icelake, func(p *program, _ int) graph.Work {
			return graph.Work{Model: graph.ECM, Label: "HAET", Units: p.Int(1)}
		},
			[]string{"icelake-sp-8360y", `"HAET"`, `did you mean "HEAT"?`, "recorded: ADD, "}},
		{"a machine without kernels", gpu, func(p *program, _ int) graph.Work {
			return graph.Work{Model: graph.ECM, Label: "HEAT", Units: p.Int(1)}
		},
			[]string{"gpu-node-h100", "no recorded ECM kernels"}},
		{"an unknown precision", gpu, func(p *program, _ int) graph.Work {
			return graph.Work{Model: graph.Roofline, Flops: p.Int(1), Precision: "bf61"}
		}, []string{"gpu-node-h100", `"bf61"`, `did you mean "bf16"?`}},
		{"contributions per something", icelake, func(p *program, _ int) graph.Work {
			return graph.Work{Model: graph.ECM, ECM: &graph.Contributions{}, Units: p.Int(1), Per: "page"}
		}, []string{`per "page"`, "per CL or per it"}},
		{"cores that differ", icelake, func(p *program, r int) graph.Work {
			return graph.Work{Model: graph.Traffic, Bytes: p.Int(1), Cores: p.Int(int64(r + 1))}
		}, []string{"must be the same for all ranks"}},
	} {
		_, err := priced(t, tt.m, PricerOptions{}, 2, tt.work)
		if err == nil {
			t.Errorf("%s: no error", tt.name)
			continue
		}
		for _, w := range tt.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %q lacks %q", tt.name, err, w)
			}
		}
	}
}
