package networks

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
)

// fillTable computes the next hops of all switches and of one host of each class, and
// orders their links to switches accordingly.
func (g *wiredGraph) fillTable() error {
	g.table = make([]hop, (g.switches+g.classes)*g.classes)
	members := make([][]int32, g.classes)
	for h, c := range g.class {
		members[c] = append(members[c], int32(h))
	}
	moved := make([]int32, len(g.links)) // by old ID
	for i := range moved {
		moved[i] = int32(i)
	}
	for row := range g.switches + g.classes {
		nodes := []int32{int32(g.hosts + row)}
		if row >= g.switches {
			nodes = members[row-g.switches]
		}
		at := nodes[0]
		if n := g.base[at+1] - g.inner[at]; n > 1<<16-1 {
			return fmt.Errorf("%s has %d links to switches; at most 65535 are possible", g.label(at), n)
		}
		order := g.fillRow(at, g.table[row*g.classes:(row+1)*g.classes])
		for _, node := range nodes {
			for to, from := range order {
				moved[g.inner[node]+int32(from)] = g.inner[node] + int32(to)
			}
		}
	}
	links, back := make([]Link, len(g.links)), make([]int32, len(g.links))
	for old, id := range moved {
		links[id], back[id] = g.links[old], moved[g.back[old]]
	}
	g.links, g.back = links, back
	return nil
}

// linkSet is a set of a node's links to switches, one bit each.
type linkSet []uint64

func (s linkSet) has(i int) bool { return s[i>>6]>>(i&63)&1 != 0 }

func (s linkSet) size() int {
	n := 0
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// nextSets returns the different sets of next hops of a node, and the one of each class;
// -1 where there is none.
func (g *wiredGraph) nextSets(at int32) (sets []linkSet, of []int32) {
	links := g.links[g.inner[at]:g.base[at+1]]
	words := (len(links) + 63) / 64
	buf := make(linkSet, words)
	key := make([]byte, 8*words)
	byKey := map[string]int32{}
	of = make([]int32, g.classes)
	for c := range g.classes {
		of[c] = -1
		dist := g.dist[c*g.switches : (c+1)*g.switches]
		nearest := uint16(0)
		for i := range links {
			d := dist[int(links[i].To)-g.hosts]
			if d != 0 && (nearest == 0 || d < nearest) {
				nearest = d
			}
		}
		if nearest == 0 || !g.isHost(at) && nearest >= dist[int(at)-g.hosts] {
			continue // no way, or dst hangs on the node itself
		}
		clear(buf)
		for i := range links {
			if dist[int(links[i].To)-g.hosts] == nearest {
				buf[i>>6] |= 1 << (i & 63)
			}
		}
		for i, w := range buf {
			for b := range 8 {
				key[8*i+b] = byte(w >> (8 * b))
			}
		}
		id, ok := byKey[string(key)]
		if !ok {
			id = int32(len(sets))
			byKey[string(key)] = id
			sets = append(sets, slices.Clone(buf))
		}
		of[c] = id
	}
	return sets, of
}

// fillRow fills a node's part of the table and returns the order of its links to
// switches.
func (g *wiredGraph) fillRow(at int32, row []hop) (order []int) {
	sets, of := g.nextSets(at)
	order = neighbors(sets, int(g.base[at+1]-g.inner[at]))
	hops := make([]hop, len(sets))
	for i, s := range sets {
		hops[i] = longestRun(s, order)
		if int(hops[i].n) < s.size() {
			g.partial++
		}
	}
	for c, id := range of {
		if id >= 0 {
			row[c] = hops[id]
		}
	}
	return order
}

// neighbors orders n links so that the members of each set are neighbours where that is
// possible for all sets that fold into each other or keep apart, as in trees and Clos
// networks: larger sets first, each moved together within what the ones before it left.
func neighbors(sets []linkSet, n int) []int {
	blocks := [][]int{make([]int, n)}
	for i := range n {
		blocks[0][i] = i
	}
	bySize := slices.Clone(sets)
	slices.SortStableFunc(bySize, func(a, b linkSet) int { return cmp.Compare(b.size(), a.size()) })
	for _, s := range bySize {
		blocks = refine(blocks, s)
	}
	return slices.Concat(blocks...)
}

// refine splits the blocks at both ends of a set's so that its members meet; where
// there are others between them, all stays as it is.
func refine(blocks [][]int, s linkSet) [][]int {
	inside := make([]int, len(blocks))
	first, last := -1, -1
	for i, b := range blocks {
		for _, l := range b {
			if s.has(l) {
				inside[i]++
			}
		}
		if inside[i] > 0 {
			if first < 0 {
				first = i
			}
			last = i
		}
	}
	for i := first + 1; i < last; i++ {
		if inside[i] < len(blocks[i]) {
			return blocks
		}
	}
	var out [][]int
	for i, b := range blocks {
		if i != first && i != last || inside[i] == len(b) {
			out = append(out, b)
			continue
		}
		var in, not []int
		for _, l := range b {
			if s.has(l) {
				in = append(in, l)
			} else {
				not = append(not, l)
			}
		}
		if i == first && i != last {
			out = append(out, not, in)
		} else {
			out = append(out, in, not)
		}
	}
	return out
}

// longestRun returns the longest run of a set's members in an order.
func longestRun(s linkSet, order []int) hop {
	var best hop
	run := 0
	for i, l := range order {
		if !s.has(l) {
			run = 0
			continue
		}
		if run++; run > int(best.n) {
			best = hop{uint16(i - run + 1), uint16(run)}
		}
	}
	return best
}
