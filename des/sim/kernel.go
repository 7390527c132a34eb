package sim

import (
	"context"
	"fmt"
	"math/rand/v2"

	"hybrid/internal/units"
)

// Process is a logical process: a switch, or a node with its ranks and its NIC, or
// several of them (see [Kernel.Join]). It
// shares nothing with other processes but records on links.
type Process interface {
	// Step does everything that is due before w.End, in order of time, and returns when
	// the process is due next, or [units.Never]. Records that arrive later than the ones
	// it has seen are the kernel's business.
	Step(w *Worker) units.Time
}

// Worker is one thread's view of the current window.
type Worker struct {
	// ID counts workers from 0. A worker's counters and buffers belong to it alone
	// during a window, and to the kernel's caller between windows.
	ID int
	// Start and End bound the window: Start <= t < End.
	Start, End units.Time
	// Hops counts packets put on links, Events everything that processes handled.
	Hops, Events int64
	// Scratch is for sorting, Line for records that must lie side by side.
	Scratch, Line []Record
	// Notices collect facts for other nodes' books that no simulated event depends on.
	// Config.Between empties them.
	Notices []Notice

	inbox []Record
	lent  []Record // see Borrow
	dirty []*Channel
	err   error
	_     [64]byte
}

// Notice tells a node between windows that something of its own, Ref, ended at At.
type Notice struct {
	At   units.Time
	Node int32
	Ref  uint32
}

// Fail stops the run at the window's end. Of several failures in a window the one whose
// text comes first counts, whichever worker met it.
func (w *Worker) Fail(err error) { w.err = firstOf(w.err, err) }

func firstOf(a, b error) error {
	if a == nil || b != nil && b.Error() < a.Error() {
		return b
	}
	return a
}

// Failure returns the worker's first failure, or nil.
func (w *Worker) Failure() error { return w.err }

// Config describes a run of the kernel.
type Config struct {
	Processes []Process
	// Window is the look-ahead: no record takes effect in another process sooner than
	// this after the time of what causes it. Never means that nothing ever crosses.
	Window units.Time
	// Threads is the number of workers, at least 1.
	Threads int
	// Stop is the last time that is simulated.
	Stop units.Time
	// Small is the number of due processes below which one worker runs a window alone;
	// 0 means a number that suits.
	Small int
	// Shuffle, if not 0, is the seed of a random order in which the processes of each
	// window are visited; results must not depend on it.
	Shuffle uint64
	// Between, if not nil, runs after each window, on one thread. Its error ends the run.
	Between func(workers []*Worker) error
	// Passed, if not nil, runs on one thread when all that is due before the time Mark,
	// and nothing else, has happened, and returns the next such time, which must be
	// later, or [units.Never]. It does not run for times after Stop, or after the end of
	// the last window.
	Passed func(at units.Time) (next units.Time, err error)
	Mark   units.Time
}

// Ending is how a run of the kernel ended.
type Ending uint8

// Endings: nothing left to do, the stop time, the context, the range of time, or a
// failure of a worker or of the caller.
const (
	Drained Ending = iota
	AtStop
	Canceled
	OutOfRange
	Broken
)

// MaxTime bounds simulated time, so that sums of two times never overflow.
const MaxTime units.Time = 1 << 62

// Kernel runs processes window by window.
type Kernel struct {
	cfg     Config
	agenda  agenda
	inputs  []Inputs
	chans   []Channel
	members []member // by process; nil where there are no clusters
	workers []*Worker
	run     []int32
	next    []units.Time // by position in run
	pool    *pool
	random  *rand.Rand
	mark    units.Time

	// Windows counts the windows so far, Visits the processes that had something to do in
	// them; Reached is the end of the last one.
	Windows int64
	Visits  int64
	Reached units.Time
	// Err is what a worker or the caller failed with.
	Err error
}

// NewKernel returns a kernel for n processes that are joined by links: to names the
// receiving process of each link, in the order of the links' IDs. Run follows.
func NewKernel(n int, to []int32) *Kernel {
	k := &Kernel{agenda: newAgenda(n), inputs: make([]Inputs, n), chans: make([]Channel, len(to))}
	count := make([]int32, n)
	for _, p := range to {
		count[p]++
	}
	words := 0
	for _, c := range count {
		words += int(c+63) / 64
	}
	chans, busy := make([]*Channel, len(to)), make([]uint64, words)
	for p, c := range count {
		words := (c + 63) / 64
		k.inputs[p] = Inputs{chans: chans[:0:c], busy: busy[:words:words]}
		chans, busy = chans[c:], busy[words:]
	}
	for id, p := range to {
		in := &k.inputs[p]
		k.chans[id].to, k.chans[id].slot = p, int32(len(in.chans))
		in.chans = append(in.chans, &k.chans[id])
	}
	return k
}

// Channel returns the wire of a link.
func (k *Kernel) Channel(link int) *Channel { return &k.chans[link] }

// InFlight returns the number of records on all links.
func (k *Kernel) InFlight() int {
	n := 0
	for i := range k.chans {
		n += int(k.chans[i].tail - k.chans[i].head)
	}
	return n
}

// Inputs returns the incoming links of a process.
func (k *Kernel) Inputs(p int32) *Inputs { return &k.inputs[p] }

// Due tells the kernel before the run, and before Join, when a process is due first.
func (k *Kernel) Due(p int32, t units.Time) { k.agenda.sooner(p, t, 1) }

// Workers returns the workers after or between windows of a run.
func (k *Kernel) Workers() []*Worker { return k.workers }

// Run executes windows until nothing is left, or something ends the run early. The
// window starts at the earliest pending time, so idle spans cost nothing.
func (k *Kernel) Run(ctx context.Context, cfg Config) Ending {
	k.prepare(cfg)
	defer k.pool.stop()
	cancel := ctx.Done()
	for {
		start := k.agenda.earliest()
		switch {
		case start == units.Never:
			return Drained
		case start > MaxTime && start <= cfg.Stop:
			return OutOfRange
		case k.mark <= min(start, cfg.Stop):
			k.pass()
		case start > cfg.Stop:
			return AtStop
		default:
			end := min(start+min(cfg.Window, MaxTime-1), MaxTime+1, k.mark)
			if cfg.Stop < end {
				end = cfg.Stop + 1
			}
			k.window(start, end)
		}
		if k.Err != nil {
			return Broken
		}
		select {
		case <-cancel:
			return Canceled
		default:
		}
	}
}

func (k *Kernel) prepare(cfg Config) {
	k.cfg, k.mark = cfg, cfg.Mark
	if cfg.Passed == nil {
		k.mark = units.Never
	}
	if cfg.Small == 0 {
		k.cfg.Small = smallWindow
	}
	k.workers = make([]*Worker, max(1, cfg.Threads))
	for i := range k.workers {
		k.workers[i] = &Worker{ID: i}
	}
	if cfg.Shuffle != 0 {
		k.random = rand.New(rand.NewPCG(cfg.Shuffle, 0))
		for i := range k.members {
			if m := &k.members[i]; m.cluster != nil && m.lead == int32(i) {
				m.cluster.random = rand.New(rand.NewPCG(cfg.Shuffle, uint64(i)+1))
			}
		}
	}
	k.pool = newPool(k)
}

// window runs everything that is due before end, and makes its records visible.
func (k *Kernel) window(start, end units.Time) {
	k.Windows++
	k.run = k.agenda.take(end, k.run[:0])
	k.Visits += int64(len(k.run))
	if k.random != nil {
		k.random.Shuffle(len(k.run), func(i, j int) { k.run[i], k.run[j] = k.run[j], k.run[i] })
	}
	if cap(k.next) < len(k.run) {
		k.next = make([]units.Time, 2*len(k.run))
	}
	k.next = k.next[:len(k.run)]
	for _, w := range k.workers {
		w.Start, w.End = start, end
	}
	k.pool.execute(len(k.run))
	k.exchange(end)
}

// pass tells the caller that the mark has been reached.
func (k *Kernel) pass() {
	next, err := k.cfg.Passed(k.mark)
	if err == nil && next <= k.mark {
		err = fmt.Errorf("after the mark at %d the next one is at %d", k.mark, next)
	}
	k.mark, k.Err = next, firstOf(k.Err, err)
}

// step visits one process of the window.
func (k *Kernel) step(w *Worker, i int) {
	k.next[i] = k.cfg.Processes[k.run[i]].Step(w)
}

// exchange publishes the records of a window and updates the agenda.
func (k *Kernel) exchange(end units.Time) {
	horizon := end + min(nearWindows*min(k.cfg.Window, MaxTime/nearWindows), MaxTime-2)
	for i, p := range k.run {
		k.agenda.set(p, k.next[i], horizon)
	}
	for _, w := range k.workers {
		for _, c := range w.dirty {
			c.publish()
			k.inputs[c.to].busy[c.slot>>6] |= 1 << (c.slot & 63)
			to := c.to
			if k.members != nil {
				to = k.wake(to, c.first)
			}
			k.agenda.sooner(to, c.first, horizon)
		}
		w.dirty = w.dirty[:0]
		k.Err = firstOf(k.Err, w.err)
	}
	k.Reached = end
	if k.cfg.Between != nil {
		k.Err = firstOf(k.Err, k.cfg.Between(k.workers))
	}
}
