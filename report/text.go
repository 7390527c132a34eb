package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"hybrid/internal/diag"
)

// TextOptions choose how much a text report says.
type TextOptions struct {
	// Verbose lists every operation and rank and the wall-clock times, which differ
	// from run to run.
	Verbose bool
}

// WriteText writes the report for people.
func (c *Comparison) WriteText(w io.Writer, opt TextOptions) error {
	p := page{c: c, verbose: opt.Verbose, oneFile: c.oneFile()}
	p.inputs()
	p.verdict()
	p.kinds()
	p.regions()
	p.collectives()
	p.operations()
	p.ranks()
	p.caveats()
	p.cost()
	p.stats()
	_, err := io.WriteString(w, printable(p.b.String()))
	return err
}

// printable replaces what a terminal would obey instead of show: names are whatever the
// author of a trace wrote.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && unicode.IsControl(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
}

// page collects the text of a report.
type page struct {
	c       *Comparison
	verbose bool
	oneFile bool
	b       strings.Builder
}

func (p *page) section(title string) { p.b.WriteString("\n" + title + "\n") }

func (p *page) field(name, text string) {
	if text != "" {
		p.b.WriteString(wrap(text, fmt.Sprintf("  %-11s", name), strings.Repeat(" ", 13)))
	}
}

func (p *page) inputs() {
	in, n := &p.c.Inputs, &p.c.Counts
	p.b.WriteString(strings.TrimSpace("hybrid "+in.Command+" "+in.Workload) + "\n")
	what := fmt.Sprintf("%s of %s: %s, ", formatText(in.Format), plural(int64(n.Ranks), "rank"), plural(n.Operations, "operation"))
	if n.Messages == 0 {
		what += "no messages"
	} else {
		what += fmt.Sprintf("%s with %s", plural(n.Messages, "message"), bytesText(n.MessageBytes))
	}
	if n.Collectives > 0 {
		what += ", " + plural(n.Collectives, "collective")
	}
	p.field("workload", strings.TrimSpace(what))
	p.field("parameters", parameters(in.Parameters))
	p.field("network", chosen(in.Network, in.NetworkFrom))
	p.field("fabric", in.Fabric)
	p.field("topology", in.Topology)
	p.field("machine", chosen(in.Machine, in.MachineFrom))
	p.field("placement", in.Placement)
	p.field("seed", fmt.Sprint(in.Seed))
	p.field("settings", parameters(in.Settings))
}

// formatText names a kind of workload.
func formatText(format string) string {
	for _, n := range [][2]string{{"chakra", "Chakra trace"}, {"goal", "GOAL program"}} {
		if n[0] == format {
			return n[1]
		}
	}
	return format
}

func chosen(name, from string) string {
	switch from {
	case "default":
		return name + " (the default; nothing names another)"
	case "workload":
		return name + " (named by the workload)"
	}
	return name
}

func parameters(list []Parameter) string {
	var out []string
	for _, p := range list {
		out = append(out, p.Name+"="+p.Value)
	}
	return strings.Join(out, ", ")
}

func (p *page) verdict() {
	p.section("VERDICT")
	if p.c.Inputs.Interrupted {
		p.b.WriteString(wrap("Interrupted: what follows is what was complete.", "  ", "  "))
	}
	p.b.WriteString(wrap(p.c.sentences(), "  ", "  "))
	failed := p.c.failures()
	for _, lines := range failed {
		for i, line := range lines {
			indent := "    "
			if i == 0 {
				indent = "  "
			}
			p.b.WriteString(wrap(line, indent, "      "))
		}
	}
	if len(failed) > 0 {
		p.b.WriteString(wrap("The tables of such a run hold only what had ended by then.", "  ", "  "))
	}
	for _, m := range p.c.Metrics {
		if m.Error.Defined || m.Items > 0 {
			p.metrics()
			return
		}
	}
}

func (p *page) metrics() {
	var times []int64
	for _, r := range p.c.Runs {
		times = append(times, r.Clock.PS(r.Makespan))
	}
	s := apartOf(times...)
	g := grid{}
	g.text("model")
	for _, h := range []string{"makespan " + s.name, "error %", "bias %", "MAPE %", "wMAPE %", "largest %"} {
		g.number(h)
	}
	for i, r := range p.c.Runs {
		took := "-"
		if r.Verdict.OK() {
			took = s.text(times[i])
		}
		row := []string{r.Model, took, "", "", "", "", ""}
		for _, m := range p.c.Metrics {
			if m.Run == i {
				row = []string{r.Model, took, percentText(m.Error), percentText(m.Bias), plain(m.MAPE), plain(m.WMAPE), percentText(m.Max)}
			}
		}
		g.add(row...)
	}
	p.b.WriteString("\n" + g.String())
	p.b.WriteString(wrap(legend, "  ", "  "))
	gap := "\n"
	for i := range p.c.Metrics {
		if p.c.Metrics[i].Share.Defined {
			p.b.WriteString(gap)
			p.whereFrom(&p.c.Metrics[i])
			gap = ""
		}
	}
}

// legend explains the metrics where they are read.
const legend = "bias: mean error of all places; MAPE: mean of its size; wMAPE: the same weighted by time. Below, a model's % column is its error against the packet simulation."

// whereFrom names the items at which a model errs most.
func (p *page) whereFrom(m *Metrics) {
	say := func(format string, args ...any) {
		p.b.WriteString(wrap(m.Model+": "+fmt.Sprintf(format, args...), "  ", "    "))
	}
	if m.Operation == m.Main {
		say("the largest error, and %s %% of all difference in time, is at %s", magnitudeText(m.Share), m.Main)
		return
	}
	say("the largest error is at %s", m.Operation)
	say("%s %% of all difference in time is at %s", magnitudeText(m.Share), m.Main)
}

// plain prints a magnitude, which has no sign.
func plain(e Error) string { return magnitudeText(e) }

// note is a caveat and the models that it is about.
type note struct {
	models []string
	text   string
}

// addNote adds a model's note, to the same note of others if there is one.
func addNote(notes []note, model, text string) []note {
	i := slices.IndexFunc(notes, func(n note) bool { return n.text == text })
	if i < 0 {
		return append(notes, note{[]string{model}, text})
	}
	if !slices.Contains(notes[i].models, model) {
		notes[i].models = append(notes[i].models, model)
	}
	return notes
}

// caveats lists what a reader of the numbers must know.
func (p *page) caveats() {
	var notes []note
	for _, r := range p.c.Runs {
		for _, n := range r.Notes {
			notes = addNote(notes, r.Model, n)
		}
	}
	for _, m := range p.c.Metrics {
		if m.Undefined > 0 && m.Items > 0 {
			notes = addNote(notes, m.Model, plural(int64(m.Undefined), "item")+" without simulated time, or in one run only, left out of the metrics")
		}
	}
	var lines []string
	for _, n := range notes {
		lines = append(lines, strings.Join(n.models, ", ")+": "+n.text)
	}
	lines = append(lines, p.findingLines()...)
	if len(lines) == 0 {
		return
	}
	p.section("CAVEATS")
	for _, l := range lines {
		p.b.WriteString(wrap(l, "  ", "    "))
	}
}

// findingLines leaves out remarks unless the report is verbose.
func (p *page) findingLines() []string {
	var out []string
	for _, d := range p.c.Findings {
		if d.Severity == diag.Info && !p.verbose {
			continue
		}
		line := d.Error()
		if d.Count > 0 {
			line += fmt.Sprintf(" (and %s more like it)", countText(int64(d.Count)))
		}
		out = append(out, line)
	}
	return out
}
