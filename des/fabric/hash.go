package fabric

import (
	"encoding/binary"
	"hash/crc32"

	"hybrid/des/sim"
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
	member func(r *sim.Record, entropy uint32, node, n int32) int32
}

func hashes() []Hash {
	return []Hash{
		{"murmur3", "Finalizer of MurmurHash3 over flow, entropy, switch and --seed; the upper half times the number of links.", nil},
		{"crc32", "CRC-32 (IEEE 802.3) of the key.", func(r *sim.Record, e uint32, _, n int32) int32 {
			k := key(r, e, 0)
			return modulo(crc(k[:keyBytes]), n)
		}},
		{"crc32-salted", "The low 16 bits of the CRC-32 of key and switch.", func(r *sim.Record, e uint32, node, n int32) int32 {
			return modulo(salted(r, e, node), n)
		}},
		{"hash", "FNV-1a with 32 bits of the key.", func(r *sim.Record, e uint32, _, n int32) int32 {
			k := key(r, e, 0)
			return modulo(fnv1a(k[:keyBytes]), n)
		}},
		{"hash-salted", "FNV-1a with 32 bits of key and switch.", func(r *sim.Record, e uint32, node, n int32) int32 {
			k := key(r, e, node)
			return modulo(fnv1a(k[:]), n)
		}},
		{"dpr", "By the target alone: its host number modulo 512.", func(r *sim.Record, _ uint32, _, n int32) int32 {
			return modulo(uint32(r.To())&dprMask, n)
		}},
		{"dpr-fallback", "dpr for the first 512 hosts, crc32-salted for others.", func(r *sim.Record, e uint32, node, n int32) int32 {
			if to := uint32(r.To()); to <= dprMask {
				return modulo(to, n)
			}
			return modulo(salted(r, e, node), n)
		}},
	}
}

// Hashes returns the table; the first is the default.
func Hashes() []Hash { return hashes() }

const (
	keyBytes = 14
	dprMask  = 511
)

// key lays out a flow for hashing, with the switch behind it.
func key(r *sim.Record, entropy uint32, node int32) (k [keyBytes + 4]byte) {
	binary.BigEndian.PutUint32(k[0:], uint32(r.From()))
	binary.BigEndian.PutUint32(k[4:], uint32(r.To()))
	binary.BigEndian.PutUint32(k[8:], r.QP)
	binary.BigEndian.PutUint16(k[12:], uint16(entropy))
	binary.BigEndian.PutUint32(k[14:], uint32(node))
	return k
}

func salted(r *sim.Record, entropy uint32, node int32) uint32 {
	k := key(r, entropy, node)
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
