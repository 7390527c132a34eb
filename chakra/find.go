package chakra

import (
	"cmp"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"hybrid/internal/diag"
)

// Set is a trace set: one file for each rank.
type Set struct {
	// Name is the common prefix of the files, without folder.
	Name string
	// Dir is the folder.
	Dir string
	// Files are the paths; the index is the rank.
	Files []string
}

// candidate is a file and what its name says.
type candidate struct {
	path, prefix, suffix string
	rank                 int
	numbered             bool
}

// parseName splits a file name at its last number that stands between separators:
// llama.10.et, rank_0.chakra.json. A name without one is rank 0 of its own set.
func parseName(path string) candidate {
	base := strings.TrimSuffix(filepath.Base(path), ".gz")
	sep := func(c byte) bool { return c == '.' || c == '_' || c == '-' }
	for end := len(base); end > 0; {
		begin := end
		for begin > 0 && base[begin-1] >= '0' && base[begin-1] <= '9' {
			begin--
		}
		if begin < end && (begin == 0 || sep(base[begin-1])) && (end == len(base) || sep(base[end])) {
			if rank, err := strconv.Atoi(base[begin:end]); err == nil && end-begin < 10 {
				return candidate{path, base[:begin], base[end:], rank, true}
			}
		}
		end = min(begin, end-1)
	}
	return candidate{path, base, "", 0, false}
}

// key identifies the set of a file.
func (c candidate) key() [2]string { return [2]string{c.prefix, c.suffix} }

// title is the set's name for people.
func (c candidate) title() string {
	return cmp.Or(strings.TrimRight(c.prefix, "._-"), strings.TrimLeft(c.suffix, "._-"), filepath.Base(c.path))
}

// Find returns the trace set that arg names: a folder, a prefix, one of the files,
// or a glob. Files come in numeric order of their ranks. Findings (no trace, more
// than one set, ranks missing) are added to the list, and ok is false if any is an
// error.
func Find(arg string, list *diag.List) (set Set, ok bool) {
	before := list.CountOf(diag.Error)
	files, chosen, err := expand(arg)
	if err != nil {
		list.Errorf("E701", diag.Pos{File: arg}, "%v", err)
		return Set{}, false
	}
	if chosen != nil && !isTrace(*chosen) && foreignFile(*chosen, list) {
		return Set{}, false
	}
	groups := bySet(files)
	if chosen != nil {
		groups = slices.DeleteFunc(groups, func(g []candidate) bool { return g[0].key() != chosen.key() })
	} else {
		groups = slices.DeleteFunc(groups, func(g []candidate) bool { return !slices.ContainsFunc(g, isTrace) })
	}
	switch len(groups) {
	case 0:
		reportNone(arg, files, list)
		return Set{}, false
	case 1:
		set = arrange(arg, groups[0], list)
		return set, list.CountOf(diag.Error) == before
	}
	reportSeveral(arg, groups, list)
	return Set{}, false
}

// expand lists the files that arg may mean; chosen is set if arg is one file.
func expand(arg string) (files []candidate, chosen *candidate, err error) {
	if strings.ContainsAny(arg, "*?[") {
		if _, err := os.Stat(arg); err != nil {
			paths, err := filepath.Glob(arg)
			return regular(paths), nil, err
		}
	}
	st, err := os.Stat(arg)
	switch {
	case err == nil && st.IsDir():
		files, err = listDir(arg, "")
		return files, nil, err
	case err == nil:
		c := parseName(arg)
		files, err = listDir(filepath.Dir(arg), c.prefix)
		if !c.numbered {
			files = []candidate{c}
		}
		return files, &c, err
	}
	prefix := filepath.Base(arg)
	files, err = listDir(filepath.Dir(arg), prefix)
	files = slices.DeleteFunc(files, func(c candidate) bool {
		return strings.TrimRight(c.prefix, "._-") != strings.TrimRight(prefix, "._-")
	})
	if err != nil {
		err = errors.New("there is no such file, folder or prefix of trace files")
	}
	return files, nil, err
}

func listDir(dir, prefix string) ([]candidate, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), prefix) {
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	return regular(paths), nil
}

// regular keeps the regular files.
func regular(paths []string) []candidate {
	var files []candidate
	for _, p := range paths {
		if st, err := os.Stat(p); err == nil && st.Mode().IsRegular() {
			files = append(files, parseName(p))
		}
	}
	return files
}

// bySet groups files by prefix and suffix in order of their names, each group in
// order of ranks.
func bySet(files []candidate) [][]candidate {
	slices.SortFunc(files, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(filepath.Dir(a.path), filepath.Dir(b.path)), cmp.Compare(a.prefix, b.prefix),
			cmp.Compare(a.suffix, b.suffix), cmp.Compare(a.rank, b.rank), cmp.Compare(a.path, b.path))
	})
	var groups [][]candidate
	for i, f := range files {
		if i == 0 || files[i-1].key() != f.key() || filepath.Dir(files[i-1].path) != filepath.Dir(f.path) {
			groups = append(groups, nil)
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], f)
	}
	return groups
}

func isTrace(c candidate) bool {
	head, err := ReadHead(c.path)
	return err == nil && Sniff(head)
}

// ReadHead returns the beginning of a file, as much as decides what it is.
func ReadHead(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head := make([]byte, sniffLen)
	n, err := io.ReadFull(f, head)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil
	}
	return head[:n], err
}

// arrange turns files in rank order into a set and reports holes and doubles.
func arrange(arg string, files []candidate, list *diag.List) Set {
	set := Set{Name: files[0].title(), Dir: filepath.Dir(files[0].path)}
	var missing []string
	next, holes := 0, 0
	for _, f := range files {
		if f.rank < next {
			list.Errorf("E703", diag.Pos{File: arg}, "rank %d has two files: %s and %s", f.rank,
				filepath.Base(set.Files[len(set.Files)-1]), filepath.Base(f.path))
			continue
		}
		for r := next; r < f.rank && len(missing) < 16; r++ {
			missing = append(missing, strconv.Itoa(r))
		}
		holes += f.rank - next
		next = f.rank + 1
		set.Files = append(set.Files, f.path)
	}
	if holes > 0 {
		d := list.Errorf("E703", diag.Pos{File: arg}, "%d of the ranks 0 to %d have no file: %s", holes, next-1, strings.Join(missing, ", "))
		if holes > len(missing) {
			d.Note("and %d more ranks", holes-len(missing))
		}
	}
	return set
}

// reportNone says what was found instead of traces.
func reportNone(arg string, files []candidate, list *diag.List) {
	for _, f := range files {
		if foreignFile(f, list) {
			return
		}
	}
	var d *diag.Diagnostic
	switch len(files) {
	case 0:
		d = list.Errorf("E701", diag.Pos{File: arg}, "there is no trace file here and no file whose name starts like this")
	case 1:
		d = list.Errorf("E701", diag.Pos{File: arg}, "the only file here, %s, is not a Chakra trace", filepath.Base(files[0].path))
	default:
		d = list.Errorf("E701", diag.Pos{File: arg}, "none of the %d files here is a Chakra trace", len(files))
	}
	for i, dir := range foldersWithTraces(arg) {
		if i == mostNamed {
			d.Note("and more folders")
			return
		}
		d.Note("%s has traces", dir)
	}
}

// mostNamed bounds the folders that a finding names.
const mostNamed = 5

// foldersWithTraces lists the folders directly in dir that hold a trace, at most one
// more than are named.
func foldersWithTraces(dir string) []string {
	entries, _ := os.ReadDir(dir)
	var out []string
	for _, e := range entries {
		if !e.IsDir() || len(out) > mostNamed {
			continue
		}
		sub := filepath.Join(dir, e.Name())
		if files, err := listDir(sub, ""); err == nil && slices.ContainsFunc(files, isTrace) {
			out = append(out, sub)
		}
	}
	return out
}

// foreignFile reports a file in another form than a trace.
func foreignFile(c candidate, list *diag.List) bool {
	head, err := ReadHead(c.path)
	what := Foreign(head)
	if err != nil || what == "" {
		return false
	}
	list.Errorf("E705", diag.Pos{File: c.path}, "this is %s", what)
	return true
}

func reportSeveral(arg string, groups [][]candidate, list *diag.List) {
	d := list.Errorf("E702", diag.Pos{File: arg}, "there are %d trace sets here; name one of them", len(groups))
	for i, g := range groups {
		if i == 16 {
			d.Note("and %d more", len(groups)-i)
			break
		}
		plural := "s"
		if len(g) == 1 {
			plural = ""
		}
		d.Note("%s (%d file%s)", filepath.Join(filepath.Dir(g[0].path), g[0].title()), len(g), plural)
	}
}
