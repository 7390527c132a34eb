package diag

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func lines(l *List) []string {
	var out []string
	for _, d := range l.All() {
		out = append(out, fmt.Sprintf("%s (%d)", d.Error(), d.Count))
	}
	return out
}

// TestSteps: each step may have two warnings. Equal ones are one, errors and remarks are
// not counted, and what comes between steps is kept.
func TestSteps(t *testing.T) {
	var l List
	l.Cap(2)
	l.Warnf("W1", Pos{}, "before")
	l.Step("read")
	for i := range 5 {
		l.Warnf("W2", Pos{}, "warning %d", i).Note("kept or not")
		l.Warnf("W2", Pos{}, "warning 0")
		l.Errorf("E1", Pos{}, "error %d", i)
		l.Infof("W3", Pos{}, "remark %d", i)
	}
	l.Step("check")
	l.Warnf("W4", Pos{}, "first")
	l.Step("scale")
	for i := range 3 {
		l.Warnf("W5", Pos{}, "scaled %d", i)
	}
	l.Step("")
	l.Warnf("W6", Pos{}, "after")
	l.Warnf("W6", Pos{}, "after 2")
	l.Warnf("W6", Pos{}, "after 3")
	want := []string{
		"error: error 0 [E1] (0)", "error: error 1 [E1] (0)", "error: error 2 [E1] (0)", "error: error 3 [E1] (0)", "error: error 4 [E1] (0)",
		"warning: before [W1] (0)", "warning: warning 0 [W2] (5)", "warning: warning 1 [W2] (0)",
		"info: remark 0 [W3] (0)", "info: remark 1 [W3] (0)", "info: remark 2 [W3] (0)", "info: remark 3 [W3] (0)", "info: remark 4 [W3] (0)",
		"warning: first [W4] (0)", "warning: scaled 0 [W5] (0)", "warning: scaled 1 [W5] (0)",
		"warning: after [W6] (0)", "warning: after 2 [W6] (0)", "warning: after 3 [W6] (0)",
		"warning: and 3 more warnings of step read were dropped; --max-warnings says how many a step may have [W410] (0)",
		"warning: and 1 more warning of step scale was dropped; --max-warnings says how many a step may have [W410] (0)",
	}
	if d := cmp.Diff(want, lines(&l)); d != "" {
		t.Error(d)
	}
	if n := l.CountOf(Warning); n != 9 {
		t.Errorf("%d warnings, want 9: those that were dropped and the remarks about them do not count", n)
	}
}

// TestNoWarnings: with room for none nothing is kept.
func TestNoWarnings(t *testing.T) {
	var l List
	l.Cap(0)
	l.Step("read")
	l.Warnf("W1", Pos{}, "one")
	l.Step("")
	if l.Len() != 0 || l.CountOf(Warning) != 0 || len(l.Remarks()) != 1 {
		t.Errorf("%v", lines(&l))
	}
}

// TestManyFindings: equal findings are found again among thousands.
func TestManyFindings(t *testing.T) {
	var l List
	const n = 5000
	for range 2 {
		for i := range n {
			l.Warnf("W1", Pos{Line: i}, "warning")
		}
	}
	if l.Len() != n {
		t.Fatalf("%d findings, want %d", l.Len(), n)
	}
	for _, d := range l.All() {
		if d.Count != 1 {
			t.Fatalf("%v stands for %d more, want 1", d, d.Count)
		}
	}
}
