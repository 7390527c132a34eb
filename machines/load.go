package machines

import (
	"embed"

	"hybrid/internal/diag"
	"hybrid/internal/yamldoc"
)

//go:embed *.yml
var files embed.FS

func library() yamldoc.Library {
	return yamldoc.Library{Kind: "machine", Files: files, Summary: []string{"hybrid", "summary"}}
}

// Info is a line of a listing.
type Info = yamldoc.Info

// Embedded lists the machines that come with the program, ordered by name.
func Embedded() []Info { return library().List() }

// Source returns the text of an embedded machine file.
func Source(name string) ([]byte, bool) { return library().Source(name) }

// Load reads a machine: an embedded one by name, or a file (see [yamldoc.IsPath]). Each
// set is path=value and overrides one key. Findings go to list; the result is nil if
// one of them is an error.
func Load(nameOrPath string, sets []string, list *diag.List) *Machine {
	file, src, ok := library().Read(nameOrPath, list)
	if !ok {
		return nil
	}
	return Parse(file, src, sets, list)
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
	m := &Machine{Name: yamldoc.BaseName(file), File: file, Doc: root}
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
