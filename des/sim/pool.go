package sim

import (
	"runtime"
	"sync/atomic"
)

// smallWindow is the usual Config.Small: waking other workers for less costs more than
// it saves.
const smallWindow = 16

// spins is how often a waiting worker looks before it parks: some ten microseconds, about
// what waking it would take.
const spins = 8000

// pool hands the processes of a window to workers. Each worker owns a contiguous part
// of the window's list, which keeps its processes in its cache, and helps with the
// other parts when its own is done. Who runs what has no effect on results.
type pool struct {
	k      *Kernel
	spins  int
	epoch  atomic.Uint64
	left   atomic.Int64 // workers that have not finished the window
	closed atomic.Bool
	// The first worker parks here, as the others do in parked.
	waiting  atomic.Bool
	finished chan struct{}

	shares []share
	parked []parking
}

// share is the part [next, end) of the list that is not taken yet.
type share struct {
	next atomic.Int64
	end  int64
	_    [48]byte
}

type parking struct {
	asleep atomic.Bool
	wake   chan struct{}
	_      [48]byte
}

func newPool(k *Kernel) *pool {
	n := len(k.workers)
	p := &pool{k: k, spins: spins, shares: make([]share, n), parked: make([]parking, n), finished: make(chan struct{}, 1)}
	// With fewer processors than workers a spinning worker would only keep a working
	// one from running.
	if runtime.GOMAXPROCS(0) < n {
		p.spins = 0
	}
	for i := 1; i < n; i++ {
		p.parked[i].wake = make(chan struct{}, 1)
		go p.serve(k.workers[i])
	}
	return p
}

// execute runs the first n entries of the kernel's list.
func (p *pool) execute(n int) {
	if len(p.shares) == 1 || n < p.k.cfg.Small {
		for i := range n {
			p.k.step(p.k.workers[0], i)
		}
		return
	}
	workers := len(p.shares)
	for i := range p.shares {
		p.shares[i].next.Store(int64(i * n / workers))
		p.shares[i].end = int64((i + 1) * n / workers)
	}
	p.left.Store(int64(workers - 1))
	p.epoch.Add(1)
	p.wakeAll()
	p.work(p.k.workers[0])
	p.join()
}

// join waits until the other workers have finished the window.
func (p *pool) join() {
	for range p.spins {
		if p.left.Load() == 0 {
			return
		}
	}
	for {
		p.waiting.Store(true)
		if p.left.Load() == 0 && p.waiting.CompareAndSwap(true, false) {
			return
		}
		// The word may be late: of a worker that was the last one of a window before,
		// which has been seen without waiting for it.
		if <-p.finished; p.left.Load() == 0 {
			return
		}
	}
}

func (p *pool) wakeAll() {
	for i := 1; i < len(p.parked); i++ {
		if p.parked[i].asleep.CompareAndSwap(true, false) {
			p.parked[i].wake <- struct{}{}
		}
	}
}

// work runs the worker's own share and then what is left of the others.
func (p *pool) work(w *Worker) {
	for i := range p.shares {
		s := &p.shares[(w.ID+i)%len(p.shares)]
		for {
			at := s.next.Add(1) - 1
			if at >= s.end {
				break
			}
			p.k.step(w, int(at))
		}
	}
}

// serve is the life of a worker beside the first.
func (p *pool) serve(w *Worker) {
	for seen := uint64(0); ; {
		p.await(w.ID, seen)
		seen++
		if p.closed.Load() {
			return
		}
		p.work(w)
		if p.left.Add(-1) == 0 && p.waiting.CompareAndSwap(true, false) {
			p.finished <- struct{}{}
		}
	}
}

// await returns once the epoch is no longer seen.
func (p *pool) await(id int, seen uint64) {
	for range p.spins {
		if p.epoch.Load() != seen {
			return
		}
	}
	me := &p.parked[id]
	for p.epoch.Load() == seen {
		me.asleep.Store(true)
		if p.epoch.Load() != seen && me.asleep.CompareAndSwap(true, false) {
			return
		}
		<-me.wake // may be meant for a window that this worker saw by itself
	}
}

// stop ends the workers.
func (p *pool) stop() {
	p.closed.Store(true)
	p.epoch.Add(1)
	p.wakeAll()
}
