package chakra

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hybrid/graph"
)

// The forms in which process groups are found in metadata nodes.
func TestParseInit(t *testing.T) {
	two := []declared{{name: "0", all: true}, {name: "5", members: []int32{3, 1}}}
	for name, text := range map[string]string{
		"PyTorch 2.4":   `['[{"pg_name": "0", "pg_desc": "default_pg", "backend_config": "cuda:nccl", "ranks": [], "group_size": 2, "group_count": 1}, {"pg_name": "5", "ranks": [3, 1]}]']`,
		"escaped":       `["[{\"pg_name\": \"0\", \"ranks\": []}, {\"pg_name\": \"5\", \"ranks\": [3, 1]}]"]`,
		"plain JSON":    `[{"pg_name": "0", "ranks": []}, {"pg_name": "5", "ranks": [3, 1]}]`,
		"Python repr":   `[{'pg_name': '0', 'ranks': [], 'x': None, 'y': True}, {'pg_name': '5', 'ranks': (3, 1,)}]`,
		"pg_id, dict":   `['[{"backend_id": 7, "pg_id": 0, "ranks": {}}, {"pg_id": 5, "ranks": {"1": 1, "3": 0}}]']`,
		"string alone":  `'[{"pg_name": "0"}, {"pg_name": "5", "ranks": ["3", "1"]}]'`,
		"hex, unicode":  `['[{"pg\x5fname": "\u0030"}, {"pg_name": "5", "ranks": [3, 1]}]']`,
		"other escapes": `['[{"pg_name": "0", "pg_desc": "a\\n\\t\\\\"}, {"pg_name": "5", "ranks": [3, 1]}]']`,
	} {
		got, err := parseInit(text)
		if diff := cmp.Diff(two, got, cmp.AllowUnexported(declared{})); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
	}
	for text, want := range map[string]string{
		``:                                  "the text ends where a value is expected at byte 0",
		`[1`:                                "expected , or ] at byte 2",
		`[{"a" 1}]`:                         "expected : at byte 6",
		`["x]`:                              "a string without its closing quote at byte 4",
		`[what]`:                            "expected a value at byte 1",
		`[{"ranks": [0]}]`:                  "a process group without pg_name at byte 1",
		`[{"pg_name": "1", "ranks": [-1]}]`: "expected a rank at byte 28",
		`{"pg_name": "1"}`:                  "expected a list of process groups",
		`[1] 2`:                             "expected the end of the text at byte 4",
		`['\x4']`:                           "a malformed escape at byte 4",
		strings.Repeat("[", 100):            "nested too deeply at byte 33",
	} {
		if _, err := parseInit(text); err == nil || err.Error() != want {
			t.Errorf("%.40s: %v, want %s", text, err, want)
		}
	}
}

// A metadata node in the trace declares; it wins over a file that was only found,
// not over one that the user named.
func TestGroupPrecedence(t *testing.T) {
	init := Node{ID: 1, Name: processGroupNode, Type: MetadataNode, Inputs: `['[{"pg_name": "g", "ranks": [1, 0]}, {"pg_name": "w", "ranks": []}]']`}
	f := file(init, coll(2, graph.AllReduce, 8, String("pg_name", "g")), coll(3, graph.AllReduce, 8, String("pg_name", "w")))
	dir := writeSet(t, f, f, file(init, coll(3, graph.AllReduce, 8, String("pg_name", "w"))))
	want := "0 join\n1 collective eager allreduce [1 0] 8B root 0 number 0\n2 collective eager allreduce [0 1 2] 8B root 0 number 0\n"
	expect(t, dir, Options{}, "", want)
	write(t, dir, "x.json", []byte(`{"g": [0, 1]}`))
	expect(t, dir, Options{}, "", want)
	expect(t, dir, Options{Groups: filepath.Join(dir, "x.json")}, "", strings.Replace(want, "[1 0]", "[0 1]", 1))
}

func TestUnreadableDeclaration(t *testing.T) {
	init := Node{ID: 1, Name: processGroupNode, Type: MetadataNode, Inputs: `[oops]`}
	expect(t, writeSet(t, file(init)), Options{},
		"x.0.et: node 1 \"## process_group:init ##\": warning: the process groups in it cannot be read: expected a value at byte 1 [W710]\n", "0 join\n")
}

func TestMembersDisagreeOnOrder(t *testing.T) {
	f := func(ranks string) []byte {
		return file(Node{ID: 1, Name: processGroupNode, Type: MetadataNode, Inputs: `[{"pg_name": "g", "ranks": ` + ranks + `}]`},
			coll(2, graph.AllReduce, 8, String("pg_name", "g")))
	}
	expect(t, writeSet(t, f("[0, 1]"), f("[1, 0]")), Options{},
		"x.1.et: node 2 \"COLL\": error: the process group \"g\" is [1 0] here and [0 1] in x.0.et [E716]\n", "")
	// One name for different ranks is two groups, as each rank numbers its own.
	g := mustLoad(t, writeSet(t, f("[0, 1]"), f("[0, 1]"), f("[2]")), Options{})
	if len(g.Groups) != 3 {
		t.Errorf("%d groups, want the world and two", len(g.Groups))
	}
}

func TestMalformedGroups(t *testing.T) {
	n := file(coll(1, graph.AllReduce, 8, String("pg_name", "g")))
	for text, want := range map[string]string{
		`{"g": [0, 2]}`:    "x.0.et: node 1 \"COLL\": error: the process group \"g\" has the member 2, but the ranks are 0 to 1 [E710]\n",
		`{"g": [0, 1, 0]}`: "x.0.et: node 1 \"COLL\": error: the process group \"g\" has the member 0 twice [E710]\n",
	} {
		dir := writeSet(t, n, n)
		write(t, dir, "x.json", []byte(text))
		_, got := load(t, dir, Options{})
		if want += "      = and 1 more like it\n      = in 2 files\n"; got != want {
			t.Errorf("%s: got\n%swant\n%s", text, got, want)
		}
	}
}

func TestNamedSideFile(t *testing.T) {
	n := file(comp(1, 5))
	dir := writeSet(t, n)
	for text, want := range map[string]string{
		"{\"g\":\n [0, x]}":        "g.json:2:6: error: expected a value [E710]\n      = a process-group file is {\"name\": [ranks], ...}\n",
		`[0]`:                      "g.json:1:1: error: expected an object from group names to lists of ranks [E710]\n      = a process-group file is {\"name\": [ranks], ...}\n",
		`{"g": 1}`:                 "g.json:1:7: error: group \"g\": expected a list of ranks [E710]\n      = a process-group file is {\"name\": [ranks], ...}\n",
		`{"é": [0], "é": [0]}`:     "g.json:1:17: error: group \"é\" is declared twice [E710]\n      = a process-group file is {\"name\": [ranks], ...}\n",
		`{"g": [0.5]}`:             "g.json:1:8: error: expected a rank [E710]\n      = a process-group file is {\"name\": [ranks], ...}\n",
		"{\"g\": [0], \"h\": [1]}": "",
	} {
		write(t, dir, "g.json", []byte(text))
		_, got := load(t, dir, Options{Groups: filepath.Join(dir, "g.json")})
		if got != want {
			t.Errorf("%s: got\n%swant\n%s", text, got, want)
		}
	}
	_, got := load(t, dir, Options{Groups: filepath.Join(dir, "absent.json")})
	if want := "absent.json: error: the process-group file cannot be read: no such file or directory [E710]\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestSeveralSideFiles(t *testing.T) {
	n := file(coll(1, graph.AllReduce, 8, String("pg_name", "g")))
	dir := writeSet(t, n, n)
	write(t, dir, "a.json", []byte(`{"g": [0, 1]}`))
	write(t, dir, "placement.json", []byte(`{"J0-0": 0}`)) // no groups in it
	mustLoad(t, dir, Options{})
	write(t, dir, "b.json", []byte(`{"g": [1, 0]}`))
	_, got := load(t, dir, Options{})
	want := "DIR: warning: 2 files here declare process groups, so none is used; choose one with --groups [W709]\n      = a.json\n      = b.json\n" +
		"x.0.et: node 1 \"COLL\": error: the process group \"g\" is not declared [E709]\n      = and 1 more like it\n" +
		"      = neither the traces nor a side file declare any group; name a side file with --groups\n      = in 2 files\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	write(t, dir, "x.json", []byte(`{"g": [0, 1]}`)) // named like the traces
	mustLoad(t, dir, Options{})
}
