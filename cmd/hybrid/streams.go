package main

import (
	"fmt"
	"io"
	"os"
	"slices"

	"golang.org/x/term"

	"hybrid/dsel"
	"hybrid/internal/diag"
	"hybrid/machines"
	"hybrid/networks"
)

// sources finds the text of a file for the snippet under a finding.
type sources struct{ texts map[string]string }

func newSources() *sources { return &sources{texts: map[string]string{}} }

// add remembers the text of an input that is not a file.
func (s *sources) add(name string, text []byte) { s.texts[name] = string(text) }

// maxSnippetFile bounds what is read again to show one line of it.
const maxSnippetFile = 16 << 20

func (s *sources) text(file string) string {
	if t, ok := s.texts[file]; ok {
		return t
	}
	t := ""
	if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && info.Size() <= maxSnippetFile {
		if b, err := os.ReadFile(file); err == nil {
			t = string(b)
		}
	} else {
		t = embeddedText(file)
	}
	s.texts[file] = t
	return t
}

func embeddedText(file string) string {
	name, ok := cutSuffix(file, ".yml")
	if !ok {
		return ""
	}
	if b, ok := networks.Source(name); ok {
		return string(b)
	}
	b, _ := machines.Source(name)
	return string(b)
}

func cutSuffix(s, suffix string) (string, bool) {
	if len(s) > len(suffix) && s[len(s)-len(suffix):] == suffix {
		return s[:len(s)-len(suffix)], true
	}
	return s, false
}

// colored decides about colour on a stream: --color wins, then NO_COLOR, CLICOLOR,
// CLICOLOR_FORCE and TERM, then whether the stream is a terminal.
func (a *app) colored(w io.Writer) bool {
	switch a.global.color {
	case "always":
		return true
	case "never":
		return false
	}
	if _, off := os.LookupEnv("NO_COLOR"); off || os.Getenv("CLICOLOR") == "0" || os.Getenv("TERM") == "dumb" {
		return false
	}
	if force := os.Getenv("CLICOLOR_FORCE"); force != "" && force != "0" {
		return true
	}
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// render prints findings to standard error: errors first get the room that
// --max-errors leaves, then warnings, then, with -v, remarks.
func (a *app) render(list *diag.List) {
	r := diag.Renderer{Source: a.sources.text, Color: a.colored(a.stderr)}
	all := list.All()
	all = all[:len(all)-len(list.Remarks())]
	room := a.global.maxErrors
	left := 0
	var shown diag.List
	for s := diag.Error; ; s-- {
		if a.global.shows(s) {
			for _, d := range all {
				switch {
				case d.Severity != s:
				case room > 0:
					room--
					shown.Add(d)
				default:
					left++
				}
			}
		}
		if s == diag.Info {
			break
		}
	}
	r.Render(a.stderr, &shown)
	if left > 0 {
		fmt.Fprintf(a.stderr, "and %d more findings; --max-errors %d shows them\n", left, shown.Len()+left)
	}
	for _, d := range list.Remarks() {
		if a.global.shows(d.Severity) {
			fmt.Fprintln(a.stderr, d.Error())
		}
	}
}

func (g globalOptions) shows(s diag.Severity) bool {
	switch s {
	case diag.Error:
		return true
	case diag.Warning:
		return !g.quiet
	}
	return g.verbose
}

// note prints a line about what the program does, unless -q.
func (a *app) note(format string, args ...any) {
	if !a.global.quiet {
		fmt.Fprintf(a.stderr, "hybrid: "+format+"\n", args...)
	}
}

// example returns the embedded blueprint and makes its text known to messages.
func (a *app) example() (name string, src []byte) {
	name, src = dsel.Example()
	a.sources.add(name, src)
	return name, slices.Clone(src)
}
