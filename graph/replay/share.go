package replay

import "hybrid/internal/units"

// maxShareDen bounds the denominator of the instants inside a [Share]. Products of
// two numerators below it fit an int64.
const maxShareDen = 1 << 31

// Share is equal sharing of one rank's processor: while n operations run, each
// advances at 1/n of its speed, recomputed at every start and finish (egalitarian
// processor sharing; Kleinrock, Queueing Systems vol. 2, section 4.4). It follows the
// virtual time of generalized processor sharing (Parekh and Gallager, 1993): an
// operation of work w that starts at virtual time v finishes at virtual time v+w,
// so that a start or a finish touches no other operation.
//
// Instants are exact rationals: whole ticks plus a fraction over one common
// denominator. An operation ends at the first tick that is not before its exact
// finish; those with the same exact finish leave together. Only where a busy period
// would need a denominator above 2^31 is the virtual time rounded, by less than
// n/2^31 tick. The zero value is an idle processor. Nothing is allocated once the
// buffers have grown to the largest number of operations that run at once.
type Share struct {
	den     int64   // common denominator of all fractions
	real    instant // the instant up to which virtual is known
	virtual instant
	jobs    []shareJob // heap by (finish, seq)
	done    []int32    // finished, not yet collected
	doneAt  units.Time // when the first of them ended
	seq     int64
}

// instant is whole + frac/den with 0 <= frac < den.
type instant struct{ whole, frac int64 }

type shareJob struct {
	finish instant // in virtual time
	seq    int64
	id     int32
}

func (a instant) before(b instant) bool {
	return a.whole < b.whole || a.whole == b.whole && a.frac < b.frac
}

// Len returns the number of operations that run or wait to be collected.
func (s *Share) Len() int { return len(s.jobs) + len(s.done) }

// Start adds an operation of work ticks at time now, which must not be before any
// earlier call's. Work of zero or less is done at once and disturbs nobody.
func (s *Share) Start(now units.Time, id int32, work units.Time) {
	s.advance(now)
	if work <= 0 {
		s.collect(id, now)
		return
	}
	if len(s.jobs) == 0 {
		s.den, s.real, s.virtual = 1, instant{now, 0}, instant{}
	} else {
		s.elapse(now)
	}
	s.seq++
	finish := instant{min(s.virtual.whole, units.Never-work) + work, s.virtual.frac}
	s.jobs = append(s.jobs, shareJob{finish, s.seq, id})
	s.up(len(s.jobs) - 1)
}

// Next returns the tick at which the next operation ends, and false if none runs.
func (s *Share) Next() (units.Time, bool) {
	if len(s.done) > 0 {
		return s.doneAt, true
	}
	if len(s.jobs) == 0 {
		return 0, false
	}
	at := s.exactFinish()
	if at.frac > 0 && at.whole < units.Never {
		return at.whole + 1, true
	}
	return at.whole, true
}

// Finish appends the operations that have ended at or before now to out: in the
// order of their exact finish, those of one instant in the order of their start.
func (s *Share) Finish(now units.Time, out []int32) []int32 {
	s.advance(now)
	out = append(out, s.done...)
	s.done = s.done[:0]
	return out
}

func (s *Share) collect(id int32, at units.Time) {
	if len(s.done) == 0 {
		s.doneAt = at
	}
	s.done = append(s.done, id)
}

// advance removes everything whose exact finish is not after now.
func (s *Share) advance(now units.Time) {
	for len(s.jobs) > 0 {
		at := s.exactFinish()
		if (instant{now, 0}).before(at) {
			return
		}
		tick := at.whole
		if at.frac > 0 {
			tick++
		}
		s.real, s.virtual = at, s.jobs[0].finish
		for len(s.jobs) > 0 && s.jobs[0].finish == s.virtual {
			s.collect(s.jobs[0].id, tick)
			s.pop()
		}
	}
}

// exactFinish returns when the first job ends if nothing starts before:
// real + n * (finish - virtual).
func (s *Share) exactFinish() instant {
	n := int64(len(s.jobs))
	f := s.jobs[0].finish
	whole, frac := f.whole-s.virtual.whole, f.frac-s.virtual.frac
	if frac < 0 {
		whole, frac = whole-1, frac+s.den
	}
	frac = frac*n + s.real.frac
	carry := frac / s.den
	if whole > (units.Never-s.real.whole-carry)/n {
		return instant{units.Never, 0}
	}
	return instant{s.real.whole + whole*n + carry, frac % s.den}
}

// elapse moves the virtual time on to the real time now: by (now - real) / n.
func (s *Share) elapse(now units.Time) {
	n := int64(len(s.jobs))
	whole, frac := now-s.real.whole, -s.real.frac
	if frac < 0 {
		whole, frac = whole-1, frac+s.den
	}
	rest := whole%n*s.den + frac // (now-real) mod n, over den
	k := n / gcd(rest, n)
	if s.den > maxShareDen/k {
		s.reduce()
		whole, frac = now-s.real.whole, -s.real.frac
		if frac < 0 {
			whole, frac = whole-1, frac+s.den
		}
		rest = whole%n*s.den + frac
		k = n / gcd(rest, n)
	}
	if k > 1 && s.den <= maxShareDen/k {
		s.refine(k)
		rest *= k
	}
	s.virtual.whole += whole / n
	s.virtual.frac += (rest + n/2) / n // exact where the denominator was refined
	if s.virtual.frac >= s.den {
		s.virtual.whole, s.virtual.frac = s.virtual.whole+1, s.virtual.frac-s.den
	}
	s.real = instant{now, 0}
}

// refine multiplies the denominator by k.
func (s *Share) refine(k int64) {
	s.den *= k
	s.real.frac *= k
	s.virtual.frac *= k
	for i := range s.jobs {
		s.jobs[i].finish.frac *= k
	}
}

// reduce divides the denominator by what all fractions have in common.
func (s *Share) reduce() {
	g := gcd(gcd(s.den, s.real.frac), s.virtual.frac)
	for i := range s.jobs {
		if g == 1 {
			return
		}
		g = gcd(g, s.jobs[i].finish.frac)
	}
	s.den /= g
	s.real.frac /= g
	s.virtual.frac /= g
	for i := range s.jobs {
		s.jobs[i].finish.frac /= g
	}
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

func (s *Share) less(i, j int) bool {
	a, b := &s.jobs[i], &s.jobs[j]
	if a.finish != b.finish {
		return a.finish.before(b.finish)
	}
	return a.seq < b.seq
}

func (s *Share) up(i int) {
	for i > 0 {
		p := (i - 1) / 2
		if !s.less(i, p) {
			return
		}
		s.jobs[i], s.jobs[p] = s.jobs[p], s.jobs[i]
		i = p
	}
}

func (s *Share) pop() {
	last := len(s.jobs) - 1
	s.jobs[0] = s.jobs[last]
	s.jobs = s.jobs[:last]
	for i := 0; ; {
		c := 2*i + 1
		if c >= last {
			return
		}
		if c+1 < last && s.less(c+1, c) {
			c++
		}
		if !s.less(c, i) {
			return
		}
		s.jobs[i], s.jobs[c] = s.jobs[c], s.jobs[i]
		i = c
	}
}
