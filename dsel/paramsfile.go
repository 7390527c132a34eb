package dsel

import (
	"strings"
	"unicode/utf8"

	"hybrid/internal/diag"
)

// fileParams reads the parameters file: a flat YAML mapping of names to values,
// quoted or plain, with comments.
func (l *loader) fileParams() []Override {
	var out []Override
	name := l.opt.ParamsName
	if name == "" {
		name = "params"
	}
	for i, line := range strings.Split(l.opt.ParamsFile, "\n") {
		at := diag.Pos{File: name, Line: i + 1, Col: 1}
		text := strings.TrimRight(line, " \t\r")
		if text == "" || text == "---" || text == "{}" || strings.HasPrefix(strings.TrimSpace(text), "#") {
			continue
		}
		key, value, found := strings.Cut(text, ":")
		if !found || key != strings.TrimSpace(key) || value != "" && value[0] != ' ' && value[0] != '\t' {
			l.list.Errorf("E230", at, "a parameters file has lines of the form name: value")
			continue
		}
		o := Override{Name: strings.Trim(key, `"'`), Value: yamlScalar(value), Pos: at, value: at}
		o.value.Col = 1 + utf8.RuneCountInString(text[:len(text)-len(value)+max(0, strings.Index(value, o.Value))])
		out = append(out, o)
		if len(out) > maxFaults {
			break
		}
	}
	return out
}

// yamlScalar strips quotes or a trailing comment.
func yamlScalar(s string) string {
	s = strings.TrimSpace(s)
	if s != "" && (s[0] == '"' || s[0] == '\'') {
		if end := strings.IndexByte(s[1:], s[0]); end >= 0 {
			return s[1 : 1+end]
		}
	}
	if i := strings.Index(s, " #"); i >= 0 {
		s = strings.TrimSpace(s[:i])
	}
	return s
}
