package machines

import (
	"embed"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"hybrid/internal/diag"
	"hybrid/internal/yamldoc"
)

//go:embed *.yml
var files embed.FS

// Embedded lists the machines that come with the program, ordered by name.
func Embedded() []Info {
	entries, err := files.ReadDir(".")
	if err != nil {
		return nil
	}
	var out []Info
	for _, e := range entries {
		name := strings.TrimSuffix(e.Name(), ".yml")
		src, _ := Source(name)
		info := Info{Name: name}
		if s := yamldoc.Parse(e.Name(), src, new(diag.List)).At("hybrid", "summary"); s != nil {
			info.Summary = s.Text
		}
		out = append(out, info)
	}
	return out
}

// Source returns the text of an embedded machine file.
func Source(name string) ([]byte, bool) {
	src, err := files.ReadFile(name + ".yml")
	return src, err == nil
}

// IsPath reports whether an argument names a file rather than an embedded machine: it
// has a / in it or ends in .yml or .yaml.
func IsPath(nameOrPath string) bool {
	return strings.ContainsAny(nameOrPath, `/\`) || strings.HasSuffix(nameOrPath, ".yml") || strings.HasSuffix(nameOrPath, ".yaml")
}

// Load reads a machine: an embedded one by name, or a file (see [IsPath]). Each set
// is path=value and overrides one key. Findings go to list; the result is nil if one
// of them is an error.
func Load(nameOrPath string, sets []string, list *diag.List) *Machine {
	file := nameOrPath
	src, ok := Source(nameOrPath)
	switch {
	case IsPath(nameOrPath):
		var err error
		if src, err = os.ReadFile(nameOrPath); err != nil {
			var pe *fs.PathError
			if errors.As(err, &pe) {
				err = pe.Err
			}
			list.Errorf("E811", diag.Pos{File: nameOrPath}, "the machine file cannot be read: %v", err)
			return nil
		}
	case !ok:
		unknownName(nameOrPath, list)
		return nil
	default:
		file = nameOrPath + ".yml"
	}
	return Parse(file, src, sets, list)
}

func unknownName(name string, list *diag.List) {
	var names []string
	for _, i := range Embedded() {
		names = append(names, i.Name)
	}
	list.Errorf("E810", diag.Pos{}, "no machine is called %q%s", name, diag.DidYouMean(name, names)).
		Note("machines: %s", strings.Join(names, ", ")).Note("a file is given by a path with / in it or with .yml at its end")
}

// Parse reads a machine from the text of a file, as [Load] does.
func Parse(file string, src []byte, sets []string, list *diag.List) *Machine {
	var found diag.List
	defer func() { list.Append(&found) }()
	root := yamldoc.Parse(file, src, &found)
	if root == nil {
		return nil
	}
	yamldoc.SetAll(root, sets, &found)
	base := path.Base(filepath.ToSlash(file))
	base = strings.TrimSuffix(strings.TrimSuffix(base, ".yml"), ".yaml")
	m := &Machine{Name: base, File: file, Doc: root}
	r := reader{list: &found, root: root}
	r.read(m)
	if found.HasErrors() {
		return nil
	}
	return m
}

// Schema returns the JSON Schema (draft 2020-12) of a machine file: kerncraft's
// vocabulary and the hybrid section.
func Schema() []byte {
	s := vocabulary().schema()
	s["properties"].(map[string]any)["hybrid"] = yamldoc.Schema(extension{})
	return yamldoc.SchemaDocument("hybrid machine", s)
}

// Parameters returns the keys of the hybrid section and kerncraft's top-level keys.
func Parameters() []yamldoc.Field {
	var out []yamldoc.Field
	for _, k := range vocabulary().keys {
		out = append(out, yamldoc.Field{Path: k.name, Type: "section", Doc: k.doc})
	}
	for _, f := range yamldoc.Fields(extension{}) {
		f.Path = "hybrid." + f.Path
		out = append(out, f)
	}
	return out
}
