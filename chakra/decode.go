package chakra

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// span is a piece of the file. Nodes hold spans instead of slices so that the
// garbage collector need not look at them.
type span struct{ lo, hi uint32 }

// node is one decoded trace node.
type node struct {
	id              uint64
	name            span
	group           span // pg_name
	start, duration uint64
	vals            [numSlots]int64
	// set, text, float and bad are bit sets by slot: the attribute has a value, was
	// written as a numeric string, as a float, or cannot be read as an integer.
	set, text, float, bad uint16
	// rank in precedence of the names that share the root and order slots.
	rootFrom, orderFrom uint8
	hasGroup            bool
	kind                NodeType
	rawKind             uint64
	ctrlLo, ctrlHi      uint32
	dataLo, dataHi      uint32
}

func (n *node) has(s slot) bool { return n.set&(1<<s) != 0 }

// trace is one decoded file.
type trace struct {
	file  []byte
	nodes []node
	// ctrl and data hold the dependency ids of all nodes.
	ctrl, data []uint64
	// groups are the metadata nodes that declare process groups.
	groups   []groupNode
	schema   *schema
	metadata bool
	// inputs is inputs.values of the node being decoded.
	inputs span
	// order is the attribute with the issue order; "" means the usual names.
	order string
}

// text returns a piece of the file.
func (t *trace) text(s span) []byte { return t.file[s.lo:s.hi] }

// groupNode is a metadata node and the declarations in it.
type groupNode struct {
	node int32
	text span
}

// frameError is damage in a file.
type frameError struct {
	frame, offset int
	reason        string
}

func (e *frameError) Error() string {
	return fmt.Sprintf("frame %d at byte %d: %s", e.frame, e.offset, e.reason)
}

// limits of a file; what exceeds them is refused instead of exhausting memory.
const (
	maxNodes = 1 << 28
	maxDeps  = math.MaxInt32
	maxFile  = math.MaxUint32
)

// frameAt returns the message that starts at data[i:] and the index behind it.
func frameAt(data []byte, i, number int) ([]byte, int, error) {
	n, j := uvarint(data, i)
	if j < 0 {
		return nil, 0, &frameError{number, i, "the length prefix is cut off or too long"}
	}
	if n > uint64(len(data)-j) {
		return nil, 0, &frameError{number, i, fmt.Sprintf("announces %d bytes, but only %d are left in the file", n, len(data)-j)}
	}
	return data[j : j+int(n)], j + int(n), nil
}

// countFrames checks the framing of a file and returns the number of messages.
func countFrames(data []byte) (int, error) {
	n := 0
	for i := 0; i < len(data); n++ {
		var err error
		if _, i, err = frameAt(data, i, n); err != nil {
			return 0, err
		}
	}
	if n > maxNodes {
		return 0, fmt.Errorf("%d messages, more than the limit of %d", n, maxNodes)
	}
	return n, nil
}

// decode reads a whole uncompressed file into t, whose memory is used again. forced
// selects the schema; nil detects it.
func (t *trace) decode(data []byte, forced *schema) error {
	if len(data) > maxFile {
		return fmt.Errorf("%d bytes, more than the limit of %d", len(data), uint32(maxFile))
	}
	count, err := countFrames(data)
	if err != nil {
		return err
	}
	d := detect(data)
	*t = trace{order: t.order, file: data, schema: d.schema, metadata: d.metadata, ctrl: t.ctrl[:0], data: t.data[:0], nodes: slices.Grow(t.nodes[:0], count)}
	if forced != nil {
		t.schema = forced
	}
	return t.decodeNodes(data)
}

// decodeNodes decodes the messages behind the metadata. Here and below a part of
// the file is given by the file up to the part's end and the index of its start, so
// that all indices are those of the file.
func (t *trace) decodeNodes(data []byte) error {
	for i, number := 0, 0; i < len(data); number++ {
		frame, next, err := frameAt(data, i, number)
		if err != nil {
			return err
		}
		if number > 0 || !t.metadata {
			if err := t.decodeNode(data[:next], next-len(frame)); err != nil {
				return &frameError{number, i, "holds " + err.Error()}
			}
		}
		i = next
	}
	return nil
}

// decodeNode appends the node of one message.
func (t *trace) decodeNode(b []byte, i int) error {
	t.nodes = append(t.nodes, node{})
	n := &t.nodes[len(t.nodes)-1]
	n.ctrlLo, n.dataLo = uint32(len(t.ctrl)), uint32(len(t.data))
	t.inputs = span{}
	for i < len(b) {
		tag, v, end := nextField(b, i)
		if end >= 0 && tag>>3 <= maxField {
			switch tag & 7 {
			case wireVarint:
				t.integerField(n, tag>>3, v)
			case wireBytes:
				end = t.bytesField(n, tag>>3, b[:end], int(v))
			}
		}
		if end < 0 {
			return wireError(end)
		}
		i = end
	}
	n.ctrlHi, n.dataHi = uint32(len(t.ctrl)), uint32(len(t.data))
	if len(t.ctrl) > maxDeps || len(t.data) > maxDeps {
		return fmt.Errorf("more than %d dependencies", maxDeps)
	}
	t.translate(n)
	if n.kind == MetadataNode && string(t.text(n.name)) == processGroupNode {
		t.groups = append(t.groups, groupNode{int32(len(t.nodes) - 1), t.inputs})
	}
	return nil
}

// integerField stores a varint field. A field with an unexpected wire type is
// unknown and skipped, as protobuf prescribes.
func (t *trace) integerField(n *node, number uint32, v uint64) {
	switch act := t.schema.node[number]; act {
	case actID:
		n.id = v
	case actType:
		n.rawKind = v
	case actStart:
		n.start = v
	case actDuration:
		n.duration = v
	case actCtrl:
		t.ctrl = append(t.ctrl, v)
	case actData:
		t.data = append(t.data, v)
	default:
		if act >= actSlot {
			n.store(slot(act-actSlot), int64(v))
		}
	}
}

// bytesField stores the length-delimited field b[i:] and returns its end, or a
// wireError.
func (t *trace) bytesField(n *node, number uint32, b []byte, i int) int {
	bad := 0
	switch t.schema.node[number] {
	case actName:
		n.name = span{uint32(i), uint32(len(b))}
	case actCtrl:
		t.ctrl, bad = appendPacked(t.ctrl, b, i)
	case actData:
		t.data, bad = appendPacked(t.data, b, i)
	case actAttr:
		bad = t.decodeAttr(n, b, i)
	case actInputs:
		bad = t.inputValues(b, i)
	}
	if bad < 0 {
		return bad
	}
	return len(b)
}

// inputValues finds inputs.values: field 1 of a message in the current schema, the
// text itself in old ones.
func (t *trace) inputValues(b []byte, i int) int {
	if !t.schema.current {
		t.inputs = span{uint32(i), uint32(len(b))}
		return 0
	}
	for i < len(b) {
		tag, v, end := nextField(b, i)
		if end < 0 {
			return end
		}
		if tag == 1<<3|wireBytes {
			t.inputs = span{uint32(v), uint32(end)}
		}
		i = end
	}
	return 0
}

// appendPacked appends the packed varints b[i:].
func appendPacked(dst []uint64, b []byte, i int) ([]uint64, int) {
	for i < len(b) {
		var v uint64
		if v, i = uvarint(b, i); i < 0 {
			return dst, badVarint
		}
		dst = append(dst, v)
	}
	return dst, 0
}

// decodeAttr stores the attribute b[i:] if it matters; the last member of the value
// union wins. It returns 0 or a wireError.
func (t *trace) decodeAttr(n *node, b []byte, i int) int {
	var name, text span
	var bits uint64
	kind := kindSkip
	for i < len(b) {
		tag, v, end := nextField(b, i)
		if end < 0 {
			return end
		}
		if tag == 1<<3|wireBytes {
			name = span{uint32(v), uint32(end)}
		} else if tag>>3 <= maxField {
			if k := accept(t.schema.value[tag>>3], uint8(tag&7)); k != kindSkip {
				kind, bits, text = k, v, span{uint32(v), uint32(end)}
			}
		}
		i = end
	}
	if kind != kindSkip && kind != kindList {
		t.setAttr(n, b[name.lo:name.hi], kind, bits, text)
	}
	return 0
}

// accept returns the kind if the wire type fits it.
func accept(k valueKind, wire uint8) valueKind {
	want := uint8(wireVarint)
	switch k {
	case kindFixed32, kindSfixed32, kindFloat:
		want = wireFixed32
	case kindFixed64, kindSfixed64, kindDouble:
		want = wireFixed64
	case kindText, kindList:
		want = wireBytes
	case kindIntOrText:
		if wire == wireBytes {
			return kindText
		}
		k = kindInt64
	}
	if wire != want {
		return kindSkip
	}
	return k
}

// setAttr stores an attribute value. A group named by a number is the same as one
// given by comm_group.
func (t *trace) setAttr(n *node, name []byte, kind valueKind, bits uint64, text span) {
	s, from := attrSlot(name)
	if t.order != "" {
		if string(name) == t.order { // whatever else the attribute may mean
			t.setNumber(n, slotOrder, kind, bits, text)
		}
		if s == slotOrder {
			return
		}
	}
	switch s {
	case slotNone:
		return
	case slotGroupName:
		if n.hasGroup = kind == kindText; n.hasGroup {
			n.group = text
			return
		}
		s = slotGroup
	case slotRoot:
		if n.has(s) && from > n.rootFrom {
			return
		}
		n.rootFrom = from
	case slotOrder:
		if n.has(s) && from > n.orderFrom {
			return
		}
		n.orderFrom = from
	}
	t.setNumber(n, s, kind, bits, text)
}

func (t *trace) setNumber(n *node, s slot, kind valueKind, bits uint64, text span) {
	if kind == kindText {
		n.setText(s, t.text(text))
	} else {
		n.setInteger(s, kind, bits)
	}
}

// setText stores a number that was written as text.
func (n *node) setText(s slot, text []byte) {
	v, err := strconv.ParseInt(string(text), 10, 64)
	n.put(s, v, err == nil)
	n.text |= 1 << s
}

func (n *node) setInteger(s slot, kind valueKind, bits uint64) {
	if kind == kindFloat || kind == kindDouble {
		x := toFloat(kind, bits)
		n.put(s, int64(x), x == math.Trunc(x) && math.Abs(x) <= 1<<53)
		n.float |= 1 << s
		return
	}
	v, ok := toInt(kind, bits)
	n.put(s, v, ok)
}

// put stores a value, or notes that it cannot be read, in place of an earlier one.
func (n *node) put(s slot, v int64, ok bool) {
	bit := uint16(1) << s
	n.text, n.float, n.bad, n.set = n.text&^bit, n.float&^bit, n.bad&^bit, n.set&^bit
	if !ok {
		n.vals[s] = 0
		n.bad |= bit
		return
	}
	n.store(s, v)
}

func (n *node) store(s slot, v int64) {
	n.vals[s] = v
	n.set |= 1 << s
}

// toInt reads an integer member; a uint64 beyond int64 is not one.
func toInt(kind valueKind, bits uint64) (int64, bool) {
	switch kind {
	case kindInt32, kindSfixed32:
		return int64(int32(bits)), true
	case kindUint32, kindFixed32:
		return int64(uint32(bits)), true
	case kindUint64, kindFixed64:
		return int64(bits), bits <= math.MaxInt64
	case kindSint32:
		return zigzag(bits & math.MaxUint32), true
	case kindSint64:
		return zigzag(bits), true
	case kindBool:
		if bits != 0 {
			return 1, true
		}
		return 0, true
	}
	return int64(bits), true
}

func toFloat(kind valueKind, bits uint64) float64 {
	if kind == kindFloat {
		return float64(math.Float32frombits(uint32(bits)))
	}
	return math.Float64frombits(bits)
}

// translate maps the enumerations of the file's schema to today's.
func (t *trace) translate(n *node) {
	s := t.schema
	k := n.rawKind
	if s.types != nil {
		if k < uint64(len(s.types)) {
			k = uint64(s.types[k])
		} else {
			k = numNodeTypes
		}
	}
	n.kind = NodeType(min(k, numNodeTypes))
	if s.colls != nil && n.has(slotCommType) {
		c := n.vals[slotCommType]
		if c >= 0 && c < int64(len(s.colls)) && s.colls[c] >= 0 {
			n.vals[slotCommType] = int64(s.colls[c])
		} else {
			n.set &^= 1 << slotCommType
		}
	}
	if !s.current && n.duration == 0 && n.has(slotRuntime) && n.vals[slotRuntime] > 0 {
		n.duration = uint64(n.vals[slotRuntime])
	}
}
