package dsel

import (
	"fmt"
	"math"
	"testing"

	"github.com/alecthomas/participle/v2/lexer"
	"github.com/expr-lang/expr"
	"pgregory.net/rapid"

	"hybrid/graph"
)

// number draws the text of a numeric expression over rank and i.
func number(t *rapid.T, depth int) string {
	if depth == 0 {
		return rapid.SampledFrom([]string{"0", "1", "2", "7", "12", "2.5", "rank", "i"}).Draw(t, "leaf")
	}
	a, b := number(t, depth-1), number(t, depth-1)
	switch rapid.IntRange(0, 7).Draw(t, "form") {
	case 0, 1, 2:
		op := rapid.SampledFrom([]string{"+", "-", "*", "/"}).Draw(t, "op")
		if op == "/" { // by what is not zero
			b = rapid.SampledFrom([]string{"2", "7", "2.5", "(i + 1)", "(rank + 3)"}).Draw(t, "divisor")
		}
		return fmt.Sprintf("(%s %s %s)", a, op, b)
	case 3:
		return fmt.Sprintf("min(%s, %s)", a, b)
	case 4:
		return fmt.Sprintf("max(%s, %s)", a, b)
	case 5:
		return fmt.Sprintf("(%s ? %s : %s)", truth(t, depth-1), a, b)
	case 6:
		return fmt.Sprintf("-%s", a)
	}
	return fmt.Sprintf("abs(%s)", a)
}

// truth draws the text of a condition.
func truth(t *rapid.T, depth int) string {
	op := rapid.SampledFrom([]string{"==", "!=", "<", "<=", ">", ">="}).Draw(t, "compare")
	s := fmt.Sprintf("%s %s %s", number(t, depth), op, number(t, depth))
	if depth > 0 && rapid.Bool().Draw(t, "combine") {
		word := rapid.SampledFrom([]string{"and", "or"}).Draw(t, "word")
		s = fmt.Sprintf("(%s) %s not (%s)", s, word, truth(t, depth-1))
	}
	return s
}

// TestNativeMatchesMachine: what is compiled natively has the value that expr's
// own evaluation gives, whether it is constant, per rank or per iteration.
func TestNativeMatchesMachine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := number(t, rapid.IntRange(1, 4).Draw(t, "depth"))
		rank, i := rapid.IntRange(0, 5).Draw(t, "rank"), rapid.IntRange(0, 9).Draw(t, "i")
		want, err := expr.Eval(text, map[string]any{"rank": rank, "i": i})
		if err != nil {
			t.Skip(err)
		}
		list := &findings{}
		l := newLoader("p.hbp", Options{}, list)
		l.ranks = 6
		inner := &scope{parent: l.root}
		inner.value("i", "loop variable", posOf(lexer.Position{}), new(bool), counter(0))
		k := l.compile(expressionOf(text), inner)
		if k.kind == kindBad {
			t.Fatalf("%s: %s", text, render(&list.List, text))
		}
		got, err := k.eval(&graph.Env{Rank: int32(rank), Loops: []int64{int64(i)}})
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		x, _ := floatOf(got)
		y, _ := floatOf(want)
		if x != y {
			t.Fatalf("%s with rank %d, i %d is %v, expr says %v", text, rank, i, got, want)
		}
	})
}

// expressionOf scans text to an expression.
func expressionOf(text string) *expression {
	e := &expression{}
	if err := e.Parse(newItemParser(scan("p.hbp", []byte(text), &findings{}), &findings{}).lex); err != nil {
		panic(err)
	}
	return e
}

// TestGridShift: shift moves back what it moved, coordinates rebuild the rank,
// and every group along an axis holds the rank at its coordinate.
func TestGridShift(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 3).Draw(t, "axes")
		g := &grid{}
		stride := int64(1)
		for k := range n {
			e := int64(rapid.IntRange(1, 5).Draw(t, "extent"))
			g.axes = append([]gridAxis{{name: string(rune('z' - k)), extent: e, stride: stride, periodic: rapid.Bool().Draw(t, "periodic")}}, g.axes...)
			stride *= e
		}
		rank := rapid.Int64Range(0, stride-1).Draw(t, "rank")
		sum := int64(0)
		for i := range g.axes {
			a := &g.axes[i]
			sum += a.coord(rank) * a.stride
			d := rapid.Int64Range(-7, 7).Draw(t, "d")
			to := a.shift(rank, d)
			if to != noRank && a.shift(to, -d) != rank {
				t.Fatalf("shift(%d, %d) is %d, and back %d", rank, d, to, a.shift(to, -d))
			}
			if to == noRank && a.periodic {
				t.Fatalf("norank on a periodic axis")
			}
			span := make([]bool, n)
			span[i] = true
			members := spanned(g, span, int32(rank-a.coord(rank)*a.stride))
			if len(members) != int(a.extent) || members[a.coord(rank)] != int32(rank) {
				t.Fatalf("group %v of rank %d", members, rank)
			}
		}
		if sum != rank {
			t.Fatalf("coordinates of %d give %d", rank, sum)
		}
	})
}

func TestFloorDivision(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.Int64Range(-1000, 1000).Draw(t, "a")
		b := rapid.Int64Range(-20, 20).Filter(func(n int64) bool { return n != 0 }).Draw(t, "b")
		q, m := floorDiv(a, b), floorMod(a, b)
		if q*b+m != a || m != 0 && (m < 0) != (b < 0) || q != int64(math.Floor(float64(a)/float64(b))) {
			t.Fatalf("%d = %d * %d + %d", a, q, b, m)
		}
	})
}
