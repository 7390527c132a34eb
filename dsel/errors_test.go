package dsel

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"hybrid/internal/diag"
)

// expectation is a finding that a test file announces: at a column, or anywhere in
// the line where col is 0.
type expectation struct {
	line, col  int
	code, text string
	met        bool
}

var announcement = regexp.MustCompile(`(/\*|//) (ERROR|WARNING) ([EW]\d{3}) ("(?:[^"\\]|\\.)*")( \*/ *)?`)

// announced finds the announcements of a file. One in a block comment is about
// the token that follows it directly.
func announced(t *testing.T, src string) []*expectation {
	t.Helper()
	var out []*expectation
	for i, line := range strings.Split(src, "\n") {
		for _, m := range announcement.FindAllStringSubmatchIndex(line, -1) {
			text, err := strconv.Unquote(line[m[8]:m[9]])
			if err != nil {
				t.Fatalf("line %d: %v", i+1, err)
			}
			e := &expectation{line: i + 1, code: line[m[6]:m[7]], text: text}
			if m[10] >= 0 && m[1] < len(line) {
				e.col = utf8.RuneCountInString(line[:m[1]]) + 1
			}
			out = append(out, e)
		}
	}
	return out
}

// TestErrorFiles: every file reports exactly what its comments announce, at the
// place where they stand.
func TestErrorFiles(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "testdata", "errors", "*.hbp"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no error files: %v", err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		src := string(raw)
		want := announced(t, src)
		if len(want) == 0 {
			t.Errorf("%s announces nothing", file)
		}
		list := &diag.List{}
		LoadProgram(filepath.Base(file), raw, Options{}, list)
		for _, d := range list.All() {
			if !meets(want, d) {
				t.Errorf("not announced: %s", d.Error())
			}
		}
		for _, e := range want {
			if !e.met {
				t.Errorf("%s:%d:%d: missing %s %q", filepath.Base(file), e.line, e.col, e.code, e.text)
			}
		}
	}
}

func meets(want []*expectation, d diag.Diagnostic) bool {
	for _, e := range want {
		if !e.met && e.line == d.Pos.Line && (e.col == 0 || e.col == d.Pos.Col) && e.code == d.Code && strings.Contains(d.Message, e.text) {
			e.met = true
			return true
		}
	}
	return false
}

// TestRankFaultsMerge: the same fault on many ranks is one finding with a count.
func TestRankFaultsMerge(t *testing.T) {
	list := &diag.List{}
	Load("r.hbp", []byte("ranks 8\nprogram { send 8B to rank + 5 }\n"), Options{}, list)
	all := list.All()
	if len(all) != 1 || all[0].Code != "E301" || all[0].Count != 4 {
		t.Fatalf("got %+v", all)
	}
	if got := fmt.Sprint(all[0].Notes); !strings.Contains(got, "with rank as 3") || !strings.Contains(got, "mod(rank - 1, ranks)") {
		t.Errorf("notes %s", got)
	}
}

func TestOverrides(t *testing.T) {
	const src = "param msg: bytes = 8B range 0B, 1MiB\nparam n: int = 4\nparam title: string = \"a\"\nparam t = 5us\nparam untyped = \"a\"\nranks n\nprogram { compute t name name }\n"
	src2 := strings.Replace(src, " name name", "", 1) + "require untyped != \"\" or msg < 1GiB\nrequire title != \"\"\nrequire msg >= 0B\n"
	for o, want := range map[string]string{"msg=25us": "E230", "msg=2MiB": "E230", "mgs=8B": "E230", "n=64k": "E101", "n=3.5": "E230", "t=3B": "E230", "n=)": "E230",
		"msg=64KiB": "", "n=2 * 3": "", "title=hello": "", "t=1ms": "", "msg=n * 1KiB": "", "t=0": "", "untyped=hello": "", "untyped=a b": "", "untyped=": "", "msg=": "E230", "n=n": "E211"} {
		list := &diag.List{}
		LoadProgram("o.hbp", []byte(src2), Options{Params: parseOverrides([]string{o})}, list)
		got := ""
		if all := list.All(); len(all) > 0 {
			got = all[0].Code
		}
		if got != want {
			t.Errorf("-D %s: %s, want %q", o, render(list, src2), want)
		}
	}
}

func TestParamsFile(t *testing.T) {
	const src = "param msg: bytes = 8B\nparam n: int = 4\nranks n\nprogram { allreduce msg }\n"
	list := &diag.List{}
	opt := Options{ParamsFile: "# sizes\nmsg: 64KiB   # large\nn: \"6\"\n", Params: parseOverrides([]string{"n=3"})}
	g := Load("p.hbp", []byte(src), opt, list)
	if g == nil {
		t.Fatal(render(list, src))
	}
	if got := fmt.Sprint(g.Params); got != "[{msg 64KiB} {n 3}]" || g.Ranks != 3 {
		t.Errorf("parameters %s, %d ranks", got, g.Ranks)
	}
}

func TestInclude(t *testing.T) {
	files := map[string]string{
		"lib/common.hbp": "include \"sizes.hbp\"\nfn twice(x) = 2 * x\n", "lib/sizes.hbp": "param msg: bytes = 8B\n",
		"loop.hbp": "include \"loop.hbp\"\n", "prog.hbp": "program { }\n",
	}
	read := func(name string) ([]byte, error) {
		if s, ok := files[name]; ok {
			return []byte(s), nil
		}
		return nil, os.ErrNotExist
	}
	for src, want := range map[string]string{
		"include \"lib/common.hbp\"\nranks 2\nprogram { allreduce twice(msg) }\n": "",
		"include \"nowhere.hbp\"\nranks 2\nprogram { }\n":                         "E207",
		"include \"loop.hbp\"\nranks 2\nprogram { }\n":                            "E207",
		"include \"prog.hbp\"\nranks 2\nprogram { }\n":                            "E207",
		"include \"lib/../main.hbp\"\nranks 2\nprogram { }\n":                     "E207",
	} {
		list := &diag.List{}
		Load("./main.hbp", []byte(src), Options{ReadFile: read}, list)
		got := ""
		for _, d := range list.All() {
			got = d.Code
		}
		if got != want {
			t.Errorf("%q: %s, want %q", src, render(list, src), want)
		}
	}
}
