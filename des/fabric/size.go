package fabric

import (
	"reflect"

	"hybrid/des/sim"
)

// PortBytes returns the memory that an idle port of a switch takes, in both directions, in
// bytes: without a packet memory for 0 classes, else of a [Buffered] switch.
func PortBytes(classes int64) int64 {
	n := size[port]()
	if classes > 0 {
		// A port of a switch is a leaf of its tournament, of a power of two.
		n = size[outlet]() + classes*size[queue]() + size[inlet]() + 3*size[uint64]()
	}
	return n
}

// RingBytes returns the memory of a ring that holds so many packets, in bytes: of a queue,
// or of a link.
func RingBytes(packets int64) int64 {
	n := int64(firstRing)
	for n < packets {
		n *= 2
	}
	return n * size[sim.Record]()
}

func size[T any]() int64 { return int64(reflect.TypeFor[T]().Size()) }
