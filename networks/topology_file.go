package networks

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"hybrid/internal/diag"
	"hybrid/internal/units"
	"hybrid/internal/yamldoc"
)

type fileParams struct {
	File string `yaml:"file,required" doc:"File with the wiring, beside this one: htsim .topo, ASTRA-sim network YAML, HPCC or SimAI topology.txt, or a list of edges, told apart by content."`

	wiring *wiring
}

func (p *fileParams) hops() (short, long int) { return 0, 0 }

// check reads the file; its findings carry its own positions.
func (p *fileParams) check(node *yamldoc.Node, list *diag.List) {
	at := node.Get("file")
	if at == nil {
		at = node
	}
	name := p.File
	if dir := filepath.Dir(at.Pos.File); !filepath.IsAbs(name) && at.Pos.Line > 0 {
		name = filepath.Join(dir, name) // an override has no line, and no folder
	}
	text, err := readWiring(name)
	if err != nil {
		list.Errorf("E811", at.Pos, "the topology file %s cannot be read: %v", name, err)
		return
	}
	p.wiring = parseWiring(name, text, list)
}

// maxWiring bounds a topology file, bytes.
const maxWiring = 256 << 20

func readWiring(name string) (string, error) {
	info, err := os.Stat(name)
	if err == nil && !info.Mode().IsRegular() {
		return "", errors.New("it is not a regular file")
	}
	var f *os.File
	if err == nil {
		f, err = os.Open(name)
	}
	if err != nil {
		var pe *fs.PathError
		if errors.As(err, &pe) {
			err = pe.Err
		}
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxWiring+1))
	if err == nil && len(b) > maxWiring {
		err = fmt.Errorf("it is larger than %s", units.FormatBytes(maxWiring))
	}
	return string(b), err
}

func (p *fileParams) build(_ int, link LinkSpec) (Topology, error) {
	return p.wiring.build(link)
}

// wiring is what a topology file says: hosts, then switches, and pairs of links.
type wiring struct {
	format          string
	hosts, switches int
	names           []string // by node; nil where numbers are the names
	edges           []edge
}

// edge is a link from a to b and one back.
type edge struct {
	a, b        int32
	rate        units.Rat // picoseconds a byte; of denominator 0: that of fabric.link
	delay, back int64     // picoseconds from a to b and from b to a; negative: that of fabric.link
}

// wiringFormat is a row of the table of formats.
type wiringFormat struct {
	Name string
	// Sniff tells the format by the words of the first line.
	Sniff func(first []string) bool
	Parse func(s *wiringSource) *wiring
}

func wiringFormats() []wiringFormat {
	return []wiringFormat{
		{"htsim .topo", isHtsim, parseHtsim},
		{"ASTRA-sim network", isAstra, parseAstra},
		{"HPCC topology", isHPCC, parseHPCC},
		{"SimAI topology", isSimAI, parseSimAI},
		{"edge list", func([]string) bool { return true }, parseEdges},
	}
}

// parseWiring reads a topology file; nil if list has an error about it.
func parseWiring(name, text string, list *diag.List) *wiring {
	s := newWiringSource(name, text, list)
	if len(s.lines) == 0 {
		s.errorf(word{}, "the file has no links")
		return nil
	}
	var first []string
	for _, w := range s.lines[0].words {
		first = append(first, w.text)
	}
	for _, f := range wiringFormats() {
		if !f.Sniff(first) {
			continue
		}
		w := f.Parse(s)
		if s.errors > 0 || w == nil {
			return nil
		}
		w.format = f.Name
		return w
	}
	return nil
}

// wiringSource is the text of a topology file, without comments and empty lines.
type wiringSource struct {
	file, text string
	lines      []wiringLine
	list       *diag.List
	errors     int
}

type wiringLine struct{ words []word }

// word is a word of a line and its place.
type word struct {
	text      string
	line, col int
}

func newWiringSource(name, text string, list *diag.List) *wiringSource {
	s := &wiringSource{file: name, text: text, list: list}
	number := 0
	for line := range strings.Lines(text) {
		number++
		line, _, _ = strings.Cut(line, "#")
		if words := wordsOf(line, number); len(words) > 0 {
			s.lines = append(s.lines, wiringLine{words})
		}
	}
	return s
}

func wordsOf(line string, number int) []word {
	var out []word
	col, start, began := 0, 0, -1
	for i, r := range line {
		col++
		if strings.ContainsRune(" \t\r\n", r) {
			if began >= 0 {
				out = append(out, word{line[began:i], number, start})
				began = -1
			}
		} else if began < 0 {
			began, start = i, col
		}
	}
	if began >= 0 {
		out = append(out, word{line[began:], number, start})
	}
	return out
}

// maxWiringErrors bounds the findings about one file.
const maxWiringErrors = 50

func (s *wiringSource) errorf(at word, format string, args ...any) *diag.Diagnostic {
	s.errors++
	if s.errors > maxWiringErrors {
		return new(diag.Diagnostic)
	}
	return s.list.Errorf("E819", diag.Pos{File: s.file, Line: at.line, Col: at.col, Span: len([]rune(at.text))}, format, args...)
}

// full reports that no more findings are shown, so that reading on is of no use.
func (s *wiringSource) full() bool { return s.errors > maxWiringErrors }

// unused says what of the file has no effect.
func (s *wiringSource) unused(at word, format string, args ...any) {
	s.list.Infof("W827", diag.Pos{File: s.file, Line: at.line, Col: at.col}, format, args...)
}

// number reads a whole number within limits.
func (s *wiringSource) number(w word, what string, low, high int) (int, bool) {
	n, err := strconv.Atoi(w.text)
	switch {
	case err != nil:
		s.errorf(w, "%s is %q, not a whole number", what, w.text)
	case n < low:
		s.errorf(w, "%s is %d; at least %d is expected", what, n, low)
	case n > high:
		s.errorf(w, "%s is %d; at most %d is expected", what, n, high)
	default:
		return n, true
	}
	return 0, false
}

// rate reads a rate such as 100Gbps as picoseconds a byte.
func (s *wiringSource) rate(w word) (units.Rat, bool) {
	r, dim, err := units.Parse(w.text)
	if err == nil && dim != units.PerByte {
		err = fmt.Errorf("%q is not a rate: write a number and a unit, such as %s", w.text, units.PerByte.Example())
	}
	if err == nil && r.Num <= 0 {
		err = fmt.Errorf("%s is not a rate", w.text)
	}
	if err != nil {
		s.errorf(w, "%v", err)
	}
	return r, err == nil
}

// delay reads a time such as 500ns in picoseconds.
func (s *wiringSource) delay(w word) (int64, bool) {
	ps, err := units.ParseInt(w.text, units.Duration)
	if err == nil && ps < 0 {
		err = fmt.Errorf("%s is less than nothing", w.text)
	}
	if err != nil {
		s.errorf(w, "%v", err)
	}
	return ps, err == nil
}

// maxNodes and maxEdges bound the nodes and the pairs of links of a topology file.
const (
	maxNodes = 1 << 21
	maxEdges = 1 << 22
)

// plainNumbers reports whether all texts are digits.
func plainNumbers(texts []string) bool {
	for _, t := range texts {
		if t == "" || strings.Trim(t, "0123456789") != "" {
			return false
		}
	}
	return true
}
