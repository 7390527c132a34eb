package diag

import (
	"strings"
	"testing"
)

func TestRender(t *testing.T) {
	var l List
	for range 3 {
		l.Errorf("E301", Pos{File: "ring.hbp", Line: 2, Col: 8, Span: 8}, "rank 8 is outside 0..7").Note("with rank as 7")
	}
	l.Warnf("W601", Pos{File: "ring.hbp", Line: 1, Col: 5, Span: 1}, "unused let x")
	l.Errorf("E701", Pos{File: "a.0.et", Node: `node 3 "COMP"`}, "self dependency")
	var b strings.Builder
	Renderer{Source: func(string) string { return "let x = 1\n\tsend 8B to rank+1\n" }}.Render(&b, &l)
	want := "a.0.et: node 3 \"COMP\": error: self dependency [E701]\n" +
		"ring.hbp:1:5: warning: unused let x [W601]\n" +
		"    1 | let x = 1\n" +
		"      |     ^\n" +
		"ring.hbp:2:8: error: rank 8 is outside 0..7 [E301]\n" +
		"    2 | \tsend 8B to rank+1\n" +
		"      | \t      ^^^^^^^^\n" +
		"      = and 2 more like it\n" +
		"      = with rank as 7\n"
	if got := b.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if l.CountOf(Error) != 2 || l.Err() == nil {
		t.Errorf("%d errors, Err %v", l.CountOf(Error), l.Err())
	}
}

func TestSuggest(t *testing.T) {
	names := []string{"latency", "bandwidth", "eager_limit"}
	for in, want := range map[string]string{"latncy": "latency", "bandwdith": "bandwidth", "mtu": "", "la": "", "band": "bandwidth", "xyz": ""} {
		if got := Suggest(in, names); got != want {
			t.Errorf("Suggest(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestCodes(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range Codes() {
		if seen[c.Code] || c.Title == "" || c.Doc == "" || len(c.Code) != 4 {
			t.Errorf("code %+v: twice, malformed or without text", c)
		}
		seen[c.Code] = true
	}
}
