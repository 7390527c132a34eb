package machines

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hybrid/internal/diag"
	"hybrid/internal/units"
)

func messages(l *diag.List) string {
	var b strings.Builder
	for _, d := range l.All() {
		fmt.Fprintln(&b, d.Error())
	}
	return b.String()
}

func load(t *testing.T, name string, sets ...string) *Machine {
	t.Helper()
	var l diag.List
	m := Load(name, sets, &l)
	if m == nil || l.Len() != 0 {
		t.Fatalf("%s: %s", name, messages(&l))
	}
	return m
}

func TestEmbedded(t *testing.T) {
	seen := map[string]bool{}
	for _, i := range Embedded() {
		m := load(t, i.Name)
		if m.Name != i.Name || m.Summary == "" || m.Summary != i.Summary || m.Source == "" {
			t.Errorf("%s: name %q, summary %q, source %q", i.Name, m.Name, m.Summary, m.Source)
		}
		if _, ok := m.MemoryBandwidth(1); !ok {
			t.Errorf("%s has no memory bandwidth", i.Name)
		}
		if _, ok := m.PeakFlops("dp", 1); !ok {
			t.Errorf("%s has no peak", i.Name)
		}
		seen[i.Name] = true
	}
	if !seen[Default()] || !seen["a64fx-fx1000"] || !seen["gpu-node-h100"] {
		t.Errorf("embedded: %v", seen)
	}
}

func TestIcelake(t *testing.T) {
	m := load(t, "icelake-sp-8360y")
	if m.Clock != units.Int(2_400_000_000) || m.Cores() != 72 || m.CoresPerDomain != 18 || m.DomainsPerSocket != 2 || m.CachelineBytes != 64 {
		t.Errorf("core figures: %+v", m)
	}
	// 32 flop a cycle at 2.4 GHz are 76.8 Gflop/s a core.
	if p, ok := m.PeakFlops("DP", 2); !ok || p != units.Int(153_600_000_000) {
		t.Errorf("peak of two cores %v", p)
	}
	if _, ok := m.PeakFlops("hp", 1); ok {
		t.Error("a peak for half precision, which the file does not have")
	}
	// The largest triad bandwidth of up to 18 cores is 81.71 GB/s; with write-allocates
	// it is 5/4 of that. Nineteen cores span two of the four domains.
	for cores, domains := range map[int]int64{1: 1, 18: 1, 19: 2, 72: 4, 100: 4} {
		if b, ok := m.MemoryBandwidth(cores); !ok || b != units.Int(domains*102_137_500_000) {
			t.Errorf("memory bandwidth of %d cores: %v", cores, b)
		}
	}
	for cores, want := range map[int]int64{1: 15_370_000_000, 16: 93_930_000_000, 18: 92_450_000_000, 36: 92_450_000_000} {
		if b, ok := m.StreamBandwidth("load", cores); !ok || b != units.Int(want) {
			t.Errorf("load bandwidth of %d cores: %v, want %d", cores, b, want)
		}
	}
	if d := cmp.Diff([]Cache{{"L1", 48 << 10, 1}, {"L2", 1280 << 10, 1}, {"L3", 27 << 20, 18}}, m.Caches); d != "" {
		t.Errorf("caches (-want +got):\n%s", d)
	}
}

// The recorded 2D five-point stencil: max(2.0, 1.0 + 5 + 8 + 4.1) = 18.1 cycles a line of
// 8 doubles, at 2.4 GHz 18.1 / 2.4 / 8 = 0.942708... ns a point.
func TestECM(t *testing.T) {
	m := load(t, "icelake-sp-8360y")
	r, ok := m.ECM("HEAT")
	if !ok || r.ElementsPerCL != 8 || r.Source == "" {
		t.Fatalf("HEAT: %+v", r)
	}
	sum := r.TnOL
	for _, x := range []units.Rat{r.TL1L2, r.TL2L3, r.TL3Mem} {
		sum, _ = sum.Add(x)
	}
	if sum != units.NewRat(181, 10) || r.TOL.Cmp(sum) >= 0 {
		t.Errorf("HEAT: %v overlapping, %v not", r.TOL, sum)
	}
	perPoint, _ := sum.Mul(units.NewRat(1_000_000_000_000, r.ElementsPerCL))
	if perPoint, _ = perPoint.Mul(m.Clock.Inv()); perPoint != units.NewRat(45250, 48) { // 942.708... ps
		t.Errorf("%v ps a point", perPoint)
	}
	triad, _ := m.ECM("STREAM_TRIAD")
	waxpy, _ := m.ECM("WAXPY")
	cached, _ := m.ECM("STREAM")
	if triad.TL3Mem != waxpy.TL3Mem || triad.TL3Mem != units.NewRat(11, 2) || !cached.TL3Mem.IsZero() || !strings.Contains(cached.Source, "cache") {
		t.Errorf("triad %+v, WAXPY %+v, cached %+v", triad, waxpy, cached)
	}
	if r, ok := m.ECM("SCALAR-PRODUCT"); !ok || r.TL3Mem != units.NewRat(33, 10) {
		t.Errorf("SCALAR-PRODUCT: %+v", r)
	}
	if _, ok := m.ECM("NONE"); ok || len(m.ECMLabels()) != 23 {
		t.Errorf("%d labels", len(m.ECMLabels()))
	}
}

func TestGPUNode(t *testing.T) {
	m := load(t, "gpu-node-h100")
	p, _ := m.PeakFlops("bf16", 8)
	b, _ := m.MemoryBandwidth(8)
	if p != units.Int(8*989_500_000_000_000) || b != units.Int(8*3_350_000_000_000) || m.Cores() != 8 {
		t.Errorf("8 GPUs: %v flop/s, %v B/s, %d cores", p, b, m.Cores())
	}
	if d := cmp.Diff([]string{"bf16", "dp", "fp8", "hp", "int8", "sp", "tf32"}, m.Precisions()); d != "" {
		t.Error(d)
	}
}

func TestSet(t *testing.T) {
	m := load(t, "icelake-sp-8360y", "clock=3 GHz", "hybrid.ecm.HEAT.TOL=40cy/CL", "hybrid.memory_bandwidth=100GB/s")
	r, _ := m.ECM("HEAT")
	b, _ := m.MemoryBandwidth(36)
	if m.Clock != units.Int(3_000_000_000) || r.TOL != units.Int(40) || b != units.Int(200_000_000_000) {
		t.Errorf("clock %v, HEAT %+v, bandwidth %v", m.Clock, r, b)
	}
}

// Every mistake of a file is reported, at its place.
func TestLoadFindings(t *testing.T) {
	const src = `clok: 2.4 GHz
sockets: 2
cores per socket: many
threads per core: 0
cacheline size: 64
FLOPs per cycle:
  SP: {ADD: 32, totl: 64}
  DP: {total: fast}
memory hierarchy:
  - {level: L1, size per group: 48 ns, ways: 8}
benchmarks:
  kernels:
    triad: {read streams: {bytes: 24 B, stream: 3}}
  measurements:
    MEM:
      1:
        results: {triad: [10 GB/s, 11], copy: 5}
hybrid:
  ecm:
    HEAT: {TOL: 2cy/CL, TnOL: 1, TL1L2: 5cy/CL, TL2L3: 8cy/CL}
  gpu: {peak: {double: 1Tflop/s}}
`
	want := `m.yml:1:1: error: unknown key "clok" in the machine file; did you mean "clock"? [E804]
m.yml:1:1: error: "clock" is missing in the machine file [E805]
m.yml:3:19: error: cores per socket is "many"; a whole number is expected [E806]
m.yml:4:19: error: threads per core is 0; it must be from 1 to 1048576 [E808]
m.yml:5:17: error: cacheline size: 64 has no unit: a size is expected, such as 64KiB [E807]
m.yml:7:17: error: unknown key "totl" in FLOPs per cycle.SP; did you mean "total"? [E804]
m.yml:8:15: error: FLOPs per cycle.DP.total is "fast"; a positive number is expected [E806]
m.yml:10:33: error: size per group of L1: 48 ns is a time: a size is expected, such as 64KiB [E807]
m.yml:10:40: error: unknown key "ways" in memory hierarchy [E804]
m.yml:13:41: error: unknown key "stream" in benchmarks.kernels.triad.read streams; did you mean "streams"? [E804]
m.yml:17:36: error: bandwidth of triad: 11 has no unit: a rate is expected, such as 400Gbps [E807]
m.yml:17:47: error: the bandwidths of copy are a value; a list by number of cores is expected [E806]
m.yml:20:5: error: "TL3Mem" is missing in hybrid.ecm.HEAT [E805]
m.yml:20:31: error: hybrid.ecm.HEAT.TnOL: 1 is not in cycles per cache line; a number of cycles per cache line such as 4.1cy/CL is expected [E807]
m.yml:21:3: error: "memory_bandwidth" is missing in hybrid.gpu [E805]
m.yml:21:16: error: unknown precision "double" in hybrid.gpu.peak [E804]
`
	var l diag.List
	if m := Parse("m.yml", []byte(src), nil, &l); m != nil {
		t.Error("a machine with errors is returned")
	}
	if d := cmp.Diff(want, messages(&l)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// The layout that kerncraft writes: ordered maps, wrapped lists, counts as 1.0, marks for
// figures not found, and a dump of the system.
func TestKerncraftLayout(t *testing.T) {
	const src = `kerncraft version: 0.8.4
model name: Some CPU
model type: Some core
sockets: 2
cores per socket: 4
threads per core: 2
NUMA domains per socket: 2
cores per NUMA domain: 2
clock: 2.20 GHz
in-core model: !!omap
- OSACA: BDW
- IACA: BDW
FLOPs per cycle:
  SP: {total: INFORMATION_REQUIRED, FMA: 16, ADD: 8, MUL: 8}
  DP: {total: 16, FMA: 8, ADD: 4, MUL: 4}
compiler: !!omap
- icc: -O3 -xAVX
overlapping model:
  ports:
    OSACA: ['0', 0DV, '1']
  performance counter metric: Max(UOPS_P0:PMC0, UOPS_P1:PMC1)
cacheline size: 64 B
memory hierarchy:
- level: L1
  cache per group: {sets: 64, ways: 8, cl_size: 64, replacement_policy: LRU, write_allocate: true,
    write_back: true, load_from: L2, store_to: L2}
  cores per group: 1.0
  threads per group: 2
  groups: 8
  size per group: 32.00 kB
  upstream throughput: [architecture code analyzer, ['2D', '3D']]
  performance counter metrics:
    accesses: MEM_UOPS_RETIRED_LOADS:PMC[0-3]
- level: MEM
  cores per group: 4
  size per group:
  upstream throughput: [full socket memory bandwidth, half-duplex]
  transfers overlap: false
benchmarks:
  kernels:
    triad:
      FLOPs per iteration: 2
      read streams: {bytes: 24.00 B, streams: 3}
      read+write streams: {bytes: 0.00 B, streams: 0}
      write streams: {bytes: 8.00 B, streams: 1}
  measurements:
    MEM:
      1:
        cores: [1, 2, 3,
          4]
        results:
          triad: [4.00 GB/s, 8.00 GB/s, 7.00
              GB/s, 16.00 GB/s]
        size per core: [40.00 MB, 20.00 MB, 13.33 MB, 10.00 MB]
machine state: "\n#### Hostname\n  x={a,b}\n"
`
	var l diag.List
	m := Parse("k.yml", []byte(src), nil, &l)
	want := "k.yml:14:15: warning: FLOPs per cycle.SP.total still has to be filled in [W833]\n"
	if got := messages(&l); m == nil || got != want {
		t.Fatalf("got %s", got)
	}
	// The two cores of a domain reach 8 GB/s, 10 with write-allocates.
	if b, _ := m.MemoryBandwidth(1); b != units.Int(10_000_000_000) {
		t.Errorf("bandwidth of a domain %v", b)
	}
	if p, _ := m.PeakFlops("dp", 1); p != units.Int(35_200_000_000) || m.Cores() != 8 {
		t.Errorf("peak %v", p)
	}
	if d := cmp.Diff([]Cache{{"L1", 32_000, 1}}, m.Caches); d != "" {
		t.Error(d)
	}
}

func TestConsistency(t *testing.T) {
	const head = "clock: 1 GHz\ncores per socket: 8\n"
	tests := []struct{ src, want string }{
		{head, "m.yml:1:1: warning: no memory bandwidth: neither benchmarks at level MEM nor hybrid.memory_bandwidth [W831]\n"},
		{head + "NUMA domains per socket: 2\ncores per NUMA domain: 3\nhybrid: {memory_bandwidth: 1GB/s}\n",
			"m.yml:2:19: error: a socket has 8 cores, but 2 memory domains of 3 cores [E830]\n"},
		{head + "FLOPs per cycle: {DP: {total: INFORMATION_REQUIRED}}\nhybrid: {memory_bandwidth: 1GB/s}\n",
			"m.yml:3:31: warning: FLOPs per cycle.DP.total still has to be filled in [W833]\n"},
		{"clock: 1 GHz\ncores per socket: 1\nbenchmarks: {measurements: {MEM: {1: {results: {load: [1 GB/s, 2 GB/s]}}}}}\n",
			"m.yml:3:49: warning: bandwidths of load for up to 2 cores, but a socket has 1 [W832]\n"},
		{head + "hybrid: {gpu: {peak: {dp: 1Tflop/s}, memory_bandwidth: 1TB/s}}\n",
			"m.yml:3:10: error: with hybrid.gpu a core is one accelerator with memory of its own, but 8 share a memory domain [E830]\n"},
	}
	for _, tt := range tests {
		var l diag.List
		Parse("m.yml", []byte(tt.src), nil, &l)
		if got := messages(&l); got != tt.want {
			t.Errorf("%q:\ngot  %swant %s", tt.src, got, tt.want)
		}
	}
}

func TestLoadByName(t *testing.T) {
	for name, want := range map[string]string{
		"icelake":     "error: no machine is called \"icelake\"; did you mean \"icelake-sp-8360y\"? [E810]\n",
		"a64fx-fx100": "error: no machine is called \"a64fx-fx100\"; did you mean \"a64fx-fx1000\"? [E810]\n",
		"./none.yaml": "./none.yaml: error: the machine file cannot be read: no such file or directory [E811]\n",
	} {
		var l diag.List
		if m := Load(name, nil, &l); m != nil || messages(&l) != want {
			t.Errorf("%s: %s", name, messages(&l))
		}
	}
	src, ok := Source("gpu-node-h100")
	file := filepath.Join(t.TempDir(), "mine.yml")
	if err := os.WriteFile(file, src, 0o666); err != nil || !ok {
		t.Fatal(err, ok)
	}
	if m := load(t, file); m.Name != "mine" {
		t.Errorf("name %q", m.Name)
	}
}

func TestSchema(t *testing.T) {
	var s struct {
		Properties map[string]any
	}
	if err := json.Unmarshal(Schema(), &s); err != nil {
		t.Fatal(err)
	}
	for _, k := range []string{"clock", "memory hierarchy", "benchmarks", "hybrid"} {
		if s.Properties[k] == nil {
			t.Errorf("the schema lacks %s", k)
		}
	}
	for _, f := range Parameters() {
		if f.Doc == "" {
			t.Errorf("%s has no sentence", f.Path)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, i := range Embedded() {
		src, _ := Source(i.Name)
		f.Add(string(src))
	}
	f.Add("clock: 1 GHz\ncores per socket: 2\nhybrid: {ecm: {A: 1}, gpu: 2}")
	f.Fuzz(func(t *testing.T, src string) {
		var l diag.List
		m := Parse("f.yml", []byte(src), nil, &l)
		if (m == nil) != l.HasErrors() {
			t.Fatalf("machine %v with findings %s", m != nil, messages(&l))
		}
		if m != nil {
			m.MemoryBandwidth(3)
			m.PeakFlops("dp", 3)
			m.StreamBandwidth("load", 3)
		}
	})
}

func ExampleLoad() {
	var findings diag.List
	m := Load("icelake-sp-8360y", nil, &findings)
	if m == nil {
		fmt.Println(findings.Err())
		return
	}
	peak, _ := m.PeakFlops("dp", m.Cores())
	bandwidth, _ := m.MemoryBandwidth(m.Cores())
	fmt.Printf("%d cores, %.1f Tflop/s, %.1f GB/s\n", m.Cores(), peak.Float()/1e12, bandwidth.Float()/1e9)
	// Output:
	// 72 cores, 5.5 Tflop/s, 408.6 GB/s
}
