package replay

import (
	"fmt"

	"hybrid/internal/units"
)

// Stall says what stood still in the network when a simulation ended without having
// finished. Times are ticks of the result's clock.
type Stall struct {
	// Circle are output ports that pauses of each other have stopped: the packets at the
	// head of each wait for the next one, those of the last for the first.
	Circle []PausedPort
	// Pairs are queue pairs with messages that are not acknowledged: the ones that wait
	// for what will never come first, then by host and number; More is how many others
	// there are.
	Pairs []StalledPair
	More  int64
}

// PausedPort is a paused queue at an output port.
type PausedPort struct {
	// Link is the ID of the port's link, From and To the names of its ends.
	Link     int32
	From, To string
	Class    uint8
	// Bytes wait in the queue, and Since is when the pause began.
	Bytes int64
	Since units.Time
	// Head is the first packet of the queue.
	Head Frame
}

// Frame is a packet, or an acknowledgement, of a queue pair. Host is where the queue pair
// sends its data, QP its number there and PSN the packet, of an acknowledgement the last
// one that it covers.
type Frame struct {
	Host string
	QP   int32
	PSN  uint32
	Ack  bool
}

// String names the frame: packet 17 of queue pair 3 of server-0.
func (f Frame) String() string {
	return fmt.Sprintf("%s of queue pair %d of %s", f.Short(), f.QP, f.Host)
}

// Short leaves out the queue pair: packet 17, or the acknowledgement of packet 17.
func (f Frame) Short() string {
	if f.Ack {
		return fmt.Sprintf("the acknowledgement of packet %d", f.PSN)
	}
	return fmt.Sprintf("packet %d", f.PSN)
}

// StalledPair is a queue pair with messages that are not acknowledged.
type StalledPair struct {
	// Src and Dst are the ranks that it joins.
	Src, Dst int32
	// Frame is the first packet that has not arrived, or the acknowledgement that has not
	// come back.
	Frame Frame
	// Wait is the name of what it waits for, from the engine's table of such reasons, and
	// Text the same in words, with where.
	Wait, Text string
	// Link is the link on which, or on the way to which, the frame is or was, -1 where
	// that is not known; From and To are the names of its ends.
	Link     int32
	From, To string
	Class    uint8
	// Since is when the wait began, -1 where that is not known.
	Since units.Time
}

// String describes the pair in one line.
func (p StalledPair) String() string {
	return fmt.Sprintf("queue pair %d of %s, rank %d to %d: %s", p.Frame.QP, p.Frame.Host, p.Src, p.Dst, p.Text)
}
