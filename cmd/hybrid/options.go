package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hybrid/analytic"
	"hybrid/graph"
	"hybrid/graph/collective"
	"hybrid/internal/diag"
	"hybrid/internal/units"
	"hybrid/machines"
	"hybrid/networks"
	"hybrid/report"
	"hybrid/report/records"
)

// runOptions are the flags of compare, simulate, predict and graph.
type runOptions struct {
	// workload
	defines      []string
	paramsFile   string
	groups       string
	dependencies string
	family       string
	scale        string
	mapping      string
	issueOrder   string
	// platform
	network, machine string
	sets             []string
	ranksPerNode     int
	placement        string
	// preparation
	algorithms             []string
	serialize, synchronize bool
	abortOnWarning         bool
	noCheck                bool
	// engines
	models string
	ideal  bool
	cores  int
	seed   uint64
	stopAt string
	// output
	format, out string
	failIf      string
	progress    string
	stats       bool
	maxMemory   string
	records     recordOptions
	warnings    warningOptions

	flags      *pflag.FlagSet
	formats    []string
	conditions []report.Condition
}

// prepareFlags declares the flags that shape the graph.
func (o *runOptions) prepareFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	o.flags = f
	f.StringArrayVarP(&o.defines, "define", "D", nil, "set a blueprint parameter: `name=value` (repeatable)")
	f.StringVar(&o.paramsFile, "params", "", "read blueprint parameters from a YAML `file`")
	f.StringVar(&o.groups, "groups", "", "process-group side `file` of a trace set")
	f.StringVar(&o.dependencies, "dependencies", "auto", "Chakra dependency lists that count: `auto`, both, data or ctrl")
	f.StringVar(&o.scale, "scale", "", "scale every size and duration by a `factor` from 0 to 1")
	f.StringVar(&o.network, "network", "", "`name` of an embedded network, or a YAML file")
	f.StringVar(&o.machine, "machine", "", "`name` of an embedded machine, or a YAML file")
	f.StringArrayVar(&o.sets, "set", nil, "override one YAML parameter: `path=value` (repeatable)")
	f.IntVar(&o.ranksPerNode, "ranks-per-node", 1, "ranks on a node: `N`")
	f.StringVar(&o.placement, "placement", "block", "ranks on nodes: `block`, round-robin or a file")
	f.StringArrayVar(&o.algorithms, "algorithm", nil, "algorithm of a collective: `type=name` (repeatable)")
	f.BoolVar(&o.serialize, "serialize", false, "collectives of a group run one after another (Chakra: true)")
	f.BoolVar(&o.synchronize, "synchronize", false, "a barrier before each collective (Chakra: true)")
	f.BoolVar(&o.abortOnWarning, "abort-on-warning", false, "a warning about the workload stops the run")
	f.Uint64Var(&o.seed, "seed", 1, "every random stream derives from `N`")
	o.mappingFlags(f)
	o.warnings.flags(f)
}

// engineFlags declares the flags of runs.
func (o *runOptions) engineFlags(cmd *cobra.Command, analyticRuns, simulates bool) {
	f := cmd.Flags()
	f.StringVar(&o.family, "trace-family", "synthesized", "compute sharing on a rank: `synthesized`, compiled or collected")
	f.StringVar(&o.stopAt, "stop-at", "", "end the run at a simulated `time`")
	f.BoolVar(&o.noCheck, "no-check", false, "leave out the progress check before the run")
	_ = f.MarkHidden("no-check")
	f.StringVar(&o.progress, "progress", "auto", "say on standard error how far the run is: `auto` (on a terminal), plain (a line every 10 s) or none")
	if analyticRuns {
		f.StringVar(&o.models, "models", "hockney,loggp", "analytic models: a `list`")
	}
	if simulates {
		f.BoolVar(&o.ideal, "ideal", false, "simulate an ideal network: no headers, whole messages, no acknowledgements")
		o.records.flags(f)
		f.IntVar(&o.cores, "cores", 0, "simulation threads; results do not depend on `N` (default all cores)")
		f.BoolVar(&o.stats, "stats", false, "report what the simulation cost, and its longest queues (text and json)")
		f.StringVar(&o.maxMemory, "max-memory", "", "refuse a simulation that is estimated to need more than this `size` (default what the machine has)")
	}
	o.formats = []string{"text", "json", "csv"}
	f.StringVarP(&o.format, "output", "o", "text", "form of the report: `text`, json or csv")
	f.StringVar(&o.out, "out", "", "write the report to a `file`")
	if analyticRuns && simulates {
		f.StringVar(&o.failIf, "fail-if", "", "exit with status 3 if a metric is above a percentage: `list` such as mape>10,max>50")
	}
}

// complete lets shells complete names from the tables.
func (o *runOptions) complete(cmd *cobra.Command) {
	fixed := func(names func() []string) func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return names(), cobra.ShellCompDirectiveDefault
		}
	}
	for flag, names := range map[string]func() []string{
		"network": networkNames, "machine": machineNames, "algorithm": algorithmNames,
		"placement": func() []string { return []string{"block", "round-robin"} },
	} {
		_ = cmd.RegisterFlagCompletionFunc(flag, fixed(names))
	}
	o.completeWords(cmd)
}

// completeWords lets shells complete the flags that take one of a few words, or names of
// a table; files are none of them.
func (o *runOptions) completeWords(cmd *cobra.Command) {
	words := map[string][]string{
		"dependencies":     {"auto", "both", "data", "ctrl"},
		"trace-family":     {"synthesized", "compiled", "collected"},
		"output":           o.formats,
		"models":           modelNames(),
		"records-format":   {"csv", "parquet"},
		"records-only":     records.Names(),
		"collective-start": {"latest", "earliest"},
		"progress":         progressWords(),
	}
	for flag, list := range words {
		if cmd.Flags().Lookup(flag) != nil {
			_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(list, cobra.ShellCompDirectiveNoFileComp))
		}
	}
	if cmd.Flags().Lookup("records") != nil {
		_ = cmd.MarkFlagDirname("records")
	}
}

func networkNames() []string {
	var out []string
	for _, n := range networks.Embedded() {
		out = append(out, n.Name)
	}
	return out
}

func modelNames() []string {
	var out []string
	for _, m := range analytic.Models() {
		out = append(out, m.Name)
	}
	return out
}

func machineNames() []string {
	var out []string
	for _, m := range machines.Embedded() {
		out = append(out, m.Name)
	}
	return out
}

func algorithmNames() []string {
	var out []string
	for _, a := range collective.All() {
		out = append(out, a.Type.String()+"="+a.Name)
	}
	return out
}

// given reports whether the user wrote a flag.
func (o *runOptions) given(flag string) bool { return o.flags.Changed(flag) }

// check finds wrong usage that flags alone can show.
func (o *runOptions) check() error {
	for _, f := range []func() error{o.checkWords, o.checkNumbers, o.checkAlgorithms, o.checkModels, o.records.check, o.warnings.check} {
		if err := f(); err != nil {
			return usageError{err}
		}
	}
	return nil
}

func (o *runOptions) checkWords() error {
	for _, w := range []struct {
		flag, value string
		allowed     []string
	}{
		{"--output", o.format, o.formats},
		{"--dependencies", o.dependencies, []string{"auto", "both", "data", "ctrl"}},
		{"--trace-family", o.family, []string{"synthesized", "compiled", "collected"}},
		{"--progress", o.progress, progressWords()},
	} {
		if w.value != "" && !slices.Contains(w.allowed, w.value) {
			return fmt.Errorf("%s is %s, not %q%s", w.flag, choices(w.allowed), w.value, diag.DidYouMean(w.value, w.allowed))
		}
	}
	if err := o.checkMapping(); err != nil {
		return err
	}
	if o.failIf != "" {
		conditions, err := report.ParseConditions(o.failIf)
		if err != nil {
			return fmt.Errorf("--fail-if: %w", err)
		}
		o.conditions = conditions
	}
	return nil
}

// choices prints a list of words: block, round-robin or file.
func choices(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

func (o *runOptions) checkNumbers() error {
	if o.ranksPerNode < 1 {
		return fmt.Errorf("--ranks-per-node must be at least 1, not %d", o.ranksPerNode)
	}
	if o.cores < 0 {
		return fmt.Errorf("--cores must not be negative, but is %d", o.cores)
	}
	if _, err := o.stopTime(); err != nil {
		return fmt.Errorf("--stop-at: %w", err)
	}
	if _, err := o.scaleFactor(); err != nil {
		return err
	}
	if _, err := o.memoryLimit(); err != nil {
		return err
	}
	for _, d := range o.defines {
		if name, _, ok := strings.Cut(d, "="); !ok || strings.TrimSpace(name) == "" {
			return fmt.Errorf("-D %s: write name=value", d)
		}
	}
	return nil
}

// stopTime returns --stop-at, or what --run-time and its kin amount to, in picoseconds;
// 0 means none.
func (o *runOptions) stopTime() (int64, error) {
	if !o.given("stop-at") {
		return o.records.stopTime(), nil
	}
	t, err := units.ParseInt(o.stopAt, units.Duration)
	if err == nil && t <= 0 {
		err = fmt.Errorf("%s is not after the start", o.stopAt)
	}
	return t, err
}

// scaleFactor returns --scale; nil means none.
func (o *runOptions) scaleFactor() (*units.Rat, error) {
	if o.scale == "" {
		return nil, nil
	}
	r, err := units.ParseAs(o.scale, units.Plain)
	if err != nil || r.Num < 0 || r.Cmp(units.Int(1)) > 0 {
		return nil, fmt.Errorf("--scale is a number from 0 to 1, not %q", o.scale)
	}
	return &r, nil
}

// algorithm is one --algorithm flag.
type algorithm struct {
	typ  graph.CollType
	name string
}

func (o *runOptions) checkAlgorithms() error {
	_, err := o.algorithmList()
	return err
}

func (o *runOptions) algorithmList() ([]algorithm, error) {
	table := collective.NewTable()
	var out []algorithm
	for _, a := range o.algorithms {
		typ, name, ok := strings.Cut(a, "=")
		if !ok {
			return nil, fmt.Errorf("--algorithm %s: write type=name, such as allreduce=ring", a)
		}
		t, ok := graph.CollTypeNamed(typ)
		if !ok {
			return nil, fmt.Errorf("--algorithm: no collective is called %q%s", typ, diag.DidYouMean(typ, collTypes()))
		}
		if table.Find(t, name) == nil {
			return nil, fmt.Errorf("--algorithm: %s has no algorithm %q; it has %s", typ, name, table.Choices(t))
		}
		out = append(out, algorithm{t, name})
	}
	return out, nil
}

func collTypes() []string {
	var out []string
	for t := range graph.NumCollTypes {
		out = append(out, graph.CollType(t).String())
	}
	return out
}

func (o *runOptions) checkModels() error {
	if o.flags.Lookup("models") != nil && strings.TrimSpace(o.models) == "" {
		return errors.New("--models is empty; hybrid list models prints the names")
	}
	_, err := o.modelList()
	return err
}

func (o *runOptions) modelList() ([]analytic.Model, error) {
	if o.models == "" {
		return nil, nil
	}
	names := modelNames()
	var out []analytic.Model
	for name := range strings.SplitSeq(o.models, ",") {
		name = strings.TrimSpace(name)
		m, ok := analytic.Find(name)
		if !ok {
			return nil, fmt.Errorf("--models: no model is called %q%s (models: %s)", name, diag.DidYouMean(name, names), strings.Join(names, ", "))
		}
		if slices.ContainsFunc(out, func(o analytic.Model) bool { return o.Name == name }) {
			return nil, fmt.Errorf("--models names %s twice", name)
		}
		out = append(out, m)
	}
	return out, nil
}
