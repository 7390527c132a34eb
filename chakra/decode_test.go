package chakra

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"
	"pgregory.net/rapid"

	"hybrid/graph"
)

// frame puts a length in front of a message.
func frame(msg []byte) []byte {
	return append(binary.AppendUvarint(nil, uint64(len(msg))), msg...)
}

func TestWithoutMetadata(t *testing.T) {
	n := comp(0, 5) // id 0 is not on the wire, so the node starts like metadata
	want := dump(mustLoad(t, writeSet(t, file(n, comp(1, 6, 0))), Options{}), 0)
	for name, data := range map[string][]byte{
		"no metadata":    bare(n, comp(1, 6, 0)),
		"empty metadata": append([]byte{0}, bare(n, comp(1, 6, 0))...),
	} {
		if got := dump(mustLoad(t, writeSet(t, data), Options{}), 0); got != want {
			t.Errorf("%s: got\n%swant\n%s", name, got, want)
		}
	}
}

func TestGzip(t *testing.T) {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write(file(comp(1, 5)))
	w.Close()
	dir := t.TempDir()
	write(t, dir, "x.0.et.gz", b.Bytes())
	expect(t, dir, Options{}, "", "0 compute 5000000ps\n")
	write(t, dir, "x.0.et.gz", b.Bytes()[:b.Len()-9])
	expect(t, dir, Options{}, "x.0.et.gz: error: gzip: unexpected EOF [E704]\n", "")
}

func TestDamagedFiles(t *testing.T) {
	// The metadata message takes 8 bytes (0x07 0x0a 0x05 "0.0.4"), the first node
	// 1 + 12: id (2), name COMP (6), type (2), duration (2).
	good := file(comp(1, 5))
	if len(good) != 21 {
		t.Fatalf("%d bytes, want 21", len(good))
	}
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"cut last message", append(good[:21:21], 100, 8, 1), "frame 2 at byte 21: announces 100 bytes, but only 2 are left in the file"},
		{"cut length", append(good[:21:21], 0x80), "frame 2 at byte 21: the length prefix is cut off or too long"},
		{"field beyond message", append(good[:21:21], 2, 0x12, 9), "frame 2 at byte 21: holds a field that runs past the end of its message"},
		{"impossible tag", append(good[:21:21], 2, 0x07, 0), "frame 2 at byte 21: holds an impossible field number or wire type"},
		{"endless varint", append(good[:21:21], 2, 0x08, 0xff), "frame 2 at byte 21: holds an unterminated or too long variable-length integer"},
		{"open group", append(good[:21:21], 1, 0x7b), "frame 2 at byte 21: holds a field that runs past the end of its message"},
		{"crossed groups", append(good[:21:21], 2, 0x7b, 0x6c), "frame 2 at byte 21: holds an unbalanced or too deeply nested group"},
		{"empty", nil, "the file is empty"},
	} {
		_, text := load(t, writeSet(t, good, c.data), Options{})
		if want := "x.1.et: error: " + c.want + " [E704]\n"; text != want {
			t.Errorf("%s: got %swant %s", c.name, text, want)
		}
	}
}

func TestFrameErrorIsReported(t *testing.T) {
	_, err := decode(append(file(), 5, 1), nil)
	var fe *frameError
	if !errors.As(err, &fe) || fe.frame != 1 || fe.offset != 8 {
		t.Errorf("got %v", err)
	}
}

// Dependencies packed and unpacked in one node, a split message field, an unknown
// field, a group, and attributes behind their value.
func TestUnusualEncodings(t *testing.T) {
	attr := protowire.AppendTag(nil, 7, protowire.VarintType)
	attr = protowire.AppendVarint(attr, 1<<64-3) // int32 -3 takes ten bytes
	attr = protowire.AppendTag(attr, 1, protowire.BytesType)
	attr = protowire.AppendString(attr, "comm_tag")
	var m []byte
	m = append(m, 0x20, 1, 0x22, 2, 2, 3, 0x20, 4) // ctrl 1, packed 2 3, 4
	m = append(m, 0x28, 5, 0x2a, 1, 6)             // data 5, packed 6
	m = append(m, 0x42, 2, 0x12, 0)                // inputs.shapes ""
	m = append(m, 0x42, 3, 0x0a, 1, 'v')           // inputs.values "v"
	m = append(m, 0x7b, 0x08, 1, 0x83, 0x01, 0x84, 0x01, 0x7c)
	m = append(m, 0xa2, 0x06, 1, 'z') // field 100
	m = protowire.AppendTag(m, 10, protowire.BytesType)
	m = protowire.AppendBytes(m, attr)
	m = protowire.AppendString(append(m, 0x18, 1, 0x12), processGroupNode)
	tr, err := decode(append(file(), frame(m)...), nil)
	if err != nil {
		t.Fatal(err)
	}
	n := &tr.nodes[0]
	if tag := n.vals[slotTag]; tag != -3 || n.kind != MetadataNode || len(tr.groups) != 1 || string(tr.text(tr.groups[0].text)) != "v" {
		t.Errorf("node %+v, groups %+v", n, tr.groups)
	}
	o := newOracle(t)
	pm, ok := o.parse(o.node, m)
	if !ok {
		t.Fatal("protobuf refuses the message")
	}
	sameNode(t, tr, n, pm)
}

func TestEveryIntegerMember(t *testing.T) {
	for number, k := range schemas()[0].value {
		if k == kindSkip || k == kindList || k == kindText || k == kindFloat || k == kindDouble {
			continue
		}
		for _, want := range []int64{0, 1} {
			a := protowire.AppendString([]byte{0x0a}, "comm_size")
			bits := uint64(want)
			if k == kindSint32 || k == kindSint64 {
				bits = protowire.EncodeZigZag(want)
			}
			switch k {
			case kindFixed32, kindSfixed32:
				a = protowire.AppendFixed32(protowire.AppendTag(a, protowire.Number(number), protowire.Fixed32Type), uint32(bits))
			case kindFixed64, kindSfixed64:
				a = protowire.AppendFixed64(protowire.AppendTag(a, protowire.Number(number), protowire.Fixed64Type), bits)
			default:
				a = protowire.AppendVarint(protowire.AppendTag(a, protowire.Number(number), protowire.VarintType), bits)
			}
			tr, err := decode(append(file(), frame(protowire.AppendBytes([]byte{0x52}, a))...), nil)
			if err != nil || !tr.nodes[0].has(slotCommSize) || tr.nodes[0].vals[slotCommSize] != want {
				t.Errorf("member %d: %+v, %v; want %d", number, tr.nodes, err, want)
			}
		}
	}
}

// The encoder writes what the protobuf library reads, and the decoder reads it back.
func TestEncoderAgainstProtobuf(t *testing.T) {
	o := newOracle(t)
	rapid.Check(t, func(rt *rapid.T) {
		n := drawNode(rt)
		data := bare(n)
		size, i := protowire.ConsumeVarint(data)
		m, ok := o.parse(o.node, data[i:i+int(size)])
		if !ok || i+int(size) != len(data) {
			rt.Fatalf("protobuf refuses %x", data)
		}
		tr, err := decode(append(file(), data...), nil)
		if err != nil {
			rt.Fatal(err)
		}
		sameNode(t, tr, &tr.nodes[0], m)
		if got := &tr.nodes[0]; got.id != n.ID || got.duration != n.DurationMicros || len(tr.data) != len(n.DataDeps) {
			rt.Errorf("wrote %+v, read %+v", n, got)
		}
	})
}

func drawNode(rt *rapid.T) Node {
	ids := rapid.SliceOfN(rapid.Uint64(), 0, 5)
	text := rapid.StringN(0, 12, 40)
	n := Node{ID: rapid.Uint64().Draw(rt, "id"), Name: text.Draw(rt, "name"), Type: NodeType(rapid.IntRange(0, 7).Draw(rt, "type")),
		CtrlDeps: ids.Draw(rt, "ctrl"), DataDeps: ids.Draw(rt, "data"), StartMicros: rapid.Uint64().Draw(rt, "start"),
		DurationMicros: rapid.Uint64().Draw(rt, "duration"), Inputs: text.Draw(rt, "inputs")}
	name := rapid.SampledFrom([]string{"comm_type", "comm_size", "comm_tag", "is_cpu_op", "pg_name", "num_ops", "other"})
	for range rapid.IntRange(0, 6).Draw(rt, "attributes") {
		a := name.Draw(rt, "name")
		v := rapid.Int64().Draw(rt, "value")
		n.Attrs = append(n.Attrs, rapid.SampledFrom([]Attr{Int64(a, v), Int32(a, int32(v)), Uint64(a, uint64(v)), Bool(a, v < 0),
			String(a, "x"), Double(a, float64(v)), NoValue(a)}).Draw(rt, "attribute"))
	}
	return n
}

// Messages of the protobuf library's own writer, every member of the union.
func TestDecoderAgainstProtobuf(t *testing.T) {
	o := newOracle(t)
	rapid.Check(t, func(rt *rapid.T) {
		m := dynamicpb.NewMessage(o.node)
		field := func(name protoreflect.Name) protoreflect.FieldDescriptor { return o.node.Fields().ByName(name) }
		m.Set(field("id"), protoreflect.ValueOfUint64(rapid.Uint64().Draw(rt, "id")))
		m.Set(field("type"), protoreflect.ValueOfUint64(uint64(rapid.IntRange(0, 9).Draw(rt, "type"))))
		attrs := m.Mutable(field("attr")).List()
		for range rapid.IntRange(0, 5).Draw(rt, "attributes") {
			attrs.Append(protoreflect.ValueOfMessage(drawAttr(rt, o)))
		}
		data, err := proto.Marshal(m)
		if err != nil {
			rt.Fatal(err)
		}
		tr, err := decode(append(file(), frame(data)...), nil)
		if err != nil {
			rt.Fatal(err)
		}
		sameNode(t, tr, &tr.nodes[0], m)
	})
}

func drawAttr(rt *rapid.T, o *oracle) *dynamicpb.Message {
	a := dynamicpb.NewMessage(o.attr)
	a.Set(o.attr.Fields().ByName("name"), protoreflect.ValueOfString(rapid.SampledFrom([]string{"comm_size", "comm_src", "x"}).Draw(rt, "name")))
	members := o.attr.Oneofs().ByName("value").Fields()
	fd := members.Get(rapid.IntRange(0, members.Len()-1).Draw(rt, "member"))
	if fd.Kind() == protoreflect.MessageKind {
		a.Set(fd, protoreflect.ValueOfMessage(dynamicpb.NewMessage(fd.Message())))
		return a
	}
	x := rapid.Int64().Draw(rt, "value")
	a.Set(fd, map[protoreflect.Kind]protoreflect.Value{
		protoreflect.BoolKind: protoreflect.ValueOfBool(x < 0), protoreflect.DoubleKind: protoreflect.ValueOfFloat64(float64(x)),
		protoreflect.FloatKind: protoreflect.ValueOfFloat32(float32(x)), protoreflect.StringKind: protoreflect.ValueOfString("12"),
		protoreflect.BytesKind: protoreflect.ValueOfBytes([]byte{1}), protoreflect.Int32Kind: protoreflect.ValueOfInt32(int32(x)),
		protoreflect.Sint32Kind: protoreflect.ValueOfInt32(int32(x)), protoreflect.Sfixed32Kind: protoreflect.ValueOfInt32(int32(x)),
		protoreflect.Uint32Kind: protoreflect.ValueOfUint32(uint32(x)), protoreflect.Fixed32Kind: protoreflect.ValueOfUint32(uint32(x)),
		protoreflect.Int64Kind: protoreflect.ValueOfInt64(x), protoreflect.Sint64Kind: protoreflect.ValueOfInt64(x),
		protoreflect.Sfixed64Kind: protoreflect.ValueOfInt64(x), protoreflect.Uint64Kind: protoreflect.ValueOfUint64(uint64(x)),
		protoreflect.Fixed64Kind: protoreflect.ValueOfUint64(uint64(x)),
	}[fd.Kind()])
	return a
}

// The oldest schema: 19 bytes a node, no metadata, type 3 is compute, field 7 the
// run time. The second node depends on the first.
func TestOldestSchema(t *testing.T) {
	data := []byte("\x11\x08\x00\x12\x09COMP_NODE\x18\x03\x38\x05\x13\x08\x01\x12\x09COMP_NODE\x18\x03\x20\x00\x38\x05")
	if !Sniff(data) {
		t.Error("not recognised as a trace")
	}
	want := "0 compute 5000000ps\n1 compute 5000000ps after 0\n"
	expect(t, writeSet(t, data), Options{}, "", want)
	expect(t, writeSet(t, data), Options{Schema: "0.0.1"}, "", want)
}

// oldNode encodes a node of the second-generation schemas.
func oldNode(id uint64, name string, kind uint64, attrs ...[]byte) []byte {
	m := protowire.AppendVarint([]byte{0x08}, id)
	m = protowire.AppendString(append(m, 0x12), name)
	m = protowire.AppendVarint(append(m, 0x18), kind)
	if id > 0 {
		m = protowire.AppendVarint(append(m, 0x20), id-1)
	}
	for _, a := range attrs {
		m = protowire.AppendBytes(append(m, 0x5a), a)
	}
	return frame(m)
}

func oldAttr(name string, kind, field, v uint64) []byte {
	a := protowire.AppendString([]byte{0x0a}, name)
	a = protowire.AppendVarint(append(a, 0x10), kind)
	return protowire.AppendVarint(protowire.AppendTag(a, protowire.Number(field), protowire.VarintType), v)
}

func TestSecondGenerationSchemas(t *testing.T) {
	want := "0 compute 5000000ps\n1 collective eager alltoall [0] 8B root 0 number 0 after 0\n"
	// 0.0.2: old node types, integers in field 5, all-to-all is 1.
	v2 := append(oldNode(0, "COMP_NODE", 3, oldAttr("runtime", 1, 5, 5)),
		oldNode(1, "COMM_COLL_NODE", 6, oldAttr("comm_type", 1, 5, 1), oldAttr("comm_size", 1, 5, 8))...)
	expect(t, writeSet(t, v2), Options{}, "", want)
	// 0.0.3: today's node types, integers in field 6, later in 6 or 7.
	v3 := append(oldNode(0, "COMP_NODE", 4, oldAttr("runtime", 2, 6, 5)),
		oldNode(1, "COMM_COLL_NODE", 7, oldAttr("comm_type", 3, 7, 1), oldAttr("comm_size", 2, 6, 8))...)
	expect(t, writeSet(t, v3), Options{}, "", want)
	metadata := frame(protowire.AppendBytes([]byte{0x0a}, oldAttr("schema", 2, 6, 1)))
	expect(t, writeSet(t, append(metadata, v3...)), Options{}, "", want)
}

func TestSniff(t *testing.T) {
	whole := file(coll(1, graph.AllReduce, 1<<20))
	for i := 9; i <= len(whole); i++ {
		if !Sniff(whole[:i]) {
			t.Errorf("the first %d bytes of a trace are not recognised", i)
		}
	}
	for _, s := range []string{
		"", "\x00\x00\x00\x00", "hello, world", "{\n  \"schema\": \"1.0.2\", \"pid\": 1, \"nodes\": []}", "{\n  \"0\": [\n    0\n  ]\n}\n",
		`{"1": [0, 1]}`, "\x1f\x8b\x08", "num_ranks 2\nrank 0 {\n}", "let a = 1\n", "\x7fELF\x02\x01\x01\x00\x00", "PK\x03\x04\x14\x00",
	} {
		if Sniff([]byte(s)) {
			t.Errorf("%q is taken for a trace", s)
		}
	}
}

func TestForeign(t *testing.T) {
	for text, want := range map[string]string{
		`{"workload_graph": [{"Id": 1}]}`:                                 "feeder",
		"{\n  \"version\": \"0.0.4\"\n}\n{\n  \"ctrlDeps\": [\"1\"]\n}\n": "chakra_jsonizer",
		`{"id": "1", "type": "COMP_NODE"}`:                                "chakra_jsonizer",
		`{"schema": "1.1.0-chakra.0.0.4", "start_ts": 1, "nodes": []}`:    "chakra_trace_link",
		`{"traceEvents": []}`:                                             "Kineto",
		`{"nodes": [{"id": 1, "node_type": "coll_comm_node"}]}`:           "STAGE",
		`{"1": [0, 1]}`: "process-group file",
		`[1, 2]`:        "JSON",
	} {
		if got := Foreign([]byte(text)); !strings.Contains(got, want) {
			t.Errorf("Foreign(%s) = %q, want %q in it", text, got, want)
		}
	}
	if got := Foreign(file(comp(1, 5))); got != "" {
		t.Errorf("a trace is called %q", got)
	}
}
