package report

import (
	"strings"
	"testing"

	"hybrid/graph/replay"
)

// Models that agree share a sentence, which is right for any number of them.
func TestSentences(t *testing.T) {
	run := func(model string, compute int64) *replay.Result { return handMade(model, compute, 1e3, 1e3, 1e3) }
	for _, test := range []struct {
		name string
		runs []*replay.Result
		want string
	}{
		{"equal", []*replay.Result{run("packet", 1e6), run("hockney", 1e6), run("loggp", 1e6)},
			"Hockney and LogGP predict 2.003 us, exactly what the packet simulation takes."},
		{"faster", []*replay.Result{run("packet", 2e6), run("hockney", 1e6), run("loggp", 1e6)},
			"Hockney and LogGP predict 2.003 us where the packet simulation takes 4.003 us: 50.0 % too fast."},
		{"slower", []*replay.Result{run("packet", 1e6), run("loggp", 2e6)},
			"LogGP predicts 4.003 us where the packet simulation takes 2.003 us: 99.9 % too slow."},
		{"mixed", []*replay.Result{run("packet", 1e6), run("hockney", 1e6), run("loggp", 2e6)},
			"Hockney predicts 2.003 us, exactly what the packet simulation takes. LogGP predicts 4.003 us: 99.9 % too slow."},
		{"failed", []*replay.Result{deadlocked(3), run("loggp", 1e6)}, "The packet simulation did not finish: deadlock. LogGP predicts 2.003 us."},
		{"all failed", []*replay.Result{deadlocked(3), deadlocked(3)}, "No run finished: deadlock."},
		{"one run", []*replay.Result{run("packet", 1e6)}, "The packet simulation takes 2.003 us."},
	} {
		if got := New(inputs(), ringGraph(t), test.runs, nil, nil).sentences(); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// Runs that end alike are told once, under all their names.
func TestEqualFailuresAreToldOnce(t *testing.T) {
	a, b := deadlocked(3), deadlocked(3)
	b.Model = "loggp"
	s := text(t, New(inputs(), ringGraph(t), []*replay.Result{a, b}, nil, nil))
	if !strings.Contains(s, "  packet, loggp: deadlock, 3 of 4 ranks did not finish") || strings.Count(s, "0 waits in send to 1") != 1 {
		t.Errorf("two equal deadlocks are told as\n%s", s)
	}
}

// A text that does not fit is wrapped, never cut; numbers stay on its first line.
func TestGridWraps(t *testing.T) {
	g := grid{}
	g.text("operation")
	g.number("count")
	g.number("gone")
	words := strings.TrimSpace(strings.Repeat("word ", 30))
	g.add(strings.Repeat("x", 100), "2", none)
	g.add(strings.Repeat(words+" ", 2), "1", none)
	s := g.String()
	for line := range strings.Lines(s) {
		if width(strings.TrimSuffix(line, "\n")) > pageWidth {
			t.Errorf("a line of %d columns: %q", width(line), line)
		}
	}
	flat := strings.Join(strings.Fields(s), " ")
	if !strings.HasSuffix(s, " 1\n") {
		t.Errorf("the numbers are not on the last line:\n%s", s)
	}
	if strings.Count(flat, "word") != 60 || strings.Count(flat, "x") != 100 || strings.Contains(flat, "gone") {
		t.Errorf("the grid loses or keeps too much:\n%s", s)
	}
}

// Ranks that all take the same time are not listed one by one, and measures on which
// the runs agree are not repeated.
func TestRanksAlike(t *testing.T) {
	packet, loggp := handMade("packet", 1e6, 1e3, 1e3, 1e3), handMade("loggp", 1e6, 1e3, 2e3, 1e3)
	for i := range packet.Ranks {
		packet.Ranks[i], loggp.Ranks[i] = packet.Ranks[0], loggp.Ranks[0]
	}
	s := text(t, New(inputs(), ringGraph(t), []*replay.Result{packet, loggp}, nil, nil))
	if strings.Contains(s, "each rank in") || !strings.Contains(s, "compute        all runs") || strings.Contains(s, "exposed ") {
		t.Errorf("useless rows in\n%s", s)
	}
}

// Names are shown, whatever bytes they hold.
func TestNamesAreShown(t *testing.T) {
	g := ringGraph(t)
	for i := range g.Sites {
		g.Sites[i].Name = "a\x1b[2J\x7f\xffb\u0085c"
	}
	s := text(t, New(inputs(), g, []*replay.Result{handMade("packet", 1e6, 1e3, 1e3, 1e3)}, nil, nil))
	if want := "a\uFFFD[2J\uFFFD\uFFFDb c"; !strings.Contains(s, want) || strings.ContainsAny(s, "\x1b\x7f\u0085") {
		t.Errorf("want %q in\n%q", want, s)
	}
}
