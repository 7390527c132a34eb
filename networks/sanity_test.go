package networks

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hybrid/internal/diag"
)

// codes returns the codes of the findings of a file that are not remarks.
func codes(t *testing.T, src string) string {
	t.Helper()
	var l diag.List
	Parse("a.yml", []byte(src), nil, &l)
	var out []string
	for _, d := range l.All() {
		if d.Severity != diag.Info {
			out = append(out, d.Code)
		}
	}
	return strings.Join(out, " ")
}

// Each file has one thing that cannot be meant, and one finding; the first has none.
func TestSanity(t *testing.T) {
	const fabric = "fabric: {link: {rate: 400Gbps, delay: 500ns}, wire: none}\ntopology: star\n"
	level := func(body string) string {
		return fabric + "levels: {inter_node: {eager_limit: 64KiB, " + body + "}}\n"
	}
	tests := []struct{ src, want string }{
		{level("hockney: {latency: 1.4us, bandwidth: 50GB/s}, loggp: {L: 1us, o: 0.2us, G: 0.02ns/B}"), ""},
		{level("loggp: {L: 1us, o: 200us, G: 0.02ns/B}"), "W840"},
		{level("hockney: {latency: 500ps, bandwidth: 50GB/s}"), "W840"},
		{level("hockney: {latency: 1us, bandwidth: 50Gbps}"), "W841"},                                           // 1/8 of the link
		{level("hockney: {latency: 1us, bandwidth: 400GB/s}"), "W821 W841"},                                     // 8 times the link
		{level("hockney: {latency: 1us, bandwidth: 5GB/s}"), "W842"},                                            // a tenth
		{level("hockney: {latency: 2us, bandwidth: 50GB/s}, loggp: {L: 1us, o: 0.2us, G: 0.02ns/B}"), "W843"},   // 2 and 1.4 us
		{level("hockney: {latency: 1.4us, bandwidth: 50GB/s}, loggp: {L: 1us, o: 0.2us, G: 0.03ns/B}"), "W843"}, // 20 and 30 ps/B
		{level("hockney: {latency: 1us, bandwidth: 50GB/s}, loggp: {L: 1us, o: 0.2us, G: 0.02ns/B}"), "W844"},   // L = latency
		{level("loggp: {L: 1us, o: 0.2us, g: 5us, G: 0.02ns/B}"), "W846"},                                       // L + 2o = 1.4 us
		{level("loggp: {L: 1us, o: 0.2us, G: 0.02ns/B, O: 0.03ns/B}"), "W847"},
		{level("loggp: {L: 10us, o: 0.2us, G: 0.02ns/B}"), "W851"}, // the fabric takes 1 us
		{level("loggp: {L: 0.7us, o: 0.2us, G: 0.02ns/B}"), "W851"},
		{level("hockney: {pieces: [{from: 0B, latency: 5us, bandwidth: 50GB/s}, {from: 8KiB, latency: 4us, bandwidth: 50GB/s}]}"), "W849"}, // 5.16 to 4.16 us
		{level("hockney: {pieces: [{from: 0B, latency: 1us, bandwidth: 50GB/s}, {from: 8KiB, latency: 4us, bandwidth: 50GB/s}]}"), "W849"}, // 1.16 to 4.16 us
		{level("hockney: {pieces: [{from: 0B, latency: 5us, bandwidth: 50GB/s}, {from: 8KiB, latency: 4.9us, bandwidth: 50GB/s}]}"), ""},
		{strings.ReplaceAll(level("hockney: {latency: 1us, bandwidth: 50GB/s}"), "64KiB", "15535B"), "W848"}, // 849 B below 16 KiB
		{strings.ReplaceAll(level("hockney: {latency: 1us, bandwidth: 50GB/s}"), "64KiB", "65535B"), ""},
		{strings.ReplaceAll(level("hockney: {latency: 1us, bandwidth: 50GB/s}"), "64KiB", "1GiB"), "W848"},
		{strings.ReplaceAll(level("hockney: {latency: 1us, bandwidth: 50GB/s}"), "eager_limit: 64KiB, ", ""), "W823"},
		{fabric, "W824"},
		{level("loggp: {pieces: [{from: 0B, L: 1us, o: 0.2us, G: 0.08ns/B, O: 0.01ns/B}, {from: 1KiB, L: 1us, o: 0.3us, G: 0.08ns/B, O: 0.01ns/B}, " +
			"{from: 2KiB, L: 1us, o: 0.5us, G: 0.08ns/B, O: 0.01ns/B}]}"), "W845"},
		{"levels:\n  intra_chip: {eager_limit: 1KiB, hockney: {latency: 5us, bandwidth: 10GB/s}}\n  inter_node: {eager_limit: 1KiB, hockney: {latency: 1us, bandwidth: 10GB/s}}\n", "W850"},
		{"levels:\n  intra_chip: {eager_limit: 1KiB, hockney: {latency: 1us, bandwidth: 10GB/s}}\n  inter_node: {eager_limit: 2KiB, hockney: {latency: 1us, bandwidth: 10GB/s}}\n", "W852"},
	}
	for _, tt := range tests {
		if got := codes(t, tt.src); got != tt.want {
			t.Errorf("%s: findings %q, want %q", tt.src, got, tt.want)
		}
	}
}

// A table in which latency is the measured time of the whole message and the time per
// byte that time over the size, as some published tables have it, is refused.
func TestSanityTotals(t *testing.T) {
	var rows []string
	for _, size := range []int64{0, 1025, 2049, 4097} {
		total := 1000 + size/10 // ns
		rows = append(rows, fmt.Sprintf("        - {from: %dB, latency: %dns, bandwidth: %fns/B}", size, total, float64(total)/float64(max(1, size))))
	}
	src := "levels:\n  inter_node:\n    eager_limit: 65535B\n    hockney:\n      pieces:\n" + strings.Join(rows, "\n") + "\n"
	var l diag.List
	if n := Parse("a.yml", []byte(src), nil, &l); n != nil {
		t.Error("the table is accepted")
	}
	want := "a.yml:9:34: error: inter_node: latency is the time of the whole message (size times the time per byte) on 3 of 3 rows [E818]\n"
	var errors diag.List
	for _, d := range l.All() {
		if d.Severity == diag.Error {
			errors.Add(d)
		}
	}
	if d := cmp.Diff(want, messages(&errors)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// A finding points at the piece and key that it is about.
func TestSanityPosition(t *testing.T) {
	src := `levels:
  inter_node:
    eager_limit: 4KiB
    loggp:
      pieces:
        - {from: 0B, L: 1us, o: 0.2us, G: 0.1ns/B}
        - {from: 8KiB, L: 1us, o: 0.2us, g: 1s, G: 0.1ns/B}
`
	want := `a.yml:7:45: warning: inter_node: g is 1.000 s; a slip of the unit? [W840]
a.yml:7:45: warning: inter_node: g is 1.000 s, more than L + 2o: a message would block the next for longer than it travels [W846]
`
	var l diag.List
	Parse("a.yml", []byte(src), nil, &l)
	var warnings diag.List
	for _, d := range l.All() {
		if d.Severity == diag.Warning {
			warnings.Add(d)
		}
	}
	if d := cmp.Diff(want, messages(&warnings)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// Every code that this package reports has an entry in the table of codes.
func TestSanityCodesAreExplained(t *testing.T) {
	for _, c := range strings.Fields("E801 E802 E803 E804 E805 E806 E807 E808 E809 E810 E811 E812 E813 E814 E815 E816 E817 E818 W820 W821 W822 W823 W824 W825 W826 " +
		"W840 W841 W842 W843 W844 W845 W846 W847 W848 W849 W850 W851 W852") {
		if _, ok := diag.Explain(c); !ok {
			t.Errorf("%s is not explained", c)
		}
	}
}
