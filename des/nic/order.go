package nic

import (
	"math/bits"

	"hybrid/des/sim"
)

// window is what has arrived of a connection ahead of a packet that is missing: a ring of
// bits by sequence number, which grows to the furthest that packets overtake each other,
// and the messages whose last packet is among them.
type window struct {
	bits  []uint64 // a power of two words; bit PSN modulo their number
	ahead int      // packets
	last  []lastOf // by PSN, from head on
	head  int
}

// lastOf is the last packet of a message.
type lastOf struct{ psn, msg uint32 }

// accept takes a packet in whatever order. The acknowledgement covers all before the first
// missing packet; it is sent when messages are complete, and else for every ack_every-th
// packet that arrives.
func (n *NIC) accept(w *sim.Worker, r *sim.Record, c *conn) {
	if c.window == 0 {
		n.windows = append(n.windows, window{})
		c.window = int32(len(n.windows))
	}
	f := &n.windows[c.window-1]
	last := r.Src>>24&flagLast != 0
	if r.PSN != c.expect {
		if !f.put(c.expect, r.PSN) {
			n.Discarded++ // here already
			return
		}
		if last {
			f.note(lastOf{r.PSN, r.Msg})
		}
		if c.pending++; c.pending >= n.params.AckEvery {
			c.pending = 0
			n.cover(r, c.expect-1)
		}
		return
	}
	c.expect = f.advance(c.expect + 1)
	c.pending++
	complete := last || f.head < len(f.last) && int32(c.expect-f.last[f.head].psn) > 0
	if complete || c.pending >= n.params.AckEvery {
		c.pending = 0
		n.cover(r, c.expect-1)
	}
	if last {
		n.deliver(w, r)
	}
	n.drain(w, r, c)
}

// cover queues the acknowledgement of everything up to a sequence number.
func (n *NIC) cover(r *sim.Record, psn uint32) {
	up := *r
	up.PSN = psn
	n.acknowledge(&up)
}

// drain delivers the messages that a packet has made complete.
func (n *NIC) drain(w *sim.Worker, r *sim.Record, c *conn) {
	at := c.window - 1
	for {
		f := &n.windows[at]
		if f.head == len(f.last) {
			f.last, f.head = f.last[:0], 0
			return
		}
		m := f.last[f.head]
		if int32(c.expect-m.psn) <= 0 {
			return
		}
		f.head++
		whole := *r
		whole.Msg = m.msg
		n.deliver(w, &whole)
	}
}

// put notes a packet behind a missing one, and reports whether it is new. PSNs are compared
// as serial numbers (RFC 1982).
func (f *window) put(expect, psn uint32) bool {
	if int32(psn-expect) < 0 {
		return false
	}
	for psn-expect >= uint32(len(f.bits))<<6 {
		f.grow(expect)
	}
	word, bit := f.at(psn)
	if *word&bit != 0 {
		return false
	}
	*word |= bit
	f.ahead++
	return true
}

func (f *window) at(psn uint32) (word *uint64, bit uint64) {
	i := psn & (uint32(len(f.bits))<<6 - 1)
	return &f.bits[i>>6], 1 << (i & 63)
}

// grow doubles the ring.
func (f *window) grow(expect uint32) {
	old := *f
	f.bits = make([]uint64, max(2, 2*len(old.bits)))
	for i := range uint32(len(old.bits)) << 6 {
		if word, bit := old.at(expect + i); *word&bit != 0 {
			to, b := f.at(expect + i)
			*to |= b
		}
	}
}

// advance takes out what follows without a gap, from a sequence number on, and returns the
// first that is missing.
func (f *window) advance(psn uint32) uint32 {
	for f.ahead > 0 {
		word, bit := f.at(psn)
		shift := bits.TrailingZeros64(bit)
		run := bits.TrailingZeros64(^(*word >> shift))
		run = min(run, 64-shift)
		if run == 0 {
			break
		}
		*word &^= (1<<run - 1) << shift
		f.ahead -= run
		psn += uint32(run)
	}
	return psn
}

// note keeps the last packet of a message, in the order of sequence numbers.
func (f *window) note(m lastOf) {
	if f.head > 0 && len(f.last) == cap(f.last) {
		f.last = f.last[:copy(f.last, f.last[f.head:])]
		f.head = 0
	}
	f.last = append(f.last, m)
	for i := len(f.last) - 1; i > f.head && int32(f.last[i-1].psn-m.psn) > 0; i-- {
		f.last[i], f.last[i-1] = f.last[i-1], m
	}
}

// whole takes a message of a transport without packets: they are complete in the order of
// posting, whichever way they take.
func (n *NIC) whole(w *sim.Worker, r *sim.Record) {
	c := n.conn(r)
	number := n.peers[r.From()].sends.read(r.Msg).last
	if number != c.expect {
		if c.window == 0 {
			n.windows = append(n.windows, window{})
			c.window = int32(len(n.windows))
		}
		n.windows[c.window-1].note(lastOf{number, r.Msg})
		return
	}
	c.expect++
	n.deliver(w, r)
	for c.window > 0 {
		f := &n.windows[c.window-1]
		if f.head == len(f.last) || f.last[f.head].psn != c.expect {
			return
		}
		next := *r
		next.Msg = f.last[f.head].msg
		f.head++
		c.expect++
		n.deliver(w, &next)
	}
}
