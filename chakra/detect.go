package chakra

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// sniffLen is how much of a file decides what it is.
const sniffLen = 64 << 10

// Sniff reports whether a file that starts with head could be a Chakra trace in
// its binary form, possibly compressed with gzip. A head of a few kilobytes is
// enough; it may be the whole file.
func Sniff(head []byte) bool {
	head = inflateHead(head)
	for number := 0; number < 2; number++ {
		n, i := uvarint(head, 0)
		if i < 0 {
			return false
		}
		if n == 0 && number == 0 { // an empty metadata message
			if head = head[i:]; len(head) == 0 {
				return true
			}
			continue
		}
		cut := n > uint64(len(head)-i)
		if !cut {
			head = head[:i+int(n)]
		}
		frame := head[i:]
		return n > 0 && (isMetadata(frame, cut) || isNode(frame, cut))
	}
	return false
}

// gzipped recognises gzip by its magic number.
func gzipped(b []byte) bool { return len(b) > 2 && b[0] == 0x1f && b[1] == 0x8b && b[2] == 8 }

// inflateHead decompresses as much of a gzip head as there is.
func inflateHead(head []byte) []byte {
	if !gzipped(head) {
		return head
	}
	r, err := gzip.NewReader(bytes.NewReader(head))
	if err != nil {
		return nil
	}
	out := make([]byte, sniffLen)
	n, _ := io.ReadFull(r, out)
	return out[:n]
}

// inflate decompresses a gzip file.
func inflate(data []byte) ([]byte, error) {
	if !gzipped(data) {
		return data, nil
	}
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("gzip: %w", err)
	}
	out, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("gzip: %w", err)
	case len(out) > maxFile:
		return nil, errors.New("decompresses to more than 4 GiB")
	}
	return out, nil
}

// isMetadata reports whether a message is global metadata: nothing but a version
// and attributes. A node with id 0 starts with the same byte but has a type.
func isMetadata(b []byte, cut bool) bool {
	fields := 0
	ok := walk(b, cut, func(f *field) bool {
		fields++
		return f.wire == wireBytes && (f.number == 1 && (isVersion(f.bytes) || isAttr(f.bytes)) || f.number == 2 && isAttr(f.bytes))
	})
	return ok && fields > 0
}

// isVersion tells a version from a piece of a text file.
func isVersion(b []byte) bool {
	return len(b) < 64 && !bytes.ContainsAny(b, "\"{}[]\n\t")
}

// isAttr reports whether a message is an attribute: a name and little else.
func isAttr(b []byte) bool {
	named := false
	ok := walk(b, false, func(f *field) bool {
		named = named || f.number == 1 && f.wire == wireBytes && utf8.Valid(f.bytes)
		return f.number <= maxField+2
	})
	return ok && named
}

// isNode reports whether a message could be a node of any schema.
func isNode(b []byte, cut bool) bool {
	typical := false
	ok := walk(b, cut, func(f *field) bool {
		switch f.number {
		case 1:
			return f.wire == wireVarint
		case 2:
			typical = true
			return f.wire == wireBytes && utf8.Valid(f.bytes)
		case 3:
			typical = true
			return f.wire == wireVarint && f.num < numNodeTypes
		}
		return f.number <= 20 && (f.wire == wireVarint || f.wire == wireBytes)
	})
	return ok && typical
}

// walk calls visit for each field until it returns false; a cut message may end
// anywhere.
func walk(b []byte, cut bool, visit func(*field) bool) bool {
	var f field
	for i := 0; i < len(b); {
		j := f.next(b, i)
		if j < 0 {
			return cut && (j == badLength || j == badVarint && len(b)-i < 10)
		}
		if !visit(&f) {
			return false
		}
		i = j
	}
	return true
}

// detected is what the start of a file tells.
type detected struct {
	schema   *schema
	metadata bool
}

// probe collects the evidence that tells schemas apart.
type probe struct {
	// seen has a bit for each field number and wire type 0 or 2 in nodes.
	varint, bytes uint64
	// oldNumbers is set by a node whose name says that types count from the old table.
	oldNumbers, newNumbers bool
	// attribute fields of the old form.
	attrVarint, attrBytes uint64
}

// detect finds the schema by looking at the first nodes. The framing must have
// been checked.
func detect(data []byte) detected {
	const nodesLookedAt = 256
	var d detected
	var p probe
	old := false
	for i, number := 0, 0; i < len(data) && number < nodesLookedAt; number++ {
		frame, next, err := frameAt(data, i, number)
		if err != nil {
			break
		}
		if number == 0 && (len(frame) == 0 || isMetadata(frame, false)) {
			d.metadata = true
			old = isOldMetadata(frame)
		} else {
			p.node(frame)
		}
		i = next
	}
	d.schema, _ = schemaNamed(p.version(d.metadata, old))
	return d
}

// isOldMetadata reports whether field 1 holds attributes, not a version.
func isOldMetadata(b []byte) bool {
	old := false
	walk(b, false, func(f *field) bool {
		old = old || f.number == 1 && isAttr(f.bytes)
		return true
	})
	return old
}

func (p *probe) node(b []byte) {
	var name []byte
	kind := uint64(0)
	walk(b, false, func(f *field) bool {
		switch {
		case f.number > 63:
		case f.wire == wireVarint:
			p.varint |= 1 << f.number
		case f.wire == wireBytes:
			p.bytes |= 1 << f.number
		}
		switch {
		case f.number == 2:
			name = f.bytes
		case f.number == 3:
			kind = f.num
		case f.number == 11 && f.wire == wireBytes:
			p.attr(f.bytes)
		}
		return true
	})
	oldKind := [...]string{"", "MEM_LOAD", "MEM_STORE", "COMP", "COMM_SEND", "COMM_RECV", "COMM_COLL"}
	for i, prefix := range oldKind {
		if prefix != "" && bytes.HasPrefix(name, []byte(prefix)) {
			p.oldNumbers = p.oldNumbers || kind == uint64(i)
			p.newNumbers = p.newNumbers || kind == uint64(i)+1
		}
	}
}

func (p *probe) attr(b []byte) {
	walk(b, false, func(f *field) bool {
		if f.number < 64 {
			if f.wire == wireVarint {
				p.attrVarint |= 1 << f.number
			} else if f.wire == wireBytes {
				p.attrBytes |= 1 << f.number
			}
		}
		return true
	})
}

// version weighs the evidence. Only the current schema has a version in its
// metadata; 12 to 20 exist as integers only in 0.0.1; an attribute is field 11 only
// in 0.0.2 and 0.0.3, which number integer and string members differently.
func (p *probe) version(metadata, oldMetadata bool) string {
	const from12to20 = 1<<21 - 1<<12
	switch {
	case oldMetadata:
		return "0.0.3"
	case metadata || p.bytes&(1<<10) != 0 && p.bytes&(1<<11) == 0:
		return "0.0.4"
	case p.bytes&(1<<11) != 0:
		if (p.attrVarint&(1<<5) != 0 || p.attrBytes&(1<<6) != 0 || p.oldNumbers) && !p.newNumbers {
			return "0.0.2"
		}
		return "0.0.3"
	case p.varint&from12to20 != 0 || p.varint&(1<<5|1<<6) != 0 && p.oldNumbers || p.oldNumbers && !p.newNumbers:
		return "0.0.1"
	}
	return "0.0.4"
}

// Foreign says what a file is that people take for a Chakra trace but that is not
// one in binary form, and what to do about it; "" if head is none of these.
func Foreign(head []byte) string {
	head = bytes.TrimLeft(inflateHead(head), "\xef\xbb\xbf \t\r\n")
	if len(head) == 0 || head[0] != '{' && head[0] != '[' {
		return ""
	}
	for _, f := range foreignForms() {
		for _, key := range f.keys {
			if bytes.Contains(head, []byte(key)) {
				return f.what
			}
		}
	}
	if isGroupFile(head) {
		return "a process-group file; name the traces themselves, and this file with --groups"
	}
	return "JSON, but none of the Chakra forms; a trace is a binary file, one for each rank"
}

type foreignForm struct {
	keys []string
	what string
}

// foreignForms lists the JSON forms, the most telling keys first.
func foreignForms() []foreignForm {
	return []foreignForm{
		{[]string{`"workload_graph"`}, "a trace in the JSON form of the Chakra feeder; give the binary trace (.et) that it was made from, chakra_converter writes it"},
		{[]string{`"traceEvents"`}, "a PyTorch profiler (Kineto) trace; chakra_trace_link joins it with the host trace and chakra_converter makes a Chakra trace of that"},
		{[]string{`"ctrlDeps"`, `"dataDeps"`, `"durationMicros"`, `"int64Val"`, `"docString"`, `"ctrl_deps": [`, `_NODE"`},
			"a trace in protobuf JSON, as chakra_jsonizer writes it; give the binary trace (.et) that it was made from"},
		{[]string{`"node_type"`}, "a trace in the JSON layout of STAGE; let STAGE write protobuf (--chakra_schema_version v0.0.4)"},
		{[]string{`"start_ts"`, `"rf_id"`, `"ctrl_deps"`}, "a PyTorch host trace, not a simulation trace; chakra_trace_link and then chakra_converter make a Chakra trace of it"},
	}
}
