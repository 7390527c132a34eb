package yamldoc

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"hybrid/internal/diag"
)

// Library is a folder of embedded files NAME.yml of one kind, where users may also
// name a file of their own.
type Library struct {
	// Kind is what messages call an entry: machine, network.
	Kind  string
	Files fs.FS
	// Summary is the path of keys to an entry's one sentence.
	Summary []string
}

// Info is a line of a listing.
type Info struct{ Name, Summary string }

// List returns the embedded entries, ordered by name.
func (l Library) List() []Info {
	entries, err := fs.ReadDir(l.Files, ".")
	if err != nil {
		return nil
	}
	var out []Info
	for _, e := range entries {
		info := Info{Name: BaseName(e.Name())}
		src, _ := l.Source(info.Name)
		if s := Parse(e.Name(), src, new(diag.List)).At(l.Summary...); s != nil {
			info.Summary = s.Text
		}
		out = append(out, info)
	}
	return out
}

// Source returns the text of an embedded entry.
func (l Library) Source(name string) ([]byte, bool) {
	src, err := fs.ReadFile(l.Files, name+".yml")
	return src, err == nil
}

// Read returns the text of an embedded entry or of a file (see [IsPath]), and the file
// name that positions carry. Where there is none, list says what there is.
func (l Library) Read(nameOrPath string, list *diag.List) (file string, src []byte, ok bool) {
	if IsPath(nameOrPath) {
		src, err := os.ReadFile(nameOrPath)
		if err != nil {
			var pe *fs.PathError
			if errors.As(err, &pe) {
				err = pe.Err
			}
			list.Errorf("E811", diag.Pos{File: nameOrPath}, "the %s file cannot be read: %v", l.Kind, err)
		}
		return nameOrPath, src, err == nil
	}
	if src, ok = l.Source(nameOrPath); ok {
		return nameOrPath + ".yml", src, true
	}
	var names []string
	for _, i := range l.List() {
		names = append(names, i.Name)
	}
	list.Errorf("E810", diag.Pos{}, "no %s is called %q%s", l.Kind, nameOrPath, diag.DidYouMean(nameOrPath, names)).
		Note("%ss: %s", l.Kind, strings.Join(names, ", ")).Note("a file is given by a path with / in it or with .yml at its end")
	return "", nil, false
}

// IsPath reports whether an argument names a file rather than an embedded entry: it
// has a / in it or ends in .yml or .yaml.
func IsPath(nameOrPath string) bool {
	return strings.ContainsAny(nameOrPath, `/\`) || strings.HasSuffix(nameOrPath, ".yml") || strings.HasSuffix(nameOrPath, ".yaml")
}

// BaseName returns the name of a file without folders and without .yml or .yaml.
func BaseName(file string) string {
	base := path.Base(filepath.ToSlash(file))
	return strings.TrimSuffix(strings.TrimSuffix(base, ".yml"), ".yaml")
}
