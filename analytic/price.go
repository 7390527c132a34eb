package analytic

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"hybrid/graph"
	"hybrid/internal/diag"
	"hybrid/internal/units"
	"hybrid/machines"
)

// PricerOptions says what the work itself does not.
type PricerOptions struct {
	// RanksPerDomain is the number of ranks that share a memory domain where an
	// operation does not say how many cores do; 0 means 1.
	RanksPerDomain int
}

// NewPricer returns the pricer of a machine. A rank is one core of it, or one
// accelerator where the machine's peak and bandwidth are those of accelerators.
func NewPricer(m *machines.Machine, opt PricerOptions) graph.Pricer {
	return &pricer{m, max(opt.RanksPerDomain, 1)}
}

type pricer struct {
	m       *machines.Machine
	sharing int
}

// Price returns the cost of one unit of work:
//
//	Fixed     the time itself
//	Roofline  max(flops / peak, bytes / bandwidth): Williams, Waterman, Patterson, CACM 52, 2009
//	ECM       max(TOL, TnOL + TL1L2 + TL2L3 + TL3Mem, n * TL3Mem) / clock a unit: Stengel,
//	          Treibig, Hager, Wellein, ICS 2015; the last term is the saturation of the memory
//	          interface by n cores
//	Traffic   bytes / bandwidth
//
// where bandwidth is the rank's equal share of what the n ranks of its memory domain
// reach together. The error says what the machine file lacks.
func (q *pricer) Price(p *graph.Program, w *graph.Work) (graph.Cost, error) {
	switch w.Model {
	case graph.Fixed:
		return graph.Cost{Terms: []graph.Term{{V: w.Time, Num: 1, Den: 1}}}, nil
	case graph.Roofline:
		return q.roofline(p, w)
	case graph.ECM:
		return q.ecm(p, w)
	case graph.Traffic:
		t, err := q.traffic(p, w)
		if err != nil {
			return graph.Cost{}, err
		}
		return graph.Cost{Terms: []graph.Term{t}, Memory: bytesOf(w)}, nil
	}
	return graph.Cost{}, fmt.Errorf("analytic: unknown work model %d", w.Model)
}

func bytesOf(w *graph.Work) graph.Term { return graph.Term{V: w.Bytes, Num: 1, Den: 1} }

func (q *pricer) roofline(p *graph.Program, w *graph.Work) (graph.Cost, error) {
	precision := w.Precision
	if precision == "" {
		precision = "dp"
	}
	cost := graph.Cost{Memory: bytesOf(w)}
	if n, known := p.Const(w.Flops); !known || n != 0 {
		peak, ok := q.m.PeakFlops(precision, 1)
		if !ok || peak.Num <= 0 {
			return graph.Cost{}, q.noPeak(precision)
		}
		t, err := perSecond(w.Flops, peak)
		if err != nil {
			return graph.Cost{}, err
		}
		cost.Terms = append(cost.Terms, t)
	}
	if n, known := p.Const(w.Bytes); known && n == 0 {
		return cost, nil
	}
	t, err := q.traffic(p, w)
	if err != nil {
		return graph.Cost{}, err
	}
	cost.Terms = append(cost.Terms, t)
	return cost, nil
}

func (q *pricer) noPeak(precision string) error {
	have := q.m.Precisions()
	if len(have) == 0 {
		return fmt.Errorf("machine %s has no peak rates, which a roofline estimate needs", q.m.Name)
	}
	return fmt.Errorf("machine %s has no peak rate for precision %q%s (it has %s)",
		q.m.Name, precision, diag.DidYouMean(precision, have), strings.Join(have, ", "))
}

// traffic returns the time of the bytes at the rank's share of the memory bandwidth.
func (q *pricer) traffic(p *graph.Program, w *graph.Work) (graph.Term, error) {
	n, known := p.Const(w.Cores)
	if !known {
		return graph.Term{}, errors.New("the number of cores that share the memory must be the same for all ranks and iterations")
	}
	if n <= 0 {
		n = int64(q.sharing)
	}
	if n > 1<<30 {
		return graph.Term{}, fmt.Errorf("%d cores cannot share a memory domain", n)
	}
	total, ok := q.m.MemoryBandwidth(int(n))
	if !ok || total.Num <= 0 {
		return graph.Term{}, fmt.Errorf("machine %s has no memory bandwidth, which this estimate needs", q.m.Name)
	}
	share := new(big.Rat).Mul(bigOf(total), q.utilisation(int(n)))
	share.Mul(share, big.NewRat(1, n))
	return picoseconds(w.Bytes, share.Inv(share))
}

// utilisation is the part of a memory domain's bandwidth that n of its cores reach
// together, from the first measured curve; 1 where none is measured or the cores span
// several domains.
func (q *pricer) utilisation(n int) *big.Rat {
	for _, kernel := range []string{"triad", "copy", "daxpy", "update", "load"} {
		at, ok := q.m.StreamBandwidth(kernel, n)
		if !ok || n >= q.m.CoresPerDomain {
			continue
		}
		best := at
		for c := 1; c <= q.m.CoresPerDomain; c++ {
			if b, ok := q.m.StreamBandwidth(kernel, c); ok && b.Cmp(best) > 0 {
				best = b
			}
		}
		if best.Num > 0 && at.Num > 0 {
			return new(big.Rat).Quo(bigOf(at), bigOf(best))
		}
	}
	return big.NewRat(1, 1)
}

// ecm prices recorded or inline contributions.
func (q *pricer) ecm(p *graph.Program, w *graph.Work) (graph.Cost, error) {
	c, per, err := q.contributions(w)
	if err != nil {
		return graph.Cost{}, err
	}
	if q.m.Clock.Num <= 0 {
		return graph.Cost{}, fmt.Errorf("machine %s has no clock frequency, which an ECM estimate needs", q.m.Name)
	}
	inCore, transfers := bigOf(c.TOL), new(big.Rat)
	for _, t := range []units.Rat{c.TnOL, c.TL1L2, c.TL2L3, c.TL3Mem} {
		transfers.Add(transfers, bigOf(t))
	}
	if transfers.Cmp(inCore) > 0 {
		inCore = transfers
	}
	one, err := q.cycles(w.Units, inCore, per)
	if err != nil {
		return graph.Cost{}, err
	}
	cost := graph.Cost{Terms: []graph.Term{one}}
	if c.TL3Mem.Num == 0 {
		return cost, nil
	}
	sat, err := q.saturated(p, w, bigOf(c.TL3Mem), per)
	if err != nil {
		return graph.Cost{}, err
	}
	cost.Terms = append(cost.Terms, sat)
	return cost, nil
}

// saturated is the time of n cores that wait for the memory interface in turn.
func (q *pricer) saturated(p *graph.Program, w *graph.Work, mem *big.Rat, per int64) (graph.Term, error) {
	if n, known := p.Const(w.Cores); known {
		if n <= 0 {
			n = int64(q.sharing)
		}
		return q.cycles(w.Units, new(big.Rat).Mul(mem, new(big.Rat).SetInt64(n)), per)
	}
	return q.cycles(product(p, w.Units, w.Cores, int64(q.sharing)), mem, per)
}

// contributions returns the terms of the work, and how many units of work they are
// for.
func (q *pricer) contributions(w *graph.Work) (c graph.Contributions, per int64, err error) {
	if w.ECM != nil {
		if w.Per != "" && w.Per != "CL" && w.Per != "it" {
			return c, 0, fmt.Errorf("ECM contributions per %q; they are per CL or per it", w.Per)
		}
		// The work counts the same units that the contributions are for.
		return *w.ECM, 1, nil
	}
	r, ok := q.m.ECM(w.Label)
	if !ok {
		return c, 0, q.unknownLabel(w.Label)
	}
	c = graph.Contributions{TOL: r.TOL, TnOL: r.TnOL, TL1L2: r.TL1L2, TL2L3: r.TL2L3, TL3Mem: r.TL3Mem}
	if w.Per == "CL" {
		return c, 1, nil
	}
	if r.ElementsPerCL <= 0 {
		return c, 0, fmt.Errorf("machine %s does not say how many elements of kernel %s a cache line holds", q.m.Name, w.Label)
	}
	return c, r.ElementsPerCL, nil
}

func (q *pricer) unknownLabel(label string) error {
	have := q.m.ECMLabels()
	if len(have) == 0 {
		return fmt.Errorf("machine %s has no recorded ECM kernels, so %q is unknown", q.m.Name, label)
	}
	return fmt.Errorf("machine %s has no ECM record of kernel %q%s (recorded: %s)",
		q.m.Name, label, diag.DidYouMean(strings.ToUpper(label), have), strings.Join(have, ", "))
}

var errRange = errors.New("the estimate leaves the range of 64-bit numbers")

// cycles returns the time of v units of work where per units take c cycles.
func (q *pricer) cycles(v graph.Value, c *big.Rat, per int64) (graph.Term, error) {
	hz := new(big.Rat).Mul(bigOf(q.m.Clock), new(big.Rat).SetInt64(per))
	return picoseconds(v, new(big.Rat).Quo(c, hz))
}

// perSecond returns the time of v things at a rate a second.
func perSecond(v graph.Value, rate units.Rat) (graph.Term, error) {
	return picoseconds(v, new(big.Rat).Inv(bigOf(rate)))
}

// picoseconds returns v times a number of seconds as a term.
func picoseconds(v graph.Value, seconds *big.Rat) (graph.Term, error) {
	r, ok := units.FromBig(new(big.Rat).Mul(seconds, new(big.Rat).SetInt64(1e12)))
	if !ok || r.Num < 0 {
		return graph.Term{}, errRange
	}
	return graph.Term{V: v, Num: r.Num, Den: r.Den}, nil
}

// bigOf converts a rational; an absent one is zero.
func bigOf(r units.Rat) *big.Rat {
	if r.Den == 0 {
		return new(big.Rat)
	}
	return big.NewRat(r.Num, r.Den)
}

// product returns work times cores for operands that are not both constants: a
// column where both are known for every rank, else computed at the cursor. Zero or
// negative cores count as sharing.
func product(p *graph.Program, work, cores graph.Value, sharing int64) graph.Value {
	if work.IsComputed() || cores.IsComputed() {
		return p.AddExpr(&productExpr{p, work, cores, sharing})
	}
	col := make([]int64, len(p.Ranks))
	for slot := range col {
		w, _ := p.Known(work, int32(slot))
		n, _ := p.Known(cores, int32(slot))
		col[slot] = mulCores(w, n, sharing)
	}
	return p.AddColumn(col)
}

func mulCores(work, cores, sharing int64) int64 {
	if cores <= 0 {
		cores = sharing
	}
	return units.MulDiv(max(work, 0), cores, 1)
}

// productExpr is work * cores where one of them is computed.
type productExpr struct {
	p           *graph.Program
	work, cores graph.Value
	sharing     int64
}

// Eval implements [graph.Expr].
func (e *productExpr) Eval(env *graph.Env) (int64, error) {
	slot := e.slot(env.Rank)
	w, err := e.p.Eval(e.work, slot, env)
	if err != nil {
		return 0, err
	}
	n, err := e.p.Eval(e.cores, slot, env)
	if err != nil {
		return 0, err
	}
	return mulCores(w, n, e.sharing), nil
}

// slot finds the rank among those of the program, which are in rank order.
func (e *productExpr) slot(rank int32) int32 {
	i, _ := slices.BinarySearch(e.p.Ranks, rank)
	return int32(i)
}

// String implements [graph.Expr].
func (e *productExpr) String() string {
	return "work " + e.p.ValueText(e.work) + " * cores " + e.p.ValueText(e.cores)
}
