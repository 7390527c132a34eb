package scaleup

import (
	"hybrid/des/sim"
	"hybrid/internal/units"
)

// Kinds of events: a packet has left its sender, reaches its receiver, has been received.
const (
	eventSent = iota
	eventArrival
	eventReceived
	eventKinds
)

// batches is a queue of events by time. With packets of few sizes many events share their
// time: those of one kind that are added one after another are one entry of the heap, a
// list of pairs that the pairs themselves link. Events of one time come in no particular
// order.
type batches struct {
	heap  sim.Events
	heads []int32 // by batch: the first pair
	free  []int32
	open  [eventKinds]struct { // the latest batch of a kind
		t  units.Time
		at int32 // batch + 1; 0 once it has been taken
	}
}

// next returns the time of the earliest event, or [units.Never].
func (b *batches) next() units.Time { return b.heap.Next() }

// add puts an event of a pair in and returns the pair behind it in its list, or -1.
func (b *batches) add(t units.Time, kind uint32, pair int32) (next int32) {
	o := &b.open[kind]
	if o.at > 0 && o.t == t {
		next, b.heads[o.at-1] = b.heads[o.at-1], pair
		return next
	}
	var at int32
	if n := len(b.free); n > 0 {
		at, b.free = b.free[n-1], b.free[:n-1]
		b.heads[at] = pair
	} else {
		at = int32(len(b.heads))
		b.heads = append(b.heads, pair)
	}
	o.t, o.at = t, at+1
	b.heap.Push(sim.Event{T: t, Kind: kind, Arg: at})
	return -1
}

// take removes a list of events of the earliest time and returns its first pair; there
// must be one.
func (b *batches) take() (kind uint32, pair int32) {
	e := b.heap.Pop()
	if o := &b.open[e.Kind]; o.at == e.Arg+1 {
		o.at = 0
	}
	b.free = append(b.free, e.Arg)
	return e.Kind, b.heads[e.Arg]
}
