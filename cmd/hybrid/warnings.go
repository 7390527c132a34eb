package main

import (
	"fmt"

	"github.com/spf13/pflag"

	"hybrid/graph"
	"hybrid/graph/pass"
	"hybrid/graph/replay"
	"hybrid/internal/diag"
)

// warningOptions are the flags about findings of the preparation.
type warningOptions struct {
	// most is how many warnings each step of the preparation may have.
	most int
}

// Bounds of --max-warnings.
const (
	defaultMaxWarnings = 30_000
	maxMaxWarnings     = 40_000
)

// flags declares the flags.
func (o *warningOptions) flags(f *pflag.FlagSet) {
	f.IntVar(&o.most, "max-warnings", defaultMaxWarnings, "keep at most `N` warnings of each preparation step, 0 to 40000")
}

// check finds wrong usage.
func (o *warningOptions) check() error {
	if o.most < 0 || o.most > maxMaxWarnings {
		return fmt.Errorf("--max-warnings is a number from 0 to %d, not %d", maxMaxWarnings, o.most)
	}
	return nil
}

// readingStep names the first step of the preparation; the others are the passes.
const readingStep = "read"

// blameOrdering says so where a blueprint that deadlocks would end without one of the
// ordering options, or without both. Of traces the passes know it themselves.
func blameOrdering(g *graph.Graph, opt replay.CheckOptions, list *diag.List) {
	if g.Origin == graph.Chakra {
		return
	}
	for _, o := range []struct {
		serialize, synchronize bool
		flags                  string
	}{{true, false, "--synchronize"}, {false, true, "--serialize"}, {false, false, "--serialize and --synchronize"}} {
		if !o.serialize && !g.Serialize || !o.synchronize && !g.Synchronize {
			continue
		}
		if r := replay.Check(pass.Unordered(g, o.serialize, o.synchronize), opt); r.OK() && (r.Complete || r.Representative) {
			list.Warnf("W411", diag.Pos{}, "the order that %s asks for keeps the program from ending: without it there is no deadlock", o.flags)
			return
		}
	}
}
