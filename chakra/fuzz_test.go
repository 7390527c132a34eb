package chakra

import (
	"testing"
	"unicode/utf8"
)

// FuzzDecode holds the decoder against the protobuf library: what the library
// reads, the decoder reads alike; what it refuses may be refused or not, but
// nothing panics.
func FuzzDecode(f *testing.F) {
	f.Add(file(comp(1, 5), coll(2, 0, 8, String("pg_name", "1"), Double("comm_tag", 1), NoValue("root"))))
	f.Add(bare(comp(0, 5), comp(1, 5, 0)))
	f.Add([]byte("\x11\x08\x00\x12\x09COMP_NODE\x18\x03\x38\x05"))
	f.Add([]byte{0, 7, 0x22, 2, 2, 3, 0x20, 4, 0x7b, 2, 0x7b, 0x7c})
	o := newOracle(f)
	current := &schemas()[0]
	f.Fuzz(func(t *testing.T, data []byte) {
		Sniff(data)
		Foreign(data)
		decode(data, nil)
		tr, err := decode(data, current)
		if err != nil {
			return
		}
		k := 0
		for i, number := 0, 0; i < len(data); number++ {
			msg, next, err := frameAt(data, i, number)
			if err != nil {
				t.Fatalf("decoded a file whose framing is damaged: %v", err)
			}
			i = next
			if number == 0 && tr.metadata {
				continue
			}
			if m, ok := o.parse(o.node, msg); ok && utf8.Valid(tr.text(tr.nodes[k].name)) {
				sameNode(t, tr, &tr.nodes[k], m)
			}
			k++
		}
		if k != len(tr.nodes) {
			t.Fatalf("%d nodes from %d messages", len(tr.nodes), k)
		}
	})
}

// FuzzLiteral checks the parser of group declarations: no panic, and a side file
// that parses has no empty slots.
func FuzzLiteral(f *testing.F) {
	f.Add(`{"1": [0, 1], '2': (2, 3,)}`)
	f.Add(`['[{"pg_name": "0", "ranks": [], "group_size": 2}]']`)
	f.Add(`[{"pg_id": 1, "ranks": {"0": 0, "1": 1}, "x": [None, True, -1.5e3, "\u00e9\x41\n"]}]`)
	f.Fuzz(func(t *testing.T, text string) {
		if groups, err := parseInit(text); err == nil {
			for _, g := range groups {
				if g.all != (len(g.members) == 0) {
					t.Errorf("group %+v", g)
				}
			}
		}
		if table, err := parseSideFile(text); err == nil && len(table.names) != len(table.byName) {
			t.Errorf("%d names for %d groups", len(table.names), len(table.byName))
		}
	})
}
