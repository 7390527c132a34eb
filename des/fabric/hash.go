package fabric

import (
	"encoding/binary"
	"hash/crc32"
)

// Hash is a row of the table of hashes by which a switch spreads flows over n equal-cost
// links. Each is a pure function of the flow, its entropy and the switch.
//
// But for murmur3 and dpr the key is 14 bytes, high byte first: 4 of the origin's host
// number, 4 of the target's, 4 of the queue pair, 2 of the entropy, which is 0 unless
// packets are sprayed; salted ones are followed by 4 bytes of the switch's node number. The
// member is the hash modulo n.
type Hash struct {
	Name, Doc string
	// member is nil for murmur3, whose code is in line.
	member func(f flow, node, n int32) int32
}

func hashes() []Hash {
	return []Hash{
		{"murmur3", "Finalizer of MurmurHash3 over flow, entropy, switch and --seed; the upper half times the number of links.", nil},
		{"crc32", "CRC-32 (IEEE 802.3) of the key.", func(f flow, _, n int32) int32 {
			k := f.key(0)
			return modulo(crc(k[:keyBytes]), n)
		}},
		{"crc32-salted", "The low 16 bits of the CRC-32 of key and switch.", func(f flow, node, n int32) int32 {
			return modulo(f.salted(node), n)
		}},
		{"hash", "FNV-1a with 32 bits of the key.", func(f flow, _, n int32) int32 {
			k := f.key(0)
			return modulo(fnv1a(k[:keyBytes]), n)
		}},
		{"hash-salted", "FNV-1a with 32 bits of key and switch.", func(f flow, node, n int32) int32 {
			k := f.key(node)
			return modulo(fnv1a(k[:]), n)
		}},
		{"dpr", "By the target alone: its host number modulo 512.", func(f flow, _, n int32) int32 {
			return modulo(f.to&dprMask, n)
		}},
		{"dpr-fallback", "dpr for the first 512 hosts, crc32-salted for others.", func(f flow, node, n int32) int32 {
			if to := f.to; to <= dprMask {
				return modulo(to, n)
			}
			return modulo(f.salted(node), n)
		}},
	}
}

// Hashes returns the table; the first is the default.
func Hashes() []Hash { return hashes() }

const (
	keyBytes = 14
	dprMask  = 511
)

// flow is what is hashed, by value, so that records stay where they are.
type flow struct{ from, to, qp, entropy uint32 }

// key lays out a flow, with the switch behind it.
func (f *flow) key(node int32) (k [keyBytes + 4]byte) {
	binary.BigEndian.PutUint32(k[0:], f.from)
	binary.BigEndian.PutUint32(k[4:], f.to)
	binary.BigEndian.PutUint32(k[8:], f.qp)
	binary.BigEndian.PutUint16(k[12:], uint16(f.entropy))
	binary.BigEndian.PutUint32(k[14:], uint32(node))
	return k
}

func (f *flow) salted(node int32) uint32 {
	k := f.key(node)
	return crc(k[:]) & 0xffff
}

// crc is crc32.ChecksumIEEE, which would move the key to the heap.
func crc(bytes []byte) uint32 {
	c := ^uint32(0)
	for _, b := range bytes {
		c = crc32.IEEETable[byte(c)^b] ^ c>>8
	}
	return ^c
}

// fnv1a is the 32-bit hash of Fowler, Noll and Vo (IETF draft-eastlake-fnv).
func fnv1a(bytes []byte) uint32 {
	h := uint32(2166136261)
	for _, b := range bytes {
		h = (h ^ uint32(b)) * 16777619
	}
	return h
}

func modulo(h uint32, n int32) int32 { return int32(h % uint32(n)) }
