package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hybrid/analytic"
	"hybrid/des"
	"hybrid/graph/collective"
	"hybrid/graph/pass"
	"hybrid/internal/diag"
	"hybrid/machines"
	"hybrid/networks"
	"hybrid/report/records"
)

// entry is a line of a table: a name and one sentence.
type entry struct{ name, doc string }

// catalogue is a row of the table of tables.
type catalogue struct {
	name, doc string
	entries   func() []entry
}

func catalogues() []catalogue {
	return []catalogue{
		{"networks", "embedded networks", listNetworks},
		{"machines", "embedded machines", listMachines},
		{"topologies", "kinds of topology in a network file", listTopologies},
		{"transports", "NIC transports in a network file", listTransports},
		{"routings", "how packets find their way, under fabric.routing in a network file", listRoutings},
		{"collectives", "algorithms of collectives; the first of a type is its default", listCollectives},
		{"models", "analytic models", listModels},
		{"kernels", "recorded ECM kernels by machine", listKernels},
		{"passes", "preparation passes in their order", listPasses},
		{"records", "records of a simulation", listRecords},
		{"formats", "what can be read and written", listFormats},
	}
}

func (a *app) listCommand() *cobra.Command {
	var names []string
	for _, c := range catalogues() {
		names = append(names, c.name)
	}
	return &cobra.Command{
		Use:   "list [" + strings.Join(names, "|") + "]",
		Short: "Print the tables: networks, machines, algorithms, models, ...",
		Example: `  hybrid list
  hybrid list collectives`,
		GroupID: groupLook, ValidArgs: names, Args: cobra.MaximumNArgs(1), DisableFlagsInUseLine: true,
		RunE: a.run(func(_ *cobra.Command, args []string) error {
			if len(args) == 1 && !slices.Contains(names, args[0]) {
				return usageError{fmt.Errorf("there is no list of %q%s (lists: %s)", args[0], diag.DidYouMean(args[0], names), strings.Join(names, ", "))}
			}
			return a.list(args)
		}),
	}
}

func (a *app) list(args []string) error {
	var b strings.Builder
	for _, c := range catalogues() {
		switch {
		case len(args) == 1 && args[0] != c.name:
			continue
		case len(args) == 0:
			if b.Len() > 0 {
				b.WriteString("\n")
			}
			fmt.Fprintf(&b, "%s: %s\n", strings.ToUpper(c.name), c.doc)
		}
		writeEntries(&b, c.entries())
	}
	_, err := a.stdout.Write([]byte(b.String()))
	return err
}

// writeEntries aligns names and breaks sentences at 80 columns.
func writeEntries(b *strings.Builder, entries []entry) {
	width := 0
	for _, e := range entries {
		width = max(width, len(e.name))
	}
	width = min(width, 32)
	for _, e := range entries {
		line := fmt.Sprintf("  %-*s ", width, e.name)
		for _, word := range strings.Fields(e.doc) {
			if len(line)+1+len(word) > 80 && strings.TrimSpace(line) != "" {
				b.WriteString(strings.TrimRight(line, " ") + "\n")
				line = strings.Repeat(" ", width+3)
			}
			line += " " + word
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}

func listNetworks() (out []entry) {
	for _, n := range networks.Embedded() {
		out = append(out, entry{n.Name, n.Summary})
	}
	return out
}

func listMachines() (out []entry) {
	for _, m := range machines.Embedded() {
		out = append(out, entry{m.Name, m.Summary})
	}
	return out
}

func listTopologies() (out []entry) {
	for _, t := range networks.Topologies() {
		out = append(out, entry{t.Name, t.Doc})
	}
	return out
}

func listTransports() (out []entry) {
	for _, t := range des.Transports() {
		out = append(out, entry{t.Name, t.Doc})
	}
	return out
}

func listRoutings() (out []entry) {
	for _, r := range des.Routings() {
		out = append(out, entry{r.Name, r.Doc})
	}
	return out
}

func listCollectives() (out []entry) {
	for _, c := range collective.All() {
		out = append(out, entry{c.Type.String() + "=" + c.Name, c.Doc})
	}
	return out
}

func listModels() (out []entry) {
	for _, m := range analytic.Models() {
		out = append(out, entry{m.Name, m.Doc})
	}
	return out
}

func listPasses() (out []entry) {
	for _, p := range pass.All() {
		out = append(out, entry{p.Name, p.Doc})
	}
	return out
}

func listRecords() (out []entry) {
	for _, r := range records.Records() {
		out = append(out, entry{r.Name, r.Doc})
	}
	return out
}

func listKernels() (out []entry) {
	for _, i := range machines.Embedded() {
		m := machines.Load(i.Name, nil, new(diag.List))
		if m == nil {
			continue
		}
		if labels := m.ECMLabels(); len(labels) > 0 {
			out = append(out, entry{i.Name, strings.Join(labels, ", ") + "."})
		}
	}
	return out
}

func listFormats() (out []entry) {
	out = []entry{
		{"blueprint", "Read: a program in the blueprint language, usually *.hbp."},
		{"chakra", "Read: Chakra execution traces in protobuf form, one file for each rank."},
		{"network, machine", "Read: YAML; machines in kerncraft's format."},
		{"mapping", "Read: a Chakra mapping file, which places ranks on servers and in scale-up groups."},
	}
	for _, f := range formats() {
		out = append(out, entry{f.name, "Written by compare, simulate and predict: " + f.doc + "."})
	}
	for _, f := range graphForms() {
		out = append(out, entry{"graph " + f.name, "Written by graph: " + f.doc + "."})
	}
	return out
}
