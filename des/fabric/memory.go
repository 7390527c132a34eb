package fabric

import (
	"math/bits"

	"hybrid/internal/units"
)

// Unlimited is a number of bytes that nothing reaches.
const Unlimited int64 = 1 << 60

// Buffering is what switches with a packet memory of their own have in common.
type Buffering struct {
	// Classes are the traffic classes, at most [MaxClasses], and Kinds the class of a
	// frame by its kind (see [sim.Record.Kind]).
	Classes []Class
	Kinds   [MaxKinds]uint8
	// Turns says that classes take turns by weight, in packets; else a higher class goes
	// before a lower one.
	Turns bool
	// Less is taken off a frame's bytes on the link for what it occupies in memory, which
	// is at least Least.
	Less, Least int64
	// Frame is the size of a pause frame and Quanta its time, in 512 bit times.
	Frame  int64
	Quanta uint32
	// TrimTo is the size to which packets without room are cut, 0 where they are dropped.
	TrimTo int64
	Seed   uint64
	// Shuffle, if not 0, is the seed of a random choice, for each output in each window,
	// among the ways to run it; results must not depend on it.
	Shuffle uint64
	// CutAfter is that of [Medium].
	CutAfter int64
	// Stepwise says that outlets do one thing after the other, also where they run by
	// themselves. Cutting through and rates of classes need it.
	Stepwise bool
	Clock    units.Clock
}

// MaxClasses and MaxKinds bound the traffic classes and the kinds of frames.
const (
	MaxClasses = 8
	MaxKinds   = 8
)

// Class describes a traffic class, which has a pool of the memory to itself.
type Class struct {
	// Weight is the number of packets of a turn.
	Weight int32
	// Lossless classes are paused: a port sends XOFF for the packet that takes what it
	// holds in the pool beyond Xoff, and XON when its headroom is empty again and it holds
	// at most Xon and at least Gap less than Xoff, or nothing.
	Lossless bool
	Xoff     Threshold
	Xon, Gap int64
	// Limit bounds an output queue of a class that is not lossless.
	Limit Threshold
	Mark  *Mark
	// PerByte is the least time between the starts of two packets for each byte of the
	// first, on the link, 0 where there is none.
	PerByte units.Rat
}

// Threshold is a number of bytes, and where Alpha is not zero no more than that times
// the free bytes of the pool (Choudhury and Hahne, "Dynamic Queue Length Thresholds for
// Shared-Memory Packet Switches", IEEE/ACM Transactions on Networking 6(2), 1998).
type Threshold struct {
	Bytes int64
	Alpha units.Rat
}

func (t *Threshold) at(free int64) int64 {
	if t.Alpha.Num == 0 {
		return t.Bytes
	}
	return min(t.Bytes, scale(max(free, 0), t.Alpha.Num, t.Alpha.Den))
}

// scale returns n*num/den, rounded down, or [Unlimited] if that is more.
func scale(n, num, den int64) int64 {
	hi, lo := bits.Mul64(uint64(n), uint64(num))
	if hi >= uint64(den) {
		return Unlimited
	}
	q, _ := bits.Div64(hi, lo, uint64(den))
	return int64(min(q, uint64(Unlimited)))
}

// Part returns n*share/of, rounded down.
func Part(n, share, of int64) int64 { return scale(n, share, of) }

// Inlet describes an incoming link of a switch.
type Inlet struct {
	// Link is its ID, and Back the port, counted within the switch, that leads to where it
	// comes from, or less than 0. Host is that node if it is a host, else 0.
	Link, Back, Host int32
	// Headroom is the memory for what arrives after a pause was sent, bytes.
	Headroom int64
	// Refresh is the time after which a pause is repeated.
	Refresh units.Time
	// Far is the link itself as its near end knows it, for switches that cut through.
	Far Wire
}

// inlet is an incoming link with what memory it occupies.
type inlet struct {
	Inlet
	spare  int64 // headroom in use
	paused int   // classes
}

// held is what an incoming link holds of a class.
type held struct {
	pool, spare int64
	arriving    int64 // at most, in this window
	refresh     units.Time
	paused      bool
}

// memory is the packet memory of a switch: a pool for each class, counted by the incoming
// links that fill it, and headroom for each link.
type memory struct {
	*Buffering
	inlets   []inlet
	holds    []held            // by class and link
	free     [MaxClasses]int64 // of each pool
	arriving [MaxClasses]int64
	pausing  int // (link, class) pairs that are paused
}

// of returns what an incoming link holds of a class.
func (m *memory) of(slot uint32, class uint8) *held {
	return &m.holds[int(class)*len(m.inlets)+int(slot)]
}

// newMemory returns an empty memory without pools.
func newMemory(b *Buffering, links int) memory {
	return memory{Buffering: b, inlets: make([]inlet, links), holds: make([]held, links*len(b.Classes))}
}

// Reason says why a packet was dropped.
type Reason uint8

// Reasons. A packet is cut where its queue or its pool is full and cutting is on.
const (
	stored Reason = iota
	HeadroomFull
	PoolFull
	QueueFull
	// LinkDown packets had their turn while the link was down, LinkCut ones were
	// being sent when it went down, Lost and BitErrors ones got lost at random, and for
	// NoWay ones no way led on.
	LinkDown
	LinkCut
	Lost
	BitErrors
	NoWay
	reasons
)

func (r Reason) String() string {
	return [...]string{"stored", "the port's headroom is full", "the class's part of the buffer is full", "the output queue has reached its limit",
		"the link is down", "the link went down meanwhile", "the link loses frames", "bit errors", "no way leads there"}[r]
}

// size returns the bytes that a frame occupies in memory.
func (m *memory) size(frame uint32) int64 { return max(int64(frame)-m.Less, m.Least) }

// admit takes n bytes of an incoming link into the memory, for an output queue that
// holds queue bytes. pause says that the link is to be paused from now on. What comes on
// a paused link goes to its headroom.
func (m *memory) admit(slot uint32, class uint8, n, queue int64) (why Reason, pause bool) {
	c := &m.Classes[class]
	if !c.Lossless {
		switch {
		case n > m.free[class]:
			return PoolFull, false
		case queue+n > c.Limit.at(m.free[class]):
			return QueueFull, false
		}
		m.free[class] -= n
		m.of(slot, class).pool += n
		return stored, false
	}
	in := &m.inlets[slot]
	h := m.of(slot, class)
	if !h.paused {
		pause = h.pool+n > c.Xoff.at(m.free[class])
		if n <= m.free[class] {
			m.free[class] -= n
			h.pool += n
			return stored, pause
		}
		pause = true
	}
	if in.spare+n > in.Headroom {
		return HeadroomFull, pause && h.pool+h.spare > 0 // else nothing would end it
	}
	in.spare += n
	h.spare += n
	return stored, pause
}

// release gives back n bytes, headroom first, and reports whether a paused link may send
// again.
func (m *memory) release(slot uint32, class uint8, n int64) (resume bool) {
	in := &m.inlets[slot]
	h := m.of(slot, class)
	s := min(n, h.spare)
	in.spare -= s
	h.spare -= s
	h.pool -= n - s
	m.free[class] += n - s
	if !h.paused || h.spare > 0 {
		return false
	}
	c := &m.Classes[class]
	return h.pool == 0 || h.pool <= min(c.Xon, c.Xoff.at(m.free[class])-c.Gap)
}

// take books n bytes for which there is room in the pool.
func (m *memory) take(slot uint32, class uint8, n int64) {
	m.free[class] -= n
	m.of(slot, class).pool += n
}

// give is release of what came on a link that is not paused.
func (m *memory) give(slot uint32, class uint8, n int64) {
	m.free[class] += n
	m.of(slot, class).pool -= n
}

// expect counts bytes of a class that arrive on a link in a window.
func (m *memory) expect(slot uint32, class uint8, n int64) {
	if class < MaxClasses {
		m.of(slot, class).arriving += n
		m.arriving[class] += n
	}
}

// outlook says of what was expected, on the links touched, whether it fits whatever the
// order and even if nothing leaves meanwhile. It ends the counting.
//
// Then only what the hot links hold is of interest to more than one output: those that
// may become paused, and the restless ones. They are named by a bit each, modulo 64. If it does not
// fit, or what a link may hold depends on all others, every output has to know of all.
func (m *memory) outlook(touched []uint64, restless uint64) (hot uint64, apart bool) {
	hot = restless
	apart = m.TrimTo == 0
	tied := false
	for c := range m.Classes {
		class := &m.Classes[c]
		tied = tied || class.Xoff.Alpha.Num != 0
		sum := m.arriving[c]
		if sum == 0 {
			continue
		}
		m.arriving[c] = 0
		free := m.free[c] - sum
		apart = apart && free >= 0 && (class.Lossless || class.Limit.Alpha.Num == 0)
		xoff := class.Xoff.at(free)
		for word, set := range touched {
			for ; set != 0; set &= set - 1 {
				slot := word<<6 + bits.TrailingZeros64(set)
				h := m.of(uint32(slot), uint8(c))
				if class.Lossless && !h.paused && h.pool+h.spare+h.arriving > xoff {
					hot |= 1 << (slot & 63)
				}
				h.arriving = 0
			}
		}
	}
	return hot, apart && (hot == 0 || !tied)
}
