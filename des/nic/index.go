package nic

// index maps pairs of numbers to positions: open addressing with linear probing. It
// only grows. The zero value is empty.
type index struct {
	slots []indexSlot
	used  int
}

type indexSlot struct {
	key uint64
	at  int32 // position + 1, or 0 for an empty slot
}

func pair(a, b uint32) uint64 { return uint64(a)<<32 | uint64(b) }

// find returns the position of a key, or -1.
func (x *index) find(key uint64) int32 {
	if x.used == 0 {
		return -1
	}
	mask := uint64(len(x.slots) - 1)
	for i := spread(key) & mask; ; i = (i + 1) & mask {
		s := &x.slots[i]
		if s.at == 0 {
			return -1
		}
		if s.key == key {
			return s.at - 1
		}
	}
}

// add maps a key that is not there yet.
func (x *index) add(key uint64, at int32) {
	if 4*x.used >= 3*len(x.slots) {
		old := x.slots
		x.slots, x.used = make([]indexSlot, max(8, 2*len(old))), 0
		for _, s := range old {
			if s.at != 0 {
				x.add(s.key, s.at-1)
			}
		}
	}
	mask := uint64(len(x.slots) - 1)
	i := spread(key) & mask
	for x.slots[i].at != 0 {
		i = (i + 1) & mask
	}
	x.slots[i] = indexSlot{key, at + 1}
	x.used++
}

func spread(k uint64) uint64 {
	k *= 0x9e3779b97f4a7c15
	return k ^ k>>32
}
