package networks

import (
	"embed"
	"slices"
	"strings"

	"hybrid/internal/diag"
	"hybrid/internal/yamldoc"
)

//go:embed *.yml
var files embed.FS

func library() yamldoc.Library {
	return yamldoc.Library{Kind: "network", Files: files, Summary: []string{"summary"}}
}

// Info is a line of a listing.
type Info = yamldoc.Info

// Embedded lists the networks that come with the program, ordered by name.
func Embedded() []Info { return library().List() }

// Source returns the text of an embedded network file.
func Source(name string) ([]byte, bool) { return library().Source(name) }

// Load reads a network: an embedded one by name, or a file (see [yamldoc.IsPath]). Each
// set is path=value and overrides one key. Findings go to list; the result is nil if
// one of them is an error.
func Load(nameOrPath string, sets []string, list *diag.List) *Network {
	file, src, ok := library().Read(nameOrPath, list)
	if !ok {
		return nil
	}
	return Parse(file, src, sets, list)
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
		makeRoom(root, s)
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
	}{{root.At("fabric", "wire"), "preset"}, {root.Get("topology"), "kind"}, {root.Get("nic"), "transport"}, {root.At("fabric", "routing"), "kind"}} {
		if s.n != nil && s.n.Kind == yamldoc.Scalar {
			e := *s.n
			e.Key, e.KeyPos = s.key, s.n.Pos
			s.n.Kind, s.n.Text, s.n.Items = yamldoc.Mapping, "", []*yamldoc.Node{&e}
		}
	}
}

// makeRoom prepares for an override that chooses another kind of topology, or another
// transport: the file's keys beside it belong to the one before and go with it. Those
// of other overrides stay.
func makeRoom(root *yamldoc.Node, set string) {
	path, value, _ := yamldoc.SplitSet(set)
	for _, s := range []struct{ section, key string }{{"topology", "kind"}, {"nic", "transport"}} {
		n := root.Get(s.section)
		if path != s.section+"."+s.key || n == nil || n.Kind != yamldoc.Mapping {
			continue
		}
		if old := n.Get(s.key); old != nil && old.Text == strings.TrimSpace(value) {
			continue
		}
		n.Items = slices.DeleteFunc(n.Items, func(e *yamldoc.Node) bool { return !strings.HasPrefix(e.Pos.File, "--set ") })
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
	n.Fabric = Fabric{MTU: d.Fabric.MTU, Routing: d.Fabric.Routing, Reroute: d.Fabric.Reroute, Wire: d.Fabric.Wire.wire(orRoot(root.At("fabric", "wire"), root), list),
		Switch: SwitchSpec{Latency: d.Fabric.Switch.Latency, Forwarding: d.Fabric.Switch.Forwarding, Buffer: d.Fabric.Switch.Buffer,
			Section: section(d.Fabric.Switch.Own, root.At("fabric", "switch"), file)}}
	n.faults = readFaults(d.Faults, root.Get("faults"), list)
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
	base := yamldoc.BaseName(n.File)
	if n.Name == "" {
		n.Name = base
		return
	}
	if n.Name != base && base != "" && base != "-" {
		list.Warnf("W820", root.Get("name").Pos, "name is %q, but the file is called %q", n.Name, base)
	}
}
