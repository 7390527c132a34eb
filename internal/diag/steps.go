package diag

import "fmt"

// steps bounds the warnings of each step of a longer work.
type steps struct {
	capped          bool
	most            int // warnings a step may add
	name            string
	logged, dropped int // warnings of the step so far
	// remarks say how many warnings of each step were dropped.
	remarks []Diagnostic
}

// Cap bounds the warnings that each step adds (see [List.Step]); what is beyond is
// dropped, and a remark at the end says how many were (see [List.Remarks]). Errors are
// never dropped.
func (l *List) Cap(warnings int) { l.steps.capped, l.steps.most = true, warnings }

// Step ends the step before and begins one of the given name; "" begins none, and
// nothing is dropped until the next one.
func (l *List) Step(name string) {
	s := &l.steps
	if s.dropped > 0 {
		text := fmt.Sprintf("and %s dropped; --max-warnings says how many a step may have", more(s.dropped, s.name))
		s.remarks = append(s.remarks, Diagnostic{Severity: Warning, Code: "W410", Message: text})
	}
	s.name, s.logged, s.dropped = name, 0, 0
}

func more(n int, step string) string {
	if n == 1 {
		return "1 more warning of step " + step + " was"
	}
	return fmt.Sprintf("%d more warnings of step %s were", n, step)
}

// admit reports whether there is room for one more finding of the severity.
func (s *steps) admit(severity Severity) bool {
	if severity != Warning || !s.capped || s.name == "" {
		return true
	}
	if s.logged >= s.most {
		s.dropped++
		return false
	}
	s.logged++
	return true
}
