package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// sentenceRow is a row of testdata/reference/execution.tsv: the first words of a
// sentence about the execution of workloads, and the tests that check what it says.
type sentenceRow struct {
	line  int
	start string
	tests []string
}

func sentenceRows(t *testing.T) []sentenceRow {
	t.Helper()
	text, err := os.ReadFile(reference(t, "execution.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	var rows []sentenceRow
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		line = strings.TrimRight(line, "\r\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		start, tests, ok := strings.Cut(line, "\t")
		if !ok || strings.TrimSpace(tests) == "" {
			t.Fatalf("execution.tsv:%d: a row is the first words of a sentence, a tab, and the tests that check it", number)
		}
		rows = append(rows, sentenceRow{number, plain(start), strings.Fields(tests)})
	}
	return rows
}

// plain leaves out what is layout alone.
func plain(s string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(s, "`", "")), " ")
}

// sentencesOf splits the description of workload execution into sentences. What
// follows the last sentence lists the page's headings, and so tells which lines are
// headings. The rows of a table are sentences, but for its head; so are the lines of a
// worked example, which are laid out with blanks. The few bold words before a paragraph
// belong to its first sentence.
func sentencesOf(text string) []string {
	body, outline, _ := strings.Cut(text, "\nGetting Started\n")
	headings := map[string]bool{"Workload execution": true}
	for line := range strings.Lines(outline) {
		headings[plain(line)] = true
	}
	var out []string
	inTable := false
	for line := range strings.Lines(body) {
		tabs := strings.Contains(line, "\t")
		switch {
		case plain(line) == "" || headings[plain(line)]:
		case tabs && !inTable: // the head of a table
		case tabs || strings.Contains(strings.TrimRight(line, "\n"), "  "):
			out = append(out, plain(line))
		default:
			out = append(out, paragraph(plain(line))...)
		}
		if plain(line) != "" {
			inTable = tabs
		}
	}
	return out
}

// paragraph splits running text at the ends of sentences.
func paragraph(text string) []string {
	var out []string
	sentence := ""
	for part := range strings.SplitAfterSeq(text, ". ") {
		sentence += part
		if len(strings.Fields(sentence)) > 4 {
			out = append(out, strings.TrimSpace(sentence))
			sentence = ""
		}
	}
	if sentence != "" {
		out = append(out, sentence)
	}
	return out
}

// describedExecution returns the public description of workload execution, which is not
// part of the project: a text in $HYBRID_SHARED, or in the folder shared beside the
// repository, that begins with its title.
func describedExecution(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("HYBRID_SHARED")
	if dir == "" {
		dir = filepath.Join(root(t), "..", "shared")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if text, err := os.ReadFile(f); err == nil && strings.HasPrefix(string(text), "Workload execution\n") {
			return string(text)
		}
	}
	t.Skipf("the description of workload execution is not at hand: no file in %s begins with that title", filepath.Join(dir, "*"))
	return ""
}

// Every sentence has its row in execution.tsv, in order, and no row is without a
// sentence.
func TestSentencesHaveRows(t *testing.T) {
	sentences := sentencesOf(describedExecution(t))
	rows := sentenceRows(t)
	for i, r := range rows {
		var starts int
		for _, s := range sentences {
			if strings.HasPrefix(s, r.start) {
				starts++
			}
		}
		switch {
		case i >= len(sentences):
			t.Errorf("execution.tsv:%d: there is no %d. sentence", r.line, i+1)
		case !strings.HasPrefix(sentences[i], r.start):
			t.Fatalf("execution.tsv:%d: %q, but the %d. sentence is %q", r.line, r.start, i+1, sentences[i])
		case starts != 1:
			t.Errorf("execution.tsv:%d: %d sentences begin with %q", r.line, starts, r.start)
		}
	}
	for _, s := range sentences[min(len(rows), len(sentences)):] {
		t.Errorf("no row for %q", s)
	}
}

// testFunctions are the test files of the tree by the functions that they define.
func testFunctions(t *testing.T) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	function := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	err := filepath.WalkDir(root(t), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range function.FindAllSubmatch(text, -1) {
			found[string(m[1])] = append(found[string(m[1])], string(text))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// The tests that the rows name exist: a function, a sub-test whose name stands in the
// function's file, with _ for a blank, or a script.
func TestSentencesNameTests(t *testing.T) {
	functions := testFunctions(t)
	for _, r := range sentenceRows(t) {
		for _, name := range r.tests {
			if strings.HasSuffix(name, ".txtar") {
				if missing(filepath.Join(root(t), filepath.FromSlash(name))) {
					t.Errorf("execution.tsv:%d: there is no script %s", r.line, name)
				}
				continue
			}
			function, sub, isSub := strings.Cut(name, "/")
			files := functions[function]
			if len(files) == 0 {
				t.Errorf("execution.tsv:%d: there is no test %s", r.line, function)
			} else if isSub && !slices.ContainsFunc(files, func(text string) bool {
				return strings.Contains(text, `"`+sub+`"`) || strings.Contains(text, `"`+strings.ReplaceAll(sub, "_", " ")+`"`)
			}) {
				t.Errorf("execution.tsv:%d: %s has no part %q", r.line, function, sub)
			}
		}
	}
}

func missing(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}
