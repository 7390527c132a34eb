package fabric

import (
	"math/big"
	"sort"

	"hybrid/des/sim"
	"hybrid/internal/units"
	"hybrid/networks"
)

// Outage is a time during which a link is down, on the clock of its near end: from From
// on, until Until and no longer.
type Outage struct{ From, Until units.Time }

// LinkFaults is what is wrong with a directed link, and what it has cost. It belongs to
// the process at the link's near end; others read what does not change.
type LinkFaults struct {
	Link int32
	// Down rises, and there is time between two outages.
	Down []Outage
	// Loss and BitErrors are the probabilities that a frame, and that a bit, is lost.
	Loss, BitErrors units.Rat
	// Salt is that of the link's random numbers.
	Salt uint64

	loss   chance
	sizes  map[uint32]chance // by size: of bit errors
	frames uint64            // that have been sent

	// Lost counts packets by reason, and Pauses pause frames for any.
	Lost   [reasons]int64
	Pauses int64
	// First is the first packet that was lost.
	First  Drop
	losses firstLosses

	sent     Count  // of Lost, those that were sent
	recorded bool   // by the log of an outlet
	recent   []fate // of these, those that may have been sent after the last mark
}

// fate is a frame that was sent and lost.
type fate struct {
	start, end units.Time
	bytes      int64
}

// FaultSalt returns the salt of a link's random numbers under a seed.
func FaultSalt(seed uint64, link int32) uint64 {
	return mix(mix(seed^0x6c6f7373) + uint64(link) + 1)
}

// Fail puts faults on a wire, and on copies made of it from now on.
func (w *Wire) Fail(m *Medium, l networks.Link, f *LinkFaults) {
	f.loss = chanceOf(f.Loss)
	if f.BitErrors.Num > 0 {
		f.sizes = map[uint32]chance{}
	}
	if w.faults = f; w.slow == nil {
		w.perByte, w.slow = -1, &slowRate{m.Clock, l.PerByte, m.Wide}
	}
}

// Faulty says whether the link can be down.
func (w *Wire) Faulty() bool { return w.faults != nil && len(w.faults.Down) > 0 }

// Up returns the first time from now on at which the link is up, or [units.Never].
func (w *Wire) Up(now units.Time) units.Time {
	if w.faults == nil {
		return now
	}
	return w.faults.Up(now)
}

// after returns the first outage that ends after a time.
func (f *LinkFaults) after(t units.Time) int {
	if len(f.Down) == 1 && t < f.Down[0].Until {
		return 0
	}
	return sort.Search(len(f.Down), func(i int) bool { return t < f.Down[i].Until })
}

// Up returns the first time from now on at which the link is up, or [units.Never].
func (f *LinkFaults) Up(now units.Time) units.Time {
	if i := f.after(now); i < len(f.Down) && f.Down[i].From <= now {
		return f.Down[i].Until
	}
	return now
}

// Dead says whether the link is down at a time.
func (f *LinkFaults) Dead(now units.Time) bool {
	i := f.after(now)
	return i < len(f.Down) && f.Down[i].From <= now
}

// Outage returns the outage during which a time is, if there is one.
func (f *LinkFaults) Outage(now units.Time) (o Outage, down bool) {
	i := f.after(now)
	if i == len(f.Down) || f.Down[i].From > now {
		return o, false
	}
	return f.Down[i], true
}

// broken says whether the link is down at some time between start and end, both without
// the instant itself unless they are one.
func (f *LinkFaults) broken(start, end units.Time) bool {
	i := f.after(start)
	return i < len(f.Down) && (f.Down[i].From < end || f.Down[i].From <= start)
}

// lose decides about a frame that is to start. One whose turn comes while the link is down
// takes no time; one that is lost on the way occupies the link.
func (w *Wire) lose(k *sim.Worker, r *sim.Record, start units.Time) bool {
	f := w.faults
	pause := r.Kind() == Pause && !w.wide() // of whole messages the kind is their number
	if f.Dead(start) {
		w.Free = start
		if f.note(r, start, LinkDown, pause); pause {
			k.Hops++ // which its sender takes back
		}
		return true
	}
	end := start + w.Span(r, start)
	f.frames++
	why := f.fate(r, start, end, w.wide())
	if why == stored {
		return false
	}
	w.Free = end
	k.Hops++
	f.note(r, start, why, pause)
	f.sent.add(r, w.wide())
	if w.sent != nil {
		w.sent.add(r, w.wide())
	}
	if w.sent != nil || f.recorded {
		var c Count
		c.add(r, w.wide())
		f.recent = append(f.recent, fate{start, end, c.Bytes})
	}
	return true
}

// fate says why a frame gets lost on the link, if it does.
func (f *LinkFaults) fate(r *sim.Record, start, end units.Time, wide bool) Reason {
	switch {
	case f.broken(start, end):
		return LinkCut
	case wide:
		return stored // a message of the ideal transport is no frame
	case f.loss.strikes(DrawWide(f.Salt, f.frames)):
		return Lost
	case f.sizes != nil && f.bitErrors(r.Size).strikes(DrawWide(f.Salt^1<<63, f.frames)):
		return BitErrors
	}
	return stored
}

func (f *LinkFaults) note(r *sim.Record, start units.Time, why Reason, pause bool) {
	if pause {
		f.Pauses++
		return
	}
	l := Loss{Drop: Drop{At: start, Link: f.Link, Reason: why, Packet: *r}}
	if f.First.Reason == stored {
		f.First = l.Drop
	}
	f.Lost[why]++
	f.losses.keep(&l)
}

// Packets returns the number of packets lost.
func (f *LinkFaults) Packets() int64 {
	n := int64(0)
	for _, lost := range f.Lost {
		n += lost
	}
	return n
}

// chance is a probability as what a number of 64 random bits is below.
type chance struct {
	below  uint64
	always bool
}

func (c chance) strikes(draw uint64) bool { return draw < c.below || c.always }

func chanceOf(p units.Rat) chance {
	if p.Num <= 0 {
		return chance{}
	}
	n := new(big.Int).Lsh(big.NewInt(p.Num), 64)
	return chanceIn(n.Quo(n, big.NewInt(p.Den)))
}

// chanceIn is a probability in 2^-64.
func chanceIn(n *big.Int) chance {
	if n.BitLen() > 64 {
		return chance{always: true}
	}
	return chance{below: n.Uint64()}
}

// bitErrors returns the chance of a frame of the given size, 1 - (1-p)^(8 size).
func (f *LinkFaults) bitErrors(size uint32) chance {
	c, ok := f.sizes[size]
	if !ok {
		c = bitErrorChance(f.BitErrors, size)
		f.sizes[size] = c
	}
	return c
}

// errorBits is the precision of powers, 2^-errorBits.
const errorBits = 256

// bitErrorChance squares and multiplies in fixed point, rounding down: of at most 64
// multiplications each loses less than 2^-errorBits, which the exponent multiplies.
func bitErrorChance(p units.Rat, size uint32) chance {
	one := new(big.Int).Lsh(big.NewInt(1), errorBits)
	q := new(big.Int).Mul(one, big.NewInt(p.Den-p.Num))
	q.Quo(q, big.NewInt(p.Den))
	left := new(big.Int).Set(one)
	for n := uint64(size) * 8; n > 0; n >>= 1 {
		if n&1 != 0 {
			left.Rsh(left.Mul(left, q), errorBits)
		}
		q.Rsh(q.Mul(q, q), errorBits)
	}
	if left.Sign() == 0 && p.Num < p.Den { // less than can be told from certainty
		left.SetInt64(1)
	}
	return chanceIn(left.Rsh(left.Sub(one, left), errorBits-64))
}

// passed corrects what has started on a link before a time, and arrived, by what was lost:
// it is not on the channel.
func (f *LinkFaults) passed(started, arrived *Count, lead, at units.Time) {
	*arrived = arrived.less(f.sent)
	keep := f.recent[:0]
	for _, x := range f.recent {
		if x.start+lead >= at {
			*started = started.less(Count{1, x.bytes})
			keep = append(keep, x)
		}
	}
	f.recent = keep
}

// Epoch is a time from which on packets take the ways of Ways, or of the topology where
// that is nil; in ticks.
type Epoch struct {
	From units.Time
	Ways *networks.Degraded
}

// EpochAt returns the epoch of a time: -1 before the first.
func EpochAt(epochs []Epoch, t units.Time) int {
	return sort.Search(len(epochs), func(i int) bool { return t < epochs[i].From }) - 1
}

// detours is what a switch knows of faults.
type detours struct {
	epochs []Epoch
	lead   units.Time
	ways   []*networks.Ways // by epoch, once used
	ports  []*LinkFaults    // nil where nothing can be down
	fails  bool             // one of them can
	last   []int32          // scratch for as many as there are ports; of no length
	alive  []int32          // scratch
	// NoWay counts packets to which no way led on, of which First is the first.
	noWay  int64
	first  Drop
	losses firstLosses
}

// Detour tells a switch of the faults of its links, nil for those without, and of the
// epochs of the run. lead is what its clock runs behind.
func (s *Switch) Detour(epochs []Epoch, ports []*LinkFaults, lead units.Time) {
	d := &detours{epochs: epochs, lead: lead, ways: make([]*networks.Ways, len(epochs)), ports: ports, last: make([]int32, 0, len(ports))}
	for _, f := range ports {
		d.fails = d.fails || f != nil && len(f.Down) > 0
	}
	if d.fails || len(epochs) > 0 {
		s.detours = d
	}
}

// around is candidates where links fail.
func (s *Switch) around(r *sim.Record) choices {
	d := s.detours
	c := s.regular(r)
	if i := EpochAt(d.epochs, r.T+d.lead); i >= 0 && d.epochs[i].Ways != nil {
		if d.ways[i] == nil {
			d.ways[i] = d.epochs[i].Ways.At(s.node)
		}
		list := d.ways[i].To(r.To(), d.last)
		c = choices{n: int32(len(list)), list: list}
	}
	if !d.fails || c.n == 0 {
		return c
	}
	d.alive = d.alive[:0]
	for i := range c.n {
		at := c.at(i)
		if f := d.ports[at]; f == nil || !f.Dead(r.T) {
			d.alive = append(d.alive, at)
		}
	}
	if n := int32(len(d.alive)); n > 0 && n < c.n {
		return choices{n: n, list: d.alive}
	}
	return c
}

// strand loses a packet for which there is no way.
func (s *Switch) strand(r *sim.Record) {
	d := s.detours
	if d == nil {
		d = &detours{}
		s.detours = d
	}
	l := Loss{Drop: Drop{At: r.T, Link: s.first, Reason: NoWay, Packet: *r}}
	if d.noWay == 0 || r.T < d.first.At {
		d.first = l.Drop
	}
	d.noWay++
	d.losses.keep(&l)
}

// Stranded returns the number of packets for which there was no way, and the first.
func (s *Switch) Stranded() (int64, Drop) {
	if s.detours == nil {
		return 0, Drop{}
	}
	return s.detours.noWay, s.detours.first
}
