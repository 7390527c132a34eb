package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"hybrid/internal/diag"
	"hybrid/internal/units"
	"hybrid/networks"
)

// topologyOptions are the flags of show network that print what is built.
type topologyOptions struct {
	form  string
	hosts int
	sets  []string
}

// topologyForm is a row of the table of forms.
type topologyForm struct {
	name  string
	write func(w io.Writer, t networks.Topology) error
}

func topologyForms() []topologyForm {
	return []topologyForm{{"dot", writeDOT}, {"json", writeTopologyJSON}}
}

func topologyFormNames() []string {
	var names []string
	for _, f := range topologyForms() {
		names = append(names, f.name)
	}
	return names
}

// defaultHosts is the size of a topology whose file leaves it open.
const defaultHosts = 16

func (o *topologyOptions) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.form, "topology", "", "print the nodes and links of the network's topology: `dot` or json")
	f.IntVar(&o.hosts, "hosts", 0, fmt.Sprintf("hosts of a topology whose size is open: `N` (default %d)", defaultHosts))
	f.StringArrayVar(&o.sets, "set", nil, "override one parameter of the topology's network: `path=value` (repeatable)")
}

// check refuses flags that do not fit.
func (o *topologyOptions) check(kind string) error {
	switch {
	case o.form == "" && (o.hosts != 0 || len(o.sets) > 0):
		return usageError{fmt.Errorf("--hosts and --set need --topology")}
	case o.form != "" && kind != "network":
		return usageError{fmt.Errorf("--topology is for networks; a %s has none", kind)}
	case o.hosts < 0:
		return usageError{fmt.Errorf("--hosts %d: at least 1 is expected", o.hosts)}
	}
	return nil
}

// showTopology prints a topology in the form that was asked for.
func (a *app) showTopology(name string, o *topologyOptions) error {
	for _, f := range topologyForms() {
		if f.name != o.form {
			continue
		}
		var list diag.List
		t := buildTopology(name, o, &list)
		a.render(&list)
		if t == nil {
			return errReported
		}
		w := bufio.NewWriterSize(a.stdout, 1<<16)
		if err := f.write(w, t); err != nil {
			return err
		}
		return w.Flush()
	}
	return usageError{fmt.Errorf("--topology prints %s, not %q%s", strings.Join(topologyFormNames(), " or "), o.form, diag.DidYouMean(o.form, topologyFormNames()))}
}

// buildTopology builds the topology of a network for the given hosts; without any, for
// the default number, or for as many as the file's sizes give where those are fewer.
func buildTopology(name string, o *topologyOptions, list *diag.List) networks.Topology {
	var found diag.List
	n := networks.Load(name, o.sets, &found)
	if n == nil {
		list.Append(&found)
		return nil
	}
	if o.hosts > 0 {
		return n.Topology(o.hosts, list)
	}
	for _, hosts := range []int{defaultHosts, 1} {
		found = diag.List{}
		if t := n.Topology(hosts, &found); t != nil {
			return t
		}
	}
	list.Append(&found)
	return nil
}

// writeDOT writes an undirected graph for Graphviz: a link and the one back are one edge.
// Edges of another rate than most links have are labelled with it, and with that of the
// way back if it differs.
func writeDOT(w io.Writer, t networks.Topology) error {
	links, names := t.Links(), networks.NodeNames(t)
	p := printer{w: w}
	p.f("graph topology {\n  label=%s;\n  node [shape=box];\n", quoteDOT(t.Describe()))
	for i, name := range names {
		shape := ""
		if i < t.Hosts() {
			shape = ", shape=ellipse"
		}
		p.f("  n%d [label=%s%s];\n", i, quoteDOT(name), shape)
	}
	usual, back := usualRate(links), ratesBack(links)
	for _, l := range links {
		if l.From > l.To {
			continue // its counterpart is printed
		}
		way := [2]int32{l.To, l.From}
		other := l.PerByte
		if len(back[way]) > 0 {
			other, back[way] = back[way][0], back[way][1:]
		}
		label := ""
		switch {
		case l.PerByte != other:
			label = fmt.Sprintf(" [label=%s]", quoteDOT(units.FormatRate(l.PerByte)+", back "+units.FormatRate(other)))
		case l.PerByte != usual:
			label = fmt.Sprintf(" [label=%s]", quoteDOT(units.FormatRate(l.PerByte)))
		}
		p.f("  n%d -- n%d%s;\n", l.From, l.To, label)
	}
	p.f("}\n")
	return p.err
}

// ratesBack are the times per byte of the links from higher nodes to lower ones, by both
// nodes.
func ratesBack(links []networks.Link) map[[2]int32][]units.Rat {
	back := map[[2]int32][]units.Rat{}
	for _, l := range links {
		if l.From > l.To {
			way := [2]int32{l.From, l.To}
			back[way] = append(back[way], l.PerByte)
		}
	}
	return back
}

// usualRate is the time per byte that most links have, of several the first one's.
func usualRate(links []networks.Link) (usual units.Rat) {
	n := map[units.Rat]int{}
	for _, l := range links {
		n[l.PerByte]++
	}
	for _, l := range links {
		if n[l.PerByte] > n[usual] {
			usual = l.PerByte
		}
	}
	return usual
}

func quoteDOT(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}

// writeTopologyJSON writes all nodes and directed links by number; times per byte are
// exact fractions of a picosecond.
func writeTopologyJSON(w io.Writer, t networks.Topology) error {
	p := printer{w: w}
	p.f("{\"schema\": \"hybrid/topology/v1\", \"kind\": %s, \"description\": %s, \"hosts\": %d, \"switches\": %d,\n \"nodes\": [",
		quoteJSON(t.Kind()), quoteJSON(t.Describe()), t.Hosts(), t.Switches())
	separator := "\n"
	for i, name := range networks.NodeNames(t) {
		role := "switch"
		if i < t.Hosts() {
			role = "host"
		}
		p.f("%s  {\"id\": %d, \"name\": %s, \"role\": %q}", separator, i, quoteJSON(name), role)
		separator = ",\n"
	}
	p.f("],\n \"links\": [")
	separator = "\n"
	for i, l := range t.Links() {
		p.f("%s  {\"id\": %d, \"from\": %d, \"to\": %d, \"rate\": %q, \"byte_ps\": %q, \"delay_ps\": %d}", separator, i, l.From, l.To,
			units.FormatRate(l.PerByte), l.PerByte.String(), l.Delay)
		separator = ",\n"
	}
	p.f("]}\n")
	return p.err
}

func quoteJSON(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		return `""`
	}
	return string(b)
}

// printer keeps the first error.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) f(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, args...)
	}
}
