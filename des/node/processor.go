package node

import (
	"hybrid/des/sim"
	"hybrid/graph"
	"hybrid/graph/replay"
	"hybrid/internal/units"
)

// Processor is where one rank computes: an accelerator whose capacity the operations
// that run at once share equally, and a host processor and a memory that take any
// number of operations, each at its full speed.
type Processor struct {
	// Collected says that durations were measured with everything running, so that
	// nothing is shared.
	Collected bool

	share   replay.Share
	version uint32
	host    units.Time // when the host processor has handled all messages so far
}

// Shares reports whether an operation competes for the accelerator. Operations of the
// host processor, memory operations and collectives that stand for their recorded
// duration do not; nor does anything of no duration.
func (p *Processor) Shares(kind graph.Kind, flags graph.Flags, duration units.Time) bool {
	return !p.Collected && duration > 0 && kind == graph.Compute && flags&(graph.HostCPU|graph.Skipped) == 0
}

// Begin starts an operation that shares the accelerator and returns when the next of
// them will end, as things are, and the version of that answer: a later Begin or End
// makes it void.
func (p *Processor) Begin(now units.Time, id int32, work units.Time) (next units.Time, version uint32) {
	p.share.Start(now, id, work)
	return p.Next()
}

// Valid says whether the answer with a version is the last one.
func (p *Processor) Valid(version uint32) bool { return version == p.version }

// End appends the operations that have ended by now to out. If version is void, it
// does nothing.
func (p *Processor) End(now units.Time, version uint32, out []int32) []int32 {
	if !p.Valid(version) {
		return out
	}
	return p.share.Finish(now, out)
}

// versionBits is how many bits a version has, so that it fits beside an event's kind.
// Of two answers so far apart that they share a number, one is long void.
const versionBits = 29

// Next returns what Begin returns.
func (p *Processor) Next() (next units.Time, version uint32) {
	p.version = (p.version + 1) & (1<<versionBits - 1)
	t, ok := p.share.Next()
	if !ok {
		return units.Never, p.version
	}
	return min(t, sim.MaxTime+1), p.version
}

// Message occupies the host processor, which handles one message at a time in the
// order of the calls, for overhead ticks, and returns when it is done.
func (p *Processor) Message(now, overhead units.Time) units.Time {
	p.host = max(p.host, now) + overhead
	return p.host
}
