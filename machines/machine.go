package machines

import (
	"slices"
	"strings"

	"hybrid/internal/units"
	"hybrid/internal/yamldoc"
)

// Machine is one compute node. On a machine with accelerators a core is one
// accelerator, and so is a rank.
type Machine struct {
	// Name is the file's base name, Summary one sentence, Source where the figures
	// come from, File the path or the embedded file's name.
	Name, Summary, Source, File string
	// Clock is the core clock in hertz.
	Clock units.Rat
	// Sockets per node, cores per socket, memory (NUMA) domains per socket, cores
	// per memory domain and hardware threads per core.
	Sockets, CoresPerSocket, DomainsPerSocket, CoresPerDomain, ThreadsPerCore int
	// CachelineBytes is the cache line size.
	CachelineBytes int64
	// Caches are the levels of the memory hierarchy that have a size, nearest first.
	Caches []Cache
	// Doc is the whole document after overrides.
	Doc *yamldoc.Node

	perCycle  map[string]units.Rat // flop per cycle and core, by precision
	peak      map[string]units.Rat // flop/s of one core, explicit, by precision
	domainBW  units.Rat            // explicit bandwidth of one memory domain, bytes/s; 0 if none
	streams   []stream             // measured memory bandwidths
	ecm       map[string]ECMRecord
	ecmLabels []string
}

// Cache is one level of the memory hierarchy.
type Cache struct {
	// Level is L1, L2, ...
	Level string
	// Bytes is the size of one instance, which Cores cores share.
	Bytes int64
	Cores int
}

// stream is a measured bandwidth: bytes a second over the number of active cores,
// index 0 for one core, with the factor that accounts for write-allocate.
type stream struct {
	kernel    string
	bandwidth []units.Rat
	traffic   units.Rat
}

// ECMRecord is a recorded set of contributions to the ECM model of a kernel, in
// cycles per cache line of results (H. Stengel, J. Treibig, G. Hager, G. Wellein,
// "Quantifying performance bottlenecks of stencil computations using the
// Execution-Cache-Memory model", ICS 2015, section 2).
type ECMRecord struct {
	// TOL overlaps with data transfers, TnOL does not; the others are the transfers
	// between neighbouring levels of the hierarchy.
	TOL, TnOL, TL1L2, TL2L3, TL3Mem units.Rat
	// ElementsPerCL is the number of results in a cache line.
	ElementsPerCL int64
	// Source says where the record comes from and what it is valid for.
	Source string
}

// Cores returns the number of cores of the node.
func (m *Machine) Cores() int { return m.Sockets * m.CoresPerSocket }

// PeakFlops returns the peak rate in flop/s of the given number of cores at a
// precision (dp, sp, hp, ...): the explicit figure of the file, else clock times
// flop per cycle. ok is false if the file has neither.
func (m *Machine) PeakFlops(precision string, cores int) (peak units.Rat, ok bool) {
	key := strings.ToLower(precision)
	one, ok := m.peak[key]
	if !ok {
		perCycle, known := m.perCycle[key]
		if !known {
			return units.Int(0), false
		}
		if one, ok = perCycle.Mul(m.Clock); !ok {
			return units.Int(0), false
		}
	}
	return one.Mul(units.Int(int64(cores)))
}

// Precisions lists the precisions that have a peak rate, ordered.
func (m *Machine) Precisions() []string {
	var out []string
	for p := range m.perCycle {
		out = append(out, p)
	}
	for p := range m.peak {
		if !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return out
}

// domainsOf returns how many memory domains the given number of cores span when
// they fill one after the other.
func (m *Machine) domainsOf(cores int) int {
	spanned := (max(1, cores) + m.CoresPerDomain - 1) / m.CoresPerDomain
	return min(spanned, m.Sockets*m.DomainsPerSocket)
}

// MemoryBandwidth returns the saturated bandwidth in bytes a second of the memory
// domains that the given number of cores span: the file's explicit figure, else the
// largest one measured within a domain, for the triad if there is one. Measured
// figures count the traffic of write-allocates, as kerncraft does: a triad moves
// (R + 2W)/(R + W) = 5/4 of what the benchmark counts (J. Hammer, J. Eitzinger, G.
// Hager, G. Wellein, "Kerncraft: A Tool for Analytic Performance Modeling of Loop
// Kernels", 2017). ok is false if the file has no figure.
func (m *Machine) MemoryBandwidth(cores int) (bandwidth units.Rat, ok bool) {
	domain := m.domainBW
	if domain.IsZero() {
		if domain, ok = m.saturated(); !ok {
			return units.Int(0), false
		}
	}
	return domain.Mul(units.Int(int64(m.domainsOf(cores))))
}

// saturated is the bandwidth of one domain with write-allocate traffic.
func (m *Machine) saturated() (units.Rat, bool) {
	for _, name := range []string{"triad", "copy", "daxpy", "update", "load"} {
		if s := m.stream(name); s != nil {
			return s.largest(m.CoresPerDomain).Mul(s.traffic)
		}
	}
	return units.Int(0), false
}

func (m *Machine) stream(kernel string) *stream {
	for i := range m.streams {
		if m.streams[i].kernel == kernel {
			return &m.streams[i]
		}
	}
	return nil
}

func (s *stream) largest(cores int) units.Rat {
	best := units.Int(0)
	for _, b := range s.bandwidth[:min(cores, len(s.bandwidth))] {
		if b.Cmp(best) > 0 {
			best = b
		}
	}
	return best
}

// StreamBandwidth returns the memory bandwidth in bytes a second measured for a
// benchmark kernel (load, copy, update, triad, daxpy) on the given number of cores of
// one memory domain, without write-allocate traffic; more cores than a domain has
// count as all of them. ok is false if it was not measured.
func (m *Machine) StreamBandwidth(kernel string, cores int) (bandwidth units.Rat, ok bool) {
	s := m.stream(kernel)
	if s == nil || cores < 1 {
		return units.Int(0), false
	}
	return s.bandwidth[min(cores, m.CoresPerDomain, len(s.bandwidth))-1], true
}

// ECM returns the record of a kernel. Hyphens in the label count as underscores.
func (m *Machine) ECM(label string) (ECMRecord, bool) {
	r, ok := m.ecm[strings.ReplaceAll(label, "-", "_")]
	return r, ok
}

// ECMLabels lists the kernels that have a record, ordered.
func (m *Machine) ECMLabels() []string { return slices.Clone(m.ecmLabels) }

// Default is the machine used where nothing names one.
func Default() string { return "icelake-sp-8360y" }
