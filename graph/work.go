package graph

import (
	"hybrid/internal/units"
)

// WorkModel says how the operands of a compute operation become time.
type WorkModel uint8

// Work models.
const (
	// Fixed work takes Time picoseconds.
	Fixed WorkModel = iota
	// Roofline work is Flops operations and Bytes of memory traffic.
	Roofline
	// ECM work is Units loop iterations (or cache lines, see Work.Per) of a kernel
	// given by label or by contributions.
	ECM
	// Traffic is a memory operation of Bytes at the memory's bandwidth.
	Traffic
)

// Contributions are the terms of the execution-cache-memory model (Stengel,
// Treibig, Hager, Wellein, ICS 2015) in cycles for a unit of work.
type Contributions struct {
	TOL, TnOL, TL1L2, TL2L3, TL3Mem units.Rat
}

// Work is what a compute, load or store operation does.
type Work struct {
	Model WorkModel
	// Time is in picoseconds, Flops in operations, Bytes in bytes, Units in
	// iterations or cache lines, Cores the number of cores that share the memory
	// domain (0: as the placement has it).
	Time, Flops, Bytes, Units, Cores Value
	// Precision of the arithmetic: dp, sp, hp, ...; "" means dp.
	Precision string
	// Label names a recorded ECM kernel of the machine.
	Label string
	// ECM holds inline contributions, and Per what they are for: "CL" (a cache line
	// of results, the default) or "it" (an iteration).
	ECM *Contributions
	Per string
	// Injections disturb the operation.
	Injections []Injection
}

// Injection adds a disturbance to a compute operation: a delay at some iteration,
// or noise.
type Injection interface {
	// Extra returns the picoseconds to add to an instance whose own duration is base.
	Extra(env *Env, base int64) (int64, error)
	// String is the injection as it was written.
	String() string
}

// Term is one bound on a duration: V*Num/Den picoseconds, rounded to the nearest.
type Term struct {
	V        Value
	Num, Den int64
}

// Cost is what a [Work] costs on a machine. The core time is the largest of its
// terms. Memory is the traffic with the memory domain, in bytes.
type Cost struct {
	Terms  []Term
	Memory Term
}

// Pricer turns work into cost; package analytic provides one for a machine file.
type Pricer interface {
	Price(p *Program, w *Work) (Cost, error)
}

// Price fills the costs of every program of the graph. It reports the site of the
// first operation of each work that cannot be priced, through the callback.
func Price(g *Graph, pricer Pricer, fail func(site int32, err error)) {
	for _, p := range g.Programs {
		p.Costs = make([]Cost, len(p.Works))
		sites := make([]int32, len(p.Works))
		for i := len(p.Ops) - 1; i >= 0; i-- {
			if k := p.Ops[i].Kind; k == Compute || k == Load || k == Store {
				sites[p.Ops[i].Arg] = p.Ops[i].Site
			}
		}
		for i := range p.Works {
			c, err := pricer.Price(p, &p.Works[i])
			if err != nil {
				fail(sites[i], err)
			}
			p.Costs[i] = c
		}
	}
}

// Duration returns the core time in picoseconds of one instance of the work with
// the given index, injections included.
func (p *Program) Duration(work, slot int32, env *Env) (int64, error) {
	var d int64
	for i := range p.Costs[work].Terms {
		t := &p.Costs[work].Terms[i]
		n, err := p.Eval(t.V, slot, env)
		if err != nil {
			return 0, err
		}
		if t.Num != t.Den {
			n = units.MulDiv(n, t.Num, t.Den)
		}
		d = max(d, n)
	}
	base := d
	for _, in := range p.Works[work].Injections {
		x, err := in.Extra(env, base)
		if err != nil {
			return 0, err
		}
		d += x
	}
	return max(d, 0), nil
}
