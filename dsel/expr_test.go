package dsel

import (
	"testing"

	"hybrid/graph"
	"hybrid/internal/diag"
)

// evaluate compiles an expression in a program of 12 ranks with a 3 x 4 grid G
// (axes y, x; x periodic), fn twice(x), let me, and returns its value on a rank.
func evaluate(t *testing.T, text string, rank int32) (any, *findings) {
	t.Helper()
	src := "ranks 12\ngrid G axes y = 3, x = 4 periodic\nfn twice(x) = 2 * x\nlet me = 10 * rank\nlet probe = " + text + "\nprogram { }\n"
	list := &findings{}
	l := newLoader("e.hbp", Options{}, list)
	l.load([]byte(src))
	sym := l.root.lookup("probe")
	if sym == nil || list.HasErrors() {
		return nil, list
	}
	v, err := l.valueOf(sym).eval(&graph.Env{Rank: rank})
	if err != nil {
		list.Add(placed(err, diag.Pos{}).(diag.Diagnostic))
		return nil, list
	}
	return v, list
}

func TestExpressionValues(t *testing.T) {
	list := func(v ...any) any { return v }
	for _, test := range []struct {
		text string
		want any
	}{
		{"7/2", 3.5}, {"10/2", 5.0}, {"-7 % 8", int64(-7)}, {"mod(-7, 8)", int64(1)}, {"div(-7, 2)", int64(-4)},
		{"2 ** 10", 1024.0}, {"-2 ** 2", -4.0}, {"div(104, 2 ** 3)", int64(13)}, {"1..0", list()}, {"2..4", list(int64(2), int64(3), int64(4))},
		{"1 < 2 < 3", true}, {"0.1 + 0.2 == 0.3", false}, {"64KiB", int64(65536)}, {"1.2ms", int64(1_200_000_000)}, {"0x1F", int64(31)},
		{"400Gbps", 0.05}, {"4096B / 400Gbps", 81920.0}, {"1_000", int64(1000)}, {"1e6", 1e6},
		{"rank", int64(5)}, {"ranks", int64(12)}, {"me", int64(50)}, {"twice(rank) + 1", int64(11)},
		{"G.x", int64(1)}, {"G.y", int64(1)}, {"G.size(\"y\")", int64(3)}, {"G.shift(\"x\", -2)", int64(7)}, {"G.shift(\"y\", 2)", int64(noRank)},
		{"G.rank(2, -1)", int64(11)}, {"G.rank(3, 0)", int64(noRank)}, {"G.coord(11, \"x\")", int64(3)},
		{"rank == 5 ? 1us : 2us", int64(1_000_000)}, {"rank in 0..ranks-1", true}, {"rank in [1, 2]", false}, {"not (rank in [1, 2])", true},
		{"min(3, 1.5, 2)", 1.5}, {"max([4, 9, 2])", int64(9)}, {"sum([1, 2, 3])", int64(6)}, {"len(1..100)", int64(100)}, {"reverse(0..2)", list(int64(2), int64(1), int64(0))},
		{"floor(7/2)", int64(3)}, {"ceil(7/2)", int64(4)}, {"round(2.5)", int64(3)}, {"abs(-3)", int64(3)},
		{"ilog2(1000)", int64(9)}, {"isqrt(99)", int64(9)}, {"ispow2(64)", true}, {"divisors(12)", list(int64(1), int64(2), int64(3), int64(4), int64(6), int64(12))},
		{"near_square(12)", list(int64(3), int64(4))}, {"knomial_parent(6, 2)", int64(4)}, {"knomial_parent(0, 2)", int64(noRank)},
		{"knomial_children(4, 2, 8)", list(int64(5), int64(6))}, {"[1, 2, 3][rank - 4]", int64(2)},
		{"any(1..9, # > 8)", true}, {"count(0..9, # % 2 == 0)", int64(5)}, {"filter(0..5, # != rank)", list(int64(0), int64(1), int64(2), int64(3), int64(4))},
		{"map(1..3, # * rank)", list(int64(5), int64(10), int64(15))}, {"map(1..3, twice(#))", list(2.0, 4.0, 6.0)}, {"all(0..2, mod(#, 3) == #)", true},
		{"filter(0..3, G.coord(#, \"x\") > 1)", list(int64(2), int64(3))}, {"\"a\" + \"b\" == \"ab\"", true}, {"\"halo\" contains \"al\"", true},
	} {
		got, faults := evaluate(t, test.text, 5)
		if faults.HasErrors() {
			t.Errorf("%s: %s", test.text, render(&faults.List, ""))
			continue
		}
		if a, ok := got.([]any); ok {
			b := test.want.([]any)
			same := len(a) == len(b)
			for i := range a {
				same = same && i < len(b) && a[i] == b[i]
			}
			if !same {
				t.Errorf("%s = %v, want %v", test.text, a, b)
			}
			continue
		}
		if got != test.want {
			t.Errorf("%s = %v (%T), want %v", test.text, got, got, test.want)
		}
	}
}

func TestExpressionFaults(t *testing.T) {
	for text, want := range map[string]string{
		"1B + 1us": "E220", "1B < 1us": "E220", "1B + 1": "E220", "rank ? 1 : 2": "E220", "unknown": "E210", "G.z": "E210", "twice(1, 2)": "E213",
		"any": "E210", "1 % 0": "E222", "9223372036854775807 + 1": "E222", "G.shift(\"q\", 1)": "E210", "now()": "E205", "[1, 1us]": "E220",
		"map(0..3, map(0..3, #))": "E205", "mod(1, 0)": "E222", "[1, 2][5]": "E222", "1B ** 0.5": "E220", "repeat(\"x\", 3)": "E205", "G": "E210", "rank(1)": "E210",
		"99999999999999999999": "E106", "2kB ** rank": "E220", "G.shift(\"x\")": "E213",
	} {
		_, faults := evaluate(t, text, 5)
		found := false
		for _, d := range faults.All() {
			found = found || d.Code == want
		}
		if !found {
			t.Errorf("%s: want %s, got\n%s", text, want, render(&faults.List, ""))
		}
	}
}
