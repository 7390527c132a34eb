package chakra

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"hybrid/internal/diag"
	"hybrid/internal/units"
)

func parseMapping(text string) (*Mapping, string) {
	var list diag.List
	m := ParseMapping("m.txt", []byte(text), &list)
	var b strings.Builder
	diag.Renderer{}.Render(&b, &list)
	return m, b.String()
}

func TestMapping(t *testing.T) {
	m, findings := parseMapping(`@ a line that begins with @ is a comment before the first rank too
# rank, server, group, subgroup

0, 7, 20, 1
1 6,20 1   # spaces and commas, in any number
,,2  5 , 20 ,, 0 ,
 6 1

3 4 20 0
5,2,4294967295,9
4 3 4294967295 9
0000007 0
@ group, Gbps, switch, cable
20 800 100 100        @ both signs begin a comment here
  4294967295, 3.2e2, 0.5, 1e-3 # 320 Gbit/s`)
	if findings != "" {
		t.Fatalf("findings:\n%s", findings)
	}
	// 8000/800 = 10 ps a byte, 8000/320 = 25 ps a byte; 0.5 ns = 500 ps, 1e-3 ns = 1 ps.
	want := &Mapping{
		Server:   []uint32{7, 6, 5, 4, 3, 2, 1, 0},
		Group:    []int32{0, 0, 0, 0, 1, 1, -1, -1},
		Subgroup: []uint32{1, 1, 0, 0, 9, 9, 0, 0},
		Groups: []MappingGroup{
			{ID: 20, Gbps: "800", PerByte: units.Int(10), Hop: 100_000, Cable: 100_000},
			{ID: math.MaxUint32, Gbps: "3.2e2", PerByte: units.Int(25), Hop: 500, Cable: 1},
		},
	}
	if d := cmp.Diff(want, m); d != "" {
		t.Error(d)
	}
}

// TestMappingRefuses holds every rule of the form against a file that breaks it, and
// the whole text of the finding.
func TestMappingRefuses(t *testing.T) {
	long := strings.Repeat(" ", maxMappingContent-3)
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "", "m.txt: error: no line places a rank [E721]"},
		{"comments alone", "# a\n@ b\n", "m.txt: error: no line places a rank [E721]"},
		{"carriage return", "0 0\r\n1 1\r\n", "m.txt:1: error: line 1: a carriage return; lines end with a line feed alone [E720]"},
		{"carriage return in a comment", "0 0\n# a\rb\n", "m.txt:2: error: line 2: a carriage return; lines end with a line feed alone [E720]"},
		{"byte order mark", "\xef\xbb\xbf0 0\n1 1\n", "m.txt:1: error: line 1: a byte order mark; save the file as UTF-8 without one [E720]"},
		{"UTF-16", "\xff\xfe0\x00 \x000\x00\n\x001\x00 \x001\x00\n\x00", "m.txt:1: error: line 1: the file is in UTF-16; save it as UTF-8 [E720]"},
		{"carriage returns in both sections", "0 0 7 0\n1 1\r\n@\n7 1 0 0\r\n", "m.txt:2: error: line 2: a carriage return; lines end with a line feed alone [E720]"},
		{"tab", "0 0\n1\t1\n", "m.txt:2: error: line 2: a tab; spaces and commas separate fields [E720]"},
		{"one field", "0\n", "m.txt:1: error: line 1: 1 field; a rank has 2 (rank, server) or 4 (rank, server, group, subgroup) [E720]"},
		{"three fields", "0 0\n\n1 1 2\n", "m.txt:3: error: line 3: 3 fields; a rank has 2 (rank, server) or 4 (rank, server, group, subgroup) [E720]"},
		{"five fields", "0 0 0 0 0\n", "m.txt:1: error: line 1: 5 fields; a rank has 2 (rank, server) or 4 (rank, server, group, subgroup) [E720]"},
		{"@ within Section I", "0 0 @ no comment\n", "m.txt:1: error: line 1: 5 fields; a rank has 2 (rank, server) or 4 (rank, server, group, subgroup) [E720]"},
		{"word", "zero 0\n", `m.txt:1: error: line 1: the rank "zero" is not a whole number in decimal digits [E720]`},
		{"sign", "0 +1\n", `m.txt:1: error: line 1: the server "+1" is not a whole number in decimal digits [E720]`},
		{"hexadecimal", "0 0x10\n", `m.txt:1: error: line 1: the server "0x10" is not a whole number in decimal digits [E720]`},
		{"underscore", "0 0 1_0 0\n", `m.txt:1: error: line 1: the group "1_0" is not a whole number in decimal digits [E720]`},
		{"fraction", "0 0 0 1.0\n", `m.txt:1: error: line 1: the subgroup "1.0" is not a whole number in decimal digits [E720]`},
		{"rank above 32 bits", "4294967296 0\n", "m.txt:1: error: line 1: the rank 4294967296 is above 4294967295 [E720]"},
		{"server above 32 bits", "0 4294967296\n", "m.txt:1: error: line 1: the server 4294967296 is above 4294967295 [E720]"},
		{"reserved server", "0 4294967295\n", "m.txt:1: error: line 1: the server 4294967295 is reserved and names none [E720]"},
		{"rank twice", "0 0\n1 1\n0 2\n", "m.txt:3: error: line 3: rank 0 stands on line 1 already [E721]"},
		{"server twice", "0 5\n1 1\n2 5\n", "m.txt:3: error: line 3: the server 5 has a rank already, on line 1 [E721]"},
		{"missing rank", "0 0\n3 3\n1 1\n", "m.txt: error: rank 2 is missing: the ranks must cover 0 to 3 [E721]"},
		{"missing rank 0", "1 0\n", "m.txt: error: rank 0 is missing: the ranks must cover 0 to 1 [E721]"},
		{"largest rank alone", "4294967295 0\n", "m.txt: error: rank 0 is missing: the ranks must cover 0 to 4294967295 [E721]"},
		{"group without Section II", "0 0\n1 1 7 0\n2 2 7 0\n", "m.txt:2: error: line 2: the group 7 is not declared: no line begins with @, so there is no section of groups [E722]"},
		{"undeclared group", "0 0 7 0\n@\n8 1 0 0\n", "m.txt:1: error: line 1: the group 7 is not declared [E722]\nm.txt:3: warning: line 3: no rank is in the group 8 [W722]"},
		{"group twice", "0 0 7 0\n@\n7 1 0 0\n7 1 0 0\n", "m.txt:4: error: line 4: the group 7 is declared on line 3 already [E722]"},
		{"@ behind a blank starts nothing", "0 0\n @\n", "m.txt:2: error: line 2: 1 field; a rank has 2 (rank, server) or 4 (rank, server, group, subgroup) [E720]"},
		{"rank in Section II", "0 0\n@\n1 1\n", "m.txt:3: error: line 3: 2 fields; a group has 4 (group, bandwidth in Gbit/s, switch latency in ns, cable latency in ns) [E720]"},
		{"a faulty rank is a line of Section I too", "0 0 0\n@\n1 1 1 1\n", "m.txt:1: error: line 1: 3 fields; a rank has 2 (rank, server) or 4 (rank, server, group, subgroup) [E720]"},
		{"group number", "0 0\n@\n-7 1 0 0\n", `m.txt:3: error: line 3: the group "-7" is not a whole number in decimal digits [E720]`},
		{"127 bytes before the comment pass", "0 0" + long + "#" + strings.Repeat("x", maxMappingLine-maxMappingContent-1) + "\n", ""},
		{"128 bytes before the comment", "0 0" + long + " #\n", "m.txt:1: error: line 1: 128 bytes before the first comment, more than the limit of 127 [E720]"},
		{"4096 bytes pass", "0 0\n#" + strings.Repeat("x", maxMappingLine-1), ""},
		{"4097 bytes", "0 0\n#" + strings.Repeat("x", maxMappingLine), "m.txt:2: error: line 2: 4097 bytes, more than the limit of 4096 [E720]"},
		{"the comment begins at the first sign", "0 0 7 0\n@" + strings.Repeat("#", 200) + "\n7 1 0 0@" + strings.Repeat("y", 200), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, findings := parseMapping(c.text)
			if d := cmp.Diff(c.want, strings.TrimSuffix(findings, "\n")); d != "" {
				t.Error(d)
			}
			if (m == nil) != strings.Contains(c.want, "error") {
				t.Errorf("mapping %v", m)
			}
		})
	}
}

// TestMappingNumbers holds the ranges of Section II at both ends.
func TestMappingNumbers(t *testing.T) {
	const bandwidth = "is out of range: at least 1e-9 and below 1.8446744073709552e10 [E720]"
	const latency = "is out of range: 0, or at least 1e-3 and below 1.8446744073709552e16 [E720]"
	for _, c := range []struct{ gbps, hop, want string }{
		{"1e-9", "0", ""},
		{"0.000000001", "0.000", ""},
		{"18446744073.70955", "1", ""},
		{"1.", ".5", ""},
		{"1", "0e999999999999999999999", ""},
		{"0.99e-9", "0", "the bandwidth 0.99e-9 Gbps " + bandwidth},
		{"0", "0", "the bandwidth 0 Gbps " + bandwidth},
		{"1.8446744073709552e10", "0", "the bandwidth 1.8446744073709552e10 Gbps " + bandwidth},
		{"1e999999999999", "0", "the bandwidth 1e999999999999 Gbps " + bandwidth},
		{"1e-999999999999", "0", "the bandwidth 1e-999999999999 Gbps " + bandwidth},
		{"0x10", "0", `the bandwidth "0x10" is not a decimal number [E720]`},
		{"inf", "0", `the bandwidth "inf" is not a decimal number [E720]`},
		{"NaN", "0", `the bandwidth "NaN" is not a decimal number [E720]`},
		{"-1", "0", `the bandwidth "-1" is not a decimal number [E720]`},
		{"1_0", "0", `the bandwidth "1_0" is not a decimal number [E720]`},
		{"1e", "0", `the bandwidth "1e" is not a decimal number [E720]`},
		{"1e+-1", "0", `the bandwidth "1e+-1" is not a decimal number [E720]`},
		{".", "0", `the bandwidth "." is not a decimal number [E720]`},
		{"1.2.3", "0", `the bandwidth "1.2.3" is not a decimal number [E720]`},
		{"1/2", "0", `the bandwidth "1/2" is not a decimal number [E720]`},
		{"1", "1e-3", ""},
		{"1", "0.0009", "the switch latency 0.0009 ns " + latency},
		{"1", "1.8446744073709552e16", "the switch latency 1.8446744073709552e16 ns " + latency},
		{"1", "infinity", `the switch latency "infinity" is not a decimal number [E720]`},
		// 2^63 - 1 ps is 9.22e15 ns; a packet meets up to seven latencies.
		{"1", "1e16", "the switch latency 1e16 ns is longer than this program can simulate: at most 1317624576693539 ns [E720]"},
		{"1", "1317624576693539", ""},
		{"1", "1317624576693539.401", ""},
		{"1", "1317624576693539.402", "the switch latency 1317624576693539.402 ns is longer than this program can simulate: at most 1317624576693539 ns [E720]"},
	} {
		m, findings := parseMapping("0 0 7 0\n@\n7 " + c.gbps + " " + c.hop + " 0\n")
		want := ""
		if c.want != "" {
			want = "m.txt:3: error: line 3: " + c.want + "\n"
		}
		if findings != want || (m == nil) != (c.want != "") {
			t.Errorf("%s Gbps, %s ns:\n got %q\nwant %q", c.gbps, c.hop, findings, want)
		}
	}
}

// TestMappingBandwidth holds the time of a byte: 8 bits at n*10^9 bits a second take
// 8000/n picoseconds.
func TestMappingBandwidth(t *testing.T) {
	for _, c := range []struct {
		gbps     string
		num, den int64
	}{
		{"800", 10, 1},
		{"900", 80, 9},
		{"7200", 10, 9},
		{"0.1", 80_000, 1},
		{"1e-9", 8_000_000_000_000, 1},
		{"1.5e3", 16, 3},
		{"799.999999", 8_000_000_000, 799_999_999},
	} {
		m, findings := parseMapping("0 0 7 0\n@\n7 " + c.gbps + " 0 0\n")
		if findings != "" {
			t.Fatalf("%s Gbps: %s", c.gbps, findings)
		}
		if got := m.Groups[0].PerByte; got != (units.Rat{Num: c.num, Den: c.den}) {
			t.Errorf("%s Gbps: %s ps a byte, want %d/%d", c.gbps, got, c.num, c.den)
		}
	}
}

func TestMappingRounds(t *testing.T) {
	// 8000/3.00...01 is so close to 8000/3 that no other fraction that fits is closer: two
	// fractions differ by at least 1/(3*2^63), the bandwidths by 8000/9 * 1e-26.
	m, findings := parseMapping("0 0 7 0\n@\n7 3.00000000000000000000000001 0 0\n")
	want := "m.txt:3: warning: line 3: the bandwidth 3.00000000000000000000000001 Gbps is held as 8000/3 ps a byte, the nearest fraction of 64-bit numbers [W720]\n"
	if findings != want {
		t.Errorf("got\n%swant\n%s", findings, want)
	}
	if got := m.Groups[0].PerByte; got != units.NewRat(8000, 3) {
		t.Errorf("%s, want 8000/3", got)
	}
	m, findings = parseMapping("0 0 7 0\n@\n7 1 100.0005 0.0014\n8 1 0 0\n")
	want = "m.txt:3: warning: line 3: the switch latency 100.0005 ns is rounded to 100001 ps [W721]\n" +
		"m.txt:3: warning: line 3: the cable latency 0.0014 ns is rounded to 1 ps [W721]\n" +
		"m.txt:4: warning: line 4: no rank is in the group 8 [W722]\n"
	if findings != want {
		t.Errorf("got\n%swant\n%s", findings, want)
	}
	// Halves go up.
	if g := m.Groups[0]; g.Hop != 100_001 || g.Cable != 1 {
		t.Errorf("hop %d ps, cable %d ps", g.Hop, g.Cable)
	}
}

// TestNearest compares with a search through all fractions of small numbers.
func TestNearest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.Int64Range(1, 24).Draw(t, "most")
		v := big.NewRat(rapid.Int64Range(1, 3000).Draw(t, "num"), rapid.Int64Range(1, 3000).Draw(t, "den"))
		off := func(r units.Rat) *big.Rat {
			d := new(big.Rat).Sub(big.NewRat(r.Num, r.Den), v)
			return d.Abs(d)
		}
		got := nearest(v, most)
		if got.Num > most || got.Den > most {
			t.Fatalf("%s of numbers above %d", got, most)
		}
		for q := range most {
			for p := range most + 1 {
				if r := units.NewRat(p, q+1); off(r).Cmp(off(got)) < 0 {
					t.Fatalf("%s for %s, but %s is closer", got, v, r)
				}
			}
		}
	})
}

func TestNearestOfGoldenRatio(t *testing.T) {
	// The golden ratio's best fractions are the quotients of Fibonacci numbers; with one
	// limit for both numbers the last pair below 2^63 is F(92)/F(91).
	phi, _ := new(big.Rat).SetString("1.6180339887498948482045868343656381177203091798057628621354486227")
	if got := nearest(phi, math.MaxInt64); got != units.NewRat(7540113804746346429, 4660046610375530309) {
		t.Errorf("%d/%d", got.Num, got.Den)
	}
}

// TestMappingFindingsAreBounded gives a file with a fault on each of a million lines.
func TestMappingFindingsAreBounded(t *testing.T) {
	var list diag.List
	if m := ParseMapping("m.txt", bytes.Repeat([]byte("x\n"), 1_000_000), &list); m != nil {
		t.Error("accepted")
	}
	if list.Len() != maxMappingFindings {
		t.Errorf("%d findings", list.Len())
	}
	all := list.All()
	if got := fmt.Sprint(all[len(all)-1].Notes); got != "[and 999950 more findings in later lines]" {
		t.Errorf("note %s", got)
	}
}

func TestMappingTooLarge(t *testing.T) {
	text := bytes.Repeat([]byte("#\n"), MaxMappingFile/2-2)
	text = append(text, "0 0\n"...)
	var list diag.List
	if m := ParseMapping("m.txt", text, &list); m == nil || len(text) != MaxMappingFile {
		t.Errorf("%d bytes: %v", len(text), list.Err())
	}
	if m := ParseMapping("m.txt", append(text, '\n'), &list); m != nil {
		t.Error("accepted one byte more than the limit")
	}
	if got := list.Err(); got == nil || got.Error() != "m.txt: error: 64000001 bytes, more than the limit of 64000000 [E720]" {
		t.Errorf("%v", got)
	}
}

// drawMapping draws a mapping whose text form loses nothing.
func drawMapping(t *rapid.T) *Mapping {
	n := rapid.IntRange(1, 12).Draw(t, "ranks")
	m := &Mapping{Server: rapid.SliceOfNDistinct(rapid.Uint32Range(0, math.MaxUint32-1), n, n, rapid.ID).Draw(t, "servers")}
	for _, id := range rapid.SliceOfNDistinct(rapid.Uint32(), 0, 3, rapid.ID).Draw(t, "groups") {
		gbps := rapid.StringMatching(`[1-9][0-9]{0,3}(\.[0-9]{1,6})?(e-?[0-5])?`).Draw(t, "gbps")
		v, _ := new(big.Rat).SetString(gbps)
		r, _ := perByte(v)
		m.Groups = append(m.Groups, MappingGroup{ID: id, Gbps: gbps, PerByte: r,
			Hop:   rapid.Int64Range(0, math.MaxInt64/maxCrossing-1000).Draw(t, "hop"),
			Cable: rapid.Int64Range(0, 5000).Draw(t, "cable")})
	}
	for range n {
		g := int32(rapid.IntRange(-1, len(m.Groups)-1).Draw(t, "group"))
		sub := uint32(0)
		if g >= 0 {
			sub = rapid.Uint32().Draw(t, "subgroup")
		}
		m.Group, m.Subgroup = append(m.Group, g), append(m.Subgroup, sub)
	}
	return m
}

func TestMappingPrints(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawMapping(t)
		var list diag.List
		again := ParseMapping("m.txt", mappingText(m), &list)
		if d := cmp.Diff(m, again); d != "" {
			t.Fatalf("%s\n%s\n%v", d, mappingText(m), list.All())
		}
	})
}

func FuzzMapping(f *testing.F) {
	for _, s := range []string{
		"0 0\n1 1\n", "0,7,20,1\n@\n20 800 100 100\n", "@\n0 0 #\n@@\n", "0 0\r\n", "0\t0\n", "0 0 1\n",
		"0 4294967295\n", "0 0 0 0\n@\n0 1e-9 .5 1e3\n0 0x1 inf nan\n", "4294967295 0\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var list diag.List
		m := ParseMapping("m.txt", text, &list)
		if (m == nil) != list.HasErrors() {
			t.Fatalf("mapping %v, findings %v", m, list.All())
		}
		if m == nil {
			return
		}
		again := ParseMapping("m.txt", mappingText(m), &list)
		if d := cmp.Diff(m, again); d != "" {
			t.Fatalf("printed and read again: %s", d)
		}
	})
}

// BenchmarkMapping reads the largest set of the format's home, 4096 ranks.
func BenchmarkMapping(b *testing.B) {
	var text []byte
	for r := range 4096 {
		text = fmt.Appendf(text, "%d, %d, %d, %d\n", r, 4095-r, r/64, r/8%8)
	}
	text = append(text, "@\n"...)
	for g := range 64 {
		text = fmt.Appendf(text, "%d, 900, 100, 5.5\n", g)
	}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		var list diag.List
		if ParseMapping("m.txt", text, &list) == nil {
			b.Fatal(list.Err())
		}
	}
}

// mappingText writes a mapping in the form that ParseMapping reads, ranks in order.
func mappingText(m *Mapping) []byte {
	var b []byte
	for r, server := range m.Server {
		b = strconv.AppendInt(b, int64(r), 10)
		b = strconv.AppendUint(append(b, ' '), uint64(server), 10)
		if g := m.Group[r]; g >= 0 {
			b = strconv.AppendUint(append(b, ' '), uint64(m.Groups[g].ID), 10)
			b = strconv.AppendUint(append(b, ' '), uint64(m.Subgroup[r]), 10)
		}
		b = append(b, '\n')
	}
	if len(m.Groups) > 0 {
		b = append(b, "@ group, Gbps, switch ns, cable ns\n"...)
	}
	for _, g := range m.Groups {
		b = strconv.AppendUint(b, uint64(g.ID), 10)
		b = append(append(b, ' '), g.Gbps...)
		b = append(appendNanos(append(b, ' '), g.Hop), ' ')
		b = append(appendNanos(b, g.Cable), '\n')
	}
	return b
}

// appendNanos prints picoseconds in nanoseconds without loss.
func appendNanos(b []byte, ps int64) []byte {
	b = strconv.AppendInt(b, ps/1000, 10)
	if f := ps % 1000; f > 0 {
		b = append(b, '.', byte('0'+f/100), byte('0'+f/10%10), byte('0'+f%10))
	}
	return b
}
