package records

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"hybrid/graph"
	"hybrid/graph/collective"
	"hybrid/graph/replay"
	"hybrid/internal/units"
)

// Recorder writes the records of one run. It implements [replay.Recorder].
type Recorder struct {
	opt      Options
	name     string
	g        *graph.Graph
	platform *Platform
	algs     *collective.Table
	clock    units.Clock

	active  []active
	tables  []*table
	ended   int        // ranks
	lastEnd units.Time // of a rank
	latest  units.Time // event or mark
	dates   dates
	queues  []replay.QueueCount // at the mark that is being made, by link and class
	classes int
}

// active is a record that is being written.
type active struct {
	name string
	listener
}

// listener is a record at work. Times are ticks since the start of the ranks.
type listener interface {
	// begin is called once the clock is known.
	begin() error
	events(events []replay.Event) error
	parts(parts []replay.CollectiveEnd) error
	// next is the time of the next mark, mark what happens then.
	next() units.Time
	mark(links, scaleUp []replay.PortCount) error
	// end is called behind the last mark.
	end(res *replay.Result) error
}

// quiet does nothing; records embed it and replace what they need.
type quiet struct{}

func (quiet) begin() error                       { return nil }
func (quiet) events([]replay.Event) error        { return nil }
func (quiet) parts([]replay.CollectiveEnd) error { return nil }
func (quiet) next() units.Time                   { return units.Never }
func (quiet) mark(_, _ []replay.PortCount) error { return nil }
func (quiet) end(*replay.Result) error           { return nil }

// ticker counts marks at multiples of an interval.
type ticker struct {
	r     *Recorder
	flag  string
	every int64 // picoseconds
	count int64 // of marks so far
	rows  int64 // of a mark
}

func (t *ticker) next() units.Time {
	if t.rows > 0 && t.count >= mostRows/t.rows {
		return units.Never
	}
	return t.due()
}

// due is the time of the next mark, had the record no limit.
func (t *ticker) due() units.Time {
	if t.every <= 0 || t.count >= int64(units.Never)/t.every {
		return units.Never
	}
	return t.r.clock.Ticks((t.count + 1) * t.every)
}

// now is the time of the mark that is being made, in picoseconds, and moves on.
func (t *ticker) now() int64 {
	t.count++
	return t.count * t.every
}

// New prepares the records of a run of a prepared graph: it makes the folder and finds
// out whether it can be written to, but creates no file yet. The error is about the
// folder, or about a record that is sure to have too many rows.
func New(g *graph.Graph, platform *Platform, opt Options) (*Recorder, error) {
	if opt.LinkInterval == 0 {
		opt.LinkInterval = opt.DeviceInterval
	}
	if err := checkRows(g, platform, &opt); err != nil {
		return nil, err
	}
	if err := prepareDir(opt.Dir); err != nil {
		return nil, err
	}
	r := &Recorder{opt: opt, name: safeName(opt.Name), g: g, platform: platform, algs: collective.NewTable()}
	for _, rec := range recordTable() {
		if opt.wanted(rec.Name) {
			r.active = append(r.active, active{rec.Name, rec.new(r)})
		}
	}
	return r, nil
}

// table is an open table.
type table struct {
	out  *output
	sink sink
}

// row writes a row.
func (t *table) row(cells ...cell) error {
	if t.out.err == nil {
		if err := t.sink.row(cells); err != nil {
			t.out.err = diskError(t.out.path, err)
		}
	}
	return t.out.err
}

// open creates the file of a table.
func (r *Recorder) open(record string, columns []Column) (*table, error) {
	ending := ".csv"
	if r.opt.Format == Parquet {
		ending = ".parquet"
	}
	out, err := createOutput(filepath.Join(r.opt.Dir, r.name+"-"+record+"-0"+ending))
	if err != nil {
		return nil, err
	}
	t := &table{out: out}
	r.tables = append(r.tables, t)
	if r.opt.Format == Parquet {
		t.sink = newParquet(out, record, columns)
		return t, nil
	}
	t.sink, err = newCSV(out, columns)
	return t, err
}

// Begin creates the files.
func (r *Recorder) Begin(clock units.Clock) error {
	r.clock = clock
	// A run lasts for this interval, and simulated time as long as ticks can be counted.
	if most := units.Never / 2; clock.Ticks(r.opt.Interval) > most {
		return fmt.Errorf("an interval of %d s between rows of chakra-cdf is more than the %d s that this network can be simulated for, in ticks of 1/%d ps",
			r.opt.Interval/1e12, clock.PS(most)/1e12, clock.PerPS)
	}
	for _, a := range r.active {
		if err := a.begin(); err != nil {
			return errors.Join(err, r.close(dropped))
		}
	}
	return nil
}

// Wants says what the records need: those of servers, links and queues nothing that
// happens, only counters.
func (r *Recorder) Wants() replay.Wants {
	w := replay.Wants{}
	for _, a := range r.active {
		switch a.listener.(type) {
		case *queues:
			w.Queues = true
		case *fixed, *devices, *links:
		default:
			w.Events, w.Parts = true, true
		}
	}
	return w
}

// Queues keeps the counters of traffic classes for the mark that follows.
func (r *Recorder) Queues(queues []replay.QueueCount, classes int) error {
	r.queues, r.classes = queues, classes
	return nil
}

// Events hands on what happened.
func (r *Recorder) Events(events []replay.Event) error {
	for i := range events {
		if events[i].Kind == replay.RankEnded {
			r.ended++
			r.lastEnd = max(r.lastEnd, events[i].T)
		}
	}
	if n := len(events); n > 0 {
		r.latest = max(r.latest, events[n-1].T)
	}
	return r.each(func(l listener) error { return l.events(events) })
}

// Parts hands on which collectives ranks have completed.
func (r *Recorder) Parts(parts []replay.CollectiveEnd) error {
	return r.each(func(l listener) error { return l.parts(parts) })
}

// NextMark returns the earliest time at which a record has something to write.
func (r *Recorder) NextMark() units.Time {
	t := units.Never
	for _, a := range r.active {
		t = min(t, a.next())
	}
	if r.ended == r.g.Ranks && t > r.lastEnd+r.clock.Ticks(r.opt.Interval) {
		return units.Never
	}
	return t
}

// Mark lets the records whose time has come write their rows.
func (r *Recorder) Mark(at units.Time, links, scaleUp []replay.PortCount) error {
	r.latest = max(r.latest, at)
	r.look(links)
	return r.each(func(l listener) error {
		if l.next() > at {
			return nil
		}
		return l.mark(links, scaleUp)
	})
}

// looker is a record that wants to see the counters at every mark.
type looker interface {
	look(links []replay.PortCount)
}

func (r *Recorder) look(links []replay.PortCount) {
	for _, a := range r.active {
		if l, ok := a.listener.(looker); ok {
			l.look(links)
		}
	}
}

// End writes the rows that are still due, what never finished, and gives the files
// their names.
func (r *Recorder) End(res *replay.Result, links, scaleUp []replay.PortCount) error {
	if !r.Wants().Events { // nor perhaps of the ends of ranks
		r.lastEnd, r.latest = max(r.lastEnd, res.Makespan), max(r.latest, res.Makespan)
	}
	stop := r.stop(res)
	r.look(links)
	err := r.each(func(l listener) error {
		for l.next() <= stop {
			if r.opt.Cancelled != nil && r.opt.Cancelled() {
				if o := &res.Verdict.Outcome; *o == replay.Finished || *o == replay.Stopped {
					*o = replay.Interrupted
				}
				break
			}
			if err := l.mark(links, scaleUp); err != nil {
				return err
			}
		}
		return l.end(res)
	})
	if err != nil {
		return err
	}
	r.note(res, stop)
	return r.close(whole)
}

// stop returns when the simulation stops: one interval after the last rank has ended,
// or at the stop time. A run that cannot go on, but whose ranks have not ended, counts
// as stopped one interval after the last thing that happened.
func (r *Recorder) stop(res *replay.Result) units.Time {
	limit := units.Never
	if r.opt.StopAt > 0 {
		limit = r.clock.Ticks(r.opt.StopAt)
	}
	switch res.Verdict.Outcome {
	case replay.Interrupted, replay.Failed:
		return r.latest
	case replay.Stopped:
		if limit != units.Never {
			return limit
		}
		return r.latest
	case replay.Finished:
		return min(limit, r.lastEnd+r.clock.Ticks(r.opt.Interval))
	}
	return min(limit, r.latest+r.clock.Ticks(r.opt.Interval))
}

// note tells readers of the report where the records are incomplete.
func (r *Recorder) note(res *replay.Result, stop units.Time) {
	for _, a := range r.active {
		if l, ok := a.listener.(regular); ok && a.next() == units.Never && l.due() <= stop {
			res.Notes = append(res.Notes, a.name+l.ended(r.clock.PS(stop)))
		}
	}
	if o := res.Verdict.Outcome; o != replay.Finished {
		res.Notes = append(res.Notes, "the records in "+r.opt.Dir+" hold what was complete: the run is "+o.String())
	}
	if r.opt.wanted(annotatedRecord) && !annotates(r.g) {
		res.Notes = append(res.Notes, "annotated traces are written for runs of traces alone, whose programs are lists of nodes")
	}
}

// each lets every record do something. After an error, what can be saved is saved and
// nothing more is written.
func (r *Recorder) each(do func(listener) error) error {
	for _, a := range r.active {
		if err := do(a.listener); err != nil {
			return errors.Join(err, r.close(broken))
		}
	}
	return nil
}

// closing says how the files end.
type closing uint8

const (
	whole   closing = iota // everything has been written
	broken                 // an error came between: what makes sense without its end stays
	dropped                // nothing has happened yet: no file stays
)

// filer is a record that keeps files of its own.
type filer interface{ close(how closing) error }

// close ends all files and all records.
func (r *Recorder) close(how closing) error {
	var errs []error
	// On a full disk, what goes makes room for what stays.
	r.tables = slices.DeleteFunc(r.tables, func(t *table) bool {
		if t.out.err != nil {
			t.out.discard()
		}
		return t.out.err != nil
	})
	for _, a := range r.active {
		if f, ok := a.listener.(filer); ok {
			errs = append(errs, f.close(how))
		}
	}
	for _, t := range r.tables {
		errs = append(errs, t.close(how))
	}
	r.tables, r.active = nil, nil
	return errors.Join(errs...)
}

// close ends the file of a table.
func (t *table) close(how closing) error {
	if how == dropped {
		t.out.discard()
		return nil
	}
	if err := t.sink.close(); err != nil {
		t.out.discard()
		return diskError(t.out.path, err)
	}
	return t.out.commit()
}

// ps converts a time of the run into picoseconds of simulated time.
func (r *Recorder) ps(t units.Time) int64 { return r.opt.StartTime + r.clock.PS(t) }

// app is the name of a rank's application.
func app(rank int32) string { return "ChakraApp-" + itoa(int64(rank)) }
