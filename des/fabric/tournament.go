package fabric

// tournament finds the first of the moments of several outlets: the least of those of
// eight neighbours at a time, then of these. A moment says whose it is.
type tournament struct {
	moments []uint64
	least   []uint64 // of eight each, but of those at stale
	stale   int
}

func (t *tournament) reset(n int) {
	t.moments, t.least, t.stale = make([]uint64, max(8, (n+7)&^7)), make([]uint64, max(1, (n+7)/8)), 0
	for i := range t.moments {
		t.moments[i] = never
	}
	for i := range t.least {
		t.least[i] = never
	}
}

// set changes the moment of an outlet.
func (t *tournament) set(i int, m uint64) {
	if i>>3 != t.stale {
		t.least[t.stale] = t.best(t.stale)
		t.stale = i >> 3
	}
	t.moments[i] = m
}

// best returns the least of eight neighbours.
func (t *tournament) best(at int) uint64 {
	e := (*[8]uint64)(t.moments[8*at:])
	return min(min(min(e[0], e[1]), min(e[2], e[3])), min(min(e[4], e[5]), min(e[6], e[7])))
}

// first returns the first moment, and whose it is.
func (t *tournament) first() (int, uint64) {
	m := t.best(t.stale)
	if len(t.least) > 1 {
		t.least[t.stale] = m
		for _, e := range t.least {
			m = min(m, e)
		}
	}
	return int(m & (1<<indexBits - 1)), m
}
