package nic

import "sync/atomic"

// Kind says what a message is for.
type Kind uint8

// Kinds of messages. The first is complete in itself; the others are the three
// messages of a rendezvous.
const (
	Eager Kind = iota
	RequestToSend
	ClearToSend
	Data
)

// Message is one message between two ranks on different nodes. It lives at the
// sender's NIC from posting to acknowledgement; the receiver's NIC reads it when its
// last packet has arrived, as it would read the headers.
type Message struct {
	// Context and Tag belong to the matching key.
	Context uint64
	// Bytes is the payload; Announced the size of the data that a request to send is
	// for.
	Bytes, Announced int64
	// Src and Dst are world ranks.
	Src, Dst int32
	Tag      int32
	// Site is where the send was written.
	Site int32
	// Sender and Receiver are the owners' references to the operations at the two ends.
	Sender, Receiver int32
	// Flow is the sending owner's reference to the transfer for [Owner].Acked, or 0.
	Flow int32
	Kind Kind

	// The rest is the sending NIC's alone.
	next int32  // the next message of the queue pair
	last uint32 // the PSN of the last packet
	qp   int32
}

const chunkBits = 5

type chunk [1 << chunkBits]Message

// arena holds the messages of a NIC at fixed addresses, so that another NIC can read
// one while this one adds more.
type arena struct {
	chunks []*chunk
	shared atomic.Pointer[[]*chunk]
	free   []int32
	size   int32
}

// take returns an unused slot.
func (a *arena) take() int32 {
	if n := len(a.free); n > 0 {
		slot := a.free[n-1]
		a.free = a.free[:n-1]
		return slot
	}
	if int(a.size)>>chunkBits == len(a.chunks) {
		a.chunks = append(a.chunks, new(chunk))
		now := a.chunks
		a.shared.Store(&now)
	}
	a.size++
	return a.size - 1
}

// at returns a message of one's own.
func (a *arena) at(slot int32) *Message { return &a.chunks[slot>>chunkBits][slot&(1<<chunkBits-1)] }

// read returns a message of another NIC's.
func (a *arena) read(slot uint32) *Message {
	return &(*a.shared.Load())[slot>>chunkBits][slot&(1<<chunkBits-1)]
}

func (a *arena) release(slot int32) { a.free = append(a.free, slot) }
