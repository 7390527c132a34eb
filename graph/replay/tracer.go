package replay

import (
	"slices"

	"hybrid/graph"
)

// tracer follows a cursor that is driven without time and finds out what each
// operation depends on, by the numbers of the nodes that stand for operations in an
// export. It completes an operation only when the thread needs that to go on, so
// that everything completed is an ancestor of all that the thread does later, and no
// dependency is lost.
type tracer struct {
	c *Cursor
	// emit writes a node and returns its number; a nil issue stands for a node that
	// takes no time.
	emit func(is *Issue, requires []int32) int32

	insts []traced        // by instance
	parts []tracedPart    // by collective part
	ops   map[int32]int32 // flat programs: node that stands for the end of an operation
	front []int32         // what the thread has waited for last
	gates []int32         // what it waits for now, as far as complete
	// epoch counts the changes of the front: operations of one epoch are not ordered.
	epoch int
	out   []Issue
	fifo  []int32 // flat programs: handles in issue order
}

// traced is what the tracer knows of an instance: the nodes it requires, the
// instances that it waits for, its own node.
type traced struct {
	requires []int32
	waits    []ref
	node     int32
}

// tracedPart are the nodes of the steps of a collective that runs.
type tracedPart struct {
	start []int32
	steps []int32
	sync  bool
	live  []int32 // handles of steps in progress
}

// begin is called when an instance comes into being.
func (t *tracer) begin(h int32) {
	for int(h) >= len(t.insts) {
		t.insts = append(t.insts, traced{})
	}
	in := &t.insts[h]
	in.node, in.waits, in.requires = -1, in.waits[:0], in.requires[:0]
	if t.c.p.Flat {
		for _, d := range t.c.p.OpDeps(t.c.insts[h].op) {
			if n, ok := t.ops[d.Target]; ok && !slices.Contains(in.requires, n) {
				in.requires = append(in.requires, n)
			}
		}
		return
	}
	if t.c.gate == 0 && !t.c.more && len(t.gates) > 0 {
		t.front, t.gates = append(t.front[:0], t.gates...), t.gates[:0]
		t.epoch++
	}
	in.requires = append(in.requires, t.front...)
}

func (t *tracer) waits(h, on int32) {
	t.insts[h].waits = append(t.insts[h].waits, ref{on, t.c.insts[on].seq})
}

// complete is called when an instance ends, before its dependents learn of it.
func (t *tracer) complete(h int32) {
	in := &t.c.insts[h]
	if in.step >= 0 {
		return
	}
	node := t.end(h)
	for e := in.edges; e >= 0; e = t.c.edges[e].next {
		t.require(t.c.edges[e].inst, node)
	}
	if w := t.c.waitAll; w >= 0 && w != h {
		t.require(w, node)
	}
	if in.gate && node >= 0 {
		t.gates = append(t.gates, node)
	}
	if t.c.p.Flat && node >= 0 {
		t.ops[in.op] = node
	}
}

func (t *tracer) require(h, node int32) {
	if r := &t.insts[h].requires; node >= 0 && !slices.Contains(*r, node) {
		*r = append(*r, node)
	}
}

// end returns the node that stands for the end of an instance, or -1 where it
// requires nothing.
func (t *tracer) end(h int32) int32 {
	switch op := &t.c.p.Ops[t.c.insts[h].op]; op.Kind {
	case graph.Join:
		return t.joined(t.insts[h].requires)
	case graph.Collective:
		return t.collectiveEnd(h)
	}
	return t.insts[h].node
}

// joined returns a node that ends when all the given nodes have.
func (t *tracer) joined(nodes []int32) int32 {
	switch len(nodes) {
	case 0:
		return -1
	case 1:
		return nodes[0]
	}
	return t.emit(nil, nodes)
}

// collectiveEnd is called when the cursor ends a part, whose steps are then all
// complete.
func (t *tracer) collectiveEnd(h int32) int32 {
	for p := range t.parts {
		if t.parts[p].steps != nil && t.c.parts[p].inst == h {
			end := t.joined(t.last(int32(p)))
			t.parts[p].steps = nil
			return end
		}
	}
	return t.joined(t.insts[h].requires)
}

// last returns the nodes of the steps that nothing inside the part waits for.
func (t *tracer) last(p int32) []int32 {
	pt, tp := &t.c.parts[p], &t.parts[p]
	alg := pt.real
	if tp.sync {
		alg = t.c.algs.SyncBarrier()
	}
	var nodes []int32
	for i, n := range tp.steps {
		if s := alg.At(&pt.call, int32(i)); s.NextLo == s.NextHi {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// issued writes the nodes of what the cursor has handed out.
func (t *tracer) issued(out []Issue) {
	for i := range out {
		is := &out[i]
		in := &t.c.insts[is.Handle]
		if in.step >= 0 {
			t.stepIssued(is, in)
			continue
		}
		t.insts[is.Handle].node = t.emit(is, t.insts[is.Handle].requires)
		if t.c.p.Flat {
			t.fifo = append(t.fifo, is.Handle)
		}
	}
}

func (t *tracer) stepIssued(is *Issue, in *instance) {
	for int(in.part) >= len(t.parts) {
		t.parts = append(t.parts, tracedPart{})
	}
	pt, tp := &t.c.parts[in.part], &t.parts[in.part]
	switch {
	case tp.steps == nil:
		*tp = tracedPart{start: slices.Clone(t.insts[pt.inst].requires), sync: is.Sync}
		tp.steps = make([]int32, pt.alg.Len(&pt.call))
	case tp.sync && !is.Sync:
		end := t.joined(t.last(in.part))
		*tp = tracedPart{start: []int32{end}, steps: make([]int32, pt.alg.Len(&pt.call))}
	}
	s := pt.alg.At(&pt.call, in.step)
	requires := tp.start
	if s.Lo < s.Hi {
		requires = tp.steps[s.Lo:s.Hi]
	}
	tp.steps[in.step] = t.emit(is, requires)
	tp.live = append(tp.live, is.Handle)
	if t.c.p.Flat {
		t.fifo = append(t.fifo, is.Handle)
	}
}

func (t *tracer) done(h int32) {
	t.out = t.c.Done(h, 0, t.out[:0])
	t.issued(t.out)
}

// run drives the cursor to its end; more is asked before each step whether to go
// on.
func (t *tracer) run(more func() bool) {
	t.out = t.c.Start(0, t.out[:0])
	t.issued(t.out)
	for t.c.err == nil && more() {
		if t.c.p.Flat {
			if len(t.fifo) == 0 {
				return
			}
			h := t.fifo[0]
			t.fifo = t.fifo[1:]
			t.done(h)
			continue
		}
		h := t.next()
		if h < 0 {
			return
		}
		t.done(h)
	}
}

// next returns an issued instance whose completion lets the thread go on, or any
// once the thread is at its end, or -1.
func (t *tracer) next() int32 {
	for h := range t.c.insts {
		if in := &t.c.insts[h]; in.seq != 0 && in.gate {
			if n := t.needed(int32(h)); n >= 0 {
				return n
			}
		}
	}
	best := int32(-1)
	for h := range t.c.insts {
		if in := &t.c.insts[h]; in.seq != 0 && in.issued && (best < 0 || in.seq < t.c.insts[best].seq) {
			best = int32(h)
		}
	}
	return best
}

// needed returns an issued instance on which h waits: itself, a step of it, or,
// one level after the other, what it waits for.
func (t *tracer) needed(h int32) int32 {
	for {
		in := &t.c.insts[h]
		switch {
		case in.issued:
			return h
		case in.pending == 0 && in.part >= 0:
			live := &t.parts[in.part].live
			for len(*live) > 0 {
				s := (*live)[0]
				*live = (*live)[1:]
				if t.c.insts[s].seq != 0 && t.c.insts[s].part == in.part && t.c.insts[s].step >= 0 {
					return s
				}
			}
			return -1
		}
		on := int32(-1)
		for _, w := range t.insts[h].waits {
			if t.c.insts[w.inst].seq == w.seq {
				on = w.inst
				break
			}
		}
		if on < 0 { // a waitall: the fallback takes the oldest
			return -1
		}
		h = on
	}
}
