package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"hybrid/des"
	"hybrid/internal/diag"
	"hybrid/internal/yamldoc"
	"hybrid/machines"
	"hybrid/networks"
)

func (a *app) explainCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "explain CODE|PARAMETER",
		Short: "Say what a diagnostic code or a YAML parameter means",
		Example: `  hybrid explain E501
  hybrid explain fabric.link.rate
  hybrid explain loggp`,
		GroupID: groupLook, Args: cobra.ExactArgs(1), DisableFlagsInUseLine: true,
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return explainable(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: a.run(func(_ *cobra.Command, args []string) error { return a.explain(args[0]) }),
	}
}

func (a *app) explain(what string) error {
	if c, ok := diag.Explain(strings.ToUpper(what)); ok {
		_, err := fmt.Fprintf(a.stdout, "%s: %s\n\n%s%s", c.Code, c.Title, wrapped(c.Doc), exampleText(c.Example))
		return err
	}
	if fields := matching(what); len(fields) > 0 {
		var b strings.Builder
		for i, f := range fields {
			if i > 0 {
				b.WriteString("\n")
			}
			writeField(&b, f)
		}
		_, err := a.stdout.Write([]byte(b.String()))
		return err
	}
	return fmt.Errorf("nothing is known about %q%s", what, diag.DidYouMean(what, explainable()))
}

func exampleText(example string) string {
	if example == "" {
		return ""
	}
	return "\nExample:\n    " + strings.ReplaceAll(example, "\n", "\n    ") + "\n"
}

// explained is a parameter and the kind of file it stands in.
type explained struct {
	kind string
	yamldoc.Field
}

func parameters() []explained {
	var out []explained
	for _, f := range networks.Parameters() {
		out = append(out, explained{"network", f})
	}
	for _, t := range des.Transports() {
		for _, f := range yamldoc.Fields(des.NICSection(t.Name)) {
			f.Path, f.Doc = "nic."+f.Path, t.Name+": "+f.Doc
			out = append(out, explained{"network", f})
		}
	}
	for _, f := range yamldoc.Fields(des.SwitchSection()) {
		if f.Type != "section" { // those of package networks
			f.Path = "fabric.switch." + f.Path
			out = append(out, explained{"network", f})
		}
	}
	for _, s := range des.RoutingSections() {
		for _, f := range yamldoc.Fields(s.Keys) {
			f.Path = "fabric.routing." + f.Path
			if s.Name != "" {
				f.Doc = s.Name + ": " + f.Doc
			}
			out = append(out, explained{"network", f})
		}
	}
	for _, f := range machines.Parameters() {
		out = append(out, explained{"machine", f})
	}
	return out
}

// matching returns the parameter with the path, or those whose path ends in it, with
// what stands below a section; [] of lists may be left out.
func matching(what string) []explained {
	var exact, ends []explained
	what = strings.ReplaceAll(what, "[]", "")
	for _, p := range parameters() {
		path := strings.ReplaceAll(p.Path, "[]", "")
		switch {
		case path == what, strings.HasPrefix(path, what+"."):
			exact = append(exact, p)
		case strings.HasSuffix(path, "."+what), strings.Contains(path, "."+what+"."):
			ends = append(ends, p)
		}
	}
	if exact != nil {
		return merged(exact)
	}
	return merged(ends)
}

// merged makes one of parameters that say the same in sections that differ in one
// name, as those of the four levels do: levels.*.loggp.L.
func merged(list []explained) []explained {
	var out []explained
	for _, p := range list {
		found := false
		for i := range out {
			if joint, ok := jointPath(out[i].Path, p.Path); ok && out[i].kind == p.kind && out[i].Doc == p.Doc && out[i].Default == p.Default {
				out[i].Path, found = joint, true
				break
			}
		}
		if !found {
			out = append(out, p)
		}
	}
	return out
}

// jointPath replaces the section in which two paths differ by *; their last names must
// be the same.
func jointPath(a, b string) (string, bool) {
	x, y := strings.Split(a, "."), strings.Split(b, ".")
	if len(x) != len(y) || x[len(x)-1] != y[len(y)-1] {
		return "", false
	}
	different := 0
	for i := range x {
		if x[i] != y[i] {
			x[i] = "*"
			different++
		}
	}
	return strings.Join(x, "."), different <= 1
}

func writeField(b *strings.Builder, f explained) {
	fmt.Fprintf(b, "%s (%s, %s)\n", f.Path, f.kind, fieldType(f.Field))
	if f.Doc != "" {
		b.WriteString(wrapped(f.Doc))
	}
	for _, line := range [][2]string{{"default", f.Default}, {"range", f.Range}, {"values", strings.Join(f.OneOf, ", ")}} {
		if line[1] != "" {
			fmt.Fprintf(b, "    %s: %s\n", line[0], line[1])
		}
	}
	if f.Required {
		b.WriteString("    required\n")
	}
}

func fieldType(f yamldoc.Field) string {
	if f.Unit != "" {
		return f.Unit
	}
	return f.Type
}

// wrapped breaks a text at 80 columns, indented by two.
func wrapped(text string) string {
	var b strings.Builder
	writeEntries(&b, []entry{{"", text}})
	return strings.ReplaceAll("\n"+b.String(), "\n    ", "\n  ")[1:]
}

func explainable() []string {
	var out []string
	for _, c := range diag.Codes() {
		out = append(out, c.Code)
	}
	seen := map[string]bool{}
	for _, p := range parameters() {
		if !seen[p.Path] {
			seen[p.Path] = true
			out = append(out, p.Path)
		}
	}
	return out
}
