package machines

import (
	"strings"

	"hybrid/internal/diag"
	"hybrid/internal/yamldoc"
)

// shape is what may stand at a place of a kerncraft machine file: a mapping with
// known keys, a mapping with free keys, or a list. A nil shape allows anything.
type shape struct {
	keys []key
	free *shape // of the entries whose key is free: names of kernels, levels, ports
	list *shape // of the elements, where a list may stand here
}

type key struct {
	name  string
	shape *shape
	doc   string
}

// of makes a mapping of plain keys.
func of(names ...string) *shape {
	s := &shape{}
	for _, n := range names {
		s.keys = append(s.keys, key{name: n})
	}
	return s
}

func (s *shape) with(name string, sub *shape) *shape {
	s.keys = append(s.keys, key{name: name, shape: sub})
	return s
}

// vocabulary is kerncraft's machine file (its documentation of the machine model,
// and the files it ships). Keys that name models, kernels, levels, ports or compilers are free.
func vocabulary() *shape {
	rates := of("ADD", "MUL", "FMA", "total")
	s := &shape{keys: []key{
		{name: "kerncraft version", doc: "Version of kerncraft that wrote the file."},
		{name: "model name", doc: "Processor as the operating system names it."},
		{name: "model type", doc: "Microarchitecture."},
		{name: "micro-architecture", doc: "Microarchitecture, in older files."},
		{name: "micro-architecture-modeler", doc: "Analyzer for it, in older files."},
		{name: "isa", doc: "Instruction set: x86 or AArch64."},
		{name: "clock", doc: "Core clock, such as 2.4 GHz."},
		{name: "sockets", doc: "Sockets of a node."},
		{name: "cores per socket", doc: "Cores of a socket."},
		{name: "threads per core", doc: "Hardware threads of a core."},
		{name: "NUMA domains per socket", doc: "Memory domains of a socket."},
		{name: "cores per NUMA domain", doc: "Cores of a memory domain."},
		{name: "transparent hugepage", doc: "Setting of the system measured."},
		{name: "in-core model", doc: "In-core analyzers with their architecture tag."},
		{name: "FLOPs per cycle", shape: (&shape{}).with("DP", rates).with("SP", rates).with("HP", rates), doc: "Flop of a core and cycle, by precision and instruction."},
		{name: "compiler", doc: "Compilers with their flags."},
		{name: "overlapping model", shape: of("ports", "performance counter metric"), doc: "Ports whose work overlaps with data transfers."},
		{name: "non-overlapping model", shape: of("ports", "performance counter metric"), doc: "Ports whose work does not."},
		{name: "write-allocate", doc: "Whether stores load the line first, in older files."},
		{name: "machine state", doc: "Dump of the system measured."},
		{name: "cacheline size", doc: "Cache line, such as 64 B."},
		{name: "memory hierarchy", shape: &shape{list: hierarchyLevel()}, doc: "Levels, nearest first."},
		{name: "benchmarks", shape: benchmarks(), doc: "Measured bandwidths."},
	}}
	return s
}

func hierarchyLevel() *shape {
	return of("level", "size per group", "groups", "cores per group", "threads per group", "upstream throughput",
		"non-overlap upstream throughput", "transfers overlap", "penalty cycles per cacheline load", "penalty cycles per cacheline store",
		"penalty cycles per cachlinie store", // as kerncraft's ThunderX2 file has it
		"performance counter metrics", "bandwidth", "cycles per cacheline transfer", "overlaps").
		with("cache per group", of("sets", "ways", "cl_size", "replacement_policy", "write_allocate", "write_back",
			"write_combining", "subblock_size", "load_from", "store_to", "victims_to", "name"))
}

func benchmarks() *shape {
	streams := of("bytes", "streams")
	kernel := of("FLOPs per iteration", "fastest bench kernel").with("read streams", streams).
		with("read+write streams", streams).with("write streams", streams)
	result := of("cores", "threads", "threads per core", "size per core", "size per thread", "total size", "stats", "results")
	bySMT := &shape{free: result}
	return (&shape{}).with("kernels", &shape{free: kernel}).with("measurements", &shape{free: bySMT})
}

// checkKeys reports keys outside the vocabulary, with the place of each.
func (s *shape) checkKeys(n *yamldoc.Node, path string, list *diag.List) {
	switch {
	case s == nil || n == nil:
	case n.Kind == yamldoc.Sequence && s.list != nil:
		for _, e := range n.Items {
			s.list.checkKeys(e, path, list)
		}
	case n.Kind == yamldoc.Mapping && s.list == nil:
		for _, e := range n.Items {
			s.checkEntry(e, path, list)
		}
	case n.Kind == yamldoc.Null || required(n):
	default:
		want := "a mapping"
		if s.list != nil {
			want = "a list"
		}
		list.Errorf("E806", n.Pos, "%s is %s; %s is expected", path, n.Kind, want)
	}
}

func (s *shape) checkEntry(e *yamldoc.Node, path string, list *diag.List) {
	inner := strings.TrimPrefix(path+"."+e.Key, ".")
	names := make([]string, len(s.keys))
	for i, k := range s.keys {
		if k.name == e.Key {
			k.shape.checkKeys(e, inner, list)
			return
		}
		names[i] = k.name
	}
	if s.free != nil {
		s.free.checkKeys(e, inner, list)
		return
	}
	where := path
	if where == "" {
		where = "the machine file"
		names = append(names, "hybrid")
	}
	f := list.Errorf("E804", e.KeyPos, "unknown key %q in %s%s", e.Key, where, diag.DidYouMean(e.Key, names))
	if diag.Suggest(e.Key, names) == "" {
		f.Note("its keys are %s", strings.Join(names, ", "))
	}
}

// required reports kerncraft's mark for a figure that its generator could not find.
func required(n *yamldoc.Node) bool {
	return n.Kind == yamldoc.Scalar && strings.HasPrefix(n.Text, "INFORMATION_REQUIRED")
}

// schema returns the shape as JSON Schema.
func (s *shape) schema() map[string]any {
	switch {
	case s == nil:
		return map[string]any{}
	case s.list != nil:
		return map[string]any{"type": "array", "items": s.list.schema()}
	case s.free != nil:
		return map[string]any{"type": "object", "additionalProperties": s.free.schema()}
	}
	properties := map[string]any{}
	for _, k := range s.keys {
		sub := k.shape.schema()
		if k.doc != "" {
			sub["description"] = k.doc
		}
		properties[k.name] = sub
	}
	return map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
}
