package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"hybrid/chakra"
	"hybrid/dsel"
	"hybrid/graph"
	"hybrid/internal/diag"
)

// workload is what the user wants timed.
type workload struct {
	// name is how reports call it, dir where its target's files are looked for.
	name, dir string
	// mapping is the mapping file that the workload names, or "".
	mapping string
	graph   *graph.Graph
	expects []*dsel.Expect
}

// stdinName is how messages call standard input.
const stdinName = "<stdin>"

// blueprintExt is the usual ending of a blueprint. It decides where the content does
// not: about binary data.
const blueprintExt = ".hbp"

// maxBlueprint bounds what is read as a blueprint.
const maxBlueprint = 16 << 20

// loadWorkload reads the workload that the arguments name; nil if list has errors. No
// argument at all means the embedded example.
func (a *app) loadWorkload(args []string, o *runOptions, list *diag.List) (*workload, error) {
	if len(args) == 0 {
		name, src := a.example()
		a.note("no workload given: this is the example that is built in; give a blueprint or a Chakra trace set, see hybrid help compare")
		return a.loadBlueprint(name, src, o, list)
	}
	if args[0] == "-" {
		src, err := io.ReadAll(io.LimitReader(a.stdin, maxBlueprint+1))
		if err != nil {
			return nil, fmt.Errorf("standard input: %w", err)
		}
		a.sources.add(stdinName, src)
		return a.loadBlueprint(stdinName, src, o, list)
	}
	return a.loadNamed(args[0], o, list)
}

// loadNamed decides by content; what is no file is a prefix or a glob of traces.
func (a *app) loadNamed(arg string, o *runOptions, list *diag.List) (*workload, error) {
	info, err := os.Stat(arg)
	if err != nil || info.IsDir() {
		if err != nil && !tracesAt(arg) {
			list.Errorf("E901", diag.Pos{File: arg}, "no such workload: %v", rootCause(err)).
				Note("a workload is a blueprint, or a Chakra trace set: a folder, a prefix, one of its files or a glob")
			return nil, nil
		}
		return a.loadTraces(arg, o, list)
	}
	text, err := chakra.ReadHead(arg)
	if err == nil && isText(text) {
		text, err = readBounded(arg)
	}
	if err != nil {
		list.Errorf("E901", diag.Pos{File: arg}, "the workload cannot be read: %v", rootCause(err))
		return nil, nil
	}
	switch c := sniff(text); {
	case c == blueprintContent, c == unknownContent && !isText(text) && filepath.Ext(arg) == blueprintExt:
		return a.loadBlueprint(arg, text, o, list)
	case c == wideContent:
		notAWorkload(arg, c, list)
		return nil, nil
	case c == chakraContent, c == jsonContent, !isText(text): // which JSON it is, the trace reader knows
		return a.loadTraces(arg, o, list)
	case len(strings.TrimSpace(string(text))) == 0:
		list.Errorf("E902", diag.Pos{File: arg}, "the file is empty")
		return nil, nil
	default:
		notAWorkload(arg, c, list)
		return nil, nil
	}
}

// tracesAt reports whether files match a glob or a prefix.
func tracesAt(arg string) bool {
	if strings.ContainsAny(arg, "*?[") {
		return true
	}
	names, err := filepath.Glob(escapeGlob(arg) + "*")
	return err == nil && len(names) > 0
}

func escapeGlob(s string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(s)
}

func readBounded(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxBlueprint+1))
	if err == nil && len(b) > maxBlueprint {
		err = fmt.Errorf("text of more than %d bytes", maxBlueprint)
	}
	return b, err
}

// rootCause drops the operation and the path that a message names already.
func rootCause(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

func (a *app) loadBlueprint(name string, src []byte, o *runOptions, list *diag.List) (*workload, error) {
	if err := o.refuse("a blueprint", "groups", "dependencies", "issue-order"); err != nil {
		return nil, err
	}
	if at := notText(src); at >= 0 {
		list.Errorf("E902", diag.Pos{File: name, Line: 1 + bytes.Count(src[:at], []byte{'\n'})}, "a blueprint is UTF-8 text, but byte %d is 0x%02x", at, src[at]).
			Note("a Chakra trace is recognised by its content, whatever its name")
		return nil, nil
	}
	opt := dsel.Options{Seed: o.seed, ReadFile: os.ReadFile}
	for _, d := range o.defines {
		key, value, _ := strings.Cut(d, "=")
		opt.Params = append(opt.Params, dsel.Override{Name: strings.TrimSpace(key), Value: strings.TrimSpace(value), Pos: diag.Pos{File: "-D " + d}})
	}
	if o.paramsFile != "" {
		b, err := os.ReadFile(o.paramsFile)
		if err != nil {
			list.Errorf("E901", diag.Pos{File: o.paramsFile}, "the parameter file cannot be read: %v", rootCause(err))
			return nil, nil
		}
		opt.ParamsFile, opt.ParamsName = string(b), o.paramsFile
	}
	p := dsel.LoadProgram(name, src, opt, list)
	if p == nil {
		return nil, nil
	}
	return &workload{name: name, dir: filepath.Dir(name), mapping: p.Mapping, graph: p.Graph, expects: p.Expects}, nil
}

// notText returns the offset of the first byte that text does not have, or -1.
func notText(src []byte) int {
	for i := 0; i < len(src); {
		r, size := utf8.DecodeRune(src[i:])
		if r == utf8.RuneError && size <= 1 || r == 0 {
			return i
		}
		i += size
	}
	return -1
}

func (a *app) loadTraces(arg string, o *runOptions, list *diag.List) (*workload, error) {
	if err := o.refuse("a trace set", "define", "params"); err != nil {
		return nil, err
	}
	g := chakra.Load(arg, chakra.Options{Groups: o.groups, Dependencies: o.dependencies, IssueOrder: o.issueOrder}, list)
	if g == nil {
		return nil, nil
	}
	return &workload{name: arg, dir: filepath.Dir(arg), graph: g}, nil
}

// refuse makes a flag that would be ignored an error.
func (o *runOptions) refuse(what string, flags ...string) error {
	for _, f := range flags {
		if o.given(f) {
			return usageError{fmt.Errorf("--%s does not apply to %s", f, what)}
		}
	}
	return nil
}
