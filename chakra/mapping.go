package chakra

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"

	"hybrid/internal/diag"
	"hybrid/internal/units"
)

// MaxMappingFile is the size of the largest mapping file, bytes.
const MaxMappingFile = 64_000_000

// Limits of a line in bytes: of all but its end, and of what stands before its first
// comment.
const (
	maxMappingLine    = 4096
	maxMappingContent = 127
)

// Mapping is a mapping file: the server of every rank, and the scale-up groups.
type Mapping struct {
	// Server is the server of each rank.
	Server []uint32
	// Group is by rank an index in Groups, or -1; Subgroup by rank the number of the
	// subgroup, 0 without a group.
	Group    []int32
	Subgroup []uint32
	// Groups are in the order of their declarations.
	Groups []MappingGroup
}

// MappingGroup is the declaration of a scale-up group.
type MappingGroup struct {
	// ID is the number by which the lines of ranks name the group.
	ID uint32
	// Gbps is the bandwidth as it was written, in 10^9 bits a second; PerByte is the
	// same as the time of a byte in picoseconds, 8000/Gbps.
	Gbps    string
	PerByte units.Rat
	// Hop is the latency of a switch hop, Cable that of a cable segment, in picoseconds.
	Hop, Cable int64
}

// rankLine is a line of Section I.
type rankLine struct {
	line                          int
	grouped                       bool
	rank, server, group, subgroup uint32
}

// mappingParser reads one file.
type mappingParser struct {
	ranges
	file  string
	list  *diag.List
	ranks []rankLine
	// groups are the lines of Section II, lines their numbers.
	groups []MappingGroup
	lines  []int
	// first is set behind a line of Section I, second in Section II. bad says by section
	// whether a line of it could not be read, so that checks across lines would find
	// what is no fault.
	first, second bool
	bad           [2]bool
	// returns is set behind the first carriage return.
	returns bool
	pending []diag.Diagnostic
	dropped int
}

// ParseMapping reads a mapping file, the text that places the ranks of a trace set on
// servers. Every finding is added to list; those of a line say "line N: reason". The
// result is nil if any of them is an error.
//
// Lines end with a line feed alone; # begins a comment, runs of spaces and commas
// separate fields. Section I has a line for each rank: rank, server, and for members
// of a scale-up group also group and subgroup. The first line behind one of these that
// begins with @ starts Section II, in which @ begins a comment too. It has a line for
// each group: group, bandwidth in Gbit/s, latency of a switch hop and of a cable
// segment in nanoseconds.
func ParseMapping(file string, text []byte, list *diag.List) *Mapping {
	p := &mappingParser{ranges: newRanges(), file: file, list: &diag.List{}}
	defer func() { list.Append(p.list) }()
	if len(text) > MaxMappingFile {
		p.list.Errorf("E720", diag.Pos{File: file}, "%d bytes, more than the limit of %d", len(text), MaxMappingFile)
		return nil
	}
	if bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")) {
		p.fail(1, "the file is in UTF-16; save it as UTF-8")
		p.flush()
		return nil
	}
	number := 0
	for line := range bytes.Lines(text) {
		number++
		p.line(number, bytes.TrimSuffix(line, []byte{'\n'}))
	}
	p.flush()
	m := p.assemble()
	if p.list.HasErrors() {
		return nil
	}
	return m
}

// maxMappingFindings bounds the findings of one step, so that a file of another kind
// does not give one for each of its lines.
const maxMappingFindings = 50

func (p *mappingParser) add(s diag.Severity, code string, line int, format string, args ...any) {
	if len(p.pending) == maxMappingFindings {
		p.dropped++
		return
	}
	p.pending = append(p.pending, diag.Diagnostic{Severity: s, Code: code, Pos: diag.Pos{File: p.file, Line: line},
		Message: fmt.Sprintf("line %d: %s", line, fmt.Sprintf(format, args...))})
}

// flush ends a step of the reading: its findings go to the list.
func (p *mappingParser) flush() {
	if p.dropped > 0 {
		p.pending[len(p.pending)-1].Note("and %d more findings in later lines", p.dropped)
	}
	for _, d := range p.pending {
		p.list.Add(d)
	}
	p.pending, p.dropped = nil, 0
}

// fail is an error in the form of a line.
func (p *mappingParser) fail(line int, format string, args ...any) {
	section := 0
	if p.second {
		section = 1
	}
	p.bad[section] = true
	p.add(diag.Error, "E720", line, format, args...)
}

// line reads one line without its end.
func (p *mappingParser) line(number int, line []byte) {
	if number == 1 && bytes.HasPrefix(line, []byte("\xef\xbb\xbf")) {
		p.fail(number, "a byte order mark; save the file as UTF-8 without one")
		return
	}
	if p.first && bytes.HasPrefix(line, []byte{'@'}) {
		p.second = true
	}
	if len(line) > maxMappingLine {
		p.fail(number, "%d bytes, more than the limit of %d", len(line), maxMappingLine)
		return
	}
	if bytes.IndexByte(line, '\r') >= 0 {
		if !p.returns {
			p.fail(number, "a carriage return; lines end with a line feed alone")
		}
		p.returns, p.bad = true, [2]bool{true, true}
		return
	}
	content := p.content(line)
	if len(content) > maxMappingContent {
		p.fail(number, "%d bytes before the first comment, more than the limit of %d", len(content), maxMappingContent)
		return
	}
	if strings.IndexByte(content, '\t') >= 0 {
		p.fail(number, "a tab; spaces and commas separate fields")
		return
	}
	fields := strings.FieldsFunc(content, func(r rune) bool { return r == ' ' || r == ',' })
	switch {
	case len(fields) == 0:
	case p.second:
		p.group(number, fields)
	default:
		p.first = true
		p.rank(number, fields)
	}
}

// content is the line up to its first comment.
func (p *mappingParser) content(line []byte) string {
	end := bytes.IndexByte(line, '#')
	if p.second || bytes.HasPrefix(line, []byte{'@'}) {
		end = bytes.IndexAny(line, "#@")
	}
	if end >= 0 {
		line = line[:end]
	}
	return string(line)
}

// rank reads a line of Section I.
func (p *mappingParser) rank(number int, fields []string) {
	if len(fields) != 2 && len(fields) != 4 {
		p.fail(number, "%s; a rank has 2 (rank, server) or 4 (rank, server, group, subgroup)", fieldCount(fields))
		return
	}
	r := rankLine{line: number, grouped: len(fields) == 4}
	for i, f := range []struct {
		name string
		into *uint32
	}{{"rank", &r.rank}, {"server", &r.server}, {"group", &r.group}, {"subgroup", &r.subgroup}}[:len(fields)] {
		n, reason := natural(fields[i])
		if reason != "" {
			p.fail(number, "the %s %s", f.name, reason)
			return
		}
		*f.into = n
	}
	if r.server == math.MaxUint32 {
		p.fail(number, "the server %d is reserved and names none", r.server)
		return
	}
	p.ranks = append(p.ranks, r)
}

func fieldCount(fields []string) string {
	if len(fields) == 1 {
		return "1 field"
	}
	return fmt.Sprintf("%d fields", len(fields))
}

// natural reads an unsigned decimal number of 32 bits, or says why it is none.
func natural(text string) (n uint32, reason string) {
	if !onlyDigits(text) {
		return 0, fmt.Sprintf("%q is not a whole number in decimal digits", text)
	}
	v, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		return 0, fmt.Sprintf("%s is above %d", text, uint32(math.MaxUint32))
	}
	return uint32(v), ""
}

// group reads a line of Section II.
func (p *mappingParser) group(number int, fields []string) {
	if len(fields) != 4 {
		p.fail(number, "%s; a group has 4 (group, bandwidth in Gbit/s, switch latency in ns, cable latency in ns)", fieldCount(fields))
		return
	}
	id, reason := natural(fields[0])
	if reason != "" {
		p.fail(number, "the group %s", reason)
		return
	}
	g := MappingGroup{ID: id, Gbps: fields[1]}
	rate, reason := p.bandwidth.read(fields[1])
	if reason != "" {
		p.fail(number, "the bandwidth %s", reason)
		return
	}
	exact := false
	if g.PerByte, exact = perByte(rate); !exact {
		p.add(diag.Warning, "W720", number, "the bandwidth %s Gbps is held as %s ps a byte, the nearest fraction of 64-bit numbers", g.Gbps, g.PerByte)
	}
	for i, f := range []struct {
		name string
		into *int64
	}{{"switch", &g.Hop}, {"cable", &g.Cable}} {
		if *f.into, reason = p.picos(number, f.name, fields[2+i]); reason != "" {
			p.fail(number, "the %s latency %s", f.name, reason)
			return
		}
	}
	p.groups, p.lines = append(p.groups, g), append(p.lines, number)
}
