package des

import (
	"cmp"
	"context"
	"slices"
	"time"

	"hybrid/des/fabric"
	"hybrid/des/nic"
	"hybrid/des/sim"
	"hybrid/graph"
	"hybrid/graph/collective"
	"hybrid/graph/replay"
	"hybrid/internal/diag"
	"hybrid/internal/units"
	"hybrid/networks"
)

// Job is one simulation.
type Job struct {
	// Graph is the priced operation graph.
	Graph *graph.Graph
	// Network, Topology and Placement are the machine's interconnect: the topology has
	// at least Placement.Nodes hosts, and node i of the placement is host i.
	Network   *networks.Network
	Topology  networks.Topology
	Placement *networks.Placement
	// Ideal replaces the network's transport by the ideal one.
	Ideal bool
	// Family is synthesized or compiled, whose compute operations share the
	// accelerator of their rank, or collected, whose do not; "" means synthesized.
	Family string
	// Threads is the number of worker threads, at least 1; it has no effect on results.
	Threads int
	// Seed chooses the paths of flows among equals.
	Seed uint64
	// StopAt ends the simulation after this many picoseconds; 0 means never.
	StopAt int64
	// EndWithAck lets a rank end only when the transfers it sent, and those it received
	// through the NIC, are acknowledged; else it ends with its last operation.
	EndWithAck bool
	// SendOverhead and ReceiveOverhead are the host processor's time for each message
	// through the NIC, in picoseconds.
	SendOverhead, ReceiveOverhead int64
	// Recorder, if not nil, is told of everything that happens.
	Recorder replay.Recorder
	// Watch, if not nil, is told between windows how far the run has come.
	Watch replay.Watch
	// Stats, if not nil, is filled with what the run cost.
	Stats *replay.Stats

	// Window shortens the window to at most this many picoseconds, and ShuffleSeed
	// visits processes in a random order. Neither has an effect on results; tests use
	// them to show that.
	Window      int64
	ShuffleSeed uint64
}

// run is a job made ready.
type run struct {
	job                           *Job
	clock                         units.Clock
	placement                     *networks.Placement
	params                        nic.Params
	sendOverhead, receiveOverhead units.Time
	eagerLimit                    int64   // between nodes
	local                         []int32 // by rank: its index in its domain
	lead                          []int32 // by node: the first node of its domain
	grouped                       []int32 // ranks with others on their scale-up fabric
	port                          []int32 // by node: its NIC's place in a domain with a fabric
	levels                        [networks.Levels]levelPath
	copyPerByte                   units.Rat

	domains  []*domain // by node
	nics     []*nic.NIC
	switches []*fabric.Switch
	// Of runs whose switches have a packet memory:
	section   switchSection
	buffering *fabric.Buffering
	buffered  []*fabric.Buffered
	inlets    [][]int32 // by node: links that lead there
	still     standstill
	faults    *faults // nil where no link fails
	cursors   []*replay.Cursor
	kernel    *sim.Kernel
	procs     []sim.Process
	medium    *fabric.Medium
	window    units.Time
	close     []int32 // links without look-ahead
	books     []books // by worker
	tally     *replay.Tally
	rec       *recording // nil where nobody records
	notes     []string
	state     func() replay.Progress // of the watch
	guard     guard
	names     []string // of hosts and switches, once they are needed
	queues    []int64  // by link: the most bytes that a packet found in the queue
}

// books are what one worker writes down.
type books struct {
	tally *replay.Tally
	ended []replay.CollectiveEnd
	// events are for the recorder.
	events []replay.Event
	_      [64]byte
}

// Run simulates a job packet by packet. The error is a *diag.ListError where the job
// cannot be run: an unusable network, or one that does not fit the placement. How a run
// went is in the result's verdict, also where it did not finish; the end of the context
// is noticed between windows.
func Run(ctx context.Context, job Job) (*replay.Result, error) {
	_, res, err := simulateRun(ctx, &job)
	return res, err
}

// simulateRun is [Run], and returns what is left of it, for tests.
func simulateRun(ctx context.Context, job *Job) (*run, *replay.Result, error) {
	began := time.Now()
	r := &run{job: job, placement: job.Placement}
	var list diag.List
	r.check(&list)
	if err := list.Err(); err != nil {
		return nil, nil, err
	}
	r.build()
	cfg := sim.Config{Processes: r.procs, Window: r.window, Threads: job.Threads, Stop: r.stop(), Between: r.between}
	if job.ShuffleSeed != 0 { // a test: let every worker have its part of every window
		cfg.Shuffle, cfg.Small = job.ShuffleSeed, 1
	}
	r.state = r.progress
	ending := r.start(ctx, cfg)
	r.countEnd(ending)
	res := r.result(ending)
	r.finishRecording(res)
	res.Wall = time.Since(began)
	return r, res, nil
}

// start runs the kernel, with the recorder if there is one.
func (r *run) start(ctx context.Context, cfg sim.Config) sim.Ending {
	if r.rec != nil {
		mark, err := r.begin()
		if err != nil {
			r.kernel.Err = err
			return sim.Broken
		}
		cfg.Mark, cfg.Passed = mark, r.passed
	}
	return r.kernel.Run(ctx, cfg)
}

func (r *run) stop() units.Time {
	if r.job.StopAt <= 0 {
		return units.Never
	}
	return r.clock.Ticks(r.job.StopAt)
}

// between runs after each window.
func (r *run) between(workers []*sim.Worker) error {
	for _, w := range workers {
		b := &r.books[w.ID]
		for i := range b.ended {
			r.tally.Join(&b.ended[i])
		}
		for _, n := range w.Notices {
			r.nics[n.Node].Retire(w, n.Ref, n.At)
		}
		w.Notices = w.Notices[:0]
	}
	var err error
	if r.buffering != nil {
		err = r.moving()
	}
	if err == nil && r.kernel.Reached >= r.guard.next {
		err = r.progressing()
	}
	if r.rec != nil {
		err = cmp.Or(r.deliver(workers), err)
	}
	for i := range r.books {
		r.books[i].ended = r.books[i].ended[:0]
	}
	r.watch()
	return err
}

// build makes the processes and wires them.
func (r *run) build() {
	topo := r.job.Topology
	hosts, nodes := topo.Hosts(), topo.Hosts()+topo.Switches()
	links := topo.Links()
	process := processOrder(links, hosts, nodes)
	for i, first := range r.lead {
		process[i] = process[first]
	}
	to := make([]int32, len(links))
	for id, l := range links {
		to[id] = process[l.To]
	}
	r.kernel = sim.NewKernel(nodes, to)
	all := make([]fabric.Wire, len(links))
	r.queues = make([]int64, len(links))
	wires := make([][]fabric.Wire, nodes) // by node: a part of all, since links are sorted by From
	first := make([]int32, nodes)
	for id, l := range links {
		all[id] = fabric.NewWire(r.medium, l, r.kernel.Channel(id))
		r.failLink(&all[id], id, l)
		if wires[l.From] == nil {
			first[l.From] = int32(id)
		}
		wires[l.From] = all[first[l.From] : id+1]
	}
	r.record(all)
	r.buildDomains(wires, first, process)
	r.procs = make([]sim.Process, nodes)
	for _, d := range r.domains {
		r.procs[process[d.id]] = d
	}
	for s := hosts; s < nodes; s++ {
		if r.buffering != nil {
			r.procs[process[s]] = r.newBuffered(int32(s), first[s], wires[s], process)
			continue
		}
		w := fabric.NewSwitch(topo, int32(s), first[s], wires[s], r.kernel.Inputs(process[s]), r.job.Seed)
		if x := r.params.Routing; x != nil {
			w.Use(x)
		}
		r.procs[process[s]] = w
		r.switches = append(r.switches, w)
	}
	r.detour(first, wires)
	r.joinClose(process)
}

func (r *run) buildDomains(wires [][]fabric.Wire, first, process []int32) {
	n := r.placement.Nodes
	r.domains = make([]*domain, n)
	r.nics = make([]*nic.NIC, n)
	for i := range r.domains {
		r.domains[i] = r.domains[r.lead[i]]
		if r.lead[i] == int32(i) {
			r.domains[i] = &domain{run: r, id: int32(i), in: r.kernel.Inputs(process[i]), freeOp: -1, freeArr: -1, freePass: -1, records: r.rec.tellsOperations(), ends: r.rec.tellsRanks(r.job)}
		}
		d := r.domains[i]
		r.nics[i] = nic.New(r.params, int32(i), d, r.job.Topology, first[i], wires[i], r.job.Seed, r.nics)
		if d.nic = r.nics[i]; r.rec != nil && r.buffering != nil {
			d.nic.Record()
		}
	}
	algs := collective.NewTable()
	cfg := replay.Config{Graph: r.job.Graph}
	r.cursors = make([]*replay.Cursor, r.job.Graph.Ranks)
	r.local = make([]int32, r.job.Graph.Ranks)
	for id := range r.cursors {
		d := r.domains[r.placement.Node[id]]
		at := int32(len(d.ranks))
		r.cursors[id] = replay.NewCursor(cfg, algs, id)
		r.local[id] = at
		d.ranks = append(d.ranks, rank{id: int32(id), cursor: r.cursors[id]})
		d.ranks[at].cpu.Collected = r.job.Family == "collected"
		d.events.Push(sim.Event{Key: key(at, 0), Kind: eventBegin, Arg: at})
		r.kernel.Due(process[d.id], 0)
	}
	r.buildFabrics()
	r.books = make([]books, max(1, r.job.Threads))
	for i := range r.books {
		r.books[i].tally = replay.NewTally(r.job.Graph)
	}
	r.tally = replay.NewTally(r.job.Graph)
}

// processOrder numbers the processes so that those that talk to each other are
// neighbours: a switch stands in the middle of what hangs below it. Workers own
// contiguous parts, and find what they need in their caches.
func processOrder(links []networks.Link, hosts, nodes int) []int32 {
	const unknown = -1
	at := make([]int64, nodes)
	for i := range at {
		at[i] = unknown
		if i < hosts {
			at[i] = 2 * int64(i)
		}
	}
	sum, count := make([]int64, nodes), make([]int64, nodes)
	for more := true; more; {
		more = false
		for _, l := range links {
			if at[l.To] == unknown && at[l.From] != unknown {
				sum[l.To] += at[l.From]
				count[l.To]++
			}
		}
		for i := range at {
			if at[i] == unknown && count[i] > 0 {
				at[i], more = sum[i]/count[i], true
			}
		}
	}
	order := make([]int32, nodes)
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(at[a], at[b]) })
	process := make([]int32, nodes)
	for p, i := range order {
		process[i] = int32(p)
	}
	return process
}

// levelPath is how transfers at one distance inside a node are timed, and whether
// different ranks are at that distance.
type levelPath struct {
	level *networks.Level
	used  bool
}

// localPath is one transfer inside a node.
type localPath struct {
	latency, span units.Time
	announce      units.Time // of a request to send
	eagerLimit    int64
}

// localPath returns the times of a transfer between two ranks of a node: Hockney's
// latency and time per byte of their level, or the copy bandwidth for a rank itself.
func (r *run) localPath(src, dst int32, bytes int64) localPath {
	l := r.levels[r.placement.Level(src, dst)].level
	if src == dst {
		p := localPath{span: r.clock.Span(r.copyPerByte, bytes), eagerLimit: r.eagerLimit}
		if l != nil {
			p.eagerLimit = l.EagerLimit
		}
		return p
	}
	if l == nil || len(l.Hockney) == 0 {
		return localPath{eagerLimit: r.eagerLimit}
	}
	piece := l.HockneyAt(bytes)
	return localPath{
		latency: r.clock.Ticks(piece.Latency), span: r.clock.Span(piece.PerByte, bytes),
		announce: r.clock.Ticks(l.HockneyAt(0).Latency), eagerLimit: l.EagerLimit,
	}
}
