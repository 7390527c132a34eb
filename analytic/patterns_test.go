package analytic

import (
	"math/bits"

	"hybrid/graph"
)

// pattern is a communication pattern of LogGOPSim's generator, on P ranks with m
// bytes: it writes the operations of rank v, all with tag 0.
type pattern struct {
	name  string
	write func(p *program, v, P int, m int64)
}

func patterns() []pattern {
	return []pattern{
		{"binomialtreebcast", binomialBroadcast},
		{"binomialtreereduce", binomialReduce},
		{"binarytreebcast", binaryBroadcast},
		{"dissemination", dissemination},
		{"linbarrier", linearBarrier},
		{"gather", func(p *program, v, P int, m int64) {
			star(v, P, func(i int) { p.recv(m, i, 0) }, func() { p.send(m, 0, 0) })
		}},
		{"scatter", func(p *program, v, P int, m int64) {
			star(v, P, func(i int) { p.send(m, i, 0) }, func() { p.recv(m, 0, 0) })
		}},
		{"linear_alltoall", linearAllToAll},
		{"allreduce_ring", ringAllReduce},
		{"allreduce_recdoub", halvingDoubling},
		{"pipelinedring", pipelinedRing},
		{"doublering", doubleRing},
	}
}

// patternGraph generates a pattern.
func patternGraph(t fataler, name string, ranks int, bytes int64) *graph.Graph {
	for _, q := range patterns() {
		if q.name != name {
			continue
		}
		b := newBuilder(ranks)
		for v := range ranks {
			p := b.rank(v, true)
			q.write(p, v, ranks, bytes)
			p.Done()
		}
		return b.finish(t)
	}
	t.Fatalf("no pattern %q", name)
	return nil
}

// Round r of the binomial tree joins v < 2^r with v + 2^r.
func binomialBroadcast(p *program, v, P int, m int64) {
	first, received := 0, int32(-1)
	if v > 0 {
		first = bits.Len(uint(v))
		received = p.recv(m, v-1<<(first-1), 0)
	}
	for r := first; v+1<<r < P; r++ {
		p.send(m, v+1<<r, 0, received)
	}
}

// The send to the parent stands before the receives that it waits for.
func binomialReduce(p *program, v, P int, m int64) {
	first := bits.Len(uint(v))
	var children []int
	for r := first; v+1<<r < P; r++ {
		children = append(children, v+1<<r)
	}
	if v > 0 {
		var after []int32
		for i := range children {
			after = append(after, int32(i+1))
		}
		p.send(m, v-1<<(first-1), 0, after...)
	}
	for _, c := range children {
		p.recv(m, c, 0)
	}
}

func binaryBroadcast(p *program, v, P int, m int64) {
	received := int32(-1)
	if v > 0 {
		received = p.recv(m, (v-1)/2, 0)
	}
	for c := 2*v + 1; c <= 2*v+2 && c < P; c++ {
		p.send(m, c, 0, received)
	}
}

func dissemination(p *program, v, P int, m int64) {
	received := int32(-1)
	for d := 1; d < P; d *= 2 {
		p.send(m, (v+d)%P, 0, received)
		received = p.recv(m, (v-d+P)%P, 0)
	}
}

func linearBarrier(p *program, v, P int, _ int64) {
	if v > 0 {
		p.send(1, 0, 0)
		p.recv(1, 0, 0)
		return
	}
	var receives []int32
	for i := 1; i < P; i++ {
		receives = append(receives, int32(2*i-1))
	}
	c := p.calc(0, receives...)
	for i := 1; i < P; i++ {
		p.recv(1, i, 0)
		p.send(1, i, 0, c)
	}
}

func star(v, P int, root func(i int), leaf func()) {
	if v > 0 {
		leaf()
		return
	}
	for i := 1; i < P; i++ {
		root(i)
	}
}

func linearAllToAll(p *program, v, P int, m int64) {
	for s := 1; s < P; s++ {
		p.send(m, (v+s)%P, 0)
		p.recv(m, (v-s+P)%P, 0)
	}
}

func ringAllReduce(p *program, v, P int, m int64) {
	received := int32(-1)
	for range 2 * (P - 1) {
		p.send(m/int64(P), (v+1)%P, 0, received)
		received = p.recv(m/int64(P), (v-1+P)%P, 0)
	}
}

func halvingDoubling(p *program, v, P int, m int64) {
	received := int32(-1)
	exchange := func(d int, size int64) {
		p.send(size, v^d, 0, received)
		received = p.recv(size, v^d, 0)
	}
	for d := 1; d < P; d *= 2 {
		exchange(d, m/int64(2*d))
	}
	for d := P / 2; d >= 1; d /= 2 {
		exchange(d, m/int64(2*d))
	}
}

func pipelinedRing(p *program, v, P int, m int64) {
	const segment = 65536
	for ; m > 0; m -= segment {
		received := int32(-1)
		if v > 0 {
			received = p.recv(min(m, segment), v-1, 0)
		}
		if v < P-1 {
			p.send(min(m, segment), v+1, 0, received)
		}
	}
}

func doubleRing(p *program, v, P int, m int64) {
	for _, d := range []int{1, P - 1} {
		next := int32(-1)
		if v > 0 {
			next = int32(p.Len()) + 1
		}
		p.send(m, (v+d)%P, 0, next)
		p.recv(m, (v-d+P)%P, 0)
	}
}
