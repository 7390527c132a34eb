package replay

import (
	"cmp"
	"slices"

	"hybrid/graph"
)

// Matcher pairs the messages that arrive at one rank with the receives it posts:
// by (context, source, tag), first in first out in posting order on one side and
// arrival order on the other. A receive may name any source or any tag. The zero
// value is ready to use.
type Matcher struct {
	entries []entry
	free    int32
	table   []bucket // open addressing, linear probing; power of two
	used    int
	seq     int64
	wild    []int32 // posted receives with wildcards, in posting order
	// The unexpected messages in arrival order, for receives with wildcards.
	first, last int32
	inited      bool
}

type key struct {
	context  uint64
	src, tag int32
}

// entry is a posted receive or an unexpected message.
type entry struct {
	key
	id         int64
	seq        int64
	next       int32 // in its bucket's queue, or in the free list
	before, at int32 // neighbours in arrival order (messages only)
}

// bucket holds the queues of one key. Receives and messages never wait for each
// other, so at most one of the two queues has entries.
type bucket struct {
	key
	recvHead, recvTail int32
	msgHead, msgTail   int32
	live               bool
}

// Post offers a receive. If a message already waits, it is taken and its id
// returned; else the receive is queued.
func (m *Matcher) Post(context uint64, src, tag int32, id int64) (message int64, ok bool) {
	m.init()
	if src == graph.AnyRank || tag == graph.AnyTag {
		return m.postWild(key{context, src, tag}, id)
	}
	k := key{context, src, tag}
	b := m.bucket(k)
	if e := m.table[b].msgHead; e >= 0 {
		id := m.entries[e].id
		m.takeMessage(b)
		return id, true
	}
	e := m.newEntry(k, id)
	q := &m.table[b]
	if q.recvHead < 0 {
		q.recvHead = e
	} else {
		m.entries[q.recvTail].next = e
	}
	q.recvTail = e
	return 0, false
}

func (m *Matcher) postWild(k key, id int64) (message int64, ok bool) {
	for e := m.first; e >= 0; e = m.entries[e].at {
		if matches(k, m.entries[e].key) {
			id := m.entries[e].id
			m.takeMessageAt(e)
			return id, true
		}
	}
	m.wild = append(m.wild, m.newEntry(k, id))
	return 0, false
}

// Arrive offers a message. If a posted receive fits, the earliest is taken and its
// id returned; else the message waits as unexpected.
func (m *Matcher) Arrive(context uint64, src, tag int32, id int64) (receive int64, ok bool) {
	m.init()
	k := key{context, src, tag}
	b := m.bucket(k)
	exact := m.table[b].recvHead
	for i, w := range m.wild {
		if exact >= 0 && m.entries[exact].seq < m.entries[w].seq {
			break
		}
		if matches(m.entries[w].key, k) {
			id := m.entries[w].id
			m.wild = append(m.wild[:i], m.wild[i+1:]...)
			m.freeEntry(w)
			m.dropIfEmpty(b)
			return id, true
		}
	}
	if exact >= 0 {
		id := m.entries[exact].id
		q := &m.table[b]
		if q.recvHead = m.entries[exact].next; q.recvHead < 0 {
			q.recvTail = -1
		}
		m.freeEntry(exact)
		m.dropIfEmpty(b)
		return id, true
	}
	m.queueMessage(b, k, id)
	return 0, false
}

// Waiting calls receive for every posted receive and message for every unexpected
// message, in the order in which they came.
func (m *Matcher) Waiting(receive, message func(id int64)) {
	if !m.inited {
		return
	}
	for e := m.first; e >= 0; e = m.entries[e].at {
		message(m.entries[e].id)
	}
	posted := slices.Clone(m.wild)
	for i := range m.table {
		if !m.table[i].live {
			continue
		}
		for e := m.table[i].recvHead; e >= 0; e = m.entries[e].next {
			posted = append(posted, e)
		}
	}
	slices.SortFunc(posted, func(a, b int32) int { return cmp.Compare(m.entries[a].seq, m.entries[b].seq) })
	for _, e := range posted {
		receive(m.entries[e].id)
	}
}

// Idle reports whether neither receives nor messages wait.
func (m *Matcher) Idle() bool { return m.used == 0 && len(m.wild) == 0 }

func matches(want, have key) bool {
	return want.context == have.context && (want.src == graph.AnyRank || want.src == have.src) &&
		(want.tag == graph.AnyTag || want.tag == have.tag)
}

func (m *Matcher) init() {
	if m.inited {
		return
	}
	m.inited, m.free, m.first, m.last = true, -1, -1, -1
	m.table = make([]bucket, 16)
}

func (m *Matcher) newEntry(k key, id int64) int32 {
	e := m.free
	if e >= 0 {
		m.free = m.entries[e].next
	} else {
		e = int32(len(m.entries))
		m.entries = append(m.entries, entry{})
	}
	m.seq++
	m.entries[e] = entry{key: k, id: id, seq: m.seq, next: -1, before: -1, at: -1}
	return e
}

func (m *Matcher) freeEntry(e int32) {
	m.entries[e].next = m.free
	m.free = e
}

func (m *Matcher) queueMessage(b int, k key, id int64) {
	e := m.newEntry(k, id)
	q := &m.table[b]
	if q.msgHead < 0 {
		q.msgHead = e
	} else {
		m.entries[q.msgTail].next = e
	}
	q.msgTail = e
	if m.entries[e].before = m.last; m.last >= 0 {
		m.entries[m.last].at = e
	} else {
		m.first = e
	}
	m.last = e
}

// takeMessage removes the oldest message of a bucket.
func (m *Matcher) takeMessage(b int) {
	q := &m.table[b]
	e := q.msgHead
	if q.msgHead = m.entries[e].next; q.msgHead < 0 {
		q.msgTail = -1
	}
	m.unlink(e)
	m.freeEntry(e)
	m.dropIfEmpty(b)
}

// takeMessageAt removes a message found in arrival order: it is the oldest of its
// key, since keys are queues.
func (m *Matcher) takeMessageAt(e int32) { m.takeMessage(m.bucket(m.entries[e].key)) }

func (m *Matcher) unlink(e int32) {
	before, after := m.entries[e].before, m.entries[e].at
	if before >= 0 {
		m.entries[before].at = after
	} else {
		m.first = after
	}
	if after >= 0 {
		m.entries[after].before = before
	} else {
		m.last = before
	}
}

// bucket finds or makes the bucket of a key.
func (m *Matcher) bucket(k key) int {
	if 4*m.used >= 3*len(m.table) {
		m.grow()
	}
	mask := len(m.table) - 1
	for i := k.hash() & mask; ; i = (i + 1) & mask {
		b := &m.table[i]
		if !b.live {
			// Field by field: a composite literal goes through the stack and stalls.
			b.context, b.src, b.tag = k.context, k.src, k.tag
			b.recvHead, b.recvTail, b.msgHead, b.msgTail, b.live = -1, -1, -1, -1, true
			m.used++
			return i
		}
		if b.key == k {
			return i
		}
	}
}

func (m *Matcher) grow() {
	old := m.table
	m.table = make([]bucket, 2*len(old))
	mask := len(m.table) - 1
	for i := range old {
		if !old[i].live {
			continue
		}
		j := old[i].hash() & mask
		for m.table[j].live {
			j = (j + 1) & mask
		}
		m.table[j] = old[i]
	}
}

// dropIfEmpty frees a bucket without entries and closes the gap in its probe
// sequence.
func (m *Matcher) dropIfEmpty(i int) {
	if m.table[i].recvHead >= 0 || m.table[i].msgHead >= 0 {
		return
	}
	mask := len(m.table) - 1
	m.used--
	for j := (i + 1) & mask; m.table[j].live; j = (j + 1) & mask {
		// An entry may move to the gap unless its home lies cyclically in (i, j].
		if home := m.table[j].hash() & mask; (j-home)&mask >= (j-i)&mask {
			m.table[i] = m.table[j]
			i = j
		}
	}
	m.table[i].live = false
}

// hash mixes the key with the finalizer of MurmurHash3.
func (k key) hash() int {
	h := k.context*0x9e3779b97f4a7c15 ^ uint64(uint32(k.src))<<32 ^ uint64(uint32(k.tag))
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	h ^= h >> 33
	return int(h >> 1)
}
