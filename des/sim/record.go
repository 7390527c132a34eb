package sim

import "hybrid/internal/units"

// Record is one packet on a directed link, by value: 32 bytes without pointers, with
// everything that forwarding needs, so that no table is touched on the way.
type Record struct {
	// T is when the packet takes effect at the far end of the link it is on: its last
	// bit has arrived and, in a switch, has passed the forwarding pipeline.
	T units.Time
	// Dst and Src are the host numbers of the packet's target and origin, below 2^24
	// (see [Pack]); the top bytes carry the Kind and the flags of the transport, of which
	// 1<<5 belongs to switches that route by way of others and 1<<6 and 1<<7 to marks. Of
	// whole messages that have ways of their own the Kind is the number, modulo 256.
	Dst, Src uint32
	// QP is the queue pair, numbered at the host that owns it: the sender of the data,
	// also on acknowledgements.
	QP uint32
	// PSN is the packet sequence number; on acknowledgements the last one covered.
	PSN uint32
	// Size is the number of bytes that the packet occupies on a link. A transport
	// without packets keeps the upper half of a 64-bit size in PSN.
	Size uint32
	// Msg is the message, numbered at the host that sends it.
	Msg uint32
}

// NodeMask selects the host number in Record.Dst and Record.Src.
const NodeMask = 1<<24 - 1

// Pack puts a host number and a byte of transport information into one word.
func Pack(host int32, info uint8) uint32 { return uint32(host) | uint32(info)<<24 }

// To returns the host the packet goes to.
func (r *Record) To() int32 { return int32(r.Dst & NodeMask) }

// From returns the host the packet comes from.
func (r *Record) From() int32 { return int32(r.Src & NodeMask) }

// Kind returns the transport's byte beside the target.
func (r *Record) Kind() uint8 { return uint8(r.Dst >> 24) }

// Wide returns the 64-bit size of a record without packets.
func (r *Record) Wide() int64 { return int64(r.PSN)<<32 | int64(r.Size) }

// SetWide sets the 64-bit size of a record without packets.
func (r *Record) SetWide(n int64) { r.PSN, r.Size = uint32(n>>32), uint32(n) }

// Sort orders records by time and keeps the order of equal times, which the caller
// has made the order of incoming links. The input is a concatenation of sorted runs,
// one a link; merging natural runs makes that n log(links).
func Sort(r []Record, scratch *[]Record) {
	if len(r) <= 16 {
		insertionSort(r)
		return
	}
	if cap(*scratch) < len(r) {
		*scratch = make([]Record, 2*len(r))
	}
	src, dst := r, (*scratch)[:len(r)]
	swapped := false
	for {
		runs := mergePass(src, dst)
		src, dst = dst, src
		swapped = !swapped
		if runs <= 1 {
			break
		}
	}
	if swapped {
		copy(r, src)
	}
}

func insertionSort(r []Record) {
	for i := 1; i < len(r); i++ {
		if r[i].T >= r[i-1].T {
			continue
		}
		x := r[i]
		j := i
		for j > 0 && r[j-1].T > x.T {
			r[j] = r[j-1]
			j--
		}
		r[j] = x
	}
}

// mergePass merges neighbouring runs of src into dst and returns how many runs are
// left.
func mergePass(src, dst []Record) (runs int) {
	n := len(src)
	for lo := 0; lo < n; runs++ {
		mid := runEnd(src, lo)
		hi := mid
		if mid < n {
			hi = runEnd(src, mid)
		}
		merge(src[lo:mid], src[mid:hi], dst[lo:hi])
		lo = hi
	}
	return runs
}

func runEnd(r []Record, i int) int {
	for i++; i < len(r) && r[i].T >= r[i-1].T; i++ {
	}
	return i
}

func merge(a, b, out []Record) {
	i, j := 0, 0
	for k := range out {
		if j == len(b) || i < len(a) && a[i].T <= b[j].T {
			out[k] = a[i]
			i++
		} else {
			out[k] = b[j]
			j++
		}
	}
}
