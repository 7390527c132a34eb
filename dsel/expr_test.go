package dsel

import (
	"math"
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
		{"sum([])", int64(0)}, {"sum([1, 2.5])", 3.5}, {"concat([1], [2.5])[1]", 2.5}, {"max(concat([1], [2.5]))", 2.5}, {"concat([], [3])[0]", int64(3)},
		{"2 * sum(map(0..3, # * 1B)) + 1B", 13.0}, {"map(0..1, G.rank(#, 1))", list(int64(1), int64(5))}, {"map(0..1, G.x + #)", list(int64(1), int64(2))},
		{"G.shift(\"y\", 2) == norank ? 7 : G.shift(\"y\", 2) + 1", int64(7)}, {"G.shift(\"y\", 1) + 1", int64(10)}, {"norank in [G.shift(\"y\", 2), 3]", true},
		{"sum([9223372036854775807, 9223372036854775807, 0.5])", 18446744073709551614.0}, {"-9223372036854775807 - 1", int64(math.MinInt64)},
		{"first([4, 5])", int64(4)}, {"find(0..9, # > 3)", int64(4)}, {"findIndex([5, 6], # == 6)", int64(1)}, {"reduce(1..3, #acc + #)", 6.0}, {"[1, 2, 3][1:2]", list(int64(2))},
		{"010", int64(10)}, {"1 in 0..9223372036854775807", true}, {"0.5 in 0..3", false}, {"rank in [4, 5]", true}, {"5.0 in [4, 5]", true}, {"\"a\" in [\"a\"]", true},
		{"div(7us, 2us)", int64(3)}, {"div(7us, 2)", int64(3_500_000)}, {"mod(7us, 2us)", int64(1_000_000)}, {"7us % 2us", int64(1_000_000)}, {"1Gbps * 1s", 125e6}, {"2GHz * 1us", 2000.0},
		{"isqrt(9223372036854775807)", int64(3037000499)}, {"len(0..9223372036854775807)", int64(math.MaxInt64)}, {"(rank == 5 ? 0..2 : [7])[1]", int64(1)}, {"knomial_parent(5, 9223372036854775807)", int64(0)},
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
		"99999999999999999999": "E106", "2kB ** rank": "E220", "first([])": "E222", "find(0..3, # > 10)": "E222", "concat([1B], [1us])": "E220", "concat([1], [\"a\"])": "E220", "map(0..3, G.z)": "E210",
		"mod(G.shift(\"y\", 2), 4)": "E301", "G.shift(\"y\", 2) + 1": "E301", "-G.shift(\"y\", 2)": "E301", "max(3, G.shift(\"y\", 2))": "E301", "sum([norank, 1])": "E301",
		"G.coord(12, \"x\")": "E301", "G.coord(G.shift(\"y\", 2), \"x\")": "E301", "G.shift(\"x\", G.shift(\"y\", 2))": "E301", "abs(norank * 1)": "E301", "map(9..12, G.coord(#, \"x\"))": "E222",
		"abs(-9223372036854775807 - 1)": "E222", "-(-9223372036854775807 - 1)": "E222", "9223372036854775807 * 2": "E222", "3037000500 * 3037000500": "E222", "-9223372036854775807 - 2": "E222",
		"div(-9223372036854775807 - 1, -1)": "E222", "floor(1e300)": "E222", "1e400": "E106", "1e308B": "E106", "0x": "E106", "ilog2(0)": "E222", "1 ?? 2": "E205", "nil": "E205", "'a'": "E104",
		"true ? 1 : 2us": "E220", "[1] == [1]": "E220", "0..2..4": "E220", "7.5 % 2": "E220", "7 % 2us": "E220", "G.shift(\"x\")": "E213",
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

// TestQuantityNames: no name that a blueprint can declare stands for a literal.
func TestQuantityNames(t *testing.T) {
	g := loadText(t, "q.hbp", "ranks 1\nlet q__0 = 5us\nlet q__2 = 7us\nprogram { compute 4us + q__0 + q__2 }\n")
	if n, ok := g.Programs[0].Const(g.Programs[0].Works[0].Time); !ok || n != 16_000_000 {
		t.Errorf("4us + 5us + 7us is %d ps", n)
	}
}
