package dsel

import (
	"fmt"
	"strings"
	"testing"

	"hybrid/graph"
	"hybrid/internal/diag"
)

// TestLimits: what would take unbounded memory or time is refused, with its code.
func TestLimits(t *testing.T) {
	var doubling, defs strings.Builder
	doubling.WriteString("fn f0(x) = x\n")
	defs.WriteString("def d0() { compute 1ps }\n")
	for i := range 40 {
		fmt.Fprintf(&doubling, "fn f%d(x) = f%d(x) + f%d(x)\n", i+1, i, i)
		fmt.Fprintf(&defs, "def d%d() {\n d%d()\n d%d()\n}\n", i+1, i, i)
	}
	for name, test := range map[string]struct{ src, code string }{
		"ranks":       {"ranks 2_000_000\nprogram { }", "E302"},
		"no ranks":    {"ranks 0\nprogram { }", "E302"},
		"functions":   {"ranks 1\n" + doubling.String() + "program { compute 1ps * f40(rank) }", "E204"},
		"calls":       {"ranks 1\n" + defs.String() + "program { d40() }", "E204"},
		"blocks":      {"ranks 1\nprogram {" + strings.Repeat("repeat 2 {", 300) + strings.Repeat("}", 301), "E203"},
		"brackets":    {"ranks 1\nlet x = " + strings.Repeat("(", 300) + "1" + strings.Repeat(")", 300) + "\nprogram { }", "E203"},
		"signs":       {"ranks 1\nlet x = " + strings.Repeat("- ", 5000) + "1\nprogram { }", "E203"},
		"list":        {"ranks 1\nprogram { for i in map(0..99_999_999, #) { compute 1us } }", "E204"},
		"alltoallv":   {"ranks 65_536\nprogram { alltoallv 8B * peer }", ""},
		"predicates":  {"ranks 100_000\nprogram { on count(0..99_999, # > rank) > 3 { compute 1us } }", "E204"},
		"text":        {strings.Repeat(" ", maxSource+1), "E109"},
		"faults":      {strings.Repeat("$ ", 100_000), "E104"},
		"grid":        {"grid G axes a = 4096, b = 4096\nprogram { }", "E302"},
		"work":        {"ranks 1\nprogram { compute 10_000_000s }", "E106"},
		"trip counts": {"ranks 1\nprogram { repeat 1_000_000_000_000_000_000 { repeat 1_000_000_000_000_000_000 { compute 1ps } } }", ""},
	} {
		list := &diag.List{}
		found := &findings{}
		l := newLoader("limit.hbp", Options{}, found)
		l.limits = limits{ops: 5000, steps: 5_000_000, visits: 1_000_000}
		l.load([]byte(test.src))
		list.Append(&found.List)
		got := ""
		if all := list.All(); len(all) > 0 {
			got = all[0].Code
		}
		if got != test.code || list.Len() > maxFaults {
			t.Errorf("%s: %d findings, first %q, want %q", name, list.Len(), got, test.code)
		}
	}
}

// TestDeterminism: the same text gives the same graph.
func TestDeterminism(t *testing.T) {
	for _, file := range []string{"heat2d.hbp", "llm3d.hbp", "moe.hbp", "ddp.hbp"} {
		var text [2]strings.Builder
		for i := range text {
			if err := graph.WriteText(&text[i], loadFile(t, file)); err != nil {
				t.Fatal(err)
			}
		}
		if text[0].String() != text[1].String() {
			t.Errorf("%s: two loads differ", file)
		}
	}
}

// TestRanksShareProgram: ranks whose programs have the same shape share one,
// whatever their operands. heat2d has two programs because rank 4 alone is
// delayed; a pipeline of four stages has a first, a last and middle ones;
// in a 2 x 2 x 2 grid every rank has one neighbour along each axis.
func TestRanksShareProgram(t *testing.T) {
	for _, test := range []struct {
		file      string
		overrides []string
		want      int
	}{{"ring.hbp", []string{"n=500"}, 1}, {"heat2d.hbp", nil, 2}, {"llm3d.hbp", nil, 3}, {"moe.hbp", nil, 1}, {"sor.hbp", nil, 9}, {"hpcg.hbp", nil, 1}} {
		if g := loadFile(t, test.file, test.overrides...); len(g.Programs) != test.want {
			t.Errorf("%s: %d programs, want %d", test.file, len(g.Programs), test.want)
		}
	}
}

// TestUnits reads every unit once. Bases: byte, picosecond, flop, cycle.
func TestUnits(t *testing.T) {
	for text, want := range map[string]float64{
		"3B": 3, "3kB": 3e3, "3KB": 3e3, "3MB": 3e6, "3GB": 3e9, "3TB": 3e12, "3PB": 3e15, "3KiB": 3 << 10, "3MiB": 3 << 20, "3GiB": 3 << 30, "3TiB": 3 << 40, "3PiB": 3 << 50,
		"3ps": 3, "3ns": 3e3, "3us": 3e6, "3µs": 3e6, "3ms": 3e9, "3s": 3e12, "3min": 180e12, "3h": 10800e12,
		"8bps": 1e-12, "8kbps": 1e-9, "8Mbps": 1e-6, "8Gbps": 1e-3, "8Tbps": 1, "1GB/s": 1e-3, "1TiB/s": 1.099511627776,
		"3flop": 3, "3kflop": 3e3, "3Pflop": 3e15, "1Tflop/s": 1, "3cy": 3, "2.5cy/CL": 2.5, "3cy/it": 3, "2GHz": 2e-3, "20x": 20, "1.5x": 1.5, "4flop/cy": 4, "2B/cy": 2,
	} {
		q, err := parseQuantity(text)
		if err != "" {
			t.Errorf("%s: %s", text, err)
			continue
		}
		if got, _ := floatOf(q.code.konst); got != want {
			t.Errorf("%s is %v, want %v", text, got, want)
		}
	}
}

// TestFindingsBesideEachOther: one faulty statement does not hide the next.
func TestFindingsBesideEachOther(t *testing.T) {
	const src = "ranks 2\nprogram {\n  sendd 8B\n  send 64k to 1\n  compute 1us +\n  region \"x\" { compute tiem }\n  compute 8B\n}\n"
	list := &diag.List{}
	Load("many.hbp", []byte(src), Options{}, list)
	var got []string
	for _, d := range list.All() {
		got = append(got, fmt.Sprintf("%d:%d %s", d.Pos.Line, d.Pos.Col, d.Code))
	}
	if want := "3:3 E201, 4:8 E101, 5:15 E201, 6:24 E210, 7:11 E220"; strings.Join(got, ", ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, ", "), want)
	}
}

// TestLimitsOfValues: values that take long on every rank, or that need every
// element of a list, are charged to the blueprint; functions may call one another
// only so deep.
func TestLimitsOfValues(t *testing.T) {
	var chain, lets, groups strings.Builder
	chain.WriteString("fn f0(x) = x\n")
	lets.WriteString("let a0 = rank\n")
	for i := range 200 {
		fmt.Fprintf(&chain, "fn f%d(x) = f%d(x) + 1\n", i+1, i)
		fmt.Fprintf(&lets, "let a%d = a%d + mod(a%d + rank, 7)\n", i+1, i, i)
		fmt.Fprintf(&groups, "group g%d by rank\n", i)
	}
	for name, test := range map[string]struct{ src, text string }{
		"divisors":       {"let d = len(divisors(9_999_999_967 + rank))\nprogram { compute 1us * d }", "the lists of all ranks"},
		"near_square":    {"program { compute 1us * near_square(9_999_999_967 + rank)[0] }", "the lists of all ranks"},
		"children":       {"program { compute 1us * len(knomial_children(0 * rank, ranks, ranks)) }", "the lists of all ranks"},
		"native list":    {"program { compute 1us * max(0..(1000 + 0 * rank)) }", "the lists of all ranks"},
		"membership":     {"let xs = reverse([1, 2, 3, rank])\nprogram { for i in 0..1 { if i in xs { compute 1us } } }", ""},
		"constant list":  {"let xs = map(0..9999, 2 * #)\nprogram { on filter(xs, # < 9999) { compute 1us } if rank in xs { compute 1us } }", ""},
		"lets":           {lets.String() + "program { compute 1us * a200 }", "on all 10000 ranks takes more"},
		"groups":         {groups.String() + "program { compute 1us }", "on all 10000 ranks takes more"},
		"deep functions": {chain.String() + "program { compute 1us * f200(1) }", "functions call one another more than 50 deep"},
	} {
		found := &findings{}
		l := newLoader("limit.hbp", Options{}, found)
		l.limits = limits{ops: 5000, steps: 5_000_000, visits: 200_000}
		l.load([]byte("ranks 10_000\n" + test.src + "\n"))
		got := ""
		for _, d := range found.All() {
			if d.Severity == diag.Error && got == "" {
				got = d.Code + " " + d.Message
			}
		}
		if test.text == "" && got != "" || test.text != "" && (!strings.HasPrefix(got, "E204") || !strings.Contains(got, test.text)) {
			t.Errorf("%s: %q, want %q", name, got, test.text)
		}
	}
}

// TestLongWords: messages show the start of what is too long to show.
func TestLongWords(t *testing.T) {
	long := strings.Repeat("é", 3) + strings.Repeat("9", 5000)
	for _, src := range []string{"let x = " + strings.Repeat("9", 5000), "program { " + strings.Repeat("a", 5000) + " 1 }", "let " + strings.Repeat("a", 5000) + " = \"" + long + "\" + 1"} {
		list := &diag.List{}
		Load("l.hbp", []byte("ranks 2\n"+src+"\n"), Options{}, list)
		for _, d := range list.All() {
			if len(d.Message) > 300 {
				t.Errorf("a message of %d bytes: %.80s", len(d.Message), d.Message)
			}
		}
	}
}
