package des

import (
	"hybrid/des/nic"
	"hybrid/internal/units"
)

// ports are the NICs of a domain in the order of their nodes, with a tournament of which
// one sends next: of several at one time the first.
type ports struct {
	nics []*nic.NIC
	due  []units.Time // by leaf
	win  []int32      // by inner node of a complete tree, the root at 1
}

// add appends a NIC; ready follows the last one.
func (p *ports) add(n *nic.NIC) { p.nics = append(p.nics, n) }

// ready builds the tournament.
func (p *ports) ready() {
	leaves := 1
	for leaves < len(p.nics) {
		leaves *= 2
	}
	p.due, p.win = make([]units.Time, leaves), make([]int32, leaves)
	for i := range p.due {
		p.due[i] = units.Never
	}
	for i := leaves - 1; i >= 1; i-- {
		p.play(i)
	}
}

// winner returns the winner of an inner node's or a leaf's part of the tree.
func (p *ports) winner(at int) int32 {
	if at >= len(p.win) {
		return int32(at - len(p.win))
	}
	return p.win[at]
}

func (p *ports) play(at int) {
	a, b := p.winner(2*at), p.winner(2*at+1)
	if p.due[b] < p.due[a] {
		a = b
	}
	p.win[at] = a
}

// update takes note of a NIC that may be due at another time than before.
func (p *ports) update(i int32) { p.set(i, p.nics[i].Next()) }

func (p *ports) set(i int32, t units.Time) {
	if t == p.due[i] {
		return
	}
	p.due[i] = t
	for at := (len(p.win) + int(i)) / 2; at >= 1; at /= 2 {
		p.play(at)
	}
}

// next returns which NIC sends next, and when, or [units.Never].
func (p *ports) next() (i int32, at units.Time) {
	i = p.winner(1)
	return i, p.due[i]
}
