package scaleup

import (
	"cmp"
	"fmt"
	"slices"

	"hybrid/des/sim"
	"hybrid/internal/units"
)

// Group is one scale-up group.
type Group struct {
	// PerByte is the time of a byte at a rank's bandwidth, in picoseconds.
	PerByte units.Rat
	// Near is the time in which a packet crosses the fabric within a subgroup, Far that
	// between subgroups, in ticks.
	Near, Far units.Time
}

// Config describes a fabric.
type Config struct {
	Clock units.Clock
	// Header and Payload are the bytes of framing on every packet and the most bytes of
	// data in one; Payload is at least 1.
	Header, Payload int64
	Groups          []Group
	// Group is by rank of the process an index in Groups, or -1 for a rank that has no
	// part in the fabric; Subgroup by rank the number of its subgroup.
	Group    []int32
	Subgroup []uint32
}

// Owner is told what happens to transfers, each time once and at the time at which it
// happens. It may post transfers at that time.
type Owner interface {
	// Sent says that the last bit of a transfer has left its sender.
	Sent(ref int32, at units.Time)
	// Received says that the last bit of a transfer has been received.
	Received(ref int32, at units.Time)
}

// Count is what a rank has sent and received, headers included. A packet counts as sent
// when its first bit leaves, as received when its last bit has been received.
type Count struct {
	TxPackets, TxBytes, RxPackets, RxBytes int64
}

// Fabric carries transfers between the ranks of one process. It is driven like a NIC: the
// owner calls Step at the times that Next gives, and Serve at the time that Due gives,
// when nothing else is left to do at that time.
type Fabric struct {
	cfg    Config
	owner  Owner
	rates  []rate // by group
	ranks  []rank
	pairs  []pair
	byPair map[uint64]int32
	events batches
	done   []reception // of the instant
	// Pairs with a packet that starts at the end of the instant due, at its sender and at
	// its receiver.
	sending, receiving []int32
	due                units.Time

	// Posted and Delivered are the data handed to the fabric and to the receivers, in
	// bytes; Packets counts packets sent.
	Posted, Delivered, Packets int64
}

// rank is the state of one port: how many queues share its bandwidth.
type rank struct {
	to, from int32
	count    Count
}

// pair is the way from one rank to another.
type pair struct {
	src, dst, group  int32
	crossing         units.Time
	transfers        ring[transfer] // posted and not completely received
	arrivals         ring[units.Time]
	current          uint32 // place in transfers of the one being sent
	sendLeft         int64  // data of it that have not been sent
	receiveLeft      int64  // data of the oldest transfer that have not been received
	sends, receives  bool   // the pair has a share of its sender's, its receiver's bandwidth
	begun            bool   // receiveLeft is that of the oldest transfer
	expected         bool   // an arrival is among the events
	sendData, inData int64  // of the packets in service
	next             [eventKinds]int32
}

type transfer struct {
	bytes int64
	ref   int32
}

// reception is a transfer that has been received.
type reception struct{ dst, src, ref int32 }

// New returns a fabric without transfers.
func New(cfg Config, owner Owner) *Fabric {
	f := &Fabric{cfg: cfg, owner: owner, ranks: make([]rank, len(cfg.Group)), byPair: make(map[uint64]int32), due: units.Never}
	f.cfg.Payload = max(1, cfg.Payload)
	for _, g := range cfg.Groups {
		f.rates = append(f.rates, newRate(&f.cfg, g.PerByte))
	}
	return f
}

// Crossing returns the ticks that a packet needs from one rank of a group to another.
func (f *Fabric) Crossing(src, dst int32) units.Time {
	g := &f.cfg.Groups[f.cfg.Group[src]]
	if f.cfg.Subgroup[src] == f.cfg.Subgroup[dst] {
		return g.Near
	}
	return g.Far
}

// Post queues a transfer at time now. The ranks are different ones of one group; ref names
// the transfer to the owner.
func (f *Fabric) Post(now units.Time, src, dst int32, bytes int64, ref int32) {
	if sim.Invariants && (f.due < now || f.cfg.Group[src] < 0 || src == dst || f.cfg.Group[src] != f.cfg.Group[dst]) {
		panic(fmt.Sprintf("scaleup: a transfer from %d to %d at %d, where packets wait for %d", src, dst, now, f.due))
	}
	f.Posted += bytes
	i := f.pair(src, dst)
	p := &f.pairs[i]
	p.transfers.push(transfer{bytes, ref})
	if p.sends {
		return
	}
	p.sends, p.sendLeft = true, bytes
	f.ranks[src].to++
	f.sending = append(f.sending, i)
	f.due = now
}

func (f *Fabric) pair(src, dst int32) int32 {
	key := uint64(src)<<32 | uint64(uint32(dst))
	i, ok := f.byPair[key]
	if !ok {
		i = int32(len(f.pairs))
		f.pairs = append(f.pairs, pair{src: src, dst: dst, group: f.cfg.Group[src], crossing: f.Crossing(src, dst)})
		f.byPair[key] = i
	}
	return i
}

// Next returns the time of the next packet events, or [units.Never].
func (f *Fabric) Next() units.Time { return f.events.next() }

// Due returns the time at which packets wait for Serve, or [units.Never].
func (f *Fabric) Due() units.Time { return f.due }

// Serve starts the packets that wait at the time that Due gave.
func (f *Fabric) Serve() {
	now := f.due
	for _, i := range f.sending {
		p := &f.pairs[i]
		r := &f.ranks[p.src]
		p.sendData = min(p.sendLeft, f.cfg.Payload)
		r.count.TxPackets++
		r.count.TxBytes += p.sendData + f.cfg.Header
		f.at(later(now, f.rates[p.group].span(p.sendData, r.to)), eventSent, i)
	}
	f.Packets += int64(len(f.sending))
	for _, i := range f.receiving {
		p := &f.pairs[i]
		if !p.begun {
			p.begun, p.receiveLeft = true, p.transfers.first().bytes
		}
		p.inData = min(p.receiveLeft, f.cfg.Payload)
		f.at(later(now, f.rates[p.group].span(p.inData, f.ranks[p.dst].from)), eventReceived, i)
	}
	f.sending, f.receiving, f.due = f.sending[:0], f.receiving[:0], units.Never
}

func (f *Fabric) at(t units.Time, kind uint32, i int32) {
	f.pairs[i].next[kind] = f.events.add(t, kind, i)
}

// later adds a span to a time; what is beyond the range of time ends the run.
func later(t, span units.Time) units.Time {
	if span > sim.MaxTime-t {
		return sim.MaxTime + 1
	}
	return t + span
}

// Step handles all packet events of the time that Next gives and returns their number. It
// reports receptions last, in the order of (receiver, sender).
func (f *Fabric) Step() (handled int64) {
	now := f.events.next()
	f.done = f.done[:0]
	for f.events.next() == now {
		kind, i := f.events.take()
		for ; i >= 0; handled++ {
			next := f.pairs[i].next[kind]
			f.handle(now, kind, i)
			i = next
		}
	}
	if len(f.done) > 1 {
		slices.SortFunc(f.done, func(a, b reception) int { return cmp.Or(cmp.Compare(a.dst, b.dst), cmp.Compare(a.src, b.src)) })
	}
	for _, r := range f.done {
		f.owner.Received(r.ref, now)
	}
	return handled
}

func (f *Fabric) handle(now units.Time, kind uint32, i int32) {
	switch kind {
	case eventSent:
		f.sent(now, i)
	case eventArrival:
		f.pairs[i].expected = false
		f.receive(now, i)
	case eventReceived:
		f.received(now, i)
	}
}

// sent puts a packet on its way and goes on with the next one of the pair.
func (f *Fabric) sent(now units.Time, i int32) {
	p := &f.pairs[i]
	p.arrivals.push(later(now, p.crossing))
	if !p.receives {
		f.expect(i)
	}
	if p.sendLeft -= p.sendData; p.sendLeft > 0 {
		f.sending, f.due = append(f.sending, i), now
		return
	}
	done := p.transfers.at(p.current)
	if p.current++; p.current < p.transfers.len() {
		p.sendLeft = p.transfers.at(p.current).bytes
		f.sending, f.due = append(f.sending, i), now
	} else {
		p.sends = false
		f.ranks[p.src].to--
	}
	f.owner.Sent(done.ref, now)
}

// expect makes sure that the arrival of a pair's next packet is among the events. Pairs
// that are receiving look for themselves when they have received a packet.
func (f *Fabric) expect(i int32) {
	p := &f.pairs[i]
	if !p.expected {
		p.expected = true
		f.at(*p.arrivals.first(), eventArrival, i)
	}
}

// receive gives a pair, of which a packet has arrived, its share of the receiver.
func (f *Fabric) receive(now units.Time, i int32) {
	p := &f.pairs[i]
	p.receives = true
	f.ranks[p.dst].from++
	f.receiving, f.due = append(f.receiving, i), now
}

// received ends a packet and goes on with the next one of the pair, if it is there.
func (f *Fabric) received(now units.Time, i int32) {
	p := &f.pairs[i]
	r := &f.ranks[p.dst]
	r.count.RxPackets++
	r.count.RxBytes += p.inData + f.cfg.Header
	f.Delivered += p.inData
	p.arrivals.pop()
	switch {
	case p.arrivals.len() > 0 && *p.arrivals.first() <= now:
		f.receiving, f.due = append(f.receiving, i), now
	default:
		p.receives = false
		r.from--
		if p.arrivals.len() > 0 {
			f.expect(i)
		}
	}
	if p.receiveLeft -= p.inData; p.receiveLeft == 0 {
		f.done = append(f.done, reception{p.dst, p.src, p.transfers.first().ref})
		p.transfers.pop()
		p.current--
		p.begun = false
	}
}

// Count returns what a rank has sent and received so far.
func (f *Fabric) Count(rank int32) Count { return f.ranks[rank].count }

// Idle says what is left to do, for assertions: nil if every transfer has been received.
func (f *Fabric) Idle() error {
	for i := range f.pairs {
		if p := &f.pairs[i]; p.transfers.len() > 0 || p.arrivals.len() > 0 || p.sends || p.receives {
			return fmt.Errorf("the scale-up fabric has %d transfers from its rank %d to rank %d", p.transfers.len(), p.src, p.dst)
		}
	}
	if f.events.next() < units.Never || f.due < units.Never {
		return fmt.Errorf("the scale-up fabric has events for %d and packets for %d", f.events.next(), f.due)
	}
	return nil
}
