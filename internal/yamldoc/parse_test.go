package yamldoc

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hybrid/internal/diag"
)

// outline prints a tree with the places of keys and values.
func outline(n *Node) string {
	var b strings.Builder
	var walk func(n *Node, indent string)
	walk = func(n *Node, indent string) {
		if n.Key != "" {
			fmt.Fprintf(&b, "%s%s@%d:%d", indent, n.Key, n.KeyPos.Line, n.KeyPos.Col)
		} else {
			fmt.Fprintf(&b, "%s-", indent)
		}
		fmt.Fprintf(&b, " %s", n.Kind)
		if n.Kind == Scalar {
			fmt.Fprintf(&b, " %q@%d:%d+%d", n.Text, n.Pos.Line, n.Pos.Col, n.Pos.Span)
		}
		b.WriteByte('\n')
		for _, e := range n.Items {
			walk(e, indent+"  ")
		}
	}
	walk(n, "")
	return b.String()
}

func messages(l *diag.List) string {
	var b strings.Builder
	for _, d := range l.All() {
		fmt.Fprintln(&b, d.Error())
		for _, n := range d.Notes {
			fmt.Fprintln(&b, "  "+n)
		}
	}
	return b.String()
}

func TestParsePositions(t *testing.T) {
	src := "a: 1\nµs b: {c: 500ns, d: [1, \"x y\"]} # c\ne:\n  - x: 1\n    y: ~\nf: 2.4 GHz\n"
	var l diag.List
	got := outline(Parse("f.yml", []byte(src), &l))
	want := `- a mapping
  a@1:1 a value "1"@1:4+1
  µs b@2:1 a mapping
    c@2:8 a value "500ns"@2:11+5
    d@2:18 a list
      - a value "1"@2:22+1
      - a value "x y"@2:25+5
  e@3:1 a list
    - a mapping
      x@4:5 a value "1"@4:8+1
      y@5:5 nothing
  f@6:1 a value "2.4 GHz"@6:4+7
`
	if d := cmp.Diff(want, got); d != "" || l.Len() != 0 {
		t.Errorf("tree (-want +got):\n%s%s", d, messages(&l))
	}
}

func TestParseAliases(t *testing.T) {
	src := "a: &x {b: 1, c: 2}\nd: *x\ne:\n  <<: *x\n  b: 3\n"
	var l diag.List
	n := Parse("f.yml", []byte(src), &l)
	if l.Len() != 0 {
		t.Fatal(messages(&l))
	}
	for path, want := range map[string]string{"d.b": "1", "d.c": "2", "e.b": "3", "e.c": "2"} {
		if got := n.At(strings.Split(path, ".")...); got == nil || got.Text != want {
			t.Errorf("%s is %+v, want %s", path, got, want)
		}
	}
}

func TestParseFindings(t *testing.T) {
	tests := []struct{ src, want string }{
		{"a: [1\nb: 2", "f:2:1: error: not valid YAML: ',' or ']' must be specified [E801]\n"},
		{"a: 1\nb: 2\na: 3\n", "f:3:1: error: key \"a\" stands twice in one mapping [E802]\n  first at line 1\n"},
		{"a: *nope", "f:1:4: error: *nope refers to an anchor that is not defined above [E801]\n"},
		{"a: !size 1", "f:1:4: error: the tag !size means nothing here [E806]\n"},
		{"a: 1\n---\nb: 2\n", "f:3:1: error: a second YAML document: one file describes one thing [E801]\n"},
		{"a: \xff", "f: error: the file is not UTF-8 text [E803]\n"},
		{strings.Repeat("[", 3000), "f:1:1: error: nested more than 64 levels deep [E803]\n"},
		{strings.Repeat("[", 70) + strings.Repeat("]", 70), "f:1:66: error: nested more than 64 levels deep [E803]\n"},
		{strings.Repeat("x\n", 21_000), "f:20001:1: error: more than 20000 lines and keys [E803]\n"},
		{"{" + strings.Repeat("a,", 21_000) + "}", "f:1:1: error: more than 20000 lines and keys [E803]\n"},
		{strings.Repeat("#", 1<<20+1), "f: error: the file has 1048577 bytes; at most 1048576 are read [E803]\n"},
	}
	for _, tt := range tests {
		var l diag.List
		Parse("f", []byte(tt.src), &l)
		if d := cmp.Diff(tt.want, messages(&l)); d != "" {
			t.Errorf("%.20q (-want +got):\n%s", tt.src, d)
		}
	}
}

// Ten anchors of ten aliases each stand for 10^10 values.
func TestParseAliasBomb(t *testing.T) {
	var b strings.Builder
	b.WriteString("a0: &a0 [1]\n")
	for i := 1; i <= 10; i++ {
		ref := strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 10), ", ")
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i, i, ref)
	}
	var l diag.List
	if n := Parse("f", []byte(b.String()), &l); n != nil || l.CountOf(diag.Error) != 1 {
		t.Errorf("tree %v, findings:\n%s", n != nil, messages(&l))
	}
}

func TestParseEmpty(t *testing.T) {
	for _, src := range []string{"", "\n", "# only a comment\n", "---\n"} {
		var l diag.List
		if n := Parse("f", []byte(src), &l); n == nil || n.Kind != Mapping || len(n.Items) != 0 || l.Len() != 0 {
			t.Errorf("%q: %+v, %s", src, n, messages(&l))
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"a: 1", "a: &x {b: [1, 'y']}\nc: *x\nd: {<<: *x}", "- - a", "? a\n: b", "a: |\n b\n", "!!omap\n- a: 1", "{a, b: }", "%YAML 1.2\n---\na: \"\\u00e9\""} {
		f.Add(s, "a.b")
	}
	f.Fuzz(func(t *testing.T, src, path string) {
		var l diag.List
		n := Parse("f", []byte(src), &l)
		if n == nil {
			if !l.HasErrors() {
				t.Fatalf("%q: no tree and no error", src)
			}
			return
		}
		Set(n, path, "1", &l)
		var into sample
		Decode(n, &into, &l)
		for _, d := range l.All() {
			if d.Code == "" || d.Message == "" {
				t.Fatalf("%q: finding %+v", src, d)
			}
		}
	})
}
