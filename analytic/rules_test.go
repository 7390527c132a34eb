package analytic

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"hybrid/graph"
)

// refOp is an operation of the reference: a plain statement of LogGOPSim's rules in
// which everything that finds its resource busy is put back into one queue, times in
// nanoseconds.
type refOp struct {
	kind       graph.Kind
	peer, tag  int
	size       int64
	unmet      int
	dependents []int
}

type refEvent struct {
	at, seq  int64
	message  bool
	rank, op int // of a message: the receiver, and the index in messages
}

type refMessage struct{ src, tag, op int }

type reference struct {
	p           parameters
	ops         [][]refOp
	cpu, ns, nr []int64
	queue       []refEvent
	messages    []refMessage
	rq          [][]int // posted receives
	uq          [][]int // unexpected messages
	ready       [][]int
	seq         int64
	left        int
}

func (e *reference) push(ev refEvent) {
	if ev.seq == 0 {
		e.seq++
		ev.seq = e.seq
	}
	e.queue = append(e.queue, ev)
}

func (e *reference) pop() refEvent {
	least := 0
	for i, ev := range e.queue {
		if l := e.queue[least]; ev.at < l.at || ev.at == l.at && ev.seq < l.seq {
			least = i
		}
	}
	ev := e.queue[least]
	e.queue = slices.Delete(e.queue, least, least+1)
	return ev
}

// run returns the finish times and whether everything finished.
func (e *reference) run() ([]int64, bool) {
	n := len(e.ops)
	e.cpu, e.ns, e.nr = make([]int64, n), make([]int64, n), make([]int64, n)
	e.rq, e.uq, e.ready = make([][]int, n), make([][]int, n), make([][]int, n)
	for r := range e.ops {
		for i := range e.ops[r] {
			e.left++
			if e.ops[r][i].unmet == 0 {
				e.ready[r] = append(e.ready[r], i)
			}
		}
	}
	e.release()
	for len(e.queue) > 0 {
		ev := e.pop()
		switch {
		case ev.message:
			e.arrive(ev)
		case e.ops[ev.rank][ev.op].kind == graph.Compute:
			e.calc(ev)
		case e.ops[ev.rank][ev.op].kind == graph.Send:
			e.send(ev)
		default:
			e.recv(ev)
		}
		e.release()
	}
	return e.cpu, e.left == 0
}

func (e *reference) release() {
	for r := range e.ready {
		order := func(i int) int {
			return map[graph.Kind]int{graph.Send: 0, graph.Recv: 1, graph.Compute: 2}[e.ops[r][i].kind]
		}
		slices.SortStableFunc(e.ready[r], func(a, b int) int { return order(a) - order(b) })
		for _, i := range e.ready[r] {
			at := e.cpu[r]
			if e.ops[r][i].kind == graph.Send {
				at = max(at, e.ns[r])
			}
			e.push(refEvent{at: at, rank: r, op: i})
		}
		e.ready[r] = nil
	}
}

func (e *reference) done(r, i int) {
	e.left--
	for _, d := range e.ops[r][i].dependents {
		if e.ops[r][d].unmet--; e.ops[r][d].unmet == 0 {
			e.ready[r] = append(e.ready[r], d)
		}
	}
}

func (e *reference) calc(ev refEvent) {
	if e.cpu[ev.rank] > ev.at {
		ev.at = e.cpu[ev.rank]
		e.push(ev)
		return
	}
	e.cpu[ev.rank] = ev.at + e.ops[ev.rank][ev.op].size
	e.done(ev.rank, ev.op)
}

func (e *reference) send(ev refEvent) {
	r, o := ev.rank, &e.ops[ev.rank][ev.op]
	if busy := max(e.cpu[r], e.ns[r]); busy > ev.at {
		ev.at = busy
		e.push(ev)
		return
	}
	m1 := max(o.size-1, 0)
	e.cpu[r], e.ns[r] = ev.at+e.p.o+m1*e.p.O, ev.at+e.p.g+m1*e.p.G
	e.messages = append(e.messages, refMessage{r, o.tag, ev.op})
	e.push(refEvent{at: ev.at + e.p.o + e.p.L, message: true, rank: o.peer, op: len(e.messages) - 1})
	if o.size <= e.p.S {
		e.done(r, ev.op)
	}
}

func (e *reference) fits(recv *refOp, m refMessage) bool {
	return (recv.peer < 0 || recv.peer == m.src) && (recv.tag < 0 || recv.tag == m.tag)
}

func (e *reference) recv(ev refEvent) {
	r := ev.rank
	for k, id := range e.uq[r] {
		if e.fits(&e.ops[r][ev.op], e.messages[id]) {
			e.uq[r] = slices.Delete(e.uq[r], k, k+1)
			e.matched(ev.at, r, ev.op, e.messages[id])
			return
		}
	}
	e.rq[r] = append(e.rq[r], ev.op)
}

func (e *reference) arrive(ev refEvent) {
	r, m := ev.rank, e.messages[ev.op]
	if busy := max(e.cpu[r], e.nr[r]); busy > ev.at {
		ev.at = busy
		e.push(ev)
		return
	}
	m1 := max(e.ops[m.src][m.op].size-1, 0)
	e.cpu[r], e.nr[r] = ev.at+e.p.o+max(m1*e.p.O, m1*e.p.G), ev.at+e.p.g+m1*e.p.G
	for k, i := range e.rq[r] {
		if e.fits(&e.ops[r][i], m) {
			e.rq[r] = slices.Delete(e.rq[r], k, k+1)
			e.matched(ev.at, r, i, m)
			return
		}
	}
	e.uq[r] = append(e.uq[r], ev.op)
}

func (e *reference) matched(at int64, r, recv int, m refMessage) {
	e.done(r, recv)
	if e.ops[m.src][m.op].size > e.p.S {
		e.cpu[m.src], e.ns[m.src] = max(e.cpu[m.src], at), max(e.ns[m.src], at)
		e.done(m.src, m.op)
	}
}

// drawGraph draws a flat program for each rank: messages and computations in random
// order with dependencies on earlier operations, some receives from any rank or with
// any tag.
func drawGraph(t *rapid.T, calcs, wild bool) (ops [][]refOp, b *builder) {
	n := rapid.IntRange(2, 5).Draw(t, "ranks")
	ops = make([][]refOp, n)
	small := func(hi int, name string) int { return rapid.IntRange(0, hi).Draw(t, name) }
	add := func(r int, o refOp) {
		for i := range ops[r] {
			if small(7, "depends") == 0 {
				ops[r][i].dependents = append(ops[r][i].dependents, len(ops[r]))
				o.unmet++
			}
		}
		ops[r] = append(ops[r], o)
	}
	for range rapid.IntRange(1, 24).Draw(t, "steps") {
		src, dst, tag := small(n-1, "source"), small(n-1, "destination"), small(2, "tag")
		size := rapid.SampledFrom([]int64{0, 1, 8, 100, 1000}).Draw(t, "size")
		if calcs && small(2, "kind") == 0 {
			add(src, refOp{kind: graph.Compute, size: rapid.SampledFrom([]int64{0, 100, 5000}).Draw(t, "duration")})
			continue
		}
		if src == dst {
			continue // a rank's own messages have parameters of their own
		}
		add(src, refOp{kind: graph.Send, peer: dst, tag: tag, size: size})
		r := refOp{kind: graph.Recv, peer: src, tag: tag, size: size}
		if wild && small(4, "any source") == 0 {
			r.peer = -1
		}
		if wild && small(4, "any tag") == 0 {
			r.tag = -1
		}
		add(dst, r)
	}
	return ops, buildGraph(ops)
}

func buildGraph(ops [][]refOp) *builder {
	b := newBuilder(len(ops))
	for r := range ops {
		p := b.rank(r, true)
		after := make([][]int32, len(ops[r]))
		for i, o := range ops[r] {
			for _, d := range o.dependents {
				after[d] = append(after[d], int32(i))
			}
		}
		for i, o := range ops[r] {
			switch o.kind {
			case graph.Send:
				p.send(o.size, o.peer, o.tag, after[i]...)
			case graph.Recv:
				p.recv(o.size, o.peer, o.tag, after[i]...)
			default:
				p.calc(o.size*ns, after[i]...)
			}
		}
		p.Done()
	}
	return b
}

func drawParameters(t *rapid.T) parameters {
	pick := func(name string, from ...int64) int64 { return rapid.SampledFrom(from).Draw(t, name) }
	return parameters{L: pick("L", 0, 1000, 2500), o: pick("o", 0, 100, 1500), g: pick("g", 0, 100, 1000, 5000),
		G: pick("G", 0, 1, 6), O: pick("O", 0, 1, 7), S: pick("S", 0, 99, 1<<40)}
}

// The walk and the plain statement of the rules agree on every rank of random graphs.
func TestRandomGraphs(t *testing.T) {
	finished := 0
	rapid.Check(t, func(t *rapid.T) {
		ops, b := drawGraph(t, true, true)
		p := drawParameters(t)
		g := b.finish(t)
		want, ok := (&reference{p: p, ops: ops}).run()
		m, _ := Find("loggp")
		r, err := m.Run(t.Context(), Job{Graph: g, Network: p.network(), LogGOPSim: true})
		if err != nil {
			t.Fatal(err)
		}
		if r.Verdict.OK() != ok {
			t.Fatalf("walk %v, reference finished %v", r.Verdict.Outcome, ok)
		}
		if !ok {
			return
		}
		finished++
		if got := nanoseconds(t, r); !slices.Equal(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
	})
	if finished < 20 {
		t.Errorf("only %d graphs finished", finished)
	}
}

// A run that ends leaves nothing behind: no messages, no waiters, no account of what
// might end early.
func TestNothingLeft(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		_, b := drawGraph(t, true, true)
		job := Job{Graph: b.finish(t), Network: drawParameters(t).network()}
		w, err := newLogGP(&job, false)
		if err != nil {
			t.Fatal(err)
		}
		if r := w.run(t.Context(), "loggp"); !r.Verdict.OK() {
			return
		}
		for i := range w.ranks {
			p := &w.ranks[i].port
			if p.early != 0 || len(p.lines[sends])+len(p.lines[messages])+len(p.lines[calcs]) > 0 || !w.ranks[i].match.Idle() {
				t.Fatalf("rank %d: %+v", i, p)
			}
		}
		free := 0
		for m := w.freeMsg; m >= 0; m = w.messages[m].next {
			free++
		}
		if free != len(w.messages) {
			t.Fatalf("%d of %d messages are free", free, len(w.messages))
		}
	})
}
