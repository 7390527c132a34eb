package units

import (
	"testing"
)

func TestParse(t *testing.T) {
	tests := []struct {
		text string
		want Rat
		dim  Dimension
	}{
		{"64KiB", Int(65536), Size},
		{"8kB", Int(8000), Size},
		{"0.5us", Int(500_000), Duration},
		{"400Gbps", Int(20), PerByte},                         // 8 bit / 400e9 bit/s = 20 ps
		{"900GB/s", NewRat(10, 9), PerByte},                   // 1e12 / 900e9 ps a byte
		{"429496729600bps", NewRat(9765625, 524288), PerByte}, // 50*2^30 B/s
		{"0.04ns/B", Int(40), PerByte},
		{"2.4GHz", Int(2_400_000_000), Frequency},
		{"1e3ns", Int(1_000_000), Duration},
		{"1_000B", Int(1000), Size},
		{"2.5Tflop/s", Int(2_500_000_000_000), Flops},
	}
	for _, tt := range tests {
		got, dim, err := Parse(tt.text)
		if err != nil || got != tt.want || dim != tt.dim {
			t.Errorf("Parse(%q) = %v %v, %v; want %v %v", tt.text, got, dim, err, tt.want, tt.dim)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	tests := []struct{ text, want string }{
		{"64k", `unknown unit "k" in 64k: write 64KiB or 64kB`},
		{"100GBps", `unknown unit "GBps" in 100GBps: write 100GB/s or 100Gbps`},
		{"3sec", `unknown unit "sec" in 3sec: write 3s`},
		{"fast", `"fast" is not a quantity: write a number and a unit, such as 64KiB`},
		{"0Gbps", "0Gbps is not a rate: it must be positive"},
	}
	for _, tt := range tests {
		if _, _, err := Parse(tt.text); err == nil || err.Error() != tt.want {
			t.Errorf("Parse(%q): %v; want %s", tt.text, err, tt.want)
		}
	}
	if _, err := ParseAs("500", Duration); err == nil || err.Error() != "500 has no unit: a time is expected, such as 1.5us" {
		t.Errorf("ParseAs bare number: %v", err)
	}
	if _, err := ParseInt("0.3ps", Duration); err == nil {
		t.Error("ParseInt accepts a third of a picosecond")
	}
}

func TestClock(t *testing.T) {
	// 50*2^30 B/s: a byte takes 9765625/2^19 ps, so the tick is 2^-19 ps and
	// 131,072 B take 9765625/4 ps = 9765625 * 2^17 ticks.
	fifty := NewRat(9765625, 524288)
	c := NewClock(fifty, Int(20))
	if c.PerPS != 524288 || !c.Exact {
		t.Fatalf("clock %+v", c)
	}
	if got, want := c.Span(fifty, 131072), Time(9765625)<<17; got != want {
		t.Errorf("Span = %d, want %d", got, want)
	}
	if got := c.PS(c.Span(fifty, 131072)); got != 2441406 {
		t.Errorf("PS = %d", got)
	}
	if c := NewClock(NewRat(1, 1<<20), NewRat(1, 3)); c.Exact || c.PerPS != 1 {
		t.Errorf("too fine a clock is kept: %+v", c)
	}
	if got := PicosecondClock().Span(NewRat(10, 9), 4096); got != 4551 { // 4551.1 ps
		t.Errorf("rounded span = %d", got)
	}
}

func TestMulDiv(t *testing.T) {
	for _, tt := range [][4]int64{{7, 3, 2, 11}, {1 << 62, 6, 4, 1<<62 + 1<<61}, {1 << 62, 4, 1, 1<<63 - 1}, {5, 1, 10, 1}} {
		if got := MulDiv(tt[0], tt[1], tt[2]); got != tt[3] {
			t.Errorf("MulDiv(%d,%d,%d) = %d, want %d", tt[0], tt[1], tt[2], got, tt[3])
		}
	}
}

func TestFormat(t *testing.T) {
	if got := FormatPS(103_000_700); got != "103.001 us" {
		t.Error(got)
	}
	if got := FormatBytes(65536) + " " + FormatBytes(125) + " " + FormatBytes(8_000_000); got != "64KiB 125B 8MB" {
		t.Error(got)
	}
	if got := FormatCount(-1048576); got != "-1,048,576" {
		t.Error(got)
	}
	if got := FormatRate(Int(20)); got != "400Gbps" {
		t.Error(got)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"64KiB", "0.5us", "400Gbps", "1e3ns", "64k", "-3B", "1e99999B", ".", "9223372036854775808B"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r, _, err := Parse(s)
		if err == nil && r.Den <= 0 {
			t.Fatalf("Parse(%q) = %+v", s, r)
		}
	})
}

func TestReadableBytes(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0B", 8: "8B", 1000: "1,000B", 1024: "1KiB", 65536: "64KiB", 61_860: "61,860B", 100_001: "100.0kB",
		236_044_000: "236.0MB", 6 << 20: "6MiB", 999_950_000: "1.000GB", 24_380_832: "24.38MB", 1_048_577: "1.049MB",
		9223372036854775807: "9.223EB",
	} {
		if got := ReadableBytes(n); got != want {
			t.Errorf("%d bytes are printed as %s, want %s", n, got, want)
		}
	}
}
