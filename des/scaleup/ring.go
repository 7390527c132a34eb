package scaleup

// ring is a queue in a buffer whose length is a power of two. The zero value is empty.
type ring[T any] struct {
	buf        []T
	head, tail uint32
}

const firstRing = 4

func (r *ring[T]) len() uint32 { return r.tail - r.head }

// at returns the entry with i entries before it.
func (r *ring[T]) at(i uint32) T { return r.buf[(r.head+i)&uint32(len(r.buf)-1)] }

// first returns the oldest entry; there must be one.
func (r *ring[T]) first() *T { return &r.buf[r.head&uint32(len(r.buf)-1)] }

func (r *ring[T]) pop() { r.head++ }

func (r *ring[T]) push(v T) {
	if int(r.len()) == len(r.buf) {
		r.grow()
	}
	r.buf[r.tail&uint32(len(r.buf)-1)] = v
	r.tail++
}

// grow doubles the buffer.
//
//go:noinline
func (r *ring[T]) grow() {
	buf := make([]T, max(firstRing, 2*len(r.buf)))
	for i := r.head; i != r.tail; i++ {
		buf[i&uint32(len(buf)-1)] = r.buf[i&uint32(len(r.buf)-1)]
	}
	r.buf = buf
}
