package chakra

import (
	"fmt"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

// oracle is the current schema in the protobuf library, an independent decoder.
type oracle struct {
	node, attr, ioInfo, metadata protoreflect.MessageDescriptor
}

type protoField struct {
	name     string
	number   int32
	kind     descriptorpb.FieldDescriptorProto_Type
	repeated bool
	message  string
	oneof    bool
}

func newOracle(t testing.TB) *oracle {
	t.Helper()
	const (
		text, u64, msg = descriptorpb.FieldDescriptorProto_TYPE_STRING, descriptorpb.FieldDescriptorProto_TYPE_UINT64, descriptorpb.FieldDescriptorProto_TYPE_MESSAGE
	)
	attr := []protoField{{name: "name", number: 1, kind: text}, {name: "doc_string", number: 2, kind: text}}
	for number, kind := range attrKinds() {
		attr = append(attr, protoField{name: "v" + kind.String(), number: number, kind: kind, oneof: true})
	}
	for number := int32(4); number <= 32; number += 2 {
		attr = append(attr, protoField{name: fmt.Sprintf("list%d", number), number: number, kind: msg, message: "List", oneof: true})
	}
	file := &descriptorpb.FileDescriptorProto{
		Name: proto.String("et_def.proto"), Syntax: proto.String("proto3"), Package: proto.String("t"),
		MessageType: []*descriptorpb.DescriptorProto{
			message("Attr", attr),
			message("List", nil), // what a list holds does not matter
			message("IOInfo", []protoField{{name: "values", number: 1, kind: text}, {name: "shapes", number: 2, kind: text}, {name: "types", number: 3, kind: text}}),
			message("Metadata", []protoField{{name: "version", number: 1, kind: text}, {name: "attr", number: 2, kind: msg, repeated: true, message: "Attr"}}),
			message("Node", []protoField{
				{name: "id", number: 1, kind: u64}, {name: "name", number: 2, kind: text}, {name: "type", number: 3, kind: descriptorpb.FieldDescriptorProto_TYPE_UINT64},
				{name: "ctrl_deps", number: 4, kind: u64, repeated: true}, {name: "data_deps", number: 5, kind: u64, repeated: true},
				{name: "start_time_micros", number: 6, kind: u64}, {name: "duration_micros", number: 7, kind: u64},
				{name: "inputs", number: 8, kind: msg, message: "IOInfo"}, {name: "outputs", number: 9, kind: msg, message: "IOInfo"},
				{name: "attr", number: 10, kind: msg, repeated: true, message: "Attr"},
			}),
		},
	}
	fd, err := protodesc.NewFile(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	m := func(name protoreflect.Name) protoreflect.MessageDescriptor { return fd.Messages().ByName(name) }
	return &oracle{node: m("Node"), attr: m("Attr"), ioInfo: m("IOInfo"), metadata: m("Metadata")}
}

// attrKinds are the scalar members of the attribute's value union.
func attrKinds() map[int32]descriptorpb.FieldDescriptorProto_Type {
	return map[int32]descriptorpb.FieldDescriptorProto_Type{
		3: descriptorpb.FieldDescriptorProto_TYPE_DOUBLE, 5: descriptorpb.FieldDescriptorProto_TYPE_FLOAT,
		7: descriptorpb.FieldDescriptorProto_TYPE_INT32, 9: descriptorpb.FieldDescriptorProto_TYPE_INT64,
		11: descriptorpb.FieldDescriptorProto_TYPE_UINT32, 13: descriptorpb.FieldDescriptorProto_TYPE_UINT64,
		15: descriptorpb.FieldDescriptorProto_TYPE_SINT32, 17: descriptorpb.FieldDescriptorProto_TYPE_SINT64,
		19: descriptorpb.FieldDescriptorProto_TYPE_FIXED32, 21: descriptorpb.FieldDescriptorProto_TYPE_FIXED64,
		23: descriptorpb.FieldDescriptorProto_TYPE_SFIXED32, 25: descriptorpb.FieldDescriptorProto_TYPE_SFIXED64,
		27: descriptorpb.FieldDescriptorProto_TYPE_BOOL, 29: descriptorpb.FieldDescriptorProto_TYPE_STRING,
		31: descriptorpb.FieldDescriptorProto_TYPE_BYTES,
	}
}

func message(name string, fields []protoField) *descriptorpb.DescriptorProto {
	d := &descriptorpb.DescriptorProto{Name: &name}
	for _, f := range fields {
		fd := &descriptorpb.FieldDescriptorProto{Name: proto.String(f.name), Number: proto.Int32(f.number), Type: f.kind.Enum(),
			Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum()}
		if f.repeated {
			fd.Label = descriptorpb.FieldDescriptorProto_LABEL_REPEATED.Enum()
		}
		if f.message != "" {
			fd.TypeName = proto.String(".t." + f.message)
		}
		if f.oneof {
			fd.OneofIndex = proto.Int32(0)
		}
		d.Field = append(d.Field, fd)
	}
	if name == "Attr" {
		d.OneofDecl = []*descriptorpb.OneofDescriptorProto{{Name: proto.String("value")}}
	}
	return d
}

// parse decodes one message, or reports that it is malformed.
func (o *oracle) parse(d protoreflect.MessageDescriptor, b []byte) (*dynamicpb.Message, bool) {
	m := dynamicpb.NewMessage(d)
	return m, proto.Unmarshal(b, m) == nil
}

// sameNode compares the decoder's node with the oracle's message.
func sameNode(t testing.TB, tr *trace, n *node, m *dynamicpb.Message) {
	t.Helper()
	get := func(name protoreflect.Name) protoreflect.Value { return m.Get(m.Descriptor().Fields().ByName(name)) }
	if n.id != get("id").Uint() || string(tr.text(n.name)) != get("name").String() || n.rawKind != get("type").Uint() ||
		n.start != get("start_time_micros").Uint() || n.duration != get("duration_micros").Uint() {
		t.Errorf("got id %d name %q type %d start %d duration %d, protobuf says %v", n.id, tr.text(n.name), n.rawKind, n.start, n.duration, m)
	}
	sameIDs(t, tr.ctrl[n.ctrlLo:n.ctrlHi], get("ctrl_deps").List())
	sameIDs(t, tr.data[n.dataLo:n.dataHi], get("data_deps").List())
	sameAttrs(t, n, get("attr").List())
}

func sameIDs(t testing.TB, got []uint64, want protoreflect.List) {
	t.Helper()
	if len(got) != want.Len() {
		t.Fatalf("%d dependencies, protobuf says %d", len(got), want.Len())
	}
	for i, id := range got {
		if id != want.Get(i).Uint() {
			t.Errorf("dependency %d is %d, protobuf says %d", i, id, want.Get(i).Uint())
		}
	}
}

// sameAttrs compares the integer attributes that have one name each, by the last
// occurrence that has a value.
func sameAttrs(t testing.TB, n *node, attrs protoreflect.List) {
	t.Helper()
	want := map[slot]int64{}
	for i := range attrs.Len() {
		a := attrs.Get(i).Message()
		s, _ := attrSlot([]byte(a.Get(a.Descriptor().Fields().ByName("name")).String()))
		fd := a.WhichOneof(a.Descriptor().Oneofs().ByName("value"))
		if s >= numSlots || severalNames(s) || fd == nil {
			continue
		}
		delete(want, s)
		switch v := a.Get(fd); x := v.Interface().(type) {
		case bool:
			want[s] = 0
			if x {
				want[s] = 1
			}
		case int32, int64:
			want[s] = v.Int()
		case uint32, uint64:
			if u := v.Uint(); u <= 1<<63-1 {
				want[s] = int64(u)
			}
		default:
			want[s] = n.vals[s] // text and floats are not the library's business
			if !n.has(s) {
				delete(want, s)
			}
		}
	}
	for s := range numSlots {
		w, ok := want[s]
		if !severalNames(s) && (ok != n.has(s) || ok && w != n.vals[s]) {
			t.Errorf("attribute %s is %d (present %v), protobuf says %d (present %v)", slotName(s), n.vals[s], n.has(s), w, ok)
		}
	}
}

// severalNames reports whether attributes of different names share the slot.
func severalNames(s slot) bool { return s == slotRoot || s == slotOrder || s == slotGroup }
