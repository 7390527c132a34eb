package yamldoc

import "hybrid/internal/diag"

// Kind says what a [Node] is.
type Kind uint8

// Kinds of nodes. Null is a key without a value, ~ or null.
const (
	Null Kind = iota
	Scalar
	Mapping
	Sequence
)

// String names the kind as messages do.
func (k Kind) String() string {
	return [...]string{"nothing", "a value", "a mapping", "a list"}[k]
}

// Node is one value of a document: a scalar, a mapping or a sequence.
type Node struct {
	// Key is the entry's key where the node stands in a mapping, KeyPos its place.
	Key    string
	KeyPos diag.Pos
	// Pos is the place of the value; for a mapping or sequence, of its key if it
	// has one, else of its first token.
	Pos  diag.Pos
	Kind Kind
	// Text is a scalar's text after unquoting; Quoted tells "8" from 8.
	Text   string
	Quoted bool
	// Items are a mapping's entries or a sequence's elements, in written order.
	Items []*Node
	// Beside are the keys of a mapping that another reader has taken already: what is
	// left of a section names them in suggestions.
	Beside []string
}

// Get returns the entry of a mapping with that key, or nil. A nil node has none.
func (n *Node) Get(key string) *Node {
	if n == nil || n.Kind != Mapping {
		return nil
	}
	for _, e := range n.Items {
		if e.Key == key {
			return e
		}
	}
	return nil
}

// At walks down the given keys, or returns nil where one is missing.
func (n *Node) At(keys ...string) *Node {
	for _, k := range keys {
		n = n.Get(k)
	}
	return n
}

// Keys returns a mapping's keys in written order.
func (n *Node) Keys() []string {
	if n == nil || n.Kind != Mapping {
		return nil
	}
	keys := make([]string, len(n.Items))
	for i, e := range n.Items {
		keys[i] = e.Key
	}
	return keys
}

// Without returns a copy of a mapping that lacks the given keys. It lets the
// owner of a section take out the keys it reads itself.
func (n *Node) Without(keys ...string) *Node {
	if n == nil {
		return nil
	}
	c := *n
	c.Items = nil
	for _, e := range n.Items {
		if !contains(keys, e.Key) {
			c.Items = append(c.Items, e)
		}
	}
	return &c
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}
