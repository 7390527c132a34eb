package yamldoc

import (
	"fmt"
	"strconv"
	"strings"

	"hybrid/internal/diag"
)

// Set replaces one value of a document, or adds it: path is keys joined by dots,
// with numbers for elements of lists (levels.inter_node.loggp.pieces.0.L); value
// is YAML. Missing mappings are created. Findings about an override carry
// "--set path=value" as their file.
func Set(root *Node, path, value string, list *diag.List) {
	file := fmt.Sprintf("--set %s=%s", path, value)
	pos := diag.Pos{File: file}
	v := Parse(file, []byte(value), list)
	if v == nil || root == nil {
		return
	}
	if strings.TrimSpace(value) == "" {
		v = &Node{Kind: Null}
	}
	place(v, pos)
	keys := strings.Split(path, ".")
	at := root
	for i, k := range keys {
		if k == "" {
			list.Errorf("E815", pos, "%q is not a path: write keys joined by dots, such as fabric.link.rate=200Gbps", path)
			return
		}
		if i == len(keys)-1 {
			replace(at, k, v, path, list)
			return
		}
		if at = descend(at, k, pos, strings.Join(keys[:i+1], "."), list); at == nil {
			return
		}
	}
}

// place gives an override's whole tree one position: there is no line to show.
func place(n *Node, pos diag.Pos) {
	n.Pos, n.KeyPos = pos, pos
	for _, e := range n.Items {
		place(e, pos)
	}
}

func descend(at *Node, key string, pos diag.Pos, path string, list *diag.List) *Node {
	if at.Kind == Sequence {
		return element(at, key, pos, list)
	}
	next := at.Get(key)
	if next == nil {
		next = &Node{Key: key, KeyPos: pos, Pos: pos, Kind: Mapping}
		at.Items = append(at.Items, next)
	}
	switch next.Kind {
	case Null:
		next.Kind = Mapping
	case Scalar:
		list.Errorf("E815", pos, "%s is a value, so it has no keys below it", path)
		return nil
	}
	return next
}

func element(at *Node, key string, pos diag.Pos, list *diag.List) *Node {
	i, err := strconv.Atoi(key)
	if err != nil || i < 0 || i >= len(at.Items) {
		list.Errorf("E815", pos, "%s is not an element of a list of %d: write a number from 0", key, len(at.Items))
		return nil
	}
	return at.Items[i]
}

func replace(at *Node, key string, v *Node, path string, list *diag.List) {
	if at.Kind == Sequence {
		if old := element(at, key, v.Pos, list); old != nil {
			*old = *v
		}
		return
	}
	if at.Kind != Mapping {
		list.Errorf("E815", v.Pos, "%s cannot be set: the document is %s there", path, at.Kind)
		return
	}
	v.Key = key
	for i, e := range at.Items {
		if e.Key == key {
			at.Items[i] = v
			return
		}
	}
	at.Items = append(at.Items, v)
}

// SplitSet cuts an override "path=value" at its first equals sign.
func SplitSet(set string) (path, value string, ok bool) {
	path, value, ok = strings.Cut(set, "=")
	return strings.TrimSpace(path), value, ok && strings.TrimSpace(path) != ""
}

// SetAll applies overrides of the form path=value in order.
func SetAll(root *Node, sets []string, list *diag.List) {
	for _, s := range sets {
		path, value, ok := SplitSet(s)
		if !ok {
			list.Errorf("E815", diag.Pos{File: "--set " + s}, "%q is not an override: write path=value, such as fabric.link.rate=200Gbps", s)
			continue
		}
		Set(root, path, value, list)
	}
}
