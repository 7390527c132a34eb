package diag

import (
	"cmp"
	"fmt"
	"slices"
)

// Severity says whether a finding stops the run.
type Severity uint8

// Severities, the most severe last.
const (
	Info Severity = iota
	Warning
	Error
)

// String returns the word printed before the message.
func (s Severity) String() string { return [...]string{"info", "warning", "error"}[s] }

// Pos is a place in an input. Line and Col count from 1, columns in runes; zero
// means unknown. Node replaces them for traces, Offset for binary faults.
type Pos struct {
	File string
	Line int
	Col  int
	// Span is the number of runes the finding covers; 0 and 1 both mean one.
	Span int
	// Node names the trace node the finding is about: node 17 "COMP".
	Node string
}

// String returns file:line:col, file:line, file: node, or the file alone.
func (p Pos) String() string {
	switch {
	case p.Node != "" && p.File != "":
		return p.File + ": " + p.Node
	case p.Node != "":
		return p.Node
	case p.Line > 0 && p.Col > 0:
		return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Col)
	case p.Line > 0:
		return fmt.Sprintf("%s:%d", p.File, p.Line)
	}
	return p.File
}

// Diagnostic is one finding.
type Diagnostic struct {
	Severity Severity
	// Code is a letter and three digits, such as E220; see [Explain].
	Code    string
	Pos     Pos
	Message string
	// Notes are further lines: values that made it happen, a way out.
	Notes []string
	// Count is how many equal findings this one stands for beyond itself.
	Count int
}

// Error makes a diagnostic an error with its whole first line.
func (d Diagnostic) Error() string { return d.headline() }

func (d Diagnostic) headline() string {
	where := d.Pos.String()
	if where != "" {
		where += ": "
	}
	code := ""
	if d.Code != "" {
		code = " [" + d.Code + "]"
	}
	return where + d.Severity.String() + ": " + d.Message + code
}

// List collects findings. The zero value is ready to use.
type List struct {
	items []Diagnostic
	// index finds a finding among many.
	index map[identity]int
	steps steps
}

// identity is what equal findings have in common.
type identity struct {
	code, message string
	pos           Pos
}

// Add appends a finding; one equal to an earlier finding in code, position and
// message only raises that one's count.
func (l *List) Add(d Diagnostic) { l.add(d) }

// add returns the finding that was added or raised. One that the step has no room for
// is returned, but not kept.
func (l *List) add(d Diagnostic) *Diagnostic {
	if o := l.find(&d); o != nil {
		o.Count++
		return o
	}
	if !l.steps.admit(d.Severity) {
		return &d
	}
	l.items = append(l.items, d)
	if l.index != nil {
		l.index[identity{d.Code, d.Message, d.Pos}] = len(l.items) - 1
	}
	return &l.items[len(l.items)-1]
}

// few is how many findings are searched one by one.
const few = 32

func (l *List) find(d *Diagnostic) *Diagnostic {
	if len(l.items) <= few {
		for i := range l.items {
			if o := &l.items[i]; o.Code == d.Code && o.Pos == d.Pos && o.Message == d.Message {
				return o
			}
		}
		return nil
	}
	if l.index == nil {
		l.index = make(map[identity]int, 2*few)
		for i := range l.items {
			o := &l.items[i]
			l.index[identity{o.Code, o.Message, o.Pos}] = i
		}
	}
	if i, ok := l.index[identity{d.Code, d.Message, d.Pos}]; ok {
		return &l.items[i]
	}
	return nil
}

// Errorf adds an error.
func (l *List) Errorf(code string, pos Pos, format string, args ...any) *Diagnostic {
	return l.addf(Error, code, pos, format, args...)
}

// Warnf adds a warning.
func (l *List) Warnf(code string, pos Pos, format string, args ...any) *Diagnostic {
	return l.addf(Warning, code, pos, format, args...)
}

// Infof adds a remark.
func (l *List) Infof(code string, pos Pos, format string, args ...any) *Diagnostic {
	return l.addf(Info, code, pos, format, args...)
}

// addf returns the finding that was added or raised, so that notes can be put on
// it: l.Errorf(...).Note(...).
func (l *List) addf(s Severity, code string, pos Pos, format string, args ...any) *Diagnostic {
	return l.add(Diagnostic{Severity: s, Code: code, Pos: pos, Message: fmt.Sprintf(format, args...)})
}

// Note adds a line to the finding unless it has it already.
func (d *Diagnostic) Note(format string, args ...any) *Diagnostic {
	n := fmt.Sprintf(format, args...)
	if !slices.Contains(d.Notes, n) {
		d.Notes = append(d.Notes, n)
	}
	return d
}

// Append adds all findings of another list.
func (l *List) Append(o *List) {
	if o == nil {
		return
	}
	for _, d := range o.items {
		l.Add(d)
	}
	l.steps.remarks = append(l.steps.remarks, o.steps.remarks...)
}

// Len returns the number of distinct findings.
func (l *List) Len() int { return len(l.items) }

// HasErrors reports whether any finding is an error.
func (l *List) HasErrors() bool { return l.CountOf(Error) > 0 }

// CountOf returns how many distinct findings have the severity.
func (l *List) CountOf(s Severity) int {
	n := 0
	for i := range l.items {
		if l.items[i].Severity == s {
			n++
		}
	}
	return n
}

// All returns the findings ordered by file, line, column and code, and behind them the
// remarks about warnings that were dropped.
func (l *List) All() []Diagnostic {
	out := slices.Clone(l.items)
	slices.SortStableFunc(out, func(a, b Diagnostic) int {
		return cmp.Or(cmp.Compare(a.Pos.File, b.Pos.File), cmp.Compare(a.Pos.Line, b.Pos.Line),
			cmp.Compare(a.Pos.Col, b.Pos.Col), cmp.Compare(a.Code, b.Code))
	})
	return append(out, l.steps.remarks...)
}

// Remarks returns what is to be said about warnings that were dropped, at the end of
// what [List.All] returns.
func (l *List) Remarks() []Diagnostic { return l.steps.remarks }

// Err returns the list as an error if it holds one, else nil.
func (l *List) Err() error {
	if l.HasErrors() {
		return &ListError{List: l}
	}
	return nil
}

// ListError is a [List] that holds at least one error.
type ListError struct{ List *List }

// Error returns the first error's line and how many more there are.
func (e *ListError) Error() string {
	for _, d := range e.List.All() {
		if d.Severity == Error {
			if n := e.List.CountOf(Error) - 1; n > 0 {
				return fmt.Sprintf("%s (and %d more)", d.headline(), n)
			}
			return d.headline()
		}
	}
	return "no error"
}
