package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"hybrid/chakra"
	"hybrid/dsel"
	"hybrid/graph"
	"hybrid/graph/pass"
	"hybrid/internal/diag"
	"hybrid/internal/yamldoc"
	"hybrid/machines"
	"hybrid/networks"
	"hybrid/report"
)

// findingsSchema names the JSON form of validate.
const findingsSchema = "hybrid/findings/v1"

func (a *app) validateCommand() *cobra.Command {
	var output string
	var strict bool
	cmd := &cobra.Command{
		Use:   "validate [flags] FILE...",
		Short: "Check network, machine and mapping files, blueprints and traces",
		Long: `Checks files and prints every finding of every file at once. What a file is gets
decided by its content: network YAML, machine YAML, blueprint, Chakra trace or
mapping file. A folder or a prefix stands for a trace set. The names of embedded
networks and machines are accepted too.`,
		Example: `  hybrid validate my-network.yml my-machine.yml
  hybrid validate --strict *.hbp traces/
  hybrid validate -o json my-network.yml`,
		GroupID: groupFile, DisableFlagsInUseLine: true,
		Args: cobra.MinimumNArgs(1),
		RunE: a.run(func(_ *cobra.Command, args []string) error {
			if output != "text" && output != "json" {
				return usageError{fmt.Errorf("--output is text or json, not %q%s", output, diag.DidYouMean(output, []string{"text", "json"}))}
			}
			return a.validate(args, output, strict)
		}),
	}
	cmd.Flags().StringVarP(&output, "output", "o", "text", "form of the findings: `text` or json")
	cmd.Flags().BoolVar(&strict, "strict", false, "exit with status 3 if there are warnings")
	return cmd
}

func (a *app) validate(args []string, output string, strict bool) error {
	var list diag.List
	var summary bytes.Buffer
	for _, arg := range args {
		var own diag.List
		c := a.validateOne(arg, &own)
		fmt.Fprintf(&summary, "%s: %s, %s\n", arg, c, countFindings(&own))
		list.Append(&own)
	}
	if output == "json" {
		if err := a.writeFindings(&list); err != nil {
			return err
		}
	} else {
		a.render(&list)
		if !a.global.quiet {
			if _, err := a.stdout.Write(summary.Bytes()); err != nil {
				return err
			}
		}
	}
	switch {
	case list.HasErrors():
		return errReported
	case strict && list.CountOf(diag.Warning) > 0:
		return findingError{"--strict: there are warnings"}
	}
	return nil
}

func countFindings(list *diag.List) string {
	e, w := list.CountOf(diag.Error), list.CountOf(diag.Warning)
	if e == 0 && w == 0 {
		return "no findings"
	}
	return fmt.Sprintf("%s, %s", pluralize(e, "error"), pluralize(w, "warning"))
}

func pluralize(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func (a *app) writeFindings(list *diag.List) error {
	e := json.NewEncoder(a.stdout)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(struct {
		Schema   string `json:"schema"`
		Findings []any  `json:"findings"`
	}{findingsSchema, report.FindingObjects(list.All())})
}

// validateOne checks one argument and says what it is.
func (a *app) validateOne(arg string, list *diag.List) content {
	if arg == "-" {
		text, err := io.ReadAll(io.LimitReader(a.stdin, maxBlueprint+1))
		if err != nil {
			list.Errorf("E901", diag.Pos{File: stdinName}, "standard input cannot be read: %v", err)
			return unknownContent
		}
		return a.validateText(stdinName, text, list)
	}
	info, err := os.Stat(arg)
	switch {
	case err == nil && info.IsDir():
		validateTraces(arg, list)
		return chakraContent
	case err != nil:
		return a.validateName(arg, err, list)
	}
	text, err := chakra.ReadHead(arg)
	switch {
	case err != nil || !isText(text):
	case mappingLine(firstLine(text)): // may be larger than what else is text
		text, err = readMapping(arg)
	default:
		text, err = readBounded(arg)
	}
	if err != nil {
		list.Errorf("E901", diag.Pos{File: arg}, "the file cannot be read: %v", rootCause(err))
		return unknownContent
	}
	return a.validateText(arg, text, list)
}

// validateName checks what is no file: an embedded name, a prefix or a glob.
func (a *app) validateName(arg string, err error, list *diag.List) content {
	if text, ok := networks.Source(arg); ok {
		return a.validateText(arg+".yml", text, list)
	}
	if text, ok := machines.Source(arg); ok {
		return a.validateText(arg+".yml", text, list)
	}
	if tracesAt(arg) {
		validateTraces(arg, list)
		return chakraContent
	}
	list.Errorf("E901", diag.Pos{File: arg}, "no such file: %v", rootCause(err))
	return unknownContent
}

func (a *app) validateText(arg string, text []byte, list *diag.List) content {
	c := sniff(text)
	a.sources.add(arg, text)
	switch c {
	case networkContent:
		validateNetwork(arg, text, list)
	case machineContent:
		machines.Parse(arg, text, nil, list)
	case blueprintContent:
		validateBlueprint(arg, text, list)
	case chakraContent, jsonContent:
		validateTraces(arg, list)
	case wideContent:
		notAWorkload(arg, c, list)
	case mappingContent:
		chakra.ParseMapping(arg, text, list)
	default:
		if !isText(text) {
			validateTraces(arg, list)
			return chakraContent
		}
		list.Errorf("E902", diag.Pos{File: arg}, "this is %s, which validate does not know how to check", c)
	}
	return c
}

// validateNetwork also reads the sections that belong to the engine, the algorithms
// and the topology, which the network package leaves to their owners.
func validateNetwork(arg string, text []byte, list *diag.List) {
	n := networks.Parse(arg, text, nil, list)
	if n == nil {
		if n = remains(arg, text); n == nil {
			return
		}
		checkSimulator(n, list)
		checkCollectives(n, list)
		return
	}
	checkSimulator(n, list)
	checkCollectives(n, list)
	checkRoutes(n, n.CheckTopology(list), list)
}

// remains is a network whose other sections have errors, with those that their owners
// can still check; nil if there is no transport to check.
func remains(arg string, text []byte) *networks.Network {
	root := yamldoc.Parse(arg, text, new(diag.List))
	if root == nil || root.At("nic", "transport") == nil {
		return nil
	}
	n := &networks.Network{File: arg, Doc: root, Collectives: map[string]string{},
		NIC: networks.NIC{Transport: root.At("nic", "transport").Text, Section: root.Get("nic").Without("transport")}}
	if c := root.Get("collectives"); c != nil {
		for _, e := range c.Items {
			n.Collectives[e.Key] = e.Text
		}
	}
	return n
}

func validateBlueprint(arg string, text []byte, list *diag.List) {
	g := dsel.Load(arg, text, dsel.Options{ReadFile: os.ReadFile}, list)
	validateGraph(g, list)
}

func validateTraces(arg string, list *diag.List) {
	validateGraph(chakra.Load(arg, chakra.Options{}, list), list)
}

// validateGraph runs the checks that need the operation graph, but no platform.
func validateGraph(g *graph.Graph, list *diag.List) {
	if g == nil {
		return
	}
	// Its error repeats what is in the list.
	_ = pass.Run(g, pass.Options{}, "", list)
}
