package pass

import (
	"fmt"
	"strings"

	"hybrid/graph"
	"hybrid/internal/diag"
	"hybrid/internal/units"
)

// Options are what the user asks of the preparation.
type Options struct {
	// Algorithms are the algorithm names that flags give, by collective type
	// ("allreduce": "tree"); they win over what a call says.
	Algorithms map[string]string
	// NetworkAlgorithms are those of the network file, for calls that name none.
	NetworkAlgorithms map[string]string
	// Scale multiplies every size and duration, 0 to 1; nil means 1.
	Scale *units.Rat
	// Serialize lets the collectives of a process group follow one another on each
	// rank in the order of their issue; Synchronize puts a zero-byte barrier before
	// every collective.
	Serialize, Synchronize bool
	// AbortOnWarning lets a warning end the preparation.
	AbortOnWarning bool
}

// Pass is one entry of the table.
type Pass struct {
	// Name is what --after takes, Doc one sentence.
	Name, Doc string
	// Run checks or changes the graph and adds its findings to the list.
	Run func(g *graph.Graph, opt *Options, list *diag.List)
}

func table() []Pass {
	return []Pass{
		{"check", "Ranks, tags, sizes, group members and roots lie in their ranges; the members of a group agree on its collectives.", check},
		{"algorithms", "Each collective gets its algorithm: from a flag, the call, the network file or the default, in this order.", algorithms},
		{"expand", "Each collective of a trace is shown as its transfers.", func(g *graph.Graph, _ *Options, _ *diag.List) { g.Expanded = true }},
		{"scale", "Sizes of transfers and durations are multiplied by the scaling factor and truncated.", scale},
		{"serialize", "Collectives of one process group follow one another on each rank in issue order.", serialize},
		{"synchronize", "A zero-byte tree barrier comes before every collective.", synchronize},
		{"annotate", "Each node of a trace lists those that wait for it, each rank those that are ready at the start.",
			func(g *graph.Graph, _ *Options, _ *diag.List) { g.Annotated = true }},
	}
}

// All returns the table.
func All() []Pass { return table() }

// Names returns the names of the passes in order.
func Names() []string {
	var names []string
	for _, p := range table() {
		names = append(names, p.Name)
	}
	return names
}

// Run runs the passes up to and including the one named after, or all for "". It
// adds what they find to the list, each as a step of its own, and returns an error if
// the graph must not be run: the list's, where a pass found errors, or one about an unknown pass.
func Run(g *graph.Graph, opt Options, after string, list *diag.List) error {
	last := len(table()) - 1
	if after != "" {
		if last = indexOf(after); last < 0 {
			return fmt.Errorf("no pass %q%s; passes are %s", after, diag.DidYouMean(after, Names()), strings.Join(Names(), ", "))
		}
	}
	for _, p := range table()[:last+1] {
		list.Step(p.Name)
		p.Run(g, &opt, list)
		list.Step("")
		if opt.AbortOnWarning && !list.HasErrors() && list.CountOf(diag.Warning) > 0 {
			list.Errorf("E407", diag.Pos{}, "a warning stops the preparation, as --abort-on-warning asks")
		}
		if err := list.Err(); err != nil {
			return err
		}
	}
	return nil
}

func indexOf(name string) int {
	for i, p := range table() {
		if p.Name == name {
			return i
		}
	}
	return -1
}

// scale records the factor; cursors apply it to each transfer and duration, so that
// C is truncated and not S.
func scale(g *graph.Graph, opt *Options, list *diag.List) {
	if opt.Scale == nil {
		return
	}
	if opt.Scale.Den <= 0 || opt.Scale.Num < 0 || opt.Scale.Num > opt.Scale.Den {
		list.Errorf("E408", diag.Pos{}, "the scaling factor %s is outside 0 to 1", opt.Scale)
		return
	}
	g.Scale = *opt.Scale
}
