package main

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"hybrid/chakra"
	"hybrid/dsel"
	"hybrid/internal/diag"
	"hybrid/internal/yamldoc"
	"hybrid/machines"
	"hybrid/networks"
)

// content is what an input turned out to be.
type content uint8

const (
	unknownContent content = iota
	blueprintContent
	chakraContent
	networkContent
	machineContent
	goalContent
	mappingContent
	jsonContent
	wideContent
)

// String names the content for messages.
func (c content) String() string {
	return [...]string{"a file of unknown kind", "a blueprint", "a Chakra trace", "a network file", "a machine file", "a GOAL program",
		"a mapping file", "a JSON file", "text in UTF-16"}[c]
}

// sniff decides by content what a file is. text must be the whole file where it is
// YAML, so that its keys can be seen.
func sniff(text []byte) content {
	if len(bytes.TrimSpace(text)) == 0 {
		return unknownContent
	}
	if bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")) {
		return wideContent
	}
	if !isText(text) {
		if chakra.Sniff(text) {
			return chakraContent
		}
		return unknownContent
	}
	line := firstLine(text)
	switch {
	case strings.HasPrefix(line, "num_ranks"):
		return goalContent
	case line[0] == '{':
		return jsonContent
	case mappingLine(line):
		return mappingContent
	case yamlLine(line) && !dsel.Sniff(text): // param n: int = 4 could be both by its line
		return sniffYAML(text)
	}
	return blueprintContent
}

// isText tells text from binary data: no control characters but white space.
func isText(b []byte) bool {
	for _, c := range b[:min(len(b), 4096)] {
		if c < ' ' && c != '\n' && c != '\r' && c != '\t' && c != '\f' {
			return false
		}
	}
	return true
}

// firstLine returns the first line that is neither blank nor a comment of any of the
// languages.
func firstLine(text []byte) string {
	for line := range bytes.Lines(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))) {
		s := strings.TrimSpace(string(line))
		if s != "" && !strings.HasPrefix(s, "#") && !strings.HasPrefix(s, "//") && !strings.HasPrefix(s, "/*") && !strings.HasPrefix(s, "@") {
			return s
		}
	}
	return " "
}

// longestSniffed bounds what is looked at of a line.
const longestSniffed = 4096

// mappingLine recognises mapping files also by lines with mistakes: nothing else begins
// with a number.
func mappingLine(line string) bool {
	ok, _ := regexp.MatchString(`^[ ,]*[0-9]+([\s,#]|$)`, line[:min(len(line), longestSniffed)])
	return ok
}

func yamlLine(line string) bool {
	ok, _ := regexp.MatchString(`^(---|%YAML|["']?[A-Za-z_][\w -]*["']?\s*:(\s|$))`, line)
	return ok
}

// sniffYAML counts whose top-level keys a document has.
func sniffYAML(text []byte) content {
	var unused diag.List
	root := yamldoc.Parse("", text, &unused)
	if root == nil || root.Kind != yamldoc.Mapping {
		return networkContent
	}
	network, machine := 0, 0
	for _, k := range root.Keys() {
		if topKey(networks.Parameters(), k) {
			network++
		}
		if topKey(machines.Parameters(), k) {
			machine++
		}
	}
	if machine > network {
		return machineContent
	}
	return networkContent
}

// topKey reports whether a key stands at the top of a kind of file.
func topKey(fields []yamldoc.Field, key string) bool {
	for _, f := range fields {
		if f.Path == key || strings.HasPrefix(f.Path, key+".") || strings.HasPrefix(f.Path, key+"[") {
			return true
		}
	}
	return false
}

// notAWorkload says what to do with a file that is no workload.
func notAWorkload(path string, c content, list *diag.List) {
	pos := diag.Pos{File: path}
	switch c {
	case networkContent:
		list.Errorf("E902", pos, "this is a network file, not a workload").Note("hybrid compare WORKLOAD --network %s", path)
	case machineContent:
		list.Errorf("E902", pos, "this is a machine file, not a workload").Note("hybrid compare WORKLOAD --machine %s", path)
	case goalContent:
		list.Errorf("E902", pos, "GOAL programs cannot be read yet").Note("hybrid graph WORKLOAD -o goal writes them")
	case wideContent:
		list.Errorf("E902", pos, "this is %s; save it as UTF-8", c)
	case mappingContent:
		list.Errorf("E902", pos, "this is a mapping file, not a workload").Note("hybrid compare WORKLOAD --mapping %s", path)
	default:
		list.Errorf("E902", pos, "%s", fmt.Sprintf("neither a blueprint nor a Chakra trace: %s", c)).
			Note("hybrid list formats prints what can be read")
	}
}
