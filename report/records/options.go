package records

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"hybrid/graph"
	"hybrid/internal/diag"
	"hybrid/internal/units"
)

// Format is the form of the tables.
type Format uint8

// Forms of tables.
const (
	CSV Format = iota
	Parquet
)

// Options say what is recorded, and where.
type Options struct {
	// Dir is the folder of the files; it is made if it is absent.
	Dir string
	// Name is the simulation's, the first part of all file names; what a file name
	// cannot hold is replaced.
	Name   string
	Format Format
	// Only lists the records to write; nil means all of them. The listing of running
	// nodes also needs ProfileInterval.
	Only []string
	// Interval is the time between rows of chakra-cdf, DeviceInterval between those of
	// nd-stats, LinkInterval between those of link-stats and queue-stats, ProfileInterval
	// between listings of running nodes, 0 for none; all in picoseconds. A LinkInterval of 0
	// is the DeviceInterval.
	Interval, DeviceInterval, LinkInterval, ProfileInterval int64
	// ScaleUpStats adds the scale-up devices to nd-stats.
	ScaleUpStats bool
	// EarliestStart makes a collective start with its first participant instead of its
	// last.
	EarliestStart bool
	// StartTime in picoseconds is added to all simulated times; StopAt, counted from
	// the start of the ranks, is when the simulation is stopped, 0 for never.
	StartTime, StopAt int64
	// Ideal returns the time in picoseconds that a collective takes if only bandwidth
	// counts; ok is false where there is none. nil means that there never is.
	Ideal func(t graph.CollType, algorithm string, n int, bytes int64) (ps int64, ok bool)
	// Cancelled reports whether the run is to end early; nil means that it never is. It
	// is asked while rows behind the last event are written.
	Cancelled func() bool
	// Wall returns the wall-clock time since the start of the run for annotated traces;
	// nil means a clock that stands at 0.
	Wall func() time.Duration
}

// Platform is what the static records tell of the machine.
type Platform struct {
	// Nodes are the hosts and then the switches, by node number of the topology.
	Nodes []Node
	// Links are the directed links by ID.
	Links []Link
	// Hosts is the number of hosts, HostOf the host of each rank.
	Hosts  int
	HostOf []int32
	// ScaleUp is by rank the index of its scale-up group, or -1; nil without groups.
	ScaleUp []int32
	// Subgroup is by rank the number of its subgroup.
	Subgroup []uint32
	Groups   []ScaleUpGroup
}

// Node is a host or a switch.
type Node struct {
	Name string
	// Tier is 0 for spines, 1 for fabric switches, 2 for rack switches and 3 for hosts;
	// Subtier numbers the nodes of a tier.
	Tier, Subtier int32
}

// Link is a directed link; PerByte in picoseconds a byte, Delay in picoseconds.
type Link struct {
	From, To int32
	PerByte  units.Rat
	Delay    int64
}

// ScaleUpGroup is a scale-up fabric: its number in the mapping file, the time of a
// byte at a rank's bandwidth, and the latencies of a hop and of a cable, in
// picoseconds.
type ScaleUpGroup struct {
	ID         uint32
	PerByte    units.Rat
	Hop, Cable int64
}

// Names of records that are no tables.
const (
	profileRecord   = "chakra-profiling"
	annotatedRecord = "annotated-traces"
)

// Record is a row of the table of records.
type Record struct {
	// Name is used in file names and flags, Doc one sentence.
	Name, Doc string
	// Columns is nil for records that are no tables.
	Columns []Column
	new     func(r *Recorder) listener
}

// Records lists every record, in the order in which docs/records.md describes them.
func Records() []Record { return recordTable() }

// Names returns the names of all records.
func Names() []string {
	var out []string
	for _, r := range recordTable() {
		out = append(out, r.Name)
	}
	return out
}

// CheckName says why there is no record of that name, with a suggestion, or nil.
func CheckName(name string) error {
	names := Names()
	if slices.Contains(names, name) {
		return nil
	}
	return fmt.Errorf("no record is called %q%s (records: %s)", name, diag.DidYouMean(name, names), strings.Join(names, ", "))
}

// wanted reports whether a record is to be written.
func (o *Options) wanted(name string) bool {
	if name == profileRecord && o.ProfileInterval <= 0 {
		return false
	}
	return o.Only == nil || slices.Contains(o.Only, name)
}

// longestName leaves room for the rest of a file name, of which most file systems take
// 255 bytes.
const longestName = 160

// safeName makes a file name's part of a workload's name: its last element without
// ending, other characters than letters, digits, dots, dashes and underscores
// replaced; no more than longestName bytes.
func safeName(name string) string {
	name = strings.Trim(filepath.Base(strings.TrimRight(name, "/*")), "<>")
	for _, ending := range []string{".hbp", ".et", ".gz", ".json", ".goal"} {
		name = strings.TrimSuffix(name, ending)
	}
	name = strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '.', r == '-', r == '_':
			return r
		}
		return '_'
	}, name)
	if strings.Trim(name, "._-") == "" {
		return "run"
	}
	name = strings.TrimLeft(name, ".")
	return name[:min(len(name), longestName)]
}

// prepareDir makes the folder and finds out whether files can be written to it.
func prepareDir(dir string) error {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return fmt.Errorf("%s is a file, not a folder", dir)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("the folder %s cannot be made: %w", dir, cause(err))
	}
	f, err := os.CreateTemp(dir, ".hybrid.*")
	if err != nil {
		return fmt.Errorf("files cannot be written to %s: %w", dir, cause(err))
	}
	f.Close()
	return os.Remove(f.Name())
}
