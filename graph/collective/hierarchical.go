package collective

import (
	"errors"

	"hybrid/graph"
)

// hierarchical reduces inside units of M members first and between the N/M units
// then: M-1 steps of a reduce-scatter ring inside the unit leave each member with a
// shard of N/M blocks of C bytes, 2(N/M-1) steps of an all-reduce ring among the
// members of equal place in their units complete the shard, and M-1 steps of an
// all-gather ring inside the unit spread it. Each step waits for the receive before
// it. With units of one or of all members it is the ring.
type hierarchical struct{}

func (hierarchical) fits(g *graph.Group) error {
	if g.Units == nil {
		return errors.New("needs members in scale-up groups or nodes of equal size")
	}
	return nil
}

// seat is a rank's place in the units.
type seat struct {
	*Call
	size, units int32 // members of a unit, number of units
	unit, local int32
}

func (c *Call) seat() seat {
	if c.Units == nil {
		return seat{c, c.N, 1, 0, c.Me}
	}
	m, at := c.Units.Size, c.Units.Place[c.Me]
	return seat{c, m, c.N / m, at / m, at % m}
}

// position returns the position in the group of a place in a unit.
func (s *seat) position(unit, local int32) int32 {
	if s.Units == nil {
		return local
	}
	return s.Units.Order[unit*s.size+local]
}

func (s *seat) rounds() int32 { return 2*(s.size-1) + 2*(s.units-1) }

// Len implements [Schedule].
func (hierarchical) Len(c *Call) int32 {
	s := c.seat()
	return 2 * s.rounds()
}

// Roots implements [Schedule].
func (hierarchical) Roots(c *Call, k int) (lo, hi int32) {
	s := c.seat()
	return firstExchange(k, s.rounds())
}

// At implements [Schedule].
func (hierarchical) At(c *Call, i int32) (s Step) {
	at := c.seat()
	s.exchange(i, at.rounds())
	k, inside, across := s.Tag, at.size-1, 2*(at.units-1)
	switch {
	case k < inside:
		at.inside(&s, k+1)
		s.Reduce = !s.Send
	case k < inside+across:
		at.across(&s, k-inside)
	default:
		at.inside(&s, k-inside-across)
	}
	s.Bytes = c.Chunk() * int64(s.Blocks.Count)
	return s
}

// inside is a step of a ring in the unit, in which a member sends the shard of the
// member back places before it.
func (a *seat) inside(s *Step, back int32) {
	from := a.local
	if s.Send {
		s.Peer = a.position(a.unit, turn(a.local+1, a.size))
	} else {
		from = turn(a.local-1, a.size)
		s.Peer = a.position(a.unit, from)
	}
	s.Blocks = Blocks{turn(from-back, a.size) * a.units, 1, a.units}
}

// across is step k of the all-reduce ring between the units.
func (a *seat) across(s *Step, k int32) {
	from := a.unit
	if s.Send {
		s.Peer = a.position(turn(a.unit+1, a.units), a.local)
	} else {
		from = turn(a.unit-1, a.units)
		s.Peer = a.position(from, a.local)
	}
	back := k + 1
	if k >= a.units-1 {
		back = k - (a.units - 1)
	} else {
		s.Reduce = !s.Send
	}
	s.Blocks = Blocks{a.local*a.units + turn(from-back, a.units), 1, 1}
}

// turn returns i modulo n for i >= -n.
func turn(i, n int32) int32 { return (i + n) % n }

// BlockCount implements [Schedule].
func (hierarchical) BlockCount(c *Call) int32 { return c.N }

// BlockBytes implements [Schedule].
func (hierarchical) BlockBytes(c *Call) int64 { return c.Chunk() }
