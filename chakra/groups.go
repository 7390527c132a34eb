package chakra

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"hybrid/internal/diag"
)

// processGroupNode is the name of the metadata node in which PyTorch traces
// declare their groups.
const processGroupNode = "## process_group:init ##"

// maxGroupFile bounds a side file in bytes.
const maxGroupFile = 64 << 20

// declared is one declaration of a process group. No members means all ranks.
type declared struct {
	name    string
	members []int32
	all     bool
}

// groupTable holds declarations by exact name and by canonical name.
type groupTable struct {
	byName map[string]declared
	names  []string
}

func (t *groupTable) add(d declared) {
	if t.byName == nil {
		t.byName = map[string]declared{}
	}
	if _, ok := t.byName[d.name]; !ok {
		t.names = append(t.names, d.name)
	}
	t.byName[d.name] = d
}

// find looks a name up as it is, then as the number that it spells: "0.0" means
// the group declared as "0" and the other way round.
func (t *groupTable) find(name string) (declared, bool) {
	if d, ok := t.byName[name]; ok {
		return d, true
	}
	want := canonical(name)
	for _, n := range t.names {
		if canonical(n) == want {
			return t.byName[n], true
		}
	}
	return declared{}, false
}

// canonical strips a zero fraction from a number.
func canonical(name string) string {
	whole, frac, ok := strings.Cut(name, ".")
	if ok && frac != "" && strings.Trim(frac, "0") == "" {
		if _, err := strconv.ParseUint(whole, 10, 64); err == nil {
			return whole
		}
	}
	return name
}

// isWorldName reports whether a name that is not declared means all ranks.
func isWorldName(name string) bool { return name == "" || canonical(name) == "0" }

// parseSideFile reads a side file: {"name": [ranks], ...}.
func parseSideFile(text string) (*groupTable, error) {
	l, err := parseLiteral(strings.TrimPrefix(text, "\ufeff"))
	if err != nil {
		return nil, err
	}
	if l.kind != litDict {
		return nil, &literalError{l.offset, "expected an object from group names to lists of ranks"}
	}
	t := &groupTable{}
	for i := range l.items {
		name, item := l.keys[i], &l.items[i]
		if item.kind != litList {
			return nil, &literalError{item.offset, fmt.Sprintf("group %q: expected a list of ranks", name)}
		}
		members, err := rankList(item)
		if err != nil {
			return nil, err
		}
		if _, twice := t.byName[name]; twice {
			return nil, &literalError{item.offset, fmt.Sprintf("group %q is declared twice", name)}
		}
		t.add(declared{name: name, members: members, all: len(members) == 0})
	}
	return t, nil
}

// rankList reads a list of ranks, or a dict from global rank to position.
func rankList(l *literal) ([]int32, error) {
	type entry struct{ rank, pos int64 }
	entries := make([]entry, len(l.items))
	for i := range l.items {
		e := entry{pos: int64(i)}
		rank, ok := l.items[i].integer()
		if l.kind == litDict {
			e.pos = rank
			var err error
			rank, err = strconv.ParseInt(l.keys[i], 10, 64)
			ok = ok && err == nil
		}
		if !ok || rank < 0 || rank > maxRank {
			return nil, &literalError{l.items[i].offset, "expected a rank"}
		}
		e.rank = rank
		entries[i] = e
	}
	slices.SortStableFunc(entries, func(a, b entry) int { return cmp.Compare(a.pos, b.pos) })
	members := make([]int32, len(entries))
	for i, e := range entries {
		members[i] = int32(e.rank)
	}
	return members, nil
}

// maxRank bounds rank numbers.
const maxRank = 1<<31 - 2

// isGroupFile reports whether a whole text reads as a side file with at least one
// group.
func isGroupFile(text []byte) bool {
	t, err := parseSideFile(string(text))
	return err == nil && len(t.names) > 0
}

// parseInit reads the text of a process-group metadata node: a Python list with a
// JSON string in it, or the JSON itself.
func parseInit(text string) ([]declared, error) {
	l, err := parseLiteral(text)
	if err != nil {
		return nil, err
	}
	for range 3 { // a string within a list within a string
		if l.kind == litList && len(l.items) == 1 && l.items[0].kind == litString {
			l = l.items[0]
		}
		if l.kind != litString {
			break
		}
		if l, err = parseLiteral(l.text); err != nil {
			return nil, err
		}
	}
	if l.kind != litList {
		return nil, errors.New("expected a list of process groups")
	}
	return initGroups(&l)
}

func initGroups(l *literal) ([]declared, error) {
	var out []declared
	for i := range l.items {
		item := &l.items[i]
		name, ok := item.get("pg_name")
		if !ok {
			name, ok = item.get("pg_id")
		}
		if !ok {
			return nil, &literalError{item.offset, "a process group without pg_name"}
		}
		d := declared{name: name.text, all: true}
		if ranks, ok := item.get("ranks"); ok && len(ranks.items) > 0 {
			members, err := rankList(ranks)
			if err != nil {
				return nil, err
			}
			d.members, d.all = members, false
		}
		out = append(out, d)
	}
	return out, nil
}

// sideFile reads the side file that the user named, or finds the one beside the
// traces.
func sideFile(set Set, named string, list *diag.List) *groupTable {
	if named != "" {
		return readSideFile(named, list)
	}
	var found []string
	tables := map[string]*groupTable{}
	paths, _ := filepath.Glob(filepath.Join(globEscape(set.Dir), "*.json"))
	for _, p := range paths {
		if st, err := os.Stat(p); slices.Contains(set.Files, p) || err != nil || !st.Mode().IsRegular() || st.Size() > maxGroupFile {
			continue
		}
		text, err := os.ReadFile(p)
		if t, perr := parseSideFile(string(text)); err == nil && perr == nil && len(t.names) > 0 {
			found = append(found, p)
			tables[p] = t
		}
	}
	own := filepath.Join(set.Dir, set.Name+".json")
	if t, ok := tables[own]; ok {
		return t
	}
	if len(found) > 1 {
		d := list.Warnf("W709", diag.Pos{File: set.Dir}, "%d files here declare process groups, so none is used; choose one with --groups", len(found))
		for _, p := range found {
			d.Note("%s", p)
		}
		return &groupTable{}
	}
	if len(found) == 1 {
		return tables[found[0]]
	}
	return &groupTable{}
}

// globEscape protects the special characters of a folder name.
func globEscape(dir string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}

func readSideFile(path string, list *diag.List) *groupTable {
	text, err := os.ReadFile(path)
	if err != nil {
		list.Errorf("E710", diag.Pos{File: path}, "the process-group file cannot be read: %v", errors.Unwrap(err))
		return &groupTable{}
	}
	t, err := parseSideFile(string(text))
	var le *literalError
	if errors.As(err, &le) {
		pos := diag.Pos{File: path}
		before := string(text[:min(le.offset, len(text))])
		pos.Line = 1 + strings.Count(before, "\n")
		pos.Col = 1 + len([]rune(before[strings.LastIndexByte(before, '\n')+1:]))
		list.Errorf("E710", pos, "%s", le.reason).Note(`a process-group file is {"name": [ranks], ...}`)
	}
	if t == nil {
		return &groupTable{}
	}
	return t
}
