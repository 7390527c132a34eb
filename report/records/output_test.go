package records

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hybrid/graph/replay"
	"hybrid/internal/units"
)

func TestNamesOfFiles(t *testing.T) {
	for in, want := range map[string]string{
		"traces/training": "training", "traces/training/": "training", "a b/ring size.hbp": "ring_size", "job.0.et": "job.0", "../..": "run", "-": "run",
		strings.Repeat("x", 300): strings.Repeat("x", longestName), "<stdin>": "stdin",
		"traces/*": "traces", ".hidden": "hidden", "": "run", "stdin": "stdin",
	} {
		if got := safeName(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestCheckName(t *testing.T) {
	if err := CheckName("chakra-perf"); err != nil {
		t.Error(err)
	}
	err := CheckName("chakra-pref")
	if err == nil || !strings.Contains(err.Error(), `no record is called "chakra-pref"`) || !strings.Contains(err.Error(), "chakra-perf") {
		t.Errorf("%v", err)
	}
}

// What stands in the way of the files is said before the run.
func TestUnusableFolder(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ dir, want string }{
		{file, file + " is a file, not a folder"},
		{filepath.Join(file, "below"), "the folder " + filepath.Join(file, "below") + " cannot be made: not a directory"},
	} {
		if _, err := New(oneSend(t), pair(), Options{Dir: c.dir}); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", c.dir, err, c.want)
		}
	}
}

// An error in the middle ends the run. The other tables stay, annotated traces without
// their end do not.
func TestErrorInTheMiddle(t *testing.T) {
	dir := t.TempDir()
	r, err := New(oneSend(t), pair(), Options{Dir: dir, Name: "x", Interval: 1e6, Only: []string{"chakra-apps", "chakra-perf", annotatedRecord}})
	if err != nil {
		t.Fatal(err)
	}
	r.active = append(r.active, active{"", &failing{}})
	_, err = run(oneSend(t), units.Never).deliver(r, 1e6, replay.Finished, nil)
	if err == nil || err.Error() != "disk full" {
		t.Errorf("error %v", err)
	}
	got := files(t, dir)
	if len(got) != 2 || body(got["x-chakra-apps-0.csv"]) != "ChakraApp-0,0\nChakraApp-1,0\n" {
		t.Errorf("files %q", got)
	}
}

type failing struct{ quiet }

func (*failing) events([]replay.Event) error { return errors.New("disk full") }

// A file that cannot take its name is reported, and no temporary file stays.
func TestErrorAtTheEnd(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "x-chakra-apps-0.csv", "taken"), 0o700); err != nil {
		t.Fatal(err)
	}
	r, err := New(oneSend(t), pair(), Options{Dir: dir, Name: "x", Interval: 1e6, Only: []string{"chakra-apps"}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = run(oneSend(t), units.Never).deliver(r, 1e6, replay.Finished, nil)
	if err == nil || !strings.HasPrefix(err.Error(), "record "+filepath.Join(dir, "x-chakra-apps-0.csv")+" cannot be written: ") {
		t.Errorf("error %v", err)
	}
	if got := files(t, dir); len(got) != 0 {
		t.Errorf("files %q", got)
	}
}

// When the simulation stops, in ticks, of a run whose last rank ended at 5 and in which
// something happened at 7, with rows every 10.
func TestStop(t *testing.T) {
	for _, c := range []struct {
		outcome replay.Outcome
		stopAt  int64
		want    units.Time
	}{
		{replay.Finished, 0, 15}, {replay.Finished, 12, 12}, {replay.Finished, 20, 15},
		{replay.Stopped, 12, 12}, {replay.Deadlock, 0, 17}, {replay.Deadlock, 12, 12}, {replay.Unmatched, 0, 17},
		{replay.Interrupted, 0, 7}, {replay.Failed, 100, 7},
	} {
		r := &Recorder{clock: units.PicosecondClock(), opt: Options{Interval: 10, StopAt: c.stopAt}, lastEnd: 5, latest: 7}
		if got := r.stop(&replay.Result{Verdict: replay.Verdict{Outcome: c.outcome}}); got != c.want {
			t.Errorf("%s, stop at %d: %d, want %d", c.outcome, c.stopAt, got, c.want)
		}
	}
}

// A folder that cannot be made shows when the run begins; then no file stays.
func TestErrorAtTheBeginning(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, annotatedDir), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := New(oneSend(t), pair(), Options{Dir: dir, Name: "x", Interval: 1e6, ProfileInterval: 1e6})
	if err != nil {
		t.Fatal(err)
	}
	want := "record " + filepath.Join(dir, annotatedDir) + " cannot be written: not a directory"
	if _, err := run(oneSend(t), units.Never).deliver(r, 1e6, replay.Finished, nil); err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	if got := files(t, dir); len(got) != 1 {
		t.Errorf("files %q", got)
	}
}
