package records

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hybrid/graph/replay"
	"hybrid/internal/units"
)

// A run of one interval at least: 10^13 ps over 10^3 ps are 10^10 times, and two ports or
// two ranks at each.
func TestTooManyRows(t *testing.T) {
	for _, c := range []struct {
		opt  Options
		want string // "" is no error
	}{
		{Options{Interval: 1e13, DeviceInterval: 1e3}, "nd-stats would have more than 20000000 rows, 2 at each of 10000000000 times: give a longer --nd-interval or a shorter --record-interval"},
		{Options{Interval: 1e13, ProfileInterval: 1e3}, "chakra-profiling would have more than 20000000 rows, 2 at each of 10000000000 times: give a longer --profile-interval or a shorter --record-interval"},
		{Options{Interval: 1e13, DeviceInterval: 1e3, Only: []string{"chakra-perf"}}, ""},
		{Options{Interval: 1e13, DeviceInterval: 1e3, StopAt: 1e6}, ""},
		{Options{Interval: 1e10, DeviceInterval: 1e3}, ""},
		{Options{Interval: 1e10 + 1e3, DeviceInterval: 1e3}, "nd-stats would have more than 20000000 rows, 2 at each of 10000001 times: give a longer --nd-interval or a shorter --record-interval"},
	} {
		c.opt.Dir = filepath.Join(t.TempDir(), "new")
		_, err := New(oneSend(t), pair(), c.opt)
		if c.want == "" && err != nil || c.want != "" && (err == nil || err.Error() != c.want) {
			t.Errorf("%+v: %v, want %s", c.opt, err, c.want)
		}
		if _, stat := os.Stat(c.opt.Dir); err != nil && stat == nil {
			t.Errorf("%+v: the folder was made", c.opt)
		}
	}
}

// Three marks of 6 million rows are 18 million; a fourth would be more than 20 million.
func TestRowsEnd(t *testing.T) {
	d := &devices{ticker: ticker{r: &Recorder{clock: units.PicosecondClock()}, every: 10, rows: 6_000_000, flag: "--nd-interval"}}
	for n := range int64(3) {
		if got := d.next(); got != 10*(n+1) {
			t.Errorf("mark %d at %d", n, got)
		}
		d.now()
	}
	if d.next() != units.Never || d.due() != 40 {
		t.Errorf("next %d, due %d", d.next(), d.due())
	}
	r := &Recorder{active: []active{{"nd-stats", d}}, g: oneSend(t), clock: units.PicosecondClock()}
	for stop, want := range map[units.Time]int{39: 0, 40: 1} {
		res := &replay.Result{}
		if r.note(res, stop); len(res.Notes) != want || want == 1 && res.Notes[0] != "nd-stats ends at 30 ps, before the run does, since a record of regular times has no more than 20000000 rows, 6000000 at a time; --nd-interval 1ns covers the run" {
			t.Errorf("stop at %d: %q", stop, res.Notes)
		}
	}
}

// The rows behind the last event end when the user wants it, and the result says so. The
// send is acknowledged at 2.008 us.
func TestCancelledRows(t *testing.T) {
	dir, asked := t.TempDir(), 0
	r, err := New(oneSend(t), pair(), Options{Dir: dir, Name: "x", Interval: 1e9, DeviceInterval: 1e6, Only: []string{"nd-stats"},
		Cancelled: func() bool { asked++; return asked > 4 }})
	if err != nil {
		t.Fatal(err)
	}
	res, err := run(oneSend(t), units.Never).deliver(r, 1e6, replay.Finished, nil)
	if err != nil {
		t.Fatal(err)
	}
	if res.Verdict.Outcome != replay.Interrupted || asked != 5 {
		t.Errorf("%s, asked %d times", res.Verdict.Outcome, asked)
	}
	// Two marks of the run and four of the thousand behind it, two ports at each.
	if rows := strings.Count(files(t, dir)["x-nd-stats-0.csv"], "\n") - 1; rows != 2*(2+4) {
		t.Errorf("%d rows", rows)
	}
}

// A record that failed is removed before the others are written out: it may be what
// filled the disk.
func TestFailedTableGoesFirst(t *testing.T) {
	dir := t.TempDir()
	r, err := New(oneSend(t), pair(), Options{Dir: dir, Name: "x", Interval: 1e6, Only: []string{"chakra-apps", "chakra-perf"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Begin(units.PicosecondClock()); err != nil {
		t.Fatal(err)
	}
	failed := r.tables[0]
	failed.out.err = os.ErrInvalid
	r.tables[1].sink = lookout{r.tables[1].sink, func() {
		if _, err := os.Stat(failed.out.f.Name()); err == nil {
			t.Error("the failed table is still there")
		}
	}}
	if err := r.close(broken); err != nil {
		t.Fatal(err)
	}
	if got := files(t, dir); len(got) != 1 {
		t.Errorf("files %q", got)
	}
}

// lookout calls a function when the table is closed.
type lookout struct {
	sink
	look func()
}

func (l lookout) close() error {
	l.look()
	return l.sink.close()
}

// A clock of 7919 ticks a picosecond ends at 2^62/7919 ps = 582.3 s, before a row at one
// hour.
func TestIntervalBeyondTheClock(t *testing.T) {
	dir := t.TempDir()
	r, err := New(oneSend(t), pair(), Options{Dir: dir, Interval: 3600e12})
	if err != nil {
		t.Fatal(err)
	}
	want := "an interval of 3600 s between rows of chakra-cdf is more than the 582 s that this network can be simulated for, in ticks of 1/7919 ps"
	if err := r.Begin(units.Clock{PerPS: 7919}); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if got := files(t, dir); len(got) != 0 {
		t.Errorf("files %q", got)
	}
}

// Of the listings the one that failed goes, the others stay.
func TestFailedListing(t *testing.T) {
	dir := t.TempDir()
	var all []*spool
	for _, name := range []string{"a", "b"} {
		s := newSpool(filepath.Join(dir, name), 2)
		if err := s.create(); err != nil {
			t.Fatal(err)
		}
		s.buf = append(s.buf, name...)
		all = append(all, s)
	}
	all[0].failed = true
	if err := closeAll(all, true); err != nil {
		t.Fatal(err)
	}
	if got := files(t, dir); len(got) != 1 || got["b"] != "b" {
		t.Errorf("files %q", got)
	}
}

// Two digits, never less.
func TestRoundUp(t *testing.T) {
	for ps, want := range map[int64]string{1: "1ns", 1000: "1ns", 1001: "2ns", 99_000: "99ns", 99_001: "100ns", 123_456_789: "130us", 1e9: "1ms", 1_000_000_001: "1100us",
		9_999e8: "1s", 20e12: "20s", 1_234_567_890: "1300us"} {
		if got := roundUp(ps); got != want {
			t.Errorf("%d ps: %s, want %s", ps, got, want)
		}
	}
}
