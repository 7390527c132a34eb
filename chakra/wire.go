package chakra

import (
	"encoding/binary"
	"math"
)

// Wire types of the protobuf encoding.
const (
	wireVarint  = 0
	wireFixed64 = 1
	wireBytes   = 2
	wireGroup   = 3
	wireEnd     = 4
	wireFixed32 = 5
)

// maxGroupDepth bounds the nesting of (deprecated, always unknown) groups.
const maxGroupDepth = 100

// What can be wrong with a message. The values are negative so that they take the
// place of an index.
const (
	badVarint = -1 - iota
	badLength
	badTag
	badGroup
)

// wireError is one of the values above as an error.
type wireError int

func (e wireError) Error() string {
	return [...]string{
		"an unterminated or too long variable-length integer",
		"a field that runs past the end of its message",
		"an impossible field number or wire type",
		"an unbalanced or too deeply nested group",
	}[-1-e]
}

// uvarint reads a base-128 integer at b[i:] and returns the index behind it, or
// a negative index if it does not end within ten bytes or within b. Hot callers
// handle the one-byte case themselves: the compiler does not inline it.
func uvarint(b []byte, i int) (uint64, int) {
	var v uint64
	for shift := uint(0); shift < 64 && i < len(b); shift += 7 {
		c := b[i]
		i++
		if shift == 63 && c > 1 {
			return 0, -1
		}
		v |= uint64(c&0x7f) << shift
		if c < 0x80 {
			return v, i
		}
	}
	return 0, -1
}

// nextField reads the field at b[i:]. Its value is v, or b[v:end] where it is
// length-delimited; end is the index behind it, or negative for a wireError.
func nextField(b []byte, i int) (tag uint32, v uint64, end int) {
	var t uint64
	if uint(i) < uint(len(b)) && b[i] < 0x80 {
		t = uint64(b[i])
		i++
	} else if t, i = uvarint(b, i); i < 0 {
		return 0, 0, badVarint
	}
	if t < 8 || t > math.MaxUint32 {
		return 0, 0, badTag
	}
	if w := t & 7; w != wireVarint && w != wireBytes {
		v, i = fixedField(b, i, uint32(t))
		return uint32(t), v, i
	}
	if uint(i) < uint(len(b)) && b[i] < 0x80 {
		v = uint64(b[i])
		i++
	} else if v, i = uvarint(b, i); i < 0 {
		return 0, 0, badVarint
	}
	if t&7 == wireBytes {
		if v > uint64(len(b)-i) {
			return 0, 0, badLength
		}
		return uint32(t), uint64(i), i + int(v)
	}
	return uint32(t), v, i
}

// fixedField reads a value of fixed width, or skips a group.
func fixedField(b []byte, i int, tag uint32) (v uint64, end int) {
	switch tag & 7 {
	case wireFixed64:
		if len(b)-i < 8 {
			return 0, badLength
		}
		return binary.LittleEndian.Uint64(b[i:]), i + 8
	case wireFixed32:
		if len(b)-i < 4 {
			return 0, badLength
		}
		return uint64(binary.LittleEndian.Uint32(b[i:])), i + 4
	case wireGroup:
		return 0, skipGroup(b, i, tag>>3)
	}
	return 0, badTag
}

// skipGroup skips to behind the end of the group with the given number.
func skipGroup(b []byte, i int, number uint32) int {
	var open [maxGroupDepth]uint32
	open[0] = number
	depth := 1
	for i < len(b) {
		tag, j := uvarint(b, i)
		switch {
		case j < 0:
			return badVarint
		case tag < 8 || tag > math.MaxUint32:
			return badTag
		case tag&7 == wireGroup:
			if depth == maxGroupDepth {
				return badGroup
			}
			open[depth], i = uint32(tag>>3), j
			depth++
		case tag&7 == wireEnd:
			depth--
			if open[depth] != uint32(tag>>3) {
				return badGroup
			}
			if i = j; depth == 0 {
				return i
			}
		default:
			if _, _, i = nextField(b, i); i < 0 {
				return i
			}
		}
	}
	return badLength
}

// field is one field of a message, for code that looks rather than decodes: num
// holds varint and fixed-width values, bytes the payload of a length-delimited one.
type field struct {
	number int
	wire   uint8
	num    uint64
	bytes  []byte
}

// next reads the field at b[i:] and returns the index behind it, or a wireError.
func (f *field) next(b []byte, i int) int {
	tag, v, end := nextField(b, i)
	if end < 0 {
		return end
	}
	f.number, f.wire, f.num, f.bytes = int(tag>>3), uint8(tag&7), v, nil
	if f.wire == wireBytes {
		f.bytes = b[v:end]
	}
	return end
}

// zigzag decodes the signed integers of sint32 and sint64.
func zigzag(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }
