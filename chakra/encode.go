package chakra

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

// Attr is an attribute of a node. The constructors choose the member of the value
// union.
type Attr struct {
	name  string
	field int // member of the union; 0 for no value
	bits  uint64
	text  string
}

// Int64 returns an int64_val attribute, the form that most readers expect.
func Int64(name string, v int64) Attr { return Attr{name: name, field: 9, bits: uint64(v)} }

// Int32 returns an int32_val attribute.
func Int32(name string, v int32) Attr { return Attr{name: name, field: 7, bits: uint64(int64(v))} }

// Uint64 returns a uint64_val attribute.
func Uint64(name string, v uint64) Attr { return Attr{name: name, field: 13, bits: v} }

// Bool returns a bool_val attribute.
func Bool(name string, v bool) Attr {
	a := Attr{name: name, field: 27}
	if v {
		a.bits = 1
	}
	return a
}

// Double returns a double_val attribute.
func Double(name string, v float64) Attr {
	return Attr{name: name, field: 3, bits: math.Float64bits(v)}
}

// String returns a string_val attribute.
func String(name, v string) Attr { return Attr{name: name, field: 29, text: v} }

// NoValue returns an attribute without a value.
func NoValue(name string) Attr { return Attr{name: name} }

// Node is one node of a trace to be written. Durations are whole microseconds.
type Node struct {
	ID                          uint64
	Name                        string
	Type                        NodeType
	CtrlDeps, DataDeps          []uint64
	StartMicros, DurationMicros uint64
	// Inputs is the text of inputs.values; "" writes no inputs.
	Inputs string
	Attrs  []Attr
}

// Encoder writes one rank's trace in the current schema. After an error of the
// writer nothing more is written; see Err.
type Encoder struct {
	w   io.Writer
	msg []byte // the message under construction
	sub []byte // a message inside it
	err error
}

// NewEncoder returns an encoder that writes to w. Write the metadata first, then
// the nodes.
func NewEncoder(w io.Writer) *Encoder { return &Encoder{w: w} }

// Err returns the first error of the writer.
func (e *Encoder) Err() error { return e.err }

// Metadata writes the global metadata message, which opens a file.
func (e *Encoder) Metadata(version string, attrs ...Attr) {
	e.msg = e.msg[:0]
	if version != "" {
		e.msg = appendText(e.msg, 1, version)
	}
	for i := range attrs {
		e.attr(2, &attrs[i])
	}
	e.frame()
}

// Node writes one node.
func (e *Encoder) Node(n *Node) {
	e.msg = appendUint(e.msg[:0], 1, n.ID)
	if n.Name != "" {
		e.msg = appendText(e.msg, 2, n.Name)
	}
	e.msg = appendUint(e.msg, 3, uint64(n.Type))
	e.packed(4, n.CtrlDeps)
	e.packed(5, n.DataDeps)
	e.msg = appendUint(e.msg, 6, n.StartMicros)
	e.msg = appendUint(e.msg, 7, n.DurationMicros)
	if n.Inputs != "" {
		e.sub = appendText(e.sub[:0], 1, n.Inputs)
		e.msg = appendText(e.msg, 8, string(e.sub))
	}
	for i := range n.Attrs {
		e.attr(10, &n.Attrs[i])
	}
	e.frame()
}

func (e *Encoder) packed(field int, ids []uint64) {
	if len(ids) == 0 {
		return
	}
	e.sub = e.sub[:0]
	for _, id := range ids {
		e.sub = binary.AppendUvarint(e.sub, id)
	}
	e.msg = appendText(e.msg, field, string(e.sub))
}

func (e *Encoder) attr(field int, a *Attr) {
	e.sub = appendText(e.sub[:0], 1, a.name)
	switch a.field {
	case 0:
	case 3:
		e.sub = binary.AppendUvarint(e.sub, uint64(a.field<<3|wireFixed64))
		e.sub = binary.LittleEndian.AppendUint64(e.sub, a.bits)
	case 29:
		e.sub = appendText(e.sub, a.field, a.text)
	default: // has presence, so zero is written too
		e.sub = binary.AppendUvarint(e.sub, uint64(a.field<<3|wireVarint))
		e.sub = binary.AppendUvarint(e.sub, a.bits)
	}
	e.msg = appendText(e.msg, field, string(e.sub))
}

// frame writes the message with its length in front.
func (e *Encoder) frame() {
	if e.err != nil {
		return
	}
	head := binary.AppendUvarint(e.sub[:0], uint64(len(e.msg)))
	e.sub = head
	for _, part := range [][]byte{head, e.msg} {
		if _, err := e.w.Write(part); err != nil {
			e.err = fmt.Errorf("writing a trace: %w", err)
			return
		}
	}
}

// appendUint appends an integer field unless it is zero, the default of proto3.
func appendUint(b []byte, field int, v uint64) []byte {
	if v == 0 {
		return b
	}
	b = binary.AppendUvarint(b, uint64(field<<3|wireVarint))
	return binary.AppendUvarint(b, v)
}

// appendText appends a length-delimited field.
func appendText(b []byte, field int, s string) []byte {
	b = binary.AppendUvarint(b, uint64(field<<3|wireBytes))
	b = binary.AppendUvarint(b, uint64(len(s)))
	return append(b, s...)
}
