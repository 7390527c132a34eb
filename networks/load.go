package networks

import (
	"embed"
	"os"
	"path"
	"path/filepath"
	"strings"

	"hybrid/internal/diag"
	"hybrid/internal/yamldoc"
)

//go:embed *.yml
var files embed.FS

// Embedded lists the networks that come with the program, ordered by name.
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
		if s := yamldoc.Parse(e.Name(), src, new(diag.List)).Get("summary"); s != nil {
			info.Summary = s.Text
		}
		out = append(out, info)
	}
	return out
}

// Source returns the text of an embedded network file.
func Source(name string) ([]byte, bool) {
	src, err := files.ReadFile(name + ".yml")
	return src, err == nil
}

// IsPath reports whether an argument names a file rather than an embedded network: it
// has a / in it or ends in .yml or .yaml.
func IsPath(nameOrPath string) bool {
	return strings.ContainsAny(nameOrPath, `/\`) || strings.HasSuffix(nameOrPath, ".yml") || strings.HasSuffix(nameOrPath, ".yaml")
}

// Load reads a network: an embedded one by name, or a file (see [IsPath]). Each set
// is path=value and overrides one key. Findings go to list; the result is nil if one
// of them is an error.
func Load(nameOrPath string, sets []string, list *diag.List) *Network {
	file := nameOrPath
	src, ok := Source(nameOrPath)
	switch {
	case IsPath(nameOrPath):
		var err error
		if src, err = os.ReadFile(nameOrPath); err != nil {
			list.Errorf("E811", diag.Pos{File: nameOrPath}, "the network file cannot be read: %v", rootCause(err))
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

func rootCause(err error) error {
	if pe, ok := err.(*os.PathError); ok {
		return pe.Err
	}
	return err
}

func unknownName(name string, list *diag.List) {
	var names []string
	for _, i := range Embedded() {
		names = append(names, i.Name)
	}
	list.Errorf("E810", diag.Pos{}, "no network is called %q%s", name, diag.DidYouMean(name, names)).
		Note("networks: %s", joined(names)).Note("a file is given by a path with / in it or with .yml at its end")
}

// Parse reads a network from the text of a file, as [Load] does.
func Parse(file string, src []byte, sets []string, list *diag.List) *Network {
	var found diag.List
	defer func() { list.Append(&found) }()
	root := yamldoc.Parse(file, src, &found)
	if root == nil {
		return nil
	}
	for _, s := range sets {
		lengthen(root)
		yamldoc.SetAll(root, []string{s}, &found)
	}
	n := fromDocument(file, root, &found)
	if found.HasErrors() {
		return nil
	}
	return n
}

// lengthen writes the sections that have a short form as mappings, so that overrides
// can reach the keys beside the one the short form gives.
func lengthen(root *yamldoc.Node) {
	for _, s := range []struct {
		n   *yamldoc.Node
		key string
	}{{root.At("fabric", "wire"), "preset"}, {root.Get("topology"), "kind"}, {root.Get("nic"), "transport"}} {
		if s.n != nil && s.n.Kind == yamldoc.Scalar {
			e := *s.n
			e.Key, e.KeyPos = s.key, s.n.Pos
			s.n.Kind, s.n.Text, s.n.Items = yamldoc.Mapping, "", []*yamldoc.Node{&e}
		}
	}
}

func fromDocument(file string, root *yamldoc.Node, list *diag.List) *Network {
	var d document
	yamldoc.Decode(root, &d, list)
	n := &Network{Name: d.Name, Summary: d.Summary, Source: d.Source, File: file, Doc: root, Collectives: d.Collectives,
		ScaleUp: ScaleUp{Header: d.ScaleUp.Header, Payload: d.ScaleUp.Payload},
		Host:    Host{SendOverhead: d.Host.Send, ReceiveOverhead: d.Host.Receive},
		NIC:     NIC{Transport: d.NIC.Transport, Section: section(d.NIC.Own, root.Get("nic"), file)}}
	if d.Node.Copy != nil {
		n.Node.CopyPerByte = *d.Node.Copy
	}
	n.checkName(root, list)
	for id, l := range d.Levels.all() {
		n.Levels[id] = decodeLevel(l, root.At("levels", LevelID(id).String()), list)
	}
	n.Fabric = Fabric{MTU: d.Fabric.MTU, Wire: d.Fabric.Wire.wire(orRoot(root.At("fabric", "wire"), root), list),
		Switch: SwitchSpec{Latency: d.Fabric.Switch.Latency, Forwarding: d.Fabric.Switch.Forwarding, Buffer: d.Fabric.Switch.Buffer,
			Section: section(d.Fabric.Switch.Own, root.At("fabric", "switch"), file)}}
	n.complete(&d, root, list)
	n.checkSpeed(root, list)
	n.checkSanity(root, list)
	return n
}

// section never returns nil, so that owners can decode it unconditionally.
func section(own, written *yamldoc.Node, file string) *yamldoc.Node {
	if own != nil {
		return own
	}
	pos := diag.Pos{File: file}
	if written != nil {
		pos = written.Pos
	}
	return &yamldoc.Node{Kind: yamldoc.Mapping, Pos: pos}
}

func orRoot(n, root *yamldoc.Node) *yamldoc.Node {
	if n == nil {
		return root
	}
	return n
}

// checkName holds the name key against the file's name, which is how the file is
// found, and fills in a missing one.
func (n *Network) checkName(root *yamldoc.Node, list *diag.List) {
	base := path.Base(filepath.ToSlash(n.File))
	base = strings.TrimSuffix(strings.TrimSuffix(base, ".yml"), ".yaml")
	if n.Name == "" {
		n.Name = base
		return
	}
	if n.Name != base && base != "" && base != "-" {
		list.Warnf("W820", root.Get("name").Pos, "name is %q, but the file is called %q", n.Name, base)
	}
}
