package fabric

// tournament finds the first of the moments of several outlets: a complete tree whose
// nodes hold the least below them, the root at 1. A moment says whose it is.
type tournament struct {
	least  []uint64
	leaves int
}

func (t *tournament) reset(n int) {
	t.leaves = 2
	for t.leaves < n {
		t.leaves *= 2
	}
	t.least = make([]uint64, 2*t.leaves)
	for i := range t.least {
		t.least[i] = never
	}
}

// set changes the moment of an outlet.
func (t *tournament) set(i int, m uint64) {
	at := t.leaves + i
	least := t.least
	for least[at] != m {
		least[at] = m
		if at == 1 {
			return
		}
		m = min(m, least[at^1])
		at >>= 1
	}
}

// first returns the first moment, and whose it is.
func (t *tournament) first() (int, uint64) {
	m := t.least[1]
	return int(m & (1<<indexBits - 1)), m
}
