package dsel

import "hybrid/internal/diag"

// findings is a list that stops taking more when it is long enough: nobody reads
// the five-hundredth, and merging a long list takes time that grows with its square.
type findings struct{ diag.List }

// full reports whether further findings are dropped.
func (f *findings) full() bool { return f.Len() >= maxFaults }

// Errorf adds an error unless the list is full.
func (f *findings) Errorf(code string, pos diag.Pos, format string, args ...any) *diag.Diagnostic {
	if f.full() {
		return &diag.Diagnostic{}
	}
	return f.List.Errorf(code, pos, format, clipped(args)...)
}

// Warnf adds a warning unless the list is full.
func (f *findings) Warnf(code string, pos diag.Pos, format string, args ...any) *diag.Diagnostic {
	if f.full() {
		return &diag.Diagnostic{}
	}
	return f.List.Warnf(code, pos, format, clipped(args)...)
}

// clipped shortens names and numbers that are too long to show.
func clipped(args []any) []any {
	for i, a := range args {
		if s, ok := a.(string); ok && len(s) > 1000 {
			args[i] = clip(s)
		}
	}
	return args
}

// Add appends a finding unless the list is full.
func (f *findings) Add(d diag.Diagnostic) {
	if !f.full() {
		f.List.Add(d)
	}
}
