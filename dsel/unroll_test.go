package dsel

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	algorithms "hybrid/graph/collective"
	"hybrid/graph/replay"
)

// writer draws a program once and writes it twice: with its loops, and with every
// iteration written out. In the second form loop variables are numbers and the
// labels of an iteration carry its number.
type writer struct {
	t     *rapid.T
	label int
}

// piece is a statement as a function of how it is written: by names (nil) or for
// the iterations of the loops around.
type piece func(at []int) string

// names are the loop variables by depth.
func loopName(depth int) string { return string(rune('i' + depth)) }

// expression draws a whole number of at least 0 over the loop variables.
func (w *writer) expression(depth int) piece {
	k, c := rapid.IntRange(0, 3).Draw(w.t, "factor"), rapid.IntRange(0, 3).Draw(w.t, "addend")
	if depth == 0 {
		return func([]int) string { return fmt.Sprint(c) }
	}
	d := rapid.IntRange(0, depth-1).Draw(w.t, "variable")
	return func(at []int) string {
		v := loopName(d)
		if at != nil {
			v = fmt.Sprint(at[d])
		}
		return fmt.Sprintf("%d * %s + %d", k, v, c)
	}
}

// suffix tells the labels of iterations apart where they are written out.
func suffix(at []int, depth int) string {
	s := ""
	for d := range min(depth, len(at)) {
		s += fmt.Sprintf("_%d", at[d])
	}
	return s
}

func (w *writer) block(depth, size int) piece {
	var parts []piece
	for range rapid.IntRange(1, size).Draw(w.t, "statements") {
		parts = append(parts, w.statement(depth))
	}
	return func(at []int) string {
		s := ""
		for _, p := range parts {
			s += p(at)
		}
		return s
	}
}

func (w *writer) statement(depth int) piece {
	e := w.expression(depth)
	switch rapid.IntRange(0, 11).Draw(w.t, "kind") {
	case 0, 1:
		return func(at []int) string { return "compute (" + e(at) + ") * 1us\n" }
	case 2:
		return func(at []int) string { return "async send 8B * (" + e(at) + ") to mod(rank + " + e(at) + ", ranks)\n" }
	case 3:
		return func(at []int) string { return "irecv 8B from mod(rank - (" + e(at) + "), ranks) tag " + e(at) + "\n" }
	case 4:
		return func(at []int) string { return "halo G [x: 8B * (" + e(at) + "), y: 16B]\n" }
	case 5:
		return func(at []int) string {
			return "exchange 1B * (" + e(at) + ") + 1B * peer with [mod(rank + 1, ranks), G.shift(\"x\", 1)]\n"
		}
	case 6: // a label of this iteration and a wait for it
		w.label++
		n := w.label
		between := w.statement(depth)
		return func(at []int) string {
			l := fmt.Sprintf("@a%d%s", n, suffix(at, depth))
			return l + " async compute (" + e(at) + ") * 1us\n" + between(at) + "async compute 3us after " + l + "\nwait " + l + "\n"
		}
	case 7:
		return func(at []int) string { return "sendrecv 8B to G.shift(\"y\", 1) from G.shift(\"y\", -1) stream s\n" }
	case 8:
		return func(at []int) string { return "send 8B to (" + e(at) + ") % 2 == 0 ? norank : mod(rank + 1, ranks)\n" }
	case 9:
		inner, other := w.block(depth, 2), w.block(depth, 2)
		return func(at []int) string {
			return "if (" + e(at) + ") % 2 == 0 {\n" + inner(at) + "} else {\n" + other(at) + "}\n"
		}
	case 10:
		return func(at []int) string {
			return "par {\ncompute (" + e(at) + ") * 1us\nallreduce 8B over G[x] algo ring\n}\nalltoallv 2B * peer + 1B * (" + e(at) + ") over G[y]\n"
		}
	}
	return w.loop(depth)
}

// loop draws a loop and the ways to wait for what its iterations started.
func (w *writer) loop(depth int) piece {
	if depth >= 3 {
		return func([]int) string { return "waitall\n" }
	}
	trips := rapid.IntRange(0, 3).Draw(w.t, "trips")
	body := w.block(depth+1, 3)
	w.label++
	n, back := w.label, rapid.IntRange(0, 2).Draw(w.t, "back")
	head := rapid.SampledFrom([]string{"repeat %[1]d as %[2]s {\n", "for %[2]s in 0..%[1]d-1 {\n", "repeat (%[1]d + 0 * rank) as %[2]s {\n"}).Draw(w.t, "head")
	return func(at []int) string {
		l := fmt.Sprintf("@b%d", n)
		if at == nil {
			s := fmt.Sprintf(head, trips, loopName(depth)) + body(nil) + l + "[" + loopName(depth) + "] async compute 7us"
			if back > 0 {
				s = fmt.Sprintf(head, trips, loopName(depth)) + body(nil) + l + " async compute 7us after " + l + fmt.Sprintf(".prev(%d)", back)
			}
			return s + "\n}\nwait " + l + "[*]\n"
		}
		s, waits := "", ""
		for k := range trips {
			inner := append(append([]int{}, at...), k)
			name := l + suffix(inner, depth+1)
			s += body(inner) + name + " async compute 7us"
			if back > 0 && k >= back {
				s += " after " + l + suffix(append(append([]int{}, at...), k-back), depth+1)
			}
			s += "\n"
			waits += " " + name
		}
		if waits == "" {
			return s + "seq { }\nwait @none\n"
		}
		return s + "wait" + waits + "\n"
	}
}

// issues runs one rank alone; operations end in an order that the seed decides.
// Contexts are left out: they number the statements.
func issues(t *rapid.T, src string, rank int, seed uint64) []string {
	g := priced(loadText(t, "u.hbp", src))
	c := replay.NewCursor(replay.Config{Graph: g}, algorithms.NewTable(), rank)
	held := c.Start(0, nil)
	var out []string
	add := func(is []replay.Issue) {
		for _, i := range is {
			out = append(out, fmt.Sprint(i.Kind, i.Peer, i.Tag, i.Bytes, i.Duration, i.InCollective))
		}
		out = append(out, "-")
	}
	add(held)
	for step := int64(1); len(held) > 0; step++ {
		k := int(mix(seed, uint64(step)) % uint64(len(held)))
		h := held[k].Handle
		held = append(held[:k], held[k+1:]...)
		fresh := c.Done(h, step, nil)
		add(fresh)
		held = append(held, fresh...)
	}
	if err := c.Err(); err != nil {
		t.Fatal(err)
	}
	if !c.Finished() {
		t.Fatalf("rank %d does not finish", rank)
	}
	return out
}

// TestLoopsEqualTheirIterations: a program with loops issues the same operations
// in the same order as the one in which every iteration is written out, whatever
// the order in which they end.
func TestLoopsEqualTheirIterations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &writer{t: t}
		body := w.block(0, 4)
		const head = "ranks 6\nstream s\ngrid G axes y = 2 periodic, x = 3\nprogram {\n@none async compute 1us\nwait @none\n"
		loops, flat := head+body(nil)+"}\n", head+body([]int{})+"}\n"
		rank, seed := rapid.IntRange(0, 5).Draw(t, "rank"), rapid.Uint64().Draw(t, "seed")
		a, b := issues(t, loops, rank, seed), issues(t, flat, rank, seed)
		for i := range max(len(a), len(b)) {
			if i >= len(a) || i >= len(b) || a[i] != b[i] {
				t.Fatalf("rank %d differs at step %d of %d and %d\n%s\n---\n%s", rank, i, len(a), len(b), loops, flat)
			}
		}
	})
}
