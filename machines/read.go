package machines

import (
	"math"
	"slices"
	"strings"

	"hybrid/internal/diag"
	"hybrid/internal/units"
	"hybrid/internal/yamldoc"
)

// extension is the section that kerncraft's format does not have.
type extension struct {
	Summary         string            `yaml:"summary" doc:"One sentence that hybrid list machines prints."`
	Source          string            `yaml:"source" doc:"Where each figure comes from."`
	ECM             map[string]ecmDoc `yaml:"ecm" doc:"Recorded ECM contributions, by kernel."`
	MemoryBandwidth *units.Rat        `yaml:"memory_bandwidth" unit:"rate" doc:"Saturated bandwidth of one memory domain; default from the benchmark measurements."`
	GPU             *gpuDoc           `yaml:"gpu" doc:"Accelerators: a core of this file is one of them, and a rank too."`
}

type ecmDoc struct {
	TOL    units.Rat `yaml:"TOL,required" unit:"cy/CL" range:"0cy.." doc:"Core time that overlaps with data transfers."`
	TnOL   units.Rat `yaml:"TnOL,required" unit:"cy/CL" range:"0cy.." doc:"Core time that does not overlap, mainly loads."`
	TL1L2  units.Rat `yaml:"TL1L2,required" unit:"cy/CL" range:"0cy.." doc:"Transfers between L1 and L2."`
	TL2L3  units.Rat `yaml:"TL2L3,required" unit:"cy/CL" range:"0cy.." doc:"Transfers between L2 and L3."`
	TL3Mem units.Rat `yaml:"TL3Mem,required" unit:"cy/CL" range:"0cy.." doc:"Transfers between L3 and memory."`
	PerCL  int64     `yaml:"elements_per_cl" default:"8" range:"1..1024" doc:"Results in a cache line."`
	Source string    `yaml:"source" doc:"Where the record comes from and what it is valid for."`
}

type gpuDoc struct {
	Peak            map[string]units.Rat `yaml:"peak,required" unit:"flops" doc:"Peak rate of one accelerator by precision: dp, sp, tf32, hp, bf16, fp8, int8."`
	MemoryBandwidth units.Rat            `yaml:"memory_bandwidth,required" unit:"rate" doc:"Memory bandwidth of one accelerator."`
}

// reader turns a document into a Machine.
type reader struct {
	list *diag.List
	root *yamldoc.Node
}

func (r *reader) read(m *Machine) {
	vocabulary().checkKeys(r.root.Without("hybrid"), "", r.list)
	if r.root.Kind != yamldoc.Mapping {
		return
	}
	m.Clock = r.quantity("clock", units.Frequency, true)
	m.Sockets = r.count("sockets", 1)
	m.CoresPerSocket = r.count("cores per socket", 0)
	m.ThreadsPerCore = r.count("threads per core", 1)
	m.DomainsPerSocket = r.count("NUMA domains per socket", 1)
	m.CoresPerDomain = m.CoresPerSocket / max(1, m.DomainsPerSocket)
	if r.root.Get("cores per NUMA domain") != nil {
		m.CoresPerDomain = r.count("cores per NUMA domain", 0)
	}
	m.CachelineBytes = r.cacheline()
	r.checkCores(m)
	r.flops(m)
	r.caches(m)
	r.measurements(m)
	r.extension(m)
	if m.domainBW.IsZero() && len(m.streams) == 0 {
		r.list.Warnf("W831", r.root.Pos, "no memory bandwidth: neither benchmarks at level MEM nor hybrid.memory_bandwidth")
	}
}

// scalar returns the text of a figure; ok is false where there is none, which is
// reported if must is set.
func (r *reader) scalar(key string, must bool) (n *yamldoc.Node, ok bool) {
	n = r.root.Get(key)
	switch {
	case n == nil || n.Kind == yamldoc.Null:
		if must {
			r.list.Errorf("E805", r.root.Pos, "%q is missing in the machine file", key)
		}
		return n, false
	case required(n):
		if must {
			r.list.Errorf("E805", n.Pos, "%s still has to be filled in", key)
		} else {
			r.list.Warnf("W833", n.Pos, "%s still has to be filled in", key)
		}
		return n, false
	case n.Kind != yamldoc.Scalar:
		r.list.Errorf("E806", n.Pos, "%s is %s; a single value is expected", key, n.Kind)
		return n, false
	}
	return n, true
}

// quantity reads a figure with a unit, positive.
func (r *reader) quantity(key string, dim units.Dimension, must bool) units.Rat {
	n, ok := r.scalar(key, must)
	if !ok {
		return units.Int(0)
	}
	v, err := units.ParseAs(n.Text, dim)
	if err != nil {
		r.list.Errorf("E807", n.Pos, "%s: %v", key, err)
		return units.Int(0)
	}
	if v.Num <= 0 {
		r.list.Errorf("E808", n.Pos, "%s is %s; it must be positive", key, n.Text)
	}
	return v
}

// count reads a whole number from 1; fallback 0 means that the key is required.
func (r *reader) count(key string, fallback int) int {
	n, ok := r.scalar(key, fallback == 0)
	if !ok {
		return fallback
	}
	v, err := units.ParseAs(n.Text, units.Plain)
	if err != nil || v.Den != 1 {
		r.list.Errorf("E806", n.Pos, "%s is %q; a whole number is expected", key, n.Text)
		return fallback
	}
	if v.Num < 1 || v.Num > 1<<20 {
		r.list.Errorf("E808", n.Pos, "%s is %s; it must be from 1 to %d", key, n.Text, 1<<20)
		return fallback
	}
	return int(v.Num)
}

func (r *reader) cacheline() int64 {
	v := r.quantity("cacheline size", units.Size, false)
	if v.IsZero() {
		return 64
	}
	return max(1, v.Num/v.Den)
}

func (r *reader) checkCores(m *Machine) {
	if r.list.HasErrors() {
		return
	}
	if m.DomainsPerSocket*m.CoresPerDomain != m.CoresPerSocket {
		pos := r.root.Get("cores per socket").Pos
		r.list.Errorf("E830", pos, "a socket has %d cores, but %d memory domains of %d cores", m.CoresPerSocket, m.DomainsPerSocket, m.CoresPerDomain)
	}
}

// flops reads the flop per cycle of each precision.
func (r *reader) flops(m *Machine) {
	m.perCycle = map[string]units.Rat{}
	section := r.root.Get("FLOPs per cycle")
	for _, p := range section.Keys() {
		n := section.At(p, "total")
		switch {
		case n == nil:
		case required(n):
			r.list.Warnf("W833", n.Pos, "FLOPs per cycle.%s.total still has to be filled in", p)
		default:
			v, err := units.ParseAs(n.Text, units.Plain)
			if err != nil || v.Num <= 0 {
				r.list.Errorf("E806", n.Pos, "FLOPs per cycle.%s.total is %q; a positive number is expected", p, n.Text)
				continue
			}
			m.perCycle[strings.ToLower(p)] = v
		}
	}
}

func (r *reader) caches(m *Machine) {
	levels := r.root.Get("memory hierarchy")
	if levels == nil || levels.Kind != yamldoc.Sequence {
		return
	}
	for _, l := range levels.Items {
		name, size := l.Get("level"), l.Get("size per group")
		if name == nil || size == nil || size.Kind != yamldoc.Scalar || required(size) {
			continue
		}
		v, err := units.ParseAs(size.Text, units.Size)
		if err != nil {
			r.list.Errorf("E807", size.Pos, "size per group of %s: %v", name.Text, err)
			continue
		}
		c := Cache{Level: name.Text, Bytes: v.Num / v.Den, Cores: 1}
		if g := l.Get("cores per group"); g != nil {
			// kerncraft's generator writes some of these counts as 1.0.
			if n, err := units.ParseAs(g.Text, units.Plain); err == nil && n.Num > 0 && n.Num/n.Den < math.MaxInt32 {
				c.Cores = max(1, int(n.Num/n.Den))
			}
		}
		m.Caches = append(m.Caches, c)
	}
}

// measurements reads the memory bandwidths with one thread a core.
func (r *reader) measurements(m *Machine) {
	results := r.root.At("benchmarks", "measurements", "MEM", "1", "results")
	if results == nil {
		return
	}
	for _, kernel := range results.Items {
		if kernel.Kind != yamldoc.Sequence || len(kernel.Items) == 0 {
			r.list.Errorf("E806", kernel.Pos, "the bandwidths of %s are %s; a list by number of cores is expected", kernel.Key, kernel.Kind)
			continue
		}
		s := stream{kernel: kernel.Key, traffic: r.traffic(kernel.Key)}
		for _, e := range kernel.Items {
			s.bandwidth = append(s.bandwidth, r.bandwidth(e, kernel.Key))
		}
		if m.CoresPerSocket > 0 && len(s.bandwidth) > m.CoresPerSocket {
			r.list.Warnf("W832", kernel.Pos, "bandwidths of %s for up to %d cores, but a socket has %d", kernel.Key, len(s.bandwidth), m.CoresPerSocket)
		}
		m.streams = append(m.streams, s)
	}
}

// bandwidth reads a rate into bytes a second.
func (r *reader) bandwidth(n *yamldoc.Node, kernel string) units.Rat {
	perByte, err := units.ParseAs(n.Text, units.PerByte)
	if n.Kind != yamldoc.Scalar || err != nil || perByte.Num <= 0 {
		if err == nil {
			r.list.Errorf("E806", n.Pos, "bandwidth of %s is not a rate such as 80 GB/s", kernel)
		} else {
			r.list.Errorf("E807", n.Pos, "bandwidth of %s: %v", kernel, err)
		}
		return units.Int(0)
	}
	return perSecond(perByte)
}

// perSecond turns picoseconds a byte into bytes a second.
func perSecond(perByte units.Rat) units.Rat {
	v, ok := perByte.Inv().Mul(units.Int(1_000_000_000_000))
	if !ok {
		return units.Int(0)
	}
	return v
}

// traffic is the memory traffic of a benchmark kernel over the bytes it counts: each
// byte written and not read before is first loaded by a write-allocate,
// (R + W + (W - RW)) / (R + W).
func (r *reader) traffic(kernel string) units.Rat {
	k := r.root.At("benchmarks", "kernels", kernel)
	read, both, write := streamBytes(k.Get("read streams")), streamBytes(k.Get("read+write streams")), streamBytes(k.Get("write streams"))
	if k == nil || read+write <= 0 || write < both {
		return units.Int(1)
	}
	return units.NewRat(read+2*write-both, read+write)
}

func streamBytes(n *yamldoc.Node) int64 {
	b := n.Get("bytes")
	if b == nil {
		return 0
	}
	v, err := units.ParseAs(b.Text, units.Size)
	if err != nil || v.Num < 0 || v.Num/v.Den > 1<<20 {
		return 0
	}
	return v.Num / v.Den
}

func (r *reader) extension(m *Machine) {
	n := r.root.Get("hybrid")
	if n == nil {
		return
	}
	var x extension
	yamldoc.Decode(n, &x, r.list)
	m.Summary, m.Source = x.Summary, x.Source
	if x.MemoryBandwidth != nil {
		m.domainBW = perSecond(*x.MemoryBandwidth)
	}
	if x.GPU != nil {
		r.gpu(m, x.GPU, n.Get("gpu"))
	}
	m.ecm = map[string]ECMRecord{}
	for _, label := range n.Get("ecm").Keys() {
		e := x.ECM[label]
		label = strings.ReplaceAll(label, "-", "_")
		if _, twice := m.ecm[label]; twice {
			r.list.Errorf("E802", n.Get("ecm").Pos, "the ECM record %s stands twice: - and _ are the same in labels", label)
			continue
		}
		m.ecm[label] = ECMRecord{TOL: e.TOL, TnOL: e.TnOL, TL1L2: e.TL1L2, TL2L3: e.TL2L3, TL3Mem: e.TL3Mem,
			ElementsPerCL: e.PerCL, Source: e.Source}
		m.ecmLabels = append(m.ecmLabels, label)
	}
	slices.Sort(m.ecmLabels)
}

// gpu takes an accelerator's figures as those of a core with a memory domain of its own.
func (r *reader) gpu(m *Machine, g *gpuDoc, n *yamldoc.Node) {
	known := []string{"dp", "sp", "tf32", "hp", "bf16", "fp8", "int8"}
	m.peak = map[string]units.Rat{}
	for _, p := range n.Get("peak").Keys() {
		if !slices.Contains(known, p) {
			at := n.At("peak", p)
			r.list.Errorf("E804", at.KeyPos, "unknown precision %q in hybrid.gpu.peak%s", p, diag.DidYouMean(p, known)).
				Note("precisions: %s", strings.Join(known, ", "))
		}
		m.peak[p] = g.Peak[p]
	}
	if !g.MemoryBandwidth.IsZero() {
		m.domainBW = perSecond(g.MemoryBandwidth)
	}
	if m.CoresPerDomain > 1 {
		r.list.Errorf("E830", n.Pos, "with hybrid.gpu a core is one accelerator with memory of its own, but %d share a memory domain", m.CoresPerDomain)
	}
}
