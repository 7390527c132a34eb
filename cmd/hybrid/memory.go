package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"

	"hybrid/des"
	"hybrid/internal/diag"
	"hybrid/internal/units"
)

// memoryWarning is the part of the memory, in percent, from which an estimate is worth a
// warning.
const memoryWarning = 80

// memoryLimit returns --max-memory in bytes, or 0.
func (o *runOptions) memoryLimit() (int64, error) {
	if o.maxMemory == "" {
		return 0, nil
	}
	n, err := units.ParseInt(o.maxMemory, units.Size)
	if err == nil && n <= 0 {
		err = fmt.Errorf("%s is no memory", o.maxMemory)
	}
	if err != nil {
		return 0, fmt.Errorf("--max-memory: %w", err)
	}
	return n, nil
}

// checkMemory compares what a simulation is going to need with what there is.
func (p *prepared) checkMemory(o *runOptions) {
	if p.topology == nil || p.findings.HasErrors() {
		return
	}
	limit, _ := o.memoryLimit()
	whose := "--max-memory allows"
	if limit == 0 {
		limit, whose = machineMemory(), "this machine has"
	}
	job := p.job(o)
	need := des.EstimateMemory(&job)
	if p.estimate = need.Total(); limit == 0 || p.estimate/memoryWarning < limit/100 {
		return
	}
	d := diag.Diagnostic{Severity: diag.Warning, Code: "W958", Notes: memoryNotes(&need, limit)}
	verb := "may need"
	if p.estimate > limit {
		d.Severity, d.Code, verb = diag.Error, "E958", "needs"
	}
	d.Message = fmt.Sprintf("the simulation %s about %s of memory; %s %s", verb, units.ReadableBytes(p.estimate), whose, units.ReadableBytes(limit))
	p.findings.Add(d)
}

// memoryNotes say what takes the memory, and what to change.
func memoryNotes(m *des.Memory, limit int64) []string {
	notes := []string{fmt.Sprintf("%s for %s links and their switches, %s for %s ranks and their NICs, %s for about %s queue pairs",
		units.ReadableBytes(m.Fabric), units.FormatCount(m.Links), units.ReadableBytes(m.Ranks), units.FormatCount(m.RankCount),
		units.ReadableBytes(m.QueuePairs), units.FormatCount(m.Pairs))}
	switch largest := max(m.Fabric, m.Ranks, m.QueuePairs); largest {
	case m.QueuePairs:
		notes = append(notes, "fewer ranks, or an algorithm in which a rank has few partners (ring, tree, bruck), needs fewer queue pairs; so do more --ranks-per-node")
	case m.Fabric:
		notes = append(notes, fabricNote(m))
	default:
		notes = append(notes, "fewer ranks need less")
	}
	if m.Total() > limit {
		notes = append(notes, "--max-memory "+units.FormatBytes((m.Total()/1e9+1)*1e9)+" runs it all the same")
	}
	return notes
}

// fabricNote says what of the network to change.
func fabricNote(m *des.Memory) string {
	switch {
	case 2*m.Wires > m.Fabric:
		return fmt.Sprintf("of the links, packets under way take %s: a shorter fabric.link.delay or a larger fabric.mtu needs less", units.ReadableBytes(m.Wires))
	case 2*m.Memories > m.Fabric:
		return fmt.Sprintf("packet memories of switches take %s of it: fewer fabric.switch.classes, or switches without any (no cut-through, no adaptive or flowlet routing, and of fabric.switch no more than latency) need less; so does a topology with fewer hosts, of which it may have more than the workload has nodes",
			units.ReadableBytes(m.Memories))
	}
	return "a topology with fewer hosts needs less; it may have more than the workload has nodes"
}

// machineMemory returns the memory that this process may use in bytes: that of the
// machine or of its control group, whichever is less, or 0 where that is not known.
func machineMemory() int64 {
	least := int64(0)
	for _, n := range []int64{
		memInfo("/proc/meminfo", "MemTotal:"),
		firstNumber("/sys/fs/cgroup/memory.max"), firstNumber("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
	} {
		if n > 0 && (least == 0 || n < least) {
			least = n
		}
	}
	return least
}

// memInfo returns a value in kB of a file of the proc file system, in bytes.
func memInfo(path, key string) int64 {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) >= 2 && f[0] == key {
			n, _ := strconv.ParseInt(f[1], 10, 64)
			return n << 10
		}
	}
	return 0
}

// firstNumber returns the number that a file consists of, or 0.
func firstNumber(path string) int64 {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// memoryUse notes, from now until the returned function is called, what is allocated.
func (p *prepared) memoryUse() func() {
	if p.stats == nil {
		return func() {}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	return func() {
		runtime.ReadMemStats(&after)
		p.stats.Estimate = p.estimate
		p.stats.Allocated, p.stats.Allocations = int64(after.TotalAlloc-before.TotalAlloc), int64(after.Mallocs-before.Mallocs)
		p.stats.Peak = memInfo("/proc/self/status", "VmHWM:")
	}
}
