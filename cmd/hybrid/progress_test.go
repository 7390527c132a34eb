package main

import (
	"bytes"
	"context"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"hybrid/graph/replay"
)

// ticking is a clock that moves on by a step whenever it is read.
func ticking(step time.Duration) func() time.Time {
	at := time.Unix(0, 0)
	return func() time.Time {
		at = at.Add(step)
		return at
	}
}

// runWith runs the command line with a clock of its own.
func runWith(now func() time.Time, args ...string) (stdout, stderr string, err error) {
	var out, errs bytes.Buffer
	a := &app{stdin: strings.NewReader(""), stdout: &out, stderr: &errs, sources: newSources(), now: now}
	root := a.root()
	root.SetArgs(args)
	root.SetErr(&errs)
	err = root.ExecuteContext(context.Background())
	return out.String(), errs.String(), err
}

// Plain progress is a line every 10 s of wall-clock time for each run that lasts that
// long, on standard error; it leaves the report as it is. Without a terminal auto says
// nothing, and -q never does.
func TestProgressPlain(t *testing.T) {
	args := []string{"compare", "-o", "csv"}
	want, quiet, err := runWith(ticking(time.Hour), args...)
	if err != nil || strings.Contains(quiet, "operations") {
		t.Fatalf("%v; %s", err, quiet)
	}
	line := regexp.MustCompile(`(?m)^hybrid: (packet|hockney|loggp): \d+\.\d+ [mun]?s, (\d+\.\d) % of [\d,]+ operations, \d+\.\d M (packet-hops|events)/s(, \S+ left)?$`)
	for _, c := range []struct {
		flags []string
		step  time.Duration
		lines bool
	}{
		{[]string{"--progress", "plain"}, 11 * time.Second, true},
		{[]string{"--progress", "plain"}, time.Nanosecond, false},
		{[]string{"--progress", "none"}, 11 * time.Second, false},
		{[]string{"--progress", "plain", "-q"}, 11 * time.Second, false},
	} {
		got, errs, err := runWith(ticking(c.step), append(c.flags, args...)...)
		if err != nil || got != want {
			t.Errorf("%v: %v, report\n%s\nwant\n%s", c.flags, err, got, want)
		}
		if found := len(line.FindAllString(errs, -1)); c.lines != (found > 0) || found != strings.Count(errs, " operations, ") {
			t.Errorf("%v, step %v: %d lines of progress in\n%s", c.flags, c.step, found, errs)
		}
	}
}

// The line on a terminal is written over at most five times a second, no longer than the
// terminal is wide, and erased at the end.
func TestProgressLine(t *testing.T) {
	var b bytes.Buffer
	p := &progress{w: &b, now: ticking(50 * time.Millisecond), rewrite: true, width: 200, total: 400}
	p.begin("packet") // at 50 ms
	for range 8 {     // at 100, 150, ... 450 ms
		p.look(func() replay.Progress {
			return replay.Progress{Now: 1_500_000, Operations: 100, Events: 1, PacketHops: 500_000}
		})
	}
	p.end()
	// At 250 ms 200 ms have passed, at 450 ms 400: half a million hops in each. A quarter
	// is done, so that three times as long is left.
	want := "\rpacket: 1.500 us, 25.0 % of 400 operations, 2.5 M packet-hops/s, 1s left\x1b[K" +
		"\rpacket: 1.500 us, 25.0 % of 400 operations, 1.2 M packet-hops/s, 1s left\x1b[K\r\x1b[K"
	if b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
	b.Reset()
	p.width, p.total = 10, 0
	p.begin("packet")
	for range 4 {
		p.look(func() replay.Progress { return replay.Progress{Now: 1, Operations: 7} })
	}
	if got := b.String(); got != "\rpacket: 1 \x1b[K" {
		t.Errorf("%q", got)
	}
}

// The number of operations that progress knows before a run is the number that the run
// counts.
func TestProgressTotal(t *testing.T) {
	total := regexp.MustCompile(`% of ([\d,]+) operations`)
	counted := regexp.MustCompile(`"operations": (\d+)`)
	for _, workload := range [][]string{
		{"blueprints/ring.hbp", "-D", "steps=20"}, {"blueprints/heat2d.hbp", "-D", "px=4", "-D", "py=4", "-D", "steps=6"},
		{"traces/training"}, {"traces/pingpong"},
	} {
		args := append([]string{"simulate", "--progress", "plain", "-o", "json"}, workload...)
		args[5] = filepath.Join(root(t), "testdata", args[5])
		out, errs, err := runWith(ticking(11*time.Second), args[:len(args):len(args)]...)
		said, is := total.FindStringSubmatch(errs), counted.FindStringSubmatch(out)
		if err != nil || said == nil || is == nil {
			t.Errorf("%v: %v, nothing to compare in\n%s", workload, err, errs)
			continue
		}
		if strings.ReplaceAll(said[1], ",", "") != is[1] {
			t.Errorf("%v: %s operations in the line of progress, %s in the report", workload, said[1], is[1])
		}
	}
}
